"""Encodes texts in worker processes, for tokenizers that hold the GIL."""

from __future__ import annotations

import contextlib
import os
import pickle
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from tokpar.contract.interfaces import HasSpec, TokenizerAdapter
from tokpar.errors import OptionError, WorkerError
from tokpar.executors.pipes import DeadWorkerError, WorkerProcess
from tokpar.executors.serial_executor import check_spans, encode_rows
from tokpar.executors.threads import deal_blocks
from tokpar.process.interrupts import is_foreign, raise_foreign
from tokpar.process.limits import worker_count
from tokpar.process.thread_pool import share
from tokpar.types import Rows

# Sending a block and getting its ids back costs about 200 us.
LEAST_BLOCK_CHARS = 32768
KEPT_TOKENIZERS = 4
Value = TypeVar("Value")
_tokens = count()


class ProcessExecutor:
    """Encodes texts in `workers` processes, which live from the first use until `close`.

    The executor is usable after `close`, and in a forked child. Tokenizers need `spec()`. Each
    worker builds each tokenizer once, and keeps the last few."""

    name = "processes"
    is_reusable = True
    """Texts may be encoded after `close`."""

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._crews: dict[int, _Crew] = {}
        self._specs: dict[int, _Spec] = {}

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text.

        Raises EngineError, WorkerError when a worker dies, OptionError for a tokenizer that cannot
        be built in a worker, LookupError if the tokenizer has no spans."""
        check_spans(tokenizer, spans)
        spec = self._spec_of(tokenizer)
        crew = self._crew()

        def encode_block(block: range) -> Rows:
            worker = crew.take()
            try:
                return worker.encode(spec, texts[block.start : block.stop], block.start, spans)
            except DeadWorkerError as error:
                length = sum(len(texts[row]) for row in block)
                raise WorkerError(str(error), 0, length, block.start) from error
            except BaseException as error:
                if is_foreign(error):  # so that nobody waits for the blocks of other workers
                    crew.kill()
                raise
            finally:
                crew.give_back(worker)

        try:
            blocks = deal_blocks(texts, self._workers, LEAST_BLOCK_CHARS)
            done = share(encode_block, blocks, self._workers)
        except BaseException as error:
            if is_foreign(error):
                self._crews.pop(os.getpid(), None)
                crew.kill()
            raise
        return Rows.concatenate(done)

    def close(self) -> None:
        """End the workers after their current block."""
        crew = self._crews.pop(os.getpid(), None)
        if crew is not None:
            crew.end()

    def __enter__(self) -> ProcessExecutor:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _crew(self) -> _Crew:
        known = self._crews.get(os.getpid())
        if known is not None:
            return known
        for process_id in [each for each in self._crews if each != os.getpid()]:
            with contextlib.suppress(KeyError):  # another thread was faster
                self._crews.pop(process_id).end()
        crew = self._crews.setdefault(os.getpid(), _Crew(self._workers))
        weakref.finalize(self, crew.end)  # also at the interpreter's exit
        return crew

    def _spec_of(self, tokenizer: TokenizerAdapter) -> _Spec:
        known = self._specs.get(id(tokenizer))
        if known is None:
            known = _Spec(tokenizer, next(_tokens), _pickle_spec(tokenizer))
            _remember(self._specs, id(tokenizer), known)
        return known


@dataclass(frozen=True)
class _Spec:
    """A tokenizer (kept, so that its `id` stays unique), its number, and its pickled spec."""

    tokenizer: TokenizerAdapter
    token: int
    spec_bytes: bytes


def _pickle_spec(tokenizer: TokenizerAdapter) -> bytes:
    if not isinstance(tokenizer, HasSpec):
        raise OptionError(
            f"executor 'processes' must build {tokenizer.name} again in its workers, and it has no "
            "spec(); use executor='threads' or 'serial', or 'native' if it has a batch call"
        )
    build, settings = tokenizer.spec()
    if getattr(build, "__module__", None) == "__main__":
        raise OptionError(
            f"spec() of {tokenizer.name} names {build!r} of the main script, which workers do not "
            "run; move it to a module they can import"
        )
    try:
        return pickle.dumps((build, dict(settings)))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise OptionError(f"spec() of {tokenizer.name} cannot be pickled: {error}") from error


@dataclass
class _Crew:
    """The workers of one executor in one process."""

    size: int
    process_id: int = field(default_factory=os.getpid)
    idle: list[_Worker] = field(default_factory=list)
    all: list[_Worker] = field(default_factory=list)
    is_killed: bool = False
    is_ended: bool = False

    def take(self) -> _Worker:
        """Returns an idle worker, or a new worker."""
        with contextlib.suppress(IndexError):
            return self.idle.pop()
        worker = _Worker()
        self.all.append(worker)
        if self.is_killed:
            worker.kill()
        return worker

    def give_back(self, worker: _Worker) -> None:
        if worker.alive and not self.is_ended and len(self.idle) < self.size:
            self.idle.append(worker)
        else:
            worker.end()
            with contextlib.suppress(ValueError):  # `end` may have emptied the list
                self.all.remove(worker)

    def end(self) -> None:
        """Let the workers end, those of running calls after their current block. A forked child
        forgets them, because they belong to the parent."""
        self.is_ended = True
        workers, self.all = self.all, []
        idle, self.idle = self.idle, []
        for worker in workers:
            if os.getpid() == self.process_id:
                worker.end()
            else:
                worker.abandon(idle=worker in idle)

    def kill(self) -> None:
        """End the workers now, even while they encode."""
        self.is_killed = True
        for worker in list(self.all):
            worker.stop_now()
        for worker in self.idle:
            worker.kill()


class _Worker(WorkerProcess):
    """A worker process that builds each tokenizer once, and encodes blocks of texts."""

    def __init__(self) -> None:
        super().__init__(_Tokenizers)
        self._has_tokenizer: dict[int, bool] = {}

    def encode(self, spec: _Spec, texts: Sequence[str], first: int, spans: bool) -> Rows:
        """Returns the rows of texts. `first`: the number of the first. Raises DeadWorkerError."""
        if spec.token not in self._has_tokenizer:
            self.send(("build", spec.token, spec.spec_bytes))
            self.receive()
            _remember(self._has_tokenizer, spec.token, True)
        self.send(("encode", spec.token, list(texts), first, spans))
        return Rows(*self.receive())


class _Tokenizers:
    """Answers the requests inside of a worker process."""

    def __init__(self) -> None:
        self._tokenizers: dict[int, TokenizerAdapter] = {}

    def __call__(self, request: tuple[Any, ...]) -> Any:
        if request[0] == "build":
            return _remember(self._tokenizers, request[1], _build_tokenizer(request[2]))
        _, token, texts, first, spans = request
        rows = encode_rows(texts, self._tokenizers[token], spans, first)
        return rows.ids, rows.offsets, rows.spans


def _build_tokenizer(spec_bytes: bytes) -> TokenizerAdapter:
    try:
        build, settings = pickle.loads(spec_bytes)
        tokenizer: TokenizerAdapter = build(**settings)
    except BaseException as error:
        raise_foreign(error)
        said = f"{type(error).__name__}: {error}"
        raise WorkerError(f"the tokenizer cannot be built in a worker process: {said}") from error
    return tokenizer


def _remember(values: dict[int, Value], key: int, value: Value) -> None:
    """Store a value, and evict the oldest values.

    Parent and worker do this in the same order, so both evict the same tokenizers."""
    values[key] = value
    while len(values) > KEPT_TOKENIZERS:
        del values[next(iter(values))]
