"""`check_strategy`: the ids of a lossless strategy equal the serial ids, and every encoding that
may differ is marked.

The module also checks a tokenizer with every lossless strategy, in chunks so small that seams
are everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tokpar.arrays import has_surrogate
from tokpar.contract.adapter import traits_of
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter, facts_of
from tokpar.cuts.finder import finder_for
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.pipeline.call_result import encode_in_one_call
from tokpar.pipeline.plan import Plan
from tokpar.pipeline.steps import encode_batch
from tokpar.registry.hooks import Strategy
from tokpar.registry.tables import build_strategy, registry
from tokpar.results.encoding import Encoding
from tokpar.types import Report, Rows
from tokpar_conformance.certificates import Certificates
from tokpar_conformance.checks import (
    Check,
    Complaint,
    SetAsideError,
    Watch,
    check,
    outcome,
    prefix_complaint,
    require,
)
from tokpar_conformance.compare import cuts_complaint, ids_differ, ids_of, rows_complaint, whole_ids
from tokpar_conformance.pools import Unknown, pools

BATCHED = 4  # every fourth text goes into the batch; another check encodes all texts alone
SMALL: dict[str, tuple[Any, ...]] = {
    "chunk_chars": (1, 7, 40),
    "overlap_chars": (3, 5, 24),
    "depth": (6, 3, 1),
    "min_match": (1, 1, 2),
}
"""Three sets of options that make seams everywhere: the k-th values belong together."""


def check_strategy(
    strategy: str | Strategy,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    options: Sequence[dict[str, Any]] | None = None,
    texts: Sequence[str] = (),
    examples: int | None = None,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Raise ConformanceError unless the strategy gives the serial ids with a certificate that
    holds. An approximate strategy must mark every encoding that differs. The error names each
    failed check with its smallest text.

    `strategy`: a registered name, or a `Strategy`. `options`: sets of options to try. None: small
    values of `chunk_chars`, `overlap_chars`, `depth` and `min_match`, the options of tokpar's own
    strategies. `texts`, `examples`, `watch`, `fail_fast`: as in `check_tokenizer`."""
    record = registry().strategy(strategy) if isinstance(strategy, str) else strategy
    adapter = load(tokenizer)
    chosen = small_options(record.build) if options is None else list(options)
    checks = checks_of(record, adapter, chosen)
    require(f"strategy {record.name}", checks, pools(adapter, texts, examples), watch, fail_fast)


def cut_checks(tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """Check the cuts that a tokenizer's facts license, and every lossless strategy with it."""
    facts = facts_of(tokenizer)
    if facts.unprovable is None or facts.added_token_cuts_refused is None:
        yield certified_cuts.of(tokenizer)
    certificates = Certificates(tokenizer)
    for record in registry().strategies():
        if record.lossless:
            strategy = registry().strategy(record.name)
            options = small_options(strategy.build)
            yield from strategy_checks(strategy, certificates, options)


def checks_of(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]]
) -> Iterator[Check]:
    """All checks of a strategy with one tokenizer."""
    yield record_complaint.of(strategy)
    certificates = Certificates(tokenizer)
    if strategy.lossless:
        yield from strategy_checks(strategy, certificates, options)
        name = f"strategy {strategy.name}: unknown tokenizer"
        said = "where nothing is known of the tokenizer the text is encoded in one call"
        unknown = Certificates(Unknown())
        yield lossless.of(strategy, unknown, options, False, name=name, contract=said)
    approximate = [{}] if not strategy.lossless else [dict([p]) for p in strategy.approximate_if]
    said = "an encoding that says it is lossless is, and its certificate passes tokpar.check"
    for some in approximate:
        name = f"strategy {strategy.name}: approximate {some or ''}".rstrip()
        sets = [each | some for each in options]
        yield lossless.of(strategy, certificates, sets, True, name=name, contract=said)


def strategy_checks(
    strategy: Strategy, certificates: Certificates, options: list[dict[str, Any]]
) -> Iterator[Check]:
    """Check that a lossless strategy is lossless with the tokenizer of these certificates."""
    name, tokenizer = f"strategy {strategy.name}", certificates.tokenizer
    yield lossless.of(strategy, certificates, options, False, name=name)
    yield batch.of(strategy, tokenizer, options[0], name=f"{name}: batch")
    long = f"{name}: long texts"
    yield lossless.of(strategy, certificates, [{}], False, name=long, pool="long")
    several = f"{name}: lone surrogates"
    yield surrogates.of(strategy, tokenizer, options, name=several, pool="surrogates")


def small_options(build: Callable[..., object]) -> list[dict[str, Any]]:
    """Up to three sets of options that make many seams in a short text."""
    names = [name for name in inspect.signature(build).parameters if name in SMALL]
    return [{name: SMALL[name][k] for name in names} for k in range(3)] if names else [{}]


@check("certified cuts")
def certified_cuts(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """wherever the facts license a cut, both sides encoded alone give the ids of the whole
    (theorem 14)"""
    return cuts_complaint(tokenizer, text, finder_for(facts_of(tokenizer)).certify)


@check("strategy")
def lossless(
    strategy: Strategy,
    certificates: Certificates,
    options: list[dict[str, Any]],
    may_differ: bool,
    text: str,
) -> Complaint | None:
    """the ids are those of the serial call, and the certificate passes tokpar.check"""
    tokenizer = certificates.tokenizer
    require_accepted(tokenizer, text)
    expected = whole_ids(tokenizer, text)
    for some in options:
        encoding = encode_serially(strategy, tokenizer, some, text)
        if may_differ and not encoding.lossless:
            continue
        wrong = ids_differ(expected, encoding.ids, text, tokenizer)
        wrong = wrong or certificates.complaint(encoding, text)
        if wrong is not None:
            return prefix_complaint(wrong, f"{some or 'default options'}, {encoding.report.plan}")
    return None


def encode_serially(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: Mapping[str, Any], text: str
) -> Encoding:
    """The encoding of a text by the pipeline; the chunks are encoded one by one in this thread."""
    return encode_batch([text], _plan(tokenizer, strategy, options))[0]


def _plan(tokenizer: TokenizerAdapter, strategy: Strategy, options: Mapping[str, Any]) -> Plan:
    splitter, merger = build_strategy(strategy, options)
    return Plan(tokenizer, splitter, SerialExecutor(), merger, strategy.name)


@check("strategy: batch", takes_all_texts=True)
def batch(
    strategy: Strategy,
    tokenizer: TokenizerAdapter,
    options: Mapping[str, Any],
    texts: Sequence[str],
) -> Complaint | None:
    """of texts that are encoded together each has the ids that it has alone"""
    some = texts[::BATCHED] if len(texts) > BATCHED else texts
    usual = [text for text in some if not isinstance(_own(tokenizer, text), Exception)]
    found = encode_batch(usual, _plan(tokenizer, strategy, options))
    own = Rows.of(ids_of(tokenizer, text) for text in usual)
    expected = tokenizer.postprocess(own, usual) if isinstance(tokenizer, PostProcesses) else own
    wrong = rows_complaint(found.rows, len(usual), "encode_batch")
    for k, text in enumerate(usual):
        wrong = wrong or ids_differ(expected[k], found.rows[k], text, tokenizer)
        if wrong is None and not found[k].lossless:
            wrong = Complaint("a seam without a rule", text=text)
        if wrong is not None:
            return prefix_complaint(wrong, f"text {k}, {dict(options) or 'default options'}")
    return None


def require_accepted(tokenizer: TokenizerAdapter, text: str) -> None:
    """Raise SetAsideError for a text that the engine's own call refuses."""
    check_text = traits_of(tokenizer).check_text
    if check_text is not None and outcome(check_text, text):
        raise SetAsideError


@check("strategy: lone surrogates")
def surrogates(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]], text: str
) -> Complaint | None:
    """a text with lone surrogates ends as in the serial call: the same ids or error, no seam"""
    if not has_surrogate(text):
        raise SetAsideError
    expected = _own(tokenizer, text)
    for some in options:
        got = outcome(encode_serially, strategy, tokenizer, some, text)
        if isinstance(expected, Exception) or isinstance(got, Exception):
            if type(expected) is not type(got):
                return Complaint(f"{some}: it ends otherwise", repr(expected), repr(got))
        elif got.seams or got != expected:
            return Complaint(f"{some}: {len(got.seams)} seams", repr(expected), repr(got))
    return None


def _own(tokenizer: TokenizerAdapter, text: str) -> Any:
    """The encoding of the serial call, or the error that the call raises."""

    def call() -> Encoding:
        check_text = traits_of(tokenizer).check_text
        if check_text is not None:
            check_text(text)
        return encode_in_one_call(text, tokenizer, Report("serial", why="to compare with"))

    return outcome(call)


@check("record", takes_all_texts=True)
def record_complaint(strategy: Strategy, texts: Sequence[str]) -> Complaint | None:
    """name, source and conditions are told, and build() works without options"""
    told = {"name": strategy.name, "source": strategy.source, "conditions": strategy.conditions}
    silent = [name for name, value in told.items() if not value]
    if silent:
        return Complaint("not told", got=", ".join(silent))
    splitter, merger = build_strategy(strategy, {})
    if callable(getattr(splitter, "split", None)) and callable(getattr(merger, "merge", None)):
        return None
    return Complaint("build()", "a splitter and a merger", f"{splitter!r}, {merger!r}")
