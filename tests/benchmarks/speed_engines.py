"""Engines, and their own calls for one text and for many."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import tokpar
from tokpar.arrays import IdArray
from tokpar.foreign_errors import INTERRUPTS

FILES = {"DeepSeek-V3": "deepseek.json", "BERT": "bert.json"}
Call = Callable[[str], IdArray]


@dataclass(frozen=True)
class Many:
    """An own call for many texts, whose result has the ids in arrays by the cheapest way that its
    users have; `rows` takes them apart, for comparisons."""

    call: Callable[[list[str]], Any]
    rows: Callable[[Any], Sequence[IdArray]] = list


@dataclass(frozen=True)
class Own:
    """The calls of one object by name; the first for one text is the one that its users make."""

    one: dict[str, Call]
    many: dict[str, Many]


@dataclass(frozen=True)
class Subject:
    """An engine with a vocabulary: how to load it for tokpar, which may be given settings, and how
    to make an object of its own. `file`: the vocabulary, a tokenizer.json or ranks."""

    name: str
    engine: str
    load: Callable[..., Any]
    own: Callable[[], Own]
    file: Path | None = None


def subjects(vocab: Path, only: Sequence[str]) -> Iterator[Subject]:
    """Those whose files and packages are there; `only`: names, or parts of them, all if empty."""
    yield from library_subjects(vocab, only)
    with tempfile.TemporaryDirectory() as directory:
        yield from _engines(vocab, partial(is_wanted, only), Path(directory))


def library_subjects(vocab: Path, only: Sequence[str]) -> Iterator[Subject]:
    """Those of `tokenizers` and tiktoken, which vocabularies are made for."""
    wanted = partial(is_wanted, only)
    with tempfile.TemporaryDirectory() as directory:
        for name, file in FILES.items():
            if (vocab / file).is_file() and wanted(f"{name}, Hugging Face"):
                yield huggingface_subject(name, vocab / file, Path(directory))
        yield from _tiktoken(vocab, wanted)


def is_wanted(only: Sequence[str], name: str) -> bool:
    """Whether the name has one of these parts; all have if there is none."""
    return not only or any(part in name for part in only)


def huggingface_subject(name: str, file: Path, directory: Path) -> Subject:
    """A tokenizer.json with `tokenizers`; `directory`: for a copy, as long as the subject lives."""
    from tokenizers import Tokenizer

    whole = without_cutting(file, directory)

    def load(**settings: Any) -> Any:
        return tokpar.load(Tokenizer.from_file(str(whole)), **settings)

    def own() -> Own:
        return _of_tokenizers(Tokenizer.from_file(str(whole)))

    return Subject(f"{name}, Hugging Face", "Hugging Face", load, own, whole)


def _of_tokenizers(own: Any) -> Own:
    """Of tokenizers 0.2x and 1.x, which has arrays, and one batch call."""
    has_arrays = hasattr(type(own.encode("")), "ids_array")

    def ids(encoding: Any) -> IdArray:
        if has_arrays:
            found: IdArray = encoding.ids_array
            return found
        return np.array(encoding.ids, dtype=np.uint32)

    def many(name: str) -> Many:
        batch = getattr(own, name)
        return Many(lambda texts: [ids(each) for each in batch(texts)])

    batches = [name for name in ("encode_batch", "encode_batch_fast") if hasattr(own, name)]
    return Own(
        {"encode": lambda text: ids(own.encode(text))}, {name: many(name) for name in batches}
    )


def _tiktoken(vocab: Path, wanted: Callable[[str], bool]) -> Iterator[Subject]:
    for name in ("cl100k", "o200k"):
        path = vocab / f"{name}_base.tiktoken"
        if path.is_file() and wanted(f"{name}, tiktoken"):
            adapter: Any = tokpar.load(path)
            own = adapter.encoding

            def calls(own: Any = own) -> Own:
                return _of_tiktoken(own)

            def load(path: Path = path, **settings: Any) -> Any:
                return tokpar.load(path, disallowed_special=(), **settings)

            yield Subject(f"{name}, tiktoken", "tiktoken", load, calls, path)


def _of_tiktoken(own: Any) -> Own:
    def to_numpy(text: str) -> IdArray:
        ids: IdArray = own.encode_to_numpy(text, disallowed_special=())
        return ids

    def batch(texts: list[str]) -> list[IdArray]:
        return [np.array(ids, dtype=np.uint32) for ids in own.encode_ordinary_batch(texts)]

    return Own(
        {
            "encode_ordinary": lambda text: np.array(own.encode_ordinary(text), dtype=np.uint32),
            "encode_to_numpy": to_numpy,
        },
        {
            "encode_ordinary_batch": Many(batch),
            "encode_to_numpy": Many(lambda texts: [to_numpy(text) for text in texts]),
        },
    )


def _engines(vocab: Path, wanted: Callable[[str], bool], directory: Path) -> Iterator[Subject]:
    for engine, own in ENGINES.items():
        for name, file in FILES.items():
            if not wanted(f"{name}, {engine}"):
                continue
            try:
                whole = without_cutting(vocab / file, directory)
                calls = partial(own, import_module(engine), str(whole))

                def load(path: Path = whole, engine: str = engine) -> Any:
                    return tokpar.load(path, engine=engine, trust=True, add_special_tokens=False)

                calls()
                load()
            except BaseException as error:  # a panic is no Exception
                if isinstance(error, INTERRUPTS):
                    raise
                print(f"{name}, {engine}: left out, {error}", file=sys.stderr)
                continue
            yield Subject(f"{name}, {engine}", engine, load, calls, whole)


def without_cutting(path: Path, directory: Path) -> Path:
    """A copy of a tokenizer.json that stores no truncation and no padding."""
    config = json.loads(path.read_text(encoding="utf-8")) | {"truncation": None, "padding": None}
    copy = directory / path.name
    copy.write_text(json.dumps(config), encoding="utf-8")
    return copy


def _fastokens(package: Any, path: str) -> Own:
    return _of_fastokens(package.Tokenizer.from_json_str(Path(path).read_text(encoding="utf-8")))


def _of_fastokens(own: Any) -> Own:
    def flat(texts: list[str]) -> tuple[IdArray, Any]:
        ids, offsets = own.encode_batch_flat(texts)
        return np.frombuffer(ids, np.uint32), np.frombuffer(offsets, np.uint64)

    return Own(
        {"encode_batch_flat": lambda text: flat([text])[0]},
        {"encode_batch_flat": Many(flat, lambda found: np.split(found[0], found[1][1:-1]))},
    )


def _gigatoken(package: Any, path: str) -> Own:
    return of_gigatoken(package.Tokenizer.from_json(Path(path).read_text(encoding="utf-8")))


def of_gigatoken(own: Any) -> Own:
    """The calls of one of its tokenizers."""

    def flat(texts: list[str]) -> tuple[IdArray, Any]:
        """The arrays below awkward's."""
        layout = own.encode_batch(texts).layout
        return np.asarray(layout.content.data), np.asarray(layout.offsets)

    return Own(
        {
            "encode": own.encode,
            "encode_batch": lambda text: np.asarray(own.encode_batch([text])[0]),
        },
        {"encode_batch": Many(flat, lambda found: np.split(found[0], found[1][1:-1]))},
    )


def _tokie(package: Any, path: str) -> Own:
    own = package.Tokenizer.from_json(path)
    own.no_truncation()
    own.no_padding()

    def flat(texts: list[str]) -> Any:
        return own.encode_batch_flat(texts, add_special_tokens=False)

    def rows(found: Any) -> list[IdArray]:
        return np.split(found[0], np.cumsum(found[1].astype(np.int64))[:-1])

    return Own(
        {
            "encode": lambda t: np.array(own.encode(t, add_special_tokens=False).ids, np.uint32),
            "encode_batch_flat": lambda text: flat([text])[0],
        },
        {"encode_batch_flat": Many(flat, rows)},
    )


ENGINES: dict[str, Callable[[Any, str], Own]] = {
    "fastokens": _fastokens,
    "gigatoken": _gigatoken,
    "tokie": _tokie,
}
"""By package: its tokenizer of a tokenizer.json."""
PEERS = {
    "fastokens": "encode_batch_flat",
    "gigatoken": "encode_batch",
    "tokie": "encode_batch_flat",
}
"""By package: its fastest call for many texts, and for one long text."""


def peers(
    subject: Subject, engines: Sequence[str] = tuple(ENGINES)
) -> dict[str, Callable[[], Own]]:
    """The other engines that are installed and take this vocabulary, of those named."""
    found = {}
    for engine, own in _peers(subject, engines):
        try:
            own()
        except BaseException as error:  # a panic is no Exception
            if isinstance(error, INTERRUPTS):
                raise
            why = " ".join(str(error).split())[:100]
            print(f"{subject.name}: {engine} is left out, {why}", file=sys.stderr)
            continue
        found[engine] = own
    return found


def _peers(subject: Subject, engines: Sequence[str]) -> Iterator[tuple[str, Callable[[], Own]]]:
    path = str(subject.file)
    for engine, own in ENGINES.items():
        if engine not in engines or not find_spec(engine):
            continue
        package: Any = import_module(engine)
        if subject.engine == "Hugging Face":
            yield engine, partial(own, package, path)
        elif subject.engine == "tiktoken" and engine == "gigatoken":
            read = package.Tokenizer.from_tiktoken  # by the file's name it knows the pattern
            yield engine, lambda read=read: of_gigatoken(read(path))  # type: ignore[misc]
        elif subject.engine == "tiktoken" and engine == "fastokens":
            yield engine, partial(_ranks_of_fastokens, package, path)


def _ranks_of_fastokens(package: Any, path: str) -> Own:
    known: Any = tokpar.load(path)
    pattern, special = known.encoding._pat_str, dict(known.encoding._special_tokens)
    read = package.Tokenizer.from_tiktoken
    return _of_fastokens(read(path, pattern=pattern, special_tokens=special))
