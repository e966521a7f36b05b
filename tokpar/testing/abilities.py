"""Checks of the other abilities of an adapter, as far as it has them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from tokpar.interfaces import (
    ChecksText,
    Decodes,
    Detaches,
    EncodesWhole,
    Finishes,
    FinishesBatch,
    Locates,
    Refreshes,
    ReleasesGil,
    TokenizerAdapter,
)
from tokpar.kernels import IdArray
from tokpar.spans import numbered
from tokpar.testing.checks import Check, Complaint, named, outcome
from tokpar.testing.compare import array_complaint, ids_differ, ids_of, spans_complaint, whole_ids

FIRST = int(numbered(1)[0])


def ability_checks(tokenizer: TokenizerAdapter, source: object) -> Iterator[Check]:
    """One check for each ability the tokenizer has; `source` is what it was loaded from."""
    if isinstance(tokenizer, Locates):
        yield Check(
            "locate",
            "locate gives one span per id: int64, UTF-8 bytes of the text, in order",
            partial(locate, tokenizer),
        )
    if isinstance(tokenizer, Decodes):
        yield Check("decode", "decode gives a str, the same each time", partial(decode, tokenizer))
    if isinstance(tokenizer, Finishes):
        yield Check(
            "finish",
            "finish selects, inserts and pads; it never looks at the values of the ids",
            partial(finish, tokenizer),
        )
    if isinstance(tokenizer, FinishesBatch):
        yield Check(
            "finish_batch",
            "finish_batch gives one array per text and never looks at the values of the ids",
            partial(finish_batch, tokenizer),
            together=True,
        )
    if isinstance(tokenizer, EncodesWhole):
        yield Check(
            "encode_whole",
            "encode_whole(text) is finish(encode(text), text)",
            partial(encode_whole, tokenizer),
        )
    if isinstance(tokenizer, ChecksText):
        contract = "check_text refuses what the engine's own call refuses, with the same error"
        look = partial(check_text, tokenizer)
        yield Check("check_text", contract, look)
        yield Check("check_text: lone surrogates", contract, look, pool="surrogates")
    if isinstance(tokenizer, Refreshes):
        yield Check(
            "refreshed",
            "refreshed() is the tokenizer itself while nothing changed",
            partial(refreshed, tokenizer),
            together=True,
        )
    if isinstance(tokenizer, Detaches) and source is not tokenizer:
        yield Check(
            "detached",
            "detached().attached(source) encodes as before",
            partial(detached, tokenizer, source),
        )
    if isinstance(tokenizer, ReleasesGil):
        yield Check(
            "releases_gil",
            "releases_gil is True; that threads do no harm is checked for every tokenizer",
            partial(releases_gil, tokenizer),
            together=True,
        )


def locate(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Locates)
    ids = ids_of(tokenizer, text)
    return spans_complaint(tokenizer.locate(ids, text), ids, text)


def decode(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Decodes)
    ids = ids_of(tokenizer, text)
    once, again = tokenizer.decode(ids.tolist()), tokenizer.decode(ids)  # type: ignore[arg-type]
    if isinstance(once, str) and once == again:
        return None
    return Complaint("decode of a list and of the array", repr(once), repr(again))


def finish(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Finishes)
    ids = ids_of(tokenizer, text)
    origin = outcome(partial(tokenizer.finish, numbered(len(ids)), text))
    if isinstance(origin, LookupError):  # allowed: it can finish the ids of the text only
        return None
    final = outcome(partial(tokenizer.finish, ids, text))
    return _laid_out(ids, final, origin, text, tokenizer)


def finish_batch(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    assert isinstance(tokenizer, FinishesBatch)
    usual = [t for t in texts if not isinstance(outcome(partial(ids_of, tokenizer, t)), Exception)]
    ids = [ids_of(tokenizer, text) for text in usual]
    final = outcome(partial(tokenizer.finish_batch, ids, usual))
    origin = outcome(partial(tokenizer.finish_batch, [numbered(len(i)) for i in ids], usual))
    if isinstance(origin, LookupError) or isinstance(final, Exception):
        return None
    if isinstance(origin, Exception) or len(final) != len(usual):
        return Complaint("not one array per text", str(len(usual)), str(origin))
    for text, some, row, places in zip(usual, ids, final, origin, strict=True):
        wrong = _laid_out(some, row, places, text, tokenizer)
        if wrong is not None:
            return wrong
    return None


def _laid_out(
    ids: IdArray, final: object, origin: object, text: str, tokenizer: TokenizerAdapter
) -> Complaint | None:
    """What is wrong with final ids, by what finishing made of numbers in their place."""
    if isinstance(final, Exception) or isinstance(origin, Exception):
        if type(final) is type(origin):
            return None
        return Complaint(
            "ids and numbers in their place end differently", repr(final), repr(origin)
        )
    wrong = array_complaint(final, "finish") or array_complaint(origin, "finish")
    if wrong is not None:
        return wrong
    assert isinstance(origin, np.ndarray)
    assert isinstance(final, np.ndarray)
    expected = origin.copy()
    core = origin >= FIRST
    expected[core] = ids[origin[core] - FIRST]
    return named(ids_differ(expected, final, text, tokenizer), "numbers in place of ids tell")


def encode_whole(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, EncodesWhole)
    got = outcome(partial(tokenizer.encode_whole, text))
    if isinstance(got, Exception):  # what may be refused is check_text's business
        return None
    expected = whole_ids(tokenizer, text)
    return array_complaint(got, "encode_whole") or ids_differ(expected, got, text, tokenizer)


def check_text(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    assert isinstance(tokenizer, ChecksText)
    call = tokenizer.encode_whole if isinstance(tokenizer, EncodesWhole) else tokenizer.encode
    said, own = outcome(partial(tokenizer.check_text, text)), outcome(partial(call, text))
    refused = isinstance(said, Exception)
    if refused and type(said) is type(own):
        return None
    if not refused and not isinstance(own, (ValueError, TypeError)):
        return None
    expected = repr(own) if isinstance(own, Exception) else "no error"
    return Complaint("the engine's own call ends otherwise", expected, repr(said))


def refreshed(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    assert isinstance(tokenizer, Refreshes)
    for text in texts[:20]:
        ids_of_text = outcome(partial(ids_of, tokenizer, text))
        if tokenizer.refreshed() is not tokenizer:
            return Complaint("another object", "itself", type(ids_of_text).__name__)
    return None


def detached(tokenizer: TokenizerAdapter, source: object, text: str) -> Complaint | None:
    assert isinstance(tokenizer, Detaches)
    expected = ids_of(tokenizer, text)
    again = tokenizer.detached().attached(source)
    return ids_differ(expected, ids_of(again, text), text, tokenizer)


def releases_gil(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    assert isinstance(tokenizer, ReleasesGil)
    if tokenizer.releases_gil is True:
        return None
    return Complaint("leave it out otherwise", "True", repr(tokenizer.releases_gil))
