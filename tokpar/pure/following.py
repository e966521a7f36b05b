"""Which token may stand behind another one, given how it begins.

Two canonical tokens are neighbours in some tokenization if merging the bytes of both gives just the
two. While the right one grows from its first byte through its left part, the left part of that ...
(its first parts, from the inside), no last part of the left one may take the first part there is.
Whether one does depends on two successive first parts only, so tokens are searched in a tree where
each hangs below its left part, and all below a part that is taken are passed over at once.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache

from tokpar.pure.incremental_dictionary import BYTE, NEVER, Dictionary

START_OF_TEXT = -1
MEMO = 1 << 18


class Following:
    """Tokens by their first part and their bytes. Safe to share between threads."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._order = sorted(range(len(dictionary.spelling)), key=dictionary.spelling.__getitem__)
        self._sorted = [dictionary.spelling[token] for token in self._order]
        self._below: list[list[int]] = [[] for _ in self._order]
        for place, token in enumerate(self._order):
            if dictionary.left[token] != BYTE:
                self._below[dictionary.left[token]].append(place)
        self.token = lru_cache(MEMO)(self._token)

    def _token(self, left: int, text: bytes) -> bytes:
        """A token that begins with `text`, is longer, and may stand behind `left`, a token by its
        number or `START_OF_TEXT`; b"" if there is none."""
        low = bisect_left(self._sorted, text)
        high = bisect_right(self._sorted, text, low, key=lambda token: token[: len(text)])
        if high == low or self._sorted[high - 1] == text:
            return b""
        if left == START_OF_TEXT:
            return self._sorted[high - 1]
        dictionary = self._dictionary
        waiting: list[Iterator[int]] = [iter((dictionary.number[text[:1]],))]
        while waiting:
            token = next(waiting[-1], BYTE)
            if token == BYTE:
                waiting.pop()
                continue
            size = len(dictionary.spelling[token])
            if size > 1 and not grows(dictionary, left, token):
                continue
            if size > len(text) and settles(dictionary, left, token):
                return dictionary.spelling[token]
            waiting.append(self._longer(token, size, text, low, high))
        return b""

    def _longer(self, token: int, size: int, text: bytes, low: int, high: int) -> Iterator[int]:
        """Tokens whose left part is `token` and that begin with `text`, or `text` with them."""
        below = self._below[token]
        if size < len(text):
            for stop in range(size + 1, len(text)):
                number = self._dictionary.number.get(text[:stop], BYTE)
                if number != BYTE and self._dictionary.left[number] == token:
                    yield number
            below = below[bisect_left(below, low) : bisect_left(below, high)]
        yield from map(self._order.__getitem__, below)


def grows(dictionary: Dictionary, left: int, token: int) -> bool:
    """The left part of `token` grows to `token` before a last part of `left` takes it; if it was
    there at all, behind `left`. `token` is no byte. See `Dictionary.apart`."""
    level = dictionary.level
    while level[left] > level[token]:
        left = dictionary.right[left]
    part = dictionary.left[token]
    taken = dictionary.rules.get((left, part), NEVER) <= dictionary.left_bound[token]
    return not taken and _left_alone(dictionary, left, part)


def settles(dictionary: Dictionary, left: int, token: int) -> bool:
    """No last part of `left` takes `token` itself."""
    return (left, token) not in dictionary.rules and _left_alone(dictionary, left, token)


def _left_alone(dictionary: Dictionary, left: int, token: int) -> bool:
    """No shorter last part of `left` takes `token` before it grows."""
    level, rules = dictionary.level, dictionary.rules
    while level[left] > level[token]:
        bound = dictionary.right_bound[left]
        left = dictionary.right[left]
        if rules.get((left, token), NEVER) < bound:
            return False
    return True
