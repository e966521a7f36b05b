"""Engines of `tests.benchmarks.speed` and their own calls for one text."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import tokpar
from tokpar.executors.serial import PASSING
from tokpar.kernels import IdArray

Call = Callable[[str], IdArray]


@dataclass(frozen=True)
class Subject:
    """An engine with a vocabulary: how to load it for tokpar, and the calls by name of a new object
    of its own; the first is the one that the engine's users make."""

    name: str
    engine: str
    load: Callable[[], Any]
    own: Callable[[], dict[str, Call]]


def subjects(vocab: Path, only: Sequence[str]) -> Iterator[Subject]:
    """Those whose files and packages are there; `only`: names, or parts of them, all if empty."""

    def wanted(name: str) -> bool:
        return not only or any(part in name for part in only)

    yield from _huggingface(vocab, wanted)
    yield from _tiktoken(vocab, wanted)
    with tempfile.TemporaryDirectory() as directory:
        yield from _engines(vocab, wanted, Path(directory))


def _huggingface(vocab: Path, wanted: Callable[[str], bool]) -> Iterator[Subject]:
    from tokenizers import Tokenizer

    for name, file in (("DeepSeek-V3", "deepseek.json"), ("BERT", "bert.json")):
        if (vocab / file).is_file() and wanted(f"{name}, Hugging Face"):
            own = Tokenizer.from_file(str(vocab / file))
            own.no_truncation()
            own.no_padding()

            def load(config: str = own.to_str()) -> Any:
                return tokpar.load(Tokenizer.from_str(config))

            def encode(text: str, own: Any = own) -> IdArray:
                return np.array(own.encode(text).ids, dtype=np.uint32)

            def calls(encode: Call = encode) -> dict[str, Call]:
                return {"encode": encode}

            yield Subject(f"{name}, Hugging Face", "Hugging Face", load, calls)


def _tiktoken(vocab: Path, wanted: Callable[[str], bool]) -> Iterator[Subject]:
    for name in ("cl100k", "o200k"):
        path = vocab / f"{name}_base.tiktoken"
        if path.is_file() and wanted(f"{name}, tiktoken"):
            adapter: Any = tokpar.load(path)
            own = adapter.encoding

            def encode(text: str, own: Any = own) -> IdArray:
                return np.array(own.encode_ordinary(text), dtype=np.uint32)

            def to_numpy(text: str, own: Any = own) -> IdArray:
                ids: IdArray = own.encode_to_numpy(text, disallowed_special=())
                return ids

            def calls(encode: Call = encode, to_numpy: Call = to_numpy) -> dict[str, Call]:
                return {"encode_ordinary": encode, "encode_to_numpy": to_numpy}

            def load(path: Path = path) -> Any:
                return tokpar.load(path, disallowed_special=())

            yield Subject(f"{name}, tiktoken", "tiktoken", load, calls)


def _engines(vocab: Path, wanted: Callable[[str], bool], directory: Path) -> Iterator[Subject]:
    files = {"DeepSeek-V3": "deepseek.json", "BERT": "bert.json"}
    engines = {"fastokens": _fastokens, "gigatoken": _gigatoken, "tokie": _tokie}
    for engine, own in engines.items():
        for name, file in files.items():
            if not wanted(f"{name}, {engine}"):
                continue
            try:
                whole = _without_cutting(vocab / file, directory)
                calls = partial(own, import_module(engine), str(whole))

                def load(path: Path = whole, engine: str = engine) -> Any:
                    return tokpar.load(path, engine=engine, trust=True, add_special_tokens=False)

                calls()
                load()
            except BaseException as error:  # a panic is no Exception
                if isinstance(error, PASSING):
                    raise
                print(f"{name}, {engine}: left out, {error}", file=sys.stderr)
                continue
            yield Subject(f"{name}, {engine}", engine, load, calls)


def _without_cutting(path: Path, directory: Path) -> Path:
    """A copy of a tokenizer.json that stores no truncation and no padding."""
    config = json.loads(path.read_text(encoding="utf-8")) | {"truncation": None, "padding": None}
    copy = directory / path.name
    copy.write_text(json.dumps(config), encoding="utf-8")
    return copy


def _fastokens(package: Any, path: str) -> dict[str, Call]:
    own = package.Tokenizer.from_json_str(Path(path).read_text(encoding="utf-8"))
    return {
        "encode_batch_flat": lambda t: np.frombuffer(own.encode_batch_flat([t])[0], np.uint32),
    }


def _gigatoken(package: Any, path: str) -> dict[str, Call]:
    own = package.Tokenizer.from_json(Path(path).read_text(encoding="utf-8"))
    return {
        "encode": own.encode,
        "encode_batch": lambda text: np.asarray(own.encode_batch([text])[0]),
    }


def _tokie(package: Any, path: str) -> dict[str, Call]:
    own = package.Tokenizer.from_json(path)
    own.no_truncation()
    own.no_padding()
    return {
        "encode": lambda t: np.array(own.encode(t, add_special_tokens=False).ids, np.uint32),
        "encode_batch_flat": lambda t: own.encode_batch_flat([t], add_special_tokens=False)[0],
    }
