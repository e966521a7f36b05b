"""Finds a tokenizer by a name of tiktoken, a directory, or a repository of the Hugging Face Hub.

The result is an encoding or a `DirectoryTokenizer`, which adapters load."""

from __future__ import annotations

import logging
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

from tokpar.adapters import directory_files
from tokpar.adapters.directory import load as directory_of_transformers
from tokpar.adapters.settings import DirectoryTokenizer
from tokpar.errors import FileFormatError, UnknownNameError

SENTENCEPIECE = (
    "is read by the package tokpar-sentencepiece, with engine='sentencepiece'; or pass what "
    "transformers.AutoTokenizer.from_pretrained returns"
)
OFFLINE = "HF_HUB_OFFLINE"
_LOGGER = logging.getLogger("tokpar")
_REPOSITORY = re.compile(r"[\w.-]+(/[\w.-]+)?")
_CONFIGS = ("tokenizer_config.json", "config.json")
"""Without both, the cache of the Hub may hold only a part of a repository."""
_FILES = (
    *("tokenizer.json", *_CONFIGS, "special_tokens_map.json", "added_tokens.json", "vocab.json"),
    *("merges.txt", "vocab.txt", "tokenizer.model", "spiece.model", "tekken.json"),
)
"""The files of a repository that are read without transformers, if they exist."""
_KNOWN_NAMES = ("default", "gpt2", "p50k_base", "cl100k_base", "o200k_base")
"""Names that a caller may have misspelt."""
_LEAST_SIMILARITY = 0.8
_EXPECTED_SOURCES = (
    "expected default, the path of a tokenizer.json, tekken.json, .tiktoken file or BERT "
    "vocab.txt, a directory of transformers, a name of tiktoken (cl100k_base), or a repository of "
    "the Hugging Face Hub (Qwen/Qwen3-8B)"
)


def tokenizer_named(name: str) -> object:
    """Returns a `tiktoken.Encoding`, or the `DirectoryTokenizer` of a directory or a repository.

    A repository comes from the Hub's cache on this machine. If the cache lacks it, it is
    downloaded, unless HF_HUB_OFFLINE is set; a warning in the log says so. Raises UnknownNameError,
    FileFormatError."""
    path = Path(name)
    if path.is_dir():
        return _tokenizer_in(name)
    if path.exists():
        raise FileFormatError(_unreadable(path))
    encoding = _encoding(name)
    if encoding is not None:
        return encoding
    if _REPOSITORY.fullmatch(name) is None:
        said = f"{_suggestion(name)}there is no such file; {_EXPECTED_SOURCES}"
        raise UnknownNameError("tokenizer", name, (), said)
    return _find_on_hub(name)


def _unreadable(path: Path) -> str:
    if path.suffix == ".model" or re.search(r"\.model\.v\d", path.name):
        return f"{path}: a SentencePiece model {SENTENCEPIECE}"
    if path.suffix == ".gguf":
        return (
            f"{path}: a GGUF file has no normalizer, and only a name of llama.cpp for its pattern: "
            "pass the tokenizer.json, the directory or the repository of the model it was made from"
        )
    return (
        f"{path}: the name of a tokenizer's file tells its kind: expected one that ends in .json, "
        ".tiktoken, or .txt (BERT's vocab.txt)"
    )


def _tokenizer_in(directory: str) -> DirectoryTokenizer:
    why = why_without_transformers()
    if why is None:
        # transformers looks for names of models in the path
        return directory_of_transformers(directory, _json_of)
    return directory_files.load(Path(directory), why)


def _json_of(tokenizer: Any) -> str:
    from tokpar.adapters.directory_json import json_of  # imports tokenizers

    return json_of(tokenizer)


@cache
def why_without_transformers() -> str | None:
    """Returns why transformers cannot be asked, or None. Imports transformers."""
    try:
        import_module("transformers").AutoTokenizer  # noqa: B018  # imported when it is read
    except ImportError as error:
        if isinstance(error, ModuleNotFoundError) and error.name == "transformers":
            return "it is not installed"
        return f"it cannot be imported: {str(error).strip().partition(chr(10))[0]}"
    return None


def _encoding(name: str) -> object | None:
    """Returns tiktoken's encoding of this name, or for the model of this name; None if unknown."""
    tiktoken = import_module("tiktoken")
    encoding_name = name
    if name not in tiktoken.list_encoding_names():
        try:
            encoding_name = tiktoken.encoding_name_for_model(name)
        except KeyError:
            return None
    try:
        with _no_download() if is_offline() else nullcontext():
            encoding: object = tiktoken.get_encoding(encoding_name)
    except Exception as error:  # of requests, which tiktoken downloads with
        why = f"tiktoken could not download its file ({type(error).__name__})"
        if is_offline():
            why = f"its file is not in tiktoken's cache, and {OFFLINE} is set"
        raise UnknownNameError(
            "tokenizer",
            name,
            (),
            f"{_suggestion(name)}{why}: set TIKTOKEN_CACHE_DIR to a directory that has it, or pass "
            "the path of a .tiktoken file",
        ) from error
    return encoding


def is_offline() -> bool:
    """True if nothing may be downloaded, as huggingface_hub reads it from the environment."""
    return os.environ.get(OFFLINE, "").upper() in ("1", "ON", "YES", "TRUE")


@contextmanager
def _no_download() -> Iterator[None]:
    """Let tiktoken read files of its cache only."""
    loading: Any = import_module("tiktoken.load")
    before = loading.read_file

    def refuse_download(blobpath: str) -> bytes:
        raise OSError(f"{blobpath} is not in the cache")

    loading.read_file = refuse_download
    try:
        yield
    finally:
        loading.read_file = before


def _find_on_hub(repository: str) -> DirectoryTokenizer:
    """Returns what a repository means. Raises UnknownNameError, FileFormatError."""
    try:
        hub: Any = import_module("huggingface_hub")
        import_module("huggingface_hub.constants"), import_module("huggingface_hub.errors")
        is_cached = all(hub.try_to_load_from_cache(repository, name) for name in _CONFIGS)
        why = None if is_cached else _unreachable(repository, hub)
        if why is None:
            if not is_cached:
                _LOGGER.warning("%s: downloading it from the Hugging Face Hub", repository)
            if why_without_transformers() is None:
                return directory_of_transformers(repository, _json_of, local_files_only=is_cached)
            return _of_files(repository, hub, is_cached)
    except ImportError:
        why = (
            "repositories of the Hugging Face Hub take huggingface_hub: pip install huggingface_hub"
        )
    except FileFormatError as error:
        if not isinstance(error.__cause__, OSError):  # of a repository that is there
            raise
        why = _why(hub, error.__cause__)
    except Exception as error:  # of any of the libraries that it downloads with
        why = _why(hub, error)
    said = f"{_suggestion(repository)}{why}; {_EXPECTED_SOURCES}"
    raise UnknownNameError("tokenizer", repository, (), said)


def _suggestion(name: str) -> str:
    """Returns a question for an error message: "gpt-2", "GPT2" -> "did you mean 'gpt2'?; ". Returns
    "" for a known name, and for a name that is like none.

    Case and punctuation do not count, nor does a missing "_base"."""
    known = {_bare(each): each for each in _KNOWN_NAMES}
    near = get_close_matches(_bare(name), known, 1, _LEAST_SIMILARITY)
    return f"did you mean {known[near[0]]!r}?; " if near and known[near[0]] != name else ""


def _bare(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower()).removesuffix("base")


def _of_files(repository: str, hub: Any, is_cached: bool) -> DirectoryTokenizer:
    """Returns what the files of a repository mean without transformers."""
    paths = []
    for name in _FILES:
        with suppress(hub.errors.EntryNotFoundError):
            path = hub.hf_hub_download(repository, name, local_files_only=is_cached)
            paths.append(Path(path))
    if not paths:
        raise hub.errors.EntryNotFoundError(f"{repository} holds none of {', '.join(_FILES)}")
    return directory_files.load(paths[0].parent, str(why_without_transformers()))


def _unreachable(repository: str, hub: Any) -> str | None:
    """Returns why a download cannot work, as far as that is known at once; None if it may work."""
    absent = "it is not in the cache of the Hugging Face Hub"
    if any(isinstance(hub.try_to_load_from_cache(repository, name), str) for name in _FILES):
        absent = "only a part of it is in the cache of the Hugging Face Hub"
    if hub.constants.HF_HUB_OFFLINE or is_offline():
        return f"{absent}, and {OFFLINE} is set"
    if "/" not in repository and _suggestion(repository):
        return absent  # a slip of the pen
    host = urlsplit(hub.constants.ENDPOINT).hostname
    try:
        if host is not None and not getproxies():
            socket.getaddrinfo(host, None)  # downloading would be tried again for half a minute
    except OSError as error:
        return f"{absent}, and {host} is not found: {error.strerror}"
    return None


def _why(hub: Any, error: Exception) -> str:
    missing = isinstance(error, hub.errors.EntryNotFoundError)
    if missing and not isinstance(error, hub.errors.LocalEntryNotFoundError):
        return f"that repository has no tokenizer.json; a SentencePiece model {SENTENCEPIECE}"
    said = str(error).strip().partition("\n")[0][:160]
    return f"the Hugging Face Hub does not give it: {type(error).__name__}: {said}"
