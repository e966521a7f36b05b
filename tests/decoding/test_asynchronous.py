"""`aencode` returns what `encode` returns, and leaves the event loop free."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import numpy as np
import pytest

import tokpar
from tokpar import Encoder
from tokpar.errors import OptionError

LONG = "The quick brown fox jumps over the lazy dog 12345. Größe 中文字符。\n" * 2000


@pytest.mark.ids
def test_aencode_gives_the_ids_and_seams_of_encode() -> None:
    with Encoder(workers=2) as encoder:
        expected = encoder.encode(LONG)

        async def calls() -> list[tokpar.Encoding]:
            return await asyncio.gather(*(encoder.aencode(LONG) for _ in range(9)))

        for found in asyncio.run(calls()):
            assert found == expected
            assert found.lossless
            assert tokpar.check(found, LONG).ok


@pytest.mark.ids
def test_aencode_batch_gives_the_rows_of_encode_batch_for_the_texts_of_the_call() -> None:
    texts = ["", "a", LONG[:300_000], "Hello world", LONG[:5000]]
    with Encoder(workers=2) as encoder:
        expected = [row.ids.tolist() for row in encoder.encode_batch(texts)]

        async def call() -> Any:
            task = asyncio.create_task(encoder.aencode_batch(texts))
            await asyncio.sleep(0)  # the task begins
            texts.clear()
            return await task

        assert [row.ids.tolist() for row in asyncio.run(call())] == expected
        assert len(asyncio.run(encoder.aencode_batch([]))) == 0


def test_the_event_loop_goes_on_while_a_text_is_encoded() -> None:
    class Waits:
        """A tokenizer that waits until the event loop lets it go on."""

        name = "waits"

        def __init__(self) -> None:
            self.go = threading.Event()

        def encode(self, text: str) -> Any:
            assert self.go.wait(timeout=120)
            return np.array([len(text)], dtype=np.uint32)

    tokenizer = Waits()

    async def main() -> list[int]:
        task = asyncio.create_task(Encoder(tokenizer).aencode("abc"))
        await asyncio.sleep(0.01)
        tokenizer.go.set()
        return (await task).ids.tolist()

    assert asyncio.run(main()) == [3]


def test_bad_input_and_errors_of_the_tokenizer_come_from_aencode() -> None:
    class Fails:
        name = "fails"

        def encode(self, text: str) -> Any:
            raise ZeroDivisionError

    with Encoder(workers=1) as encoder:
        with pytest.raises(OptionError, match="text must be a str, got int"):
            asyncio.run(encoder.aencode(3))  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="got one str"):
            asyncio.run(encoder.aencode_batch("abc"))
    with pytest.raises(ZeroDivisionError):
        asyncio.run(Encoder(Fails(), workers=1).aencode("a"))
