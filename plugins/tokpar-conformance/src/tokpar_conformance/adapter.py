"""`check_tokenizer`: check everything that an adapter promises by its methods and its facts.

This module has the checks of `name`, `encode`, `encode_many` and `spec`: the shape of the ids, the
same ids in each call, thread and process, and the same ids as a reference."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from functools import cache, partial

import numpy as np

from tokpar.arrays import IdArray, SpanArray
from tokpar.contract.interfaces import (
    EncodesMany,
    HasSpec,
    Locates,
    PostProcesses,
    TokenizerAdapter,
    facts_of,
)
from tokpar.errors import TokparError
from tokpar.executors.processes import ProcessExecutor
from tokpar.loading import load
from tokpar.patterns.class_tables import load_atoms
from tokpar.types import Piece
from tokpar_conformance.abilities import ability_checks
from tokpar_conformance.checks import (
    Check,
    Complaint,
    SetAsideError,
    Watch,
    at_once,
    check,
    outcome,
    prefix_complaint,
    require,
)
from tokpar_conformance.compare import array_complaint, ids_differ, ids_of, rows_differ, whole_ids
from tokpar_conformance.facts import facts_checks
from tokpar_conformance.pools import pools
from tokpar_conformance.strategy import cut_checks
from tokpar_conformance.traits import traits_checks

THREADS = 4
PLAIN = ("", "a", " ", "\n", "the quick brown fox", "Hello, world! 123")


def check_tokenizer(
    tokenizer: object,
    reference: object | None = None,
    *,
    texts: Sequence[str] = (),
    examples: int | None = None,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Raise ConformanceError unless the tokenizer keeps its contract. The error names each failed
    check, with the smallest text that shows the failure.

    `tokenizer`, `reference`: anything that `tokpar.load` takes. With a reference, the ids must
    equal the ids of the reference; in texts of code points that all engines classify alike.
    `texts`: texts of the caller, besides about 120 fixed and `examples` drawn ones. Texts longer
    than 2,000 code points are encoded whole, by every strategy and by the reference.
    `examples`: None draws 60 texts, or fewer if the active profile of hypothesis has fewer
    examples. The same number draws the same texts, so a second run has the same result.
    `watch`: called with the name of each check before the check runs.
    `fail_fast`: stop after the first check that fails."""
    adapter = load(tokenizer)
    other = None if reference is None else load(reference)
    checks = tokenizer_checks(adapter, tokenizer, other)
    drawn = pools(adapter, texts, examples, other)
    require(str(adapter.name), checks, drawn, watch, fail_fast)


def tokenizer_checks(
    adapter: TokenizerAdapter, source: object, reference: TokenizerAdapter | None
) -> Iterator[Check]:
    """All checks that apply to the adapter, quick ones first."""
    for each in (name, plain_texts, well_formed, again, threads):
        yield each.of(adapter)
    yield from ability_checks(adapter, source)
    yield from traits_checks(adapter)
    yield from facts_checks(adapter)
    if isinstance(adapter, EncodesMany):
        yield encode_many.of(adapter)
    if isinstance(adapter, HasSpec):
        yield spec.of(adapter)
        yield fresh_process.of(adapter)
    if reference is not None:
        contract = f"the ids are those of {reference.name}, for code points that all engines "
        contract += "classify alike"
        look = partial(like_reference, adapter, reference)
        ids = Check("reference", contract, look)
        yield ids
        yield replace(ids, name="reference: long texts", pool="long")
    yield from cut_checks(adapter)


@check("name", takes_all_texts=True)
def name(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """name is a str that is not empty"""
    got = tokenizer.name
    if isinstance(got, str) and got:
        return None
    return Complaint("name is no name", "a str", repr(got))


@check("encode: plain texts", takes_all_texts=True)
def plain_texts(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """encode takes any str; it may refuse a text, but not an everyday one"""
    for text in PLAIN:
        got = outcome(tokenizer.encode, text)
        if isinstance(got, Exception):
            return Complaint("refused", "ids", f"{type(got).__name__}: {got}", text)
    return None


@check("encode: array")
def well_formed(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """encode gives uint32 ids of shape (n,); a refusal is a ValueError or a TokparError"""
    try:
        return array_complaint(tokenizer.encode(text))
    except (ValueError, TokparError):
        return None


@check("encode: again", takes_all_texts=True)
def again(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """the ids of a text depend on nothing but the text, and stay as they were given"""
    arrays = [_ids_or_none(tokenizer, text) for text in texts]
    first = [None if ids is None else ids.copy() for ids in arrays]
    for text, expected in zip(reversed(texts), reversed(first), strict=True):
        for _ in range(2):
            wrong = _same(expected, _ids_or_none(tokenizer, text), text, tokenizer)
            if wrong is not None:
                return prefix_complaint(wrong, "another call")
    for text, expected, ids in zip(texts, first, arrays, strict=True):
        wrong = _same(expected, ids, text, tokenizer)
        if wrong is not None:
            return prefix_complaint(wrong, "the array changed afterwards")
    return None


@check("encode: threads", takes_all_texts=True, repeatable=False)
def threads(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """encode may be called from several threads at once"""
    expected = [_ids_or_none(tokenizer, text) for text in texts]
    every = range(len(texts))
    turned = [[*every[7 * n % len(texts) :], *every[: 7 * n % len(texts)]] for n in range(THREADS)]

    def work(number: int) -> list[IdArray | None]:
        return [_ids_or_none(tokenizer, texts[k]) for k in turned[number]]

    for order, got in zip(turned, at_once(work, THREADS), strict=True):
        if isinstance(got, Exception):
            return Complaint(f"a thread raised {type(got).__name__}: {got}")
        for k, ids in zip(order, got, strict=True):
            wrong = _same(expected[k], ids, texts[k], tokenizer)
            if wrong is not None:
                return prefix_complaint(wrong, f"with {THREADS} threads")
    return None


@check("encode_many", takes_all_texts=True)
def encode_many(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """encode_many gives one row per text, in order, each as encode of that text alone"""
    assert isinstance(tokenizer, EncodesMany)
    usual = [text for text in texts if _ids_or_none(tokenizer, text) is not None]
    calls = ((), False), (usual, False), (usual, True), (usual[::-1], False)
    results = [tokenizer.encode_many(some, spans) for some, spans in calls]
    for (some, spans), rows in zip(calls, results, strict=True):
        alone = [Piece(ids_of(tokenizer, text), _spans(tokenizer, text)) for text in some]
        wrong = rows_differ(alone, rows, some, tokenizer, spans)
        if wrong is not None:
            return prefix_complaint(wrong, f"spans={spans}")
    return None


@check("spec", takes_all_texts=True)
def spec(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """spec() is a function and its arguments; calling it gives the same encode and facts"""
    assert isinstance(tokenizer, HasSpec)
    build, settings = tokenizer.spec()
    twin = build(**settings)
    for text in texts:
        expected = _ids_or_none(tokenizer, text)
        wrong = _same(expected, _ids_or_none(twin, text), text, tokenizer)
        if wrong is not None:
            return prefix_complaint(wrong, "built again")
    return facts_differ(tokenizer, twin)


@check("spec: fresh process", takes_all_texts=True, repeatable=False)
def fresh_process(tokenizer: TokenizerAdapter, texts: Sequence[str]) -> Complaint | None:
    """spec() can be pickled, and gives the same encode in a process of its own"""
    usual = [text for text in texts if _ids_or_none(tokenizer, text) is not None]
    with ProcessExecutor(1) as executor:
        rows = executor.map(usual, tokenizer, False)
    alone = [Piece(ids_of(tokenizer, text)) for text in usual]
    return rows_differ(alone, rows, usual, tokenizer)


def like_reference(
    tokenizer: TokenizerAdapter, reference: TokenizerAdapter, text: str
) -> Complaint | None:
    text = "".join(c for c in text if _is_frozen(c))
    expected = outcome(reference.encode, text)
    got = outcome(tokenizer.encode, text)
    if isinstance(expected, Exception) or isinstance(got, Exception):
        if isinstance(expected, Exception) and isinstance(got, Exception):
            raise SetAsideError
        return Complaint(
            "only one of them refuses the text", _describe_result(expected), _describe_result(got)
        )
    wrong = ids_differ(np.asarray(expected), np.asarray(got), text, reference)
    if (
        wrong is None
        and isinstance(tokenizer, PostProcesses)
        and isinstance(reference, PostProcesses)
    ):
        whole = whole_ids(reference, text)
        wrong = prefix_complaint(
            ids_differ(whole, whole_ids(tokenizer, text), text, reference), "finished"
        )
    return wrong


def _ids_or_none(tokenizer: TokenizerAdapter, text: str) -> IdArray | None:
    try:
        return ids_of(tokenizer, text)
    except SetAsideError:
        return None


def _same(
    expected: IdArray | None, got: IdArray | None, text: str, tokenizer: TokenizerAdapter
) -> Complaint | None:
    if expected is None or got is None:
        if expected is got:
            return None
        return Complaint(
            "sometimes refused", _describe_result(expected), _describe_result(got), text
        )
    return ids_differ(expected, got, text, tokenizer)


def _describe_result(result: object) -> str:
    if result is None or isinstance(result, Exception):
        return "a refusal" if result is None else f"{type(result).__name__}: {result}"
    return "ids"


def _spans(tokenizer: TokenizerAdapter, text: str) -> SpanArray | None:
    if not isinstance(tokenizer, Locates):
        return None
    return tokenizer.locate(ids_of(tokenizer, text), text)


def facts_differ(tokenizer: TokenizerAdapter, twin: TokenizerAdapter) -> Complaint | None:
    own, other = facts_of(tokenizer), facts_of(twin)
    for name in (field.name for field in fields(own) if field.init and field.name != "tokens"):
        expected, got = getattr(own, name), getattr(other, name)
        if expected != got:
            return Complaint(f"built again, its facts differ in {name}", repr(expected), repr(got))
    return None


@cache
def _frozen_points() -> frozenset[int]:
    ranges = (span for spans in load_atoms().values() for span in spans)
    return frozenset(point for low, high in ranges for point in range(low, high + 1))


def _is_frozen(character: str) -> bool:
    return character.isascii() or ord(character) in _frozen_points()
