"""Runs a build on a Ray cluster: each part is one task of an actor, which keeps its tokenizer.

The inputs and the folder of the shards must have the same names on all machines. Only the driver
writes the journal, after the shards of a task are on the disk. If a worker dies, another one builds
its part: its machine may be gone, and Ray's own retries ask for it there until they are used up."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from tokpar.errors import OptionError, WorkerError
from tokpar.process.cached_property import cached_property
from tokpar.process.optional_packages import optional_package
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.durable_files import UNFINISHED, Disk
from tokpar_corpus.job import BuildJob, Request, prepare
from tokpar_corpus.journal import Entry, FinishedShards, Head
from tokpar_corpus.local import PartBuilder

RETRIES = 3
"""How often a part is built again whose worker died."""
PATIENCE = 60.0
"""How many seconds the cluster may take to end the workers."""
_LOOK = 5.0
"""Seconds after which a driver that waits for workers looks whether it is stopped."""
_Task = tuple[int, FinishedShards]
OnPart = Callable[[list[Entry], Progress], object]


class RayWorker:
    """A Ray actor that builds parts in a process of the cluster."""

    def __init__(self, request: Request, head: Head) -> None:
        self._request, self._head = request, head

    @cached_property
    def job(self) -> BuildJob:
        """The job, prepared on this machine. Raises OptionError if it differs from the job of the
        driver."""
        job, head = prepare(replace(self._request, workers=1)), self._head
        if replace(job.head, inputs=()) != replace(head, inputs=()):
            raise OptionError(f"a worker has another tokenizer or version: {job.head}")
        sizes = [(each.name, each.bytes) for each in job.inputs]
        if sizes != [(each.name, each.bytes) for each in head.inputs]:
            raise OptionError("a worker finds other inputs: they must have the same names there")
        return job

    def is_ready(self) -> bool:
        """True, once there is a core for this worker."""
        return True

    def build(self, number: int, finished_shards: FinishedShards) -> tuple[list[Entry], Progress]:
        """Writes the unfinished shards of a part. Returns their journal entries, and the counts."""
        progress, entries = Progress(), list[Entry]()
        with PartBuilder(self.job, Disk(), progress) as builder:
            builder.build(self.job.parts[number], finished_shards, entries.append)
        return entries, progress


def build_on_ray(
    job: BuildJob,
    todo: list[_Task],
    on_part: OnPart,
    is_stopped: Callable[[], bool],
) -> None:
    """Builds parts on the cluster, in any order, and calls `on_part` for each finished part.

    `todo`: the number of each part, with its finished shards. Once `is_stopped` returns true,
    running parts are finished, and no other part begins.

    Raises OptionError without Ray, WorkerError, and the errors of a worker. After an error, no
    reachable worker writes any more, and unfinished files are removed."""
    ray = _ray()
    with _cluster(ray, job.request.ray_address):
        cores = int(ray.cluster_resources().get("CPU", 1))
        remote = ray.remote(num_cpus=1)(RayWorker)
        workers = _RayWorkers(ray, lambda: remote.remote(job.request, job.head))
        try:
            for _ in range(min(job.request.workers or cores, cores, len(todo))):
                workers.hire()
            for entries, progress in workers.build(todo, is_stopped):
                on_part(entries, progress)
        finally:
            workers.end()
            for path in job.folder.glob(f"{UNFINISHED}*"):  # left by a killed worker
                path.unlink(missing_ok=True)


class _RayWorkers:
    """The workers of a build. In the place of one that died another one begins as soon as the
    cluster has a core for it; until then the others build all parts."""

    def __init__(self, ray: Any, new_worker: Callable[[], Any]) -> None:
        self._ray, self._new_worker = ray, new_worker
        self._workers: list[Any] = []
        self._idle: list[Any] = []
        self._starting: dict[Any, Any] = {}
        self._running: dict[Any, tuple[Any, _Task]] = {}
        self._died: Counter[int] = Counter()

    def hire(self) -> None:
        """Asks the cluster for one more worker."""
        worker = self._new_worker()
        self._workers.append(worker)
        self._starting[worker.is_ready.remote()] = worker

    def build(
        self, todo: list[_Task], is_stopped: Callable[[], bool]
    ) -> Iterator[tuple[list[Entry], Progress]]:
        """Yields what `RayWorker.build` returns for each part, in any order. Raises as
        `build_on_ray`."""
        waiting = todo[::-1]
        while self._running or (waiting and not is_stopped()):
            while self._idle and waiting and not is_stopped():
                worker, task = self._idle.pop(), waiting.pop()
                self._running[worker.build.remote(*task)] = worker, task
            calls = [*self._running, *self._starting]
            for call in self._ray.wait(calls, num_returns=1, timeout=_LOOK)[0] if calls else ():
                if call in self._starting:
                    self._idle.append(self._starting.pop(call))
                    continue
                worker, task = self._running.pop(call)
                try:
                    found = _result(self._ray, call)
                except self._ray.exceptions.RayActorError:
                    self._replace(worker, task[0])
                    waiting.append(task)
                else:
                    self._idle.append(worker)
                    yield found

    def _replace(self, worker: Any, number: int) -> None:
        """Raises WorkerError if too many workers died of the part `number`."""
        self._died[number] += 1
        if self._died[number] > RETRIES:
            raise WorkerError(
                f"a Ray worker died {1 + RETRIES} times while it built one part: look into Ray's "
                "logs, a worker without enough memory is killed; --resume goes on"
            ) from None
        self._ray.kill(worker)  # where only the network failed, it would go on
        self.hire()

    def end(self) -> None:
        """Ends the workers. Waits until no running task writes any more, but at most `PATIENCE`
        seconds: a disconnected machine does not answer."""
        for worker in self._workers:
            self._ray.kill(worker)
        running = list(self._running)
        if running:
            self._ray.wait(running, num_returns=len(running), timeout=PATIENCE)


def _result(ray: Any, call: Any) -> tuple[list[Entry], Progress]:
    """Returns the result of a call. Raises the worker's own error, not the error of Ray that wraps
    it."""
    try:
        found: tuple[list[Entry], Progress] = ray.get(call)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    return found


def _ray() -> Any:
    return optional_package("ray", "--backend ray")


@contextmanager
def _cluster(ray: Any, address: str | None) -> Iterator[None]:
    """Connects to a cluster for the `with` block: to the one that this process already uses, to the
    one at `address`, or to a new one on this machine.

    `ray.init` sets a handler of SIGTERM that ends the process. The caller's handler, which stops
    the build, is set again."""
    if ray.is_initialized():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    ray.init(address=address, log_to_driver=False, include_dashboard=False)
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, before)
    try:
        yield
    finally:
        ray.shutdown()
