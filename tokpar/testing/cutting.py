"""Checks that what tokpar proves of a tokenizer's facts is true of its ids: certified cuts, and
all lossless strategies with chunks so small that seams are everywhere."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from tokpar.certificate.checker import check
from tokpar.cuts.finder import finder_for
from tokpar.encoding import Encoding
from tokpar.executors.serial import SerialExecutor
from tokpar.interfaces import ChecksText, Finishes, Strategy, TokenizerAdapter, facts_of
from tokpar.kernels import has_surrogate
from tokpar.mending import Method
from tokpar.pipeline import encode, encode_batch
from tokpar.registry import build_strategy, registry
from tokpar.results import in_one_call
from tokpar.testing.checks import Check, Complaint, SetAsideError, named, outcome
from tokpar.testing.compare import ids_differ, ids_of, rows_complaint, whole_ids
from tokpar.types import Report, Rows

NEAR = 60
"""Code points of a text in which every place is tried."""
BATCHED = 4
"""Of so many texts one goes into the batch; each is encoded alone, too."""
SMALL: dict[str, tuple[Any, ...]] = {
    "chunk_chars": (1, 7, 40),
    "overlap_chars": (3, 5, 24),
    "depth": (6, 3, 1),
    "min_match": (1, 1, 2),
}
"""Options that make seams everywhere: three sets of them."""


def cut_checks(tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """What is proved from the facts, and what every lossless strategy makes of it."""
    if facts_of(tokenizer).unprovable is None:
        yield Check(
            "certified cuts",
            "wherever the facts license a cut, both sides encoded alone give the ids of the whole "
            "(theorem 14)",
            partial(certified_cuts, tokenizer),
        )
    for strategy in lossless_strategies():
        yield from strategy_checks(strategy, tokenizer, small_options(strategy.build))


def strategy_checks(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]]
) -> Iterator[Check]:
    """That a lossless strategy is lossless with this tokenizer."""
    yield Check(
        f"strategy {strategy.name}",
        "the ids are those of the serial call, and the certificate passes tokpar.check",
        partial(lossless, strategy, tokenizer, options),
    )
    yield Check(
        f"strategy {strategy.name}: batch",
        "of texts that are encoded together each has the ids that it has alone",
        partial(batch, strategy, tokenizer, options[0]),
        together=True,
    )
    yield Check(
        f"strategy {strategy.name}: long texts",
        "the ids are those of the serial call, and the certificate passes tokpar.check",
        partial(lossless, strategy, tokenizer, [{}]),
        pool="long",
    )
    yield Check(
        f"strategy {strategy.name}: lone surrogates",
        "a text with lone surrogates ends as in the serial call: the same ids or error, no seam",
        partial(surrogates, strategy, tokenizer, options),
        pool="surrogates",
    )


def lossless_strategies() -> list[Strategy]:
    """Those of the registry, tokpar's own and those of plugins."""
    names = [record.name for record in registry().strategies() if record.lossless]
    return [registry().strategy(name) for name in names]


def small_options(build: Callable[..., object]) -> list[dict[str, Any]]:
    """Up to three sets of options, of a strategy or a splitter, that make many seams in a short
    text."""
    names = [name for name in inspect.signature(build).parameters if name in SMALL]
    return [{name: SMALL[name][k] for name in names} for k in range(3)] if names else [{}]


def certified_cuts(tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """Every place that the planner would certify, not only those a splitter takes."""
    text = text[:NEAR]
    finder = finder_for(facts_of(tokenizer))
    if finder.refusal_for(text) is not None:
        return None
    expected = ids_of(tokenizer, text)
    for place in range(1, len(text)):
        seam = finder.certify(text, place)
        if seam is None:
            continue
        after = place + int(dict(seam.witness).get("absorbed", 0))
        halves = [ids_of(tokenizer, text[:place]), ids_of(tokenizer, text[after:])]
        wrong = ids_differ(expected, np.concatenate(halves), text, tokenizer)
        if wrong is not None:
            where = f"{text[:place]!r} + {text[after:]!r}, rule {seam.rule}, theorem {seam.theorem}"
            return named(wrong, where)
    return None


def lossless(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]], text: str
) -> Complaint | None:
    require_accepted(tokenizer, text)
    expected = whole_ids(tokenizer, text)
    for some in options:
        encoding = encoded(strategy, tokenizer, some, text)
        wrong = ids_differ(expected, encoding.ids, text, tokenizer)
        wrong = wrong or certificate_complaint(encoding, text, tokenizer)
        if wrong is not None:
            return named(wrong, f"{some or 'default options'}, {encoding.report.plan}")
    return None


def encoded(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: Mapping[str, Any], text: str
) -> Encoding:
    """The encoding of a text by the pipeline, chunk by chunk in this thread."""
    return encode(text, tokenizer, _method(strategy, options))


def _method(strategy: Strategy, options: Mapping[str, Any]) -> Method:
    splitter, merger = build_strategy(strategy, options)
    return Method(splitter, SerialExecutor(), merger, strategy.name)


def batch(
    strategy: Strategy,
    tokenizer: TokenizerAdapter,
    options: Mapping[str, Any],
    texts: Sequence[str],
) -> Complaint | None:
    """Padded as the tokenizer's own batch."""
    some = texts[::BATCHED] if len(texts) > BATCHED else texts
    usual = [text for text in some if not isinstance(_own(tokenizer, text), Exception)]
    found = encode_batch(usual, tokenizer, _method(strategy, options))
    own = Rows.of(ids_of(tokenizer, text) for text in usual)
    expected = tokenizer.finish(own, usual) if isinstance(tokenizer, Finishes) else own
    wrong = rows_complaint(found.rows, len(usual), "encode_batch")
    for k, text in enumerate(usual):
        wrong = wrong or ids_differ(expected[k], found.rows[k], text, tokenizer)
        if wrong is None and not found[k].lossless:
            wrong = Complaint("a seam without a rule", text=text)
        if wrong is not None:
            return named(wrong, f"text {k}, {dict(options) or 'default options'}")
    return None


def require_accepted(tokenizer: TokenizerAdapter, text: str) -> None:
    """Sets aside a text that the engine's own call refuses."""
    if isinstance(tokenizer, ChecksText) and outcome(partial(tokenizer.check_text, text)):
        raise SetAsideError


def certificate_complaint(
    encoding: Encoding, text: str, tokenizer: TokenizerAdapter
) -> Complaint | None:
    """What `tokpar.check` finds, or that a seam has no rule."""
    if not encoding.lossless:
        bare = next(seam for seam in encoding.seams if seam.rule is None)
        return Complaint("a seam without a rule", got=repr(bare))
    report = check(encoding, text, tokenizer, full=True) if encoding.seams else None
    if report is None or report.ok:
        return None
    finding = report.findings[0]
    return Complaint(f"the certificate fails: {finding.kind}, {finding.message}")


def surrogates(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]], text: str
) -> Complaint | None:
    if not has_surrogate(text):
        raise SetAsideError
    expected = _own(tokenizer, text)
    for some in options:
        got = outcome(partial(encoded, strategy, tokenizer, some, text))
        if isinstance(expected, Exception) or isinstance(got, Exception):
            if type(expected) is not type(got):
                return Complaint(f"{some}: it ends otherwise", repr(expected), repr(got))
        elif got.seams or got != expected:
            return Complaint(f"{some}: {len(got.seams)} seams", repr(expected), repr(got))
    return None


def _own(tokenizer: TokenizerAdapter, text: str) -> Any:
    """The encoding of the serial call, or the error it ends with."""

    def call() -> Encoding:
        if isinstance(tokenizer, ChecksText):
            tokenizer.check_text(text)
        return in_one_call(text, tokenizer, Report("serial", why="to compare with"))

    return outcome(call)
