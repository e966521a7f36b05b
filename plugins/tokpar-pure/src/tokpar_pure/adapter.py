"""The adapters of tokpar's own tokenizers in plain Python. They are readable and exact, and the
other engines are tested against them.

`tokpar_pure.patterns` describes code points that Unicode versions classify differently."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tokpar import FileFormatError, OptionError, Rows
from tokpar.adapters.decoding_parts import refuse_skipping
from tokpar.adapters.settings import POSTPROCESS_FLAGS, check_names, flags, path_of
from tokpar.errors import quoted
from tokpar.facts.hf_facts import facts_with_tokens, token_lengths
from tokpar.facts.token_lengths import TokenLengths
from tokpar.formats.formats import read_config, read_ranks
from tokpar.formats.json_parts import kind
from tokpar.formats.vocabulary import Vocabulary
from tokpar.patterns.pattern_reader import require_unchanged
from tokpar.plugin.tokenizer import (
    KNOWN_ENCODINGS,
    DecodingParts,
    EngineTraits,
    Facts,
    IdArray,
    Origin,
    SpanArray,
    byte_alphabet,
    byte_starts,
    cached_property,
    shipped_pattern,
)
from tokpar_pure.formats import rank_vocabulary, vocabulary_of
from tokpar_pure.model import EncodesAll
from tokpar_pure.patterns import flatten_sets
from tokpar_pure.postprocess import read_postprocess
from tokpar_pure.pretokenize import PUNCTUATION
from tokpar_pure.tokenizer import Tokenizer, read_tokenizer, tokenizer_of

ENGINE = "regex"
_RANK_SETTINGS = ("name", "pat_str", "special_tokens")


def load(
    source: object, *, engine: str | None = None, **settings: Any
) -> PureTokenizer | FileTokenizer | None:
    """Returns an adapter of a `Vocabulary`, or of a path that ends in ``.json``, ``.tiktoken``, or
    ``.txt`` (BERT's ``vocab.txt``). None for other sources, and if `engine` names another engine
    than "pure".

    Settings of a ``.json`` file: `add_special_tokens`, `truncation` and `padding`. True means: as
    the file says.
    Settings of a ``.txt`` file: the same, and `lowercase` (True; False for a cased vocabulary).
    Settings of a ``.tiktoken`` file: `name` of a known encoding (default: the file's stem),
    `pat_str`, and `special_tokens` (default: none). All special tokens are matched in the text.
    A `Vocabulary` has no settings.

    Raises OptionError, FileFormatError, FileNotFoundError."""
    if engine not in (None, "pure"):
        return None
    if isinstance(source, Vocabulary):
        check_names(settings, ())
        return PureTokenizer(source)
    path = path_of(source, ".json", ".tiktoken", ".txt")
    if path is None:
        return None
    if path.suffix == ".tiktoken":
        return PureTokenizer(_rank_vocabulary(path, settings))
    if path.suffix == ".json":
        return _of_json(path, flags(settings, POSTPROCESS_FLAGS))
    from tokpar.formats.bert import bert_config  # other files do without it

    postprocess_flags = flags(settings, (*POSTPROCESS_FLAGS, "lowercase"))
    config = bert_config(path, postprocess_flags.pop("lowercase", True))
    return FileTokenizer(config, path.stem, **postprocess_flags)


def _of_json(path: Path, settings: Mapping[str, bool]) -> PureTokenizer | FileTokenizer:
    """Returns the adapter of a file: a PureTokenizer for byte-level BPE without other stages, else
    a FileTokenizer."""
    config = read_config(path)
    if _decodes_bytes(config):
        try:
            return PureTokenizer(vocabulary_of(config, path))
        except FileFormatError:
            pass  # the file has other stages, or is broken; the code below says what is wrong
    try:
        return FileTokenizer(config, path.stem, **settings)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {quoted(error)}") from None


def _decodes_bytes(config: Mapping[str, Any]) -> bool:
    """True if decoding gives the bytes of all tokens: the decoder is ByteLevel, and no added token
    could be taken for byte-level characters."""
    added = config.get("added_tokens") or []
    return kind(config.get("decoder")) == "ByteLevel" and all(
        content.isascii() or not byte_alphabet().keys() >= set(content)
        for content in (str(token.get("content")) for token in added if isinstance(token, Mapping))
    )


def _rank_vocabulary(path: Path, settings: Mapping[str, Any]) -> Vocabulary:
    check_names(settings, _RANK_SETTINGS)
    name = settings.get("name") or path.stem
    pattern = settings.get("pat_str")
    if pattern is None and name not in KNOWN_ENCODINGS:
        raise OptionError(
            f"{path}: the file does not hold its regex: pass pat_str, or as name one of "
            f"{', '.join(sorted(KNOWN_ENCODINGS))}"
        )
    pattern = pattern or KNOWN_ENCODINGS[name].pattern
    require_unchanged(pattern)
    return rank_vocabulary(name, read_ranks(path), pattern, settings.get("special_tokens") or {})


class _InPython:
    """The base of the adapters of tokenizers in Python. Encoding raises OptionError for a lone
    surrogate."""

    def __init__(self, name: str, tokenizer: Tokenizer) -> None:
        self.name = name  # the engine, and the name of the vocabulary or file: "pure:bert"
        self._tokenizer = tokenizer

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @property
    def traits(self) -> EngineTraits:
        """The tokenizer refuses lone surrogates."""
        return EngineTraits(check_text=self.check_text)

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        if text.isascii():
            return
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise OptionError(f"the text has a lone surrogate at position {error.start}") from None

    def encode(self, text: str) -> IdArray:
        """Returns the ids of `text`, added tokens included; uint32, (n,)."""
        self.check_text(text)
        return np.array(self._tokenizer.encode(text), dtype=np.uint32)


class PureTokenizer(_InPython):
    """Byte-level BPE without other stages.

    `engine`, `model`: the name and the model of another engine that is built on this class."""

    def __init__(
        self, vocabulary: Vocabulary, engine: str = "pure", model: EncodesAll | None = None
    ) -> None:
        super().__init__(f"{engine}:{vocabulary.name}", tokenizer_of(vocabulary, model))
        self._vocabulary = vocabulary

    @cached_property
    def facts(self) -> Facts:
        """The facts that proofs may use."""
        vocabulary = self._vocabulary
        patterns = tuple(map(flatten_sets, vocabulary.patterns))
        known = shipped_pattern(ENGINE, patterns)
        tiles = vocabulary.keep_gaps or (known is not None and known.covers)
        return Facts(
            engine=ENGINE,
            model="BPE",
            scheme="regex",
            patterns=patterns,
            added_tokens=vocabulary.added,
            byte_level=True,
            tiles=tiles,
            longest_token=max(map(len, vocabulary.tokens)),
            added_token_cuts_refused=None,
            tokens=partial(frozenset, vocabulary.tokens),
        )

    @property
    def origin(self) -> Origin | None:
        """The vocabulary, for a checker."""
        return Origin(self._vocabulary)

    def vocabulary(self) -> Vocabulary:
        """Returns the vocabulary that the adapter was made of."""
        return self._vocabulary

    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of `encode`: nothing is applied to the whole text."""
        return self.encode(text)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans. Raises LookupError if these ids do not spell `text`."""
        return self._lengths.spans(ids, text)

    def token_bytes(self, id_: int) -> bytes | None:
        """The bytes of a token; None for an unknown id."""
        return self._bytes_of.get(id_)

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of `ids`, with U+FFFD for bytes that are no UTF-8. Raises LookupError
        for an unknown id."""
        return b"".join(map(self._token_bytes, map(operator.index, ids))).decode("utf-8", "replace")

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The bytes of each token."""
        refuse_skipping(self.name, skip_special_tokens)
        count = len(self._bytes_of)
        return DecodingParts(self._token_bytes, self.decode, count, in_bytes=True)

    def _token_bytes(self, id_: int) -> bytes:
        try:
            return self._bytes_of[id_]
        except KeyError:
            raise LookupError(f"{self.name} has no token with id {id_}") from None

    def spec(self) -> tuple[type[PureTokenizer], dict[str, Any]]:
        """Returns how to build the adapter again in another process."""
        return type(self), {"vocabulary": self._vocabulary}

    @cached_property
    def _bytes_of(self) -> dict[int, bytes]:
        added = {token.id: token.content.encode("utf-8") for token in self._vocabulary.added}
        return {id_: token for token, id_ in self._vocabulary.tokens.items()} | added

    @cached_property
    def _lengths(self) -> TokenLengths:
        return TokenLengths(self._bytes_of, map(len, self._bytes_of.values()))


class FileTokenizer(_InPython):
    """The tokenizer of `config`, a parsed ``tokenizer.json``.

    `postprocess_flags`: see `POSTPROCESS_FLAGS`. Another engine that is built on this class has
    another `engine_name` and `model_of`.

    Truncation and padding of the file are applied once, to all ids of a text, as Hugging Face
    does."""

    engine_name = "pure"

    def __init__(self, config: dict[str, Any], name: str, **postprocess_flags: bool) -> None:
        self.config = config
        exact = read_tokenizer(config)
        tokenizer = replace(exact, model=self.model_of(exact.model))
        super().__init__(f"{self.engine_name}:{name}", tokenizer)
        self._arguments = {"config": config, "name": name, **postprocess_flags}
        self._postprocess = read_postprocess(config, **postprocess_flags)

    def model_of(self, exact: EncodesAll) -> EncodesAll:
        """Returns the model that encodes pre-tokens: the exact model of the file."""
        return exact

    @cached_property
    def facts(self) -> Facts:
        """The facts that proofs may use: derived by the rules for Hugging Face, with the pattern
        family of this engine."""
        facts = facts_with_tokens(self.config, lists_classes=True)
        return replace(facts, engine=ENGINE, patterns=tuple(map(flatten_sets, facts.patterns)))

    @property
    def origin(self) -> Origin | None:
        """The parsed file, for a checker."""
        postprocess_flags = {name: self._arguments.get(name, True) for name in POSTPROCESS_FLAGS}
        return Origin(self.config, postprocess_flags)

    def vocabulary(self) -> dict[str, Any]:
        """Returns the parsed ``tokenizer.json``."""
        return self.config

    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of `encode` after `postprocess`."""
        return self.postprocess(Rows.of([self.encode(text)]), [text])[0]

    @property
    def special_tokens(self) -> tuple[IdArray, IdArray]:
        """Ids that `postprocess` inserts before and after every text."""
        before, after = self._postprocess.prefix, self._postprocess.suffix
        return np.array(before, dtype=np.uint32), np.array(after, dtype=np.uint32)

    @property
    def truncates_to(self) -> int | None:
        """The most ids that `postprocess` leaves; None if it truncates nothing."""
        limit, inserted = self._postprocess.limit, sum(map(len, self.special_tokens))
        return None if limit is None else limit + inserted

    @property
    def pads(self) -> bool:
        """True if `postprocess` may pad."""
        return self._postprocess.pad is not None

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Returns the ids of whole texts: truncated, with special tokens, padded to the longest, as
        the file says."""
        return Rows.of(self._postprocess.batch([rows[k].tolist() for k in range(len(rows))]))

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans. Raises LookupError if these are not the ids of `text`.

        If tokens do not tile the text, spans are whole code points, which tokens may share; a
        normalizer may leave gaps."""
        if self._lengths is not None:
            return self._lengths.spans(ids, text)
        found = np.array(self._tokenizer.spans(text), dtype=np.int64).reshape(-1, 3)
        if not np.array_equal(found[:, 0], ids):
            raise LookupError("these are not the ids of this text")
        return byte_starts(text)[found[:, 1:]]

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of `ids` from the file's decoder, added tokens included; without a
        decoder, tokens joined by spaces.

        Raises LookupError for an id that is no token. Hugging Face leaves such ids out."""
        return self._tokenizer.decode([*map(operator.index, ids)])

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The tokens as the file's decoder reads them."""
        refuse_skipping(self.name, skip_special_tokens)
        spelling = self._tokenizer.spelling
        decoder = self.config.get("decoder")
        return DecodingParts(self._token, self.decode, len(spelling), decoder=decoder)

    def _token(self, id_: int) -> str:
        try:
            return self._tokenizer.spelling[id_]
        except KeyError:
            raise LookupError(f"there is no token with id {id_}") from None

    def spec(self) -> tuple[type[FileTokenizer], dict[str, Any]]:
        """Returns how to build the adapter again in another process."""
        return type(self), self._arguments

    @cached_property
    def _lengths(self) -> TokenLengths | None:
        return token_lengths(self.config) if self.facts.tiles else None


def twin_of_one(config: dict[str, Any], name: str) -> FileTokenizer:
    """Returns the tokenizer of a ``tokenizer.json`` that tokenizers 1.x runs, which splits at the
    punctuation of a newer Unicode. Raises FileFormatError."""
    stage = _with_its_punctuation(config.get("pre_tokenizer"))
    return FileTokenizer({**config, "pre_tokenizer": stage}, name)


def _with_its_punctuation(stage: Any) -> Any:
    """Returns the pre-tokenizer with the mark that it splits at the punctuation
    of 1.x and not of 0.2x."""
    if not isinstance(stage, dict):
        return stage
    inner = stage.get("pretokenizers")
    if isinstance(inner, list):
        return {**stage, "pretokenizers": [_with_its_punctuation(each) for each in inner]}
    return {**stage, PUNCTUATION: "punctuation_one"}
