"""The adapter of `tokpar.pure.incremental`, asked for by ``engine="incremental"``.

True byte-level BPE, ids and facts of the pure engine. Loading builds an automaton of all tokens,
which takes seconds for vocabularies of 100,000 and more.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tokpar.adapters import pure
from tokpar.adapters.pure_arrays import ids_of
from tokpar.adapters.settings import flags
from tokpar.kernels import IdArray, SpanArray
from tokpar.pure.eager import EagerBPE
from tokpar.pure.formats import vocabulary_of
from tokpar.pure.incremental import IncrementalBPE, IncrementalModel, Tables
from tokpar.pure.incremental_dictionary import dictionary_of
from tokpar.pure.properize import properized
from tokpar.pure.tokenizer import tokenizer_of
from tokpar.pure.vocabulary import Vocabulary
from tokpar.types import Facts


def load(source: object, *, engine: str | None = None, **settings: Any) -> PrefixTokenizer | None:
    """An adapter of a `Vocabulary`, or of a path that ends in ``.json`` (byte-level BPE) or
    ``.tiktoken``; None for anything else, or if another `engine` than "incremental" is asked for.

    Settings and errors are those of `tokpar.adapters.pure.load`; FileFormatError names what is not
    byte-level BPE, OptionError a merge that does not make the bytes of its parts. One setting more:
    `properize` (False) gives improper merges a proper order first, as the paper does, and refuses
    those that have none with an OptionError that names them; the ids are the same with and without.
    """
    if engine not in (None, "incremental"):
        return None
    properize = flags({"properize": settings.pop("properize", False)}, ("properize",))
    exact = pure.load(source, **settings)
    if isinstance(exact, pure.PureTokenizer):
        return PrefixTokenizer(exact.spec()[1]["vocabulary"], **properize)
    if exact is not None and isinstance(source, (str, os.PathLike)):
        config = exact.spec()[1]["config"]
        # raises an error that says what is not byte-level BPE
        return PrefixTokenizer(vocabulary_of(config, source), **properize)
    return None


class PrefixTokenizer:
    """The adapter; see `load`. All but the way to the ids is as in `PureTokenizer`."""

    def __init__(self, vocabulary: Vocabulary, properize: bool = False) -> None:
        self.vocabulary = vocabulary
        self._properize = properize
        self._exact = pure.PureTokenizer(vocabulary)
        dictionary = dictionary_of(vocabulary)
        self._tables = Tables(properized(dictionary) if properize else dictionary)
        self._tokenizer = tokenizer_of(vocabulary, IncrementalModel(self._tables))

    @property
    def name(self) -> str:
        """ "incremental:" and the name of the vocabulary."""
        return f"incremental:{self.vocabulary.name}"

    @property
    def facts(self) -> Facts:
        """What proofs may use: those of the pure engine, for the merges are the same."""
        return self._exact.facts

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        self._exact.check_text(text)

    def encode(self, text: str) -> IdArray:
        """Ids of `text`, added tokens included; uint32, (n,)."""
        return ids_of(self._tokenizer, text)

    def encode_whole(self, text: str) -> IdArray:
        """The same as `encode`: nothing is applied to the whole."""
        return self.encode(text)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these ids do not make up `text`."""
        return self._exact.locate(ids, text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; LookupError for an id that is no token."""
        return self._exact.decode(ids)

    def eager_model(self) -> EagerBPE:
        """Ids of one pre-token after the other, each id as soon as it is final."""
        return EagerBPE(self._tables)

    def prefixes(self) -> IncrementalBPE:
        """The tokens of every prefix of one pre-token."""
        return IncrementalBPE(self._tables)

    def spec(self) -> tuple[type[PrefixTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        return PrefixTokenizer, {"vocabulary": self.vocabulary, "properize": self._properize}
