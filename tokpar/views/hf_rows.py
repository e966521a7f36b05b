"""From the ids of texts to the columns that transformers returns: input_ids, masks, offsets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.adapters.hf_finish import (
    Finish,
    NativeRefusesError,
    Padding,
    Truncation,
    finish_of,
    stages,
)
from tokpar.errors import OptionError
from tokpar.kernels import IdArray, IntArray, SpanArray
from tokpar.views.hf_blanks import Blanks
from tokpar.views.hf_call import Call

if TYPE_CHECKING:
    from tokenizers import Tokenizer


@dataclass(frozen=True, slots=True)
class Frame:
    """What stands around the ids of a text. `types`: type ids of prefix, text and suffix, one id
    standing for the whole text. `trims`: for each stage that takes spaces out of the offsets
    whether it spares a space that the tokenizer put in front. `blanks`: counts them; None if there
    is no such stage."""

    finish: Finish
    types: tuple[list[int], int, list[int]]
    trims: tuple[bool, ...]
    blanks: Blanks | None


@dataclass(frozen=True, slots=True)
class Row:
    """A text as far as it is kept. `spans`: code points, int64 (n, 2), or None if not asked for.
    `left`, `right`: how many padding tokens."""

    ids: IdArray
    spans: SpanArray | None
    left: int = 0
    right: int = 0


def frame_of(own: Tokenizer, add_special_tokens: bool) -> Frame:
    """What the post-processor of `own` does to every text; `Finish.unknown` must be None."""
    post = own.post_processor
    finish = finish_of(own, add_special_tokens=add_special_tokens, truncation=False, padding=False)
    trims = _trims(post)
    blanks = Blanks(own) if trims else None
    return Frame(finish, _types(post, add_special_tokens), trims, blanks)


def _types(post: Any, add_special_tokens: bool) -> tuple[list[int], int, list[int]]:
    """The engine's own answer for a text of one token."""
    from tokenizers import Tokenizer, models

    one = Tokenizer(models.WordLevel({"a": 0}, unk_token="a"))
    if post is not None:
        one.post_processor = post
    encoding = one.encode("a", add_special_tokens=add_special_tokens)
    types, at = encoding.type_ids, encoding.special_tokens_mask.index(0)
    return types[:at], types[at], types[at + 1 :]


def _trims(post: Any) -> tuple[bool, ...]:
    parsed = None if post is None else json.loads(post.__getstate__())
    return tuple(
        bool(stage["add_prefix_space"]) for stage in stages(parsed) if stage.get("trim_offsets")
    )


def rows_of(
    texts: Sequence[str],
    ids: Sequence[IdArray],
    spans: Sequence[SpanArray | None],
    frame: Frame,
    call: Call,
    own: Tokenizer,
) -> list[Row]:
    """The texts cut, their offsets trimmed, and padded together. Raises OptionError for
    truncation="only_second" where something must go, LookupError where offsets are not known."""
    around = len(frame.finish.prefix) + len(frame.finish.suffix)
    truncation = _truncation(call, own, around)
    rows = []
    for text, some, where in zip(texts, ids, spans, strict=True):
        kept = some if truncation is None else _cut(truncation, some)
        places = where if truncation is None or where is None else _cut(truncation, where)
        if places is not None and frame.blanks is not None:
            places = trimmed(places, *frame.blanks.count(kept, places, text), frame.trims)
        rows.append(Row(kept, places))
    return rows if call.padding is None else _padded(rows, around, call)


def _truncation(call: Call, own: Tokenizer, around: int) -> Truncation | None:
    """None also where `max_length` is below the number of special tokens: nothing is cut then."""
    if call.truncation is None or call.max_length is None or call.max_length < around:
        return None
    return Truncation(call.max_length - around, call.truncation, call.truncation_side, 0)


def _cut(truncation: Truncation, array: Any) -> Any:
    try:
        kept = int(truncation.kept(np.array([len(array)]))[0])
    except NativeRefusesError:
        raise OptionError(
            "truncation='only_second' cannot cut a single text: use 'only_first'"
        ) from None
    return array[len(array) - kept :] if truncation.direction == "left" else array[:kept]


def _padded(rows: Sequence[Row], around: int, call: Call) -> list[Row]:
    length = call.max_length if call.padding == "max_length" else None
    rule = Padding(length, call.multiple or 0, call.padding_side, 0)
    lengths = [len(row.ids) + around for row in rows]
    target = rule.target(max(lengths, default=0))
    padded = []
    for row, own_length in zip(rows, lengths, strict=True):
        missing = max(0, target - own_length)
        left = missing if call.padding_side == "left" else 0
        padded.append(Row(row.ids, row.spans, left, missing - left))
    return padded


def trimmed(
    spans: SpanArray, before: IntArray, behind: IntArray, trims: Sequence[bool]
) -> SpanArray:
    """Spans without the spaces of their tokens: [[0, 2], [2, 6]] for "Ġa", "Ġbcd" -> [[1, 2],
    [3, 6]]. A stage with a prefix space spares a single space in front of the first token, and of
    every token that starts at 0."""
    start, stop = spans[:, 0].copy(), spans[:, 1].copy()
    for prefix_space in trims:
        lead = before
        if prefix_space and len(start):
            first = start == 0
            first[0] = True
            lead = np.where(first & (before == 1), 0, before)
        start = np.minimum(start + lead, stop)
        stop = np.where(stop >= behind, np.maximum(stop - behind, start), stop)
    return np.stack([start, stop], axis=1)


def column(name: str, row: Row, frame: Frame, pad_id: int, pad_type: int) -> IntArray:
    """One column of one text, int64: (n,), and (n, 2) for "offset_mapping"."""
    prefix, suffix = frame.finish.prefix, frame.finish.suffix
    n = len(row.ids)
    ones = partial(np.full, fill_value=1)
    if name == "input_ids":
        return _laid(row, pad_id, prefix, row.ids, suffix)
    if name == "token_type_ids":
        first, own, last = frame.types
        return _laid(row, pad_type, first, np.full(n, own), last)
    if name == "attention_mask":
        return _laid(row, 0, ones(len(prefix)), ones(n), ones(len(suffix)))
    if name == "special_tokens_mask":
        return _laid(row, 1, ones(len(prefix)), np.full(n, 0), ones(len(suffix)))
    assert name == "offset_mapping"
    assert row.spans is not None
    places = np.zeros((row.left + len(prefix) + n + len(suffix) + row.right, 2), dtype=np.int64)
    places[row.left + len(prefix) :][:n] = row.spans
    return places


def _laid(row: Row, padding: int, prefix: Any, middle: Any, suffix: Any) -> IntArray:
    left, right = np.full(row.left, padding), np.full(row.right, padding)
    parts = [np.asarray(part, dtype=np.int64) for part in (left, prefix, middle, suffix, right)]
    return np.concatenate(parts)
