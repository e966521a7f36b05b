"""Nanoseconds for each id that a stream decodes, beside tokenizers' own DecodeStream in one
run, and the longest delay of an event loop beside `aencode`.

    python -m tests.benchmarks.decoding tokenizer.json text.txt --streams 1000

Both are processor times where the machine is shared: wall-clock times come with --wall. The first
row is the first pass, in which the table is made; the others come after it. The delay of the loop
is wall-clock time, and stands beside the delay while another thread computes without the GIL, which
the machine alone is to blame for."""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from tokenizers.decoders import DecodeStream as OwnStream

import tokpar

PASSES = 3
TICK = 0.001
NO_GIL_BYTES = 300_000_000


def nanoseconds(clock: Callable[[], float], ids: int, work: Callable[[], object]) -> float:
    """What `work` takes for each of so many ids."""
    start = clock()
    work()
    return (clock() - start) / ids * 1e9


def step_each(step: Callable[[int], str | None], ids: list[int]) -> None:
    for id_ in ids:
        step(id_)


def push_each(push: Callable[[list[int]], list[str]], rounds: list[list[int]]) -> None:
    for ids in rounds:
        push(ids)


def measure_streams(own: Any, ids: list[int], count: int, clock: Callable[[], float]) -> None:
    """Print the times of one stream id by id, of one run, and of many streams at once."""
    encoder = tokpar.Encoder(own)
    for turn in range(PASSES):
        theirs = OwnStream(skip_special_tokens=False)
        one = nanoseconds(clock, len(ids), partial(step_each, encoder.decode_stream().step, ids))
        run = nanoseconds(clock, len(ids), partial(encoder.decode_stream().push, ids))
        their = nanoseconds(clock, len(ids), partial(step_each, partial(theirs.step, own), ids))
        rounds = [ids[k : k + count] for k in range(0, len(ids) - count + 1, count)] or [ids]
        streams = encoder.decode_streams()
        numbers = [streams.open() for _ in rounds[0]]
        push = partial(push_each, partial(streams.push, numbers), rounds)
        many = nanoseconds(clock, len(rounds) * len(numbers), push)
        print(
            f"pass {turn + 1}: step {one:.0f} ns, push {run:.0f} ns, DecodeStream.step {their:.0f} "
            f"ns; {len(numbers)} streams {1e3 / many:.2f} million ids/s"
        )


async def longest_delay(work: Awaitable[object]) -> float:
    """Milliseconds that a task which sleeps for a millisecond waits longer than that, at most."""
    task = asyncio.ensure_future(work)
    longest = 0.0
    while not task.done():
        start = time.perf_counter()
        await asyncio.sleep(TICK)
        longest = max(longest, time.perf_counter() - start - TICK)
    await task
    return longest * 1e3


async def measure_loop(own: Any, text: str) -> None:
    """Print the longest delays of the loop beside threads that encode, and beside one that does not
    hold the GIL."""
    data = b"x" * NO_GIL_BYTES
    with tokpar.Encoder(own) as encoder:
        for turn in range(PASSES):
            idle = await longest_delay(asyncio.to_thread(lambda: hashlib.sha256(data).digest()))
            whole = await longest_delay(encoder.aencode(text))
            print(
                f"pass {turn + 1}: longest delay beside aencode {whole:.1f} ms, beside a thread "
                f"without the GIL {idle:.1f} ms"
            )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tokenizer", help="a tokenizer.json")
    parser.add_argument("text", type=Path, help="a text in UTF-8")
    parser.add_argument("--chars", type=int, default=10_000_000, help="of the text for the loop")
    parser.add_argument("--ids", type=int, default=200_000, help="that are decoded")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--wall", action="store_true", help="wall-clock instead of processor time")
    given = parser.parse_args()
    own = Tokenizer.from_file(given.tokenizer)
    text = given.text.read_text(encoding="utf-8")
    text = (text * (given.chars // max(1, len(text)) + 1))[: given.chars]
    ids = tokpar.encode(text[: 8 * given.ids], own).ids.tolist()[: given.ids]
    clock = time.perf_counter if given.wall else time.process_time
    measure_streams(own, ids, given.streams, clock)
    asyncio.run(measure_loop(own, text))


if __name__ == "__main__":
    main()
