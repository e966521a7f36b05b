"""Checks of `finish` and `around`, and of `encode_whole`, which is the engine's own finishing.

Numbers in the place of ids tell where each final id came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tokpar.errors import TokparError
from tokpar.interfaces import EncodesWhole, Finishes, TokenizerAdapter
from tokpar.kernels import IdArray
from tokpar.spans import alone, numbered
from tokpar.testing.checks import Check, Complaint, named, outcome
from tokpar.testing.compare import (
    array_complaint,
    ids_differ,
    ids_of,
    rows_complaint,
    whole_ids,
)
from tokpar.types import Rows

FIRST = int(numbered(1)[0])


def finish_checks(tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """As far as the tokenizer finishes."""
    if isinstance(tokenizer, Finishes):
        yield Check(
            "finish",
            "finish gives rows, and selects, inserts and pads; it never looks at the values of ids",
            partial(finish, tokenizer),
        )
        yield Check(
            "finish: batch",
            "a row of a batch is what it is alone, padded at one end; it has no id of another row",
            partial(finish_batch, tokenizer),
            together=True,
        )
        yield Check(
            "finish: around",
            "around is None, or the ids that finish puts before and after every text, and no more",
            partial(around, tokenizer),
        )
    if isinstance(tokenizer, EncodesWhole):
        yield Check(
            "encode_whole",
            "encode_whole(text) is encode(text), finished",
            partial(encode_whole, tokenizer),
        )


def finish(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Finishes)
    ids = ids_of(tokenizer, text)
    origin = outcome(partial(tokenizer.finish, Rows.of([numbered(len(ids))]), [text]))
    if _finishes_own_ids_only(origin):
        return None
    final = outcome(partial(tokenizer.finish, Rows.of([ids]), [text]))
    return _laid_out(Rows.of([ids]), final, origin, [text], tokenizer)


def _finishes_own_ids_only(origin: object) -> bool:
    """It says so by a LookupError, which is allowed; its subclasses of Python are mistakes."""
    mistake = isinstance(origin, (IndexError, KeyError))
    return isinstance(origin, LookupError) and not mistake


def finish_batch(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    assert isinstance(tokenizer, Finishes)
    if len(tokenizer.finish(Rows.of([]), [])):
        return Complaint("no texts", "no rows", "some")
    usual = [
        t for t in texts if not isinstance(outcome(partial(whole_ids, tokenizer, t)), Exception)
    ]
    own = Rows.of(ids_of(tokenizer, text) for text in usual)
    stand_ins = Rows(numbered(len(own.ids)), own.offsets)
    origin = outcome(partial(tokenizer.finish, stand_ins, usual))
    if _finishes_own_ids_only(origin):
        return None
    final = outcome(partial(tokenizer.finish, own, usual))
    wrong = _laid_out(own, final, origin, usual, tokenizer)
    for k, text in enumerate(usual if wrong is None else ()):
        wrong = _padded(tokenizer, stand_ins[k], origin[k], text)
        if wrong is not None:
            return named(wrong, f"row {k}")
    return wrong


def _padded(
    tokenizer: TokenizerAdapter, stand_ins: IdArray, found: IdArray, text: str
) -> Complaint | None:
    """What is wrong with a row of a batch, by what became of it alone."""
    single = alone(tokenizer, stand_ins, text)
    extra = len(found) - len(single)
    sides = ((found[:extra], found[extra:]), (found[len(single) :], found[: len(single)]))
    for padding, rest in sides:
        one_id = len(set(padding.tolist())) <= 1 and (padding < FIRST).all()
        if extra >= 0 and one_id and np.array_equal(rest, single):
            return None
    expected, got = (_shown(each, stand_ins) for each in (single, found))
    return Complaint("it is not its own finished ids, padded", expected, got, text)


def _shown(origin: IdArray, stand_ins: IdArray) -> str:
    """Numbers of own ids as "#0"; of another row's ids "another row's"."""
    first, stop = (int(stand_ins[0]), int(stand_ins[-1]) + 1) if len(stand_ins) else (0, 0)
    said = [
        str(id_) if id_ < FIRST else f"#{id_ - first}" if first <= id_ < stop else "another row's"
        for id_ in origin[:40].tolist()
    ]
    return " ".join(said) + " ..." * (len(origin) > 40)


def _laid_out(
    own: Rows, final: object, origin: object, texts: Sequence[str], tokenizer: TokenizerAdapter
) -> Complaint | None:
    """What is wrong with final ids, by what finishing made of numbers in their place."""
    if isinstance(final, Exception) or isinstance(origin, Exception):
        if type(final) is not type(origin):
            said = "ids and numbers in their place end differently"
            return Complaint(said, repr(final), repr(origin))
        if isinstance(final, (ValueError, TokparError)):
            return None
        return Complaint("it fails", "rows, or a refusal in words", repr(final))
    wrong = rows_complaint(final, len(texts), "finish")
    wrong = wrong or rows_complaint(origin, len(texts), "finish")
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
            return named(wrong, "numbers in place of ids tell")
    return None


def around(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Finishes)
    if tokenizer.around is None:
        return None
    before, after = tokenizer.around
    ids = ids_of(tokenizer, text)
    expected = np.concatenate([before, ids, after])
    wrong = array_complaint(before, "around") or array_complaint(after, "around")
    return wrong or ids_differ(expected, alone(tokenizer, ids, text), text, tokenizer)


def encode_whole(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, EncodesWhole)
    got = outcome(partial(tokenizer.encode_whole, text))
    if isinstance(got, Exception):  # what may be refused is check_text's business
        return None
    expected = whole_ids(tokenizer, text)
    return array_complaint(got, "encode_whole") or ids_differ(expected, got, text, tokenizer)
