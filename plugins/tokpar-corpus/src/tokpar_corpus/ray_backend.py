"""Runs a build on a Ray cluster: each part is one task of an actor, which keeps its tokenizer.

The inputs and the folder of the shards must have the same names on all machines. Only the driver
writes the journal, after the shards of a task are on the disk. If a worker dies, Ray runs its task
again."""

from __future__ import annotations

import signal
import threading
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
PATIENCE = 60.0
"""How many seconds the cluster may take to end the workers."""
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

    def build(self, number: int, finished_shards: FinishedShards) -> tuple[list[Entry], Progress]:
        """Writes the unfinished shards of a part. Returns their journal entries, and the counts."""
        progress, entries = Progress(), list[Entry]()
        with PartBuilder(self.job, Disk(), progress) as builder:
            builder.build(self.job.parts[number], finished_shards, entries.append)
        return entries, progress


def build_on_ray(
    job: BuildJob,
    todo: list[tuple[int, FinishedShards]],
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
        count = min(job.request.workers or cores, cores, len(todo))
        remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=RETRIES)(RayWorker)
        workers = [remote.remote(job.request, job.head) for _ in range(count)]
        idle, waiting = list(workers), todo[::-1]
        running: dict[Any, Any] = {}
        try:
            while running or (waiting and not is_stopped()):
                while idle and waiting and not is_stopped():
                    worker = idle.pop()
                    running[worker.build.remote(*waiting.pop())] = worker
                if running:
                    (ended,), _ = ray.wait(list(running), num_returns=1)
                    on_part(*_result(ray, ended))
                    idle.append(running.pop(ended))
        finally:
            _end(ray, workers, list(running))
            for path in job.folder.glob(f"{UNFINISHED}*"):  # left by a killed worker
                path.unlink(missing_ok=True)


def _result(ray: Any, task: Any) -> tuple[list[Entry], Progress]:
    """Returns the result of a task. Raises the worker's own error, not the error of Ray that wraps
    it."""
    try:
        entries, progress = ray.get(task)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except ray.exceptions.RayActorError:
        raise WorkerError(
            f"a Ray worker died {1 + RETRIES} times while it built one part: look into Ray's logs, "
            "a worker without enough memory is killed; --resume goes on"
        ) from None
    return entries, progress


def _end(ray: Any, workers: list[Any], running: list[Any]) -> None:
    """Ends the workers. Waits until no running task writes any more, but at most `PATIENCE`
    seconds: a disconnected machine does not answer."""
    for worker in workers:
        ray.kill(worker)
    if running:
        ray.wait(running, num_returns=len(running), timeout=PATIENCE)


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
