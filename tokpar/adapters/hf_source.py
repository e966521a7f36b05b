"""The caller's tokenizer: its own calls, and everything that decides its ids."""

import ctypes
import json
import struct
import sys
from array import array
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np
import tokenizers
from tokenizers import Tokenizer, models

from tokpar.adapters.directory import DirectoryTokenizer
from tokpar.adapters.fingerprint import fingerprint_of
from tokpar.adapters.settings import path_of, refusing
from tokpar.arrays import IdArray
from tokpar.cache.cache_policy import CACHE_BYTES

_COMPONENTS = ("normalizer", "pre_tokenizer", "post_processor")
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
SAMPLING = ("dropout", "alpha", "nbest_size")
_UNKNOWNS = ("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "max_input_chars_per_word")
MODEL_SETTINGS = (*AFFIXES, *SAMPLING, *_UNKNOWNS)

_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")

_SPREAD, _LAST = 16, 32
_MOST_COMPARED = 50_000
"""Vocabularies of up to so many tokens are compared as a whole if memory does not show training."""
_READABLE = ("0.21.", "0.22.", "0.23.")
"""Releases whose models have at least `_WORDS` words of 64 bits (tests/test_trained_again.py)."""
_WORDS = 40


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller's tokenizer.

    `wrapper`: the transformers tokenizer around `own`, or None. `is_fixed`: True for a tokenizer
    from a file or a directory, which nobody can change; its calls go to `own`. `loader`: the
    `Loader` of a directory, or None. `truncation`, `padding`: True if the truncation and
    padding of the tokenizer are applied. `cache_bytes`: the budget of its cache. `engine_check`:
    True if the engine also encodes each new pre-token. `file_bytes`: the bytes of the file, or
    None."""

    own: Any
    wrapper: Any = None
    is_fixed: bool = False
    add_special_tokens: bool = True
    truncation: bool = True
    padding: bool = True
    cache_bytes: int = CACHE_BYTES
    engine_check: bool = False
    file_bytes: Any = field(default=None, repr=False, compare=False)
    loader: Any = None

    @property
    def native(self) -> Any:
        """The object whose call encodes: `own`, or the transformers tokenizer of a caller."""
        return self.own if self.wrapper is None or self.is_fixed else self.wrapper

    def ids(self, text: str) -> list[int]:
        """Returns the ids that the caller gets for one text."""
        native = self.native
        found = native.encode(text, add_special_tokens=self.add_special_tokens)
        ids: list[int] = found.ids if native is self.own else found
        return ids

    def batch(self, texts: Sequence[str]) -> list[IdArray]:
        """Returns the ids that the caller gets for several texts in one call."""
        if self.native is not self.own:
            return [id_array(self.ids(text)) for text in texts]
        encodings = self.own.encode_batch(list(texts), add_special_tokens=self.add_special_tokens)
        return [id_array(encoding.ids) for encoding in encodings]

    @property
    def encode_special_tokens(self) -> bool:
        """The value of the flag in the next call. transformers sets the engine's flag to its own in
        every call."""
        if self.wrapper is None:
            return bool(self.own.encode_special_tokens)
        return bool(getattr(self.wrapper, "split_special_tokens", False))

    @property
    def as_it_is(self) -> bool:
        """True if the tokenizer's own call does exactly what the settings ask for."""
        if self.wrapper is not None:
            return True
        cuts = not self.truncation and self.own.truncation is not None
        return not cuts and (self.padding or self.own.padding is None)

    def state(self) -> tuple[object, ...]:
        """Returns everything that the ids depend on and that the caller can change. Compare states
        with ==.

        The state does not show that the model was exchanged; see `same_model`."""
        return *self.settings(), training(self.own.model, self.own.get_vocab_size(False))

    def settings(self) -> tuple[object, ...]:
        """Returns the part of `state` that is the same for a copy of the tokenizer."""
        own, model = self.own, self.own.model
        return (
            type(model).__name__,
            own.get_vocab_size(False),
            *(getattr(model, name, None) for name in MODEL_SETTINGS),
            *(_state_of(getattr(own, name)) for name in _COMPONENTS),
            own.get_added_tokens_decoder(),
            self.encode_special_tokens,
            # transformers leaves the arguments of its last call there. They are no part of the
            # tokenizer.
            (own.truncation, own.padding) if self.wrapper is None else None,
        )

    def fingerprint(self) -> str | None:
        """Returns the digest of everything that decides the ids (`fingerprint_of`). None for
        components in Python."""
        own, model = self.own, self.own.model
        try:
            components = {name: getattr(own, name) for name in _COMPONENTS}
            states = {n: None if c is None else c.__getstate__() for n, c in components.items()}
            written: bytes = model.__getstate__()
        except Exception as error:  # the library has no exception type for this
            if "ustom" not in str(error):
                raise
            return None
        size, tokens = own.get_vocab_size(with_added_tokens=False), None
        if len(json.loads(written)["vocab"]) < size:  # a written model has each id once
            tokens = sorted(own.get_vocab(with_added_tokens=False).items())
        parts = {
            **states,
            "model": written,
            "settings": {name: getattr(model, name, None) for name in MODEL_SETTINGS},
            "tokens": tokens,
            "added_tokens": [
                (i, token.content, *(getattr(token, flag) for flag in _FLAGS))
                for i, token in sorted(own.get_added_tokens_decoder().items())
            ],
            "encode_special_tokens": self.encode_special_tokens,
            "add_special_tokens": self.add_special_tokens,
            "truncation": own.truncation if self.truncation and self.wrapper is None else None,
            "padding": own.padding if self.padding and self.wrapper is None else None,
        }
        if self.loader is not None:
            parts["loader"] = asdict(self.loader)
        return fingerprint_of("tokenizers", tokenizers.__version__, parts)


def caller_of(source: object) -> Caller | None:
    if isinstance(source, Tokenizer):
        return Caller(source)
    loader = source.loader if isinstance(source, DirectoryTokenizer) else None
    if isinstance(source, DirectoryTokenizer) and source.tokenizer is not None:
        own = source.tokenizer.backend_tokenizer
        return Caller(own, wrapper=source.tokenizer, is_fixed=True, loader=loader)
    path = path_of(source, ".json")
    if path is not None:
        data = path.read_bytes()
        with refusing(path):
            own = Tokenizer.from_str(data.decode("utf-8"))
            return Caller(own, is_fixed=True, loader=loader, file_bytes=data)
    backend = getattr(source, "backend_tokenizer", None)
    return Caller(backend, wrapper=source) if isinstance(backend, Tokenizer) else None


def _state_of(component: Any) -> bytes | str | None:
    if component is None:
        return None
    try:
        state: bytes = component.__getstate__()
    except Exception as error:
        return str(error)
    return state


def id_array(ids: list[int]) -> IdArray:
    return np.frombuffer(array("I", ids), dtype=np.uint32)


def same_model(one: Any, other: Any) -> bool:
    """True if both Python objects point to the same model of the engine.

    Each access to `tokenizer.model` makes a new Python object. If pointers cannot be read, two
    models with the same contents count as the same."""
    if _pointers_tell():
        return _body(one) == _body(other)
    return bool(one.__getstate__() == other.__getstate__())


_trained_again: set[bytes] = set()
"""Addresses of models that were trained in place after they had encoded something."""


def saw_training(model: Any) -> None:
    """Remember that a model was trained in place.

    The engine goes on returning old ids for words that it encoded before the training, and no file
    shows them (docs/findings.md)."""
    if _pointers_tell():
        _trained_again.add(_body(model)[:8])


def may_be_stale(model: Any) -> bool:
    """True if a model may return ids from before its training. Once True, it stays True for the
    model's address in memory."""
    return _pointers_tell() and _body(model)[:8] in _trained_again


def training_is_seen(model: Any) -> bool:
    """True if `training` differs after every training in place, and not only after most."""
    return bool(_telling_words(type(model).__name__))


def training(model: Any, size: int) -> object:
    """Returns a value that differs after a model of `size` tokens was trained again in place.
    Compare values with ==.

    The value is words in memory, if they show training. Otherwise it is the whole model, or, for
    more than `_MOST_COMPARED` tokens, a sample of tokens, mostly the last ones: tokens that a
    trainer finds least often change first."""
    words = _telling_words(type(model).__name__)
    if words:
        read = _words(model)
        return [read[i] for i in words]
    if size <= _MOST_COMPARED:
        return _state_of(model)
    sampled = [size * i // _SPREAD for i in range(_SPREAD)]
    return [model.id_to_token(i) for i in (*sampled, *range(size - _LAST, size))]


@cache
def _telling_words(kind: str) -> list[int]:
    """Returns the indices of the words of a model object that training changes and encoding does
    not change.

    Empty if the words cannot be read. Training gives a model new hash maps, each with random keys
    and its own table. The words that differ between two equal models are words of hash maps. One of
    these is a cache that encoding fills, so words that encoding changes are left out. Reference
    counts and locks are equal in both models."""
    make = _MADE.get(kind)
    release = getattr(tokenizers, "__version__", "")
    if make is None or not release.startswith(_READABLE) or struct.calcsize("P") != 8:
        return []
    if not _pointers_tell():
        return []
    one, other = Tokenizer(make()), Tokenizer(make())
    before, equal = _words(one.model), _words(other.model)
    for k in range(512):
        one.encode("ab" * (k % 7) + f"a{k}")
    after = _words(one.model)
    telling = [i for i in range(_WORDS) if equal[i] != before[i] == after[i]]
    return telling if len(telling) > 1 else []


_VOCABULARY = {"a": 0, "b": 1, "ab": 2}
_MADE: dict[str, Callable[[], Any]] = {
    "BPE": lambda: models.BPE(_VOCABULARY, [("a", "b")], unk_token="a"),
    "Unigram": lambda: models.Unigram([(token, 0.0) for token in _VOCABULARY], 0, False),
    "WordLevel": lambda: models.WordLevel(_VOCABULARY, unk_token="a"),
    "WordPiece": lambda: models.WordPiece(_VOCABULARY, unk_token="a"),
}


def _words(model: Any) -> tuple[int, ...]:
    """Returns the first words of the engine's object that a model points to."""
    address = int.from_bytes(_body(model)[:8], sys.byteorder)
    return struct.unpack(f"{_WORDS}Q", ctypes.string_at(address, 8 * _WORDS))


def _body(model: Any) -> bytes:
    header = object.__basicsize__
    return ctypes.string_at(id(model) + header, type(model).__basicsize__ - header)


@cache
def _pointers_tell() -> bool:
    """True if all Python objects of one model have equal bodies, and the objects of another equal
    model have different bodies."""
    if sys.implementation.name != "cpython":
        return False
    first, second = Tokenizer(models.WordLevel()), Tokenizer(models.WordLevel())
    one, again, other = first.model, first.model, second.model
    return one is not again and _body(one) == _body(again) != _body(other)
