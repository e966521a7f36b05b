"""Finds a tokenizer by a name of tiktoken, a directory, or a repository of the Hugging Face Hub.

The result is an encoding or a `DirectoryTokenizer`, which adapters load."""

from __future__ import annotations

import hashlib
import logging
import os
import re
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
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
from tokpar.process.fork_locks import in_child, own_lock

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
_SECONDS = 20
"""The time-out of a download for tiktoken, which has none: to connect, and between two reads."""
_lock = own_lock(sys.modules[__name__])
_read_file: Any = None
"""What `tiktoken.load` had, while its files are watched."""
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
    from tokpar.formats.foreign_files import foreign_kind  # only an error needs it

    kind = foreign_kind(path)
    if kind is not None:
        return f"{path}: {kind}"
    if path.suffix == ".model" or re.search(r"\.model\.v\d", path.name):
        return f"{path}: a SentencePiece model {SENTENCEPIECE}"
    return (
        f"{path}: the name of a tokenizer's file tells its kind: expected one that ends in .json, "
        ".tiktoken, or .txt (BERT's vocab.txt)"
    )


def _tokenizer_in(directory: str) -> DirectoryTokenizer:
    why = why_without_transformers()
    if why is None:
        # transformers looks for names of models in the path
        return directory_of_transformers(directory)
    return directory_files.load(Path(directory), why)


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
    encoding_name = _encoding_name(name)
    if encoding_name is None:
        return None
    missing_files: list[str] = []
    try:
        with _watched_downloads(missing_files):
            encoding: object = import_module("tiktoken").get_encoding(encoding_name)
    except Exception as error:  # of any of the libraries that it downloads with
        lacks = "".join(f"; its file {url} is not {_cached_place(url)}" for url in missing_files)
        raise UnknownNameError(
            "tokenizer",
            name,
            (),
            f"{_suggestion(name)}tiktoken cannot load {encoding_name} ({_in_a_line(error)}){lacks}"
            ": put the file there (TIKTOKEN_CACHE_DIR names another directory), or pass the path "
            f"of a .tiktoken file with name={encoding_name!r}",
        ) from error
    return encoding


def _encoding_name(name: str) -> str | None:
    tiktoken = import_module("tiktoken")
    if name in tiktoken.list_encoding_names():
        return name
    for model in (name, f"{name}-"):  # tiktoken knows a family as the prefix "gpt-oss-"
        with suppress(KeyError):
            return str(tiktoken.encoding_name_for_model(model))
    return None


@contextmanager
def _watched_downloads(missing_files: list[str]) -> Iterator[None]:
    """Let tiktoken download only what can be downloaded, with a line in the log and a time-out.

    `missing_files`: gets the address of each file that is not in tiktoken's cache."""
    loading: Any = import_module("tiktoken.load")

    def read_file(address: str) -> bytes:
        missing_files.append(address)
        if is_offline():
            raise OSError(f"{OFFLINE} is set")
        if not address.startswith(("http://", "https://")):
            return bytes(own_read_file(address))
        _require_host(address)
        _LOGGER.warning("%s: downloading it for tiktoken", address)
        answer = import_module("requests").get(address, timeout=_SECONDS)
        answer.raise_for_status()
        return bytes(answer.content)

    global _read_file
    with _lock:
        own_read_file = _read_file = loading.read_file
        loading.read_file = read_file
        try:
            yield
        finally:
            _end_watch()


def _end_watch() -> None:
    """Also in a child that was forked while another thread watched."""
    global _read_file
    if _read_file is not None:
        loading: Any = import_module("tiktoken.load")
        loading.read_file, _read_file = _read_file, None


in_child(_end_watch)


def _cached_place(address: str) -> str:
    """Returns where tiktoken looks for a file (tiktoken/load.py, read_file_cached)."""
    folder = os.environ.get("DATA_GYM_CACHE_DIR", f"{tempfile.gettempdir()}/data-gym-cache")
    folder = os.environ.get("TIKTOKEN_CACHE_DIR", folder)
    file = os.path.join(folder, hashlib.sha1(address.encode()).hexdigest())
    return f"at {file}" if folder else "looked for, since TIKTOKEN_CACHE_DIR is empty"


def _require_host(address: str) -> None:
    """Raises OSError if the host of an address is not found: libraries would try for long."""
    host = urlsplit(address).hostname
    try:
        if host is not None and not getproxies():
            socket.getaddrinfo(host, None)
    except OSError as error:
        raise OSError(f"{host} is not found: {error.strerror}") from error


def is_offline() -> bool:
    """True if nothing may be downloaded, as huggingface_hub reads it from the environment."""
    return os.environ.get(OFFLINE, "").upper() in ("1", "ON", "YES", "TRUE")


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
                return directory_of_transformers(repository, local_files_only=is_cached)
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
    names = ("default", *import_module("tiktoken").list_encoding_names())
    known = {_bare(each): each for each in names}
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
    try:
        _require_host(hub.constants.ENDPOINT)
    except OSError as error:
        return f"{absent}, and {error}"
    return None


def _why(hub: Any, error: Exception) -> str:
    missing = isinstance(error, hub.errors.EntryNotFoundError)
    if missing and not isinstance(error, hub.errors.LocalEntryNotFoundError):
        return f"that repository has no tokenizer.json; a SentencePiece model {SENTENCEPIECE}"
    return f"the Hugging Face Hub does not give it: {_in_a_line(error)}"


def _in_a_line(error: Exception) -> str:
    said = str(error).strip().partition("\n")[0][:160]
    return f"{type(error).__name__}: {said}"
