"""Encodes texts by the engine's own batch call, which releases the GIL and uses its own threads.

If the batch call returns an object per token, texts go in waves, two at a time: the engine encodes
one wave while another Python thread turns the other wave into arrays.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import partial

import numpy as np

from tokpar.contract.adapter import front_of, traits_of
from tokpar.contract.interfaces import EncodesMany, TokenizerAdapter
from tokpar.errors import EngineError, OptionError
from tokpar.executors.serial_executor import engine_error, only
from tokpar.executors.threads import LEAST_BLOCK_CHARS, ThreadExecutor, blocks
from tokpar.process.interrupts import raise_foreign
from tokpar.process.limits import cpu_count, worker_count
from tokpar.process.thread_pool import share
from tokpar.types import Rows

WAVE_CHARS_PER_WORKER = 262144
WAVES_AT_A_TIME = 2


class NativeExecutor:
    """Encodes by the adapter's `encode_many`, whose engine decides how many threads it uses.

    With fewer `workers` than CPUs, `workers` Python threads give the engine one text at a time."""

    name = "native"

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._single = self._workers < cpu_count()

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; OptionError without `encode_many`."""
        if not isinstance(tokenizer, EncodesMany):
            raise OptionError(
                f"executor 'native' needs a batch call, which {tokenizer.name} does not have; "
                "use executor='threads', 'processes' or 'serial'"
            )
        encode_wave = partial(_encode_wave, texts, tokenizer, spans)
        if not traits_of(tokenizer).returns_objects and not self._single:
            return encode_wave(range(len(texts)))
        # A wave keeps every worker busy, but has at most a quarter of a long text.
        most = min(WAVE_CHARS_PER_WORKER * self._workers, sum(map(len, texts)) // 4)
        waves = blocks(texts, 1 if self._single else max(WAVE_CHARS_PER_WORKER, most))
        threads = self._workers if self._single else WAVES_AT_A_TIME
        return Rows.concatenate(share(encode_wave, waves, threads))


class CachedExecutor:
    """Encodes texts by the compiled call of the tokenizer. If the call leaves one of them to the
    engine, all go through the tokenizer's batch call, or through threads if there is none."""

    name = "memo"

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._native, self._threads = NativeExecutor(workers), ThreadExecutor(workers)
        self.used_name = self._native.name
        self._of_thread = threading.local()

    @property
    def answered_by_call(self) -> bool:
        """True if the compiled call encoded all texts of the last `map` of this thread."""
        return bool(getattr(self._of_thread, "answered_by_call", False))

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; LookupError if there can be no spans."""
        front = None if spans else front_of(tokenizer, self._workers)
        self._of_thread.answered_by_call = False
        found = None if front is None else front.many(texts)
        if found is not None and all(found[1]):
            self._of_thread.answered_by_call, self.used_name = True, self.name
            rows: Rows = found[0]
            return rows
        inner = self._native if self._has_batch(texts, tokenizer) else self._threads
        self.used_name = inner.name
        return inner.map(texts, tokenizer, spans)

    @staticmethod
    def _has_batch(texts: Sequence[str], tokenizer: TokenizerAdapter) -> bool:
        """True if the batch call should be used. One call per text is faster if texts are long."""
        traits = traits_of(tokenizer)
        if (
            not isinstance(tokenizer, EncodesMany)
            or traits.returns_objects
            or not traits.releases_gil
        ):
            return isinstance(tokenizer, EncodesMany)
        lengths = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
        return bool(2 * lengths[lengths >= LEAST_BLOCK_CHARS].sum() < lengths.sum())


def _encode_wave(texts: Sequence[str], engine: EncodesMany, spans: bool, wave: range) -> Rows:
    part = texts if len(wave) == len(texts) else texts[wave.start : wave.stop]
    try:
        rows = engine.encode_many(part, spans)
        if len(rows) != len(part):
            raise RuntimeError(f"encode_many gave {len(rows)} rows for {len(part)} texts")
    except BaseException as error:
        raise_foreign(error)
        if spans and isinstance(error, LookupError):
            raise
        raise _guilty(texts, wave, engine, spans, error) from error
    return rows


def _guilty(
    texts: Sequence[str], wave: range, engine: EncodesMany, spans: bool, error: BaseException
) -> EngineError:
    """Returns the error of the first text of the wave that also fails alone, else `error`."""
    for row in wave:
        try:
            only(engine.encode_many([texts[row]], spans))
        except BaseException as own_error:  # a panic is no Exception
            raise_foreign(own_error)
            return engine_error(own_error, len(texts[row]), row)
    return engine_error(error, sum(len(texts[row]) for row in wave), wave.start)
