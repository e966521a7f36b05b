"""The functions of the package, such as `encode`, for callers who have no `Encoder` of their own.

The functions keep the encoders of the last calls: of a tokenizer object as long as it lives and is
not changed, of the last four paths as long as the file does not change."""

from __future__ import annotations

import os
import sys
import weakref
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from stat import S_ISDIR
from typing import TYPE_CHECKING, Any, TypeVar

from tokpar.arrays import IdArray
from tokpar.contract.interfaces import Executor
from tokpar.encoder import BATCH_BYTES, Encoder, Spans, Texts
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.process.fork_locks import own_lock
from tokpar.process.interrupts import raise_foreign
from tokpar.process.limits import require_text
from tokpar.registry.combining import StrategyName
from tokpar.registry.tables import PluginRecord, StrategyRecord, registry
from tokpar.results.encoding import Batch, Encoding

if TYPE_CHECKING:
    from tokpar.certificate.findings import CheckReport
    from tokpar.chunks.budget import Keep, KeptTexts
    from tokpar.untrusted.trusted_encoder import Control

MOST_KEPT = 4
"""How many encoders are kept for paths and names, and how many for each tokenizer object."""

_Argument = TypeVar("_Argument")
_Result = TypeVar("_Result")
_lock = own_lock(sys.modules[__name__])


def encode(
    text: str,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    strategy: StrategyName = "auto",
    executor: str | Executor = "auto",
    workers: int | None = None,
    allow_approximate: bool = False,
    untrusted: Spans | None = None,
    control: Control = "default",
    **options: Any,
) -> Encoding:
    """Returns the ids of `text`, equal to the ids of the tokenizer's own serial call.

    `untrusted`, `control`: parts of the text that may not spell control tokens, see
    `Encoder.encode`. The call closes the pools that it opens.

    >>> encode("Hello world").ids
    array([6728, 5246], dtype=uint32)
    """
    arguments = _arguments(strategy, executor, workers, allow_approximate, options)
    call = Encoder.encode
    if untrusted is not None:
        call = partial(Encoder.encode, untrusted=untrusted, control=control)
    return _call_encoder(tokenizer, arguments, call, text)


def encode_segments(
    segments: Iterable[tuple[str, bool]],
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    control: Control = "default",
) -> Encoding:
    """Returns the ids of the text that the segments (text, trusted) make up; a segment that is not
    trusted cannot spell a control token.

    >>> encode_segments([("Hello", True), (" world", False)]).ids
    array([6728, 5246], dtype=uint32)
    """
    call = partial(Encoder.encode_segments, control=control)
    return _call_encoder(tokenizer, _USUAL, call, segments)


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
    """Returns the ids of texts, padded as the tokenizer's own batch call pads them.

    `texts`: str, UTF-8 bytes, or an Arrow array of strings; see `Encoder.encode_batch`."""
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
    """Returns an iterator of the encodings of any number of texts, in bounded memory.

    Each encoding equals `encode(text)`. See `Encoder.encode_iter`.

    >>> [len(encoding) for encoding in encode_iter(text for text in ("Hello world", "Hello"))]
    [2, 1]
    """
    arguments = _arguments(strategy, executor, workers, allow_approximate, options)
    encoder = _encoder_for(tokenizer, arguments)
    return _closing(encoder, encoder.encode_iter(texts, batch_bytes=batch_bytes))


def count(text: str, tokenizer: object = DEFAULT_TOKENIZER) -> int:
    """Returns the number of ids of `encode(text)`."""
    return _call_encoder(tokenizer, _USUAL, Encoder.count, text)


def fit(
    texts: Sequence[str] | Sequence[Mapping[str, object]],
    budget: int,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    keep: Keep = "ends",
) -> KeptTexts:
    """Returns which part of texts or messages has at most `budget` ids. See `Encoder.fit`.

    >>> fit(["A long text. ", "Another one."], 4).texts
    ('A long', ' one.')
    """
    fitted: Callable[..., KeptTexts] = partial(Encoder.fit, budget=budget, keep=keep)
    return _call_encoder(tokenizer, _USUAL, fitted, texts)


def decode(ids: Sequence[int] | IdArray, tokenizer: object = DEFAULT_TOKENIZER) -> str:
    """Returns the text of `ids` by the tokenizer's own decoder. LookupError if it has none."""
    return _call_encoder(tokenizer, _USUAL, Encoder.decode, ids)


def stream(chunks: Iterable[str], tokenizer: object = DEFAULT_TOKENIZER) -> Iterator[IdArray]:
    """Returns an iterator of the ids of a text that arrives in chunks: uint32 arrays, none empty.

    Each array comes as soon as no later text can change its ids. All arrays together are the ids of
    `encode`. The iterator takes a chunk when the caller asks for ids. Raises OptionError for a
    chunk that is no str, and the errors of `encode`."""
    return _encoder_for(tokenizer, _USUAL).stream(chunks)


def check(
    encoding: Any,
    text: str,
    tokenizer: object = DEFAULT_TOKENIZER,
    *,
    level: str = "ids",
    untrusted: Spans | None = None,
    control: Collection[str] | None = None,
) -> CheckReport:
    """Check an encoding of `text`, independently of how it was made. The report is true if all that
    `level` proves was proved.

    At each `level`, each seam must be licensed by its rule. "ids": the ids are those of the
    tokenizer's own call, which encodes each distinct segment once (theorem 31). "model": the ids
    follow from the tokenizer's file, without a call (theorems 32, 33). `untrusted`: the untrusted
    spans of the text, as for `encode`; the check never believes the spans of the encoding.
    `control`: the contents of the control tokens; None: those of the encoding, which the report
    lists. Raises OptionError for another level, and for spans that are none."""
    from tokpar.certificate import checker

    is_path = isinstance(tokenizer, (str, os.PathLike))
    own = _encoder_for(tokenizer, _USUAL).tokenizer if is_path else load(tokenizer)
    return checker.check(encoding, require_text(text), own, level, untrusted, control)


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


_Table = OrderedDict[Hashable, Encoder]
_path_encoders: _Table = OrderedDict()
_object_encoders: weakref.WeakKeyDictionary[Any, _Table] = weakref.WeakKeyDictionary()


def _call_encoder(
    tokenizer: object,
    arguments: Mapping[str, Any],
    call: Callable[[Encoder, _Argument], _Result],
    argument: _Argument,
) -> _Result:
    """Returns the result of `call` for a new or kept encoder, and closes the pools of this call."""
    encoder = _encoder_for(tokenizer, arguments)
    try:
        return call(encoder, argument)
    finally:
        encoder.close()


def _encoder_for(tokenizer: object, arguments: Mapping[str, Any]) -> Encoder:
    """Returns the kept encoder of a path, or of an object that is what it was; else a new one.

    An encoder that has a reference to the caller's object is not kept: the object would live as
    long as the encoder."""
    table, key = _place(tokenizer, arguments)
    if table is None:
        return Encoder(tokenizer, **arguments)
    kept = table.get(key)
    if kept is None or not (table is _path_encoders or _is_current(kept.tokenizer, tokenizer)):
        kept = Encoder(tokenizer, **arguments)
        if table is not _path_encoders and not _is_current(kept.tokenizer, tokenizer):
            return kept
    with _lock:
        table[key] = kept
        table.move_to_end(key)
        if len(table) > MOST_KEPT:
            table.popitem(last=False)
    return kept


def _is_current(adapter: object, tokenizer: object) -> bool:
    """True if `adapter` is a snapshot of the object, and the object is what it was then."""
    if adapter is tokenizer:
        return False
    is_current: Callable[[object], bool] | None = getattr(adapter, "is_current", None)
    return is_current is not None and is_current(tokenizer)


def _closing(encoder: Encoder, encodings: Iterator[Encoding]) -> Iterator[Encoding]:
    """Yields the encodings, and closes the pools of the encoder after the last one."""
    try:
        yield from encodings
    finally:
        encoder.close()


def _place(tokenizer: object, arguments: Mapping[str, Any]) -> tuple[_Table | None, Hashable]:
    """Returns the table and the key of the encoder of a call.

    No table if equal arguments may mean something else, or if the tokenizer has no weak
    references."""
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
    """Returns what changes when a file, or a file of a directory, changes; None if the path names
    neither."""
    try:
        found = os.stat(path)
        if S_ISDIR(found.st_mode):
            with os.scandir(path) as files:
                stamps = [(file.name, *_times(file.stat())) for file in files]
            return tuple(sorted(stamps))
    except OSError as error:
        raise_foreign(error)
        return None
    return _times(found)


def _times(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mtime_ns, status.st_size, status.st_ino
