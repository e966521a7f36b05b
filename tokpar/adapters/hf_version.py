"""Choose the adapter for the installed release of tokenizers: `hf_v0` from 0.20 up to 1.0, `hf_v1`
for 1.x."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from tokpar.adapters.settings import DirectoryTokenizer, path_of, read_settings
from tokpar.errors import EngineError, FileFormatError

if TYPE_CHECKING:
    from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
    from tokpar.adapters.hf_v1 import HuggingFaceOneTokenizer

    FileAdapter: TypeAlias = HuggingFaceTokenizer | HuggingFaceOneTokenizer

OLDEST = (0, 20)
KEPT_IN_VERSION_4 = frozenset(
    f"{model}TokenizerFast"
    for model in (
        *("Bart", "Blenderbot", "Bloom", "CodeGen", "Cohere", "Deberta", "GPT2", "LED"),
        *("Longformer", "Mvp", "Roberta", "Whisper"),
    )
)
"""Classes of transformers 4 whose own `_encode_plus` only refuses pre-tokenized texts."""
_WORKING = "tokenizers 0.20 or later, 1.x included"
_INSTALL = "pip install 'tokenizers>=0.20'"
_INSTALL_ONE = "pip install --pre 'tokenizers>=1.0.0rc3'"


def load(source: object, **settings: Any) -> FileAdapter | None:
    """Returns an adapter, or None if `source` is not for this module.

    `source`: a `tokenizers.Tokenizer` of either line, a fast tokenizer of transformers, a
    `DirectoryTokenizer`, or a path that ends in ``.json`` or ``.txt`` (BERT's ``vocab.txt``).

    Settings: `add_special_tokens`, `truncation` and `padding` (True: as the tokenizer has them),
    and for a ``.txt`` file `lowercase` (True; False for a cased vocabulary). Raises OptionError for
    other settings, EngineError for a release below 0.20, FileFormatError for a file that the
    installed release does not read, FileNotFoundError."""
    if isinstance(source, DirectoryTokenizer) and source.tokenizer is not None:
        return _adapter(source, settings)
    path = path_of(source, ".json", ".txt")
    if path is not None:
        try:
            return _adapter(source, settings)
        except FileFormatError as error:
            from tokpar.formats.format_upgrade import VERSION  # only an error needs them
            from tokpar.formats.formats import read_object

            version = None
            with suppress(FileFormatError):
                version = read_object(path).get("version")
            if installed_release() < (1,) and version == VERSION:
                raise FileFormatError(
                    f"{path} has format {VERSION}, which tokenizers reads from 1.0 on: "
                    f"{_INSTALL_ONE}; or load it with engine='pure'"
                ) from error
            raise
    # without the module, no object of its class can exist
    own = getattr(sys.modules.get("tokenizers"), "Tokenizer", None)
    if own is None or not isinstance(getattr(source, "backend_tokenizer", source), own):
        return None
    return _adapter(source, settings)


def installed_release() -> tuple[int, ...]:
    """Returns the release of the installed tokenizers: (0, 23, 1)."""
    return numbers(str(import_module("tokenizers").__version__))


def numbers(version: str) -> tuple[int, ...]:
    """Returns the numbers of a version: "0.10.0rc1" gives (0, 10, 0)."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def own_methods(wrapper: object, names: Sequence[str]) -> dict[str, str]:
    """Returns the methods of a transformers tokenizer that do not come from transformers, each with
    the reason."""
    found = {}
    for name in names:
        owner = next((cls for cls in type(wrapper).__mro__ if name in vars(cls)), None)
        if name in getattr(wrapper, "__dict__", ()):
            found[name] = f"{name} of this tokenizer object was replaced"
        elif owner is not None and not _is_of_transformers(owner, name):
            found[name] = f"the class {owner.__qualname__} has its own {name}"
    return found


def _is_of_transformers(owner: type, name: str) -> bool:
    """True if the method `name` of the class `owner` encodes texts as transformers does."""
    if owner.__module__.startswith(("transformers.tokenization_", "tokpar.")):
        return True
    is_kept = owner.__module__.startswith("transformers.") and owner.__name__ in KEPT_IN_VERSION_4
    return is_kept and name in ("_encode_plus", "_batch_encode_plus")


def _adapter(source: object, settings: dict[str, Any]) -> FileAdapter | None:
    release = installed_release()
    if release < OLDEST:
        found = import_module("tokenizers").__version__
        raise EngineError(f"tokpar needs {_WORKING}; {found} is installed: {_INSTALL}")
    is_one = release >= (1,)
    path = None if isinstance(source, DirectoryTokenizer) else path_of(source, ".txt")
    if path is None:
        chosen = read_settings(settings, *([] if is_one else ["engine_check"]))
    else:
        from tokpar.formats.bert import bert_config  # other files do without it

        chosen = read_settings(settings, "lowercase")
        source = bert_config(path, settings.get("lowercase", True))
    line = import_module(f"tokpar.adapters.{'hf_v1' if is_one else 'hf_v0'}")
    adapter: FileAdapter | None = line.load(source, chosen)
    return adapter
