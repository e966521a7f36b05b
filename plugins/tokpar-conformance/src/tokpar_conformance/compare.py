"""Compare ids, rows and spans, and say where they differ."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from tokpar.arrays import IdArray, byte_starts, first_difference
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.errors import TokparError
from tokpar.results.spans import postprocess_single
from tokpar.types import Piece, Rows, Seam
from tokpar_conformance.checks import Complaint, SetAsideError, prefix_complaint
from tokpar_conformance.differing import describe_ids, position_of

NEAR = 60  # code points at the start of a text in which each place is tried as a cut


def ids_of(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The ids of the serial call. Raises SetAsideError for a text that the tokenizer refuses with a
    ValueError or a TokparError. Other errors pass through: for a check they are findings."""
    try:
        return np.asarray(tokenizer.encode(text))
    except (ValueError, TokparError) as refusal:
        raise SetAsideError from refusal


def whole_ids(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The serial ids after post-processing: with special tokens, truncation and padding."""
    ids = ids_of(tokenizer, text)
    try:
        return postprocess_single(tokenizer, ids, text)
    except (ValueError, TokparError) as refusal:
        raise SetAsideError from refusal


def ids_differ(
    expected: IdArray, got: IdArray, text: str, tokenizer: TokenizerAdapter
) -> Complaint | None:
    """None if the ids are equal. Otherwise a complaint with the place of the first difference and
    the ids around it."""
    if np.array_equal(expected, got):
        return None
    k = first_difference(expected, got)
    place = position_of(tokenizer, expected, text, k)
    where = "" if place is None else f", at code point {place:,} of the text"
    numbers = f"{len(expected):,} expected, {len(got):,} got"
    return Complaint(
        f"ids differ from number {k:,} on ({numbers}){where}",
        describe_ids(tokenizer, expected, k),
        describe_ids(tokenizer, got, k),
        text,
    )


def cuts_complaint(
    tokenizer: TokenizerAdapter, text: str, find_seam: Callable[[str, int], Seam | None]
) -> Complaint | None:
    """Cut the start of the text at each place where `find_seam` gives a seam, and compare the ids
    of both sides with those of the whole. Returns the first complaint, or None."""
    text = text[:NEAR]
    if finder_for(facts_of(tokenizer)).refusal_for(text) is not None:
        return None
    expected = ids_of(tokenizer, text)
    for place in range(1, len(text)):
        seam = find_seam(text, place)
        if seam is None:
            continue
        after = place + seam.absorbed
        halves = [ids_of(tokenizer, text[:place]), ids_of(tokenizer, text[after:])]
        wrong = ids_differ(expected, np.concatenate(halves), text, tokenizer)
        if wrong is not None:
            where = f"{text[:place]!r} + {text[after:]!r}, rule {seam.rule}, theorem {seam.theorem}"
            return prefix_complaint(wrong, where)
    return None


def contradictions(rules: Iterable[tuple[object, str]]) -> Complaint | None:
    """A complaint that names the rules that do not hold, or None. `rules`: (holds, rule)."""
    broken = [said for holds, said in rules if not holds]
    return Complaint("they contradict one another", got="; ".join(broken)) if broken else None


def array_complaint(ids: object, what: str = "encode") -> Complaint | None:
    """None if `ids` is a uint32 array of shape (n,), otherwise a complaint that names `what`."""
    if not isinstance(ids, np.ndarray):
        return Complaint(f"{what} gave another type", "a numpy array", type(ids).__name__)
    if ids.dtype != np.uint32 or ids.ndim != 1:
        got = f"{ids.dtype}, shape {ids.shape}"
        return Complaint(f"{what} gave another array", "uint32, shape (n,)", got)
    return None


def spans_complaint(spans: object, ids: IdArray, text: str) -> Complaint | None:
    """None if `spans` is an int64 array of shape (n, 2) in UTF-8 bytes of the text, one span per
    id, with starts in ascending order. Otherwise a complaint."""
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


def rows_complaint(rows: object, texts: int, what: str) -> Complaint | None:
    """None if `rows` are well-formed `Rows`, one row for each of `texts` texts, otherwise a
    complaint."""
    if not isinstance(rows, Rows):
        return Complaint(f"{what} gave something else", "Rows", repr(rows)[:200])
    wrong = array_complaint(rows.ids, what)
    if wrong is not None:
        return wrong
    offsets = rows.offsets
    if not isinstance(offsets, np.ndarray) or offsets.dtype != np.int64 or offsets.ndim != 1:
        kind = getattr(offsets, "dtype", type(offsets).__name__)
        return Complaint(f"{what} gave other offsets", "int64, shape (rows + 1,)", str(kind))
    if len(offsets) != texts + 1:
        return Complaint(f"{what}: not one row per text", str(texts), str(len(offsets) - 1))
    ends = (int(offsets[0]), int(offsets[-1]))
    if ends != (0, len(rows.ids)) or (np.diff(offsets) < 0).any():
        expected = f"from 0 to {len(rows.ids)}, none below the one before"
        return Complaint(f"{what}: the offsets do not tile the ids", expected, str(offsets[:8]))
    return None


def rows_differ(
    expected: Sequence[Piece],
    got: object,
    texts: Sequence[str],
    tokenizer: TokenizerAdapter,
    spans: bool = False,
) -> Complaint | None:
    """Compare the rows of these texts with the expected ids, and with `spans` also the spans.

    Returns the first complaint, with the number of the row, or None."""
    wrong = rows_complaint(got, len(texts), "rows")
    if wrong is not None:
        return wrong
    assert isinstance(got, Rows)
    if spans and got.spans is None:
        return Complaint("spans were asked for", f"{len(got.ids)} spans", "None")
    for k, (text, right) in enumerate(zip(texts, expected, strict=True)):
        wrong = ids_differ(right.ids, got[k], text, tokenizer)
        if wrong is None and spans:
            wrong = spans_differ(right, got, k, text)
        if wrong is not None:
            return prefix_complaint(wrong, f"row {k:,}")
    return None


def spans_differ(right: Piece, got: Rows, k: int, text: str) -> Complaint | None:
    """Compare the spans of row `k` with `right.spans`; its ids are equal already.

    If `right` has no spans, only shape and order are checked."""
    if not isinstance(got.spans, np.ndarray) or len(got.spans) != len(got.ids):
        shape = getattr(got.spans, "shape", type(got.spans).__name__)
        return Complaint("not one span per id", str((len(got.ids), 2)), str(shape), text)
    spans = got.spans[got.offsets[k] : got.offsets[k + 1]]
    wrong = spans_complaint(spans, got[k], text)
    if wrong is None and right.spans is not None and not np.array_equal(right.spans, spans):
        expected = str(right.spans.tolist())
        return Complaint("other spans than locate gives", expected, str(spans.tolist()), text)
    return wrong
