"""Tables as SentencePiece has them in its files, made without any tokenizer library."""

from __future__ import annotations

import struct
from collections.abc import Mapping


def charsmap(replacements: Mapping[str, str]) -> bytes:
    """SentencePiece's table of these: a double array in which each node has a block of its own."""
    units, texts = [0] * 256, b""

    def add(node: int, entries: dict[bytes, int], root: bool) -> None:
        base = len(units)
        units.extend([0] * 256)
        units[node] |= (node ^ base) << 10
        heads: dict[int, dict[bytes, int]] = {}
        for key, place in entries.items():
            if not key:
                units[node] |= 0 if root else 1 << 8
                units[base] = place | 1 << 31
            else:
                heads.setdefault(key[0], {})[key[1:]] = place
        for head, rest in heads.items():
            units[base ^ head] |= head
            add(base ^ head, rest, root=False)

    places: dict[bytes, int] = {}
    for key, text in replacements.items():
        places[key.encode()] = len(texts)
        texts += text.encode() + b"\0"
    add(0, places, root=True)
    blob = struct.pack(f"<{len(units)}I", *units)
    return struct.pack("<I", len(blob)) + blob + texts


NMT_LIKE = charsmap(
    {"ﬁ": "fi", "\u3000": " ", "\n": " ", "\t": " ", "\u200b": "", "¨": " \u0308", "A": "a"}
    | {"\u0600": "x", "e\u0301": "é", "\x07": "", "\u00ad": ""}
)
"""Some of what SentencePiece's nmt_nfkc_cf does, and more."""
