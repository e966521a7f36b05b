"""`check_executor`: an executor returns one row per text, in order, also after errors and when
several threads call it at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tokpar.contract.interfaces import EncodesMany, Executor, Locates, TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.executors.serial_executor import encode_piece
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.pipeline.plan import executor_name_of
from tokpar.types import Rows
from tokpar_conformance.checks import (
    Check,
    Complaint,
    Watch,
    at_once,
    check,
    outcome,
    prefix_complaint,
    require,
)
from tokpar_conformance.compare import rows_differ
from tokpar_conformance.pools import FAILS, Letters, pools

THREADS, CALLS, SECONDS = 3, 3, 0.0001
LONGER = 40
"""The first text joins so many texts. It takes longest, so a pool that returned rows in the order
in which they are ready would return it last."""


def check_executor(
    executor: Executor,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    texts: Sequence[str] = (),
    examples: int | None = None,
    watch: Watch | None = None,
    fail_fast: bool = False,
) -> None:
    """Raise ConformanceError, which names each failed check, unless the executor keeps its
    contract. The checks use `tokenizer`, and a tokenizer that fails on some texts.

    `texts`, `examples`, `watch`, `fail_fast`: as in `check_tokenizer`. If the executor has a
    `close`, the last check calls it several times."""
    adapter = load(tokenizer)
    checks = executor_checks(executor, adapter)
    require(type(executor).__name__, checks, pools(adapter, texts, examples), watch, fail_fast)


def executor_checks(executor: Executor, tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """All checks of an executor; the check of `close` comes last."""
    yield rows.of(executor, tokenizer, False)
    if isinstance(tokenizer, (Locates, EncodesMany)):
        said = "with spans=True rows have spans, UTF-8 bytes from the start of each text"
        yield rows.of(executor, tokenizer, True, name="map: spans", contract=said)
    yield few_texts.of(executor, tokenizer)
    yield equal_texts.of(executor, tokenizer)
    yield errors.of(executor)
    yield after_errors.of(executor, tokenizer)
    yield threads.of(executor)
    yield used_name.of(executor, tokenizer)
    shut = getattr(executor, "close", None)
    if shut is not None:
        yield close.of(executor, shut, tokenizer)


def slices(texts: Sequence[str]) -> list[str]:
    """The texts, after one long text that joins the first `LONGER` of them."""
    return [" ".join(texts[:LONGER]), *texts]


@check("map", takes_all_texts=True)
def rows(
    executor: Executor, tokenizer: TokenizerAdapter, spans: bool, texts: Sequence[str]
) -> Complaint | None:
    """map gives Rows, one row per text, in order, each as encode of it alone"""
    return mapped_wrong(executor, tokenizer, slices(texts), spans)


def mapped_wrong(
    executor: Executor, tokenizer: TokenizerAdapter, texts: Sequence[str], spans: bool = False
) -> Complaint | None:
    """Compare the executor's rows of these texts with the rows of one call per text."""
    expected = [encode_piece(text, tokenizer, spans) for text in texts]
    got = executor.map(texts, tokenizer, spans)
    return rows_differ(expected, got, texts, tokenizer, spans)


@check("map: few texts")
def few_texts(executor: Executor, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """no text gives no row, and one text one"""
    return mapped_wrong(executor, tokenizer, []) or mapped_wrong(executor, tokenizer, [text])


@check("map: equal texts")
def equal_texts(executor: Executor, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    """several texts may be equal, or parts of one another"""
    middle = len(text) // 2
    left, right = text[: middle + 3], text[max(0, middle - 2) :]
    return mapped_wrong(executor, tokenizer, [left, left, right, left])


@check("map: errors", takes_all_texts=True)
def errors(executor: Executor, texts: Sequence[str]) -> Complaint | None:
    """the first error in the order of the texts is raised as an EngineError that names the row,
    and a place in it"""
    usual = [text for text in texts if FAILS not in text][:20]
    parts = ["ab" * 50, *usual, f"first {FAILS}", *usual, f"second {FAILS}", "cd"]
    row = 1 + len(usual)
    got = outcome(lambda: executor.map(parts, Letters(), False))
    expected = f"EngineError in row {row}: cannot encode 'first \\x07'"
    if not isinstance(got, EngineError):
        return Complaint("the error did not come through", expected, repr(got)[:200])
    if "'first " not in str(got):
        return Complaint("another error", expected, repr(got))
    if got.row != row:
        return Complaint("another row", expected, f"row {got.row}")
    if 0 <= got.start < got.stop <= len(parts[row]):
        return None
    place = f"a place in its {len(parts[row])} code points"
    return Complaint("no place in the text", place, f"[{got.start}, {got.stop})")


@check("map: after errors", takes_all_texts=True)
def after_errors(
    executor: Executor, tokenizer: TokenizerAdapter, texts: Sequence[str]
) -> Complaint | None:
    """after an error the executor works as before"""
    for _ in range(3):
        outcome(lambda: executor.map([FAILS], Letters(), False))
    return mapped_wrong(executor, tokenizer, slices(texts))


@check("map: threads", takes_all_texts=True, repeatable=False)
def threads(executor: Executor, texts: Sequence[str]) -> Complaint | None:
    """an executor may be used from several threads at once"""
    tokenizer = Letters(SECONDS)
    usual = [text for text in texts if FAILS not in text]
    jobs = [slices([*usual[n:], *usual[:n]]) for n in range(THREADS)]

    def work(number: int) -> list[Rows]:
        return [executor.map(jobs[number], tokenizer, False) for _ in range(CALLS)]

    for own, results in zip(jobs, at_once(work, THREADS), strict=True):
        if isinstance(results, Exception):
            return Complaint(f"a thread raised {type(results).__name__}: {results}")
        expected = [encode_piece(text, Letters(), False) for text in own]
        for got in results:
            wrong = rows_differ(expected, got, own, tokenizer)
            if wrong is not None:
                return prefix_complaint(wrong, f"with {THREADS} threads")
    return None


@check("used_name", takes_all_texts=True)
def used_name(
    executor: Executor, tokenizer: TokenizerAdapter, texts: Sequence[str]
) -> Complaint | None:
    """used_name is a str, the name of the executor that the last call was given to"""
    executor.map(texts[:1], tokenizer, False)
    name: object = executor_name_of(executor)
    if isinstance(name, str) and name:
        return None
    return Complaint("used_name is no name", "a str", repr(name))


@check("close", takes_all_texts=True, repeatable=False)
def close(
    executor: Executor,
    shut: Callable[[], object],
    tokenizer: TokenizerAdapter,
    texts: Sequence[str],
) -> Complaint | None:
    """close may be called twice; map afterwards works, or raises RuntimeError"""
    shut()
    shut()
    try:
        return prefix_complaint(
            mapped_wrong(executor, tokenizer, slices(texts[:20])), "after close"
        )
    except EngineError:
        raise
    except RuntimeError:
        return None
    finally:
        shut()
