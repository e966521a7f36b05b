"""What drawn tokenizers ask of the kernel here, and its answers: the steps of driver.c's file."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import numpy as np
from tokenizers import decoders

import tokpar
from tests.support.calls_drawn import DRAWN, draw_added, draw_text
from tests.support.path_drawn import draw_merged_model, draw_path_model, draw_path_text
from tests.support.tokenizers_drawn import named_tokenizers
from tests.support.unigram_drawn import draw_unigram_text, normalized_tokenizer
from tests.support.words_drawn import PAIRS
from tokpar.compiled import call_tables, compiled_build
from tokpar.compiled.path_tables import path_arrays
from tokpar.contract.path_model import PathModel
from tokpar.decoding.text_table import TextTable, checked_table
from tokpar.errors import OptionError
from tokpar.process import kernel_modules

NEVER = 1 << 62
"""In place of `SAMPLED`: no word is compared with the engine, which the other machine does not
have."""
KINDS = DRAWN | PAIRS | {"unigram": normalized_tokenizer}
PATHS: dict[str, Callable[[random.Random], tuple[PathModel, str]]] = {
    "path": draw_path_model,
    "merged path": draw_merged_model,
}


class Steps:
    """The kernel's module, with a step for each call of it. Each value is as driver.c reads it."""

    def __init__(self, real: Any) -> None:
        self.real, self.data = real, bytearray()
        names = ("unigram_cells", "read_characters", "texts_of")
        functions = {name: self._function(name) for name in names}
        self.module = SimpleNamespace(**{**vars(real), **functions, "Call": self._call})

    def begin(self, name: str) -> None:
        self.data += b"T" + value(name)

    def _function(self, name: str) -> Callable[..., Any]:
        def asked(*args: Any) -> Any:
            before = value(args)
            found, answer = outcome(getattr(self.real, name), args, name)
            self.data += b"F" + value(name) + before + answer + value(args)
            return raised_or(found)

        return asked

    def _call(self, arrays: dict[str, Any]) -> Any:
        given = value(arrays)  # `seed` and `teach` fill some of them
        found, answer = outcome(self.real.Call, (arrays,), "Call")
        reseeds = b"1" if arrays["words"].any() else b"0"
        self.data += b"C" + reseeds + given + answer
        return raised_or(found) and AskedCall(found, self.data)


class AskedCall:
    """A `Call` whose methods are steps."""

    def __init__(self, real: Any, data: bytearray) -> None:
        self._real, self._data = real, data

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def asked(*args: Any) -> Any:
            given = args if name != "finish" else (wide(args[0], 4), wide(args[1], 8), *args[2:])
            before = value(given)
            found, answer = outcome(getattr(self._real, name), args, name)
            self._data += b"M" + value(name) + before + answer
            return raised_or(found)

        return asked


def outcome(function: Callable[..., Any], args: Sequence[Any], name: str) -> tuple[Any, bytes]:
    """What a function returns, or its error; and the bytes of it."""
    try:
        found = function(*args)
    except (ValueError, MemoryError) as error:
        return error, b"E"
    return found, b"N" if name == "Call" else value(widened(name, found))


def raised_or(found: Any) -> Any:
    if isinstance(found, Exception):
        raise found
    return found


def wide(data: bytes, width: int) -> Any:
    return np.frombuffer(data, f"u{width}")


def widened(name: str, found: Any) -> Any:
    """The answer with an array of numbers for each bytes of numbers (call.c, `methods`)."""
    if name == "seed":
        return (
            *found[:2],
            *(wide(each, w) for each, w in zip(found[2:], (8, 8, 8, 4), strict=True)),
        )
    if name == "unigram_cells":
        return tuple(wide(each, 4) for each in found)
    if isinstance(found, bytes):
        return wide(found, 4)
    if not name.startswith("encode") or found is None:
        return found
    ids, *rest = found
    first = 3 if name in ("encode_rows", "encode_utf8", "encode_places") else 1
    numbers = [wide(each, 8) for each in rest[: first // 2 + (name == "encode_places")]]
    return (wide(ids, 4), *map(_listed, [*numbers, *rest[len(numbers) :]]))


def _listed(each: Any) -> Any:
    """The holes of a call that looks segments up are numbers, too."""
    return (wide(each[0], 8), *each[1:]) if isinstance(each, tuple) else each


def value(each: Any) -> bytes:
    if each is None:
        return b"N"
    if isinstance(each, bool | int | np.integer):
        return b"I" + struct.pack("<q", int(each))
    if isinstance(each, str):
        try:
            data = each.encode()
        except UnicodeEncodeError:
            return b"U"
        return b"S" + struct.pack("<q", len(data)) + data
    if isinstance(each, dict):
        items = [value(part) for pair in each.items() for part in pair]
        return b"D" + struct.pack("<q", len(items)) + b"".join(items)
    if isinstance(each, list | tuple):
        kind = b"L" if isinstance(each, list) else b"K"
        return kind + struct.pack("<q", len(each)) + b"".join(map(value, each))
    array = np.ascontiguousarray(each if isinstance(each, np.ndarray) else wide(each, 1))
    data = array.astype(array.dtype.newbyteorder("<")).tobytes()
    return b"B" + struct.pack("<qq", array.itemsize, len(data)) + data


def cases(seeds: int) -> Iterator[bytes]:
    """The steps of each tokenizer: so many of each kind, and the stored ones."""
    for kind in KINDS:
        for seed in range(seeds):
            yield drawn_steps(kind, seed)
    for name, tokenizer in named_tokenizers().items():
        draw = random.Random(name)
        yield steps_of(name, tokenizer, [draw_text(draw, []) for _ in range(30)], draw)
    for kind, draw_model in PATHS.items():
        for seed in range(seeds):
            draw = random.Random(f"{kind} {seed}")
            yield steps_of_path(f"{kind} {seed}", draw_model, draw)


def drawn_steps(kind: str, seed: int) -> bytes:
    draw = random.Random(f"{kind} {seed}")
    tokenizer = KINDS[kind](draw)
    contents = draw_added(draw, tokenizer)
    if kind in ("bytes", "missing bytes"):
        tokenizer.decoder = decoders.ByteLevel()
    texts = [draw_text(draw, contents) for _ in range(16)]
    texts += [draw_unigram_text(draw) for _ in range(8 * (kind == "unigram"))]
    return steps_of(f"{kind} {seed}", tokenizer, texts, draw)


def steps_of(name: str, tokenizer: Any, texts: list[str], draw: random.Random) -> bytes:
    steps = Steps(kernel_modules.CALL)
    steps.begin(name)
    with (
        patch.object(kernel_modules, "CALL", steps.module),
        patch.object(compiled_build, "IN_BACKGROUND", False),
        patch.object(compiled_build, "drawn_texts", lambda parts, count: []),
        patch.object(call_tables, "LONGEST_FROM", draw.choice([1, 6, 25])),
        patch.object(call_tables, "SAMPLED", NEVER),
        patch.dict("os.environ", {"TOKPAR_CACHE": ""}),
    ):
        adapter: Any = tokpar.load(tokenizer)
        call = adapter.later_call and adapter.later_call.wait()
        if call is None:
            return b""
        ask_all(call, with_long(texts, draw))
        if (table := table_of_texts(adapter)) is not None:
            rows = [ids for ids in map(call.encode_plain, texts) if ids is not None]
            table.texts((*rows, *(ids.tolist() for ids in rows)))
    return bytes(steps.data)


def table_of_texts(adapter: Any) -> TextTable | None:
    try:
        return checked_table(adapter.decoding_parts(False))
    except OptionError:
        return None


def steps_of_path(
    name: str, draw_model: Callable[[random.Random], tuple[PathModel, str]], draw: random.Random
) -> bytes:
    steps = Steps(kernel_modules.CALL)
    steps.begin(name)
    with (
        patch.object(kernel_modules, "CALL", steps.module),
        patch.object(call_tables, "SAMPLED", NEVER),
        np.errstate(over="ignore", invalid="ignore"),
    ):
        model, letters = draw_model(draw)
        call = call_tables.call_of(path_arrays(model), {}, ((), ()))
        texts = [draw_path_text(draw, letters) for _ in range(16)]
        for text in with_long(texts, draw):
            call.encode(text)
            call.encode_part(text, len(text) // 3, len(text))
        call.encode_rows(tuple(texts))
    return bytes(steps.data)


def with_long(texts: list[str], draw: random.Random) -> list[str]:
    """The texts, and longer ones of the same parts, so that what was learned is found again."""
    parts = [text + draw.choice(["\n", " ", ""]) for text in texts]
    return [*texts, *("".join(draw.choices(parts, k=12)) for _ in range(4)), "\ud800 a"]


def ask_all(call: Any, texts: list[str]) -> None:
    """Each door of the call. That its ids are the engine's is tested elsewhere."""
    raw = call._call
    for _ in range(2):
        for text in texts:
            call.encode(text)
            raw.encode_plain(text)
            raw.encode_places(text)
            raw.encode_part(text, len(text) // 3, len(text), 1)
    raw.encode_rows(tuple(texts))
    data = [text.encode() for text in texts if text.isprintable()]
    edges = np.cumsum([0, *map(len, data)], dtype=np.int64)
    raw.encode_utf8(b"".join(data), edges)
    for left, right in zip("a中 1", " a1\n", strict=True):
        raw.is_sure(ord(left), ord(right))
