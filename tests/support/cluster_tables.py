"""The kinds of characters of UAX 29, tables of Precompiled, and how Clusters.v writes them."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import numpy as np
import regex

KINDS = {
    "Return": r"\p{GCB=CR}",
    "Feed": r"\p{GCB=LF}",
    "Control": r"\p{GCB=Control}",
    "Linker": r"\p{InCB=Linker}",
    "Joiner": r"\p{GCB=ZWJ}",
    "Mark": r"[\p{GCB=Extend}&&\p{InCB=Extend}]",
    "Loose": r"\p{GCB=Extend}",
    "Preceding": r"\p{GCB=Prepend}",
    "Spacing": r"\p{GCB=SpacingMark}",
    "Regional": r"\p{GCB=Regional_Indicator}",
    "Lead": r"\p{GCB=L}",
    "Vowel": r"\p{GCB=V}",
    "Tail": r"\p{GCB=T}",
    "LeadVowel": r"\p{GCB=LV}",
    "Syllable": r"\p{GCB=LVT}",
    "Picture": r"\p{Extended_Pictographic}",
    "Consonant": r"\p{InCB=Consonant}",
}
"""The first of these that a character matches is its kind."""


@cache
def special_kinds() -> dict[str, str]:
    """The kind of each character that has another one than Other."""
    chars = "".join(chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000)
    found: dict[str, str] = {}
    for name, pattern in KINDS.items():
        for char in regex.findall(pattern, chars, regex.V1):
            found.setdefault(char, name)
    return found


def kind_of(char: str) -> str:
    """The constructor of Clusters.v."""
    return special_kinds().get(char, "Other")


def charsmap_coq(chars: Iterable[str], keys: Mapping[str, str]) -> str:
    """A value of Clusters.v: the kinds of these characters, and the keys of a table."""
    known = {char: kind_of(char) for char in sorted({*chars, *"".join(keys)})}
    kinds = (f"({ord(c)}%N, {ord(c)}%N, {kind})" for c, kind in known.items() if kind != "Other")
    entries = (f"({_points(key)}, {_points(value)})" for key, value in keys.items())
    return f"{{| kinds := [{'; '.join(kinds)}]; keys := [{'; '.join(entries)}] |}}"


def drawn_keys(rng: random.Random, alphabet: str, values: Sequence[str]) -> dict[str, str]:
    """Keys of characters, clusters and their beginnings."""
    keys = ("".join(rng.choices(alphabet, k=rng.choice([1, 1, 1, 2, 2, 3]))) for _ in range(12))
    return {key: rng.choice(values) for key in keys}


def keys_of(table: bytes) -> list[bytes]:
    """The keys of a table of Precompiled."""
    size = int.from_bytes(table[:4], "little")
    units = np.frombuffer(table, "<u4", size // 4, 4).astype(np.int64)
    labels = units & 0x800000FF
    behind = np.arange(len(units)) ^ (units >> 10 << ((units & 1 << 9) >> 6))
    children = dict[int, list[int]]()
    for place in np.flatnonzero((labels > 0) & (labels < 256)).tolist():
        children.setdefault(place ^ int(labels[place]), []).append(place)
    found, open_nodes = [], [(int(behind[0]), b"")]
    while open_nodes:
        node, key = open_nodes.pop()
        for place in children.get(node, ()):
            longer = key + bytes([labels[place]])
            open_nodes.append((int(behind[place]), longer))
            found.extend([longer] * int(units[place] >> 8 & 1))
    return found


def _points(text: str) -> str:
    return f"[{'; '.join(f'{ord(char)}%N' for char in text)}]"
