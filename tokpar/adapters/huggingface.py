"""Tokenizers of Hugging Face: `tokenizers.Tokenizer`, transformers' fast ones, `tokenizer.json`.

Chunks are encoded on a private copy without truncation, padding and post-processor. It shares the
caller's model, whose vocabulary is large and which encoding does not change; the caller's object
itself is only ever asked to encode and decode.
"""

from __future__ import annotations

import json
import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from tokenizers import Tokenizer

from tokpar.adapters.hf_facts import ENGINE, facts_from_json, token_bytes, token_lengths
from tokpar.adapters.hf_finish import Finish, NativeRefusesError, finish_of
from tokpar.errors import EngineError, FileFormatError, OptionError
from tokpar.kernels import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    byte_starts,
    has_surrogate,
    spans_from_lengths,
)
from tokpar.types import Facts, Piece

# Above this many code points `encode` takes the batch call, which needs half the time and memory.
_LONG = 1 << 18
_COMPONENTS = ("normalizer", "pre_tokenizer", "post_processor")
_AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
_SAMPLING = ("dropout", "alpha", "nbest_size")
_UNKNOWNS = ("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "max_input_chars_per_word")
_SCALARS = (*_AFFIXES, *_SAMPLING, *_UNKNOWNS)


def load(source: object, **settings: Any) -> HuggingFaceTokenizer | None:
    """An adapter of a `tokenizers.Tokenizer`, of a transformers fast tokenizer, or of the file
    named by a path that ends in ``.json``; None for anything else.

    The only setting is `add_special_tokens` (True). Raises OptionError for others,
    FileNotFoundError, and FileFormatError for a file that is no `tokenizer.json`.
    """
    caller = _caller(source)
    if caller is None:
        return None
    return HuggingFaceTokenizer(replace(caller, add_special_tokens=_setting(settings)))


def from_json(config: str, encode_special_tokens: bool) -> HuggingFaceTokenizer:
    """The adapter that `HuggingFaceTokenizer.spec` describes."""
    own = Tokenizer.from_str(config)
    own.encode_special_tokens = encode_special_tokens
    return HuggingFaceTokenizer(_Caller(own, fixed=True))


def _setting(settings: Mapping[str, Any]) -> bool:
    unknown = sorted(settings.keys() - {"add_special_tokens"})
    if unknown:
        raise OptionError(f"unknown setting {unknown[0]!r}; known: add_special_tokens")
    value = settings.get("add_special_tokens", True)
    if not isinstance(value, bool):
        raise OptionError(f"add_special_tokens must be True or False, got {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class _Caller:
    """The caller's tokenizer. `wrapper`: the transformers tokenizer around `own`, if there is one.
    `fixed`: loaded by us from a file, so nobody else can change it."""

    own: Any
    wrapper: Any = None
    fixed: bool = False
    add_special_tokens: bool = True

    def ids(self, text: str) -> list[int]:
        """What the caller would get for one text."""
        if self.wrapper is None:
            ids: list[int] = self.own.encode(text, add_special_tokens=self.add_special_tokens).ids
        else:
            ids = self.wrapper.encode(text, add_special_tokens=self.add_special_tokens)
        return ids

    def batch(self, texts: Sequence[str]) -> list[IdArray]:
        """What the caller would get for texts in one call."""
        if self.wrapper is not None:
            return [_id_array(self.ids(text)) for text in texts]
        encodings = self.own.encode_batch(list(texts), add_special_tokens=self.add_special_tokens)
        return [_id_array(encoding.ids) for encoding in encodings]

    @property
    def encode_special_tokens(self) -> bool:
        """transformers sets the engine's flag to its own in every call."""
        holder, name = (
            (self.own, "encode_special_tokens")
            if self.wrapper is None
            else (self.wrapper, "split_special_tokens")
        )
        return bool(getattr(holder, name, False))

    def again(self) -> _Caller:
        """The same, with the engine that the transformers tokenizer has now."""
        if self.wrapper is None:
            return self
        return replace(self, own=self.wrapper.backend_tokenizer)

    def state(self) -> tuple[object, ...]:
        """What ids depend on, as far as the caller can change it; compared with ==."""
        own, model = self.own, self.own.model
        size = own.get_vocab_size(False)
        return (
            type(model).__name__,
            size,
            *(getattr(model, name, None) for name in _SCALARS),
            *(model.id_to_token(size * i // 8) for i in range(8)),
            *(_pickled(getattr(own, name)) for name in _COMPONENTS),
            own.get_added_tokens_decoder(),
            self.encode_special_tokens,
            None if self.wrapper is not None else (own.truncation, own.padding),
        )


class HuggingFaceTokenizer:
    """The adapter; see `load`."""

    def __init__(self, caller: _Caller) -> None:
        self._caller = caller
        self._state = None if caller.fixed else caller.state()
        self._chunks = _private_copy(caller.own)
        self._finish = _finish(caller, self._chunks)
        self._chunks.encode_special_tokens = caller.encode_special_tokens
        self._facts, self._lengths = _facts(caller, self._chunks, self._finish.unknown)

    @property
    def name(self) -> str:
        """ "huggingface:" and the kind of model."""
        return f"huggingface:{self._facts.model}"

    @property
    def facts(self) -> Facts:
        """What proofs may use."""
        return self._facts

    def encode(self, text: str) -> IdArray:
        """Ids before special tokens, truncation and padding. Raises EngineError on a panic."""
        try:
            if len(text) > _LONG:
                self.check_text(text)
                [encoding] = self._chunks.encode_batch_fast([text], add_special_tokens=False)
            else:
                encoding = self._chunks.encode(text, add_special_tokens=False)
        except BaseException as error:
            _raise_panic(error, text)
            raise
        return _id_array(encoding.ids)

    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        """One piece per text, on all cores, GIL released. Raises EngineError on a panic."""
        with_offsets = spans and self._lengths is None
        call = self._chunks.encode_batch if with_offsets else self._chunks.encode_batch_fast
        try:
            encodings = call(list(texts), add_special_tokens=False)
        except BaseException as error:
            if isinstance(error, Exception) or _is_panic(error):
                for text in texts:
                    self.encode(text)
            raise
        pieces = []
        for i, text in enumerate(texts):
            encoding, encodings[i] = encodings[i], None
            ids = _id_array(encoding.ids)
            pieces.append(Piece(ids, self._spans(ids, text, encoding) if spans else None))
        return pieces

    def encode_whole(self, text: str) -> IdArray:
        """The caller's own call on the caller's own object. Raises what that raises, and
        EngineError on a panic."""
        try:
            return _id_array(self._caller.ids(text))
        except BaseException as error:
            _raise_panic(error, text)
            raise

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans of the ids that `encode(text)` gave; LookupError for other ids.

        Where tokens do not tile the text, spans are those of the engine, in whole code points: the
        tokens of one multi-byte character share a span, and a normalizer may leave gaps.
        """
        if self._lengths is not None:
            return self._spans(ids, text, None)
        encoding = self._chunks.encode(text, add_special_tokens=False)
        if not np.array_equal(_id_array(encoding.ids), ids):
            raise LookupError(_OTHER_IDS)
        return self._spans(ids, text, encoding)

    def _spans(self, ids: IdArray, text: str, encoding: Any) -> SpanArray:
        if self._lengths is None:
            return _offsets(encoding, text)
        if len(ids) and int(ids.max()) >= len(self._lengths):
            raise LookupError(f"id {int(ids.max())} is not in the vocabulary")
        spans = spans_from_lengths(self._lengths[ids])
        covered = int(spans[-1, 1]) if len(spans) else 0
        if covered != byte_length(text):
            raise LookupError(f"these ids cover {covered} bytes, the text has {byte_length(text)}")
        return spans

    def finish(self, ids: IdArray, text: str) -> IdArray:
        """`ids` of the whole text, cut, with special tokens, and padded as a text of its own.

        Raises what the caller's own call raises when it cannot cut. Where the post-processor or
        the added tokens are not understood (`facts.unprovable` tells), the caller's own call
        answers instead, and ids that are not those of the text raise LookupError.
        """
        try:
            return self._finish.one(ids)
        except NativeRefusesError:
            self._check_ids(ids, text)
            return self.encode_whole(text)

    def finish_batch(self, ids: Sequence[IdArray], texts: Sequence[str]) -> list[IdArray]:
        """As the batch call of the engine: padded to the longest where the settings say so.
        Raises as `finish` does."""
        try:
            return self._finish.batch(ids)
        except NativeRefusesError:
            for some, text in zip(ids, texts, strict=True):
                self._check_ids(some, text)
        try:
            return self._caller.batch(texts)
        except BaseException as error:
            _raise_panic(error, "")
            raise

    def _check_ids(self, ids: IdArray, text: str) -> None:
        if not np.array_equal(self.encode(text), ids):
            raise LookupError(_OTHER_IDS)

    def check_text(self, text: str) -> None:
        """Raises what the caller's own call raises for a text that is not valid Unicode."""
        if has_surrogate(text):
            self.encode_whole(text)

    def decode(self, ids: Sequence[int]) -> str:
        """The caller's own decoder, special tokens kept (skip_special_tokens=False)."""
        native = self._caller.wrapper or self._caller.own
        text: str = native.decode(
            np.asarray(ids, dtype=np.int64).tolist(), skip_special_tokens=False
        )
        return text

    def refreshed(self) -> HuggingFaceTokenizer:
        """Itself, or a new adapter if the caller has changed the tokenizer."""
        if self._caller.fixed:
            return self
        caller = self._caller.again()
        if caller.own is self._caller.own and caller.state() == self._state:
            return self
        return HuggingFaceTokenizer(caller)

    def detached(self) -> HuggingFaceTokenizer:
        """What was learned, without the caller's object; for `attached` only."""
        twin = copy(self)
        twin._caller = replace(self._caller, own=None, wrapper=None)
        return twin

    def attached(self, source: object) -> HuggingFaceTokenizer:
        """The adapter again, of the tokenizer object it was loaded from."""
        caller = _caller(source)
        assert caller is not None
        twin = copy(self)
        twin._caller = replace(caller, add_special_tokens=self._caller.add_special_tokens)
        return twin

    def spec(self) -> tuple[Callable[..., HuggingFaceTokenizer], Mapping[str, Any]]:
        """`from_json` and a `tokenizer.json` of the private copy. Raises OptionError for a
        tokenizer with components written in Python."""
        config = _serialized(self._chunks)
        if config is None:
            raise OptionError(f"cannot be built in another process: {_CUSTOM}")
        flag = self._caller.encode_special_tokens
        return from_json, {"config": config, "encode_special_tokens": flag}


_OTHER_IDS = "these ids are not those of the text"
_RANDOM = "a Unigram model with sampling (alpha, nbest_size) is random"
_CUSTOM = "a normalizer or pre-tokenizer is written in Python"
_ALTERED = "added tokens were altered in a way that no copy of the tokenizer reproduces"


def _caller(source: object) -> _Caller | None:
    if isinstance(source, Tokenizer):
        return _Caller(source)
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        is_file = isinstance(path, str) and path.endswith(".json")
        return _Caller(_from_file(Path(path)), fixed=True) if is_file else None
    backend = getattr(source, "backend_tokenizer", None)
    return _Caller(backend, wrapper=source) if isinstance(backend, Tokenizer) else None


def _from_file(path: Path) -> Tokenizer:
    data = path.read_bytes()
    try:
        return Tokenizer.from_str(data.decode("utf-8"))
    except BaseException as error:
        if not isinstance(error, Exception) and not _is_panic(error):
            raise
        raise FileFormatError(f"{path} is not a tokenizer.json of Hugging Face: {error}") from error


def _private_copy(own: Any) -> Any:
    """A tokenizer with the same `encode` and nothing after it; the model is shared."""
    copy = Tokenizer(own.model)
    for name in ("normalizer", "pre_tokenizer"):
        if getattr(own, name) is not None:
            setattr(copy, name, getattr(own, name))
    added = own.get_added_tokens_decoder()
    copy.add_tokens([added[i] for i in sorted(added)])
    copy.encode_special_tokens = own.encode_special_tokens
    return copy


def _facts(caller: _Caller, copy: Any, unknown: str | None) -> tuple[Facts, IntArray | None]:
    """Facts, and the byte lengths of tokens if these tile the text."""
    config = _serialized(copy)
    if config is None:
        model = type(caller.own.model).__name__
        return Facts(engine=ENGINE, model=model, unprovable=_CUSTOM), None
    parsed = json.loads(config)
    facts = facts_from_json(parsed, encode_special_tokens=caller.encode_special_tokens)
    why = unknown or _own_encode(caller.wrapper) or facts.unprovable
    facts = replace(
        facts,
        unprovable=why or (_RANDOM if _is_random(caller.own.model) else None),
        tokens=cache(partial(_model_tokens, copy)) if facts.undivided is None else None,
    )
    return facts, token_lengths(parsed) if facts.tiles else None


def _model_tokens(tokenizer: Any) -> frozenset[bytes]:
    return token_bytes(tokenizer.get_vocab(with_added_tokens=False))


def _finish(caller: _Caller, copy: Any) -> Finish:
    """How the caller's tokenizer finishes; unknown if `copy` does not even begin like it."""
    own = caller.own
    finish = finish_of(
        own, add_special_tokens=caller.add_special_tokens, cut_and_pad=caller.wrapper is None
    )
    unknown = finish.unknown or _added_tokens_differ(own, copy, caller.encode_special_tokens)
    return finish if unknown is None else Finish(unknown=unknown)


def _added_tokens_differ(own: Any, copy: Any, encode_special_tokens: bool) -> str | None:
    """Why `copy` finds other added tokens, or None.

    A token that was added twice with different flags works by some of the old and some of the new
    ones, which no copy and no file reproduces. That is looked for by trying each token.
    """
    added = own.get_added_tokens_decoder()
    if added != copy.get_added_tokens_decoder():
        return _ALTERED
    if encode_special_tokens and any(_is_special(own, i) != t.special for i, t in added.items()):
        return _ALTERED
    if _is_random(own.model):
        return None
    try:
        same = all(_begin_alike(own, copy, f"x{token.content}x") for token in added.values())
    except BaseException as error:
        if not _is_panic(error):
            raise
        return "the engine panics on added tokens that strip each other"
    return None if same else _ALTERED


def _is_special(own: Any, added_id: int) -> bool:
    """What the engine holds for special, whatever the flag of the token says now."""
    kept = own.decode([added_id], skip_special_tokens=False)
    return bool(own.decode([added_id], skip_special_tokens=True) != kept)


def _begin_alike(own: Any, copy: Any, text: str) -> bool:
    """The same ids, padding aside; not compared where `own` would cut."""
    expected = copy.encode(text, add_special_tokens=False).ids
    if own.truncation is not None and len(expected) > own.truncation["max_length"]:
        return True
    native = own.encode(text, add_special_tokens=False)
    kept = [i for i, real in zip(native.ids, native.attention_mask, strict=True) if real]
    return bool(kept == expected)


def _is_random(model: Any) -> bool:
    """Dropout, or the sampling of a Unigram model, which its JSON does not mention."""
    return any(getattr(model, name, None) for name in _SAMPLING)


def _own_encode(wrapper: Any) -> str | None:
    """A transformers class that encodes in its own way, not by the engine alone."""
    for name in ("encode", "_encode_plus", "_batch_encode_plus"):
        if name in getattr(wrapper, "__dict__", ()):
            return f"{name} of this tokenizer object was replaced"
        owner = next((cls for cls in type(wrapper).__mro__ if name in cls.__dict__), None)
        if owner is not None and not owner.__module__.startswith("transformers.tokenization_"):
            return f"the class {owner.__qualname__} has its own {name}"
    return None


def _serialized(tokenizer: Any) -> str | None:
    """`tokenizer.json`, or None if a component written in Python cannot be written down."""
    try:
        config: str = tokenizer.to_str()
    except Exception as error:
        if "ustom" not in str(error):
            raise
        return None
    return config


def _pickled(component: Any) -> bytes | str | None:
    if component is None:
        return None
    try:
        state: bytes = component.__getstate__()
    except Exception as error:
        return str(error)
    return state


def _id_array(ids: list[int]) -> IdArray:
    return np.frombuffer(array("I", ids), dtype=np.uint32)


def _offsets(encoding: Any, text: str) -> SpanArray:
    """Offsets of an encoding, code points, as UTF-8 byte spans."""
    pairs = encoding.offsets
    flat = np.fromiter(chain.from_iterable(pairs), dtype=np.int64, count=2 * len(pairs))
    spans: SpanArray = byte_starts(text)[flat].reshape(-1, 2)
    return spans


def _is_panic(error: BaseException) -> bool:
    return type(error).__name__ == "PanicException"


def _raise_panic(error: BaseException, text: str) -> None:
    """Raises EngineError if `error` is a panic of the engine."""
    if _is_panic(error):
        raise EngineError(f"the tokenizer panicked: {error}", 0, len(text)) from error
