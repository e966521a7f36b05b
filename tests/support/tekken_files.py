"""A small ``tekken.json``."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import Any

from tokpar.patterns.shipped_patterns import TEKKEN

MERGED = (b"th", b" t", b"the", b" the", "é".encode(), b"[I", b"\xe4\xb8", b"<s", b"cut off")
TOKENS = [*(bytes([byte]) for byte in range(256)), *MERGED]
COUNT = 24
"""Special tokens: those that a file without a list has, and four fillers."""


def tekken(**changes: Any) -> dict[str, Any]:
    """A small file as mistral-common writes it, whose last token is not used."""
    vocab = [
        {"rank": rank, "token_bytes": b64encode(token).decode(), "token_str": None}
        for rank, token in enumerate(TOKENS)
    ]
    config = {
        "pattern": TEKKEN,
        "num_vocab_tokens": len(TOKENS),
        "default_vocab_size": len(TOKENS) - 1 + COUNT,
        "default_num_special_tokens": COUNT,
        "version": "v3",
    }
    names = {name: changes.pop(name) for name in config.keys() & changes.keys()}
    return {"config": config | names, "vocab": vocab, **changes}


def save_tekken(folder: Path, **changes: Any) -> Path:
    path = folder / "tekken.json"
    path.write_text(json.dumps(tekken(**changes)), encoding="utf-8")
    return path
