"""Worker processes that answer pickled requests over their standard streams.

Each worker is a fresh interpreter. It is safe after native thread pools were used, and needs no
``if __name__ == "__main__"`` guard. A worker ends when its parent is gone, because the worker's
input then ends."""

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
from tokpar.process.interrupts import raise_foreign

SECONDS_TO_END = 5.0

# Workers ignore Ctrl-C. The parent handles Ctrl-C and then ends its workers.
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
    """A process that answers requests in order. Only one thread may use it at a time.

    `make`: a picklable function, which makes the function that answers requests in the process."""

    def __init__(self, make: Callable[[], Callable[[Any], Any]]) -> None:
        self.alive = True
        self._process = subprocess.Popen(
            [sys.executable, "-c", _BOOTSTRAP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C never reaches the process, not even while it starts: POSIX, then Windows
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._replies = self._process.stdin, self._process.stdout
        self._greeting: tuple[object, ...] = (sys.path, make)

    def send(self, request: object) -> None:
        """Send a request; None ends the process. DeadWorkerError if the process is gone."""
        with self._whole_message():
            for message in (*self._greeting, request):
                pickle.dump(message, self._requests, pickle.HIGHEST_PROTOCOL)
            self._requests.flush()
        self._greeting = ()

    def receive(self) -> Any:
        """Returns the next answer. Raises the worker's error; DeadWorkerError if it is gone."""
        with self._whole_message():
            reply = pickle.load(self._replies)
        if isinstance(reply, _Failure):
            raise reply.error from _RemoteError(reply.trace)
        return reply

    def stop_now(self) -> None:
        """End the process now. A thread that waits for a reply gets an end of file."""
        self._process.kill()
        self._process.wait()

    def kill(self) -> None:
        """End the process now and close its streams."""
        self.alive = False
        self.stop_now()
        self._close()

    def end(self) -> None:
        """Ask the process to end, and wait until it ends."""
        if not self.alive:
            return
        with contextlib.suppress(DeadWorkerError):
            self.send(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(SECONDS_TO_END)
        self.kill()

    def abandon(self, idle: bool) -> None:
        """Forget a process of the parent, in a forked child.

        Only idle streams are closed: streams in use at the fork hold half a message."""
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
        """End the process if the block fails, because a half-read message cannot be continued."""
        try:
            yield
        except BaseException as error:
            self.kill()
            raise_foreign(error)
            if not isinstance(error, (OSError, EOFError, pickle.UnpicklingError)):
                raise
            code = self._process.returncode
            raise DeadWorkerError(f"a worker process died (exit code {code})") from error


class DeadWorkerError(WorkerError):
    """The worker process is gone."""


class _RemoteError(Exception):
    """The traceback of a worker's error, as text. It is shown as the cause of the error."""


@dataclass(frozen=True)
class _Failure:
    """A reply with the error of a request."""

    error: Exception
    trace: str


def serve() -> None:
    """Answer the requests on standard input until None or the end. A worker runs this function."""
    requests = sys.stdin.buffer
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # the output of a tokenizer must not mix with the replies
    with contextlib.suppress(EOFError, OSError):
        answer = pickle.load(requests)()
        while (request := pickle.load(requests)) is not None:
            pickle.dump(_reply(answer, request), replies, pickle.HIGHEST_PROTOCOL)
            replies.flush()


def _reply(answer: Callable[[Any], Any], request: object) -> Any:
    try:
        return answer(request)
    except LookupError as error:  # a subclass may not be picklable
        return _Failure(LookupError(str(error)), traceback.format_exc())
    except (TokparError, OSError) as error:
        return _Failure(error, traceback.format_exc())
