"""Encodes texts by one compiled call each; the engine encodes what the call cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tokpar.arrays import IdArray, offsets_of
from tokpar.cache.text_parts import in_threads
from tokpar.errors import MismatchError
from tokpar.foreign_errors import raise_foreign
from tokpar.interfaces import CachedRows
from tokpar.types import Rows

EncodeMany = Callable[[Sequence[str]], Sequence[IdArray]]
"""The engine's batch call, without special tokens."""
TokenizeWord = Callable[[bytes], Sequence[int] | None]
"""The ids of the engine's model for the bytes of one word; None if the engine cannot tell."""
FindCut = Callable[[str, int], tuple[int, int] | None]
"""Finds a certified cut from a code point on: where the left part ends and the right one begins."""
LEAST_PART = 1 << 15
"""Code points of a part of a text or batch that a thread encodes."""
_IDS, _LENGTHS = np.dtype(np.uint32), np.dtype(np.int64)


class CompiledCall:
    """The compiled call of one tokenizer. Thread-safe; usable after a fork.

    `call`: a `tokpar.cache._call.Call`. `encode_many` encodes the segments of a text that hold
    characters which the normalizer may change. `tokenize` encodes words that are compared."""

    def __init__(
        self,
        call: Any,
        encode_many: EncodeMany,
        tokenize: TokenizeWord,
        find_cut: FindCut,
        is_final: bool = True,
    ) -> None:
        self.is_final = is_final
        """True if `encode` post-processes; else it returns what `encode_plain` returns."""
        self._call, self._encode_many = call, encode_many
        self._tokenize, self._find_cut = tokenize, find_cut

    def encode(self, text: str) -> IdArray | None:
        """Returns the ids of `text`, with special tokens; uint32, (n,), read-only.

        None if only the engine knows them. Raises MismatchError if the engine has other ids for a
        word; after that every text gets None."""
        found = self._call.encode(text)
        if type(found) is bytes:  # microseconds count here
            return np.frombuffer(found, _IDS)
        return None if found is None else self._completed(text, *found)

    def encode_plain(self, text: str) -> IdArray | None:
        """Returns what `encode` returns, without special tokens."""
        found = self._call.encode_plain(text)
        if type(found) is bytes:
            return np.frombuffer(found, _IDS)
        return None if found is None else self._completed(text, *found)

    def rows(self, texts: Sequence[str], workers: int) -> CachedRows:
        """Returns the ids of texts without special tokens, and which texts have been answered.

        A text without an answer has an empty row. Long texts are cut, and the parts are encoded on
        `workers` threads."""
        parts, numbers = self._parts(texts, workers)
        blocks = _blocks(parts, workers)
        results = in_threads(
            [partial(self._encode_block, parts[block]) for block in blocks], workers
        )
        ids = np.concatenate([np.zeros(0, _IDS), *(each[0] for each in results)])
        lengths = np.concatenate([np.zeros(0, _LENGTHS), *(each[1] for each in results)])
        if len(parts) == len(texts):
            return Rows(ids, offsets_of(np.maximum(lengths, 0))), lengths >= 0
        return _joined(ids, lengths, np.array(numbers), len(texts))

    def _parts(self, texts: Sequence[str], workers: int) -> tuple[list[str], list[int]]:
        """Returns the parts of all texts, and the number of the text of each part."""
        parts: list[str] = []
        numbers: list[int] = []
        for k, text in enumerate(texts):
            count = min(workers, len(text) // LEAST_PART) if len(texts) < workers else 1
            found = (self._find_cut(text, len(text) * j // count) for j in range(1, count))
            cuts = sorted({cut for cut in found if cut is not None})
            edges = [0, *(place for cut in cuts for place in cut), len(text)]
            cut = [text[edges[j] : edges[j + 1]] for j in range(0, len(edges), 2)]
            parts += cut
            numbers += [k] * len(cut)
        return parts, numbers

    def _encode_block(self, texts: Sequence[str]) -> tuple[IdArray, Any]:
        """Returns the ids of texts in one array, and how many each text has; -1: no answer."""
        ids, lengths, samples = self._call.encode_rows(tuple(texts))
        self._compare(samples)
        found, counts = np.frombuffer(ids, _IDS), np.frombuffer(lengths, _LENGTHS)
        if counts.min(initial=0) >= 0:
            return found, counts
        rows = np.split(found, np.cumsum(np.maximum(counts, 0)))
        counts = counts.copy()
        for k in np.flatnonzero(counts < 0).tolist():
            row = self.encode_plain(texts[k])
            if row is not None:
                rows[k], counts[k] = row, len(row)
        return np.concatenate(rows), counts

    def _completed(self, text: str, ids: bytes, holes: bytes, samples: Any) -> IdArray | None:
        """Returns `ids` with the engine's ids put where the call left a hole."""
        self._compare(samples)
        found = np.frombuffer(ids, _IDS)
        places = np.frombuffer(holes, _LENGTHS).reshape(-1, 3)
        if not len(places):
            return found
        data = text.encode()
        if 2 * int((places[:, 2] - places[:, 1]).sum()) > len(data):
            return None
        rows = self._encode_many([data[i:j].decode() for _, i, j in places.tolist()])
        known = np.split(found, places[:, 0])
        return np.concatenate(
            [known[0], *(x for k in range(len(rows)) for x in (rows[k], known[k + 1]))]
        )

    def _compare(self, samples: Sequence[tuple[bytes, bytes]]) -> None:
        for word, ids in samples:
            own = np.frombuffer(ids, _IDS).tolist()
            try:
                theirs = self._tokenize(word)
            except BaseException as error:  # a panic of the engine is no Exception
                raise_foreign(error)
                theirs = [-1]
            if theirs is not None and [*theirs] != own:
                self._call = _NoCall()
                raise MismatchError(
                    f"the engine has ids {theirs[:200]!r} for the word {word[:200]!r}, where the "
                    f"merges of its file give {own[:200]}: tokpar does not use them for this "
                    "tokenizer any more; please report this"
                )


class _NoCall:
    """Answers nothing: stands in for a call that gave a wrong id."""

    def encode(self, text: str) -> None:
        return None

    encode_plain = encode

    def encode_rows(self, texts: Sequence[str]) -> tuple[bytes, bytes, list[Any]]:
        return b"", np.full(len(texts), -1, _LENGTHS).tobytes(), []


def _blocks(parts: Sequence[str], workers: int) -> list[slice]:
    """Returns slices of neighbouring parts with about as many code points each."""
    stops = np.cumsum([*map(len, parts)])
    total = int(stops[-1]) if len(parts) else 0
    count = max(1, min(4 * workers if workers > 1 else 1, total // LEAST_PART, len(parts)))
    edges = np.searchsorted(stops, [total * j // count for j in range(1, count)], side="left") + 1
    places = sorted({0, len(parts), *np.minimum(edges, len(parts)).tolist()})
    return [slice(i, j) for i, j in pairwise(places)]


def _joined(ids: IdArray, lengths: Any, numbers: Any, count: int) -> CachedRows:
    """Returns the rows of texts from the rows of their parts; `numbers`: the text of each part."""
    is_answered = np.ones(count, dtype=np.bool_)
    is_answered[numbers[lengths < 0]] = False
    if not is_answered.all():
        ids = ids[np.repeat(is_answered[numbers], np.maximum(lengths, 0))]
    sizes = np.zeros(count, dtype=np.int64)
    np.add.at(sizes, numbers, np.maximum(lengths, 0))
    return Rows(ids, offsets_of(sizes * is_answered)), is_answered
