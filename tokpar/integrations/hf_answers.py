"""Answers of calls of a transformers tokenizer, straight from the compiled call."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from tokenizers import Tokenizer
from transformers import BatchEncoding
from transformers.utils import TensorType

from tokpar.adapters.hf_quick_look import QuickLook
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.chunks.end_ids import has_ends
from tokpar.compiled.front import LONGEST_ALONE
from tokpar.integrations.grown_texts import SMALLEST_GROWN, GrownCall, GrownTexts
from tokpar.integrations.hf_arguments import Form, Forms
from tokpar.integrations.hf_encodings import OWN_ANSWERS, EncodedCall
from tokpar.results.text_counts import COMPILED

if TYPE_CHECKING:
    from tokpar.arrays import IdArray, IntArray, SpanArray
    from tokpar.compiled.compiled_call import TokenPlaces
    from tokpar.compiled.front import Front
    from tokpar.encoder import Encoder
    from tokpar.integrations.hf import Acceleration
    from tokpar.types import Rows

_LOOK_AGAIN = 1e-3
"""Seconds after a whole look for which quick looks do."""
_STR = {str}
_FIELDS = {"data": {}, "_encodings": [], "_n_sequences": 1}
_HAS_PLAIN_FIELDS = vars(BatchEncoding({}, [], n_sequences=1)) == _FIELDS


class Answers:
    """Answers calls from the compiled call of one encoder. Each method returns None where the
    longer way has to be taken, which also looks for changes and has the errors.

    Made for the tokenizer as it is now, when its compiled call is there. Thread-safe."""

    def __init__(self, state: Acceleration, encoder: Encoder, front: Front) -> None:
        adapter = encoder.tokenizer
        assert isinstance(adapter, HuggingFaceTokenizer)
        self.encoder, self._adapter, self._front = encoder, adapter, front
        self._original, self._counts = state.original, state.counts
        self._least = max(1, state.smallest_text or 0)
        self._engine = state.original.backend_tokenizer
        self._look, self._quick = adapter.look, QuickLook(adapter.look, self._engine)
        self._looked, self._grown = 0.0, GrownTexts(adapter, front)
        self._forms = Forms(lambda adds: state.adapter_and_frame(encoder, adds)[1])

    def call(self, text: Any, arguments: Mapping[str, Any]) -> BatchEncoding | None:
        """The result of `tokenizer(text, **arguments)`."""
        is_one = type(text) is str
        texts = [text] if is_one else text
        if not is_one and (type(text) is not list or {*map(type, text)} != _STR):
            return None
        form = self._forms.of_call(self._original, arguments)
        if form is None or not self._takes(texts, form) or not self.is_current():
            return None
        try:
            encoded = self._encoded(texts, form)
            data = None if encoded is None else encoded.values()
        except OWN_ANSWERS:
            return None
        if encoded is None or data is None:
            return None
        if is_one:
            self._counts.one_compiled()
        else:
            self._counts.add({COMPILED: len(texts)}, "")
        return result_of(self._original, data, encoded, is_one, form.verbose)

    def ids(self, text: Any, arguments: Mapping[str, Any]) -> Any:
        """The result of `tokenizer.encode(text, **arguments)`."""
        if type(text) is not str:  # a list is a batch, or below transformers 5 a pair
            return None
        form = self._forms.of_call(self._original, arguments)
        if form is None or not form.is_row or not self._takes([text], form):
            found = self.call(text, arguments)
            return None if found is None else found["input_ids"]
        ids = self._id_list(text, form)
        if ids is None:
            return None
        self._counts.one_compiled()
        columns, (before, behind) = form.columns, form.frame.ids
        if before or behind:
            ids = [*before, *ids, *behind]
        warn = self._original._eventual_warn_about_too_long_sequence
        warn(ids, columns.max_length, form.verbose)
        return ids

    def tokens(self, text: Any, add_special_tokens: Any) -> list[str] | None:
        """The result of `tokenizer.tokenize(text, add_special_tokens=add_special_tokens)`."""
        if type(text) is not str:
            return None
        form = self._forms.of_call(self._original, {"add_special_tokens": add_special_tokens})
        row = self._row(text) if form is not None and self._takes([text], form) else None
        if row is None or form is None:
            return None
        try:
            names = self._adapter.token_names(row.tolist())
        except OWN_ANSWERS:
            return None
        self._counts.one_compiled()
        before, behind = form.frame.tokens
        names = [*before, *names, *behind] if before or behind else names
        self._original._eventual_warn_about_too_long_sequence(names, None, form.verbose)
        return names

    def is_current(self) -> bool:
        """True if the tokenizer is what it was."""
        engine = self._original.__dict__.get("_tokenizer")
        if not isinstance(engine, Tokenizer):
            return False
        now = time.monotonic()
        if now - self._looked < _LOOK_AGAIN:
            return self._quick.is_same(engine, self._original)
        if not self._look.is_same(engine, self._original):
            return False
        self._looked = now
        return True

    def _id_list(self, text: str, form: Form) -> list[int] | None:
        """The ids of one text that truncation leaves, or None."""
        if len(text) < SMALLEST_GROWN or form.columns.truncation is not None:
            row = self._row(text)
            return None if row is None else form.columns.kept_of(form.frame, [row])[0].tolist()
        if not self.is_current():
            return None
        try:
            found = self._grown.find(text)
        except OWN_ANSWERS:
            return None
        return None if found is None else found.as_list()

    def _row(self, text: str) -> Any:
        """The ids of one text, or None."""
        if not self.is_current():
            return None
        try:
            return self._front.plain(text)
        except OWN_ANSWERS:
            return None

    def _encoded(self, texts: list[str], form: Form) -> EncodedCall | None:
        """What the compiled call knows of texts. Raises MismatchError."""
        columns, more = form.columns, (form.frame, form.columns, form.add_special_tokens)
        if "offset_mapping" not in columns.names:
            if len(texts) == 1 and len(texts[0]) >= SMALLEST_GROWN:
                grown = self._grown.find(texts[0])
                return None if grown is None else GrownCall(self._adapter, texts, grown, *more)
            rows = self._rows(texts)
            return None if rows is None else EncodedCall(self._adapter, texts, rows, *more)
        found = [self._front.places(text) for text in texts]
        places = [each for each in found if each is not None]
        return None if len(places) < len(found) else PlacedCall(self._adapter, texts, places, *more)

    def _rows(self, texts: list[str]) -> Sequence[IdArray] | None:
        """The ids of each text, or None if the compiled call does not know all of them."""
        if len(texts) == 1:
            row = self._front.plain(texts[0])
            return None if row is None else [row]
        known = self._front.many(texts)
        if known is None or not all(known[1]):
            return None
        ids, edges = known[0].ids, known[0].offsets.tolist()
        return [ids[start:stop] for start, stop in pairwise(edges)]

    def _takes(self, texts: list[str], form: Form | None) -> bool:
        """False where less than a whole text is enough, and for offsets of so many code points that
        several threads find them sooner."""
        is_one = len(texts) == 1
        chars = len(texts[0]) if is_one else sum(map(len, texts))
        if form is None or chars < self._least:
            return False
        if form.columns.truncation is not None:
            most = form.columns.truncation["max_length"] - form.frame.special_count
            if has_ends(max(texts, key=len), most):
                return False
        return chars < LONGEST_ALONE or "offset_mapping" not in form.columns.names


class PlacedCall(EncodedCall):
    """What one call encoded, of which the places of the tokens are known, too."""

    def __init__(
        self,
        adapter: HuggingFaceTokenizer,
        texts: Sequence[str],
        places: Sequence[TokenPlaces],
        *more: Any,
    ) -> None:
        self._places = places
        super().__init__(adapter, texts, [each.ids for each in places], *more)

    def _spans_of(
        self, texts: Sequence[str], rows: Rows, cut: tuple[IntArray, IntArray] | None
    ) -> SpanArray:
        if cut is None and len(self._places) == 1:
            [place] = self._places
            trimmed = self.adapter.trimmed(place.ids, place.spans, self.add_special_tokens)
            if trimmed is not None:
                return trimmed
        spans = [each.spans for each in self._places]
        joined = spans[0] if len(spans) == 1 else np.concatenate(spans)
        add = self.add_special_tokens
        return self.adapter.offset_mapping(
            texts, rows, add_special_tokens=add, cut=cut, char_spans=joined
        )

    def _words_of(self, number: int) -> IntArray:
        return self._places[number].words


def result_of(
    tokenizer: Any, data: dict[str, Any], encoded: EncodedCall, is_one: bool, verbose: Any
) -> BatchEncoding:
    """The result of a call; `data` has its columns. `is_one`: of a text, not of a batch."""
    columns, sequences = encoded.columns, encoded.frame.sequences
    for row in data["input_ids"]:
        tokenizer._eventual_warn_about_too_long_sequence(row, columns.max_length, verbose)
    if columns.tensors is not None and not _are_numpy(columns.tensors, data):
        return BatchEncoding(data, encoded, columns.tensors, n_sequences=sequences)
    if is_one and columns.tensors is None:
        data = {name: v if name == "length" else v[0] for name, v in data.items()}
    if not _HAS_PLAIN_FIELDS:
        return BatchEncoding(data, encoded, n_sequences=sequences)
    found = object.__new__(BatchEncoding)  # the constructor takes longer than a short text
    found.__dict__ = {"data": data, "_encodings": encoded, "_n_sequences": sequences}
    return found


def _are_numpy(tensors: Any, data: dict[str, Any]) -> bool:
    """True if `data` has the arrays that the constructor would make."""
    return tensors in ("np", TensorType.NUMPY) and {*map(type, data.values())} == {np.ndarray}
