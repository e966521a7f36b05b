"""The adapters of `tokpar.pure.incremental`, asked for by ``engine="incremental"``: true BPE, with
the ids of the pure engine. It takes seconds to load vocabularies of 100,000 and more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tokpar.adapters import pure
from tokpar.adapters.pure import FileTokenizer, PureTokenizer
from tokpar.adapters.settings import flags
from tokpar.errors import FileFormatError
from tokpar.pure.eager import EagerBPE
from tokpar.pure.formats import byte_model
from tokpar.pure.incremental import IncrementalBPE, IncrementalModel, Tables
from tokpar.pure.incremental_dictionary import dictionary_of
from tokpar.pure.properize import properized
from tokpar.pure.vocabulary import Vocabulary


def load(
    source: object, *, engine: str | None = None, **settings: Any
) -> PrefixTokenizer | PrefixFile | None:
    """An adapter of what `adapters.pure.load` takes, with its settings and errors; None for
    anything else, or if another `engine` than "incremental" is asked for. FileFormatError for a
    file that is not byte-level BPE, with the name of the stage that is not. OptionError names a
    merge that does not make the bytes of its parts.

    One setting more: `properize` (False) gives improper merges a proper order first, as the paper
    does, and refuses those that have none with an OptionError; the ids are the same either way."""
    if engine not in (None, "incremental"):
        return None
    properize = flags({"properize": settings.pop("properize", False)}, ("properize",))
    exact = pure.load(source, **settings)
    if isinstance(exact, FileTokenizer):
        try:
            return PrefixFile(**{**exact.spec()[1], **properize})
        except FileFormatError as error:
            raise FileFormatError(f"{source}: {error}") from None
    return None if exact is None else PrefixTokenizer(exact.vocabulary, **properize)


class _Prefixes:
    """What both adapters can do besides."""

    _tables: Tables

    def eager_model(self) -> EagerBPE:
        """Ids of one pre-token after the other, each id as soon as it is final."""
        return EagerBPE(self._tables)

    def prefixes(self) -> IncrementalBPE:
        """The tokens of every prefix of one pre-token."""
        return IncrementalBPE(self._tables)


class PrefixTokenizer(_Prefixes, PureTokenizer):
    """Byte-level BPE and nothing around it; see `load`. Facts are those of the pure engine, for the
    merges are the same."""

    def __init__(self, vocabulary: Vocabulary, properize: bool = False) -> None:
        self._properize = properize
        self._tables = _tables(vocabulary, properize)
        super().__init__(vocabulary, "incremental", IncrementalModel(self._tables))

    def spec(self) -> tuple[type[PrefixTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        return PrefixTokenizer, {"vocabulary": self.vocabulary, "properize": self._properize}


class PrefixFile(_Prefixes, FileTokenizer):
    """Byte-level BPE with a normalizer, pre-tokenizers or post-processors of all kinds that the
    pure engine has; see `load`. Only the model is another one."""

    def __init__(
        self, config: dict[str, Any], name: str, properize: bool = False, **finishing: bool
    ) -> None:
        super().__init__(config, name, **finishing)
        self.name = f"incremental:{name}"
        self._properize = properize
        self._tables = _tables(byte_model(config, name), properize)
        self._tokenizer = replace(self._tokenizer, model=IncrementalModel(self._tables))

    def spec(self) -> tuple[type[PrefixFile], dict[str, Any]]:
        """How to build it again in another process."""
        return PrefixFile, {**self._arguments, "properize": self._properize}


def _tables(vocabulary: Vocabulary, properize: bool) -> Tables:
    dictionary = dictionary_of(vocabulary)
    return Tables(properized(dictionary) if properize else dictionary)
