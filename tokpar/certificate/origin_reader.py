"""The checker's one reader of tokenizers: from what the engine runs to its canonical form.

It reads the file that the library writes, the ranks, or the bytes of the file. It shares no code
with the planner's readers, and asks the adapter only for the object that it runs (`Origin`)."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property  # noqa: TID251  # that of libraries
from typing import Any

from tokpar.certificate.canonical_form import (
    FLAGS,
    Json,
    JsonForm,
    RankForm,
    form_of_json,
    object_in,
    parse_json,
)
from tokpar.contract.adapter import Origin
from tokpar.errors import FileFormatError
from tokpar.types import AddedToken

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
_MOST_WRITTEN = 1 << 26
"""The highest id for which a model is written: writing takes memory for all ids below it."""


class CustomPartError(Exception):
    """A part of the tokenizer, or a call that encodes, is the caller's own: no file tells what it
    does."""


def read_origin(origin: Origin) -> JsonForm | RankForm:
    """Returns what the engine runs. Raises CustomPartError, RefusedError for a file with a part of
    another type than expected, and FileFormatError for a source without a known file."""
    source: Any = origin.source
    if isinstance(source, bytes):
        return _form_of(parse_json(source), source)
    if isinstance(source, Mapping):
        written = json.dumps(source).encode()
        return _form_of(source, written, engine="regex", lists_classes=True)
    if _is_of("tokenizers", "Tokenizer", engine_of(source)):
        if source is not engine_of(source):
            calls = "encode|_(batch_)?encode_plus"
            _require_library_calls(source, "transformers.tokenization_", calls)
        return _hugging_face(source, origin.settings.get("no_file"))
    if _is_of("tiktoken", "Encoding", source):
        _require_library_calls(source, "tiktoken.core", "_*encode.*", _READ)
        return _encoding(source, origin.settings)
    if hasattr(source, "keep_gaps"):
        return _vocabulary(source)
    raise FileFormatError(f"no file is known of a tokenizer made from {type(source).__name__}")


def _form_of(config: Json, data: bytes, **engine: Any) -> JsonForm:
    """Returns the form of a parsed file. `data`: its bytes."""
    return form_of_json(config, hashlib.sha256(data).hexdigest(), **engine)


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
    source: object, library: str, calls: str, read: tuple[str, ...] = ()
) -> None:
    """Raise CustomPartError if the object has a call that encodes of its own, or a class of it that
    is not of the library.

    `calls`: a regex of the names of such calls. `read`: what they read of the object."""
    written, encodes = getattr(source, "__dict__", {}), re.compile(calls).fullmatch
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
        with _custom_parts_named():
            return part.__getstate__()
    except CustomPartError as error:
        return str(error)


def _hugging_face(source: Any, no_file: object) -> JsonForm:
    own = engine_of(source)
    if not hasattr(own, "model"):
        return _of_line_one(own)
    with _custom_parts_named():
        written = own.to_str().encode() if _is_dense(own) else _written_by_parts(own)
    config = dict(parse_json(written))
    model, parts = own.model, dict(object_in(config, "model"))
    parts |= {name: getattr(model, name, None) for name in _SAMPLING}
    size = own.get_vocab_size(with_added_tokens=False)
    if isinstance(parts["vocab"], dict) and len(parts["vocab"]) != size:
        parts["vocab"] = own.get_vocab(with_added_tokens=False)  # it writes one token of each id
    config["model"] = parts
    if source is not own:  # transformers leaves the arguments of its last call there
        config |= {"truncation": None, "padding": None}
    skips = _skips_special(source)
    return _form_of(config, written, skips_special=skips, lists_classes=True, no_file=no_file)


def _of_line_one(own: Any) -> JsonForm:
    """1.x gives its file only to be pickled, with truncation and padding as they were in it."""
    written = own.__reduce__()[1][0]
    written = written.encode() if isinstance(written, str) else written
    config = dict(parse_json(written))
    names = {"truncation": ("max_length", "direction"), "padding": _PADDING}
    for part, settings in names.items():
        set_now = getattr(own, part)
        config[part] = set_now and {name: getattr(set_now, name) for name in settings}
    return _form_of(config, written, line_one=True)


def _is_dense(own: Any) -> bool:
    """True if ids are numbered without large gaps, as far as samples show. Writing a file takes
    memory for each id up to the highest."""
    size = own.get_vocab_size(with_added_tokens=False)
    places = (*range(0, size, 1 + size // _SAMPLES), size - 1)
    return size > 0 and all(own.model.id_to_token(k) is not None for k in places)


def _written_by_parts(own: Any) -> bytes:
    """The parts of the file one by one, the vocabulary as the engine tells it. Merges only where
    the library would write no great file."""
    parts = {name: getattr(own, name) for name in _STAGES}
    config: dict[str, Any] = {
        name: None if part is None else json.loads(part.__getstate__())
        for name, part in parts.items()
    }
    model, added = own.model, own.get_added_tokens_decoder()
    settings = {name: getattr(model, name) for name in _SETTINGS if hasattr(model, name)}
    vocab = own.get_vocab(with_added_tokens=False)
    if max(vocab.values(), default=0) <= _MOST_WRITTEN:
        settings |= {"merges": json.loads(model.__getstate__()).get("merges")}
    config |= {
        "truncation": own.truncation,
        "padding": own.padding,
        "model": {"type": type(model).__name__, **settings, "vocab": vocab},
        "added_tokens": [
            {"id": k, "content": t.content, **{flag: getattr(t, flag) for flag in FLAGS}}
            for k, t in sorted(added.items())
        ],
    }
    return json.dumps(config).encode()


@contextmanager
def _custom_parts_named() -> Iterator[None]:
    """Raise CustomPartError if the library cannot write a part, because it is in Python."""
    try:
        yield
    except Exception as error:  # the library has no exception type for a part in Python
        raise (CustomPartError(str(error)) if "ustom" in str(error) else error) from None


def _encoding(own: Any, settings: Mapping[str, object]) -> RankForm:
    allowed = settings.get("allowed_special", frozenset())
    assert isinstance(allowed, frozenset)
    specials: Mapping[str, int] = own._special_tokens
    added = tuple(AddedToken(text, k) for text, k in specials.items() if text in allowed)
    ranks = own._mergeable_ranks
    return RankForm("fancy-regex", (own._pat_str,), ranks, added, specials, False, True)


def _vocabulary(own: Any) -> RankForm:
    specials = {token.content: token.id for token in own.added}
    given = own.patterns, own.tokens, own.added, specials, own.keep_gaps, False
    merges = None if own.semantics == "ranks" else own.merges
    return RankForm("regex", *given, merges, own.whole_piece)
