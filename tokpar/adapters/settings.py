"""What all adapters share: what `tokpar.load` passes on, and panics of engines in Rust."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from tokpar.arrays import has_surrogate
from tokpar.contract.adapter import Loader
from tokpar.errors import EngineError, FileFormatError, OptionError, quoted
from tokpar.process.interrupts import raise_foreign
from tokpar.process.limits import CACHE_BYTES, require_cache_bytes

_T = TypeVar("_T")


@dataclass(frozen=True, eq=False)
class DirectoryTokenizer:
    """What a directory or a repository named `name` means.

    `tokenizer`: the tokenizer that transformers made, which nobody else holds, or None. `file`: the
    tokenizer.json that means the same, if `tokenizer` is None. `settings`: the settings of `load`
    with which it does. As a path, a DirectoryTokenizer is a tokenizer.json, which `write` makes
    of `tokenizer`."""

    name: str
    loader: Loader
    tokenizer: Any = None
    file: Path | None = None
    settings: Mapping[str, bool] = field(default_factory=dict)
    write: Callable[[Any], Path] = Path

    def __str__(self) -> str:
        return self.name

    def __fspath__(self) -> str:
        """Returns the path of a tokenizer.json that means the same, for engines that read files.

        Raises OptionError if no file does."""
        if self.file is not None:
            return os.fspath(self.file)
        try:
            return os.fspath(self.write(self.tokenizer))
        except OptionError as error:
            raise OptionError(
                f"{self.name}: no tokenizer.json says what {self.loader.tokenizer_class} of "
                f"transformers does ({error}): leave out the engine, or name a file"
            ) from None


TEKKEN = "tekken.json"
POSTPROCESS_FLAGS = ("add_special_tokens", "truncation", "padding")
"""Post-processing steps of a tokenizer. Each can be left out."""


def check_names(settings: Mapping[str, Any], known_names: Sequence[str]) -> None:
    """Raises OptionError for a setting that is not known."""
    unknown = sorted(settings.keys() - set(known_names))
    if unknown:
        names = (
            f"known: {', '.join(known_names)}" if known_names else "there are none for this source"
        )
        raise OptionError(f"unknown setting {unknown[0]!r}; {names}")


def flags(settings: Mapping[str, Any], known_names: Sequence[str]) -> dict[str, bool]:
    """Returns the settings. Raises OptionError for an unknown setting, or for a value other than
    True and False."""
    check_names(settings, known_names)
    for name, value in settings.items():
        if not isinstance(value, bool):
            raise OptionError(f"{name} must be True or False, got {value!r}")
    return dict(settings)


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of `load` for a tokenizer of Hugging Face.

    `truncation`, `padding`: True if the truncation and padding of the tokenizer are applied.
    `cache_bytes`: the budget of its cache. `engine_check`: True if the engine also encodes each
    new pre-token."""

    add_special_tokens: bool = True
    truncation: bool = True
    padding: bool = True
    cache_bytes: int = CACHE_BYTES
    engine_check: bool = False

    @property
    def flags(self) -> dict[str, bool]:
        """Which post-processing steps are applied, by name."""
        return {name: getattr(self, name) for name in POSTPROCESS_FLAGS}


def read_settings(given: Mapping[str, Any], *more_names: str) -> Settings:
    """Returns the settings. Raises OptionError for an unknown setting or a wrong value.

    `more_names`: of "lowercase", a flag that is not returned, and "engine_check"."""
    check_names(given, (*POSTPROCESS_FLAGS, *more_names, "cache_bytes"))
    switches = (*POSTPROCESS_FLAGS, "lowercase")
    chosen = flags({name: given[name] for name in switches if name in given}, switches)
    chosen.pop("lowercase", None)
    cache_bytes = require_cache_bytes(given.get("cache_bytes", CACHE_BYTES))
    always = is_always(given.get("engine_check", "sampled"))
    return Settings(**chosen, cache_bytes=cache_bytes, engine_check=always)


def is_always(value: object) -> bool:
    """Reads `engine_check`: True if the engine also encodes each new pre-token, False if it encodes
    samples only. Raises OptionError for a value other than "always" and "sampled"."""
    if value not in ("sampled", "always"):
        raise OptionError(f'engine_check must be "sampled" or "always", got {value!r}')
    return bool(value == "always")


def path_of(source: object, *suffixes: str) -> Path | None:
    """Returns `source` as a path if it ends in one of these suffixes, or None.

    A file of mistral-common has the suffix TEKKEN, and not ``.json``."""
    path = Path(source) if isinstance(source, (str, os.PathLike)) else Path()
    is_tekken = path.suffix == ".json" and "tekken" in path.name  # as mistral-common tells them
    return path if (TEKKEN if is_tekken else path.suffix) in suffixes else None


def is_panic(error: BaseException) -> bool:
    """True if Rust code panicked. `except Exception` does not catch a panic."""
    return type(error).__name__ == "PanicException"


def unless_custom(write: Callable[[], _T]) -> _T | None:
    """Returns what `write` returns of components; None if one of them is written in Python."""
    try:
        return write()
    except Exception as error:  # the library has no exception type for this
        if "ustom" not in str(error):
            raise
        return None


PANICS = {
    "no entry found for key": "the template of the post-processor names a special token that its "
    "special_tokens leave out",
    "retry-limit-in-match over": "the pattern has too many ways to match this text",
}
"""The cause of a panic whose message contains these words."""


def raise_panic(error: BaseException, texts: Sequence[str]) -> None:
    """Raises EngineError if `error` is a panic of the engine on these texts."""
    if is_panic(error):
        cause = next((f" ({PANICS[known]})" for known in PANICS if known in str(error)), "")
        message = f"the tokenizer panicked: {error}{cause}"
        raise EngineError(message, 0, sum(map(len, texts))) from error


def call_engine(
    texts: Sequence[str], call: Callable[..., _T], *arguments: Any, **settings: Any
) -> _T:
    """Returns `call(*arguments, **settings)`. Raises EngineError if the engine panics on these
    texts. A TypeError of the engine gets a second sentence that names a lone surrogate."""
    try:
        return call(*arguments, **settings)
    except BaseException as error:  # a panic is no Exception
        raise_panic(error, texts)
        if isinstance(error, TypeError):
            _name_surrogate(error, texts)
        raise


def _name_surrogate(error: TypeError, texts: Sequence[str]) -> None:
    """Add to `error` where the first of these texts with a lone surrogate has it: tokenizers says
    of such a text only that it must be str."""
    text = next((text for text in texts if isinstance(text, str) and has_surrogate(text)), None)
    if text is None:
        return
    place = next(place for place, char in enumerate(text) if "\ud800" <= char <= "\udfff")
    error.args = (
        f"{error}. The text has a lone surrogate, U+{ord(text[place]):04X}, at code point "
        f"{place:,}: {_SURROGATE_ADVICE}",
    )


_SURROGATE_ADVICE = 'replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")'


@contextmanager
def refusing(path: Path) -> Iterator[None]:
    """Raises FileFormatError if the library cannot read a file, panics included."""
    try:
        yield
    except BaseException as error:
        raise_foreign(error)
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        from tokpar.formats.foreign_files import and_its_kind  # only an error needs it

        raise FileFormatError(
            f"{path} is not a tokenizer.json of Hugging Face: {quoted(error)}{and_its_kind(path)}"
        ) from error
