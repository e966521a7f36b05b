"""Texts in worker processes, for tokenizers that hold the GIL.

A worker is a fresh interpreter that answers pickled requests over its standard streams: safe
after native pools were used, and no script needs an ``if __name__ == "__main__"`` guard for it.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from types import TracebackType
from typing import Any

from tokpar.errors import OptionError, WorkerError
from tokpar.executors.serial import PASSING, check_spans
from tokpar.executors.threads import ThreadPool, dealt
from tokpar.executors.workers import Failure, remember, worker_count
from tokpar.interfaces import HasSpec, TokenizerAdapter
from tokpar.types import Rows

# Sending a block and getting its ids back costs about 200 us.
LEAST_BLOCK_CHARS = 32768
SECONDS_TO_END = 5.0

# A Ctrl-C is for the parent, which then ends its workers.
_BOOTSTRAP = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from tokpar.executors.workers import serve
serve()
"""
_tokens = count()


class ProcessExecutor:
    """`workers` processes, started at first use, kept until `close`; usable again afterwards.

    After a fork the child starts workers of its own. For tokenizers with `spec()`, each of which
    is built once per worker; the last few are kept.
    """

    name = "processes"

    def __init__(self, workers: int | None = None) -> None:
        self._workers = worker_count(workers)
        self._threads = ThreadPool(self._workers)
        self._crews: dict[int, _Crew] = {}
        self._specs: dict[int, _Spec] = {}

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text. Raises EngineError, WorkerError when a worker dies, OptionError for a
        tokenizer that cannot be built in one; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)
        spec = self._spec_of(tokenizer)
        crew = self._crew()

        def encode_block(block: range) -> Rows:
            worker = crew.take()
            try:
                return worker.encode(spec, texts[block.start : block.stop], block.start, spans)
            except _DeadWorkerError as error:
                length = sum(len(texts[row]) for row in block)
                raise WorkerError(str(error), 0, length, block.start) from error
            finally:
                crew.give_back(worker)

        try:
            done = self._threads.run(encode_block, dealt(texts, self._workers, LEAST_BLOCK_CHARS))
        except PASSING:
            self._crews.pop(os.getpid(), None)
            crew.kill()
            raise
        return Rows.joined(done)

    def close(self) -> None:
        """End the workers, after what they are doing."""
        self._threads.close()
        crew = self._crews.pop(os.getpid(), None)
        if crew is not None:
            crew.end()

    def __enter__(self) -> ProcessExecutor:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
            known = _Spec(tokenizer, next(_tokens), _pickled_spec(tokenizer))
            remember(self._specs, id(tokenizer), known)
        return known


@dataclass(frozen=True)
class _Spec:
    """A tokenizer (kept, so that its id stays its own), a number for it, how to build it."""

    tokenizer: TokenizerAdapter
    token: int
    pickled: bytes


def _pickled_spec(tokenizer: TokenizerAdapter) -> bytes:
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
    killed: bool = False

    def take(self) -> _Worker:
        """An idle worker, or a new one."""
        with contextlib.suppress(IndexError):
            return self.idle.pop()
        worker = _Worker()
        self.all.append(worker)
        if self.killed:
            worker.kill()
        return worker

    def give_back(self, worker: _Worker) -> None:
        if worker.alive and len(self.idle) < self.size:
            self.idle.append(worker)
        else:
            worker.end()
            with contextlib.suppress(ValueError):  # `end` has emptied the list meanwhile
                self.all.remove(worker)

    def end(self) -> None:
        """Let the workers end. In a forked child: forget them, they are the parent's."""
        workers, self.all = self.all, []
        idle, self.idle = self.idle, []
        for worker in workers:
            if os.getpid() == self.process_id:
                worker.end()
            else:
                worker.abandon(idle=worker in idle)

    def kill(self) -> None:
        """End the workers now, whatever they do."""
        self.killed = True
        for worker in list(self.all):
            worker.stop_now()
        for worker in self.idle:
            worker.kill()


class _Worker:
    """A process that encodes; used by one thread at a time."""

    def __init__(self) -> None:
        self.alive = True
        self._known: dict[int, bool] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._greeted = False

    def encode(self, spec: _Spec, texts: Sequence[str], first: int, spans: bool) -> Rows:
        """Rows of texts, the first of which has this number. Raises _DeadWorkerError."""
        if spec.token not in self._known:
            self._ask("build", spec.token, spec.pickled)
            remember(self._known, spec.token, True)
        return Rows(*self._ask("encode", spec.token, list(texts), first, spans))

    def end(self) -> None:
        """Ask it to end, and wait."""
        if not self.alive:
            return
        with contextlib.suppress(OSError):
            self._send(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        self.kill()

    def kill(self) -> None:
        """End it now and close its streams."""
        self.alive = False
        self.stop_now()
        self._close()

    def stop_now(self) -> None:
        """End it now; whoever waits for a reply gets an end of file."""
        self._process.kill()
        self._process.wait()

    def abandon(self, idle: bool) -> None:
        """Let go of a process that is the parent's. Streams that were in use when this process was
        forked are left alone: they hold half a message, or a lock."""
        self.alive = False
        self._process.returncode = 0
        if idle:
            self._close()

    def _close(self) -> None:
        for stream in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                stream.close()

    def _ask(self, *request: Any) -> Any:
        try:
            self._send(request)
            reply = pickle.load(self._replies)
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self.kill()
            code = self._process.returncode
            raise _DeadWorkerError(f"a worker process died (exit code {code})") from error
        except BaseException:
            self.kill()
            raise
        if isinstance(reply, Failure):
            raise reply.error from _RemoteError(reply.trace)
        return reply

    def _send(self, message: Any) -> None:
        if not self._greeted:
            pickle.dump(sys.path, self._requests)
            self._greeted = True
        pickle.dump(message, self._requests)
        self._requests.flush()


class _DeadWorkerError(Exception):
    """The process on the other side is gone."""


class _RemoteError(Exception):
    """The traceback of an error in a worker, as text: the cause shown for the error itself."""
