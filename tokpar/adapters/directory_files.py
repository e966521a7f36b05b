"""Whether the tokenizer.json of a directory alone decides ids, without transformers.

It does if no other file may decide ids, or if the other files say only what is known to have no
effect on the generic class of transformers (PreTrainedTokenizerFast, TokenizersBackend)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tokpar.adapters.settings import TEKKEN, DirectoryTokenizer
from tokpar.contract.adapter import Loader
from tokpar.errors import FileFormatError
from tokpar.formats.formats import read_config, read_object

TOKENIZER_JSON = "tokenizer.json"
_MOST_NAMES = 12
"""The most files of a directory that a message lists."""
GENERIC = ("PreTrainedTokenizerFast", "TokenizersBackend")
_SILENT_SUFFIXES = (
    *(".safetensors", ".bin", ".pt", ".pth", ".h5", ".onnx", ".gguf", ".msgpack", ".npz"),
    *(".md", ".jinja", ".png", ".jpg", ".svg", ".pdf", ".gitattributes", ".gitignore", ".lock"),
)
_SILENT_FILES = {
    *("LICENSE", "LICENSE.txt", "NOTICE", "NOTICE.txt", "USE_POLICY.md", "requirements.txt"),
    *("generation_config.json", "preprocessor_config.json", "chat_template.json"),
    *("model.safetensors.index.json", "pytorch_model.bin.index.json", "trainer_state.json"),
}
"""Files that no tokenizer of transformers reads to encode. Each other file may decide ids."""
_SILENT_SETTINGS = frozenset(
    {
        *("chat_template", "max_length", "model_input_names", "model_max_length", "name_or_path"),
        *("pad_to_multiple_of", "pad_token_type_id", "padding_side", "processor_class", "stride"),
        *("truncation_side", "truncation_strategy"),
    }
)
"""Keys of tokenizer_config.json that decide nothing about the ids of a text, nor about decoding."""
_ROLES = tuple(f"{role}_token" for role in ("bos", "eos", "unk", "sep", "pad", "cls", "mask"))
_LISTS = ("additional_special_tokens", "extra_special_tokens")
_FLAGS = ("single_word", "lstrip", "rstrip", "normalized", "special")
_PLAIN_SPECIAL = {**dict.fromkeys(_FLAGS, False), "special": True}

_AddedTokens = Mapping[str, Mapping[str, Any]]
"""The added tokens of a tokenizer.json, by their contents."""


def load(directory: Path, why: str) -> DirectoryTokenizer:
    """Returns what a directory means by its tokenizer.json alone. `why`: why transformers cannot be
    asked.

    Raises FileFormatError that names the file or the setting which may decide ids, too."""
    found = next(_deciding_settings(directory), None)
    if found is not None:
        raise FileFormatError(
            f"{directory}: {found}, and only transformers knows what it does ({why}): pip install "
            f"transformers, or {file_to_name(directory)}"
        )
    path = directory / TOKENIZER_JSON
    applied = [name for name in ("truncation", "padding") if read_config(path).get(name)]
    return DirectoryTokenizer(
        str(directory),
        Loader(TOKENIZER_JSON),
        file=path,
        settings=dict.fromkeys(applied, False),
    )


def file_to_name(directory: Path) -> str:
    """Returns what a user can pass instead of a directory, in words: its first file that `load`
    reads alone, else what the directory holds and what can be made of it."""
    kinds = (TOKENIZER_JSON, TEKKEN, "vocab.txt", "*.tiktoken", "*.model")
    file = next((path for kind in kinds for path in sorted(directory.glob(kind))), None)
    if file is not None:
        return f"name the file ({file})"
    names = sorted(path.name for path in directory.iterdir())
    held = ", ".join(names[:_MOST_NAMES]) or "nothing"
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    told = f"it holds {held}{more}, and no file that can be named alone"
    if {"vocab.json", "merges.txt"} <= set(names):
        told += (
            "; vocab.json and merges.txt lack the other stages: pass the object that a class of "
            "transformers makes of the directory, such as GPT2TokenizerFast.from_pretrained"
        )
    return f"pass a tokenizer object: {told}"


def _deciding_settings(directory: Path) -> Iterator[str]:
    """Yields what may decide ids beside the tokenizer.json: files and settings, in words."""
    if not (directory / TOKENIZER_JSON).is_file():
        yield f"it holds no {TOKENIZER_JSON}"
        return
    config = read_config(directory / TOKENIZER_JSON)
    tokens = config.get("added_tokens") or ()
    complete = (token for token in tokens if {"id", "content"} <= token.keys())
    added_tokens = {token["content"]: token for token in complete}
    is_bpe = (config.get("model") or {}).get("type") == "BPE"
    for path in sorted(directory.iterdir()):
        if path.name == TOKENIZER_JSON or path.is_dir() or path.name in _SILENT_FILES:
            continue
        if path.suffix in _SILENT_SUFFIXES or path.name in _SILENT_SUFFIXES:
            continue
        if path.name in _READ:
            for key, value in read_object(path).items():
                if not _READ[path.name](key, value, added_tokens, is_bpe):
                    yield f"{path.name} sets {key} to {json.dumps(value)[:60]}"
        elif path.name == "config.json" and "model_type" in (found := read_object(path)):
            yield f"config.json sets model_type to {json.dumps(found['model_type'])[:60]}"
        else:
            yield f"it holds {path.name}"


def _is_silent_setting(key: str, value: Any, added_tokens: _AddedTokens, is_bpe: bool) -> bool:
    """True if a setting of tokenizer_config.json has no effect on the generic class."""
    match key:
        case "tokenizer_class":
            return value in GENERIC
        case "split_special_tokens":
            return value is False
        case "clean_up_tokenization_spaces":  # a setting of decoding, which BPE ignores
            return value is False or is_bpe
        case "added_tokens_decoder":
            return _same_tokens(value, added_tokens)
    return key in _SILENT_SETTINGS or _is_silent_role(key, value, added_tokens, is_bpe)


def _is_silent_role(key: str, value: Any, added_tokens: _AddedTokens, is_bpe: bool) -> bool:
    """True if a role names tokens that the file has as special tokens with the same flags."""
    if key in _ROLES:
        return value is None or _is_known(value, added_tokens)
    if key in _LISTS and isinstance(value, list):
        return all(_is_known(token, added_tokens) for token in value)
    return False


def _is_known(token: Any, added_tokens: _AddedTokens) -> bool:
    flags = dict(_PLAIN_SPECIAL)
    if isinstance(token, Mapping):
        flags |= {name: token.get(name, flags[name]) for name in _FLAGS}
        token = token.get("content")
    found = added_tokens.get(token)
    return found is not None and all(found.get(name) == flags[name] for name in _FLAGS)


def _same_tokens(value: Any, added_tokens: _AddedTokens) -> bool:
    names = ("content", *_FLAGS)
    try:
        given = {int(id_): tuple(token.get(n) for n in names) for id_, token in value.items()}
    except (AttributeError, TypeError, ValueError):
        return False
    return given == {
        token["id"]: tuple(token.get(n) for n in names) for token in added_tokens.values()
    }


_READ: dict[str, Callable[[str, Any, _AddedTokens, bool], bool]] = {
    "tokenizer_config.json": _is_silent_setting,
    "special_tokens_map.json": _is_silent_role,
    "added_tokens.json": lambda key, value, added_tokens, is_bpe: False,
}
"""By file with content that has no effect: True for a key and its value without effect."""
