"""Finds the contents of added tokens in a text by their first characters, for the checker."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_HEAD = 4
"""A content is looked up by its first `_HEAD` characters, or by all if it has fewer."""
_FEW = 64
"""Up to so many contents, one search of the text for each of them is faster than one for all."""
_MOST_HEADS = 64
"""With more heads than this, the search goes by the first character only."""


class ContentIndex:
    """Some contents, which may be thousands. Empty contents are left out.

    A place in the text where a content may begin takes one lookup for each length of the contents
    that have this head, however many contents there are."""

    def __init__(self, contents: Iterable[str]) -> None:
        self.contents = frozenset(contents) - {""}
        self.longest = max(map(len, self.contents), default=0)
        sizes: dict[str, set[int]] = {}
        for content in self.contents:
            sizes.setdefault(content[:_HEAD], set()).add(len(content))
        self._sizes = {head: sorted(some, reverse=True) for head, some in sizes.items()}
        self._head_sizes = sorted({*map(len, sizes)}, reverse=True)
        heads = sizes if len(sizes) <= _MOST_HEADS else {head[0] for head in sizes}
        self._begin = re.compile("|".join(map(re.escape, sorted(heads))) or r"(?!)")

    def contents_at(self, text: str, place: int, stop: int) -> Iterator[str]:
        """Yield each content that begins at `place` and ends at `stop` or before, longest first."""
        for head_size in self._head_sizes:
            head = text[place : place + head_size] if place + head_size <= stop else ""
            for size in self._sizes.get(head, ()):
                content = text[place : place + size]
                if place + size <= stop and content in self.contents:
                    yield content

    def occurrences(
        self, text: str, start: int = 0, stop: int | None = None
    ) -> Iterator[tuple[int, str]]:
        """Yield (place, content) of each occurrence inside [start, stop), by ascending place."""
        stop = len(text) if stop is None else stop
        found = self._begin.search(text, max(0, start), stop)
        while found is not None:
            place = found.start()
            yield from ((place, content) for content in self.contents_at(text, place, stop))
            found = self._begin.search(text, place + 1, stop)

    def matches(self, text: str) -> Iterator[tuple[int, str]]:
        """Yield (place, content) of the leftmost occurrence, of these the longest, and so on behind
        it."""
        place = 0
        while (found := self._begin.search(text, place)) is not None:
            content = next(self.contents_at(text, found.start(), len(text)), "")
            if content:
                yield found.start(), content
            place = found.start() + (len(content) or 1)


def occurring(contents: Iterable[str], text: str) -> list[str]:
    """The contents that occur in a text. Most contents have a character that the text lacks."""
    distinct = {*contents}
    lacking = {char for char in set().union(*distinct) if char not in text}
    possible = [content for content in sorted(distinct - {""}) if lacking.isdisjoint(content)]
    if len(possible) <= _FEW:
        return [content for content in possible if content in text]
    return sorted({content for _, content in ContentIndex(possible).occurrences(text)})
