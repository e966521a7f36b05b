"""The private copy of a caller's tokenizer: make it, compare it with its original, derive facts."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer
from tokenizers.models import Unigram

from tokpar.adapters.hf_look import COMPONENTS, MODEL_SETTINGS, SAMPLING, read_model
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.adapters.settings import is_panic, unless_custom
from tokpar.errors import EngineError, OptionError
from tokpar.facts.hf_facts import ENGINE, facts_from_json, token_lengths, with_tokens
from tokpar.facts.hf_vocabulary import token_bytes
from tokpar.files.json_parts import Json
from tokpar.foreign_errors import raise_foreign
from tokpar.types import Facts

if TYPE_CHECKING:
    from tokpar.cache.merges import Source
    from tokpar.facts.token_lengths import TokenLengths

_MOST_WRITTEN = 1 << 26
"""The highest id for which the library writes a file: writing takes memory for all ids below it."""
_MOST_COMPARED = 4096
"""Of more added tokens with the same flags, so many are compared."""
_BEFORE_THE_MODEL = ("normalizer", "pre_tokenizer")
_EMPTY: Json = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""},
}
FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_RANDOM = "a Unigram model with sampling (alpha, nbest_size) is random"
CUSTOM = "a component is written in Python"
_ALTERED = "added tokens were altered in a way that no copy of the tokenizer reproduces"
_ALIKE = "the normalizer makes added tokens alike, and the engine takes one of them at random"


def private_copy(own: Any, without_tokens: bool = False) -> tuple[Any, str | None]:
    """Returns a tokenizer that encodes and decodes as `own` does, and why it may not, or None.

    Only the model is shared. Components in Python are shared, too: they are a reason.
    `without_tokens`: without the added tokens."""
    components = {name: getattr(own, name) for name in COMPONENTS}
    why = None
    try:
        states = {name: parse_component(each) for name, each in components.items()}
        private = _with_truncation(own, states)
    except Exception as error:  # the library has no exception type for this
        raise_foreign(error)
        why = CUSTOM if "ustom" in str(error) else f"its components cannot be copied: {error}"
        private = _with_truncation(own, {})
        _set_components(private, own, COMPONENTS)
    if not without_tokens:
        _add_tokens(private, own)
    if own.padding is not None:
        private.enable_padding(**own.padding)
    return private, why


def bare_copy(own: Any) -> Any:
    """Returns a tokenizer with the same stages up to the model, all shared, and no
    post-processing."""
    private = Tokenizer(own.model)
    _set_components(private, own, _BEFORE_THE_MODEL)
    _add_tokens(private, own)
    return private


def _with_truncation(own: Any, states: Json) -> Any:
    """Returns a tokenizer with the model and truncation of `own`, and components of `states`.

    It is read from JSON: a file may have a stride that `enable_truncation` refuses, and the engine
    fails only for a text that is cut then."""
    cut = own.truncation
    if cut is not None:
        strategy = cut["strategy"].title().replace("_", "")
        cut = {**cut, "strategy": strategy, "direction": cut["direction"].title()}
    private = Tokenizer.from_str(json.dumps({**_EMPTY, **states, "truncation": cut}))
    private.model = own.model
    return private


def _set_components(private: Any, own: Any, names: tuple[str, ...]) -> None:
    for name in names:
        if getattr(own, name) is not None:
            setattr(private, name, getattr(own, name))


def _add_tokens(private: Any, own: Any) -> None:
    added_tokens = own.get_added_tokens_decoder()
    private.add_tokens([added_tokens[i] for i in sorted(added_tokens)])
    private.encode_special_tokens = own.encode_special_tokens


def private_wrapper(wrapper: Any, engine: Any) -> Any:
    """Returns a copy of a transformers tokenizer around `engine`."""
    private: Any = object.__new__(type(wrapper))
    for name, value in wrapper.__dict__.items():
        if name != "_tokpar":  # what `as_hf` keeps, which has the caller's object
            private.__dict__[name] = copy.copy(value) if isinstance(value, (dict, list)) else value
    private.__dict__["_tokenizer"] = engine
    return private


def facts_of_copy(
    bare: Any, file_bytes: bytes | None, unknown: str | None
) -> tuple[Facts, TokenLengths | None, Source | None]:
    """Returns the facts, the token lengths, and the digest of the model.

    `unknown`: why nothing is proved about the tokenizer, or None. The lengths are None unless
    tokens tile the text. The digest is None if the model was not read."""
    stages = _stages(bare)
    if stages is None:
        model = type(bare.model).__name__
        facts = Facts(ENGINE, model, unprovable=CUSTOM, added_token_cuts_refused=CUSTOM)
        return facts, None, None
    byte_level = '"ByteLevel"' in json.dumps(stages["pre_tokenizer"])
    read = read_model(bare, file_bytes, byte_level)
    config = _config(bare, stages, read.vocabulary)
    special = bare.encode_special_tokens
    facts = facts_from_json(config, encode_special_tokens=special, lists_classes=True)
    random = _RANDOM if _is_random(bare.model) else None
    tokens = cache(lambda: token_bytes(bare.get_vocab(with_added_tokens=False)))
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
    names = _BEFORE_THE_MODEL
    return unless_custom(lambda: {n: parse_component(getattr(tokenizer, n)) for n in names})


def _config(tokenizer: Any, stages: Json, vocabulary: object) -> Json:
    """Returns the `tokenizer.json` without merges, without scores, and without the stages after the
    model.

    The file that the library writes has only one token per id, and writing it takes memory for all
    ids."""
    model = tokenizer.model
    settings = {name: getattr(model, name) for name in MODEL_SETTINGS if hasattr(model, name)}
    added_tokens = tokenizer.get_added_tokens_decoder()
    return {
        **stages,
        "model": {"type": type(model).__name__, **settings, "vocab": vocabulary},
        "added_tokens": [
            {"id": i, **{flag: getattr(added_tokens[i], flag) for flag in ("content", *FLAGS)}}
            for i in sorted(added_tokens)
        ],
    }


def why_copy_differs(own: Any, private: Any) -> str | None:
    """Returns why `private`, a private copy of `own`, may find other added tokens, or None.

    Both encode three texts made of the added tokens, and decode the added tokens. A token
    that was added twice has some of its old flags and some of its new ones, and neither a copy nor
    a file reproduces this mix. The engine normalizes contents when tokens are added, so it searches
    for old contents after a normalizer was changed in place."""
    added_tokens = own.get_added_tokens_decoder()
    if added_tokens != private.get_added_tokens_decoder():
        return _ALTERED
    if not added_tokens or _is_random(own.model):
        return None
    try:
        contents = _searched_contents(own, added_tokens.values())
        if contents is None:
            return _ALIKE
        texts = ["x".join(["", *contents, ""]), " ".join(["", *contents, ""]), "".join(contents)]
        is_equal = all(_encode(own, text) == _encode(private, text) for text in texts)
        is_equal = is_equal and _kept_in_text(own, added_tokens) == _kept_in_text(
            private, added_tokens
        )
    except BaseException as error:
        raise_foreign(error)
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        said = "panics" if is_panic(error) else "fails"
        return f"the engine {said} on a text of its added tokens: {error}"
    return None if is_equal else _ALTERED


def _searched_contents(own: Any, added_tokens: Any) -> list[str] | None:
    """Returns the contents of the added tokens, and what the normalizer makes of them.

    None if the normalizer makes two of them alike: a hash map of the engine decides which of the
    two is found, and another object of the same file may find the other. Releases below 0.23 still
    search for the normalized content of a token that was first added as normalized."""
    by_flags: defaultdict[object, list[str]] = defaultdict(list)
    normalized = [token.content for token in added_tokens if token.normalized]
    for token in added_tokens:
        by_flags[tuple(getattr(token, flag) for flag in FLAGS)].append(token.content)
    some = []
    for contents in by_flags.values():
        step = max(1, -(-len(contents) // _MOST_COMPARED))
        some += contents[::step]
    if own.normalizer is not None:
        normalize = own.normalizer.normalize_str
        normalized = [normalize(content) for content in normalized]
        some += [form for content in some if (form := normalize(content)) != content]
    return some if len(set(normalized)) == len(normalized) else None


def _encode(tokenizer: Any, text: str) -> list[object]:
    """Returns the ids of a text, the words that they belong to, and what truncation cut off."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [(each.ids, each.word_ids) for each in (encoding, *encoding.overflowing)]


def _kept_in_text(tokenizer: Any, added_tokens: Any) -> list[str]:
    """Returns the text of the added tokens, twice in a row, because decoders strip the first token
    of a text: without special tokens, and with them."""
    ids = 2 * sorted(added_tokens)
    return [str(tokenizer.decode(ids, skip_special_tokens=skip)) for skip in (True, False)]


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
    config: str | None = unless_custom(tokenizer.to_str)
    if config is None:
        raise OptionError(f"cannot be built in another process: {CUSTOM}")
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
