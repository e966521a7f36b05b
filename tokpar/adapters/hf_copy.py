"""The private copy of a caller's tokenizer: make it, compare it with its original, derive facts."""

from __future__ import annotations

import copy
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer
from tokenizers.models import Unigram

from tokpar.adapters.hf_look import (
    COMPONENTS,
    MODEL_SETTINGS,
    SAMPLING,
    EngineTokens,
    ReadModel,
    read_model,
)
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.adapters.settings import is_panic, unless_custom
from tokpar.errors import EngineError, OptionError
from tokpar.facts.hf_facts import ENGINE, facts_from_json, token_lengths, with_tokens
from tokpar.facts.hf_vocabulary import token_bytes
from tokpar.formats.json_parts import Json, read_around
from tokpar.process.interrupts import raise_foreign
from tokpar.types import AddedToken, Facts

if TYPE_CHECKING:
    from tokpar.facts.token_lengths import TokenLengths

_MOST_WRITTEN = 1 << 26
"""The highest id for which the library writes a file: writing takes memory for all ids below it."""
_MOST_COMPARED, _MOST_COMPARED_CHARS = 4096, 1 << 16
"""Of more added tokens with the same flags, so many are compared; of all, so many code points."""
_BEFORE_THE_MODEL = ("normalizer", "pre_tokenizer")
_EMPTY: Json = {
    "version": "1.0",
    "truncation": None,
    "padding": None,
    "added_tokens": [],
    "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""},
}
_RANDOM = "a Unigram model with sampling (alpha, nbest_size) is random"
CUSTOM = "a component is written in Python"
_ALTERED = "added tokens were altered in a way that no copy of the tokenizer reproduces"
_ALIKE = "the normalizer makes added tokens alike, and the engine takes one of them at random"


def private_copy(
    own: Any, without_tokens: bool = False, added: EngineTokens | None = None
) -> tuple[Any, str | None]:
    """Returns a tokenizer that encodes and decodes as `own` does, and why it may not, or None.

    Only the model is shared. Components in Python are shared, too: they are a reason.
    `without_tokens`: without the added tokens. `added`: those of `own`, if the caller has read
    them."""
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
        _add_tokens(private, own, added)
    if own.padding is not None:
        private.enable_padding(**own.padding)
    return private, why


def bare_copy(own: Any, added: EngineTokens | None = None) -> Any:
    """Returns a tokenizer with the same stages up to the model, all shared, and no
    post-processing. `added`: the added tokens of `own`, if the caller has read them."""
    private = Tokenizer(own.model)
    _set_components(private, own, _BEFORE_THE_MODEL)
    _add_tokens(private, own, added)
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


def encodes_bare(own: Any) -> bool:
    """True if `own` gives a text the ids of a bare copy, with add_special_tokens=False."""
    if own.truncation is not None or own.padding is not None:
        return False
    try:
        read_around(parse_component(own.post_processor))
    except Exception as error:  # the library has no exception type for a component in Python
        raise_foreign(error)
        return False
    return True


def _add_tokens(private: Any, own: Any, added: EngineTokens | None) -> None:
    added_tokens = own.get_added_tokens_decoder() if added is None else added.by_id
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
    bare: Any, added: EngineTokens, file_bytes: bytes | None, unknown: str | None
) -> tuple[Facts, TokenLengths | None, ReadModel | None]:
    """Returns the facts, the token lengths, and what was read of the model.

    `added`: its added tokens. `unknown`: why nothing is proved about the tokenizer, or None. The
    lengths are None unless tokens tile the text."""
    stages = _stages(bare)
    if stages is None:
        model = type(bare.model).__name__
        facts = Facts(ENGINE, model, unprovable=CUSTOM, added_token_cuts_refused=CUSTOM)
        return facts, None, None
    byte_level = '"ByteLevel"' in json.dumps(stages["pre_tokenizer"])
    read = read_model(bare, file_bytes, byte_level)
    config = _config(bare, added, stages, read.vocabulary)
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
    return facts, token_lengths(config) if facts.tiles else None, read


def _stages(tokenizer: Any) -> Json | None:
    """Returns the stages before the model, as in `tokenizer.json`. None if a stage is written in
    Python."""
    names = _BEFORE_THE_MODEL
    return unless_custom(lambda: {n: parse_component(getattr(tokenizer, n)) for n in names})


def _config(tokenizer: Any, added: EngineTokens, stages: Json, vocabulary: object) -> Json:
    """Returns the `tokenizer.json` without merges, without scores, and without the stages after the
    model.

    The file that the library writes has only one token per id, and writing it takes memory for all
    ids."""
    model = tokenizer.model
    settings = {name: getattr(model, name) for name in MODEL_SETTINGS if hasattr(model, name)}
    return {
        **stages,
        "model": {"type": type(model).__name__, **settings, "vocab": vocabulary},
        "added_tokens": added.tokens,
    }


def why_copy_differs(own: Any, private: Any, added: EngineTokens | None = None) -> str | None:
    """Returns why `private`, a private copy of `own`, may find other added tokens, or None.

    Both encode three texts made of added tokens, and decode added tokens. A token that was added
    twice has some of its old flags and some of its new ones, and neither a copy nor a file
    reproduces this mix. The engine normalizes contents when tokens are added, so it searches for
    old contents after a normalizer was changed in place. `added`: the added tokens of `own`, if the
    caller has read them."""
    added = EngineTokens.of(own) if added is None else added
    if added.by_id != private.get_added_tokens_decoder():
        return _ALTERED
    if not added.tokens or _is_random(own.model):
        return None
    try:
        if has_alike_tokens(own, added):
            return _ALIKE
        some = [token for token in _some_tokens(added.tokens) if not _is_emptied(own, token)]
        contents = [*_searched_contents(own, some)]
        texts = ["x".join(["", *contents, ""]), " ".join(["", *contents, ""]), "".join(contents)]
        ids = 2 * sorted(token.id for token in some)  # decoders strip the first token of a text
        is_equal = all(_encode(own, text) == _encode(private, text) for text in texts)
        is_equal = is_equal and _kept_in_text(own, ids) == _kept_in_text(private, ids)
    except BaseException as error:
        raise_foreign(error)
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        said = "panics" if is_panic(error) else "fails"
        return f"the engine {said} on a text of its added tokens: {error}"
    return None if is_equal else _ALTERED


def why_alike(own: Any, added: EngineTokens) -> str | None:
    """Returns why two objects of one file may find other added tokens, or None."""
    return _ALIKE if not _is_random(own.model) and has_alike_tokens(own, added) else None


def has_alike_tokens(own: Any, added: EngineTokens) -> bool:
    """True if the normalizer makes two added tokens alike: a hash map of the engine decides which
    of the two is found, and another object of the same file may find the other."""
    normalized = [token.content for token in added.tokens if token.normalized]
    if own.normalizer is not None:
        normalized = [*map(own.normalizer.normalize_str, normalized)]
    return len(set(normalized)) < len(normalized)


def _some_tokens(tokens: tuple[AddedToken, ...]) -> Iterator[AddedToken]:
    """Yields the tokens that are compared: some of each kind."""
    by_flags: defaultdict[object, list[AddedToken]] = defaultdict(list)
    for token in tokens:
        by_flags[
            token.lstrip, token.rstrip, token.single_word, token.normalized, token.special
        ].append(token)
    for alike in by_flags.values():
        left = _MOST_COMPARED_CHARS // len(by_flags)
        for token in alike[:: max(1, -(-len(alike) // _MOST_COMPARED))]:
            if len(token.content) <= left:
                left -= len(token.content)
                yield token


def _is_emptied(own: Any, token: AddedToken) -> bool:
    """True if the engine searches for the empty string in the token's place: beside another added
    token it may then allocate without end."""
    if not token.normalized or own.normalizer is None:
        return False
    return not own.normalizer.normalize_str(token.content)


def _searched_contents(own: Any, tokens: list[AddedToken]) -> Iterator[str]:
    """Yields the contents of tokens, and what the normalizer makes of them.

    Releases below 0.23 still search for the normalized content of a token that was first added as
    normalized."""
    yield from (token.content for token in tokens)
    if own.normalizer is not None:
        for token in tokens:
            form = own.normalizer.normalize_str(token.content)
            if form != token.content:
                yield form


def _encode(tokenizer: Any, text: str) -> list[object]:
    """Returns the ids of a text, the words that they belong to, and what truncation cut off."""
    encoding = tokenizer.encode(text, add_special_tokens=False)
    return [(each.ids, each.word_ids) for each in (encoding, *encoding.overflowing)]


def _kept_in_text(tokenizer: Any, ids: list[int]) -> list[str]:
    """Returns the text of ids without special tokens, and with them."""
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
