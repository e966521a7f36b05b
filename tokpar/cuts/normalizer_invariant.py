"""Find text that a normalizer leaves unchanged in every context (theorem 45).

The decision is made character by character."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.normalized_context import replaced_string
from tokpar.patterns.class_tables import (
    CharSet,
    char_set,
    load_atoms,
    load_pictographs,
    merge_ranges,
)
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts

_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_KINDS = {*_FORMS, "Lowercase", "StripAccents", "Replace"}
_JAMO = frozenset(
    map(chr, (*range(0x1100, 0x1200), *range(0xA960, 0xA980), *range(0xD7B0, 0xD800)))
)
"""Letters that compose to Hangul syllables."""
_APART = "\U0010ffff"
"""A noncharacter that separates the tested characters. Every stage leaves it unchanged."""


@dataclass(frozen=True, eq=False)
class InertGuard:
    """Decides which text the normalizer of one tokenizer leaves unchanged.

    Build the guard with `inert_for`."""

    facts: Facts

    @cached_property
    def refusal(self) -> str | None:
        """Why no text is known to stay unchanged under the stages, or None."""
        for stage in self.facts.normalizers:
            if stage.kind not in _KINDS:
                return f"nothing is proved about text that the normalizer {stage.kind} leaves alone"
            if stage.kind == "Replace" and not replaced_string(stage):
                return "nothing is proved about text that a Replace of a regex leaves alone"
        searched = (token.content for token in self.facts.added_tokens if token.normalized)
        changed = next((content for content in searched if not self.inert(content)), None)
        return changed and f"added token {changed!r} is searched in another form than its own"

    def inert(self, text: str) -> bool:
        """True if every stage leaves every character of the text unchanged in every context.

        All engines also know each such character and agree on its class. Always True for a
        tokenizer without stages."""
        if text.isascii():
            return not text.encode().translate(None, self._ascii)
        return self.chars is None or self.chars.holds(text)

    def clear(self, text: str, start: int, stop: int) -> bool:
        """True if no occurrence of an added token shares a character with [start, stop).

        This covers added tokens that the engine searches in the original or the normalized text."""
        return self._tokens.clear(text, start, stop)

    @cached_property
    def _tokens(self) -> AddedTokenGuard:
        return AddedTokenGuard(self.facts.added_tokens)

    @cached_property
    def chars(self) -> CharSet | None:
        """The characters that every stage leaves unchanged; None if there is no stage.

        None means all characters. The first access takes half a second."""
        if not self._kinds or not _KINDS.issuperset(self._kinds):
            return char_set(()) if self._kinds else None
        return _chars(self._kinds, self._replaced_chars)

    @cached_property
    def _ascii(self) -> bytes:
        """The ASCII characters that every stage leaves unchanged; fast to compute."""
        if not _KINDS.issuperset(self._kinds):
            return b""
        chars = [chr(code) for code in range(128)]
        return "".join(_all_leave_alone(self._kinds, self._replaced_chars, chars)).encode()

    @property
    def _kinds(self) -> tuple[str, ...]:
        return tuple(stage.kind for stage in self.facts.normalizers)

    @property
    def _replaced_chars(self) -> str:
        strings = (replaced_string(s) for s in self.facts.normalizers if s.kind == "Replace")
        return "".join(string or "" for string in strings)


def inert_for(facts: Facts) -> InertGuard:
    """The guard for these facts. The facts cache the guard."""
    return facts.derive(InertGuard)


@lru_cache(maxsize=8)
def _chars(kinds: tuple[str, ...], replaced_chars: str) -> CharSet:
    """The characters that stages of these kinds leave unchanged, without the characters in
    `replaced_chars`."""
    chars = _all_leave_alone(kinds, replaced_chars, _agreed_chars())
    return char_set((ord(char), ord(char)) for char in chars)


def _all_leave_alone(kinds: tuple[str, ...], replaced_chars: str, chars: list[str]) -> list[str]:
    chars = [char for char in chars if char not in replaced_chars]
    for kind in kinds:
        chars = _left_alone(kind, chars)
    return chars


def _left_alone(kind: str, chars: list[str]) -> list[str]:
    """The `chars` that a stage maps to themselves, and never composes or reorders with
    neighbours."""
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
def _agreed_chars() -> list[str]:
    """All characters that every engine knows and puts into the same class."""
    atoms = (span for spans in load_atoms().values() for span in spans)
    ranges = merge_ranges([*atoms, *load_pictographs()])
    return [chr(point) for low, high in ranges for point in range(low, high + 1)]
