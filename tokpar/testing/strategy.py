"""`check_strategy`: lossless means equal to the serial ids, and what is not must say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from tokpar.interfaces import Strategy, TokenizerAdapter
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.registry import build_strategy, registry
from tokpar.testing.checks import Check, Complaint, Watch, named, require
from tokpar.testing.compare import ids_differ, whole_ids
from tokpar.testing.cutting import (
    certificate_complaint,
    encoded,
    lossless,
    require_accepted,
    small_options,
    strategy_checks,
)
from tokpar.testing.doubles import Unknown
from tokpar.testing.pools import pools


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
    """Raise ConformanceError, which names each failed check with its smallest text, unless the
    strategy gives the serial ids with a certificate that holds; an approximate one must mark
    every encoding that differs.

    `strategy`: a registered name, or a record. `options`: sets of options to try; None: small
    values of those that tokpar's own strategies have (`chunk_chars`, `overlap_chars`, `depth`).
    `texts`, `examples`, `watch`, `fail_fast`: as in `check_tokenizer`.
    """
    record = registry().strategy(strategy) if isinstance(strategy, str) else strategy
    adapter = load(tokenizer)
    chosen = small_options(record.build) if options is None else list(options)
    checks = checks_of(record, adapter, chosen)
    require(f"strategy {record.name}", checks, pools(adapter, texts, examples), watch, fail_fast)


def checks_of(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]]
) -> Iterator[Check]:
    """All checks of a strategy with one tokenizer."""
    yield Check(
        "record",
        "name, source and conditions are told, and build() works without options",
        partial(record_complaint, strategy),
        together=True,
    )
    if strategy.lossless:
        yield from strategy_checks(strategy, tokenizer, options)
        yield Check(
            f"strategy {strategy.name}: unknown tokenizer",
            "where nothing is known of the tokenizer the text is encoded in one call",
            partial(lossless, strategy, Unknown(), options),
        )
    approximate = [{}] if not strategy.lossless else [dict([p]) for p in strategy.approximate_if]
    for some in approximate:
        yield Check(
            f"strategy {strategy.name}: approximate {some or ''}".rstrip(),
            "an encoding that says it is lossless is, and its certificate passes tokpar.check",
            partial(marked, strategy, tokenizer, [{**each, **some} for each in options]),
        )


def record_complaint(strategy: Strategy, texts: Sequence[str]) -> Complaint | None:
    told = {"name": strategy.name, "source": strategy.source, "conditions": strategy.conditions}
    silent = [name for name, value in told.items() if not value]
    if silent:
        return Complaint("not told", got=", ".join(silent))
    splitter, merger = build_strategy(strategy, {})
    if callable(getattr(splitter, "split", None)) and callable(getattr(merger, "merge", None)):
        return None
    return Complaint("build()", "a splitter and a merger", f"{splitter!r}, {merger!r}")


def marked(
    strategy: Strategy, tokenizer: TokenizerAdapter, options: list[dict[str, Any]], text: str
) -> Complaint | None:
    require_accepted(tokenizer, text)
    expected = whole_ids(tokenizer, text)
    for some in options:
        encoding = encoded(strategy, tokenizer, some, text)
        if not encoding.lossless:
            continue
        wrong = ids_differ(expected, encoding.ids, text, tokenizer)
        wrong = wrong or certificate_complaint(encoding, text, tokenizer)
        if wrong is not None:
            return named(wrong, f"{some}, lossless by its own account")
    return None
