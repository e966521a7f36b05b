"""The adapters of `tokpar.pure.incremental`, asked for by ``engine="incremental"``: true BPE, with
the ids of the pure engine. It takes seconds to load vocabularies of 100,000 and more."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tokpar.adapters import pure
from tokpar.adapters.pure import FileTokenizer, PureTokenizer
from tokpar.adapters.settings import flags
from tokpar.errors import FileFormatError, OptionError
from tokpar.pure.eager import EagerBPE
from tokpar.pure.formats import byte_model, model_ids, model_merges
from tokpar.pure.incremental import IncrementalBPE, IncrementalModel, Tables
from tokpar.pure.incremental_characters import CharacterModel
from tokpar.pure.incremental_dictionary import dictionary_of
from tokpar.pure.pairs import PairBPE
from tokpar.pure.pretokenize import is_byte_level
from tokpar.pure.properize import properized
from tokpar.pure.vocabulary import Vocabulary


def load(
    source: object, *, engine: str | None = None, **settings: Any
) -> PrefixTokenizer | PrefixFile | CharacterFile | None:
    """An adapter of what `adapters.pure.load` takes, with its settings and errors; None for
    anything else, or if another `engine` than "incremental" is asked for. FileFormatError for a
    file that is not BPE, or not one that can be read so, with the name of the stage that is to
    blame. OptionError names a merge that does not make the bytes of its parts.

    One setting more: `properize` (False) gives improper merges a proper order first, as the paper
    does, and refuses those that have none with an OptionError; the ids are the same either way."""
    if engine not in (None, "incremental"):
        return None
    properize = flags({"properize": settings.pop("properize", False)}, ("properize",))
    exact = pure.load(source, **settings)
    if isinstance(exact, FileTokenizer):
        try:
            bytes_ = is_byte_level(exact.config.get("pre_tokenizer"))
            return (PrefixFile if bytes_ else CharacterFile)(**{**exact.spec()[1], **properize})
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
        self._tables = _tables(byte_model(config["model"], name), properize)
        self._tokenizer = replace(self._tokenizer, model=IncrementalModel(self._tables))

    def spec(self) -> tuple[type[PrefixFile], dict[str, Any]]:
        """How to build it again in another process."""
        return PrefixFile, {**self._arguments, "properize": self._properize}


class CharacterFile(FileTokenizer):
    """BPE over characters, with byte fallback or an unknown token, behind all that the pure engine
    has; see `load`. `properize` has no meaning for it and must be False."""

    def __init__(
        self, config: dict[str, Any], name: str, properize: bool = False, **finishing: bool
    ) -> None:
        super().__init__(config, name, **finishing)
        self.name = f"incremental:{name}"
        model, exact = config["model"], self._tokenizer.model
        if not isinstance(exact, PairBPE):
            raise FileFormatError(f"model {type(exact).__name__}: expected BPE")
        if properize:
            raise OptionError(f"{name}: properize is for byte-level BPE, this one has characters")
        vocab = model_ids(model)
        merges = model_merges(model, vocab, exact.settings.continuing_subword_prefix)
        self._tokenizer = replace(self._tokenizer, model=CharacterModel(exact, vocab, merges))

    def spec(self) -> tuple[type[CharacterFile], dict[str, Any]]:
        """How to build it again in another process."""
        return CharacterFile, self._arguments


def _tables(vocabulary: Vocabulary, properize: bool) -> Tables:
    dictionary = dictionary_of(vocabulary)
    return Tables(properized(dictionary) if properize else dictionary)
