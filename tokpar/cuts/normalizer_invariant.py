"""Text that a normalizer leaves alone wherever it stands (theorem 45), character by character."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import replaced_string
from tokpar.patterns.class_tables import CharSet, char_set, load_atoms, load_pictographs, merged
from tokpar.types import Facts

_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_KINDS = {*_FORMS, "Lowercase", "StripAccents", "Replace"}
_JAMO = frozenset(
    map(chr, (*range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xD7B0, 0xD800)))
)
"""Letters of which Hangul syllables are made."""
_APART = "\U0010ffff"
"""Belongs to no character, is none that is asked about, and every stage leaves it alone."""


@dataclass(frozen=True, eq=False)
class InertGuard:
    """What the stages of one tokenizer leave alone; build it with `inert_for`."""

    facts: Facts

    @cached_property
    def refusal(self) -> str | None:
        """Why no text is known to be left alone, or None."""
        for stage in self.facts.normalizers:
            if stage.kind not in _KINDS:
                return f"nothing is proved about text that the normalizer {stage.kind} leaves alone"
            if stage.kind == "Replace" and not replaced_string(stage):
                return "nothing is proved about text that a Replace of a regex leaves alone"
        searched = (token.content for token in self.facts.added_tokens if token.normalized)
        changed = next((content for content in searched if not self.inert(content)), None)
        return changed and f"added token {changed!r} is searched in another form than its own"

    def inert(self, text: str) -> bool:
        """Every stage leaves every character of it alone, wherever it stands, and all engines know
        each, and its class; always true where there is no stage."""
        if text.isascii():
            return not text.encode().translate(None, self._ascii)
        return self.chars is None or self.chars.holds(text)

    def clear(self, text: str, start: int, stop: int) -> bool:
        """No added token, in whatever form it is searched, has a character of [start, stop)."""
        return self._tokens.clear(text, start, stop)

    @cached_property
    def _tokens(self) -> AddedTokenGuard:
        return AddedTokenGuard(self.facts.added_tokens)

    @cached_property
    def chars(self) -> CharSet | None:
        """Those that every stage leaves alone; None where there is no stage, which are all. Takes
        half a second to make."""
        if not self._kinds or not _KINDS.issuperset(self._kinds):
            return char_set(()) if self._kinds else None
        return _chars(self._kinds, self._replaced)

    @cached_property
    def _ascii(self) -> bytes:
        """The ASCII characters that every stage leaves alone, ready at once."""
        if not _KINDS.issuperset(self._kinds):
            return b""
        chars = [chr(code) for code in range(128)]
        return "".join(_all_leave_alone(self._kinds, self._replaced, chars)).encode()

    @property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(stage.kind for stage in self.facts.normalizers)

    @property
    def _replaced(self) -> str:
        replaced = (replaced_string(s) for s in self.facts.normalizers if s.kind == "Replace")
        return "".join(string or "" for string in replaced)


def inert_for(facts: Facts) -> InertGuard:
    """The guard for these facts, kept with them."""
    return facts.derived(InertGuard)


@lru_cache(maxsize=8)
def _chars(kinds: tuple[str, ...], gone: str) -> CharSet:
    """The characters that stages of these kinds leave alone, without those `gone`."""
    chars = _all_leave_alone(kinds, gone, _frozen())
    return char_set((ord(char), ord(char)) for char in chars)


def _all_leave_alone(kinds: tuple[str, ...], gone: str, chars: list[str]) -> list[str]:
    chars = [char for char in chars if char not in gone]
    for kind in kinds:
        chars = _left_alone(kind, chars)
    return chars


def _left_alone(kind: str, chars: list[str]) -> list[str]:
    """Those which a stage maps to themselves, and joins or moves with none beside them."""
    if kind == "Replace":
        return chars
    if kind == "Lowercase":
        return _same(chars, _APART.join(chars).lower())
    if kind != "StripAccents":
        form = next(form for form in _FORMS if form == kind)
        chars = [char for char in chars if char not in _JAMO]
        chars = _same(chars, unicodedata.normalize(form, _APART.join(chars)))
    return [char for char in chars if not unicodedata.category(char).startswith("M")]


def _same(chars: list[str], images: str) -> list[str]:
    pairs = zip(chars, images.split(_APART), strict=True)
    return [char for char, image in pairs if char == image]


@lru_cache(maxsize=1)
def _frozen() -> list[str]:
    """All characters that all engines know, and their classes."""
    atoms = (span for spans in load_atoms().values() for span in spans)
    ranges = merged([*atoms, *load_pictographs()])
    return [chr(point) for low, high in ranges for point in range(low, high + 1)]
