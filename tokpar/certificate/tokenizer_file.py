"""Read what the engine of a tokenizer runs: the file that its library writes, its ranks, or its
bytes. This reader shares no code with the planner's."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tokpar.certificate.format_two import in_format_one
from tokpar.errors import FileFormatError
from tokpar.types import AddedToken, Origin

Config = Mapping[str, Any]

_FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
_SAMPLING = ("dropout", "alpha", "nbest_size")
_SETTINGS = (
    *("continuing_subword_prefix", "end_of_word_suffix", "unk_token", "byte_fallback"),
    *("ignore_merges", "max_input_chars_per_word"),
)
_READ = ("special_tokens_set", "__getattribute__")
"""What the calls of a `tiktoken.Encoding` read of the object."""
_STAGES = ("normalizer", "pre_tokenizer", "post_processor")
_PADDING = ("length", "pad_to_multiple_of", "pad_id", "direction")
_SAMPLES = 32


@dataclass(frozen=True, eq=False)
class TokenizerFile:
    """A `tokenizer.json`, parsed, in format 1.0.

    `engine`: the regex engine that runs its patterns. `skips_special`: special tokens are not
    matched (`encode_special_tokens`). `lists_classes`: the engine tells the members of character
    classes, so that an unknown pattern can be judged. `line_one`: tokenizers 1.x runs it."""

    config: Config
    engine: str = "oniguruma"
    skips_special: bool = False
    lists_classes: bool = False
    line_one: bool = False


@dataclass(frozen=True, eq=False)
class RankFile:
    """Byte-level BPE without other stages: tiktoken's, or a `Vocabulary` of tokpar.

    `specials`: all special tokens; `added_tokens`: those that are matched in a text. `keeps_gaps`:
    text that no pattern matches is kept. `drops_prefixes`: which of two special tokens that begin
    alike is matched is chance."""

    engine: str
    patterns: tuple[str, ...]
    tokens: Mapping[bytes, int]
    added_tokens: tuple[AddedToken, ...]
    specials: Mapping[str, int]
    keeps_gaps: bool
    drops_prefixes: bool


class CustomPartError(Exception):
    """A part of the tokenizer, or a call that encodes, is the caller's own: no file tells what it
    does."""


def read_origin(origin: Origin) -> TokenizerFile | RankFile:
    """Returns what the engine runs. Raises CustomPartError, and FileFormatError for a source of
    which this reader knows no file."""
    source = origin.source
    if isinstance(source, bytes):
        return TokenizerFile(_parse_config(source))
    if isinstance(source, Mapping):
        return TokenizerFile(source, "regex", lists_classes=True)
    if _is_of("tokenizers", "Tokenizer", engine_of(source)):
        if source is not engine_of(source):
            _require_library_calls(source, "transformers.tokenization_", _encodes_in_transformers)
        return _hugging_face(source)
    if _is_of("tiktoken", "Encoding", source):
        _require_library_calls(source, "tiktoken.core", _encodes_in_tiktoken, _READ)
        return _encoding(source, origin.settings)
    if hasattr(source, "keep_gaps"):
        return _vocabulary(source)
    raise FileFormatError(f"no file is known of a tokenizer made from {type(source).__name__}")


def state_of(origin: Origin) -> tuple[object, ...]:
    """Returns what a change of the tokenizer changes, as far as it can be told in microseconds.
    States are compared with ==."""
    source: Any = origin.source
    own = engine_of(source)
    given = id(own), dict(origin.settings)
    if _is_of("tokenizers", "Tokenizer", own):
        last = "" if own is not source else repr((own.truncation, own.padding))
        return *given, last, *(_state_of(source) if hasattr(own, "model") else ())
    if _is_of("tiktoken", "Encoding", own):
        ranks = own._mergeable_ranks
        return *given, own._pat_str, id(ranks), len(ranks), dict(own._special_tokens)
    return given


def engine_of(source: object) -> Any:
    """Returns the `tokenizers.Tokenizer` in a tokenizer of transformers; another object as it
    is."""
    return getattr(source, "backend_tokenizer", source)


def _is_of(package: str, name: str, source: object) -> bool:
    """True for an instance of a class of a package. Imports nothing."""
    kind = getattr(sys.modules.get(package), name, None)
    return kind is not None and isinstance(source, kind)


def _require_library_calls(
    source: object, library: str, encodes: Callable[[str], bool], read: tuple[str, ...] = ()
) -> None:
    """Raise CustomPartError if the object has a call that encodes of its own, or a class of it that
    is not of the library.

    `encodes`: True for the names of such calls. `read`: what they read of the object."""
    written = getattr(source, "__dict__", {})
    own = [name for name in written if encodes(name) or (name in read and _differs(source, name))]
    for kind in type(source).__mro__:
        if not kind.__module__.startswith((library, "builtins")):
            own += [name for name in vars(kind) if encodes(name) or name in read]
    if own:
        raise CustomPartError(f"{own[0]} of this object is not its library's")


def _differs(source: object, name: str) -> bool:
    """True if the object has another value than the cached property of its class would write."""
    made = getattr(type(source), name, None)
    return isinstance(made, cached_property) and bool(made.func(source) != vars(source)[name])


def _encodes_in_transformers(name: str) -> bool:
    return name in ("encode", "_encode_plus", "_batch_encode_plus")


def _encodes_in_tiktoken(name: str) -> bool:
    return name.lstrip("_").startswith("encode")


def _parse_config(data: bytes | str) -> dict[str, Any]:
    config = json.loads(data)
    if not isinstance(config, dict) or not isinstance(config.get("model"), dict):
        raise FileFormatError("expected a tokenizer.json with a model")
    return dict(in_format_one(config))


def _skips_special(source: Any) -> bool:
    """True if special tokens are not matched. transformers sets the engine's flag to its own flag
    in every call."""
    if hasattr(source, "backend_tokenizer"):
        return bool(getattr(source, "split_special_tokens", False))
    return bool(source.encode_special_tokens)


def _state_of(source: Any) -> tuple[object, ...]:
    """The parts of a tokenizer below 1.0, and samples of its vocabulary."""
    own = engine_of(source)
    model, size = own.model, own.get_vocab_size(with_added_tokens=False)
    return (
        _skips_special(source),
        *(_state_of_part(getattr(own, name)) for name in _STAGES),
        own.get_vocab_size(with_added_tokens=True),
        *(getattr(model, name, None) for name in (*_SETTINGS, *_SAMPLING)),
        *(model.id_to_token(k) for k in range(0, size, 1 + size // _SAMPLES)),
    )


def _state_of_part(part: Any) -> object:
    if part is None:
        return None
    try:
        return part.__getstate__()
    except Exception as error:  # the library has no exception type for a part in Python
        return str(error)


def _hugging_face(source: Any) -> TokenizerFile:
    own = engine_of(source)
    if not hasattr(own, "model"):
        return _of_line_one(own)
    config = _config_of(own) if _is_dense(own) else _config_by_parts(own)
    model = own.model
    sampling = {name: getattr(model, name, None) for name in _SAMPLING}
    vocab = config["model"]["vocab"]
    size = own.get_vocab_size(with_added_tokens=False)
    if isinstance(vocab, dict) and len(vocab) != size:  # the library writes one token of each id
        vocab = own.get_vocab(with_added_tokens=False)
    config = {**config, "model": {**config["model"], **sampling, "vocab": vocab}}
    if source is not own:  # transformers leaves the arguments of its last call there
        config |= {"truncation": None, "padding": None}
    return TokenizerFile(config, skips_special=_skips_special(source), lists_classes=True)


def _of_line_one(own: Any) -> TokenizerFile:
    """1.x gives its file only to be pickled, with truncation and padding as they were in it."""
    config = _parse_config(own.__reduce__()[1][0])
    names = {"truncation": ("max_length", "direction"), "padding": _PADDING}
    for part, settings in names.items():
        set_now = getattr(own, part)
        config[part] = set_now and {name: getattr(set_now, name) for name in settings}
    return TokenizerFile(config, line_one=True)


def _is_dense(own: Any) -> bool:
    """True if ids are numbered without large gaps, as far as samples show. Writing a file takes
    memory for each id up to the highest."""
    size = own.get_vocab_size(with_added_tokens=False)
    places = (*range(0, size, 1 + size // _SAMPLES), size - 1)
    return size > 0 and all(own.model.id_to_token(k) is not None for k in places)


def _config_of(own: Any) -> dict[str, Any]:
    try:
        return _parse_config(own.to_str())
    except Exception as error:
        raise _as_custom(error) from error


def _config_by_parts(own: Any) -> dict[str, Any]:
    """The parts of the file one by one, the vocabulary as the engine tells it."""
    config: dict[str, Any] = {}
    for name in _STAGES:
        part = getattr(own, name)
        try:
            config[name] = None if part is None else json.loads(part.__getstate__())
        except Exception as error:
            raise _as_custom(error) from error
    model, added = own.model, own.get_added_tokens_decoder()
    settings = {name: getattr(model, name) for name in _SETTINGS if hasattr(model, name)}
    vocab = own.get_vocab(with_added_tokens=False)
    return {
        **config,
        "truncation": own.truncation,
        "padding": own.padding,
        "model": {"type": type(model).__name__, **settings, "vocab": vocab},
        "added_tokens": [
            {"id": k, "content": t.content, **{flag: getattr(t, flag) for flag in _FLAGS}}
            for k, t in sorted(added.items())
        ],
    }


def _as_custom(error: Exception) -> Exception:
    return CustomPartError(str(error)) if "ustom" in str(error) else error


def added_tokens(config: Config) -> tuple[AddedToken, ...]:
    """Returns the added tokens of a file that have a content."""
    return tuple(
        AddedToken(
            content=token["content"],
            id=token["id"],
            **{flag: bool(token.get(flag, False)) for flag in _FLAGS},
        )
        for token in config.get("added_tokens") or ()
        if token["content"] != ""
    )


def _encoding(own: Any, settings: Mapping[str, object]) -> RankFile:
    allowed = settings.get("allowed_special", frozenset())
    assert isinstance(allowed, frozenset)
    specials: Mapping[str, int] = own._special_tokens
    added = tuple(AddedToken(text, k) for text, k in specials.items() if text in allowed)
    ranks = own._mergeable_ranks
    return RankFile("fancy-regex", (own._pat_str,), ranks, added, specials, False, True)


def _vocabulary(own: Any) -> RankFile:
    specials = {token.content: token.id for token in own.added}
    given = own.patterns, own.tokens, own.added
    return RankFile("regex", *given, specials, own.keep_gaps, False)
