"""How ids differ, and where: what every check of ids says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokpar.agreement.differing import around, first_difference, position_of
from tokpar.errors import TokparError
from tokpar.interfaces import Finishes, TokenizerAdapter
from tokpar.kernels import IdArray, byte_starts
from tokpar.testing.checks import Complaint, SetAsideError
from tokpar.types import Piece


def ids_of(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The serial ids as an array. A text that the tokenizer refuses in words is set aside; other
    errors pass, as a finding."""
    try:
        return np.asarray(tokenizer.encode(text))
    except (ValueError, TokparError) as refusal:
        raise SetAsideError from refusal


def whole_ids(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The finished ids: special tokens, truncation and padding applied once."""
    ids = ids_of(tokenizer, text)
    if not isinstance(tokenizer, Finishes):
        return ids
    try:
        return np.asarray(tokenizer.finish(ids, text))
    except (ValueError, TokparError) as refusal:
        raise SetAsideError from refusal


def ids_differ(
    expected: IdArray, got: IdArray, text: str, tokenizer: TokenizerAdapter
) -> Complaint | None:
    """None if the ids are equal, else the place of the first difference and the ids around it."""
    if np.array_equal(expected, got):
        return None
    k = first_difference(expected, got)
    place = position_of(tokenizer, expected, text, k)
    where = "" if place is None else f", at code point {place:,} of the text"
    numbers = f"{len(expected):,} expected, {len(got):,} got"
    return Complaint(
        f"ids differ from number {k:,} on ({numbers}){where}",
        around(tokenizer, expected, k),
        around(tokenizer, got, k),
        text,
    )


def array_complaint(ids: object, what: str = "encode") -> Complaint | None:
    """None for a uint32 array of shape (n,)."""
    if not isinstance(ids, np.ndarray):
        return Complaint(f"{what} gave another type", "a numpy array", type(ids).__name__)
    if ids.dtype != np.uint32 or ids.ndim != 1:
        got = f"{ids.dtype}, shape {ids.shape}"
        return Complaint(f"{what} gave another array", "uint32, shape (n,)", got)
    return None


def spans_complaint(spans: object, ids: IdArray, text: str) -> Complaint | None:
    """None for int64 (n, 2) spans in UTF-8 bytes of the text, in the order of the text."""
    if not isinstance(spans, np.ndarray) or spans.dtype != np.int64:
        got = spans.dtype if isinstance(spans, np.ndarray) else type(spans).__name__
        return Complaint("spans are of another type", "a numpy array of int64", str(got))
    if spans.shape != (len(ids), 2):
        return Complaint("not one span per id", str((len(ids), 2)), str(spans.shape))
    length = int(byte_starts(text)[-1])
    inside = (spans[:, 0] >= 0) & (spans[:, 0] <= spans[:, 1]) & (spans[:, 1] <= length)
    rising = np.concatenate([[True], spans[1:, 0] >= spans[:-1, 0]])
    wrong = np.flatnonzero(~(inside & rising))
    if not len(wrong):
        return None
    k = int(wrong[0])
    order = f"0 <= start <= stop <= {length}, starts not falling"
    return Complaint(f"span of id {k:,}", order, str(spans[max(0, k - 1) : k + 1].tolist()))


def pieces_differ(
    expected: Sequence[Piece],
    got: Sequence[Piece],
    texts: Sequence[str],
    tokenizer: TokenizerAdapter,
    spans: bool,
) -> Complaint | None:
    """What is wrong with pieces of these texts, ids and, if they were asked for, spans."""
    if len(got) != len(texts):
        return Complaint("not one piece per text", str(len(texts)), str(len(got)))
    for k, (text, right, piece) in enumerate(zip(texts, expected, got, strict=True)):
        wrong = array_complaint(piece.ids, f"piece {k:,}") or ids_differ(
            right.ids, piece.ids, text, tokenizer
        )
        if wrong is None and spans:
            wrong = spans_differ(right, piece, text)
        if wrong is not None:
            return Complaint(f"piece {k:,}: {wrong.what}", wrong.expected, wrong.got, text)
    return None


def spans_differ(right: Piece, piece: Piece, text: str) -> Complaint | None:
    """What is wrong with the spans of a piece whose ids are right; `right` may have none."""
    if piece.spans is None:
        return Complaint("spans were asked for", f"{len(piece.ids)} spans", "None", text)
    wrong = spans_complaint(piece.spans, piece.ids, text)
    if wrong is None and right.spans is not None and not np.array_equal(right.spans, piece.spans):
        return Complaint(
            "other spans than locate gives", str(right.spans.tolist()), str(piece.spans.tolist())
        )
    return wrong
