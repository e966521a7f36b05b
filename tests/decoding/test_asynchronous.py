"""`aencode` gives what `encode` gives, and cancelled calls end between slices."""

from __future__ import annotations

import asyncio
import os
import threading
from typing import Any

import numpy as np
import pytest

import tokpar
from tokpar import Encoder
from tokpar.asynchronous import PLACES_PER_THREAD, SLICE_CHARS
from tokpar.errors import EngineError, OptionError

LONG = "The quick brown fox jumps over the lazy dog 12345. Größe 中文字符。\n" * 8000


class Gate:
    """A tokenizer that waits at each slice until the test lets it go on."""

    name = "gate"

    def __init__(self) -> None:
        self.entered = threading.Semaphore(0)
        self.go = threading.Semaphore(0)
        self.encoded = 0

    def encode(self, text: str) -> Any:
        self.entered.release()
        assert self.go.acquire(timeout=20)
        self.encoded += 1
        return np.array([len(text)], dtype=np.uint32)


@pytest.mark.ids
@pytest.mark.parametrize("source", ["default", "o200k_base"])
def test_aencode_gives_the_ids_and_seams_of_encode(source: str) -> None:
    try:
        tokenizer = tokpar.load(source)
    except tokpar.TokparError:
        tokenizer = tokpar.load("default", engine="pure")
    text = LONG[: 3 * SLICE_CHARS]
    with Encoder(tokenizer, workers=2) as encoder:
        expected = encoder.encode(text)

        async def calls() -> list[tokpar.Encoding]:
            return await asyncio.gather(*(encoder.aencode(text) for _ in range(9)))

        for found in asyncio.run(calls()):
            assert found == expected
            assert found.lossless
            assert tokpar.check(found, text, tokenizer).ok


@pytest.mark.ids
def test_aencode_batch_gives_the_rows_of_encode_batch() -> None:
    texts = ["", "a", LONG[:300_000], "Hello world", LONG[:5000]]
    with Encoder(workers=2) as encoder:
        found = asyncio.run(encoder.aencode_batch(texts))
        assert [row.ids.tolist() for row in found] == [
            row.ids.tolist() for row in encoder.encode_batch(texts)
        ]
        assert len(asyncio.run(encoder.aencode_batch([]))) == 0


async def entered(gate: Gate, count: int = 1) -> None:
    for _ in range(count):
        assert await asyncio.to_thread(gate.entered.acquire, timeout=20)


def test_calls_beyond_the_queue_wait_for_a_place() -> None:
    gate = Gate()
    encoder = Encoder(gate, workers=1)

    async def main() -> None:
        tasks = [asyncio.create_task(encoder.aencode(f"{k}")) for k in range(5)]
        await entered(gate)
        calls = encoder._calls
        assert calls is not None
        assert calls._pool._work_queue.qsize() == PLACES_PER_THREAD - 1
        for _ in tasks:
            gate.go.release()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    encoder.close()
    assert gate.encoded == 5


def test_a_cancelled_call_frees_its_place_and_its_result_is_dropped() -> None:
    gate = Gate()
    encoder = Encoder(gate, workers=1)

    async def main() -> None:
        first, waiting, third = (asyncio.create_task(encoder.aencode(text)) for text in "abc")
        await entered(gate)
        for task in (first, waiting):
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        gate.go.release()  # the slice of the first call ends, and its place is free
        await entered(gate)
        gate.go.release()
        assert (await third).ids.tolist() == [1]

    asyncio.run(main())
    encoder.close()
    assert gate.encoded == 2  # the call that waited never began


def test_a_cancelled_call_ends_between_two_slices() -> None:
    text = LONG[: 8 * SLICE_CHARS] if len(LONG) >= 8 * SLICE_CHARS else LONG * 2
    begun: list[int] = []
    encoder = Encoder(tokpar.load("default", engine="pure"), workers=1, executor="serial")

    async def main() -> None:
        task = asyncio.create_task(encoder.aencode(text))
        calls = encoder._async_calls()
        own = calls._before_slice

        def before_slice(cancelled: threading.Event) -> None:
            begun.append(1)
            if len(begun) == 3:
                loop.call_soon_threadsafe(task.cancel)
                assert cancelled.wait(timeout=20)
            own(cancelled)

        calls._before_slice = before_slice  # type: ignore[method-assign]
        loop = asyncio.get_running_loop()
        with pytest.raises(asyncio.CancelledError):
            await task
        await loop.run_in_executor(calls._pool, int)  # comes after the call, in the one thread
        assert len(begun) == 3

    asyncio.run(main())
    encoder.close()


def test_closing_the_encoder_ends_pending_calls_with_an_error_that_says_so() -> None:
    gate = Gate()
    encoder = Encoder(gate, workers=1)

    async def main() -> list[Any]:
        tasks = [asyncio.create_task(encoder.aencode("a")) for _ in range(4)]
        await entered(gate)
        closing = asyncio.create_task(asyncio.to_thread(encoder.close))
        while encoder._calls is not None:
            await asyncio.sleep(0.001)
        gate.go.release()  # the slice that was running
        await closing
        results = await asyncio.gather(*tasks, return_exceptions=True)
        gate.go.release()
        assert (await encoder.aencode("abc")).ids.tolist() == [3]  # usable again
        return results

    first, *others = asyncio.run(main())
    encoder.close()
    assert first.ids.tolist() == [1]
    for error in others:
        assert isinstance(error, EngineError)
        assert "closed before this text was encoded" in str(error)


def test_an_encoder_serves_one_loop_after_another_and_two_at_once() -> None:
    with Encoder(workers=1) as encoder:
        expected = encoder.encode("Hello world").ids.tolist()

        async def call() -> list[int]:
            found = await asyncio.gather(*(encoder.aencode("Hello world") for _ in range(8)))
            return found[-1].ids.tolist()

        assert asyncio.run(call()) == expected
        assert asyncio.run(call()) == expected
        results: list[list[int]] = []
        threads = [
            threading.Thread(target=lambda: results.append(asyncio.run(call()))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == [expected, expected]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads() -> None:
    encoder = Encoder(workers=1)
    expected = asyncio.run(encoder.aencode("Hello world")).ids.tolist()
    child = os.fork()
    if not child:
        code = 1
        try:
            found = asyncio.run(asyncio.wait_for(encoder.aencode("Hello world"), 20))
            code = 0 if found.ids.tolist() == expected else 2
            encoder.close()
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    encoder.close()


def test_bad_input_and_errors_of_the_tokenizer_come_from_aencode() -> None:
    with Encoder(workers=1) as encoder:
        with pytest.raises(OptionError, match="text must be a str, got int"):
            asyncio.run(encoder.aencode(3))  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="got one str"):
            asyncio.run(encoder.aencode_batch("abc"))
    broken = Gate()
    broken.encode = lambda text: 1 / 0  # type: ignore[method-assign]
    with Encoder(broken, workers=1) as encoder, pytest.raises(ZeroDivisionError):
        asyncio.run(encoder.aencode("a"))
