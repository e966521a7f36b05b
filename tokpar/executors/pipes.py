"""Processes that answer pickled requests over their standard streams, each a fresh interpreter:
safe after native pools were used, and without an ``if __name__ == "__main__"`` guard. When its
parent is gone, its input ends, and so does it."""

import contextlib
import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tokpar.errors import TokparError, WorkerError

SECONDS_TO_END = 5.0

# A Ctrl-C is for the parent, which then ends its workers.
_BOOTSTRAP = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
import pickle, sys
try:
    sys.path[:] = pickle.load(sys.stdin.buffer)
except EOFError:
    sys.exit()
from tokpar.executors.pipes import serve
serve()
"""


class WorkerProcess:
    """A process that answers requests in their order; used by one thread at a time.

    `make`: a picklable call that makes, in the process, what answers them."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        self.alive = True
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,  # out of the reach of a Ctrl-C even in its first moments
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._greeting: tuple[object, ...] = (sys.path, make)

    def send(self, request: object) -> None:
        """One more request; None ends the process. DeadWorkerError if it is gone."""
        with self._whole_message():
            for message in (*self._greeting, request):
                pickle.dump(message, self._requests, pickle.HIGHEST_PROTOCOL)
            self._requests.flush()
        self._greeting = ()

    def receive(self) -> Any:
        """The next answer. Raises what the worker raised; DeadWorkerError if it is gone."""
        with self._whole_message():
            reply = pickle.load(self._replies)
        if isinstance(reply, _Failure):
            raise reply.error from _RemoteError(reply.trace)
        return reply

    def stop_now(self) -> None:
        """End it now; whoever waits for a reply gets an end of file."""
        self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """End it now and close its streams."""
        self.alive = False
        self.stop_now()
        self._close()

    def end(self) -> None:
        """Ask it to end, and wait for it."""
        if not self.alive:
            return
        with contextlib.suppress(DeadWorkerError):
            self.send(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        self.kill()

    def abandon(self, idle: bool) -> None:
        """Let go of the parent's process. Streams in use at the fork hold half a message."""
        self.alive = False
        self._process.returncode = 0
        if idle:
            self._close()

    def _close(self) -> None:
        for stream in (self._requests, self._replies):
            with contextlib.suppress(OSError):
                stream.close()

    @contextlib.contextmanager
    def _whole_message(self) -> Iterator[None]:
        """After a part of a message nothing can be understood: then the process ends."""
        try:
            yield
        except BaseException as error:
            self.kill()
            if not isinstance(error, (OSError, EOFError, pickle.UnpicklingError)):
                raise
            code = self._process.returncode
            raise DeadWorkerError(f"a worker process died (exit code {code})") from error


class DeadWorkerError(WorkerError):
    """The process on the other side is gone."""


class _RemoteError(Exception):
    """The traceback of an error in a worker, as text: the cause shown for the error itself."""


@dataclass(frozen=True)
class _Failure:
    """A reply that is an error."""

    error: Exception
    trace: str


def serve() -> None:
    """Answer the requests on standard input until None or the end; what runs in a worker."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a tokenizer prints must not get between the replies
    with contextlib.suppress(EOFError, OSError):
        answer = pickle.load(requests)()
        while (request := pickle.load(requests)) is not None:
            pickle.dump(_reply(answer, request), replies, pickle.HIGHEST_PROTOCOL)
            replies.flush()


def _reply(answer: Callable[[Any], Any], request: object) -> Any:
    try:
        return answer(request)
    except LookupError as error:  # a kind of it may not be picklable
        return _Failure(LookupError(str(error)), traceback.format_exc())
    except (TokparError, OSError) as error:
        return _Failure(error, traceback.format_exc())
