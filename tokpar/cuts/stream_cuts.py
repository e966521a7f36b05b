"""Certified cuts of a text that is still arriving (proofs/stream.md).

A cut is final when nothing its rule looks at can be changed by what follows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

from tokpar.cuts.added_token_guard import LONGEST_STRIPPED_RUN, maybe_space
from tokpar.cuts.finder import CutFinder
from tokpar.cuts.normalized_context import replaced_string
from tokpar.types import Seam


class Beginnings:
    """Tells where a text may end in the middle of one of these contents."""

    def __init__(self, contents: Collection[str]) -> None:
        self._reach = max(map(len, contents), default=1)
        self._proper = {text[:size] for text in contents for size in range(1, len(text))}

    def first(self, text: str, start: int = 0) -> int:
        """Least place from `start` on whence the text is the beginning of a longer content:
        "<s>" in "a <s" -> 2; the length of the text if there is none. Code points."""
        for place in range(max(start, len(text) - self._reach + 1), len(text)):
            if text[place:] in self._proper:
                return place
        return len(text)


_NEAR, _BLOCK = 64, 4096
"""Places that are asked one by one, and of which those that are likely cuts are found together."""


@dataclass(frozen=True, eq=False)
class UnfinishedText:
    """The final cuts of texts whose end has not arrived, by one tokenizer's rules."""

    finder: CutFinder

    def horizon(self, text: str) -> int:
        """Whatever follows `text`, `certify` says of each place up to here what it says now."""
        return self._horizon(text, self._beside)

    def _horizon(self, text: str, beside: int) -> int:
        """The same for rules that look at so many more characters behind a place."""
        most = len(text) - self._looks_ahead - beside
        if self._plain:
            return max(0, min(most, self._beginnings.first(text) - beside))
        last = min(most, len(text) - self.finder.added.reach)
        return max(0, _last_solid(text, last) - beside)

    def last_cut(self, text: str, after: int, horizon: int) -> Seam | None:
        """The last certified cut in (after, horizon], places in code points."""
        certify, windows = self.finder.certify_context, self.finder.windows
        near = after if windows is None else max(after, horizon - _NEAR)
        seam = self._last(text, near, horizon, certify)
        if seam is not None or windows is None:
            return seam
        for stop in range(near + 1, after + 1, -_BLOCK):
            likely = windows.likely(text, max(after + 1, stop - _BLOCK), stop)
            found = (self._last(text, p - 1, p, certify) for p in sorted(likely, reverse=True))
            seam = next(filter(None, found), None)
            if seam is not None:
                return seam
        return None

    def last_pair(self, text: str, horizon: int) -> Seam | None:
        """The last cut behind the horizon that two characters license: they stay what they are."""
        if self.finder.windows is None:
            return None
        return self._last(text, horizon, self._horizon(text, 0), self.finder.certify_pair)

    def _last(
        self, text: str, after: int, last: int, certify: Callable[[str, int], Seam | None]
    ) -> Seam | None:
        # between two spaces tokens of the normalized text are not followed to a final answer
        unclear = bool(self.finder.normalized.tokens)
        for place in range(last, after, -1):
            if unclear and maybe_space(text[place]) and maybe_space(text[place - 1]):
                continue
            seam = certify(text, place)
            if seam is not None:
                return seam
        return None

    @cached_property
    def _looks_ahead(self) -> int:
        """What is read lies before place + this + `_beside`, in code points, runs of white space
        apart."""
        stages = self.finder.normalized.stages
        if not stages:
            return 1
        changed = sum(1 + len(replaced_string(s) or "") for s in stages if s.kind == "Replace")
        moved = max((len(token.content) for token in self.finder.normalized.tokens), default=0)
        return 2 + len(stages) + changed + moved

    @cached_property
    def _beside(self) -> int:
        """Behind its place the absorb rule looks at two more characters and their tokens, theorem
        50 at one, a window at as many as it has there."""
        if self.finder.windows is not None:
            return self.finder.windows.ahead
        return {"dummy": 2, "spaces": 1}.get(self.finder.facts.scheme, 0)

    @cached_property
    def _plain(self) -> bool:
        """No added token looks at what is beside it."""
        tokens = self.finder.added.tokens
        return not any(token.lstrip or token.rstrip or token.single_word for token in tokens)

    @cached_property
    def _beginnings(self) -> Beginnings:
        return Beginnings({token.content for token in self.finder.added.tokens})


def _last_solid(text: str, last: int) -> int:
    """The last place up to `last` with a character that is surely no white space; if there is none
    among as many as a stripping token may look at, the place before these."""
    if last <= 0:
        return 0
    first = max(0, last - LONGEST_STRIPPED_RUN)
    return max(0, first + len(text[first : last + 1].rstrip(_spaces())) - 1)


@lru_cache(maxsize=1)
def _spaces() -> str:
    """All of them are in the first plane, U+FEFF is behind the surrogates."""
    return "".join(filter(maybe_space, map(chr, range(0x10000))))
