"""A text that knows where its characters come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TracedText(NamedTuple):
    """`origin[i]`: which code point of the original `text[i]` stands for, as Hugging Face keeps it;
    a token's span reaches from the origin of its first character to that of its last, inclusive."""

    text: str
    origin: Sequence[int]

    def part(self, start: int, stop: int) -> TracedText:
        """The characters [start, stop)."""
        return TracedText(self.text[start:stop], self.origin[start:stop])

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Code points of the original from the character `start` to the one before `stop`; of no
        characters, none at the start of the text."""
        if start == stop:
            return self.origin[0], self.origin[0]
        return self.origin[start], self.origin[stop - 1] + 1

    def with_prefix(self, prefix: str) -> TracedText:
        """With a prefix that comes from where the first character comes from."""
        return TracedText(prefix + self.text, [self.origin[0]] * len(prefix) + list(self.origin))

    def with_text(self, text: str, indices: Sequence[int]) -> TracedText:
        """After a change that made `text`; `indices` as a normalizer's `trace` gives them."""
        return TracedText(text, [self.origin[i] for i in indices])
