"""The interface of a model, and the reader for the "model" of a ``tokenizer.json``."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tokpar import FileFormatError
from tokpar_pure.formats import model_ids, model_merges
from tokpar_pure.merging import Span as Span
from tokpar_pure.pairs import PairBPE, PairSettings
from tokpar_pure.wordpiece import WordLevel, WordPiece

Config = Mapping[str, Any]
T = TypeVar("T")


class Model(Protocol):
    """Turns one normalized pre-token into ids. Safe to share between threads.

    A byte-level model also gets plain text, and encodes it as UTF-8 itself."""

    def encode(self, piece: str) -> Sequence[int]:
        """Returns the ids of one pre-token; no ids for "". Raises EngineError where the engine
        fails, too."""

    def spans(self, piece: str) -> list[Span]:
        """Returns (id, start, stop) of each token of `encode`, in code points of `piece`. A token
        with only some bytes of a character spans the whole character. A span is empty where HF
        returns (0, 0)."""


class EncodesAll(Model, Protocol):
    """A model that encodes many pre-tokens in one call. `read_model` returns such models."""

    def encode_all(self, pieces: Sequence[str]) -> list[int]:
        """Returns the ids of all pre-tokens, in order, in one list. A pre-token in the cache costs
        no function call."""


def read_model(config: Config, byte_level: bool) -> EncodesAll:
    """Returns the model for the "model" of a ``tokenizer.json``. `byte_level`: the last
    pre-tokenizer is ByteLevel.

    Raises FileFormatError that names the unsupported or broken part, without the path of the
    file."""
    if not isinstance(config, Mapping):
        raise FileFormatError(f"model: expected an object, got {type(config).__name__}")
    # old files have no "type"
    untold = "WordPiece" if "max_input_chars_per_word" in config else None
    kind = config.get("type", "BPE" if "merges" in config else untold)
    if kind == "BPE":
        return _read_bpe(config, byte_level)
    if byte_level or kind not in ("WordPiece", "WordLevel"):
        after = " after ByteLevel" if byte_level else ""
        raise FileFormatError(f"model type = {kind!r}{after} is not supported here")
    ids = model_ids(config)
    if kind == "WordPiece":
        return WordPiece(
            ids,
            _setting(config, "unk_token", "[UNK]"),
            _setting(config, "max_input_chars_per_word", 100),
            _setting(config, "continuing_subword_prefix", "##"),
        )
    return WordLevel(ids, _setting(config, "unk_token", "<unk>"))


def _setting(config: Config, key: str, default: T) -> T:
    """Returns the setting `key`, or `default` if it is missing or null. Raises FileFormatError if
    its type is not the type of `default`, or if it is negative."""
    value = config.get(key)
    if value is None:
        return default
    if type(value) is not type(default) or (isinstance(value, int) and value < 0):
        kind = type(default).__name__
        raise FileFormatError(f"model {key}: expected {kind}, got {value!r}")
    return value


def _read_bpe(config: Config, byte_level: bool) -> PairBPE:
    if config.get("dropout"):
        raise FileFormatError(f"model dropout = {config['dropout']!r}: ids would be random")
    ids = model_ids(config)
    settings = PairSettings(
        byte_level=byte_level,
        ignore_merges=_setting(config, "ignore_merges", False),
        byte_fallback=_setting(config, "byte_fallback", False),
        fuse_unk=_setting(config, "fuse_unk", False),
        unk_token=None if config.get("unk_token") is None else _setting(config, "unk_token", ""),
        continuing_subword_prefix=_setting(config, "continuing_subword_prefix", ""),
        end_of_word_suffix=_setting(config, "end_of_word_suffix", ""),
    )
    return PairBPE(ids, model_merges(config, ids, settings.continuing_subword_prefix), settings)
