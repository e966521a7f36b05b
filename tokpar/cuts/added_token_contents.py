"""Search a text for the contents of added tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

_HEAD = 4
"""One regex searches for the first `_HEAD` characters of every content."""


@dataclass(frozen=True, eq=False)
class Contents:
    """The non-empty contents of a tokenizer's added tokens. There may be thousands."""

    contents: frozenset[str]

    @classmethod
    def of(cls, contents: Iterable[str]) -> Contents:
        return cls(frozenset(filter(None, contents)))

    def next(self, text: str, lo: int, hi: int) -> tuple[int, int] | None:
        """Find the first position in [lo, hi) where a content begins; None if there is none.

        Returns [start, stop) of the longest content that begins there, in code points."""
        stop = min(len(text), hi + _HEAD)
        found = self._heads.search(text, lo, stop)
        while found is not None and found.start() < hi:
            place = found.start()
            for size in self._sizes[found[0]]:
                if text[place : place + size] in self.contents:
                    return place, place + size
            found = self._heads.search(text, place + 1, stop)
        return None

    def all(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield [start, stop) of the longest content at each position where a content begins."""
        place = 0
        while (found := self.next(text, place, len(text))) is not None:
            yield found
            place = found[0] + 1

    @cached_property
    def longest(self) -> int:
        """Length of the longest content, in code points; 0 if there is no content."""
        return max(map(len, self.contents), default=0)

    @cached_property
    def _sizes(self) -> dict[str, list[int]]:
        """Map each head to the lengths of the contents that begin with it, longest first."""
        sizes: dict[str, set[int]] = {}
        for content in self.contents:
            for n in range(1, _HEAD + 1):
                sizes.setdefault(content[:n], set()).add(len(content))
        return {head: sorted(some, reverse=True) for head, some in sizes.items()}

    @cached_property
    def _heads(self) -> re.Pattern[str]:
        """A regex that matches wherever a content may begin. It has few alternatives."""
        heads = {content[:_HEAD] for content in self.contents}
        least = (h for h in heads if not any(h[:n] in heads for n in range(1, len(h))))
        return re.compile("|".join(map(re.escape, sorted(least))) or r"(?!)")
