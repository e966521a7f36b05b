"""The adapter of `tokpar.pure.incremental`, asked for by ``engine="incremental"``: true BPE, with
the ids of the pure engine. It takes seconds to load vocabularies of 100,000 and more."""

from __future__ import annotations

from typing import Any

from tokpar.adapters.pure import PureTokenizer, load_vocabulary
from tokpar.adapters.settings import flags
from tokpar.pure.eager import EagerBPE
from tokpar.pure.incremental import IncrementalBPE, IncrementalModel, Tables
from tokpar.pure.incremental_dictionary import dictionary_of
from tokpar.pure.properize import properized
from tokpar.pure.vocabulary import Vocabulary


def load(source: object, *, engine: str | None = None, **settings: Any) -> PrefixTokenizer | None:
    """An adapter of what `adapters.pure.load_vocabulary` takes, with its settings and errors; None
    for anything else, or if another `engine` than "incremental" is asked for. OptionError names a
    merge that does not make the bytes of its parts.

    One setting more: `properize` (False) gives improper merges a proper order first, as the paper
    does, and refuses those that have none with an OptionError; the ids are the same either way."""
    if engine not in (None, "incremental"):
        return None
    properize = flags({"properize": settings.pop("properize", False)}, ("properize",))
    vocabulary = load_vocabulary(source, settings)
    return None if vocabulary is None else PrefixTokenizer(vocabulary, **properize)


class PrefixTokenizer(PureTokenizer):
    """The adapter; see `load`. Facts are those of the pure engine, for the merges are the same."""

    def __init__(self, vocabulary: Vocabulary, properize: bool = False) -> None:
        dictionary = dictionary_of(vocabulary)
        self._properize = properize
        self._tables = Tables(properized(dictionary) if properize else dictionary)
        super().__init__(vocabulary, "incremental", IncrementalModel(self._tables))

    def eager_model(self) -> EagerBPE:
        """Ids of one pre-token after the other, each id as soon as it is final."""
        return EagerBPE(self._tables)

    def prefixes(self) -> IncrementalBPE:
        """The tokens of every prefix of one pre-token."""
        return IncrementalBPE(self._tables)

    def spec(self) -> tuple[type[PrefixTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        return PrefixTokenizer, {"vocabulary": self.vocabulary, "properize": self._properize}
