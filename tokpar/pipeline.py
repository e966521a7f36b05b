"""From text to ids: split -> map -> merge -> repair -> finish.

Works on plain objects; nothing here knows about plugins, names or defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tokpar.executors.serial import PASSING, engine_error
from tokpar.interfaces import (
    ChecksText,
    EncodesMany,
    EncodesWhole,
    Executor,
    Explains,
    Finishes,
    Locates,
    MatchesSpans,
    Merger,
    Plan,
    Splitter,
    TokenizerAdapter,
    agreement_of,
    facts_of,
)
from tokpar.joining import Clock, Work, all_seams
from tokpar.kernels import IdArray, frozen_ids
from tokpar.spans import locate_final, locate_whole
from tokpar.types import Chunk, Encoding, Report, Seam, tiles


def encode(
    text: str,
    tokenizer: TokenizerAdapter,
    splitter: Splitter,
    executor: Executor,
    merger: Merger,
    *,
    strategy: str = "",
    finish: bool = True,
) -> Encoding:
    """Encode `text` in chunks and join them where a rule allows it.

    `finish=False` leaves out special tokens, truncation and padding. Raises
    EngineError when the tokenizer fails on a chunk, and whatever the tokenizer's own serial call
    raises when the text is encoded in one call.
    """
    clock = Clock()
    if isinstance(tokenizer, ChecksText):
        tokenizer.check_text(text)
    chunks = splitter.split(text, tokenizer, 0)
    assert tiles(chunks, len(text)), "a splitter's cores must tile the text"
    plan = planned(splitter, text, chunks, tokenizer)
    clock.lap("split")
    if len(chunks) == 1:
        return encode_serial(
            text, tokenizer, strategy=strategy, plan=plan, clock=clock, finish=finish
        )
    spans = spans_wanted(merger, tokenizer)
    if spans and not isinstance(tokenizer, (Locates, EncodesMany)):
        again = Plan("serial", f"{tokenizer.name} cannot tell where its tokens lie")
        return encode_serial(
            text, tokenizer, strategy=strategy, plan=again, clock=clock, finish=finish
        )
    work = Work(text, tokenizer, splitter, executor, merger, spans, clock)
    joined = work.join(chunks)
    seams = None if joined is None else all_seams(joined, work.chunks, work.pieces)
    if joined is None or seams is None:
        again = replace(plan, plan="serial", why=work.why)
        encoding = encode_serial(text, tokenizer, strategy=strategy, plan=again, finish=finish)
        return replace(encoding, report=work.added_to(encoding.report))
    report = Report(
        strategy=strategy,
        plan=plan.plan,
        why=plan.why,
        executor=executor.name,
        chunks=len(work.chunks),
        retries=work.retries,
        repairs=work.repairs,
        redundant=work.redundant,
        serial_regions=plan.serial_regions,
        agreement=agreement_of(tokenizer),
    )
    finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
    encoding = closed(text, tokenizer, joined.ids, joined.seams, report, clock, finisher)
    return encoding if seams is joined.seams else replace(encoding, seams=seams)


def encode_serial(
    text: str,
    tokenizer: TokenizerAdapter,
    *,
    strategy: str = "serial",
    plan: Plan,
    clock: Clock | None = None,
    finish: bool = True,
    agreement: str | None = None,
) -> Encoding:
    """Encode `text` in one call: the tokenizer's own serial call where the adapter offers it.

    `agreement`: what `agreement_of` tells of the tokenizer, if the caller knows it."""
    if agreement is None:
        agreement = agreement_of(tokenizer)
    if not finish or not isinstance(tokenizer, EncodesWhole):
        clock = clock or Clock()
        report = Report(strategy=strategy, plan=plan.plan, why=plan.why, agreement=agreement)
        ids = _own_call(tokenizer, text)
        clock.lap("tokenize")
        finisher = tokenizer if finish and isinstance(tokenizer, Finishes) else None
        return closed(text, tokenizer, ids, (), report, clock, finisher)
    return encode_whole(text, tokenizer, tokenizer.encode_whole, strategy, plan, agreement)


def encode_whole(
    text: str,
    tokenizer: TokenizerAdapter,
    call: Callable[[str], IdArray],
    strategy: str,
    plan: Plan,
    agreement: str = "",
) -> Encoding:
    """Encode `text` by `call`, the engine's own, which finishes the ids too; the hot path of short
    texts, where each microsecond counts."""
    start = time.perf_counter()
    ids = call(text)
    seconds = {"tokenize": time.perf_counter() - start}
    report = Report(strategy, plan.plan, plan.why, seconds=seconds, agreement=agreement)
    return Encoding(frozen_ids(ids), (), report, partial(locate_whole, text, tokenizer, ids))


def _own_call(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The serial call: its own errors pass as they are, a panic becomes an EngineError. A list of
    ids, which an author may find simpler to return, is taken too."""
    try:
        return np.asarray(tokenizer.encode(text), dtype=np.uint32)
    except (Exception, *PASSING):
        raise
    except BaseException as panic:
        raise engine_error(panic, 0, len(text)) from panic


def spans_wanted(merger: Merger, tokenizer: TokenizerAdapter) -> bool:
    """Tokens that tile the text are located by their lengths, where and when that is needed."""
    matches = isinstance(merger, MatchesSpans) and merger.matches_spans
    return matches and not facts_of(tokenizer).tiles


def planned(
    splitter: Splitter, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter
) -> Plan:
    if isinstance(splitter, Explains):
        return splitter.explain(text, chunks, tokenizer)
    return Plan("serial" if len(chunks) == 1 else f"{len(chunks):,} chunks", "")


def closed(
    text: str,
    tokenizer: TokenizerAdapter,
    ids: IdArray,
    seams: tuple[Seam, ...],
    report: Report,
    clock: Clock,
    finisher: Finishes | None,
) -> Encoding:
    final = ids if finisher is None else finisher.finish(ids, text)
    clock.lap("convert")
    report = replace(report, seconds=clock.seconds)
    locate = partial(locate_final, text, tokenizer, ids, seams, finisher)
    return Encoding(frozen_ids(final), seams, report, locate)
