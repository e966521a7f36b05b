"""Asks the real regex engines which code points a one-char pattern matches."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]

CODE_POINTS = 0x110000
SURROGATES = (0xD800, 0xDFFF)


def oniguruma_members(source: str, text: str) -> set[str]:
    """Characters of `text` inside runs of `source`, by Hugging Face `Split(Regex(...))`."""
    tokenizers = _module("tokenizers")
    pattern = tokenizers.Regex(f"(?:{source})+")
    split = tokenizers.pre_tokenizers.Split(pattern, "removed")
    left = "".join(piece for piece, _ in split.pre_tokenize_str(text))
    return set(text) - set(left)


def fancy_members(source: str, text: str) -> set[str]:
    """Same by tiktoken, which drops unmatched text: the matched part is what it encodes."""
    tiktoken = _module("tiktoken")
    encoding = tiktoken.Encoding(
        "probe",
        pat_str=f"(?:{source})+",
        mergeable_ranks={bytes([i]): i for i in range(256)},
        special_tokens={},
    )
    return set(bytes(encoding.encode_ordinary(text)).decode())


def regex_members(source: str, text: str) -> set[str]:
    """Same by the Python module `regex`."""
    return set("".join(_module("regex").findall(f"(?:{source})+", text)))


MEMBERS: dict[str, Callable[[str, str], set[str]]] = {
    "fancy-regex": fancy_members,
    "oniguruma": oniguruma_members,
    "regex": regex_members,
}


def every_character() -> str:
    """All code points but surrogates, in order."""
    low, high = SURROGATES
    return "".join(map(chr, (*range(low), *range(high + 1, CODE_POINTS))))


def as_mask(characters: set[str]) -> BoolArray:
    """Membership over all code points, shape (0x110000,)."""
    mask = np.zeros(CODE_POINTS, dtype=np.bool_)
    mask[np.fromiter(map(ord, characters), dtype=np.int64)] = True
    return mask


def agreed_mask(source: str, text: str) -> tuple[BoolArray, BoolArray]:
    """(members by `regex`, code points on which all engines agree), each of shape (0x110000,)."""
    masks = [as_mask(members(source, text)) for members in MEMBERS.values()]
    return masks[-1], (masks[0] == masks[1]) & (masks[1] == masks[2])


def versions() -> dict[str, str]:
    """Versions of the packages that carry the engines."""
    return {name: version(name) for name in ("regex", "tiktoken", "tokenizers")}


def _module(name: str) -> Any:
    return import_module(name)
