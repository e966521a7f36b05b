"""The adapters of ``engine="incremental"``: exact BPE, with the ids of the pure engine.

Loading a vocabulary of 100,000 tokens or more takes seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tokpar_pure.adapter import FileTokenizer, PureTokenizer
from tokpar_pure.adapter import load as load_exact
from tokpar_pure.formats import byte_model, model_ids, model_merges
from tokpar_pure.model import EncodesAll
from tokpar_pure.pairs import PairBPE
from tokpar_pure.pretokenize import is_byte_level

from tokpar.adapters.settings import flags
from tokpar.arrays import IdArray
from tokpar.errors import FileFormatError, OptionError
from tokpar.formats.formats import SINGLE_BYTES, missing_bytes
from tokpar.formats.vocabulary import Vocabulary, letters_of
from tokpar.types import Facts
from tokpar_incremental.bpe import DictionaryTables, IncrementalBPE, IncrementalModel
from tokpar_incremental.characters import CharacterModel
from tokpar_incremental.dictionary import dictionary_of
from tokpar_incremental.eager import EagerBPE
from tokpar_incremental.eager_stream import eager_ids
from tokpar_incremental.properize import make_proper


def load(
    source: object, *, engine: str | None = None, **settings: Any
) -> PrefixTokenizer | PrefixFile | CharacterFile | None:
    """Returns an adapter, or None, for the sources of `tokpar_pure.adapter.load`, with its
    settings and errors.

    None also if `engine` names another engine than "incremental". One more setting is `properize`
    (False): improper merges first get a proper order, as in the paper; OptionError if they have
    none. The ids are the same with and without it.

    Raises FileFormatError for a file that is not BPE or cannot be encoded incrementally, with the
    name of the stage that prevents it. Raises OptionError for a merge that does not make the bytes
    of its parts, with its name."""
    if engine not in (None, "incremental"):
        return None
    properize = flags({"properize": settings.pop("properize", False)}, ("properize",))
    exact = load_exact(source, **settings)
    if isinstance(exact, FileTokenizer):
        adapter = PrefixFile if _has_all_bytes(exact.config) else CharacterFile
        try:
            return adapter(**{**exact.spec()[1], **properize})
        except FileFormatError as error:
            raise FileFormatError(f"{source}: {error}") from None
    return None if exact is None else PrefixTokenizer(exact.vocabulary(), **properize)


def _has_all_bytes(config: Mapping[str, Any]) -> bool:
    """True if pre-tokens are bytes, and each byte is a token in every position."""
    model = config["model"]
    marks = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    known = not missing_bytes(map(letters_of, SINGLE_BYTES), model["vocab"])
    return is_byte_level(config.get("pre_tokenizer")) and known and not marks


class _Prefixes:
    """Methods of both byte-level adapters, besides encoding."""

    _tables: DictionaryTables
    facts: Facts

    def stream_ids(self, chunks: Iterator[str]) -> Iterator[IdArray] | None:
        """Returns arrays of ids, also inside pre-tokens; see `StreamsIds`."""
        return eager_ids(chunks, self.facts, self.eager_model())

    def eager_model(self) -> EagerBPE:
        """Returns the model that gives the ids of one pre-token one by one, each as soon as the id
        is final."""
        return EagerBPE(self._tables)

    def prefixes(self) -> IncrementalBPE:
        """Returns the model that gives the tokens of every prefix of one pre-token."""
        return IncrementalBPE(self._tables)


class PrefixTokenizer(_Prefixes, PureTokenizer):
    """Byte-level BPE without other stages; see `load`.

    It has the facts of the pure engine, because its merges are the same."""

    def __init__(self, vocabulary: Vocabulary, properize: bool = False) -> None:
        self._properize = properize
        self._tables = _tables(vocabulary, properize)
        super().__init__(vocabulary, "incremental", IncrementalModel(self._tables))

    def spec(self) -> tuple[type[PrefixTokenizer], dict[str, Any]]:
        """Returns how to build the adapter again in another process."""
        return PrefixTokenizer, {"vocabulary": self.vocabulary(), "properize": self._properize}


class PrefixFile(_Prefixes, FileTokenizer):
    """Byte-level BPE with a token for each byte, and with all normalizers, pre-tokenizers and
    post-processors of the pure engine; see `load`. Only the model differs from the pure engine."""

    engine_name = "incremental"

    def __init__(
        self, config: dict[str, Any], name: str, properize: bool = False, **postprocess_flags: bool
    ) -> None:
        self._properize = properize
        self._tables = _tables(byte_model(config["model"], name), properize)
        super().__init__(config, name, **postprocess_flags)

    def model_of(self, exact: EncodesAll) -> IncrementalModel:
        """Returns the model that encodes pre-tokens byte by byte."""
        return IncrementalModel(self._tables)

    def spec(self) -> tuple[type[PrefixFile], dict[str, Any]]:
        """Returns how to build the adapter again in another process."""
        return PrefixFile, {**super().spec()[1], "properize": self._properize}


class CharacterFile(FileTokenizer):
    """BPE over characters, with all other stages of the pure engine; see `load`. `properize` must
    be False.

    It also encodes BPE over bytes if some bytes are no tokens, or if the model has a
    continuing_subword_prefix or an end_of_word_suffix."""

    engine_name = "incremental"

    def __init__(
        self, config: dict[str, Any], name: str, properize: bool = False, **postprocess_flags: bool
    ) -> None:
        super().__init__(config, name, **postprocess_flags)
        if properize:
            raise OptionError(f"{name}: properize is for BPE of bytes, each of which is a token")

    def model_of(self, exact: EncodesAll) -> CharacterModel:
        """Returns the model that encodes pre-tokens character by character."""
        if not isinstance(exact, PairBPE):
            raise FileFormatError(f"model {type(exact).__name__}: expected BPE")
        model = self.config["model"]
        vocab = model_ids(model)
        merges = model_merges(model, vocab, exact.settings.continuing_subword_prefix)
        return CharacterModel(exact, vocab, merges)


def _tables(vocabulary: Vocabulary, properize: bool) -> DictionaryTables:
    dictionary = dictionary_of(vocabulary)
    return DictionaryTables(make_proper(dictionary) if properize else dictionary)
