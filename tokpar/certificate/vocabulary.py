"""Does some token occur across a place? Lemma 24 asks for all tokens of the model."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from tokpar.types import Facts


class Vocabulary:
    """All tokens, sorted, so that the tokens that begin alike stand together."""

    def __init__(self, tokens: Iterable[bytes]) -> None:
        self._tokens = sorted(set(tokens) - {b""})
        self.longest = max(map(len, self._tokens), default=0)

    def across(self, left: bytes, right: bytes) -> bytes | None:
        """A token that occurs in left + right and holds the last byte of `left` and the first of
        `right`: tokens {ab, bc} and b"a", b"bc" -> b"ab". None if there is none."""
        whole, middle = left + right, len(left)
        for start in range(max(0, middle - self.longest + 1), middle):
            found = self._prefix(whole[start:], middle - start + 1)
            if found is not None:
                return found
        return None

    def _prefix(self, text: bytes, least: int) -> bytes | None:
        """The shortest token of at least `least` bytes with which `text` begins."""
        place = 0
        for length in range(least, len(text) + 1):
            prefix = text[:length]
            place = bisect_left(self._tokens, prefix, place)
            if place == len(self._tokens) or not self._tokens[place].startswith(prefix):
                return None
            if self._tokens[place] == prefix:
                return prefix
        return None


def vocabulary_of(facts: Facts) -> Vocabulary | None:
    """The tokens that the facts name, sorted once per facts; None if they name none."""
    return facts.derived(_sorted)


def _sorted(facts: Facts) -> Vocabulary | None:
    return None if facts.tokens is None else Vocabulary(facts.tokens())
