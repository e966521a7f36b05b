"""The `tokenizers.Encoding` objects of a result: from the ids of its texts where ids tell, and from
the engine, which encodes the texts again, where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from tokpar.adapters.engine_batches import call_batch, pad_batch
from tokpar.adapters.hf_copy import private_copy
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.adapters.settings import call_engine
from tokpar.arrays import IdArray, IntArray, SpanArray, offsets_of
from tokpar.errors import ChangedError, EngineError
from tokpar.integrations.row_columns import CallColumns, Frame
from tokpar.integrations.sent_encodings import Part, SentEncoding, SentPadding, StandIn, part_of
from tokpar.process.cached_property import cached_property
from tokpar.types import Rows

OWN_ANSWERS = (EngineError, LookupError, ChangedError)
"""Errors where the engine has an error, or an answer, of its own."""
_ENDLESS = 1 << 31
"""The engine refuses numbers from here on, or from further on."""


class EncodedCall(Sequence[Any]):
    """What one call encoded, and how. The sequence has the encoding of each text.

    `rows`: the ids of each text before post-processing. `kept_ids`: the ids that truncation leaves
    of them."""

    def __init__(
        self,
        adapter: HuggingFaceTokenizer,
        texts: Sequence[str],
        rows: Sequence[IdArray],
        frame: Frame,
        columns: CallColumns,
        add_special_tokens: bool,
    ) -> None:
        self.adapter, self.texts, self.rows, self.frame = adapter, texts, rows, frame
        self.columns, self.add_special_tokens = columns, add_special_tokens
        self.kept_ids = columns.kept_of(frame, rows)

    def values(self) -> dict[str, Any]:
        """The columns of the result, see `CallColumns.values`. Raises as `kept_spans` does."""
        return self.columns.values(self.frame, self.kept_ids, self._parts(*self.columns.names))

    def _parts(self, *names: str) -> dict[str, Sequence[Any]]:
        found: dict[str, Sequence[Any]] = {}
        if "offset_mapping" in names:
            found["offset_mapping"] = [[*map(tuple, each.tolist())] for each in self.kept_spans]
        if "word_ids" in names:
            found["word_ids"] = self.kept_words
        if "tokens" in names:
            found["tokens"] = [self.adapter.token_names(row.tolist()) for row in self.kept_ids]
        return found

    @cached_property
    def kept_spans(self) -> list[SpanArray]:
        """The offsets of the tokens of each text that truncation leaves, in code points, int64
        (n, 2).

        Raises LookupError, EngineError or ChangedError where the engine has its own."""
        cut, truncation = None, self.columns.truncation
        if truncation is None and len(self.texts) == 1:
            spans = self._spans_by_call()
            if spans is not None:
                return [spans]
        if truncation is not None:
            counts = zip(map(len, self.rows), map(len, self.kept_ids), strict=True)
            gone = np.array([own - left for own, left in counts], dtype=np.int64)
            cut = (gone, 0 * gone) if truncation["direction"] == "left" else (0 * gone, gone)
        spans = self._spans_of(self.texts, Rows.of(self.rows), cut)
        if len(self.texts) == 1:
            return [spans]
        edges = offsets_of([*map(len, self.kept_ids)]).tolist()
        return [spans[start:stop] for start, stop in pairwise(edges)]

    def _spans_by_call(self) -> SpanArray | None:
        """The offsets of the tokens of the only text by the compiled call, which is asked first
        because the other ways take more time than a short text."""
        places = self.adapter.places(self.texts[0], self.rows[0])
        if places is None:
            return None
        return self.adapter.trimmed(self.rows[0], places.spans, self.add_special_tokens)

    def _spans_of(
        self, texts: Sequence[str], rows: Rows, cut: tuple[IntArray, IntArray] | None
    ) -> SpanArray:
        """What `HuggingFaceTokenizer.offset_mapping` returns."""
        add = self.add_special_tokens
        return self.adapter.offset_mapping(texts, rows, add_special_tokens=add, cut=cut)

    @property
    def kept_words(self) -> list[list[int]]:
        """The numbers of the pre-tokens of the tokens of each text that truncation leaves. Raises
        as `kept_spans` does."""
        words = [self._words_of(k) for k in range(len(self.texts))]
        kept_rows = self.columns.kept_of(self.frame, words)
        return [row.tolist() for row in kept_rows]

    def _words_of(self, number: int) -> IntArray:
        """The numbers of the pre-tokens of all tokens of one text."""
        return self.adapter.word_numbers(self.texts[number], self.rows[number])

    def column(self, name: str) -> list[list[Any]]:
        """One column of the result, with a list for each text. Raises as `kept_spans` does."""
        if name not in self._columns:
            try:
                parts = self._parts(name)
            except OWN_ANSWERS:
                self._columns[name] = None  # each of the texts asks
                raise
            self._columns[name] = self.columns.lists(name, self.frame, self.kept_ids, parts)
        known = self._columns[name]
        if known is None:
            raise LookupError(f"only the engine knows {name}")
        return known

    @cached_property
    def _columns(self) -> dict[str, list[list[Any]] | None]:
        """The columns by name; None for one that the engine has by itself."""
        return {}

    @cached_property
    def first_tokens(self) -> list[int]:
        """Behind how much padding and how many special tokens the tokens of each text begin."""
        before = len(self.frame.types[0])
        pads = self.columns.pads(self.frame, self.kept_ids)
        return [before + pad * self.columns.pads_left for pad in pads]

    def ids_of(self, number: int) -> list[int]:
        """The ids of one text, with special tokens and padding."""
        if self.columns.padding is not None:
            return list(self.column("input_ids")[number])
        before, behind = self.frame.ids
        row: list[int] = self.kept_ids[number].tolist()
        return [*before, *row, *behind] if before or behind else row

    @cached_property
    def own_encodings(self) -> Sequence[Any]:
        """What the engine gives for the texts with the settings of the call. Raises ChangedError or
        EngineError if it has other ids, because the model was changed after the call."""
        encodings = self._engine_encodings()
        for k, encoding in enumerate(encodings):
            if encoding.ids != self.ids_of(k):
                raise ChangedError(
                    "the model of the tokenizer was changed after this text was encoded: encode "
                    "the text again"
                )
        return encodings

    engine_method = "encode_batch"
    """The method of the engine that makes the encodings."""

    def _engine_encodings(self) -> Sequence[Any]:
        """What the engine gives for the texts. The settings of the call are set on a copy: other
        threads may be using the engine."""
        copy = self.adapter.engine
        if self.columns.truncation is not None or self.columns.padding is not None:
            copy, _ = private_copy(copy)
        if self.columns.truncation is not None:
            copy.enable_truncation(**self.columns.truncation)
        if self.columns.padding is not None:
            copy.enable_padding(**self.columns.padding)
        add = self.add_special_tokens
        call = partial(call_batch, getattr(copy, self.engine_method))
        encodings = call_engine(self.texts, call, self.texts, add_special_tokens=add)
        pad_batch(copy, encodings)
        return encodings

    def sent(self, number: int) -> SentEncoding | None:
        """The encoding of one text without the engine and the text, for another process; None if
        only the engine knows it."""
        text, row = self.texts[number], self.rows[number]
        ranges = self.columns.ranges(self.frame, len(row))
        is_plain = self.frame.around_text in (None, (0, 0))
        if self.frame.sequences != 1 or (len(ranges) > 1 and not is_plain):
            return None
        try:
            parts = self._sent_parts(text, row, number, ranges)
        except OWN_ANSWERS:
            return None
        return SentEncoding(self.frame, parts, self._sent_padding(number, parts))

    def _sent_parts(
        self, text: str, row: IdArray, number: int, ranges: Sequence[tuple[int, int]]
    ) -> list[Part]:
        names = tuple(self.adapter.token_names(row.tolist()))
        places = self.adapter.places(text, row)
        words = self._words_of(number) if places is None else places.words
        parts: list[Part] = []
        for start, stop in ranges:
            spans = None
            if len(ranges) == 1 and places is not None:
                spans = self.adapter.trimmed(row, places.spans, self.add_special_tokens)
            if spans is None:
                cut = np.array([start]), np.array([len(row) - stop])
                spans = self._spans_of([text], Rows.of([row]), cut)
            own = row[start:stop], spans, words[start:stop], names[start:stop]
            parts.append(part_of(*own))
        return parts

    def _sent_padding(self, number: int, parts: Sequence[Part]) -> SentPadding | None:
        padding = self.columns.padding
        if padding is None:
            return None
        [count] = self.columns.pads(self.frame, self.kept_ids)[number : number + 1]
        whole = len(parts[0][-1]) + count
        counts = tuple(max(0, whole - len(names)) for *_, names in parts)
        values = padding["pad_id"], padding["pad_type_id"], padding["pad_token"]
        return SentPadding(counts, self.columns.pads_left, *values)

    def results(self) -> list[RowEncoding]:
        """The encoding of each text in a new list."""
        return [RowEncoding(self, k) for k in range(len(self.texts))]

    @cached_property
    def _encodings(self) -> list[RowEncoding]:
        return self.results()

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, k: Any) -> Any:
        return self._encodings[k]

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None  # type: ignore[assignment]  # as the list that it stands for

    def __reduce__(self) -> tuple[Any, ...]:
        return list, (self._encodings,)


class RowEncoding(StandIn):
    """Stands for the engine's own encoding of text `number`."""

    def __init__(self, call: EncodedCall, number: int) -> None:
        self._call, self._number = call, number

    def __len__(self) -> int:
        return len(self.ids)

    def __reduce__(self) -> Any:
        found = None if self._own is not None else self._call.sent(self._number)
        return self._own_encoding().__reduce_ex__(2) if found is None else found.__reduce__()

    @property
    def ids(self) -> list[int]:
        return self._call.ids_of(self._number) if self._own is None else list(self._own.ids)

    @property
    def type_ids(self) -> list[int]:
        return self._column("token_type_ids", "type_ids")

    @property
    def tokens(self) -> list[str]:
        return self._column("tokens", "tokens")

    @property
    def offsets(self) -> list[tuple[int, int]]:
        return self._column("offset_mapping", "offsets")

    @property
    def attention_mask(self) -> list[int]:
        return self._column("attention_mask", "attention_mask")

    @property
    def special_tokens_mask(self) -> list[int]:
        return self._column("special_tokens_mask", "special_tokens_mask")

    @property
    def word_ids(self) -> list[int | None]:
        return self._column("word_ids", "word_ids")

    def token_to_word(self, token_index: int) -> int | None:
        """The pre-token of a token of the text."""
        if self._span_of(token_index) is None:
            own: int | None = self._own_encoding().token_to_word(token_index)
            return own
        return self.word_ids[token_index]

    def token_to_chars(self, token_index: int) -> tuple[int, int] | None:
        """Where in the text a token is: code points."""
        span = self._span_of(token_index)
        if span is None:  # a special token, padding, or no token
            own: tuple[int, int] | None = self._own_encoding().token_to_chars(token_index)
            return own
        return span

    def char_to_token(self, char_pos: int, sequence_index: int = 0) -> int | None:
        """The first token in which this code point of the text is."""
        asked = char_pos, sequence_index
        spans = self._spans if all(map(_is_index, asked)) else None
        if spans is None:
            found: int | None = self._own_encoding().char_to_token(*asked)
            return found
        inside = np.flatnonzero((spans[:, 0] <= char_pos) & (spans[:, 1] > char_pos))
        return self._first_token + int(inside[0]) if len(inside) else None

    @property
    def _first_token(self) -> int:
        """The index of the first token of the text: padding and special tokens stand before it."""
        return self._call.first_tokens[self._number]

    @property
    def _spans(self) -> SpanArray | None:
        """Where the tokens of the text are, code points, int64 (n, 2); None if only the engine
        tells. It does where post-processors made several sequences of the text."""
        if self._own is not None or self._call.frame.sequences != 1:
            return None
        try:
            return self._call.kept_spans[self._number]
        except OWN_ANSWERS:
            return None

    def _span_of(self, token_index: object) -> tuple[int, int] | None:
        spans = self._spans if _is_index(token_index) else None
        k = -1 if spans is None else token_index - self._first_token  # type: ignore[operator]
        return tuple(spans[k].tolist()) if spans is not None and 0 <= k < len(spans) else None

    def _column(self, name: str, attribute: str) -> list[Any]:
        if self._own is None:
            try:
                return list(self._call.column(name)[self._number])
            except OWN_ANSWERS:
                pass
        found: list[Any] = getattr(self._own_encoding(), attribute)
        return found

    def _own_encoding(self) -> Any:
        if self._own is None:
            self._own = self._call.own_encodings[self._number]
        return self._own


def engine_encoding(encoding: Any) -> Any:
    """Returns the engine's own encoding that a `StandIn` stands for; anything else as it is."""
    return encoding._own_encoding() if issubclass(type(encoding), StandIn) else encoding


def _is_index(value: object) -> bool:
    return type(value) is int and 0 <= value < _ENDLESS
