"""Places that no token of a vocabulary reaches across (lemma 24)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable

from tokpar.types import Facts


class Vocabulary:
    """All tokens, sorted; `longest` in bytes."""

    def __init__(self, tokens: Iterable[bytes]) -> None:
        self._tokens = sorted(set(tokens) - {b""})
        self.longest = max(map(len, self._tokens), default=0)

    def longest_at(self, data: bytes) -> int:
        """Bytes of the longest token that `data` begins with: {a, ab}, b"abc" -> 2; 0 if none.

        Of all tokens that do not sort behind `data` the last either is it, or any that `data`
        begins with is a beginning of both.
        """
        place = bisect_right(self._tokens, data)
        while place:
            token = self._tokens[place - 1]
            if data.startswith(token):
                return len(token)
            data = data[: _common(token, data)]
            place = bisect_right(self._tokens, data, 0, place)
        return 0

    def forced(self, text: str, piece: tuple[int, int], start: int, stop: int) -> int | None:
        """The first place in [start, stop) across which no token occurs in text[slice(*piece)].

        All in code points, piece[0] < start, stop <= piece[1]. None if there is none.
        """
        low = max(piece[0], start - self.longest)
        data = text[low : min(piece[1], stop + self.longest)].encode()
        offset = len(text[low:start].encode())
        reached, place = 0, start
        for at in range(max(0, offset - self.longest + 1), len(data)):
            if at >= offset and data[at] & 0xC0 != 0x80:
                if reached <= at:
                    return place
                place += 1
                if place >= stop:
                    return None
            reached = max(reached, at + self.longest_at(data[at : at + self.longest]))
        return None


def _common(one: bytes, other: bytes) -> int:
    """Length of the common beginning of two different strings."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((k for k, (a, b) in pairs if a != b), min(len(one), len(other)))


def vocabulary_of(facts: Facts) -> Vocabulary | None:
    """The tokens that the facts name, sorted at the first call (0.1 s for 200,000); None if they
    name none, or one longer than their longest."""
    return facts.derived(_vocabulary)


def _vocabulary(facts: Facts) -> Vocabulary | None:
    made = None if facts.tokens is None else Vocabulary(facts.tokens())
    return None if made is None or made.longest > facts.longest_token else made
