"""The public functions and the reusable `Encoder`: names become objects for the pipeline."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

from tokpar import pipeline
from tokpar.certificate.report import CheckReport
from tokpar.errors import LossyError, OptionError
from tokpar.executors.workers import worker_count
from tokpar.interfaces import (
    Decodes,
    EncodesMany,
    EncodesWhole,
    Executor,
    FinishesBatch,
    HasSpec,
    Plan,
    Refreshes,
    ReleasesGil,
    RemembersSegments,
    Strategy,
    TokenizerAdapter,
    agreement_of,
    facts_of,
)
from tokpar.kernels import IdArray, SpanArray, frozen_ids
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.methods.sizes import sizes_for
from tokpar.registry import PluginRecord, StrategyRecord, build_strategy, registry
from tokpar.spans import finished_spans, numbered
from tokpar.types import Encoding

if TYPE_CHECKING:
    from tokpar.views.hf import HfView
    from tokpar.views.tiktoken import TiktokenView

MEMO_WORKERS, MEMO_CHARS = 3, 65536
"""With more workers, texts of so many code points go to the engine's batch call. For each core that
was 1.5 to 2.5 times as fast as the own call (8 MB of English on 2 cores), the memory 3 times with
new words and 9 times with known ones, whatever the cores. More than 2 were not measured."""
_TOO_SHORT = Plan("serial", "the text is too short for splitting to pay")


class Encoder:
    """A tokenizer, a strategy and an executor, kept for many texts.

    Thread-safe; survives a fork; a context manager, because it may hold a pool of workers.
    `tokenizer`: anything `load` takes. `options` belong to the strategy.
    """

    def __init__(
        self,
        tokenizer: object = DEFAULT_TOKENIZER,
        *,
        strategy: str = "auto",
        executor: str | Executor = "auto",
        workers: int | None = None,
        allow_approximate: bool = False,
        **options: Any,
    ) -> None:
        self._workers = worker_count(workers)
        record = registry().strategy(strategy)
        if not allow_approximate:
            _require_lossless(record, options)
        self._strategy = record.name
        self._splitter, self._merger = build_strategy(record, options)
        self._together = not allow_approximate and record.name != "serial"
        self._executors: dict[str, Executor] = {}
        self._lock = threading.Lock()
        self._given_executor = executor if not isinstance(executor, str) else None
        self._executor_name = executor if isinstance(executor, str) else ""
        self._check_executor()
        self._tokenizer = load(tokenizer)
        tuned = record.lossless and not options
        self._smallest_split = sizes_for(self._tokenizer).smallest_split if tuned else 0
        self._whole = _never_split(self._tokenizer) if tuned else None
        own = self._tokenizer
        self._own_call = own.encode_whole if isinstance(own, EncodesWhole) else None
        self._agreement = agreement_of(own)

    @property
    def tokenizer(self) -> TokenizerAdapter:
        """The adapter in use, as the caller's tokenizer is now."""
        if isinstance(self._tokenizer, Refreshes):
            self._tokenizer = self._tokenizer.refreshed()
        return self._tokenizer

    def encode(self, text: str) -> Encoding:
        """The ids of `text`, special tokens, truncation and padding as the tokenizer's own call."""
        return self._encode(text, finish=True)

    def encode_batch(self, texts: Iterable[str]) -> list[Encoding]:
        """One encoding per text, padded as the tokenizer's own batch call pads them."""
        rows = _texts(texts)
        tokenizer = self.tokenizer
        if not isinstance(tokenizer, FinishesBatch):
            return self._encode_all(rows, tokenizer, finish=True)
        unfinished = self._encode_all(rows, tokenizer, finish=False)
        final = tokenizer.finish_batch([encoding.ids for encoding in unfinished], rows)
        lengths = [len(encoding.ids) for encoding in unfinished]
        return [
            replace(
                encoding,
                ids=frozen_ids(ids),
                locate=partial(_locate_in_batch, encoding, tokenizer, lengths, rows, i),
                _spans=[],
            )
            for i, (encoding, ids) in enumerate(zip(unfinished, final, strict=True))
        ]

    def stream(self, chunks: Iterable[str]) -> Iterator[IdArray]:
        """The ids of the text that `chunks` make up, in arrays, each as soon as it is final; joined
        they are those of `encode`. See docs/streaming.md for what comes how soon."""
        from tokpar import streaming

        return streaming.stream(chunks, self.tokenizer, lambda text: self.encode(text).ids)

    def count(self, text: str) -> int:
        """How many ids `encode` gives."""
        return len(self.encode(text))

    def decode(self, ids: Sequence[int]) -> str:
        """The tokenizer's own decoding. Raises LookupError if it has none."""
        tokenizer = self.tokenizer
        if not isinstance(tokenizer, Decodes):
            raise LookupError(f"{tokenizer.name} cannot decode")
        return tokenizer.decode(ids)

    def as_hf(self) -> HfView:
        """This encoder behind the calls of a transformers fast tokenizer (docs/views.md). Raises
        OptionError for another tokenizer than one of transformers or `tokenizers`."""
        from tokpar.views import hf

        return hf.view(
            lambda: self.tokenizer, partial(self._split, finish=False), self._smallest_split
        )

    def as_tiktoken(self) -> TiktokenView:
        """This encoder behind the calls of a tiktoken.Encoding (docs/views.md). Raises OptionError
        for another tokenizer than one of tiktoken."""
        from tokpar.views import tiktoken

        return tiktoken.view(self.tokenizer, self._split, self._smallest_split)

    def close(self) -> None:
        """Shut down the pools this encoder opened; it can be used again afterwards."""
        with self._lock:
            executors, self._executors = self._executors, {}
        for executor in executors.values():
            if hasattr(executor, "close"):
                executor.close()

    def __enter__(self) -> Encoder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _encode_all(
        self, texts: Sequence[str], tokenizer: TokenizerAdapter, finish: bool
    ) -> list[Encoding]:
        """Chunks of all texts together, except for strategies whose chunks are not what they
        promise to be (approximate), or that promise one call for each text (serial)."""
        if len(texts) < 2 or not self._together:
            return [self._encode(text, finish) for text in texts]
        from tokpar import batching

        executor = self._executor_for(tokenizer, sum(map(len, texts)))
        batch = batching.Batch(
            tokenizer, self._splitter, executor, self._merger, self._strategy, finish
        )
        return batch.encode(texts)

    def _encode(self, text: str, finish: bool) -> Encoding:
        if not isinstance(text, str):
            raise OptionError(f"text must be a str, got {type(text).__name__}")
        if len(text) < self._smallest_split:
            return self._in_one_call(text, finish, _TOO_SHORT)
        if self._whole is not None:
            return self._in_one_call(text, finish, self._whole)
        return self._split(text, self.tokenizer, finish)

    def _split(self, text: str, tokenizer: TokenizerAdapter, finish: bool = True) -> Encoding:
        return pipeline.encode(
            text,
            tokenizer,
            self._splitter,
            self._executor_for(tokenizer, len(text)),
            self._merger,
            strategy=self._strategy,
            finish=finish,
        )

    def _in_one_call(self, text: str, finish: bool, plan: Plan) -> Encoding:
        """The caller's own object is asked where the adapter can, so that nothing need be
        refreshed; everything here is counted in microseconds."""
        if finish and self._own_call is not None:
            return pipeline.encode_whole(
                text,
                self._tokenizer,
                self._own_call,
                self._strategy,
                plan,
                self._agreement,
            )
        return pipeline.encode_serial(
            text,
            self.tokenizer,
            strategy=self._strategy,
            plan=plan,
            finish=finish,
            agreement=self._agreement,
        )

    def _check_executor(self) -> None:
        if self._given_executor is not None:
            if not callable(getattr(self._given_executor, "map", None)):
                raise OptionError(
                    f"executor must be a name or an object with a map method, "
                    f"got {type(self._given_executor).__name__}"
                )
        elif self._executor_name != "auto":
            registry().executor_kind(self._executor_name)

    def _executor_for(self, tokenizer: TokenizerAdapter, length: int) -> Executor:
        if self._given_executor is not None:
            return self._given_executor
        name = self._executor_name
        if name == "auto":
            name = fitting_executor(tokenizer, length, self._workers)
        with self._lock:
            if name not in self._executors:
                self._executors[name] = registry().executor_kind(name).build(self._workers)
            return self._executors[name]


def _require_lossless(record: Strategy, options: Mapping[str, Any]) -> None:
    chosen = [
        f"{name}={value!r}" for name, value in record.approximate_if if options.get(name) == value
    ]
    if record.lossless and not chosen:
        return
    what = " with ".join([f"strategy {record.name!r}", *chosen])
    use = f"strategy={record.name!r} without {chosen[0]}" if record.lossless else "strategy='auto'"
    raise LossyError(
        f"{what} is approximate: its ids can differ from the serial ones; use {use} for the exact "
        "ids, or pass allow_approximate=True"
    )


def _never_split(tokenizer: TokenizerAdapter) -> Plan | None:
    """The plan for every text of a tokenizer that cannot change and of which nothing is proved: one
    call, and so nothing else that takes time for each character of a text."""
    why = facts_of(tokenizer).unprovable
    if why is None or isinstance(tokenizer, Refreshes):
        return None
    return Plan("serial", why)


def fitting_executor(tokenizer: TokenizerAdapter, length: int, workers: int) -> str:
    """The executor that `auto` takes for a text of `length` code points."""
    remembers = isinstance(tokenizer, RemembersSegments) and tokenizer.segments is not None
    if remembers and (workers <= MEMO_WORKERS or length < MEMO_CHARS):
        return "memo"
    if isinstance(tokenizer, EncodesMany):
        return "native"
    if isinstance(tokenizer, ReleasesGil):
        return "threads"
    if isinstance(tokenizer, HasSpec) and length >= sizes_for(tokenizer).smallest_split:
        return "processes"
    return "serial"


def _texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise OptionError("encode_batch takes several texts, got one str; use encode for one text")
    rows = list(texts)
    for text in rows:
        if not isinstance(text, str):
            raise OptionError(f"text must be a str, got {type(text).__name__}")
    return rows


def _locate_in_batch(
    encoding: Encoding,
    tokenizer: FinishesBatch,
    lengths: Sequence[int],
    texts: Sequence[str],
    row: int,
) -> SpanArray:
    origins = tokenizer.finish_batch([numbered(n) for n in lengths], texts)
    return finished_spans(encoding.spans, origins[row])


def encode(
    text: str,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    strategy: str = "auto",
    executor: str | Executor = "auto",
    workers: int | None = None,
    allow_approximate: bool = False,
    **options: Any,
) -> Encoding:
    """The ids of `text`, equal to the tokenizer's own serial call. Opens and closes its own pools;
    for many texts keep an `Encoder`."""
    with Encoder(
        tokenizer,
        strategy=strategy,
        executor=executor,
        workers=workers,
        allow_approximate=allow_approximate,
        **options,
    ) as encoder:
        return encoder.encode(text)


def stream(chunks: Iterable[str], tokenizer: object = DEFAULT_TOKENIZER) -> Iterator[IdArray]:
    """The ids of a text that arrives in chunks: uint32 arrays, none empty, each given as soon as
    nothing that follows can change it; joined they are those of `encode`. A chunk is asked for when
    ids are. Raises OptionError for one that is no str, and else what `encode` raises."""
    return Encoder(tokenizer).stream(chunks)


def check(
    encoding: Any, text: str, tokenizer: object = DEFAULT_TOKENIZER, *, full: bool = False
) -> CheckReport:
    """Re-derive every seam of `encoding` independently of how it was found; `full=True` also
    compares with the serial encode."""
    from tokpar.certificate import checker

    return checker.check(encoding, text, load(tokenizer), full)


def strategies() -> list[StrategyRecord]:
    """All registered strategies: name, lossless, source, conditions, owner, options."""
    return registry().strategies()


def plugins() -> list[PluginRecord]:
    """All plugins, the built-in ones included, and what is wrong with those that did not load."""
    return registry().plugins()
