"""Words by the engine: the compiled call cuts a text at certified cuts before spaces, and the
engine gives the ids of the segments that the call has not learned (theorem 27)."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.arrays import IdArray, IntArray
from tokpar.compiled.merges import GateError
from tokpar.errors import ChangedError
from tokpar.facts.space_stages import MARK, SpaceCut, find_space_cut, space_cuts
from tokpar.process.interrupts import raise_foreign
from tokpar.types import Facts, NormalizerStage

if TYPE_CHECKING:
    from tokpar.compiled.pair_spaces import PairsAtSpaces

    Cut = SpaceCut | PairsAtSpaces

CHUNK = 256
"""Segments that the engine gets as one pre-tokenized text."""
LONG = 256
"""Code points of a segment, on average, from which on segments are given as texts of their own."""
LONGEST_SEGMENT = 1 << 12
"""About so many code points of a long segment are encoded together, if there are certified cuts."""
NEAR = 64
"""Code points in which a cut of a long segment is looked for."""
LEAST_WHOLE, LONGEST_WHOLE = 128, 1 << 14
"""Code points of a text that is encoded whole if most of it is new: the engine takes less for it
than for its segments."""
Listed = tuple[bytes, list[str], bytes]
"""The holes, int64 (n, 3): place among the ids, number of the segment, row; the segments; a byte
for each segment: it was met before."""
_HOLES, _LENGTHS = np.dtype(np.int64), np.dtype(np.int64)
Found = tuple[list[int], list[int]]
"""The ids of segments, one after the other, and the number of the segment of each."""


@dataclass(frozen=True, slots=True, repr=False)
class SegmentEngine:
    """Asks the engine for the ids of segments.

    `copy`: the private copy. `call_batch`: calls a batch method of it, also in a forked child.
    `is_same_model`: returns False once somebody changed the model. `cut`: the certified cuts before
    spaces; None: before each space that follows a character other than white space."""

    copy: Any
    call_batch: Callable[..., Sequence[Any]]
    is_same_model: Callable[[], bool]
    facts: Facts
    cut: Cut | None

    absorbs: bool = field(init=False)
    """True if the engine puts a prefix before each text, which stands for the space at a cut
    (theorem 6.4): segments are encoded without their first space."""
    _checks_ends: bool = field(init=False)
    """True if not every segment may stand before a cut."""

    def __post_init__(self) -> None:
        """Set what follows from facts and cut: microseconds count in each question."""
        object.__setattr__(self, "absorbs", self.facts.scheme == "dummy")
        cut = self.cut
        object.__setattr__(self, "_checks_ends", cut is not None and cut.joins_others)

    def fill(
        self, call: Any, text: str, ids: bytes, listed: Listed, special: tuple[IdArray, IdArray]
    ) -> IdArray | None:
        """Returns `ids` with those of the listed segments, which `call` learns. None if only the
        engine's own call of the whole text knows them: it fails, or a segment may not end so.

        `special`: the ids around the text. Raises ChangedError."""
        holes, segments, met = listed
        if self._checks_ends and not self._may_end(segments):
            return None
        try:
            if self._is_mostly_new(text, segments, met):
                self._learn_met(call, segments, met)
                return self._whole(text, special)
            return np.frombuffer(call.finish(ids, holes, segments, *self.rows(segments)), np.uint32)
        except (ChangedError, MemoryError):
            raise
        except BaseException as error:  # a panic of the engine is no Exception
            raise_foreign(error)
            return None

    def fill_rows(
        self, call: Any, ids: bytes, counts: bytes, listed: Listed
    ) -> tuple[bytes, IntArray] | None:
        """Returns the ids of rows with those of the listed segments, and how many each row has, -1
        for a row without an answer; `counts` are those without. None: see `fill`."""
        holes, segments, _ = listed
        if self._checks_ends and not self._may_end(segments):
            return None
        try:
            found, owners = self.rows(segments)
            filled: bytes = call.finish(ids, holes, segments, found, owners)
        except (ChangedError, MemoryError):
            raise
        except BaseException as error:  # as above
            raise_foreign(error)
            return None
        _, numbers, rows = np.frombuffer(holes, _HOLES).reshape(-1, 3).T
        sizes = np.bincount(np.array(owners, dtype=np.int64), minlength=len(segments))
        known = np.frombuffer(counts, _LENGTHS)
        more = np.bincount(rows, sizes[numbers], len(known)).astype(np.int64)
        return filled, known + more

    def _may_end(self, segments: Sequence[str]) -> bool:
        return self.cut is None or all(map(self.cut.ends, segments))

    def rows(self, segments: list[str]) -> Found:
        """Returns the ids of segments. A long one is cut at other certified cuts."""
        self._require_same()
        if self.absorbs:
            segments = [segment.removeprefix(" ") for segment in segments]
        chars = sum(map(len, segments))
        if chars <= LONG * len(segments) and len(segments) <= CHUNK:
            return self._few_rows(segments)
        if chars <= 2 * LONGEST_SEGMENT:
            return self._rows(segments)
        pieces = [(piece, k) for k, each in enumerate(segments) for piece in self._pieces(each)]
        ids, owners = self._rows([piece for piece, _ in pieces])
        return ids, [pieces[k][1] for k in owners]

    def first_tokens(self, count: int) -> tuple[list[str], str, str]:
        """Returns the first `count` tokens of the vocabulary, the suffix of a word's last token and
        the prefix of its inner tokens; empty where the model has none."""
        model = self.copy.model
        size = min(count, self.copy.get_vocab_size(with_added_tokens=False))
        suffix = getattr(model, "end_of_word_suffix", None) or ""
        inner = getattr(model, "continuing_subword_prefix", None) or ""
        return [*filter(None, map(model.id_to_token, range(size)))], suffix, inner

    def _few_rows(self, segments: list[str]) -> Found:
        if len(segments) == 1:
            ids: list[int] = self.copy.encode(segments[0], add_special_tokens=False).ids
            return ids, [0] * len(ids)
        found = self.copy.encode(segments, is_pretokenized=True, add_special_tokens=False)
        return found.ids, found.word_ids

    def _rows(self, segments: list[str]) -> Found:
        if sum(map(len, segments)) > LONG * len(segments):
            each = self.call_batch(self.copy.encode_batch_fast, segments, add_special_tokens=False)
            rows = [encoding.ids for encoding in each]
            return [i for row in rows for i in row], [k for k, row in enumerate(rows) for _ in row]
        if len(segments) <= CHUNK:
            return self._few_rows(segments)
        settings = {"is_pretokenized": True, "add_special_tokens": False}
        chunks = [segments[k : k + CHUNK] for k in range(0, len(segments), CHUNK)]
        many = self.call_batch(self.copy.encode_batch, chunks, **settings)
        ids = [i for encoding in many for i in encoding.ids]
        return ids, [k + CHUNK * j for j, encoding in enumerate(many) for k in encoding.word_ids]

    def _whole(self, text: str, special: tuple[IdArray, IdArray]) -> IdArray:
        self._require_same()
        row = self._whole_row(text)
        return np.concatenate([special[0], row, special[1]]) if any(map(len, special)) else row

    def _whole_row(self, text: str) -> IdArray:
        ids: list[int] = self.copy.encode(text, add_special_tokens=False).ids
        return np.frombuffer(array("I", ids), dtype=np.uint32)

    def _pieces(self, segment: str) -> Iterator[str]:
        """Yields a segment, a long one in parts between certified cuts."""
        start, may_cut = 0, not segment.isspace()
        while may_cut and len(segment) - start > 2 * LONGEST_SEGMENT:
            stop = self._find_cut(segment, start + LONGEST_SEGMENT)
            if stop is None:
                break
            yield segment[start:stop]
            start = stop
        yield segment[start:]

    def _find_cut(self, text: str, start: int) -> int | None:
        from tokpar.cuts.finder import finder_for  # only long segments are cut

        finder = finder_for(self.facts)
        if finder.refusal_for(text) is not None:
            return None
        found = finder.find(text, start, start + NEAR)
        return None if found is None or found.absorbed else found.position

    def _is_mostly_new(self, text: str, segments: Sequence[str], met: bytes) -> bool:
        """True if two thirds of the text are new segments, and at most a third was met before."""
        if not LEAST_WHOLE < len(text) <= LONGEST_WHOLE:
            return False
        again = sum(len(segment) for segment, flag in zip(segments, met, strict=True) if flag)
        return 3 * sum(map(len, segments)) > 2 * len(text) and 3 * again <= len(text)

    def _learn_met(self, call: Any, segments: Sequence[str], met: bytes) -> None:
        """Learn the segments that were met before: others may never come again."""
        if again := [segment for segment, flag in zip(segments, met, strict=True) if flag]:
            call.finish(b"", b"", again, *self.rows(again))

    def _require_same(self) -> None:
        if not self.is_same_model():
            raise ChangedError(
                "the tokenizer was changed after this Encoder was made: make a new one"
            )


def segment_engine(
    copy: Any,
    call_batch: Callable[..., Sequence[Any]],
    is_same_model: Callable[[], bool],
    facts: Facts,
) -> SegmentEngine:
    """Returns what asks the engine for segments. Raises GateError where no cut before spaces is
    certified."""
    cut = space_cut_of(facts, copy.normalizer is not None)
    return SegmentEngine(copy, call_batch, is_same_model, facts, cut)


def space_cut_of(facts: Facts, normalizes: bool) -> Cut | None:
    """Returns the certified cuts before spaces; None: before each space that follows a character
    other than white space. `normalizes`: there is a normalizer. Raises GateError where there are
    none."""
    refused = facts.unprovable or facts.added_token_cuts_refused
    if refused is not None:
        raise GateError(refused)
    if normalizes and any(token.normalized for token in facts.added_tokens):
        raise GateError("an added token is searched in the normalized text")
    if facts.scheme == "spaces":
        cut = next(iter(space_cuts(facts)), None)
        if cut is None or cut.space_char != " ":
            raise GateError("no cut before a space is certified")
        return cut
    if facts.scheme == "dummy":
        cut = SpaceCut(
            "unjoined", joined_chars=(facts.chars_before_mark or frozenset()) | {" ", MARK}
        )
        if cut.spared_ascii:
            raise GateError(f"its tokens join {cut.spared_ascii[0]!r} with a space")
        return cut
    if facts.scheme == "metaspace":
        stage = NormalizerStage("Metaspace", (("replacement", MARK), ("split", True)))
        found = find_space_cut(facts.normalizers, (stage,), None)
        if isinstance(found, str):
            raise GateError(found)
        return found
    if facts.scheme in ("regex", "bert"):
        from tokpar.cuts.finder import finder_for  # the other schemes do without it

        finder = finder_for(facts)
        if finder.cuts_each_space:
            return None
        if finder.pairs is not None and finder.pairs.by_arrays:
            from tokpar.compiled.pair_spaces import PairsAtSpaces  # few tokenizers need it

            return PairsAtSpaces(finder.pairs.table)
    raise GateError("each space needs a check of its own")
