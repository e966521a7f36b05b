"""`check_executor`: one piece per chunk, in order, whatever fails and whoever asks at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from tokpar.errors import EngineError
from tokpar.executors.serial import SerialExecutor
from tokpar.interfaces import EncodesMany, Executor, Locates, TokenizerAdapter
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.testing.checks import Check, Complaint, Watch, named, outcome, require
from tokpar.testing.compare import pieces_differ
from tokpar.testing.doubles import FAILS, Letters
from tokpar.testing.pools import pools
from tokpar.testing.racing import at_once
from tokpar.types import Chunk, Piece

THREADS, CALLS, SECONDS = 3, 3, 0.0001
LONGER = 40
"""The first chunk of the joined texts has as many times the usual length, so that a pool that
gives pieces as they come gives it last."""


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
    contract with `tokenizer` and with one that fails.

    `texts`, `examples`, `watch`, `fail_fast`: as in `check_tokenizer`. An executor with a `close`
    is closed at the end, twice.
    """
    adapter = load(tokenizer)
    checks = executor_checks(executor, adapter)
    require(type(executor).__name__, checks, pools(adapter, texts, examples), watch, fail_fast)


def executor_checks(executor: Executor, tokenizer: TokenizerAdapter) -> Iterator[Check]:
    """All checks; `close` comes last."""
    contract = "map gives one piece per chunk, in order, each as encode of its slice alone"
    ids, spans = (
        partial(pieces, executor, tokenizer, False),
        partial(pieces, executor, tokenizer, True),
    )
    yield Check("map", contract, ids, together=True)
    if isinstance(tokenizer, (Locates, EncodesMany)):
        said = "with spans=True pieces have spans, UTF-8 bytes from the start of the chunk"
        yield Check("map: spans", said, spans, together=True)
    yield Check(
        "map: few chunks",
        "no chunk gives no piece, and one chunk one",
        partial(few_chunks, executor, tokenizer),
    )
    yield Check(
        "map: slices",
        "a chunk is [start, stop) of the text, with its overlap; two may be the same slice",
        partial(slices, executor, tokenizer),
    )
    yield Check(
        "map: errors",
        "the first error in the order of the chunks is raised again, as it is or as EngineError",
        partial(errors, executor),
        together=True,
    )
    yield Check(
        "map: after errors",
        "after an error the executor works as before",
        partial(after_errors, executor, tokenizer),
        together=True,
    )
    yield Check(
        "map: threads",
        "an executor may be used from several threads at once",
        partial(threads, executor),
        together=True,
        repeatable=False,
    )
    if hasattr(executor, "close"):
        yield Check(
            "close",
            "close may be called twice; map afterwards works, or raises RuntimeError",
            partial(close, executor, tokenizer),
            together=True,
            repeatable=False,
        )


def chunked(texts: Sequence[str]) -> tuple[str, list[Chunk]]:
    """One text of all, a chunk for each of them; the first is long."""
    parts = [" ".join(texts[:LONGER]), *texts]
    chunks, start = [], 0
    for part in parts:
        chunks.append(Chunk(start, start + len(part), start, start + len(part)))
        start += len(part)
    return "".join(parts), chunks


def pieces(
    executor: Executor, tokenizer: TokenizerAdapter, spans: bool, texts: Sequence[str]
) -> Complaint | None:
    text, chunks = chunked(texts)
    return mapped_wrong(executor, tokenizer, text, chunks, spans)


def mapped_wrong(
    executor: Executor,
    tokenizer: TokenizerAdapter,
    text: str,
    chunks: Sequence[Chunk],
    spans: bool = False,
) -> Complaint | None:
    """What is wrong with the pieces of these chunks: those of the serial executor are right."""
    parts = [text[chunk.start : chunk.stop] for chunk in chunks]
    expected = SerialExecutor().map(text, chunks, tokenizer, spans)
    got = executor.map(text, chunks, tokenizer, spans)
    if not isinstance(got, list) or not all(isinstance(piece, Piece) for piece in got):
        return Complaint("map gave something else", "a list of Piece", repr(got)[:200])
    return pieces_differ(expected, got, parts, tokenizer, spans)


def few_chunks(executor: Executor, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    whole = [Chunk(0, len(text), 0, len(text))]
    return mapped_wrong(executor, tokenizer, text, []) or mapped_wrong(
        executor, tokenizer, text, whole
    )


def slices(executor: Executor, tokenizer: TokenizerAdapter, text: str) -> Complaint | None:
    middle, length = len(text) // 2, len(text)
    left = Chunk(0, min(length, middle + 3), 0, middle)
    right = Chunk(max(0, middle - 2), length, middle, length)
    return mapped_wrong(executor, tokenizer, text, [left, left, right, left])


def errors(executor: Executor, texts: Sequence[str]) -> Complaint | None:
    """Two chunks fail; what is raised must be about the first of them."""
    parts = ["ab" * 50, f"first {FAILS}", *texts[:20], f"second {FAILS}", "cd"]
    text, chunks = chunked([part for part in parts if part])
    chunks = chunks[1:]
    got = outcome(lambda: executor.map(text, chunks, Letters(), False))
    expected = "EngineError or ValueError: cannot encode 'first \\x07'"
    if not isinstance(got, (EngineError, ValueError)):
        return Complaint("the error did not come through", expected, repr(got)[:200])
    if "'first " not in str(got):
        return Complaint("another error", expected, repr(got))
    return None


def after_errors(
    executor: Executor, tokenizer: TokenizerAdapter, texts: Sequence[str]
) -> Complaint | None:
    bad = [Chunk(0, 1, 0, 1)]
    for _ in range(3):
        outcome(lambda: executor.map(FAILS, bad, Letters(), False))
    return pieces(executor, tokenizer, False, texts)


def threads(executor: Executor, texts: Sequence[str]) -> Complaint | None:
    """Each thread with chunks of its own, several times."""
    tokenizer = Letters(SECONDS)
    usual = [text for text in texts if FAILS not in text]
    jobs = [chunked([*usual[n:], *usual[:n]]) for n in range(THREADS)]

    def work(number: int) -> list[list[Piece]]:
        return [executor.map(*jobs[number], tokenizer, False) for _ in range(CALLS)]

    for (text, chunks), results in zip(jobs, at_once(work, THREADS), strict=True):
        if isinstance(results, Exception):
            return Complaint(f"a thread raised {type(results).__name__}: {results}")
        parts = [text[chunk.start : chunk.stop] for chunk in chunks]
        expected = SerialExecutor().map(text, chunks, tokenizer, False)
        for got in results:
            wrong = pieces_differ(expected, got, parts, tokenizer, False)
            if wrong is not None:
                return named(wrong, f"with {THREADS} threads")
    return None


def close(
    executor: Executor, tokenizer: TokenizerAdapter, texts: Sequence[str]
) -> Complaint | None:
    assert hasattr(executor, "close")
    executor.close()
    executor.close()
    try:
        return named(pieces(executor, tokenizer, False, texts[:20]), "after close")
    except EngineError:
        raise
    except RuntimeError:
        return None
    finally:
        executor.close()
