"""Checks of the abilities of an adapter besides `encode`, for each ability that it has.

Post-processing is checked with stand-in ids: numbers in the place of ids, from `FIRST` on. The
stand-ins in the result tell from which id of the text each final id came."""

import os
from collections.abc import Iterator, Sequence

import numpy as np

from tokpar.arrays import IdArray, code_point_spans
from tokpar.contract.adapter import inserted_ids, own_call_of
from tokpar.contract.interfaces import (
    Decodes,
    Locates,
    PostProcesses,
    TokenizerAdapter,
)
from tokpar.errors import TokparError
from tokpar.loading import IsSnapshot
from tokpar.results.spans import HasOffsets, postprocess_single, stand_in_ids
from tokpar.types import Rows
from tokpar_conformance.checks import Check, Complaint, check, fails, outcome, prefix_complaint
from tokpar_conformance.compare import (
    array_complaint,
    ids_differ,
    ids_of,
    rows_complaint,
    spans_complaint,
    whole_ids,
)

FIRST = int(stand_in_ids(1)[0])


def ability_checks(tokenizer: TokenizerAdapter, source: object) -> Iterator[Check]:
    """Yield the checks of each ability that the tokenizer has.

    `source`: the object that `tokpar.load` made the tokenizer from."""
    if isinstance(tokenizer, Locates):
        yield locate.of(tokenizer)
        if isinstance(tokenizer, HasOffsets):
            yield char_offsets.of(tokenizer)
    if isinstance(tokenizer, Decodes):
        yield decode.of(tokenizer)
    if isinstance(tokenizer, PostProcesses):
        yield postprocess.of(tokenizer)
        yield finish_batch.of(tokenizer)
        yield special_tokens.of(tokenizer)
    if own_call_of(tokenizer) is not None:
        yield encode_whole.of(tokenizer)
    if isinstance(tokenizer, IsSnapshot) and source is not tokenizer:
        yield snapshot.of(tokenizer, source)


@check("locate")
def locate(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """locate gives one span per id: int64, UTF-8 bytes of the text, in order"""
    assert isinstance(tokenizer, Locates)
    ids = ids_of(tokenizer, text)
    return spans_complaint(tokenizer.locate(ids, text), ids, text)


@check("char_offsets")
def char_offsets(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """char_offsets gives the spans of locate in code points, text by text"""
    assert isinstance(tokenizer, Locates)
    assert isinstance(tokenizer, HasOffsets)
    ids = ids_of(tokenizer, text)
    try:
        expected = code_point_spans(tokenizer.locate(ids, text), text)
    except LookupError:
        return None
    found = tokenizer.char_offsets([text, text], Rows.of([ids, ids]))
    if np.array_equal(found, np.concatenate([expected, expected])):
        return None
    return Complaint("offsets of two equal texts", str(expected.tolist()), str(found.tolist()))


@check("decode")
def decode(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """decode gives a str, the same each time, and decode_batch the same of each row"""
    assert isinstance(tokenizer, Decodes)
    ids = ids_of(tokenizer, text)
    once, again = tokenizer.decode(ids.tolist()), tokenizer.decode(ids)  # type: ignore[arg-type]
    if not isinstance(once, str) or once != again:
        return Complaint("decode of a list and of the array", repr(once), repr(again))
    decode_batch = getattr(tokenizer, "decode_batch", None)
    rows = [ids.tolist(), [], ids[:1].tolist()]
    expected = [tokenizer.decode(row) for row in rows]
    if decode_batch is None or (texts := decode_batch(rows)) == expected:
        return None
    return Complaint("decode_batch of three rows", repr(expected), repr(texts))


@check("snapshot")
def snapshot(tokenizer: TokenizerAdapter, source: object, text: str) -> Complaint | None:
    """is_current(source) is True, and encoding changes neither it nor the source"""
    assert isinstance(tokenizer, IsSnapshot)
    outcome(ids_of, tokenizer, text)
    if not isinstance(source, (str, os.PathLike)) and not tokenizer.is_current(source):
        return Complaint("another tokenizer", "the one that was loaded", "a changed one")
    return None


@check("postprocess")
def postprocess(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """postprocess gives rows, and selects, inserts and pads; it never looks at the values of ids"""
    assert isinstance(tokenizer, PostProcesses)
    ids = ids_of(tokenizer, text)
    origin = outcome(tokenizer.postprocess, Rows.of([stand_in_ids(len(ids))]), [text])
    if _finishes_own_ids_only(origin):
        return None
    final = outcome(tokenizer.postprocess, Rows.of([ids]), [text])
    return _laid_out(Rows.of([ids]), final, origin, [text], tokenizer)


def _finishes_own_ids_only(origin: object) -> bool:
    """True if `postprocess` refused the stand-in ids with a LookupError, which the contract allows.

    IndexError and KeyError are subclasses of LookupError, but here they count as mistakes."""
    mistake = isinstance(origin, (IndexError, KeyError))
    return isinstance(origin, LookupError) and not mistake


@check("postprocess: batch", takes_all_texts=True)
def finish_batch(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """a row of a batch is what it is alone, padded at one end; it has no id of another row"""
    assert isinstance(tokenizer, PostProcesses)
    if len(tokenizer.postprocess(Rows.of([]), [])):
        return Complaint("no texts", "no rows", "some")
    usual = [text for text in texts if not fails(whole_ids, tokenizer, text)]
    own = Rows.of(ids_of(tokenizer, text) for text in usual)
    stand_ins = Rows(stand_in_ids(len(own.ids)), own.offsets)
    origin = outcome(tokenizer.postprocess, stand_ins, usual)
    if _finishes_own_ids_only(origin):
        return None
    final = outcome(tokenizer.postprocess, own, usual)
    wrong = _laid_out(own, final, origin, usual, tokenizer)
    for k, text in enumerate(usual if wrong is None else ()):
        wrong = _padding_complaint(tokenizer, stand_ins[k], origin[k], text)
        if wrong is not None:
            return prefix_complaint(wrong, f"row {k}")
    return wrong


def _padding_complaint(
    tokenizer: TokenizerAdapter, stand_ins: IdArray, row: IdArray, text: str
) -> Complaint | None:
    """Return the complaint about one row of a batch, or None.

    `found`, the row, must equal the text's own post-processed stand-ins, with one id repeated as
    padding on the left or on the right."""
    single = postprocess_single(tokenizer, stand_ins, text)
    extra = len(row) - len(single)
    sides = ((row[:extra], row[extra:]), (row[len(single) :], row[: len(single)]))
    for padding, rest in sides:
        one_id = len(set(padding.tolist())) <= 1 and (padding < FIRST).all()
        if extra >= 0 and one_id and np.array_equal(rest, single):
            return None
    expected, got = (_show_origin(each, stand_ins) for each in (single, row))
    return Complaint("it is not its own finished ids, padded", expected, got, text)


def _show_origin(origin: IdArray, stand_ins: IdArray) -> str:
    """The stand-ins as words: "#0" for the row's own first id, "another row's" for other rows'
    ids."""
    first, stop = (int(stand_ins[0]), int(stand_ins[-1]) + 1) if len(stand_ins) else (0, 0)
    said = [
        str(id_) if id_ < FIRST else f"#{id_ - first}" if first <= id_ < stop else "another row's"
        for id_ in origin[:40].tolist()
    ]
    return " ".join(said) + " ..." * (len(origin) > 40)


def _laid_out(
    own: Rows, final: object, origin: object, texts: Sequence[str], tokenizer: TokenizerAdapter
) -> Complaint | None:
    """Return the complaint about the final ids, or None.

    `final` is what `postprocess` made of the ids `own`, `origin` what it made of stand-ins in
    their place: both must be laid out alike. Each is `Rows`, or the error that was raised."""
    if isinstance(final, Exception) or isinstance(origin, Exception):
        if type(final) is not type(origin):
            said = "ids and numbers in their place end differently"
            return Complaint(said, repr(final), repr(origin))
        if isinstance(final, (ValueError, TokparError)):
            return None
        return Complaint("it fails", "rows, or a refusal in words", repr(final))
    wrong = rows_complaint(final, len(texts), "postprocess")
    wrong = wrong or rows_complaint(origin, len(texts), "postprocess")
    if wrong is not None:
        return wrong
    assert isinstance(final, Rows)
    assert isinstance(origin, Rows)
    expected = origin.ids.copy()
    core = origin.ids >= FIRST
    expected[core] = own.ids[origin.ids[core] - FIRST]
    told = Rows(expected, origin.offsets)
    for k, text in enumerate(texts):
        wrong = ids_differ(told[k], final[k], text, tokenizer)
        if wrong is not None:
            return prefix_complaint(wrong, "numbers in place of ids tell")
    return None


@check("postprocess: special_tokens")
def special_tokens(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """special_tokens are the ids that postprocess puts before and after every text, and no more if
    it neither truncates nor pads"""
    inserted = inserted_ids(tokenizer)
    if inserted is None:
        return None
    before, after = inserted
    ids = ids_of(tokenizer, text)
    expected = np.concatenate([before, ids, after])
    wrong = array_complaint(before, "special_tokens")
    wrong = wrong or array_complaint(after, "special_tokens")
    return wrong or ids_differ(expected, postprocess_single(tokenizer, ids, text), text, tokenizer)


@check("encode_whole")
def encode_whole(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """encode_whole(text) is encode(text), finished"""
    own_call = own_call_of(tokenizer)
    assert own_call is not None
    got = outcome(own_call, text)
    if isinstance(got, Exception):  # another check compares refusals with check_text
        return None
    expected = whole_ids(tokenizer, text)
    return array_complaint(got, "encode_whole") or ids_differ(expected, got, text, tokenizer)
