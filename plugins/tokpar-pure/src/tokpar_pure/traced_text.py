"""A text that knows the origin of each of its characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class TracedText(NamedTuple):
    """A text, and for each character `text[i]` the code point `origin[i]` of the original text that
    it stands for, as Hugging Face tracks it.

    The span of a token goes from the origin of its first character to the origin of its last
    character, inclusive."""

    text: str
    origin: Sequence[int]

    def part(self, start: int, stop: int) -> TracedText:
        """Returns the characters [start, stop)."""
        return TracedText(self.text[start:stop], self.origin[start:stop])

    def span(self, start: int, stop: int) -> tuple[int, int]:
        """Returns the code points (start, stop) of the original text for the characters
        [start, stop). For an empty range, returns an empty span at the start of this text."""
        if start == stop:
            return self.origin[0], self.origin[0]
        return self.origin[start], self.origin[stop - 1] + 1

    def with_prefix(self, prefix: str) -> TracedText:
        """Returns the text with `prefix` in front. The prefix has the origin of the first
        character."""
        return TracedText(prefix + self.text, [self.origin[0]] * len(prefix) + list(self.origin))

    def with_text(self, text: str, indices: Sequence[int]) -> TracedText:
        """Returns the changed text `text` with its origins. `indices`: the index in this text for
        each character of `text`, as `Normalizer.trace` returns them."""
        return TracedText(text, [self.origin[i] for i in indices])
