"""Texts through an engine's own batch call, which releases the GIL and uses threads of its own.

Where it returns bulky objects, in waves, two at a time: while the engine works on one, another
Python thread turns the other into arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from tokpar.errors import EngineError, OptionError
from tokpar.executors.serial import PASSING, engine_error, only
from tokpar.executors.threads import Pooled, blocks
from tokpar.interfaces import Divided, EncodesMany, Remembers, TokenizerAdapter, facts_of
from tokpar.kernels import IdArray
from tokpar.limits import cpu_count
from tokpar.types import Rows

WAVE_CHARS_PER_WORKER = 262144
WAVES_AT_A_TIME = 2


class NativeExecutor(Pooled):
    """For adapters with `encode_many`, whose engine decides how many threads it uses; for fewer
    `workers` than CPUs it is given single texts from so many threads."""

    name = "native"

    def __init__(self, workers: int | None = None) -> None:
        super().__init__(workers)
        self._single = self._workers < cpu_count()
        if not self._single:
            self._threads = WAVES_AT_A_TIME

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text. Raises EngineError; OptionError without `encode_many`."""
        if not isinstance(tokenizer, EncodesMany):
            raise OptionError(
                f"executor 'native' needs a batch call, which {tokenizer.name} does not have; "
                "use executor='threads', 'processes' or 'serial'"
            )
        encode_wave = partial(_encode_wave, texts, tokenizer, spans)
        if not facts_of(tokenizer).bulky and not self._single:
            return encode_wave(range(len(texts)))
        # Enough to keep every worker busy, but no more than a quarter of a long text.
        most = min(WAVE_CHARS_PER_WORKER * self._workers, sum(map(len, texts)) // 4)
        waves = blocks(texts, 1 if self._single else max(WAVE_CHARS_PER_WORKER, most))
        return Rows.joined(self.run(encode_wave, waves))


class MemoExecutor(NativeExecutor):
    """Texts that may be cut at every space go through the memory of a tokenizer that remembers what
    lies between; all others, and those for which that does not pay, through its batch call."""

    name = "memo"
    undivided = NativeExecutor.name

    def divide(
        self, texts: Sequence[str], divisible: Sequence[bool], tokenizer: TokenizerAdapter
    ) -> Divided:
        """One row per text, and which of them were divided. Raises as `map` does."""
        found: dict[int, IdArray] = {}
        if isinstance(tokenizer, Remembers) and tokenizer.remembers:
            numbers = [k for k, may in enumerate(divisible) if may]
            known = tokenizer.remembered([texts[k] for k in numbers], self._workers)
            found = {k: ids for k, ids in zip(numbers, known, strict=True) if ids is not None}
        left = [k for k in range(len(texts)) if k not in found]
        if left:
            rest = self.map([texts[k] for k in left], tokenizer, False)
            others = {k: rest[n] for n, k in enumerate(left)}
        rows = Rows.of(found[k] if k in found else others[k] for k in range(len(texts)))
        return rows, [k in found for k in range(len(texts))]


def _encode_wave(texts: Sequence[str], engine: EncodesMany, spans: bool, wave: range) -> Rows:
    part = texts if len(wave) == len(texts) else texts[wave.start : wave.stop]
    try:
        rows = engine.encode_many(part, spans)
        if len(rows) != len(part):
            raise RuntimeError(f"encode_many gave {len(rows)} rows for {len(part)} texts")
    except PASSING:
        raise
    except BaseException as error:
        raise _guilty(texts, wave, engine, spans, error) from error
    return rows


def _guilty(
    texts: Sequence[str], wave: range, engine: EncodesMany, spans: bool, error: BaseException
) -> EngineError:
    """The error of the first text of the wave that also fails alone, else that of the wave."""
    for row in wave:
        try:
            only(engine.encode_many([texts[row]], spans))
        except PASSING:  # noqa: PERF203  # one text after the other
            raise
        except BaseException as alone:
            return engine_error(alone, len(texts[row]), row)
    return engine_error(error, sum(len(texts[row]) for row in wave), wave.start)
