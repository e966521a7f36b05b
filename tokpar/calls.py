"""The functions of the package: what an `Encoder` does, for callers who keep none.

The encoders of the last calls are kept: of a tokenizer object as long as that lives, of a path as
long as the file stays as it is."""

from __future__ import annotations

import os
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from stat import S_ISDIR
from typing import Any, TypeVar

from tokpar.arrays import IdArray
from tokpar.certificate.findings import CheckReport
from tokpar.combining import StrategyName
from tokpar.encoder import BATCH_BYTES, Encoder, Texts
from tokpar.encoding import Batch, Encoding
from tokpar.errors import TokparError
from tokpar.interfaces import Executor
from tokpar.loading import DEFAULT_TOKENIZER, Detaches, load
from tokpar.registry import PluginRecord, StrategyRecord, registry

MOST_KEPT = 4
"""Paths and names of tokenizers, and for each tokenizer object ways to encode."""

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")
_lock = threading.Lock()
os.register_at_fork(after_in_child=lambda: globals().update(_lock=threading.Lock()))


def encode(
    text: str,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    strategy: StrategyName = "auto",
    executor: str | Executor = "auto",
    workers: int | None = None,
    allow_approximate: bool = False,
    **options: Any,
) -> Encoding:
    """The ids of `text`, equal to the tokenizer's own serial call. Pools that this opens are closed
    again.

    >>> encode("Hello world").ids
    array([6728, 5246], dtype=uint32)
    """
    arguments = _arguments(strategy, executor, workers, allow_approximate, options)
    return _call_encoder(tokenizer, arguments, Encoder.encode, text)


def encode_batch(
    texts: Texts,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    strategy: StrategyName = "auto",
    executor: str | Executor = "auto",
    workers: int | None = None,
    allow_approximate: bool = False,
    **options: Any,
) -> Batch:
    """The ids of texts, padded as the tokenizer's own batch call pads them. `texts`: str, UTF-8
    bytes, or an Arrow array of strings; see `Encoder.encode_batch`."""
    arguments = _arguments(strategy, executor, workers, allow_approximate, options)
    return _call_encoder(tokenizer, arguments, Encoder.encode_batch, texts)


def encode_iter(
    texts: Texts,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    batch_bytes: int = BATCH_BYTES,
    strategy: StrategyName = "auto",
    executor: str | Executor = "auto",
    workers: int | None = None,
    allow_approximate: bool = False,
    **options: Any,
) -> Iterator[Encoding]:
    """The encodings of any number of texts, one by one, in bounded memory: each is what `encode`
    gives. See `Encoder.encode_iter`.

    >>> [len(encoding) for encoding in encode_iter(text for text in ("Hello world", "Hello"))]
    [2, 1]
    """
    arguments = _arguments(strategy, executor, workers, allow_approximate, options)
    encoder = _call_encoder(tokenizer, arguments, _with_own_pools, None)
    return _closing(encoder, encoder.encode_iter(texts, batch_bytes=batch_bytes))


def count(text: str, tokenizer: object = DEFAULT_TOKENIZER) -> int:
    """How many ids `encode` gives."""
    return _call_encoder(tokenizer, _USUAL, Encoder.count, text)


def decode(ids: Sequence[int] | IdArray, tokenizer: object = DEFAULT_TOKENIZER) -> str:
    """The tokenizer's own decoding. Raises LookupError if it has none."""
    return _call_encoder(tokenizer, _USUAL, Encoder.decode, ids)


def stream(chunks: Iterable[str], tokenizer: object = DEFAULT_TOKENIZER) -> Iterator[IdArray]:
    """The ids of a text that arrives in chunks: uint32 arrays, none empty, each given as soon as
    nothing that follows can change it; joined they are those of `encode`. A chunk is asked for when
    ids are. Raises OptionError for one that is no str, and else what `encode` raises."""
    return Encoder(tokenizer).stream(chunks)


def check(
    encoding: Any, text: str, tokenizer: object = DEFAULT_TOKENIZER, *, level: str = "ids"
) -> CheckReport:
    """Check an encoding of `text`, independently of how it was made. The report is true if all that
    `level` proves was proved.

    `level`: "seams": each seam is licensed by its rule; nothing is said of ids. "ids": also, the
    ids are those of the tokenizer's own call, which encodes each distinct segment once (theorem
    31). "model": also, the ids follow from the tokenizer's file, without a call (theorems 32, 33).
    Raises OptionError for another level."""
    from tokpar.certificate import checker

    return checker.check(encoding, text, load(tokenizer), level)


def strategies() -> list[StrategyRecord]:
    """All registered strategies: name, lossless, source, conditions, owner, options."""
    return registry().strategies()


def plugins() -> list[PluginRecord]:
    """All plugins, the built-in ones included, and what is wrong with those that did not load."""
    return registry().plugins()


def _arguments(
    strategy: StrategyName,
    executor: str | Executor,
    workers: int | None,
    allow_approximate: bool,
    options: Mapping[str, Any],
) -> Mapping[str, Any]:
    named = {"strategy": strategy, "executor": executor, "workers": workers}
    return {**named, "allow_approximate": allow_approximate, **options}


_USUAL = _arguments("auto", "auto", None, False, {})


@dataclass(frozen=True, slots=True)
class _Kept:
    """An encoder without its tokenizer; `adapter_of`: the tokenizer to its adapter."""

    encoder: Encoder
    adapter_of: Callable[[object], object]


_Table = OrderedDict[Hashable, _Kept]
_path_encoders: _Table = OrderedDict()
_object_encoders: weakref.WeakKeyDictionary[Any, _Table] = weakref.WeakKeyDictionary()


def _call_encoder(
    tokenizer: object,
    arguments: Mapping[str, Any],
    call: Callable[[Encoder, _Argument], _Result],
    argument: _Argument,
) -> _Result:
    """What a call of an encoder returns, whose pools are this call's own."""
    table, key = _place(tokenizer, arguments)
    kept = None if table is None else table.get(key)
    if kept is None:
        encoder, before = Encoder(tokenizer, **arguments), None
    else:
        before = kept.adapter_of(tokenizer)
        encoder = kept.encoder.with_tokenizer(before)
    try:
        return call(encoder, argument)
    finally:
        encoder.close()
        if table is not None and encoder.current is not before:
            _keep(table, key, tokenizer, encoder)


def _with_own_pools(encoder: Encoder, nothing: None) -> Encoder:
    return encoder.with_tokenizer(encoder.tokenizer)


def _closing(encoder: Encoder, encodings: Iterator[Encoding]) -> Iterator[Encoding]:
    """Yields the encodings, and closes the pools of the encoder after the last one."""
    try:
        yield from encodings
    finally:
        encoder.close()


def _place(tokenizer: object, arguments: Mapping[str, Any]) -> tuple[_Table | None, Hashable]:
    """Where the encoder of such a call is kept; none where equal arguments may mean something
    else, or the tokenizer cannot be referred to weakly."""
    if not isinstance(arguments["strategy"], str) or not isinstance(arguments["executor"], str):
        return None, None
    key: Hashable = registry(), tuple((name, type(v), v) for name, v in arguments.items())
    try:
        hash(key)
        if isinstance(tokenizer, (str, os.PathLike)):
            return _path_encoders, (os.fspath(tokenizer), _stamp(tokenizer), key)
        if type(tokenizer).__eq__ is not object.__eq__:
            return None, None
        return _object_encoders.setdefault(tokenizer, OrderedDict()), key
    except TypeError:
        return None, None


def _stamp(path: str | os.PathLike[str]) -> Hashable:
    """Of the file that a path names, if it names one."""
    try:
        found = os.stat(path)
        if S_ISDIR(found.st_mode):
            from pathlib import Path  # both slow to import

            from tokpar.named_tokenizers import in_directory

            found = os.stat(in_directory(Path(path)))
    except (OSError, TokparError):
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _keep(table: _Table, key: Hashable, tokenizer: object, encoder: Encoder) -> None:
    adapter = encoder.current
    adapter_of: Callable[[object], object] = _return_itself
    if adapter is tokenizer:
        pass
    elif isinstance(tokenizer, (str, os.PathLike)):
        adapter_of = partial(_return_adapter, adapter)
    elif isinstance(adapter, Detaches):
        adapter_of = adapter.detached().attached
    else:
        return
    with _lock:
        table[key] = _Kept(encoder.with_tokenizer(None), adapter_of)
        while len(table) > MOST_KEPT:
            table.popitem(last=False)


def _return_itself(tokenizer: object) -> object:
    return tokenizer


def _return_adapter(adapter: object, tokenizer: object) -> object:
    return adapter
