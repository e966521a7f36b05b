"""The adapter of a byte-level `Vocabulary`, as `tokpar.adapters.pure` loads it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import Any

from tokpar.adapters.pure_arrays import (
    ids_of,
    require_utf8,
)
from tokpar.adapters.token_lengths import TokenLengths
from tokpar.kernels import IdArray, SpanArray
from tokpar.pure.tokenizer import tokenizer_of
from tokpar.pure.vocabulary import Vocabulary
from tokpar.types import Facts

ENGINE = "regex"


class PureTokenizer:
    """Byte-level BPE and nothing around it. OptionError for a lone surrogate."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tokenizer = tokenizer_of(vocabulary)

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
            unprovable=None if family else no_family(vocabulary.patterns),
            undivided=None if tiles else "its pattern may leave text out",
            tokens=partial(frozenset, vocabulary.tokens),
        )

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        require_utf8(text)

    def encode(self, text: str) -> IdArray:
        """Ids of `text`, added tokens included; uint32, (n,)."""
        return ids_of(self._tokenizer, text)

    def encode_whole(self, text: str) -> IdArray:
        """The same as `encode`: nothing is applied to the whole."""
        return self.encode(text)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these ids do not make up `text`."""
        return self._lengths.spans(ids, text)

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
    def _lengths(self) -> TokenLengths:
        return TokenLengths(self._bytes_of, map(len, self._bytes_of.values()))


def no_family(patterns: Sequence[str]) -> str:
    """Why nothing is proved of a tokenizer with these patterns."""
    return f"the pattern is of no known family: {' then '.join(map(repr, patterns))}"
