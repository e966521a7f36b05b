"""Loops that use the kernel for so many seconds, for one that is compiled with a sanitizer.

    python -m tests.support.sanitized_loop worlds|threads|fuzz SEED SECONDS

`worlds`: drawn tokenizers encode and locate drawn texts, compared with the engine. `threads`: eight
threads ask one call for the ids of long texts, for which it releases the GIL, and all get those of
one thread. `fuzz`: changed tables, tokenizer files, certificates and files of the disk cache are
refused, or answer without a fault of memory. Prints how often each was done. Numpy and the engines
are not compiled with the sanitizer: what they do by themselves is not looked at."""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tokenizers import Tokenizer
from tokpar_conformance.worlds import draw_world

import tokpar
from tests.support.calls_drawn import DRAWN, draw_added, draw_text
from tests.support.damaged_calls import KINDS, Arrays, changed, drawn_arrays, encode_all
from tests.support.tokenizers_drawn import is_panic, may_never_end
from tokpar.certificate.certificate_file import from_bytes, to_bytes
from tokpar.compiled import compiled_build
from tokpar.errors import TokparError
from tokpar.process import disk_cache, kernel_modules

THREADS = 8
LONG = 20_000
"""Characters of a text for which the kernel releases the GIL."""


def worlds(draw: random.Random, seen: Counter[str]) -> None:
    if draw.random() < 0.5:
        own, parts = DRAWN[draw.choice([*DRAWN])](draw), list[str]()
        parts = draw_added(draw, own)
        texts = [draw_text(draw, parts) for _ in range(8)]
    else:
        world = draw_world(draw, largest=600)
        loaded = outcome_of(lambda: Tokenizer.from_str(world.file))
        if not isinstance(loaded, Tokenizer):
            return
        own, texts = loaded, [world.text(draw) for _ in range(8)]
    if any(may_never_end(token, own) for token in own.get_added_tokens_decoder().values()):
        return
    encoder = outcome_of(lambda: tokpar.Encoder(own, workers=1))
    if not isinstance(encoder, tokpar.Encoder):
        return
    for text in [*texts, texts[0] * 30]:
        expected = outcome_of(lambda: own.encode(text))  # noqa: B023
        if isinstance(expected, Exception):
            continue
        found = encoder.encode(text)
        assert found.ids.tolist() == expected.ids, (own.to_str(), text)
        outcome_of(lambda: found.char_spans)  # noqa: B023
        outcome_of(lambda: encoder.decode(expected.ids))  # noqa: B023
        seen["texts"] += 1
    outcome_of(lambda: encoder.encode_batch(texts))
    outcome_of(lambda: [*encoder.chunks(texts[0] * 9, 16, 4)])
    seen["tokenizers"] += 1


def outcome_of(action: Callable[[], Any]) -> Any:
    """What an action returns, or its error where the engine or tokpar refuses."""
    try:
        return action()
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            return RuntimeError(str(error))
        raise


def threads(draw: random.Random, seen: Counter[str]) -> None:
    kind = draw.choice([*KINDS])
    arrays, texts = drawn_arrays(draw, kind)
    module: Any = kernel_modules.CALL
    long = []
    for _ in range(3):
        some = "".join(draw.choices(texts, k=40)) or "a b"
        long.append((some * (1 + LONG // len(some)))[:LONG])
    expected = [answers(module.Call(arrays), text) for text in long]
    call = module.Call(arrays)
    with ThreadPoolExecutor(THREADS) as pool:
        rows = draw.choices(range(len(long)), k=4 * THREADS)
        for row, found in zip(rows, pool.map(lambda k: answers(call, long[k]), rows), strict=True):
            pairs = zip(found, expected[row], strict=True)
            assert all(None in pair or pair[0] == pair[1] for pair in pairs), kind
            seen["texts"] += 1
    seen["calls"] += 1


def answers(call: Any, text: str) -> list[object]:
    """What the call answers alone, else None: what it asks the engine for, or has compared with the
    engine, depends on what it has learned."""
    ids, places, rows = call.encode(text), call.encode_places(text), call.encode_rows((text,))
    return [
        ids if type(ids) is bytes else None,
        places and [bytes(each) for each in places[:2]],
        rows[:2] if rows[3] is None else None,
    ]


def fuzz(draw: random.Random, seen: Counter[str]) -> None:
    kind = draw.choice([*KINDS])
    arrays, texts = drawn_arrays(draw, kind)
    for _ in range(20):
        damage_tables(draw, arrays, texts, seen)
    damage_files(draw, seen)


def damage_tables(
    draw: random.Random, arrays: Arrays, texts: list[str], seen: Counter[str]
) -> None:
    module: Any = kernel_modules.CALL
    _, damaged = changed(draw, arrays, texts)
    try:
        call = module.Call(damaged)
    except ValueError:
        seen["tables refused"] += 1
        return
    encode_all(call, texts)
    seen["tables taken"] += 1


def damage_files(draw: random.Random, seen: Counter[str]) -> None:
    """A changed file is refused by a typed error, or read."""
    own = DRAWN[draw.choice([*DRAWN])](draw)
    text = draw_text(draw, []) * 9
    file = damaged_bytes(draw, own.to_str().encode())
    with TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        path.write_bytes(file)
        try:
            encoder = tokpar.Encoder(str(path))
            encoder.encode(text)
            seen["tokenizers taken"] += 1
        except TokparError:
            seen["tokenizers refused"] += 1
        except BaseException as error:
            if not is_panic(error):
                raise
        encoding = tokpar.Encoder(own, chunk_chars=20).encode(text)
        data = to_bytes(encoding, text, "t", tokpar_version="1")
        for _ in range(10):
            try:
                from_bytes(damaged_bytes(draw, data))
                seen["certificates taken"] += 1
            except TokparError:
                seen["certificates refused"] += 1
        os.environ["TOKPAR_CACHE"] = folder
        disk_cache.write("kind", "key", {"a": np.arange(99), "b": np.arange(1 << 15)})
        cached = Path(folder, "kind", "key.arrays")
        whole = cached.read_bytes()
        for _ in range(10):
            cached.write_bytes(damaged_bytes(draw, whole))
            found = disk_cache.read("kind", "key")
            assert found is None or found["a"].tolist() == [*range(99)]
            seen["cached files"] += 1


def damaged_bytes(draw: random.Random, data: bytes) -> bytes:
    """The bytes with a few changes: others, fewer, more, or some of them twice."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 2, 5))):
        at = draw.randrange(len(found) or 1)
        stop = min(len(found), at + draw.choice((1, 1, 2, 8, 100)))
        some = [b"", bytes(found[at:stop]) * 2, draw.randbytes(stop - at), b"\xff", b'"', b"9" * 20]
        found[at:stop] = draw.choice(some)
    return bytes(found)


LOOPS: dict[str, Callable[[random.Random, Counter[str]], None]] = {
    "worlds": worlds,
    "threads": threads,
    "fuzz": fuzz,
}


def main(loop: str, seed: str, seconds: str) -> None:
    assert kernel_modules.CALL is not None, kernel_modules.WHY_NONE
    compiled_build.IN_BACKGROUND = False
    seen: Counter[str] = Counter()
    end, number = time.monotonic() + float(seconds), 0
    while time.monotonic() < end:
        print(f"{loop} {seed} {number}", file=sys.stderr, flush=True)  # the last one is that
        LOOPS[loop](random.Random(f"{loop} {seed} {number}"), seen)
        number += 1
    print(loop, dict(seen), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
