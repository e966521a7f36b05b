"""What every model offers to the pipeline, and how it is read from a ``tokenizer.json``."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tokpar.errors import FileFormatError
from tokpar.pure.formats import model_ids, model_merges
from tokpar.pure.merging import Span as Span
from tokpar.pure.pairs import PairBPE, PairSettings
from tokpar.pure.wordpiece import WordLevel, WordPiece

Config = Mapping[str, Any]
T = TypeVar("T")


class Model(Protocol):
    """Turns one pre-token, already normalized, into ids. Safe to share between threads.

    Byte-level models take the piece as plain text too, and its UTF-8 bytes by themselves."""

    def encode(self, piece: str) -> Sequence[int]:
        """Ids of one pre-token; of "", none. EngineError where the engine fails as well."""

    def spans(self, piece: str) -> list[Span]:
        """The same ids, each with the code points that it touches: a token that is only a part of a
        character's bytes has the whole character. Empty where HF's are (0, 0)."""


class EncodesAll(Model, Protocol):
    """A model with a fast way for many pre-tokens; all models of `read_model` have it."""

    def encode_all(self, pieces: Sequence[str]) -> list[int]:
        """The ids of all pre-tokens in order. Those in the memo cost no call of a function."""


def read_model(config: Config, byte_level: bool) -> EncodesAll:
    """The "model" object of a ``tokenizer.json``. `byte_level`: its pre-tokenizer is ByteLevel.

    FileFormatError names the part that is unsupported or broken, without the path of the file."""
    if not isinstance(config, Mapping):
        raise FileFormatError(f"model: expected an object, got {type(config).__name__}")
    untold = "WordPiece" if "max_input_chars_per_word" in config else None  # in an old file
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
    """A setting of the type of its default; the default if it is missing or null."""
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
