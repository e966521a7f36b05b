"""Certified cuts at the two ends of an added token: rule K9, `added-token-edge` (theorem 29).

All positions are code points of the text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tokpar.cuts.added_token_contents import Contents
from tokpar.cuts.added_token_guard import AddedTokenGuard, group_by_mark, maybe_space
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
        if all(mark not in text for mark in self._marks):
            return False
        return any(text[s:e] in self.plain for s, e in self._contents.all(text))

    def certify(self, text: str, p: int) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), if theorem 29 licenses it."""
        if self.refusal is not None:
            return None
        return self._find_edge(text, p, p + 1) if self.may_be_edge(text, p) else None

    def may_be_edge(self, text: str, p: int) -> bool:
        """True if the characters at `p` may be the edge of a token whose edges may be cuts."""
        return text[p] in self._first or text[p - 1] in self._last

    def find(self, text: str, start: int, stop: int) -> Seam | None:
        """The first certified edge in [start, stop), or None.

        The time is linear in stop - start, however many tokens occur."""
        if self.refusal is not None:
            return None
        lo, hi = max(0, start - self._reach), min(len(text), stop + self._reach)
        if all(text.find(mark, lo, hi) < 0 for mark in self._marks):
            return None
        return self._find_edge(text, max(start, 1), min(stop, len(text)))

    def _find_edge(self, text: str, start: int, stop: int) -> Seam | None:
        # Twice the longest content: the token at an edge, and a token that may overlap it.
        lo, hi = max(0, start - 2 * self._reach), min(len(text), stop + 2 * self._reach)
        for first, last in self._lone(text, lo, hi):
            for p, edge in ((first, "start"), (last, "end")):
                if start <= p < stop and self._holds(text, first, last, p):
                    witness = (("token", text[first:last]), ("edge", edge))
                    return Seam.licensed_by(Theorem.ADDED_TOKEN_EDGE, p, witness)
        return None

    def _holds(self, text: str, first: int, last: int, p: int) -> bool:
        """True if edge `p` of the occurrence [first, last) meets every condition of theorem 29
        except the condition on overlapping occurrences, which `_lone` checks."""
        token = self.plain.get(text[first:last])
        if token is None or (p == last and self.facts.first_prefix):
            return False
        if token.normalized and any(
            text.find(content, first, last) >= 0 for content in self._contents_matched_first
        ):
            return False
        return self._flag_guard.safe(text, p)

    def _lone(self, text: str, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """Yield the occurrences in [lo, hi) that contain every occurrence overlapping them."""
        reached, held, place = lo, (lo, lo), lo
        while (found := self._contents.next(text, place, hi)) is not None:
            (first, last), place = found, found[0] + 1
            if held[0] < held[1] <= first:
                yield held
                held = last, last
            if first >= reached:
                held = first, last
            elif last > held[1]:
                held = last, last
            reached = max(reached, last)
            if held[0] == held[1] > first + 1:
                # In a run of one character, each later occurrence overlaps an earlier one.
                place = max(place, self._run_stop(text, first, last, hi) - self._reach)
                reached = max(reached, place + 1) if place > first + 1 else reached
        if held[0] < held[1]:
            yield held

    def _run_stop(self, text: str, first: int, last: int, hi: int) -> int:
        """Where the run of one character ends in which the occurrence [first, last) begins.

        0 unless the occurrence is two or more copies of one character."""
        char = text[first]
        if text[first:last] != char * (last - first) or last - first < 2:
            return 0
        run = re.compile(f"{re.escape(char)}+").match(text, first, hi)
        return first if run is None else run.end()

    @cached_property
    def plain(self) -> dict[str, AddedToken]:
        """Map content to token, for the tokens whose edges may be cuts."""
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

        return {t.content: t for t in facts.added_tokens if t.content and certain(t)}

    @cached_property
    def _contents_matched_first(self) -> tuple[str, ...]:
        """Contents that the engine matches before it searches any token with normalized=true."""
        return tuple(t.content for t in self.facts.added_tokens if t.content and not t.normalized)

    @cached_property
    def _flag_guard(self) -> AddedTokenGuard:
        tokens = (t for t in self.facts.added_tokens if t.lstrip or t.rstrip or t.single_word)
        return AddedTokenGuard(tuple(tokens))

    @cached_property
    def _contents(self) -> Contents:
        return Contents.of(token.content for token in self.facts.added_tokens)

    @property
    def _reach(self) -> int:
        return self._contents.longest

    @cached_property
    def _marks(self) -> tuple[str, ...]:
        """Characters such that each content of `plain` has at least one of them.

        A text without these characters has no token of `plain`."""
        return tuple(mark for mark, _ in group_by_mark(self.plain))

    @cached_property
    def _first(self) -> frozenset[str]:
        return frozenset(content[0] for content in self.plain)

    @cached_property
    def _last(self) -> frozenset[str]:
        return frozenset(content[-1] for content in self.plain)
