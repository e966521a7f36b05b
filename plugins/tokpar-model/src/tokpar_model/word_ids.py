"""Are these ids the ids of a text, by the file alone? Theorem 33, for WordPiece."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of, range_indices
from tokpar.certificate.class_check import POINTS
from tokpar.certificate.findings import Finding
from tokpar_model.bert_characters import SINGLE, UNKNOWN, WORD, require_known
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.normal_form import normalize_text
from tokpar_model.word_file import WordTokenizer

_BLOCK = 1 << 20
"""Characters that are divided together."""


def word_id_findings(
    tokenizer: WordTokenizer, text: str, ids: IntArray, work: StepLimit
) -> list[Finding]:
    """Returns the first reason why `ids` are not the ids of a text; [] if they are.

    `ids`: int64, (n,), without those that post-processing inserts. Refused outside the gate."""
    at, words = 0, WordRows(tokenizer, work)
    for part, id_ in tokenizer.added_tokens.parts(text):
        rows = words.ids_of(part) if id_ is None else [np.array([id_], dtype=np.int64)]
        for expected in rows:
            own = ids[at : at + len(expected)]
            if not np.array_equal(own, expected):
                return [_difference(own, expected, at)]
            at += len(expected)
    if at < len(ids):
        return [Finding("ids", f"expected {at} ids, got {len(ids)}")]
    return []


def _difference(own: IntArray, expected_ids: IntArray, start: int) -> Finding:
    unequal = np.flatnonzero(own != expected_ids[: len(own)])
    if not len(unequal):
        return Finding("ids", f"expected more than {start + len(own)} ids")
    k = int(unequal[0])
    return Finding("ids", f"id {start + k}: expected {expected_ids[k]}, got {own[k]}")


class WordRows:
    """The ids of words, each distinct word encoded once."""

    def __init__(self, tokenizer: WordTokenizer, work: StepLimit) -> None:
        self._tokenizer, self._work = tokenizer, work
        self._number: dict[str, int] = {}
        self._rows: list[list[int]] = []
        self._kinds = np.full(POINTS, UNKNOWN, dtype=np.uint8)
        self._forms: dict[int, str] = {}

    def ids_of(self, text: str) -> Iterator[IntArray]:
        """Yields the ids of a text between added tokens, block by block. A block ends behind a
        character that is no part of a word."""
        text = normalize_text(text, self._tokenizer.normalizer)
        kinds, start = self._kinds_of(text), 0
        edges = np.append(np.flatnonzero(kinds != WORD) + 1, len(text))
        while start < len(text):
            stop = int(edges[np.searchsorted(edges, min(start + _BLOCK, len(text)))])
            yield self._ids(text[start:stop], kinds[start:stop])
            start = stop

    def _kinds_of(self, text: str) -> NDArray[np.uint8]:
        """Returns the kind of each character. Refused if one is not known."""
        codes = np.frombuffer(text.encode("utf-32-le"), "<u4")
        for code in np.unique(codes[self._kinds[codes] == UNKNOWN]).tolist():
            char = chr(code)
            self._kinds[code], form = require_known(self._tokenizer.kind_of(char), char)
            if form != char:
                self._forms[code] = form
        kinds: NDArray[np.uint8] = self._kinds[codes]
        return kinds

    def _ids(self, text: str, kinds: NDArray[np.uint8]) -> IntArray:
        word = np.concatenate(([False], kinds == WORD, [False]))
        begins, ends = word[1:] & ~word[:-1], word[:-1] & ~word[1:]
        single = kinds == SINGLE
        begins[:-1] |= single
        ends[1:] |= single
        starts, stops = np.flatnonzero(begins).tolist(), np.flatnonzero(ends).tolist()
        words = [text[a:b] for a, b in zip(starts, stops, strict=True)]
        number = self._number
        for each in set(words) - number.keys():
            number[each] = len(number)
            self._rows.append(self._tokenizer.row(each.translate(self._forms), self._work))
        which = np.fromiter(map(number.__getitem__, words), np.int64, len(words))
        return self._concatenate(which)

    def _concatenate(self, which: IntArray) -> IntArray:
        """Returns the ids of these words, one after the other."""
        offsets = offsets_of(map(len, self._rows))
        every = np.array([id_ for row in self._rows for id_ in row], dtype=np.int64)
        found: IntArray = every[range_indices(offsets[which], np.diff(offsets)[which])]
        return found
