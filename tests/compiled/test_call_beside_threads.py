"""While tables are made in the background, other threads run.

No test looks at a clock. With an endless switch interval another thread runs only where a function
releases the GIL by itself. What cannot release it, the engine's own writing and reading of models,
is done while a tokenizer is loaded."""

from __future__ import annotations

import json
import sys
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.model_files import bert, gemma, llama_2, llama_3
from tests.support.paths import DEFAULT
from tokpar.compiled import compiled_build, quick_check
from tokpar.compiled.call_tables import byte_arrays, call_of
from tokpar.compiled.merges import merges_of
from tokpar.cuts.added_token_contents import build_automaton
from tokpar.process import kernel_modules

Calls = dict[str, Callable[[], partial[Any]]]
"""By name, what returns one call of C with its input."""
NAMES = [
    "value_end",
    "read_vocabulary",
    "put_tokens",
    "read_merges",
    "put_merges",
    "Call",
    "build_table",
]
TRIES, CALLS_IN_A_ROW = 300, 16
"""A thread that waits for the GIL may need longer to wake up than one call lasts, which may be less
than a tenth of a millisecond. It has the time of many calls, and many tries."""
KEEP_THE_GIL = {"__getstate__", "__setstate__", "get_vocab", "get_added_tokens_decoder"}
KEEP_THE_GIL |= {"from_str", "to_str", "save", "add_tokens", "add_special_tokens"}
LONGEST_JSON, LONGEST_NORMALIZED = 1 << 16, 1 << 15


def with_copies(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """Returns `function` with its arguments, arrays copied: a function writes into some of them."""
    return partial(function, *(x.copy() if isinstance(x, np.ndarray) else x for x in given))


class Recorder:
    """Passes everything on to `inside`, and keeps the calls of functions of C."""

    def __init__(self, inside: Any, calls: Calls) -> None:
        self._inside, self._calls = inside, calls

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._inside, name)
        if not callable(value):
            return Recorder(value, self._calls)

        def call(*given: Any) -> Any:
            self._calls.setdefault(
                name, partial(with_copies, value, with_copies(tuple, given).args)
            )
            return value(*given)

        return call


@pytest.fixture(scope="module")
def calls_of_c() -> Calls:
    """The functions of C that make the tables of the default tokenizer, each with its input."""
    found: Calls = {}
    own = Tokenizer.from_file(str(DEFAULT))
    size = own.get_vocab_size(with_added_tokens=False)
    functions = Recorder(kernel_modules, found)
    arrays = byte_arrays(
        tokpar.load(own).facts, merges_of(own.model.__getstate__(), size, functions)
    )
    contents = sorted(f"<{k}>".encode() for k in range(20_000))
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kernel_modules, "CALL", Recorder(kernel_modules.CALL, found))
        patched.setattr(kernel_modules, "CONTENTS", Recorder(kernel_modules.CONTENTS, found))
        call_of(arrays, {each.decode(): (k, 0, False) for k, each in enumerate(contents)}, ((), ()))
        build_automaton(contents)
    end = found["value_end"]()
    found["value_end"] = partial(with_copies, end.func, (end.args[0], 0))  # of the whole document
    return found


@contextmanager
def endless_switch_interval() -> Iterator[list[int]]:
    """Runs a thread that counts its turns, and never takes the GIL from another thread."""
    turns, is_over, before = [0], threading.Event(), sys.getswitchinterval()

    def count() -> None:
        while not is_over.is_set():
            turns[0] += 1
            time.sleep(0)

    counting = threading.Thread(target=count)
    sys.setswitchinterval(1000)
    counting.start()
    try:
        yield turns
    finally:
        is_over.set()
        counting.join()
        sys.setswitchinterval(before)


def lets_others_run(make: Callable[[], Callable[[], object]]) -> bool:
    """True if another thread had a turn while what `make` returns, one call of C, ran."""
    with endless_switch_interval() as turns:
        for _ in range(TRIES):
            functions = [make() for _ in range(CALLS_IN_A_ROW)]
            before = turns[0]
            for function in functions:
                function()
                if turns[0] > before:
                    return True
            time.sleep(0.001)
    return False


@needs_kernel
@pytest.mark.parametrize(
    "name",
    [
        "value_end",
        "read_vocabulary",
        "put_tokens",
        "read_merges",
        "put_merges",
        "Call",
        "build_table",
    ],
)
def test_another_thread_runs_while_a_function_of_c_makes_tables(
    calls_of_c: Calls, name: str
) -> None:
    assert lets_others_run(calls_of_c[name])


def test_no_thread_runs_beside_a_function_that_keeps_the_gil() -> None:
    """So the test above can fail."""
    assert not lets_others_run(lambda: partial(sorted, [*range(1000, 0, -1)]))


@contextmanager
def counted_background() -> Iterator[list[str]]:
    """Lists what keeps the GIL for long in what a thread does after loading."""
    found: list[str] = []

    def on_event(frame: FrameType, event: str, function: Any) -> None:
        if event != "c_call":
            return
        module = getattr(type(getattr(function, "__self__", None)), "__module__", "")
        if module.startswith("tokenizers") and function.__name__ in KEEP_THE_GIL:
            found.append(f"{function.__name__} in {frame.f_code.co_name}")

    build = compiled_build.LaterCall.build

    def profiled(self: Any, parts: Any) -> None:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(json, "loads", read_json)
            sys.setprofile(on_event)
            try:
                build(self, parts)
            finally:
                sys.setprofile(None)

    def read_json(text: Any, *given: Any, **settings: Any) -> Any:
        if len(text) > LONGEST_JSON:
            found.append(f"JSON of {len(text)} bytes")
        return loads(text, *given, **settings)

    loads = json.loads
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(compiled_build.LaterCall, "build", profiled)
        patched.setattr(compiled_build, "IN_BACKGROUND", False)
        patched.setenv("TOKPAR_CACHE", "")
        yield found


@needs_kernel
@pytest.mark.parametrize("make", [bert, gemma, llama_2, llama_3])
@pytest.mark.parametrize("from_file", [False, True])
def test_no_engine_writes_or_reads_a_model_after_loading(
    make: Callable[[], Any], from_file: bool, tmp_path: Path
) -> None:
    own = make().backend_tokenizer
    own.save(str(tmp_path / "tokenizer.json"))
    with counted_background() as found:
        encoder = tokpar.Encoder(tmp_path / "tokenizer.json" if from_file else own)
        encoder.prepare()
    assert encoder._front is not None
    assert encoder._front.call is not None
    assert found == []


def test_python_normalizes_few_characters_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    class Normalizer:
        def __getattr__(self, name: str) -> Any:
            return getattr(unicodedata, name)

        def normalize(self, form: Any, text: str) -> str:
            sizes.append(len(text))
            return unicodedata.normalize(form, text)

    monkeypatch.setattr(quick_check, "unicodedata", Normalizer())
    quick_check.quick_check.__wrapped__(("NFC", "NFKD"))
    assert len(sizes) > 2
    assert max(sizes) <= LONGEST_NORMALIZED
