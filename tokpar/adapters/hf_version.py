"""Which line of the package tokenizers is installed, and its adapter: `hf_v0` from 0.21 up to
1.0, `hf_v1` for 1.x. Without the package everything but Hugging Face's tokenizers works."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from tokpar.adapters.settings import path_of
from tokpar.errors import EngineError, FileFormatError
from tokpar.pure.format_two import VERSION

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
    from tokpar.adapters.hf_v1 import HuggingFaceOneTokenizer

    FileAdapter: TypeAlias = HuggingFaceTokenizer | HuggingFaceOneTokenizer

OLDEST = (0, 21)
_WORKING = "tokenizers 0.21 or later, 1.x included"
_INSTALL = "pip install 'tokenizers>=0.21'"
_INSTALL_ONE = "pip install --pre 'tokenizers>=1.0.0rc3'"


def load(source: object, **settings: Any) -> FileAdapter | None:
    """An adapter of a `tokenizers.Tokenizer` of either line, of a transformers fast tokenizer, or
    of the file named by a path that ends in ``.json`` or ``.txt`` (BERT's ``vocab.txt``); None for
    anything else.

    Settings: `add_special_tokens`, `truncation` and `padding` (True: as the tokenizer has them),
    and of a ``.txt`` file `lowercase` (True; False for a cased vocabulary); OptionError for others.
    Raises EngineError where no line that tokpar knows is installed, FileFormatError for a file that
    the installed one does not read, FileNotFoundError."""
    path = path_of(source, ".json", ".txt")
    if path is not None:
        try:
            return _adapter(path, settings)
        except FileFormatError as error:
            old = (installed() or (0,)) < (1,)
            if old and path.suffix == ".json" and _version(path) == VERSION:
                raise FileFormatError(
                    f"{path} has format {VERSION}, which tokenizers reads from 1.0 on: "
                    f"{_INSTALL_ONE}; or load it with engine='pure'"
                ) from error
            raise
    own = getattr(sys.modules.get("tokenizers"), "Tokenizer", None)  # None: then no object is of it
    if own is None or not isinstance(getattr(source, "backend_tokenizer", source), own):
        return None
    return _adapter(source, settings)


def installed() -> tuple[int, ...] | None:
    """The release of tokenizers that is imported: (0, 23, 1); None without the package."""
    try:
        version = str(import_module("tokenizers").__version__)
    except ImportError:
        return None
    return numbers(version)


def numbers(version: str) -> tuple[int, ...]:
    """ "0.10.0rc1" -> (0, 10, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def is_of_first_line(adapter: object) -> TypeIs[HuggingFaceTokenizer]:
    """Whether this is the adapter of a tokenizer of transformers, or of tokenizers below 1.0."""
    module = sys.modules.get("tokpar.adapters.hf_v0")
    return module is not None and isinstance(adapter, module.HuggingFaceTokenizer)


def own_methods(wrapper: object, names: Sequence[str]) -> dict[str, str]:
    """Those methods of a tokenizer of transformers that are not that package's, and why not."""
    found = {}
    for name in names:
        owner = next((cls for cls in type(wrapper).__mro__ if name in vars(cls)), None)
        if name in getattr(wrapper, "__dict__", ()):
            found[name] = f"{name} of this tokenizer object was replaced"
        elif owner is not None and not owner.__module__.startswith("transformers.tokenization_"):
            found[name] = f"the class {owner.__qualname__} has its own {name}"
    return found


def _adapter(source: object, settings: dict[str, Any]) -> FileAdapter | None:
    release = installed()
    if release is None:
        raise EngineError(
            f"Hugging Face's tokenizers need the package tokenizers: {_INSTALL}; "
            "or load the file with engine='pure'"
        )
    if release < OLDEST:
        found = import_module("tokenizers").__version__
        raise EngineError(f"tokpar needs {_WORKING}; {found} is installed: {_INSTALL}")
    line = "hf_v1" if release >= (1,) else "hf_v0"
    adapter: FileAdapter | None = import_module(f"tokpar.adapters.{line}").load(source, **settings)
    return adapter


def _version(path: Path) -> object:
    """What a ``tokenizer.json`` calls its format; None for anything else."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return None
    return config.get("version") if isinstance(config, dict) else None
