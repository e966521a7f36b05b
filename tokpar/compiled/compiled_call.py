"""Encodes texts by one compiled call each; the engine encodes what the call cannot decide."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from tokpar.arrays import IdArray, IntArray, SpanArray, concatenate_ids, frozen_ids, offsets_of
from tokpar.compiled.utf8_texts import Utf8Texts
from tokpar.contract.interfaces import CachedRows
from tokpar.errors import MismatchError
from tokpar.process.interrupts import raise_foreign
from tokpar.process.thread_pool import share
from tokpar.results.adding_up import Part, parts_between, place_seams
from tokpar.types import Rows, Seam

if TYPE_CHECKING:
    from tokpar.compiled.segment_engine import SegmentEngine

EncodeMany = Callable[[Sequence[str]], Sequence[IdArray]]
"""The engine's batch call, without special tokens."""
TokenizeWord = Callable[[bytes], Sequence[int] | None]
"""The ids of the engine's model for the bytes of one word; None if the engine cannot tell."""
FindCut = Callable[[str, int], Seam | None]
"""Returns the first certified cut of a text from a code point on, or None."""
LEAST_PART = 1 << 15
"""Code points of a part of a text or batch that a thread encodes."""
LONGEST_SHARED = 1 << 25
"""Code points of a text up to which its str may keep its UTF-8, which the threads share."""
MOST_HOLES, LONGEST_HOLE = 1 << 12, 1 << 10
"""Of so many parts of texts, of at most so many bytes, the engine's ids are kept."""
_Rows = tuple[IdArray, IntArray]
_Block = tuple[slice, int]
"""Neighbouring texts, and whose learned words and runs are preferred: those of an equal number."""
_IDS, _LENGTHS = np.dtype(np.uint32), np.dtype(np.int64)
_NO_SPECIAL = np.zeros(0, dtype=_IDS), np.zeros(0, dtype=_IDS)
_NO_ROW: _Rows = np.zeros(0, dtype=_IDS), np.array([-1], dtype=_LENGTHS)


class TokenPlaces(NamedTuple):
    """The ids of a text, uint32 (n,); the offsets of the tokens before trimming, in code points as
    the engine gives them, int64 (n, 2); the number of the pre-token of each token, int64 (n,)."""

    ids: IdArray
    spans: SpanArray
    words: IntArray


class CompiledCall:
    """The compiled call of one tokenizer. Thread-safe; usable after a fork.

    `call`: a `tokpar.compiled._call.Call`. `encode_many` encodes the segments of a text that hold
    characters which the normalizer may change. `tokenize` encodes words that are compared.
    `special`: the ids around a text; None if post-processing does more. `engine`: gives the ids of
    segments that only the engine knows, if the call looks segments up."""

    def __init__(
        self,
        call: Any,
        encode_many: EncodeMany,
        tokenize: TokenizeWord,
        find_cut: FindCut,
        special: tuple[Sequence[int], Sequence[int]] | None = None,
        engine: SegmentEngine | None = None,
    ) -> None:
        self._engine = engine
        self.is_final = special is not None
        """True if `encode` post-processes; else it returns what `encode_plain` returns."""
        before, after = special or ((), ())
        self._special = np.array(before, dtype=_IDS), np.array(after, dtype=_IDS)
        self._call, self._encode_many = call, encode_many
        self._tokenize, self._find_cut = tokenize, find_cut
        self._holes: dict[bytes, IdArray] = {}
        self.why_by_engine = ""
        """Why the engine is asked for new words; empty if the tables have the model."""
        self.why_stopped = ""
        """The message of the MismatchError after which the call answers nothing; else empty."""

    def encode(self, text: str) -> IdArray | None:
        """Returns the ids of `text`, with special tokens; uint32, (n,), read-only.

        None if only the engine knows them. Raises MismatchError if the engine has other ids for a
        word; after that every text gets None."""
        found = self._call.encode(text)
        if type(found) is bytes:  # microseconds count here
            return np.frombuffer(found, _IDS)
        return None if found is None else self._complete(text, found, self._special)

    def encode_plain(self, text: str) -> IdArray | None:
        """Returns what `encode` returns, without special tokens."""
        found = self._call.encode_plain(text)
        if type(found) is bytes:
            return np.frombuffer(found, _IDS)
        return None if found is None else self._complete(text, found)

    @property
    def asks_engine(self) -> bool:
        """True if the call learns the engine's ids of segments."""
        return self._engine is not None

    def _complete(
        self, text: str, found: Any, special: tuple[IdArray, IdArray] = _NO_SPECIAL
    ) -> IdArray | None:
        ids, holes, samples = found
        self._compare(samples)
        if isinstance(holes, list):
            return self._fill_holes(text, ids, holes)
        if self._engine is None or not holes[1]:
            return np.frombuffer(ids, _IDS)
        return self._engine.fill(self._call, text, ids, holes, special)

    def places(self, text: str) -> TokenPlaces | None:
        """Returns where the tokens of `text` are, special tokens not included.

        None if only the engine knows. Raises MismatchError as `encode` does."""
        found = self._call.encode_places(text)
        if found is None:
            return None
        ids, spans, words, samples = found
        self._compare(samples)
        places = np.frombuffer(spans, _LENGTHS).reshape(-1, 2)
        return TokenPlaces(np.frombuffer(ids, _IDS), places, np.frombuffer(words, _LENGTHS))

    def without_special(self, ids: IdArray) -> IdArray:
        """Returns the ids of `encode` without special tokens."""
        before, after = self._special
        return ids[len(before) : len(ids) - len(after)]

    def encode_long(self, text: str, workers: int) -> tuple[IdArray, Sequence[Seam]] | None:
        """Returns what `encode` returns, and the seams at which the text was cut for `workers`
        threads."""
        cuts = self._cuts(text, min(workers, len(text) // LEAST_PART))
        parts = [*enumerate(parts_between(cuts, len(text)))]
        rows = share(partial(self._encode_part, text), parts, workers, both_ends=True)
        known = [row for row in rows if row is not None]
        if len(known) < len(parts):
            return None
        before, after = self._special
        offsets = offsets_of([len(row) for row in known])
        return frozen_ids(np.concatenate([before, *known, after])), [*place_seams(cuts, offsets)]

    def _encode_part(self, text: str, job: tuple[int, Part]) -> IdArray | None:
        number, part = job  # parts of the same number find what was learned of the one before
        if len(text) > LONGEST_SHARED:
            return self.encode_plain(part.slice_of(text))
        found = self._call.encode_part(text, part.start + part.absorbed_chars, part.stop, number)
        if type(found) is bytes:
            return np.frombuffer(found, _IDS)
        return None if found is None else self._complete(part.slice_of(text), found)

    def _cuts(self, text: str, count: int) -> list[Seam]:
        """Returns certified cuts that part a text into at most `count` parts of about one size."""
        found = (self._find_cut(text, len(text) * k // count) for k in range(1, count))
        cuts = {cut.position: cut for cut in found if cut is not None}
        return [cuts[place] for place in sorted(cuts)]

    def rows(self, texts: Sequence[str], workers: int) -> CachedRows:
        """Returns the ids of texts without special tokens, and which texts have been answered.

        A text without an answer has an empty row. `workers` threads take blocks of texts."""
        if isinstance(texts, Utf8Texts):
            sizes = np.diff(texts.rows()[1])
            encode: Callable[[_Block], _Rows] = partial(self._encode_utf8, texts)
        else:
            sizes = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
            encode = partial(self._encode_block, texts)
        blocks = _blocks(sizes, workers)
        homes = (k * workers // len(blocks) for k in range(len(blocks)))
        results = share(encode, [*zip(blocks, homes, strict=True)], workers, both_ends=True)
        ids = concatenate_ids([each[0] for each in results])
        lengths = np.concatenate([np.zeros(0, _LENGTHS), *(each[1] for each in results)])
        return Rows(ids, offsets_of(np.maximum(lengths, 0))), lengths >= 0

    def few_rows(self, texts: Sequence[str]) -> CachedRows:
        """Returns what `rows` returns, by one call for all texts."""
        ids, lengths = self._encode_block(texts, (slice(None), 0))
        return Rows(ids, offsets_of(np.maximum(lengths, 0))), lengths >= 0

    def _encode_block(self, parts: Sequence[str], job: _Block) -> _Rows:
        block, home = job
        texts = parts[block]
        if len(texts) == 1:  # a row with a hole would be encoded twice
            row = self.encode_plain(texts[0])
            return _NO_ROW if row is None else (row, np.array([len(row)], dtype=_LENGTHS))
        return self._all_rows(self._call.encode_rows(tuple(texts), home), texts)

    def _encode_utf8(self, texts: Utf8Texts, job: _Block) -> _Rows:
        block, home = job
        data, edges = texts.rows()
        found = self._call.encode_utf8(data, edges[block.start : block.stop + 1], home)
        return self._all_rows(found, texts[block])

    def _all_rows(self, answer: tuple[bytes, bytes, Any, Any], texts: Sequence[str]) -> _Rows:
        """Returns the ids of texts in one array, and how many each has; -1: no answer."""
        sizes: bytes | IntArray
        data, sizes, samples, listed = answer
        self._compare(samples)
        if self._engine is not None and listed is not None:
            found = self._engine.fill_rows(self._call, data, sizes, listed)
            none = b"", np.full(len(texts), -1, _LENGTHS)
            data, sizes = none if found is None else found
        ids, counts = np.frombuffer(data, _IDS), np.frombuffer(sizes, _LENGTHS)
        if counts.min(initial=0) >= 0:
            return ids, counts
        rows = np.split(ids, np.cumsum(np.maximum(counts, 0)))
        counts = counts.copy()
        for k in np.flatnonzero(counts < 0).tolist():
            row = self.encode_plain(texts[k])
            if row is not None:
                rows[k], counts[k] = row, len(row)
        return np.concatenate(rows), counts

    def _fill_holes(
        self, text: str, ids: bytes, holes: Sequence[tuple[int, bytes]]
    ) -> IdArray | None:
        """Returns `ids` with the engine's ids put where the call left a hole."""
        found = np.frombuffer(ids, _IDS)
        if not holes:
            return found
        if 2 * sum(len(part) for _, part in holes) > len(text.encode()):
            return None
        known = np.split(found, [place for place, _ in holes])
        try:
            rows = self._rows_of_holes([part for _, part in holes])
        except MemoryError:
            raise
        except BaseException as error:  # the engine fails on the whole text, too, and says how
            raise_foreign(error)
            return None
        whole: IdArray = np.concatenate(
            [known[0], *(x for k in range(len(rows)) for x in (rows[k], known[k + 1]))]
        )
        return whole

    def _rows_of_holes(self, parts: Sequence[bytes]) -> list[IdArray]:
        """Returns the engine's ids of each part. Those of short parts are kept."""
        if len(self._holes) > MOST_HOLES:
            self._holes = {}
        kept = self._holes
        new = [part for part in dict.fromkeys(parts) if part not in kept]
        if not new:
            return [kept[part] for part in parts]
        rows = self._encode_many([part.decode() for part in new])
        fresh = dict(zip(new, rows, strict=True))
        found = [fresh[part] if part in fresh else kept[part] for part in parts]
        kept.update((part, row.copy()) for part, row in fresh.items() if len(part) <= LONGEST_HOLE)
        return found

    def _compare(self, samples: Sequence[tuple[bytes, bytes]]) -> None:
        for word, ids in samples:
            own = np.frombuffer(ids, _IDS).tolist()
            try:
                theirs = self._tokenize(word)
            except MemoryError:  # no other ids
                raise
            except BaseException as error:  # a panic of the engine is no Exception
                raise_foreign(error)
                theirs = [-1]
            if theirs is not None and [*theirs] != own:
                self._stop(
                    f"the engine has ids {theirs[:200]!r} for the word {word[:200]!r}, where the "
                    f"merges of its file give {own[:200]}: tokpar does not use them for this "
                    "tokenizer any more; please report this"
                )

    def _stop(self, why: str) -> NoReturn:
        """Answer nothing from now on, log why, and raise MismatchError."""
        import logging  # a call that is right does without it

        self._call, self.why_stopped = _NoCall(), why
        logging.getLogger("tokpar").error("the engine encodes all texts from now on: %s", why)
        raise MismatchError(why)


class _NoCall:
    """Answers nothing: stands in for a call that gave a wrong id."""

    def encode(self, text: str) -> None:
        return None

    encode_plain = encode_places = encode

    def encode_part(self, text: str, start: int, stop: int, home: int) -> None:
        return None

    def encode_rows(self, texts: Sequence[str], home: int) -> tuple[bytes, bytes, list[Any], None]:
        return b"", np.full(len(texts), -1, _LENGTHS).tobytes(), [], None

    def encode_utf8(
        self, data: object, edges: Sequence[int], home: int
    ) -> tuple[bytes, bytes, list[Any], None]:
        return b"", np.full(len(edges) - 1, -1, _LENGTHS).tobytes(), [], None


def _blocks(sizes: IntArray, workers: int) -> list[slice]:
    """Returns slices of neighbouring parts with about as many code points or bytes each."""
    stops = np.cumsum(sizes)
    total = int(stops[-1]) if len(sizes) else 0
    count = max(1, min(4 * workers if workers > 1 else 1, total // LEAST_PART, len(sizes)))
    edges = np.searchsorted(stops, [total * j // count for j in range(1, count)], side="left") + 1
    places = sorted({0, len(sizes), *np.minimum(edges, len(sizes)).tolist()})
    return [slice(i, j) for i, j in pairwise(places)]
