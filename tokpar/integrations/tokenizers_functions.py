"""`tokpar.as_tokenizers`: a `tokenizers.Tokenizer` whose encode and decode functions are tokpar's.

The class cannot be subclassed, so the functions are attributes of the object: `tokenizer.encode`
finds them before the methods of the class. Each call reads what decides the ids
(`tokenizers_look`). What tokpar does not answer goes to the method of the class."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import partial, wraps
from typing import Any

from tokenizers import Tokenizer

from tokpar.adapters.engine_batches import call_batch, pad_batch
from tokpar.encoder import Encoder
from tokpar.errors import OptionError
from tokpar.integrations.hf_encodings import engine_encoding
from tokpar.integrations.tokenizers_results import FastCall, FollowedCall
from tokpar.integrations.tokenizers_source import engine_of
from tokpar.integrations.tokenizers_state import EngineState
from tokpar.process.fork_locks import is_child, own_lock

SHORTEST = 16
"""Code points of a text below which the engine is as fast."""
SHORTEST_BATCH = 40
"""Code points of several texts below which the engine's batch call is as fast."""
FEWEST_IDS = 16
"""Ids below which the engine decodes as fast."""
KEY = "_tokpar_functions"
"""The attribute of an object that holds its `EngineState`."""
_NEW_TOKENS = ("add_tokens", "add_special_tokens")
_TRAINING = ("train", "train_from_iterator")
_REPLACED = (
    "encode",
    "encode_batch",
    "encode_batch_fast",
    "decode",
    "decode_batch",
    "post_process",
)
_lock = own_lock(sys.modules[__name__])


def as_tokenizers(tokenizer: Any, **options: Any) -> Tokenizer:
    """Returns a `tokenizers.Tokenizer` with tokpar's `encode`, `encode_batch`, `encode_batch_fast`,
    `decode` and `decode_batch`, which give what its own give.

    `tokenizer`: a `tokenizers.Tokenizer`, which gets the functions and is returned itself; a fast
    tokenizer of transformers, whose `backend_tokenizer` gets them and is returned; a path, a
    directory or the name of a repository, as `load` takes them. `options`: those of `Encoder`.
    Truncation, padding, added tokens and parts of the pipeline may be changed at any time. Pickled
    and copied objects have the functions, too.

    Raises OptionError for another tokenizer, for an object whose `encode` was replaced, for an
    unknown option, and for tokenizers 1.x; what `load` raises for a path or a name."""
    Encoder(**options)  # its error for the value of an option comes now
    own = engine_of(tokenizer)
    if isinstance(own.__dict__.get(KEY), EngineState):
        return own
    replaced = [name for name in _REPLACED if name in own.__dict__]
    if replaced:
        raise OptionError(f"as_tokenizers cannot follow: {replaced[0]} of this object was replaced")
    put_functions(own, options).learn()
    return own


def put_functions(own: Tokenizer, options: Mapping[str, Any]) -> EngineState:
    """Put the functions on an object. Returns their state, which has learnt nothing yet."""
    note_new_models()
    state = EngineState(own, options)
    found = {**_encode_functions(own, state), **_decode_functions(own, state)}
    for name in _NEW_TOKENS:
        found[name] = _followed_by(getattr(own, name), state.note_new_tokens)
    for name in _TRAINING:
        found[name] = _followed_by(getattr(own, name), state.note_new_model)
    found["post_process"] = _post_process(own.post_process)
    found["__reduce_ex__"] = partial(_reduce, own, options)
    found["tokpar_texts"] = lambda: state.counts.by_way
    own.__dict__.update(found)
    own.__dict__[KEY] = state
    return state


def _encode_functions(own: Tokenizer, state: EngineState) -> dict[str, Any]:
    own_one, find = own.encode, state.encodings

    def encode(
        sequence: Any,
        pair: Any = None,
        is_pretokenized: Any = False,
        add_special_tokens: Any = True,
    ) -> Any:
        if (
            pair is None
            and is_pretokenized is False
            and type(sequence) is str
            and len(sequence) >= SHORTEST
        ):
            found = find((sequence,), add_special_tokens, FollowedCall)
            if found is not None:
                return found.only_result()
        return own_one(sequence, pair, is_pretokenized, add_special_tokens)

    batches = {
        name: _batch_function(getattr(own, name), state, kind)
        for name, kind in (("encode_batch", FollowedCall), ("encode_batch_fast", FastCall))
    }
    return {"encode": _named(encode, own_one), **batches}


def _batch_function(own_batch: Any, state: EngineState, kind: type[FollowedCall]) -> Any:
    find = state.encodings

    def encode_batch(
        input: Any,  # noqa: A002  # its name in the class
        is_pretokenized: Any = False,
        add_special_tokens: Any = True,
    ) -> Any:
        if is_pretokenized is False and type(input) is list and {*map(type, input)} == _STR:
            texts = tuple(input)
            found = None
            if sum(map(len, texts)) >= (SHORTEST if len(texts) == 1 else SHORTEST_BATCH):
                found = find(texts, add_special_tokens, kind)
            if found is not None:
                return found.results()
        if type(input) is list and is_child():
            settings = {
                "is_pretokenized": is_pretokenized,
                "add_special_tokens": add_special_tokens,
            }
            encodings = call_batch(own_batch, input, **settings)
            pad_batch(state.own, encodings)
            return encodings
        return own_batch(input, is_pretokenized, add_special_tokens)

    return _named(encode_batch, own_batch)


_STR = {str}


def _decode_functions(own: Tokenizer, state: EngineState) -> dict[str, Any]:
    own_one, own_batch, find = own.decode, own.decode_batch, state.texts

    def decode(ids: Any, skip_special_tokens: Any = True) -> Any:
        if type(ids) is list and len(ids) >= FEWEST_IDS:
            found = find((ids,), skip_special_tokens)
            if found is not None:
                return found[0]
        return own_one(ids, skip_special_tokens)

    def decode_batch(sequences: Any, skip_special_tokens: Any = True) -> Any:
        if type(sequences) is list and {*map(type, sequences)} == _LIST:
            found = find(tuple(sequences), skip_special_tokens)
            if found is not None:
                return found
        return own_batch(sequences, skip_special_tokens)

    return {"decode": _named(decode, own_one), "decode_batch": _named(decode_batch, own_batch)}


_LIST = {list}


def _named(function: Any, own: Any) -> Any:
    """Returns `function` with the names of `own`, which errors for wrong arguments have."""
    function.__name__, function.__doc__ = own.__name__, own.__doc__
    function.__qualname__ = f"Tokenizer.{own.__name__}"
    function.__module__ = __name__
    return function


def _followed_by(own: Any, note: Callable[[], None]) -> Any:
    """Returns `own`, a method that changes the tokenizer, with `note` called after it."""

    def change(*args: Any, **kwargs: Any) -> Any:
        try:
            return own(*args, **kwargs)
        finally:
            note()

    return _named(change, own)


def _post_process(own: Any) -> Any:
    """Returns `own`, which takes the engine's own encodings only."""

    def post_process(encoding: Any, pair: Any = None, add_special_tokens: Any = True) -> Any:
        return own(engine_encoding(encoding), engine_encoding(pair), add_special_tokens)

    return _named(post_process, own)


def _reduce(
    own: Tokenizer, options: Mapping[str, Any], protocol: int
) -> tuple[Callable[..., Tokenizer], tuple[Any, ...]]:
    """Pickles the engine as its class does."""
    reduced: Any = Tokenizer.__reduce_ex__(own, protocol)
    make, arguments, state = reduced[:3]
    return rebuild, (make, arguments, state, options)


def rebuild(
    make: Callable[..., Tokenizer],
    arguments: tuple[Any, ...],
    state: Any,
    options: Mapping[str, Any],
) -> Tokenizer:
    """Returns an unpickled or copied object with the functions. It learns the tokenizer when it
    first encodes a text."""
    own = make(*arguments)
    own.__setstate__(state)
    put_functions(own, options)
    return own


def note_new_models() -> None:
    """Make the class tell an object's state when a model or a normalizer is set.

    A model may have the same tokens and other merges, which no look at it sees. Objects without
    the functions are set as before."""
    kind: Any = Tokenizer
    with _lock:
        before = kind.__setattr__
        if getattr(before, "notes_new_models", False):
            return

        @wraps(before)
        def set_attribute(self: Any, name: str, value: Any) -> None:
            before(self, name, value)
            state = self.__dict__.get(KEY) if name in ("model", "normalizer") else None
            if state is not None:
                state.note_new_model() if name == "model" else state.note_new_tokens()

        set_attribute.notes_new_models = True  # type: ignore[attr-defined]
        kind.__setattr__ = set_attribute
