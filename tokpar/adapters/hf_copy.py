"""Make the private copy of a caller's tokenizer that encodes chunks, and derive its facts."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar

from tokenizers import Tokenizer
from tokenizers.models import Unigram

from tokpar.adapters.hf_added import find_together
from tokpar.adapters.hf_model import read_model
from tokpar.adapters.hf_postprocess import PostProcess, parse_component, postprocess_of
from tokpar.adapters.hf_source import MODEL_SETTINGS, SAMPLING, Caller
from tokpar.adapters.hf_version import own_methods
from tokpar.adapters.settings import is_panic
from tokpar.cache.merges import Source
from tokpar.errors import EngineError, OptionError
from tokpar.facts.hf_facts import ENGINE, facts_from_json, token_lengths, with_tokens
from tokpar.facts.hf_vocabulary import token_bytes
from tokpar.facts.token_lengths import TokenLengths
from tokpar.foreign_errors import raise_foreign
from tokpar.pure.parts import Json
from tokpar.types import Facts

_Each = TypeVar("_Each")
_MOST_WRITTEN = 1 << 26
"""The highest id for which the library writes a file: writing takes memory for all ids below it."""
_BEFORE_THE_MODEL = ("normalizer", "pre_tokenizer")
_ENCODING = ("encode", "_encode_plus", "_batch_encode_plus")
_RANDOM = "a Unigram model with sampling (alpha, nbest_size) is random"
CUSTOM = "a normalizer or pre-tokenizer is written in Python"
_ALTERED = "added tokens were altered in a way that no copy of the tokenizer reproduces"
_OUTDATED = (
    "it cannot be told whether the engine searches for added token {!r} as the normalizer writes "
    "it now, or as it did before it was changed in place"
)
_ALIKE = "the normalizer makes added tokens alike, and the engine takes one of them at random"


def private_copy(own: Any, left_out_ids: Collection[int] = ()) -> Any:
    """Returns a tokenizer with the same `encode` and the same shared model, but no post-processing.

    `left_out_ids`: the ids of added tokens that the copy does not get."""
    copy = Tokenizer(own.model)
    for name in _BEFORE_THE_MODEL:
        if getattr(own, name) is not None:
            setattr(copy, name, getattr(own, name))
    added_tokens = own.get_added_tokens_decoder()
    copy.add_tokens([added_tokens[i] for i in sorted(added_tokens) if i not in left_out_ids])
    copy.encode_special_tokens = own.encode_special_tokens
    return copy


def facts_of_copy(
    caller: Caller, copy: Any, unknown: str | None
) -> tuple[Facts, TokenLengths | None, Source | None]:
    """Returns the facts, the token lengths, and the digest of the model.

    The lengths are None unless tokens tile the text. The digest is None if the model was not
    read."""
    stages = _stages(copy)
    if stages is None:
        model = type(caller.own.model).__name__
        return (
            Facts(ENGINE, model, unprovable=CUSTOM, added_token_cuts_refused=CUSTOM),
            None,
            None,
        )
    byte_level = '"ByteLevel"' in json.dumps(stages["pre_tokenizer"])
    read = read_model(copy, caller.file_bytes, byte_level)
    config = _config(copy, stages, read.vocabulary)
    special = caller.encode_special_tokens
    facts = facts_from_json(config, encode_special_tokens=special, lists_classes=True)
    random = _RANDOM if _is_random(caller.own.model) else None
    tokens = cache(lambda: token_bytes(copy.get_vocab(with_added_tokens=False)))
    facts = replace(
        facts,
        unprovable=unknown or facts.unprovable or random,
        added_token_cuts_refused=unknown or facts.added_token_cuts_refused or random,
    )
    facts = with_tokens(facts, tokens)
    return facts, token_lengths(config) if facts.tiles else None, read.source


def _stages(tokenizer: Any) -> Json | None:
    """Returns the stages before the model, as in `tokenizer.json`. None if a stage is written in
    Python."""
    try:
        return {name: parse_component(getattr(tokenizer, name)) for name in _BEFORE_THE_MODEL}
    except Exception as error:
        if "ustom" not in str(error):
            raise
        return None


def _config(tokenizer: Any, stages: Json, vocabulary: object) -> Json:
    """Returns the `tokenizer.json` without merges, without scores, and without the stages after the
    model.

    The file that the library writes has only one token per id, and writing it takes memory for all
    ids."""
    model = tokenizer.model
    settings = {name: getattr(model, name) for name in MODEL_SETTINGS if hasattr(model, name)}
    added_tokens = tokenizer.get_added_tokens_decoder()
    flags = ("content", "single_word", "lstrip", "rstrip", "normalized", "special")
    return {
        **stages,
        "model": {"type": type(model).__name__, **settings, "vocab": vocabulary},
        "added_tokens": [
            {"id": i, **{flag: getattr(added_tokens[i], flag) for flag in flags}}
            for i in sorted(added_tokens)
        ],
    }


def postprocess_like(caller: Caller, copy: Any) -> PostProcess:
    """Returns the post-processing of the caller's tokenizer.

    It is unknown if `copy` gives other ids before post-processing."""
    own, wrapper = caller.own, None if caller.is_fixed else caller.wrapper
    postprocess = postprocess_of(
        own,
        add_special_tokens=caller.add_special_tokens,
        truncation=caller.truncation and caller.wrapper is None,
        padding=caller.padding and caller.wrapper is None,
    )
    unknown = (
        postprocess.unknown
        or next(iter(own_methods(wrapper, _ENCODING).values()), None)
        or why_copy_differs(caller, copy)
    )
    return postprocess if unknown is None else PostProcess(unknown=unknown)


def why_copy_differs(caller: Caller, copy: Any) -> str | None:
    """Returns why `copy` may find other added tokens than the caller's tokenizer, or None."""
    own, special = caller.own, caller.encode_special_tokens
    return _added_tokens_differ(own, copy, special) or (
        None if caller.is_fixed and caller.wrapper is None else _outdated_reason(own, copy, special)
    )


def _added_tokens_differ(own: Any, copy: Any, encode_special_tokens: bool) -> str | None:
    """Returns why `copy` finds other added tokens than `own`, or None.

    Each token is tested. A token that was added twice has some of its old flags and some of its new
    ones, and neither a copy nor a file reproduces this mix."""
    added_tokens = own.get_added_tokens_decoder()
    if added_tokens != copy.get_added_tokens_decoder():
        return _ALTERED
    if _is_random(own.model):
        return None
    try:
        if encode_special_tokens and any(
            _still_special(own, i, t) for i, t in added_tokens.items()
        ):
            return _ALTERED
        if _alike_when_normalized(own, added_tokens.values()):
            return _ALIKE
        together = find_together(own, copy, added_tokens)
        alone = [token for i, token in added_tokens.items() if i not in together]
        differences = (_difference(own, copy, text) for text in _probe_texts(own, alone))
        return next(filter(None, differences), None)
    except Exception as error:
        raise_foreign(error)
        return f"the engine fails where its added tokens are tried: {error}"
    except BaseException as error:
        if not is_panic(error):
            raise
        return "the engine panics on added tokens that strip each other"


def _probe_texts(own: Any, added_tokens: Iterable[Any]) -> Iterator[str]:
    """Yields the texts that test each token: the token between letters, and the token alone.

    The letters are left out where truncation would hide the token. A normalizer may put something
    before a text, so the token is also tested alone. For a token that is matched in the raw text,
    the normalized content is a third text: releases below 0.23 still match it in normalized text if
    the token was first added as normalized."""
    cut = own.truncation
    only_one = cut is not None and cut["max_length"] == 1
    before = "" if only_one and cut["direction"] == "right" else "x"
    behind = "" if only_one and cut["direction"] != "right" else "x"
    for token in added_tokens:
        yield f"{before}{token.content}{behind}"
        yield token.content
        if own.normalizer is not None and not token.normalized:
            form = own.normalizer.normalize_str(token.content)
            if form != token.content:
                yield form


def _alike_when_normalized(own: Any, added_tokens: Iterable[Any]) -> bool:
    """True if two added tokens have the same normalized content.

    Then a hash map of the engine decides which of the two is found, and another object of the same
    file may find the other."""
    contents = [token.content for token in added_tokens if token.normalized]
    if own.normalizer is not None:
        contents = [own.normalizer.normalize_str(content) for content in contents]
    return len(set(contents)) < len(contents)


def _still_special(own: Any, added_id: int, token: Any) -> bool:
    """True if the engine may still treat a token as special although it is special no more.

    The engine keeps the old flag. Its decoder shows the flag if the normalized content equals the
    content. Otherwise the token must be found in a text."""
    if token.special:
        return False
    searched = token.content
    if token.normalized and own.normalizer is not None:
        searched = own.normalizer.normalize_str(searched)
    if searched == token.content:
        texts = {own.decode([added_id], skip_special_tokens=skip) for skip in (False, True)}
        return len(texts) > 1
    found = _uncut(own, token.content)
    seen = (found.ids, found.tokens) == ([added_id], [searched])
    # transformers sets this flag only when it encodes
    return not (seen and own.encode_special_tokens)


def _uncut(own: Any, text: str) -> Any:
    """Returns the encoding of a text. If truncation keeps nothing, returns the first overflowing
    part."""
    native = own.encode(text, add_special_tokens=False)
    nothing = own.truncation is not None and own.truncation["max_length"] == 0
    return native.overflowing[0] if nothing and native.overflowing else native


def _difference(own: Any, copy: Any, text: str) -> str | None:
    """Returns why the ids of a text differ, or None. Ignores padding and the ids that `own`
    truncates."""
    expected, native = copy.encode(text, add_special_tokens=False).ids, _uncut(own, text)
    kept = [i for i, real in zip(native.ids, native.attention_mask, strict=True) if real]
    return None if kept == _truncate(own, expected) else _ALTERED


def _truncate(own: Any, whole: list[_Each]) -> list[_Each]:
    """Returns the part of `whole` that the truncation of `own` keeps, or all of it if truncation
    keeps nothing."""
    cut = own.truncation
    most, right = (None, True) if cut is None else (cut["max_length"], cut["direction"] == "right")
    if not most or len(whole) <= most:
        return whole
    return whole[:most] if right else whole[-most:]


def _tokens(own: Any, copy: Any, text: str) -> list[tuple[int, str]]:
    """Returns the (id, token) pairs of `copy` that the truncation of `own` keeps."""
    found = copy.encode(text, add_special_tokens=False)
    return _truncate(own, list(zip(found.ids, found.tokens, strict=True)))


def _outdated_reason(own: Any, copy: Any, encode_special_tokens: bool) -> str | None:
    """Returns why `own` may match a token in another form than `copy` does, or None.

    The engine normalizes the contents when tokens are added or when a normalizer is set, but not
    when a normalizer is changed in place: `t.normalizer.lowercase = False`. The texts of
    `_probe_texts` show an outdated form only if a copy without the tokens gives another answer,
    because a model may give the content the same id."""
    found = own.get_added_tokens_decoder()
    normalized_tokens = {
        i: token
        for i, token in found.items()
        if token.normalized and not (encode_special_tokens and token.special)
    }
    if not normalized_tokens or _is_random(own.model):
        return None
    bare = private_copy(own, left_out_ids=normalized_tokens)
    for i, token in normalized_tokens.items():
        texts = _probe_texts(own, [token])
        if not any(
            _is_matched_normalized(own, copy, bare, text, i, normalized_tokens) for text in texts
        ):
            return _OUTDATED.format(token.content)
    return None


def _is_matched_normalized(
    own: Any, copy: Any, bare: Any, text: str, added_id: int, normalized_tokens: Mapping[int, Any]
) -> bool:
    """True if `own` certainly matches the token of this id in its normalized form.

    Three things show it: `own` gives the same tokens as `copy`; `bare`, which lacks the tokens,
    gives others; and the text has no other token of `normalized_tokens`."""
    token, shown = normalized_tokens[added_id], _tokens(own, copy, text)
    form = token.content if own.normalizer is None else own.normalizer.normalize_str(token.content)
    outer = (form[:1] if token.lstrip else "") + (form[-1:] if token.rstrip else "")
    if (added_id, form) not in shown or any(map(str.isspace, outer)):
        return False
    if any(i in normalized_tokens for i, _ in shown if i != added_id):
        return False
    try:
        if shown == _tokens(own, bare, text):
            return False
    except Exception as error:  # a model may have no id for the text of the token
        raise_foreign(error)
    native = _uncut(own, text)
    real = zip(native.ids, native.tokens, native.attention_mask, strict=True)
    return shown == [(i, found) for i, found, mask in real if mask]


def _is_random(model: Any) -> bool:
    """True for a model with dropout, and for a Unigram model with sampling.

    The JSON of a Unigram model does not contain its sampling."""
    return any(getattr(model, name, None) for name in SAMPLING)


def tokenizer_json_of(tokenizer: Any) -> str:
    """Returns the `tokenizer.json` of a tokenizer. Raises OptionError if the file would not be
    complete."""
    tokens = tokenizer.get_vocab(with_added_tokens=False)
    if len(set(tokens.values())) < len(tokens):
        raise OptionError("cannot be built in another process: two tokens have one id")
    if max(tokens.values(), default=0) > _MOST_WRITTEN:
        raise OptionError("cannot be built in another process: ids too great to be written down")
    try:
        config: str = tokenizer.to_str()
    except Exception as error:
        if "ustom" not in str(error):
            raise
        raise OptionError(f"cannot be built in another process: {CUSTOM}") from None
    return config


def same_as(config: str) -> Tokenizer:
    """Returns the tokenizer that wrote `config`.

    Raises EngineError if the result differs from it: the library reads many scores of a Unigram
    model one unit in the last place off, which can decide between two ways to divide a text."""
    tokenizer = Tokenizer.from_str(config)
    if tokenizer.to_str() == config:
        return tokenizer
    model = json.loads(config)["model"]
    if model["type"] == "Unigram":
        scores = [(token, score) for token, score in model["vocab"]]
        tokenizer.model = Unigram(scores, model["unk_id"], model["byte_fallback"])
        if tokenizer.to_str() == config:
            return tokenizer
    raise EngineError(f"this {model['type']} tokenizer is not the same when it is written and read")
