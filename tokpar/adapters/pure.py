"""tokpar's own tokenizers in plain Python: readable, exact, the oracle of the other engines.

Ids are those of HF or tiktoken. Where a regex splits the text, that is promised for code points
that all Unicode versions in use classify alike; see `tokpar.pure.patterns` for the others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from tokpar.errors import FileFormatError, OptionError
from tokpar.kernels import (
    IdArray,
    IntArray,
    SpanArray,
    byte_length,
    byte_starts,
    spans_from_lengths,
)
from tokpar.pure.added import AddedTokens
from tokpar.pure.bpe import RankBPE
from tokpar.pure.formats import (
    Vocabulary,
    byte_alphabet,
    rank_vocabulary,
    read_config,
    read_ranks,
    vocabulary_of,
)
from tokpar.pure.known import KNOWN_ENCODINGS
from tokpar.pure.model import EncodesAll
from tokpar.pure.pairs import PairBPE, PairSettings
from tokpar.pure.parts import kind
from tokpar.pure.patterns import Engine
from tokpar.pure.postprocess import read_finish
from tokpar.pure.pretokenize import PreTokenizer
from tokpar.pure.tokenizer import Tokenizer, read_tokenizer
from tokpar.types import Facts

ENGINE = "regex"
_RANK_SETTINGS = ("name", "pat_str", "special_tokens")
_JSON_SETTINGS = ("add_special_tokens", "cut_and_pad")


def load(
    source: object, *, engine: str | None = None, **settings: Any
) -> PureTokenizer | FileTokenizer | None:
    """An adapter of a `Vocabulary`, or of a path that ends in ``.json`` or ``.tiktoken``; None for
    anything else, or if another `engine` than "pure" is asked for.

    Settings of a ``.json`` file: `add_special_tokens` (True) and `cut_and_pad` (True), which stands
    for the truncation and padding that the file asks for. Settings of a ``.tiktoken`` file: `name`
    of a known encoding (else the file's stem), `pat_str`, and `special_tokens`, all of which are
    matched in the text (default: none). A `Vocabulary` takes no settings. Raises OptionError,
    FileFormatError, FileNotFoundError.
    """
    if engine not in (None, "pure"):
        return None
    if isinstance(source, Vocabulary):
        _check_names(settings, ())
        return PureTokenizer(source)
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None and path.suffix == ".tiktoken":
        return PureTokenizer(_rank_vocabulary(path, settings))
    if path is not None and path.suffix == ".json":
        return _of_json(path, settings)
    return None


def _check_names(settings: Mapping[str, Any], known: Sequence[str]) -> None:
    unknown = sorted(settings.keys() - set(known))
    if unknown:
        names = f"known: {', '.join(known)}" if known else "there are none for this source"
        raise OptionError(f"unknown setting {unknown[0]!r}; {names}")


def _of_json(path: Path, settings: Mapping[str, Any]) -> PureTokenizer | FileTokenizer:
    """Byte-level BPE with nothing around it is a `Vocabulary`, everything else a whole file."""
    _check_names(settings, _JSON_SETTINGS)
    for name, value in settings.items():
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}")
    config = read_config(path)
    if _decodes_bytes(config):
        try:
            return PureTokenizer(vocabulary_of(config, path))
        except FileFormatError:
            pass  # more than that, or broken, and then it is said below what is
    try:
        return FileTokenizer(config, path.stem, **settings)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None


def _decodes_bytes(config: Mapping[str, Any]) -> bool:
    """Decoding gives the bytes of the tokens, of the added ones too: none looks like bytes."""
    decoder = config.get("decoder")
    added = config.get("added_tokens") or []
    return kind(decoder) == "ByteLevel" and all(
        content.isascii() or not byte_alphabet().keys() >= set(content)
        for content in (str(token.get("content")) for token in added if isinstance(token, Mapping))
    )


def _rank_vocabulary(path: Path, settings: Mapping[str, Any]) -> Vocabulary:
    _check_names(settings, _RANK_SETTINGS)
    name = settings.get("name") or path.stem
    pattern = settings.get("pat_str")
    if pattern is None and name not in KNOWN_ENCODINGS:
        raise OptionError(
            f"{path}: the file does not hold its regex: pass pat_str, or as name one of "
            f"{', '.join(sorted(KNOWN_ENCODINGS))}"
        )
    pattern = pattern or KNOWN_ENCODINGS[name].pattern
    return rank_vocabulary(name, read_ranks(path), pattern, settings.get("special_tokens") or {})


class _Encodes:
    """What both adapters do with a `Tokenizer`."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self._name = name
        self._tokenizer = tokenizer

    @property
    def name(self) -> str:
        """ "pure:" and the name of the vocabulary."""
        return f"pure:{self._name}"

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        if text.isascii():
            return
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise OptionError(f"the text has a lone surrogate at position {error.start}") from None

    def encode(self, text: str) -> IdArray:
        """Ids of `text`, added tokens included; uint32, (n,)."""
        self.check_text(text)
        return np.array(self._tokenizer.encode(text), dtype=np.uint32)


class PureTokenizer(_Encodes):
    """Byte-level BPE and nothing around it; see `load`. OptionError for a lone surrogate."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        super().__init__(vocabulary.name, _whole(vocabulary))

    @cached_property
    def facts(self) -> Facts:
        """What proofs may use."""
        from tokpar.cuts.tables import recognise

        vocabulary = self._vocabulary
        family = recognise(ENGINE, vocabulary.patterns)
        tiles = vocabulary.keep_gaps or family is not None
        return Facts(
            engine=ENGINE,
            model="BPE",
            scheme="regex",
            family=family.name if family else None,
            patterns=vocabulary.patterns,
            added_tokens=vocabulary.added,
            byte_level=True,
            tiles=tiles,
            longest_token=max(map(len, vocabulary.tokens)),
            unprovable=None if family else _no_family(vocabulary.patterns),
            undivided=None if tiles else "its pattern may leave text out",
            tokens=partial(frozenset, vocabulary.tokens),
        )

    def encode_whole(self, text: str) -> IdArray:
        """The same as `encode`: nothing is applied to the whole."""
        return self.encode(text)

    def finish(self, ids: IdArray, text: str) -> IdArray:
        """The ids as they are."""
        return ids

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these ids do not make up `text`."""
        return spans_by_length(self._lengths, ids, text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`, added tokens included; bytes that are no UTF-8 become U+FFFD.
        LookupError for an id that is no token."""
        try:
            return b"".join(self._bytes_of[int(id_)] for id_ in ids).decode("utf-8", "replace")
        except KeyError as error:
            raise LookupError(f"{self.name} has no token with id {error}") from None

    def spec(self) -> tuple[type[PureTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        return PureTokenizer, {"vocabulary": self._vocabulary}

    @cached_property
    def _bytes_of(self) -> dict[int, bytes]:
        added = {token.id: token.content.encode("utf-8") for token in self._vocabulary.added}
        return {id_: token for token, id_ in self._vocabulary.tokens.items()} | added

    @cached_property
    def _lengths(self) -> IntArray:
        return length_table({id_: len(token) for id_, token in self._bytes_of.items()})


class FileTokenizer(_Encodes):
    """The tokenizer of a parsed ``tokenizer.json``; see `load`. OptionError for a lone surrogate.

    Truncation and padding of the file are applied once, to all ids of a text, as HF does.
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        name: str,
        add_special_tokens: bool = True,
        cut_and_pad: bool = True,
    ) -> None:
        super().__init__(name, read_tokenizer(config))
        self._config = config
        self._settings = {"add_special_tokens": add_special_tokens, "cut_and_pad": cut_and_pad}
        self._finish = read_finish(config, **self._settings)

    @cached_property
    def facts(self) -> Facts:
        """What proofs may use: by the rules for HF, the family as this engine has it."""
        from tokpar.adapters.hf_facts import facts_from_json, token_bytes
        from tokpar.cuts.tables import recognise

        facts = facts_from_json(self._config)
        why = facts.unprovable
        if facts.scheme == "regex" and recognise(ENGINE, facts.patterns) is None:
            why = why or _no_family(facts.patterns)
        tokens = partial(token_bytes, tuple(self._config["model"]["vocab"]))
        return replace(
            facts,
            engine=ENGINE,
            unprovable=why,
            tokens=tokens if facts.undivided is None else None,
        )

    def encode_whole(self, text: str) -> IdArray:
        """`encode`, then `finish`."""
        return self.finish(self.encode(text), text)

    def finish(self, ids: IdArray, text: str) -> IdArray:
        """`ids` of the whole text, cut, with special tokens, and padded as a text of its own."""
        return np.array(self._finish.one(ids.tolist()), dtype=np.uint32)

    def finish_batch(self, ids: Sequence[IdArray], texts: Sequence[str]) -> list[IdArray]:
        """The same for texts that are encoded together: padded to the longest if the file says."""
        whole = self._finish.batch([some.tolist() for some in ids])
        return [np.array(some, dtype=np.uint32) for some in whole]

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these are not the ids of `text`.

        Where tokens do not tile the text, spans are in whole code points: the tokens of one
        character share a span, and a normalizer may leave gaps.
        """
        if self._lengths is not None:
            return spans_by_length(self._lengths, ids, text)
        found = np.array(self._tokenizer.spans(text), dtype=np.int64).reshape(-1, 3)
        if not np.array_equal(found[:, 0], ids):
            raise LookupError("these are not the ids of this text")
        spans: SpanArray = byte_starts(text)[found[:, 1:]]
        return spans

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids` by the file's decoder, added tokens included; tokens joined by spaces
        if there is none. LookupError for an id that is no token, which HF leaves out."""
        return self._tokenizer.decode([int(id_) for id_ in ids])

    def spec(self) -> tuple[type[FileTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        arguments = {"config": self._config, "name": self._name}
        return FileTokenizer, arguments | self._settings

    @cached_property
    def _lengths(self) -> IntArray | None:
        from tokpar.adapters.hf_facts import token_lengths

        return token_lengths(self._config) if self.facts.tiles else None


def _whole(vocabulary: Vocabulary) -> Tokenizer:
    """A vocabulary as a whole tokenizer; its decoder is not used."""
    ranks = vocabulary.semantics == "ranks"
    engine: Engine = "fancy-regex" if ranks else "oniguruma"
    split = PreTokenizer(vocabulary.patterns, engine, vocabulary.keep_gaps)
    model = RankBPE(vocabulary.tokens) if ranks else _pair_model(vocabulary)
    return Tokenizer(AddedTokens(vocabulary.added), None, split, model, {}, "".join)


def _pair_model(vocabulary: Vocabulary) -> EncodesAll:
    char_of = {byte: char for char, byte in byte_alphabet().items()}
    shown = {
        "".join(char_of[byte] for byte in token): id_ for token, id_ in vocabulary.tokens.items()
    }
    settings = PairSettings(byte_level=True, ignore_merges=vocabulary.whole_piece)
    return PairBPE(shown, vocabulary.merges, settings)


def _no_family(patterns: Sequence[str]) -> str:
    return f"the pattern is of no known family: {' then '.join(map(repr, patterns))}"


def length_table(lengths: Mapping[int, int]) -> IntArray:
    """int64 table id -> UTF-8 bytes of the token, 0 for ids without one: {2: 5} -> [0, 0, 5]."""
    table = np.zeros(max(lengths) + 1, dtype=np.int64)
    table[np.fromiter(lengths, np.int64)] = np.fromiter(lengths.values(), np.int64)
    return table


def spans_by_length(table: IntArray, ids: IdArray, text: str) -> SpanArray:
    """Byte spans of tokens that tile `text`; LookupError if by their lengths they do not."""
    lengths = table[ids]
    total, expected = int(lengths.sum()), byte_length(text)
    if total != expected or not lengths.all():
        raise LookupError(
            f"the tokens' bytes do not tile the text: {total} bytes in tokens, {expected} in text"
        )
    return spans_from_lengths(lengths)
