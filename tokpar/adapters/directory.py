"""A tokenizer made from a directory, or from a repository of the Hugging Face Hub.

A directory means what transformers makes of it; a file means the file. Without transformers,
`tokpar.adapters.directory_files` decides whether the tokenizer.json alone says the same."""

from __future__ import annotations

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from tokpar.adapters.directory_files import file_to_name
from tokpar.adapters.hf_version import KEPT_IN_VERSION_4
from tokpar.adapters.settings import TEKKEN, DirectoryTokenizer, Settings, is_panic
from tokpar.contract.adapter import Loader
from tokpar.errors import FileFormatError, OptionError, quoted
from tokpar.process.interrupts import raise_foreign

AUTO_TOKENIZER = "AutoTokenizer"
_CALLS = ("__call__", "encode", "_encode_plus", "_batch_encode_plus")
"""The methods of transformers' fast tokenizers from which every call of a user gets its ids."""


def load(name: str, **options: Any) -> DirectoryTokenizer:
    """Returns what transformers makes of a directory, or of a repository of the Hub.

    `options`: more arguments of `AutoTokenizer.from_pretrained`. Raises ImportError without
    transformers, FileFormatError if transformers makes nothing of it, if it needs remote code, and
    if the class encodes in Python or has no backend tokenizer."""
    transformers: Any = import_module("transformers")
    auto, fast = transformers.AutoTokenizer, transformers.PreTrainedTokenizerFast
    try:
        tokenizer = auto.from_pretrained(name, trust_remote_code=False, **options)
    except BaseException as error:  # of transformers and of the libraries that it reads files with
        raise_foreign(error)
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        raise FileFormatError(f"{name}: {_why_not_made(transformers, name, error)}") from error
    original = getattr(type(tokenizer), "_tokpar_original", None)
    if original is not None:  # after `patch_transformers`
        tokenizer = original(tokenizer)
    refusal = _refusal(tokenizer, fast)
    if refusal is not None:
        raise FileFormatError(f"{name}: {refusal}")
    _freeze(tokenizer)
    return DirectoryTokenizer(name, _loader_of(tokenizer), tokenizer, write=_write)


def _why_not_made(transformers: Any, name: str, error: BaseException) -> str:
    said = quoted(str(error).strip().partition("\n")[0].rstrip(" :"))
    if "trust_remote_code" in str(error):
        auto = import_module("transformers.models.auto.tokenization_auto")
        mapping = auto.get_tokenizer_config(name, local_files_only=True).get("auto_map")
        classes = mapping.get("AutoTokenizer") if isinstance(mapping, Mapping) else mapping
        found = [classes] if isinstance(classes, str) else list(filter(None, classes or ()))
        return (
            f"auto_map names {found[-1] if found else 'its class'}, whose code is in the directory "
            "and which tokpar does not run: pass the object that "
            "AutoTokenizer.from_pretrained(..., trust_remote_code=True) returns, or name the file "
            "(tokenizer.json)"
        )
    instead = "pass a tokenizer object, or name a file of it"
    if os.path.isdir(name):
        instead = file_to_name(Path(name))
        if not instead.startswith("pass"):
            instead = f"pass a tokenizer object, or {instead}"
    return (
        f"transformers {transformers.__version__} makes no tokenizer of it "
        f"({type(error).__name__}: {said}): {instead}"
    )


def _refusal(tokenizer: Any, fast: type) -> str | None:
    """Returns why the ids of a tokenizer are not those of its backend tokenizer, or None.

    `fast`: the base class of the fast tokenizers in transformers."""
    kind = type(tokenizer)
    if not isinstance(tokenizer, fast) or not isinstance(
        getattr(tokenizer, "backend_tokenizer", None), import_module("tokenizers").Tokenizer
    ):
        return (
            f"transformers loads it as {kind.__name__}, which has no backend tokenizer: pass an "
            "object of your own around it, with name and encode(text), or name the file "
            "(tokenizer.json, tekken.json)"
        )
    is_kept = kind.__module__.startswith("transformers.") and kind.__name__ in KEPT_IN_VERSION_4
    for name in () if is_kept else _CALLS:
        if getattr(kind, name, None) is not getattr(fast, name, None):
            return (
                f"transformers loads it as {kind.__name__}, which changes {name} in Python: pass "
                "the object that AutoTokenizer.from_pretrained returns, or name the file "
                "(tokenizer.json)"
            )
    return None


def _freeze(tokenizer: Any) -> None:
    """Make the backend tokenizer encode as `tokenizer(text)` does, by its own call.

    A call of transformers leaves out truncation and padding, sets `encode_special_tokens`, and
    lets translation models set the post-processor."""
    switch = getattr(tokenizer, "_switch_to_input_mode", None)
    if switch is not None:
        switch()
    own = tokenizer.backend_tokenizer
    own.no_truncation()
    own.no_padding()
    own.encode_special_tokens = bool(getattr(tokenizer, "split_special_tokens", False))


def _loader_of(tokenizer: Any) -> Loader:
    modules = ["tokenizers", "transformers"]
    vocabulary = os.path.basename(str(getattr(tokenizer, "vocab_file", "")))
    if vocabulary == TEKKEN and "mistral_common" in sys.modules:  # transformers reads it with that
        modules.insert(0, "mistral_common")
    versions = {name.replace("_", "-"): str(sys.modules[name].__version__) for name in modules}
    return Loader(AUTO_TOKENIZER, type(tokenizer).__name__, versions)


@cache
def _folder() -> Path:
    """A temporary folder of this process."""
    folder, process = tempfile.mkdtemp(prefix="tokpar-"), os.getpid()

    def remove() -> None:
        if os.getpid() == process:  # not in a fork
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def _write(tokenizer: Any) -> Path:
    """Returns a file with the tokenizer.json, which is kept until the process ends: adapters read
    it again. Raises OptionError if a tokenizer read from the file would not be the same."""
    from tokpar.adapters.hf_copy import tokenizer_json_of  # imports tokenizers
    from tokpar.adapters.hf_source import Caller
    from tokpar.adapters.hf_v0 import adapter_of

    own = tokenizer.backend_tokenizer
    if own.encode_special_tokens:
        raise OptionError("split_special_tokens has no place in it")
    refused = adapter_of(Caller(own), Settings()).postprocess_refused
    if refused is not None:
        raise OptionError(refused)
    config = tokenizer_json_of(own)
    if type(own).from_str(config).to_str() != config:
        raise OptionError("it is not the same when it is written and read")
    data = config.encode("utf-8")
    path = _folder() / hashlib.sha256(data).hexdigest()[:16] / "tokenizer.json"
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    return path
