"""Every executor gives what the serial one gives, survives errors, forks and interrupts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokpar
from tests.support.executed import MAKERS, TEXT, Words, cut, mapped
from tests.support.paths import ROOT
from tokpar.arrays import IdArray
from tokpar.contract.interfaces import Executor
from tokpar.errors import EngineError, OptionError
from tokpar.executors.native import NativeExecutor
from tokpar.executors.processes import ProcessExecutor
from tokpar.executors.threads import ThreadExecutor
from tokpar.types import Rows


class EncodeOnly:
    """The one required method and nothing else."""

    name = "encode only"

    def encode(self, text: str) -> IdArray:
        return np.array([len(text)], dtype=np.uint32)


class HasSpec(EncodeOnly):
    """Is built again by a function, which fails or cannot be pickled."""

    def __init__(self, build: Callable[..., Any]) -> None:
        self.build = build

    def spec(self) -> tuple[Callable[..., Any], Mapping[str, Any]]:
        return self.build, {}


class Talkative(Words):
    """Prints, as some engines do."""

    def encode(self, text: str) -> IdArray:
        print("hello from the engine", flush=True)
        return super().encode(text)


def _refuse() -> None:
    raise FileNotFoundError("no such vocabulary")


@pytest.fixture(scope="module", params=MAKERS)
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    made = MAKERS[request.param]()
    yield made
    if hasattr(made, "close"):
        made.close()


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessExecutor]:
    with ProcessExecutor(2) as made:
        yield made


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("spans", [False, True])
@pytest.mark.parametrize("size", [1, 7, 1000, 20000, 10**6])
def test_every_executor_gives_the_serial_pieces(executor: Executor, size: int, spans: bool) -> None:
    chunks, words = cut(TEXT[: 2000 * size], size), Words()
    pieces = mapped(executor, TEXT[: 2000 * size], chunks, words, spans)
    for piece, chunk in zip(pieces, chunks, strict=True):
        ids = words.encode(TEXT[chunk.start : chunk.stop])
        assert (piece.ids.tolist(), piece.ids.dtype) == (ids.tolist(), ids.dtype)
        found = None if piece.spans is None else piece.spans.tolist()
        assert found == (words.locate(ids, "").tolist() if spans else None)


@pytest.mark.parametrize(
    ("word", "said"), [("FAIL", "ValueError: bad word"), ("PANIC", "Panic: stack overflow")]
)
def test_the_first_error_names_its_row_and_leaves_the_pool_intact(
    executor: Executor, word: str, said: str
) -> None:
    chunks = cut(TEXT, 500)
    guilty = chunks[17]
    text = TEXT[: guilty.start] + f" {word} ".ljust(500, "x") + TEXT[guilty.stop :]
    text = text[: chunks[40].start] + f" {word} ".ljust(500, "x") + text[chunks[40].stop :]
    with pytest.raises(EngineError, match=f"the tokenizer failed: {said}") as caught:
        mapped(executor, text, chunks, Words(), False)
    assert (caught.value.row, caught.value.start, caught.value.stop) == (17, 0, 500)
    assert caught.value.__cause__ is not None
    assert said.split(":")[0] in repr(caught.value.__cause__) + str(caught.value.__cause__)
    assert len(mapped(executor, TEXT, chunks, Words(), False)) == len(chunks)


class Miscounting(Words):
    """A batch call that loses a text whenever it is given more than one."""

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        return super().encode_many(texts[:1], spans)


def test_a_batch_call_that_loses_texts_is_refused() -> None:
    chunks = cut("a b c d", 2)
    with pytest.raises(EngineError, match="gave 1 rows for 4 texts"):
        mapped(NativeExecutor(os.cpu_count()), "a b c d", chunks, Miscounting(), False)


@pytest.mark.parametrize("wrong", [0, -1, True, "2", 1.5])
@pytest.mark.parametrize("kind", [ThreadExecutor, NativeExecutor, ProcessExecutor])
def test_workers_must_be_an_int_of_at_least_one(kind: Callable[[Any], Any], wrong: object) -> None:
    with pytest.raises(OptionError, match="workers must be"):
        kind(wrong)


@pytest.mark.parametrize("executor", ["threads", "native"])
def test_an_encoder_may_be_closed_while_other_threads_encode(executor: str) -> None:
    encoder = tokpar.Encoder(executor=executor, workers=2, strategy="cut", chunk_chars=2000)
    text, until, errors = "some words and more " * 10_000, time.monotonic() + 1, []
    expected = encoder.encode(text).ids.tolist()

    def use() -> None:
        try:
            while time.monotonic() < until:
                assert encoder.encode(text).ids.tolist() == expected
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=use) for _ in range(3)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that they get in each other's way
    try:
        for thread in threads:
            thread.start()
        while time.monotonic() < until:
            encoder.close()
        for thread in threads:
            thread.join(60)
    finally:
        sys.setswitchinterval(interval)
        encoder.close()
    assert errors == []


def test_a_worker_that_dies_is_an_engine_error_and_is_replaced(processes: ProcessExecutor) -> None:
    chunks = cut("a b c DIE", 9)
    with pytest.raises(EngineError, match=r"worker process died \(exit code 3\)"):
        mapped(processes, "a b c DIE", chunks, Words(), False)
    assert len(mapped(processes, TEXT, cut(TEXT, 5000), Words(), False)) == len(cut(TEXT, 5000))


def test_a_worker_killed_while_idle_is_an_engine_error_once(processes: ProcessExecutor) -> None:
    mapped(processes, "abc", cut("abc", 3), Words(), False)
    for worker in processes._crew().all:
        worker.stop_now()
    for _ in range(len(processes._crew().all)):
        with pytest.raises(EngineError, match="worker process died"):
            mapped(processes, "abc", cut("abc", 3), Words(), False)
    assert len(mapped(processes, "abc", cut("abc", 3), Words(), False)) == 1


def test_what_an_engine_prints_does_not_get_between_the_replies(processes: ProcessExecutor) -> None:
    assert len(mapped(processes, "a b", cut("a b", 1), Talkative(), False)) == 3


@pytest.mark.parametrize(
    ("tokenizer", "error", "said"),
    [
        (EncodeOnly(), OptionError, "it has no spec"),
        (HasSpec(lambda: EncodeOnly()), OptionError, "cannot be pickled"),
        (HasSpec(_refuse), EngineError, "cannot be built in a worker.*no such vocabulary"),
    ],
)
def test_a_tokenizer_that_cannot_be_built_again_is_refused(
    processes: ProcessExecutor, tokenizer: Any, error: type[Exception], said: str
) -> None:
    for _ in range(2):
        with pytest.raises(error, match=said):
            mapped(processes, "abc", cut("abc", 1), tokenizer, False)


def run_script(folder: Path, source: str, **variables: str) -> subprocess.CompletedProcess[str]:
    script = folder / "script.py"
    script.write_text(textwrap.dedent(source))
    return subprocess.run(
        [sys.executable, "-W", "error", "-W", "ignore:This process:DeprecationWarning", script],
        capture_output=True,
        text=True,
        timeout=240,
        env={**os.environ, "PYTHONPATH": str(ROOT), **variables},
    )


FORK = """
    import os, sys
    from tests.support.executed import MAKERS, TEXT, Words, cut, mapped
    chunks = cut(TEXT, 2000)
    for name in {names!r}:
        executor = MAKERS[name]()
        before = mapped(executor, TEXT, chunks, Words(), False)
        child = os.fork()
        after = mapped(executor, TEXT, chunks, Words(), False)
        assert [p.ids.tolist() for p in after] == [p.ids.tolist() for p in before], name
        close = getattr(executor, "close", int)
        close()
        if child == 0:
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7, name
        assert len(mapped(executor, TEXT, chunks, Words(), False)) == len(chunks), name
        close()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_parent_and_child_both_go_on_after_a_fork(tmp_path: Path) -> None:
    names = [name for name in MAKERS if name != "serial"]
    done = run_script(tmp_path, FORK.format(names=names))
    assert (done.returncode, done.stderr) == (0, "")


INTERRUPTED = """
    import os, signal, threading
    from tests.support.executed import Words, cut, mapped
    from tokpar.executors.processes import ProcessExecutor
    text = "SLEEP " * 10_000
    executor = ProcessExecutor({workers})
    mapped(executor, "abc", cut("abc", 1), Words(), False)
    threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        mapped(executor, text, cut(text, 600), Words(), False)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    print(len(mapped(executor, "abc", cut("abc", 1), Words(), False)))
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_ends_the_workers_and_the_executor_goes_on(
    workers: int, tmp_path: Path
) -> None:
    """The script has no guard of its main module, and closes nothing."""
    done = run_script(tmp_path, INTERRUPTED.format(workers=workers))
    assert (done.stdout, done.stderr) == ("interrupted\n3\n", "")


ORPHANED = """
    import os, sys
    from tests.support.executed import Words, cut, mapped
    from tokpar.executors.processes import ProcessExecutor
    executor = ProcessExecutor(1)
    mapped(executor, "abc", cut("abc", 1), Words(), False)
    print(executor._crew().all[0]._process.pid, flush=True)
    os.kill(os.getpid(), 9)
"""


@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    done = run_script(tmp_path, ORPHANED)
    assert done.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 120
    while _runs(int(done.stdout)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(int(done.stdout))


def _runs(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{process_id}/stat")
    return not status.exists() or status.read_text().rpartition(")")[2].split()[0] != "Z"
