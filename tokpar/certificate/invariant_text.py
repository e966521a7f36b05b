"""Check that a normalizer leaves a text unchanged in every context (theorem 45).

The decompositions of all characters decide. A character is invariant if it is its own normal form,
and stands after another character in no decomposition."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np

from tokpar.arrays import IdArray, IntArray
from tokpar.certificate.added_token_rule import Occurrences
from tokpar.certificate.check_context import CheckContext, require
from tokpar.certificate.frozen_tables import load_pictographs
from tokpar.certificate.normalizer_rule import UNICODE_FORMS, UnsureError, replace_pattern
from tokpar.types import Facts, NormalizerStage

_HANGUL = range(0xAC00, 0xD7A4)


class Inert:
    """Decides which characters the stages of one tokenizer leave unchanged. Caches decisions."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground
        self._stages = ground.facts.normalizers
        self._known_parts: set[str] = set()

    def require(self, start: int, stop: int) -> None:
        """Refuse if the normalizer may change a character of text[start:stop].

        Also refuse if an added token that the engine searches in normalized text occurs there."""
        if not self._stages:
            return
        self.require_text(self._ground.text[start:stop])
        searched = self._ground.normalized_tokens
        for token in searched:
            self.require_text(token.content)
        content = Occurrences(searched).touching(self._ground.text, start, stop)
        require(content is None, "added token", f"{content!r} occurs over [{start}, {stop})")

    def require_text(self, text: str) -> None:
        """Refuse a text with a character that a stage may change."""
        for char in sorted(set(text) - self._known_parts):
            for stage in self._stages:
                kept = self._is_known(char) and _keeps(stage, char)
                where = f"U+{ord(char):04X} is not surely left alone by {stage.kind}"
                require(kept, "normalizer", where)
            self._known_parts.add(char)

    def _is_known(self, char: str) -> bool:
        if self._ground.tables.atom_of(char) is not None:
            return True
        return any(low <= ord(char) <= high for low, high in load_pictographs())


def edges_beside(facts: Facts, ids: IdArray, count: int, byte_offset: int) -> IntArray:
    """The byte offset of each id, then the end, if the id at index `count` begins at byte
    `byte_offset`."""
    assert facts.sizes is not None
    edges = np.concatenate(([0], np.cumsum(facts.sizes(ids))))
    beside: IntArray = edges - edges[count] + byte_offset
    return beside


def _keeps(stage: NormalizerStage, char: str) -> bool:
    if stage.kind in UNICODE_FORMS:
        same = unicodedata.normalize(stage.kind, char) == char  # type: ignore[arg-type]
        return same and not unicodedata.combining(char) and char not in _follower_chars()
    if stage.kind == "Lowercase":
        return str.lower(char) == char
    if stage.kind == "StripAccents":
        return unicodedata.category(char) not in ("Mn", "Mc", "Me")
    if stage.kind != "Replace":
        return False
    try:
        return char not in replace_pattern(stage)
    except UnsureError:
        return False


@cache
def _follower_chars() -> frozenset[str]:
    """All characters that follow another character in some canonical decomposition.

    Such a character may compose with the character before it."""
    return frozenset(_decomposition_tails())


def _decomposition_tails() -> Iterator[str]:
    # the code points above have no decomposition, or decompose to one ideograph
    for point in range(0x30000):
        parts = unicodedata.decomposition(chr(point)).split()
        if parts and not parts[0].startswith("<"):
            yield from (chr(int(part, 16)) for part in parts[1:])
    for point in _HANGUL:
        yield from unicodedata.normalize("NFD", chr(point))[1:]
