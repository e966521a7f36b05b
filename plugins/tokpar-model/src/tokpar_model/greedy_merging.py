"""Greedy merging D of theorem 32: the pair of least (priority, place) first, no other shortcut."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.certificate.check_context import require
from tokpar_model.byte_vocabulary import ByteVocabulary

Rule = Callable[[int, int], tuple[int, int] | None]
"""(priority, token) of the merge of two tokens, by number; None if they do not merge."""
_NEVER = 1 << 62
_MOST_KNOWN = 1 << 20


class GreedyMerging:
    """Decides whether greedy merging leaves a token, or a pair of tokens, as it is.

    `whole_piece`: a piece that is a token is encoded as this token, without merging."""

    def __init__(self, vocabulary: ByteVocabulary, rule: Rule, whole_piece: bool) -> None:
        self.vocabulary = vocabulary
        self.whole_piece = whole_piece
        self._rule = rule
        self._kept_pairs: set[int] = set()

    def first_unkept(self, keys: IntArray, width: int, work: StepLimit) -> int | None:
        """Returns the first of some rows that D does not leave as it is; None if D keeps all.

        `keys`: one or two tokens each: the number of the first times the number of all tokens, plus
        the number of the second; with `width` 1, the number of the only token."""
        spelled, count = self.vocabulary.spellings, len(self.vocabulary.ids)
        for key in {*(keys - count * (width == 1)).tolist()} - self._kept_pairs:
            row = [*divmod(key, count)] if width == 2 else [key + count]
            data = b"".join([spelled[number] for number in row])
            work.spend(len(data) ** 2)
            if self.merge_bytes(data) != row:
                return int(key) + count * (width == 1)
            if len(self._kept_pairs) >= _MOST_KNOWN:
                self._kept_pairs.clear()
            self._kept_pairs.add(key)
        return None

    def require_bytes(self, codes: NDArray[np.uint8]) -> None:
        """Refuse a text with a byte that is no token."""
        missing = np.frombuffer(self.vocabulary.missing_bytes, np.uint8)
        some = missing[np.isin(missing, codes)] if len(missing) else missing
        require(not len(some), "missing byte", f"the text has bytes that are no tokens: {some}")

    def merge_bytes(self, data: bytes) -> list[int]:
        """Returns D of some bytes, as numbers of tokens. Every byte must be a token."""
        row = [self.vocabulary.atoms[byte] for byte in data]
        found = [self._rule(u, v) for u, v in pairwise(row)]
        priorities = [_NEVER if each is None else each[0] for each in found]
        while priorities:
            least = min(priorities)
            if least == _NEVER:
                break
            place = priorities.index(least)
            made = self._rule(row[place], row[place + 1])
            assert made is not None
            row[place : place + 2] = [made[1]]
            del priorities[place]
            for k in (place - 1, place):
                if 0 <= k < len(priorities):
                    each = self._rule(row[k], row[k + 1])
                    priorities[k] = _NEVER if each is None else each[0]
        return row


class StepLimit:
    """A limit of the steps that a stranger's text and file can ask for.

    `limit`: the steps that are allowed, before they are refused."""

    def __init__(self, limit: int) -> None:
        self.steps_left = limit

    def spend(self, steps: int) -> None:
        """Refuse if these steps exceed the limit."""
        self.steps_left -= steps
        require(self.steps_left >= 0, "work", "the text and the file ask for too many steps")


def rank_rule(vocabulary: ByteVocabulary) -> Rule:
    """Returns the rule of tiktoken: two tokens merge if they are a token together, least id
    first."""
    spelled, number_of = vocabulary.spellings, vocabulary.number_of

    def rule(u: int, v: int) -> tuple[int, int] | None:
        number = number_of.get(spelled[u] + spelled[v])
        return None if number is None else (number, number)

    return rule


def pair_rule(pairs: dict[tuple[int, int], tuple[int, int]]) -> Rule:
    """Returns the rule of listed merges: (left, right) -> (priority, token), all by number."""

    def rule(u: int, v: int) -> tuple[int, int] | None:
        return pairs.get((u, v))

    return rule
