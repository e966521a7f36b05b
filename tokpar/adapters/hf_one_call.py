"""What the compiled call of a tokenizer of tokenizers 1.x is made from: the engine gives the ids of
segments (theorem 27). Its batch call takes segments as texts of their own."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import tokenizers

from tokpar.adapters.engine_batches import call_batch
from tokpar.arrays import IdArray
from tokpar.compiled.compiled_build import LEAST_KEPT, RAW, UNMOVED, WHY, CallParts, find_cut
from tokpar.compiled.merges import GateError
from tokpar.compiled.segment_engine import LONGEST_WHOLE, Found, SegmentEngine, space_cut_of
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.facts.space_stages import MARK
from tokpar.types import Facts

if TYPE_CHECKING:
    from tokpar.compiled.call_tables import Arrays

BARE: Mapping[str, Any] = {"add_special_tokens": False, "padding": None, "truncation": None}
"""The settings of a call that returns the ids of the text alone."""
_FEW = 8
"""Texts that are encoded sooner one by one than by the engine's threads."""
_DRAWN_TOKENS = 300


@dataclass(frozen=True, slots=True, repr=False)
class OneSegmentEngine(SegmentEngine):
    """Asks an object of tokenizers 1.x, `copy`. `model`: the model of its file."""

    model: Mapping[str, Any]

    def first_tokens(self, count: int) -> tuple[list[str], str, str]:
        suffix = self.model.get("end_of_word_suffix") or ""
        inner = self.model.get("continuing_subword_prefix") or ""
        return _tokens(self.model)[:count], suffix, inner

    def _few_rows(self, segments: list[str]) -> Found:
        return self._rows(segments)

    def _rows(self, segments: list[str]) -> Found:
        encodings = call_batch(self.copy.encode_batch, segments, **BARE)
        rows = [encoding.ids for encoding in encodings]
        return [i for row in rows for i in row], [k for k, row in enumerate(rows) for _ in row]

    def _is_mostly_new(self, text: str, segments: Sequence[str], met: bytes) -> bool:
        """True if a quarter of a short text is new: this engine takes a tenth of the time of others
        for a text, and as long for a segment."""
        return len(text) <= LONGEST_WHOLE and 4 * sum(map(len, segments)) > len(text)

    def _whole_row(self, text: str) -> IdArray:
        ids: IdArray = self.copy.encode(text, **BARE).ids_array
        return ids


def call_parts_of_one(
    own: Any,
    config: Mapping[str, Any],
    digest: str,
    facts: Facts,
    special: tuple[Sequence[int], Sequence[int]] | None,
) -> CallParts | str:
    """Returns what the compiled call is made from; or why the tokenizer has none.

    `own`: an object of tokenizers 1.x, whose model cannot change. `config`: its file in format 1.0.
    `digest`: names the file. `special`: the ids around a text, if that is all of
    post-processing."""
    normalizes = config.get("normalizer") is not None
    try:
        cut = space_cut_of(facts, normalizes)
    except GateError as error:
        return str(error)
    model = config["model"]
    engine = OneSegmentEngine(own, call_batch, lambda: True, facts, cut, model)
    places = {True: UNMOVED, False: RAW}  # no normalized token is searched behind a normalizer
    added = {each.content: (each.id, 0, places[each.normalized]) for each in facts.added_tokens}
    names = _tokens(model)
    is_kept = sum(map(len, names)) >= LEAST_KEPT
    return CallParts(
        identity=[digest, f"tokenizers {tokenizers.__version__}"] if is_kept else None,
        make_arrays=partial(_make_arrays, engine),
        added_tokens=added,
        special=special,
        tokens=partial(_some_tokens, names, facts.byte_level),
        encode_many=partial(_encode_many, own),
        tokenize=_no_word,
        find_cut=partial(find_cut, facts),
        engine=lambda: engine,
    )


def _make_arrays(engine: SegmentEngine) -> Arrays:
    from tokpar.compiled.segment_tables import segment_arrays  # only where tables are made

    why = f"its engine is tokenizers {tokenizers.__version__}"
    return segment_arrays(engine) | {WHY: np.frombuffer(why.encode(), dtype=np.uint8)}


def _no_word(word: bytes) -> None:
    """Returns no ids: tables without a model compare no word."""


def _tokens(model: Mapping[str, Any]) -> list[str]:
    """Returns the tokens of a model in a file, by their ids."""
    vocabulary = model["vocab"]
    if isinstance(vocabulary, Mapping):
        return sorted(vocabulary, key=vocabulary.__getitem__)
    return [token for token, _ in vocabulary]


def _some_tokens(names: Sequence[str], byte_level: bool) -> list[str]:
    """Returns some tokens as text."""
    some = random.Random(len(names)).choices(names, k=min(len(names) // 10, _DRAWN_TOKENS))
    if not byte_level:
        return [name.removeprefix("##").replace(MARK, " ") for name in some]
    spelled = (bytes_of_token(name) for name in some)
    return [each.decode(errors="ignore") for each in spelled if each]


def _encode_many(own: Any, texts: Sequence[str]) -> list[IdArray]:
    """Returns the engine's ids of texts without special tokens."""
    if len(texts) <= _FEW:
        found = [own.encode(text, **BARE) for text in texts]
    else:
        found = call_batch(own.encode_batch, texts, **BARE)
    return [encoding.ids_array for encoding in found]
