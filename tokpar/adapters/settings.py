"""What adapters share: settings that `tokpar.load` passes on, panics of engines written in Rust."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tokpar.cache.cache_policy import CACHE_BYTES, require_bytes
from tokpar.errors import EngineError, FileFormatError, OptionError
from tokpar.pure.bert import bert_config

FINISHING = ("add_special_tokens", "truncation", "padding")
"""What a tokenizer does once to the whole, each of which can be left out."""


def check_names(settings: Mapping[str, Any], known: Sequence[str]) -> None:
    """OptionError for a setting that is not known."""
    unknown = sorted(settings.keys() - set(known))
    if unknown:
        names = f"known: {', '.join(known)}" if known else "there are none for this source"
        raise OptionError(f"unknown setting {unknown[0]!r}; {names}")


def flags(settings: Mapping[str, Any], known: Sequence[str]) -> dict[str, bool]:
    """The settings, all of which are True or False; OptionError for others."""
    check_names(settings, known)
    for name, value in settings.items():
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}")
    return dict(settings)


def memory_budget(settings: Mapping[str, Any], known: Sequence[str]) -> tuple[int, dict[str, Any]]:
    """`cache_bytes`, and the other settings. OptionError for one that is not known."""
    check_names(settings, (*known, "cache_bytes"))
    others = dict(settings)
    return require_bytes(others.pop("cache_bytes", CACHE_BYTES)), others


def asked_always(settings: dict[str, Any]) -> bool:
    """Takes `engine_check` out of the settings: whether the engine encodes each new pre-token, too,
    and not some. OptionError for what is neither "always" nor "sampled"."""
    value = settings.pop("engine_check", "sampled")
    if value not in ("sampled", "always"):
        raise OptionError(f'engine_check must be "sampled" or "always", got {value!r}')
    return bool(value == "always")


def path_of(source: object, *suffixes: str) -> Path | None:
    """The path that `source` is, if it ends in one of these."""
    path = Path(source) if isinstance(source, (str, os.PathLike)) else None
    return path if path is not None and path.suffix in suffixes else None


def bert_file(path: Path, settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, bool]]:
    """A BERT ``vocab.txt`` as ``tokenizer.json``, and the settings but for `lowercase`, which is of
    such files only. OptionError, FileFormatError, FileNotFoundError."""
    finishing = flags(settings, (*FINISHING, "lowercase"))
    return bert_config(path, finishing.pop("lowercase", True)), finishing


def is_panic(error: BaseException) -> bool:
    """Whether Rust code panicked, which no `except Exception` sees."""
    return type(error).__name__ == "PanicException"


PANICS = {
    "no entry found for key": "the template of the post-processor names a special token that its "
    "special_tokens leave out",
    "retry-limit-in-match over": "the pattern has too many ways to match this text",
}
"""What is wrong where an engine panics with these words."""


def raise_panic(error: BaseException, engine: str, texts: Sequence[str]) -> None:
    """Raises EngineError if `error` is a panic of the engine on these texts."""
    if is_panic(error):
        cause = next((f" ({PANICS[known]})" for known in PANICS if known in str(error)), "")
        message = f"{engine} panicked: {error}{cause}"
        raise EngineError(message, 0, sum(map(len, texts))) from error


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """FileFormatError where the library cannot read a file, panics included."""
    try:
        yield
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise FileFormatError(f"{path} is not a tokenizer.json of Hugging Face: {error}") from error
