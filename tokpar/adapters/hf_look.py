"""What is read of a caller's tokenizer: its vocabulary once, when it is loaded, and the look, which
notices that somebody changed it.

The look takes some 10 microseconds. docs/long-text.md names what it cannot see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from tokpar.process import kernel_modules
from tokpar.types import AddedToken

if TYPE_CHECKING:
    from tokpar.compiled.merges import Parts, Source
    from tokpar.facts.hf_vocabulary import VocabularyArrays

SAMPLING = ("dropout", "alpha", "nbest_size")
AFFIXES = ("continuing_subword_prefix", "end_of_word_suffix")
_UNKNOWNS = ("unk_token", "fuse_unk", "byte_fallback", "ignore_merges", "max_input_chars_per_word")
MODEL_SETTINGS = (*AFFIXES, *SAMPLING, *_UNKNOWNS)
COMPONENTS = ("normalizer", "pre_tokenizer", "post_processor", "decoder")
FLAGS = ("lstrip", "rstrip", "single_word", "normalized", "special")
MOST_LISTED, MOST_LISTED_CHARS = 100, 1 << 14
"""Up to so many added tokens, of so many code points, are compared one by one."""
_MOST_COPIED = 1 << 12, 1 << 16
"""Up to so many added tokens, of so many code points, are put into a second engine."""
_SPREAD, _LAST = 16, 16
_LARGEST_STATE = 4096
"""Bytes of a component's state above which the look asks what the component does instead."""
_read_components = attrgetter(*COMPONENTS)
read_flags = attrgetter("truncation", "padding", "encode_special_tokens")
_read_token = attrgetter("content", *FLAGS)
_HOSTILE = " \u0130\ufb01\u00c5\u0301e\u0301\u1e9e\u2126\u0085\u200b\u3000\ud55c\u0e33\ufeff<s>0A\n"


@dataclass(frozen=True, slots=True)
class EngineTokens:
    """The added tokens of an engine, which takes long to return many of them.

    `by_id`: the engine's objects. `tokens`: the same tokens, by ascending ids."""

    by_id: dict[int, Any]
    tokens: tuple[AddedToken, ...]

    @classmethod
    def of(cls, own: Any) -> EngineTokens:
        """Returns the added tokens of a `tokenizers.Tokenizer`."""
        by_id = own.get_added_tokens_decoder()
        read = ((id_, _read_token(by_id[id_])) for id_ in sorted(by_id))
        return cls(by_id, tuple(AddedToken(each[0], id_, *each[1:]) for id_, each in read))

    @property
    def highest_id(self) -> int:
        """The highest id of an added token, 0 without added tokens."""
        return self.tokens[-1].id if self.tokens else 0

    @property
    def is_large(self) -> bool:
        """True if an engine takes much longer to add the tokens than to read a usual file."""
        return self._exceeds(*_MOST_COPIED)

    @property
    def is_listed(self) -> bool:
        """True if a look compares the tokens one by one."""
        return not self._exceeds(MOST_LISTED, MOST_LISTED_CHARS)

    def _exceeds(self, count: int, chars: int) -> bool:
        return len(self.tokens) > count or sum(len(each.content) for each in self.tokens) > chars


@dataclass(frozen=True, slots=True)
class Look:
    """How to look at one tokenizer, and what was there when the look was made.

    `asked_components`: normalizer and pre-tokenizer, if their states are too large to compare.
    `asked_ids`: the first id that no token had, and the highest id of an added token. `lists`:
    the added tokens were few enough to be compared. `model`, `rest`: what `look_at_model` and
    `_look_at_rest` returned."""

    asked_components: tuple[str, ...]
    asked_ids: tuple[int, int]
    lists: bool
    model: tuple[object, ...]
    rest: tuple[object, ...]

    @classmethod
    def of(cls, own: Any, wrapper: Any, added: EngineTokens | None = None) -> Look:
        """Returns a look at a `tokenizers.Tokenizer`, and the transformers tokenizer around it.

        `added`: the added tokens of `own`, if the caller has read them."""
        states = {name: state_of(getattr(own, name)) for name in COMPONENTS[:2]}
        asked = tuple(n for n, s in states.items() if s is not None and len(s) > _LARGEST_STATE)
        added = EngineTokens.of(own) if added is None else added
        highest = added.highest_id
        ids = max(highest + 1, own.get_vocab_size(with_added_tokens=False)), highest
        plan = asked, ids, added.is_listed
        return cls(*plan, look_at_model(own), _look_at_rest(own, wrapper, *plan))

    def is_same_model(self, own: Any) -> bool:
        """True if the model is what it was."""
        return self.model == look_at_model(own)

    def is_same(self, own: Any, wrapper: Any) -> bool:
        """True if the tokenizer is what it was."""
        plan = self.asked_components, self.asked_ids, self.lists
        return self.model == look_at_model(own) and self.rest == _look_at_rest(own, wrapper, *plan)


def look_at_model(own: Any) -> tuple[object, ...]:
    """Returns what shows that the model of a tokenizer was trained, exchanged or set."""
    model, size = own.model, own.get_vocab_size(False)
    kind: Any = type(model)
    return settings_of(kind)(model), size, [*map(model.id_to_token, sampled_ids(size))]


def _look_at_rest(
    own: Any, wrapper: Any, asked_components: tuple[str, ...], ids: tuple[int, int], lists: bool
) -> tuple[object, ...]:
    states = states_of(_read_components(own), asked_components)
    # transformers leaves the arguments of its last call on the engine
    settings = read_flags(own) if wrapper is None else skips_special_tokens(own, wrapper)
    added_tokens = own.get_added_tokens_decoder() if lists else None
    return states, own.id_to_token(ids[0]), own.id_to_token(ids[1]), settings, added_tokens


def states_of(components: Sequence[Any], asked: tuple[str, ...]) -> list[object]:
    """Returns the states of the first components of `COMPONENTS`."""
    if not asked:
        return [*map(state_of, components)]
    return [
        _work_of(part, name) if name in asked else state_of(part)
        for part, name in zip(components, COMPONENTS, strict=False)
    ]


def _work_of(component: Any, name: str) -> object:
    """Returns what a normalizer or a pre-tokenizer does with a hostile text."""
    if component is None:
        return None
    call = component.normalize_str if name == "normalizer" else component.pre_tokenize_str
    return call(_HOSTILE)


def skips_special_tokens(own: Any, wrapper: Any) -> bool:
    """Returns the value of `encode_special_tokens` in the next call. transformers sets the flag of
    the engine to its own in every call."""
    if wrapper is None:
        return bool(own.encode_special_tokens)
    return bool(getattr(wrapper, "split_special_tokens", False))


def state_of(component: Any) -> bytes | str | None:
    """Returns a component as bytes; a message if it is written in Python."""
    if component is None:
        return None
    try:
        state: bytes = component.__getstate__()
    except Exception as error:  # the library has no exception type for this
        return str(error)
    return state


@lru_cache
def settings_of(kind: Any) -> Callable[[Any], tuple[object, ...]]:
    """Returns a function that returns the class and the settings of a model of this class."""
    return attrgetter("__class__", *(n for n in MODEL_SETTINGS if hasattr(kind, n)))


@lru_cache
def sampled_ids(size: int) -> tuple[int, ...]:
    """Returns some ids of a vocabulary, half of them the last: training changes these first."""
    spread = {size * k // _SPREAD for k in range(_SPREAD)}
    return tuple(sorted(spread | {*range(max(0, size - _LAST), size)}))


_ALL_ASKED, _SOME_ASKED = 4096, 64
"""All ids of a vocabulary up to the first size are looked up for missing ones; else a sample."""


@dataclass(frozen=True, slots=True, eq=False)
class ReadModel:
    """The vocabulary of a model, and the digest under which its tables are stored.

    `vocabulary`: arrays. If the JSON of the model does not give the same vocabulary, the engine's
    dictionary. `source`: the digest of the file or of the JSON; None if neither was read here.
    `state`: the JSON of the model, if it was read. `parts`: the parts of the model in the file, if
    they were read."""

    vocabulary: VocabularyArrays | dict[str, int]
    source: Source | None = None
    state: bytes | None = None
    parts: Parts | None = None


def read_model(tokenizer: Any, file_bytes: bytes | None, byte_level: bool) -> ReadModel:
    """Returns the vocabulary of `tokenizer` and the digest of its model.

    `file_bytes`: the file that the tokenizer was just made from, or None. Arrays are made only with
    `byte_level`, because only a ByteLevel stage may need them.

    The library writes the JSON of a model faster than it gives the vocabulary, and the merges are
    read from the same JSON. The JSON has one token per id. So if several tokens share an id, the
    number of tokens shows that some are missing."""
    tokens = cache(lambda: dict(tokenizer.get_vocab(with_added_tokens=False)))
    if not byte_level:
        return ReadModel(tokens())
    from tokpar.compiled.merges import (  # other models do without it
        Source,
        model_parts,
        vocabulary_arrays,
    )

    model, size = tokenizer.model, tokenizer.get_vocab_size(with_added_tokens=False)
    source = None if file_bytes is None else Source.of(file_bytes)
    arrays = state = parts = None
    if kernel_modules.VOCABULARY is not None and type(model).__name__ == "BPE":
        if file_bytes is not None:
            parts = model_parts(file_bytes)
            arrays = parts and vocabulary_arrays(file_bytes, size, tokens, parts=parts)
        elif is_dense(model, size):
            state = written_model(model)
            source = Source.of(state)
            arrays = vocabulary_arrays(state, size, tokens)
    return ReadModel(arrays or tokens(), source, state, parts)


def written_model(model: Any) -> bytes:
    """Returns the JSON of a model. No other thread runs until the engine has written it, so it is
    called while a tokenizer is loaded; for a Unigram only where tables are made, by their thread,
    which takes a tenth of a second for 250,000 pieces."""
    state: bytes = model.__getstate__()
    return state


def is_dense(model: Any, size: int) -> bool:
    """True if no id below `size` is missing, as far as a sample of ids shows.

    Writing a model takes time and memory for all ids below its greatest id, and some vocabularies
    have very few of these ids."""
    some = range(size) if size <= _ALL_ASKED else range(size - 1, 0, -size // _SOME_ASKED)
    return all(model.id_to_token(i) is not None for i in some)
