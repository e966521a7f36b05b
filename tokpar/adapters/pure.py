"""tokpar's own byte-level BPE in plain Python: slow, readable, the oracle of the other engines.

Its ids are those of HF or tiktoken for code points that all Unicode versions in use classify alike;
see `tokpar.pure.pretokenize` for the others.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from tokpar.errors import OptionError
from tokpar.kernels import IdArray, IntArray, SpanArray, byte_length, spans_from_lengths
from tokpar.pure.bpe import ByteBPE
from tokpar.pure.formats import (
    Vocabulary,
    rank_vocabulary,
    read_ranks,
    read_tokenizer_json,
)
from tokpar.pure.known import KNOWN_ENCODINGS
from tokpar.pure.pretokenize import AddedTokens, PreTokenizer
from tokpar.types import Facts

ENGINE = "regex"
_RANK_SETTINGS = ("name", "pat_str", "special_tokens")


def load(source: object, *, engine: str | None = None, **settings: Any) -> PureTokenizer | None:
    """An adapter of a `Vocabulary`, or of a path that ends in ``.json`` or ``.tiktoken``; None for
    anything else, or if another `engine` than "pure" is asked for.

    Settings of a ``.tiktoken`` file: `name` of a known encoding (else the file's stem), `pat_str`,
    and `special_tokens`, all of which are matched in the text (default: none). Other files take no
    settings. Raises OptionError, FileFormatError, FileNotFoundError.
    """
    if engine not in (None, "pure"):
        return None
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    if path is not None and path.suffix == ".tiktoken":
        return PureTokenizer(_rank_vocabulary(path, settings))
    if isinstance(source, Vocabulary) or (path is not None and path.suffix == ".json"):
        if settings:
            raise OptionError(f"unknown setting {min(settings)!r}; there are none for this source")
        return PureTokenizer(
            source if isinstance(source, Vocabulary) else read_tokenizer_json(str(path))
        )
    return None


def _rank_vocabulary(path: Path, settings: Mapping[str, Any]) -> Vocabulary:
    unknown = sorted(settings.keys() - set(_RANK_SETTINGS))
    if unknown:
        raise OptionError(f"unknown setting {unknown[0]!r}; known: {', '.join(_RANK_SETTINGS)}")
    name = settings.get("name") or path.stem
    pattern = settings.get("pat_str")
    if pattern is None and name not in KNOWN_ENCODINGS:
        raise OptionError(
            f"{path}: the file does not hold its regex: pass pat_str, or as name one of "
            f"{', '.join(sorted(KNOWN_ENCODINGS))}"
        )
    pattern = pattern or KNOWN_ENCODINGS[name].pattern
    return rank_vocabulary(name, read_ranks(path), pattern, settings.get("special_tokens") or {})


class PureTokenizer:
    """The adapter; see `load`. Raises OptionError for a text with a lone surrogate."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        ranks = vocabulary.semantics == "ranks"
        self._added = AddedTokens(vocabulary.added)
        self._split = PreTokenizer(
            vocabulary.patterns, "fancy-regex" if ranks else "oniguruma", vocabulary.keep_gaps
        ).split
        self._bpe = ByteBPE(vocabulary)

    @property
    def name(self) -> str:
        """ "pure:" and the name of the vocabulary."""
        return f"pure:{self._vocabulary.name}"

    @cached_property
    def facts(self) -> Facts:
        """What proofs may use."""
        from tokpar.cuts.tables import recognise

        vocabulary = self._vocabulary
        family = recognise(ENGINE, vocabulary.patterns)
        shown = " then ".join(map(repr, vocabulary.patterns))
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
            unprovable=None if family else f"the pattern is of no known family: {shown}",
            undivided=None if tiles else "its pattern may leave text out",
            tokens=partial(frozenset, vocabulary.tokens),
        )

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            raise OptionError(f"the text has a lone surrogate at position {error.start}") from None

    def encode(self, text: str) -> IdArray:
        """Ids of `text`, added tokens included; uint32, (n,)."""
        self.check_text(text)
        ids = array("I")
        for segment in self._added.segments(text):
            if isinstance(segment, int):
                ids.append(segment)
                continue
            for piece in self._split(segment):
                ids.extend(self._bpe.encode(piece.encode("utf-8")))
        return np.array(ids, dtype=np.uint32)

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
