"""Find texts for which the engine may return wrong token offsets.

In tokenizers 0.2x, if the normalizer Precompiled deletes text at the beginning of a segment, the
engine loses the length of the deleted text. It then places every token of the segment too far left
by this length."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from tokpar.facts.charsmap import Charsmap
from tokpar.facts.space_stages import SURE
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, NormalizerStage

_KEEPING = frozenset({"NFD", "NFKD", "Lowercase", "StripAccents", "BertNormalizer", "Nmt", "Strip"})
"""Normalizers that map a `SURE` character to one of its `_first_characters`."""
_BLANK = " \t\n\r"
_SURE = re.compile(f"[{SURE}]")


def why_misplaced(facts: Facts, text: str) -> str | None:
    """Why the engine's token offsets for `text` may be wrong, or None.

    None: no reason for a wrong offset is known (proofs/window-lemma.md)."""
    tables = facts.derive(_tables)
    return next((why for table in tables if (why := table.why(text)) is not None), None)


@dataclass(frozen=True)
class _Table:
    """One Precompiled stage.

    `stages_before`: the stages before it. `contents`: the added tokens after which a segment of the
    original text begins."""

    charsmap: Charsmap
    stages_before: tuple[NormalizerStage, ...]
    contents: tuple[str, ...]

    def why(self, text: str) -> str | None:
        """Why the table may delete the beginning of a segment of the text, or None."""
        if self._unknown is not None:
            return f"it is not known what the normalizer {self._unknown} gives to Precompiled"
        deleted = {char for char in set(text) if self._may_delete(char)}
        if not deleted:
            return None
        first = (text.lstrip(_BLANK) if self.stages_before else text)[:1]
        found = next((content for content in self.contents if content in text), None)
        if first in deleted or not deleted.isdisjoint(_BLANK):
            return f"the normalizer Precompiled may delete {first!r} at the beginning of the text"
        if found is not None:
            shown = min(deleted)
            return f"the normalizer Precompiled may delete {shown!r} behind added token {found!r}"
        return None

    @cached_property
    def _replacements(self) -> list[tuple[object, str]]:
        """The pattern and the content of each Replace stage before the table."""
        found = [stage for stage in self.stages_before if stage.kind == "Replace"]
        return [(each.setting("pattern"), str(each.setting("content"))) for each in found]

    @cached_property
    def _unknown(self) -> str | None:
        """The kind of an earlier stage that may insert any character, or None."""
        kinds = (s.kind for s in self.stages_before if s.kind not in {*_KEEPING, "Replace"})
        for pattern, content in self._replacements:
            plain = pattern == {"Regex": " {2,}"} or (isinstance(pattern, str) and pattern)
            if not plain or (content and self._may_delete(content[0])):
                return "Replace"
        return next(kinds, None)

    @cached_property
    def _replaced_chars(self) -> frozenset[str]:
        """The characters, except spaces, that Replace stages before the table search for."""
        patterns = (pattern for pattern, _ in self._replacements if isinstance(pattern, str))
        return frozenset("".join(patterns)) - {" "}

    @cached_property
    def _may_delete(self) -> Callable[[str], bool]:
        return cache(self._check_may_delete)

    def _check_may_delete(self, char: str) -> bool:
        """True if the table may delete a segment's first character."""
        if not self.stages_before:
            return self.charsmap.may_delete(char)
        if char not in _BLANK and _SURE.match(char) is None:
            return True
        images = _first_characters(char)
        return not images.isdisjoint(self._replaced_chars) or any(
            map(self.charsmap.may_delete, images)
        )


def _first_characters(char: str) -> set[str]:
    """The characters that may come first in the image of `char` after the `_KEEPING` stages."""
    images, new = {" "}, {char}
    while new:
        images |= new
        forms = {unicodedata.normalize(form, c)[0] for c in new for form in ("NFD", "NFKD")}
        new = (forms | {c.lower()[0] for c in new}) - images
    return images


def _tables(facts: Facts) -> tuple[_Table, ...]:
    contents = tuple(token.content for token in facts.added_tokens if not token.normalized)
    return tuple(
        _Table(
            Charsmap(str(stage.setting("precompiled_charsmap"))), facts.normalizers[:k], contents
        )
        for k, stage in enumerate(facts.normalizers)
        if stage.kind == "Precompiled"
    )
