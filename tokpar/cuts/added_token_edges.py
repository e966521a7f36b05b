"""Certified cuts at the two ends of an added token: rule EDGE, `added-token-edge` (theorem 29).

All positions are code points of the text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.cuts.added_token_contents import Contents
from tokpar.cuts.added_token_guard import AddedTokenGuard, maybe_space
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken, Facts, Seam, Theorem


@dataclass(frozen=True, eq=False)
class TokenEdges:
    """Finds the certified edges of one tokenizer's added tokens, for `CutFinder`.

    The edges of an occurrence are certified if every overlapping occurrence of any added token
    lies inside this occurrence. The engine then matches this occurrence in every surrounding text.
    The argument fails for a token with `lstrip`, `rstrip` or `single_word`. It also fails for a
    token that the engine searches in a normalized text.
    """

    facts: Facts

    @cached_property
    def refusal(self) -> str | None:
        """Why no edge of an added token is ever a certified cut, or None."""
        if self.facts.added_token_cuts_refused is not None:
            return self.facts.added_token_cuts_refused
        return None if self.plain else "it has no added token whose edges are certain"

    def occur(self, text: str) -> bool:
        """True if the text has a token whose edges may be cuts. Assumes `refusal` is None."""
        return bool(self._is_plain[self._contents.clusters(text)[:, 2]].any())

    def matches(self, text: str, content: str) -> Iterator[tuple[int, int]]:
        """Yield [start, stop) of each occurrence of a content of `plain` that meets conditions (a)
        to (d) of theorem 29: it is one token, and its neighbours do not see it."""
        number = self._contents.contents.index(content)
        clusters = self._contents.clusters(text)
        for start, stop, _ in clusters[clusters[:, 2] == number].tolist():
            inside = (p for p in (start, stop) if 0 < p < len(text))
            if all(self._flag_guard.safe(text, p) for p in inside):
                yield start, stop

    @property
    def longest(self) -> int:
        """Code points of the longest content of an added token."""
        return self._contents.longest

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), if theorem 29 licenses it."""
        if self.refusal is not None or not self.may_be_edge(text, p):
            return None
        return self.find(text, p, p + 1)

    def may_be_edge(self, text: str, p: int) -> bool:
        """True if the characters at `p` may be the edge of a token whose edges may be cuts."""
        return text[p] in self._first or text[p - 1] in self._last

    def find(self, text: str, start: int, stop: int) -> Seam | None:
        """The first certified edge in [start, stop), or None.

        The time is linear in stop - start, however many tokens occur."""
        for p, edge, first, last in self._edges(text, max(start, 1), min(stop, len(text))):
            if self._holds(text, p, edge):
                witness = (("token", text[first:last]), ("edge", edge))
                return Seam.licensed_by(Theorem.EDGE, p, witness)
        return None

    def likely(self, text: str, start: int, stop: int) -> Iterator[int]:
        """Yield the positions in [start, stop) that `certify` may certify; it refuses some."""
        return (p for p, _, _, _ in self._edges(text, start, stop))

    def _edges(self, text: str, start: int, stop: int) -> Iterator[tuple[int, str, int, int]]:
        """Yield (p, "start" or "end", start of the token, its end) for each edge in [start, stop)
        of a token of `plain` that contains every occurrence that shares a character with it."""
        if self.refusal is not None:
            return
        # twice the longest content: the token at an edge, and a token that may overlap it
        reach = 2 * self._contents.longest
        lo, hi = max(0, start - reach), min(len(text), stop + reach)
        clusters = self._contents.clusters(text, lo, hi)
        for first, last, _ in clusters[self._is_plain[clusters[:, 2]]].tolist():
            for p, edge in ((first, "start"), (last, "end")):
                if start <= p < stop:
                    yield p, edge, first, last

    def _holds(self, text: str, p: int, edge: str) -> bool:
        """True if the edge `p` of a token that is certainly matched meets the other conditions of
        theorem 29."""
        prefixed = edge == "end" and self.facts.first_prefix
        return not prefixed and self._flag_guard.safe(text, p)

    @cached_property
    def plain(self) -> dict[str, AddedToken]:
        """Map content to token, for the tokens whose edges may be cuts: a token of `plain` is
        certainly matched where it is a whole cluster."""
        facts, times = self.facts, Counter(token.content for token in self.facts.added_tokens)
        unchanged = not facts.normalizers and facts.scheme != "dummy"
        strips = any(token.lstrip or token.rstrip for token in facts.added_tokens)

        def certain(token: AddedToken) -> bool:
            if token.lstrip or token.rstrip or token.single_word:
                return False
            if token.normalized and not unchanged:
                return False
            edges = token.content[:1] + token.content[-1:]
            # Another token that strips white space could consume an edge that is white space.
            return times[token.content] == 1 and not (strips and any(map(maybe_space, edges)))

        found = {t.content: t for t in facts.added_tokens if t.content and certain(t)}
        # the engine matches these before it searches any token with normalized=true
        earlier = Contents.of(t.content for t in facts.added_tokens if not t.normalized)
        later = [t.content for t in found.values() if t.normalized]
        for content in later if earlier.contents else ():
            if len(earlier.clusters(content)):
                del found[content]
        return found

    @cached_property
    def _flag_guard(self) -> AddedTokenGuard:
        tokens = (t for t in self.facts.added_tokens if t.lstrip or t.rstrip or t.single_word)
        return AddedTokenGuard(tuple(tokens))

    @cached_property
    def _contents(self) -> Contents:
        return Contents.of(token.content for token in self.facts.added_tokens)

    @cached_property
    def _is_plain(self) -> NDArray[np.bool_]:
        """For each content of `_contents`, True if it is in `plain`; then False, for no content."""
        return np.array([*map(self.plain.__contains__, self._contents.contents), False], np.bool_)

    @cached_property
    def _first(self) -> frozenset[str]:
        return frozenset(content[0] for content in self.plain)

    @cached_property
    def _last(self) -> frozenset[str]:
        return frozenset(content[-1] for content in self.plain)
