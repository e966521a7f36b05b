"""Text that a normalizer leaves alone wherever it stands (theorem 45), character by character."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Literal

from tokpar.cuts.added import AddedTokenGuard
from tokpar.cuts.normalized import replaced_string
from tokpar.facts.tables import Ranges, load_atoms, load_pictographs, merged
from tokpar.types import Facts, NormalizerStage

_FORMS: tuple[Literal["NFC", "NFD", "NFKC", "NFKD"], ...] = ("NFC", "NFD", "NFKC", "NFKD")
_JAMO = ((0x1100, 0x11FF), (0xA960, 0xA97F), (0xD7B0, 0xD7FF))
"""Letters of which Hangul syllables are made."""


@dataclass(frozen=True, eq=False)
class InertGuard:
    """What the stages of one tokenizer leave alone; build it with `inert_for`."""

    facts: Facts
    _inert: set[str] = field(default_factory=set)

    @cached_property
    def refusal(self) -> str | None:
        """Why no text is known to be left alone, or None."""
        for stage in self.facts.normalizers:
            if stage.kind not in (*_FORMS, "Lowercase", "StripAccents", "Replace"):
                return f"nothing is proved about text that the normalizer {stage.kind} leaves alone"
            if stage.kind == "Replace" and not replaced_string(stage):
                return "nothing is proved about text that a Replace of a regex leaves alone"
        searched = (token.content for token in self.facts.added_tokens if token.normalized)
        changed = next((content for content in searched if not self.inert(content)), None)
        return changed and f"added token {changed!r} is searched in another form than its own"

    def inert(self, text: str) -> bool:
        """Every stage leaves every character of it alone, wherever it stands."""
        if not self.facts.normalizers:
            return True
        new = set(text) - self._inert
        if not all(self._is_inert(char) for char in new):
            return False
        self._inert.update(new)
        return True

    def clear(self, text: str, start: int, stop: int) -> bool:
        """No added token, in whatever form it is searched, has a character of [start, stop)."""
        return self._tokens.clear(text, start, stop)

    @cached_property
    def _tokens(self) -> AddedTokenGuard:
        return AddedTokenGuard(self.facts.added_tokens)

    def _is_inert(self, char: str) -> bool:
        return _frozen(ord(char)) and all(_leaves(s, char) for s in self.facts.normalizers)


def inert_for(facts: Facts) -> InertGuard:
    """The guard for these facts, kept with them."""
    return facts.derived(InertGuard)


def _leaves(stage: NormalizerStage, char: str) -> bool:
    """The stage maps the character to itself, and joins or moves it with none beside it."""
    form = next((form for form in _FORMS if form == stage.kind), None)
    if form is not None:
        apart = not any(low <= ord(char) <= high for low, high in _JAMO)
        return apart and not _is_mark(char) and unicodedata.normalize(form, char) == char
    if stage.kind == "Lowercase":
        return char.lower() == char
    if stage.kind == "StripAccents":
        return not _is_mark(char)
    return stage.kind == "Replace" and char not in (replaced_string(stage) or char)


def _is_mark(char: str) -> bool:
    return unicodedata.category(char).startswith("M")


def _frozen(point: int) -> bool:
    """All engines know the character, and its class."""
    lows, ranges = _ranges()
    place = bisect_right(lows, point) - 1
    return place >= 0 and point <= ranges[place][1]


@cache
def _ranges() -> tuple[list[int], Ranges]:
    atoms = (span for spans in load_atoms().values() for span in spans)
    ranges = merged([*atoms, *load_pictographs()])
    return [low for low, _ in ranges], ranges
