"""Each allocation of the kernel fails in turn: MemoryError or a right answer, nothing is lost."""

from __future__ import annotations

import ctypes
import importlib.util
import itertools
import random
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_below_one, needs_kernel
from tests.support.calls_drawn import DRAWN, draw_text
from tests.support.damaged_calls import Arrays, drawn_arrays
from tests.support.paths import ROOT
from tests.support.profiles import drawn
from tokpar.compiled import call_tables
from tokpar.process import kernel_modules

pytestmark = [
    *(pytest.mark.compiled_at_once, needs_below_one, needs_kernel),
    pytest.mark.skipif(
        shutil.which("cc") is None, reason="compiles the kernel: needs a C compiler"
    ),
]


class Kernel:
    """The kernel with counted allocations, see tests/support/failing_allocations.h."""

    def __init__(self, library: Path) -> None:
        spec = importlib.util.spec_from_file_location("_call", library)
        assert spec is not None
        assert spec.loader is not None
        self.module: Any = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.module)
        symbols = ctypes.CDLL(str(library))
        self._until = ctypes.c_long.in_dll(symbols, "until_failure")
        self._alive = ctypes.c_long.in_dll(symbols, "alive")

    @property
    def alive(self) -> int:
        """The blocks of memory that were not freed."""
        return self._alive.value

    def fails(self, number: int, action: Callable[[], object]) -> tuple[object, bool]:
        """Returns the result of `action` while allocation `number` fails, MemoryError for that
        error, and whether there were so many allocations."""
        self._until.value = number
        try:
            result = action()
        except MemoryError:
            result = MemoryError
        failed = self._until.value < 0
        self._until.value = -1
        return result, failed


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Kernel:
    library = tmp_path_factory.mktemp("kernel") / f"_call{sysconfig.get_config_var('EXT_SUFFIX')}"
    source = ROOT / "tokpar" / "compiled" / "call.c"
    hook = ROOT / "tests" / "support" / "failing_allocations.h"
    command = ["cc", "-shared", "-fPIC", "-O1", "-w", "-I", sysconfig.get_path("include")]
    command += ["-undefined", "dynamic_lookup"] if sys.platform == "darwin" else []
    subprocess.run([*command, "-include", hook, source, "-o", library], check=True)
    return Kernel(library)


def each_failure(kernel: Kernel, action: Callable[[], object], numbers: Iterator[int]) -> None:
    """Lets the allocations of these numbers fail, up to the last that `action` makes."""
    expected, alive, failures = action(), kernel.alive, 0
    for number in numbers:
        found, failed = kernel.fails(number, action)
        assert found is MemoryError or found == expected, number
        assert kernel.alive == alive, number
        if not failed:
            break
        failures += found is MemoryError
    assert failures
    assert action() == expected


def answers(call: Any, texts: list[str]) -> list[Any]:
    """Returns the answer for each text of each way to encode, without the words to compare."""
    data = [text.encode() for text in texts]
    edges = np.cumsum([0, *map(len, data)], dtype=np.int64)
    parts = (call.encode_part(text, len(text) // 3, len(text)) for text in texts)
    found = [*map(call.encode, texts), *parts]
    return [
        *(each[:2] if type(each) is tuple else each and (each, []) for each in found),
        *(each and each[:3] for each in map(call.encode_places, texts)),
        *_rows(*call.encode_rows(tuple(texts))[:2]),
        *_rows(*call.encode_utf8(b"".join(data), edges)[:2]),
    ]


def _rows(ids: bytes, lengths: bytes) -> list[bytes | None]:
    """Returns the ids of each row, None for a row without an answer."""
    counts = np.frombuffer(lengths, np.int64)
    stops = 4 * np.cumsum(np.maximum(counts, 0))
    pairs = zip(stops.tolist(), counts.tolist(), strict=True)
    return [None if count < 0 else ids[stop - 4 * count : stop] for stop, count in pairs]


@pytest.mark.parametrize("kind", DRAWN)
def test_a_call_without_memory_is_a_memory_error_or_right(kernel: Kernel, kind: str) -> None:
    arrays, texts = _cheap_arrays(kind)
    texts = [texts[0], "ab c " * 80 + "é中" * 500]
    each_failure(kernel, lambda: kernel.module.Call(arrays).is_sure(1, 2), itertools.count())

    def encode_all() -> list[Any]:
        return answers(kernel.module.Call(arrays), texts)

    expected, alive, failures = encode_all(), kernel.alive, 0
    for number in itertools.count():
        found, failed = kernel.fails(number, encode_all)
        if not failed:
            break
        assert kernel.alive == alive, number
        if found is MemoryError:
            failures += 1
        else:  # a text without an answer is encoded by the engine
            assert isinstance(found, list)
            pairs = zip(found, expected, strict=True)
            assert all(own in (None, right) for own, right in pairs), number
    assert failures > 20
    assert encode_all() == expected


def _cheap_arrays(kind: str) -> tuple[Arrays, list[str]]:
    """Returns arrays of a call that is made soon, because its machine has few states."""
    for seed in itertools.count():
        arrays, texts = drawn_arrays(random.Random(seed), kind)
        if len(arrays.get("moves", ())) < 1 << 12:
            break
    return arrays, texts


@pytest.mark.parametrize("kind", DRAWN)
@pytest.mark.parametrize("seed", range(drawn(30)))
def test_a_load_without_memory_is_a_memory_error_or_right(
    kernel: Kernel, kind: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tables are made, too: no vocabulary is refused because memory was short."""
    draw = random.Random(seed)
    tokenizer = DRAWN[kind](draw)
    text = draw_text(draw, [])

    def load() -> object:
        adapter: Any = tokpar.load(Tokenizer.from_str(tokenizer.to_str()))
        call = adapter.later_call and adapter.later_call.call
        row = None if call is None else call.encode(text)
        return None if row is None else row.tolist()

    monkeypatch.setattr(kernel_modules, "CALL", kernel.module)
    expected = load()
    found, _ = kernel.fails(draw.randrange(120), load)
    assert found in (MemoryError, expected)
    assert load() == expected


def test_texts_of_ids_without_memory_are_a_memory_error_or_right(kernel: Kernel) -> None:
    data = np.frombuffer(b"one two three" + bytes(16), np.uint8)
    places = np.array([0 << 16 | 3, 3 << 16 | 4, 7 << 16 | 6], np.uint64)
    rows = ([0, 1, 2], [2] * 5000, np.array([1, 1], np.uint32), [])
    each_failure(
        kernel,
        lambda: kernel.module.texts_of(rows, data, places, places, "strict"),
        itertools.count(),
    )


def test_tables_that_are_made_without_memory_are_a_memory_error(kernel: Kernel) -> None:
    """`seed` fills the table of words and plants the tree of tokens."""
    arrays, _ = _cheap_arrays("bytes")
    tokens = [bytes([byte]) for byte in range(256)] + [b"abab" * 9]
    data = np.frombuffer(b"".join(tokens) + bytes(16), np.uint8)
    ends = np.cumsum([*map(len, tokens)], dtype=np.int64)
    ids = np.arange(len(tokens), dtype=np.uint32) % 256
    room = {"words": 4 * 1024, "keys": 1 << 12, "more": 1 << 12}

    def seed() -> object:
        empty: Arrays = {
            "words": np.zeros(room["words"], np.uint64),
            "keys": np.zeros(room["keys"], np.uint8),
            "more": np.zeros(room["more"], np.uint32),
        }
        none = dict.fromkeys(call_tables.TREE, np.zeros(0, np.uint8))
        call = kernel.module.Call(arrays | none | empty)
        return call.seed(data, ends, ids, bytes(len(tokens)))

    each_failure(kernel, seed, itertools.count())
