"""The normalizers and pre-tokenizers of published Unigram files, around drawn vocabularies."""

from __future__ import annotations

import base64
import math
import random
from collections.abc import Sequence
from typing import Any

from tokpar_conformance.worlds.charsmaps import charsmap

NMT_PART = charsmap(
    {"ﬁ": "fi", "\u3000": " ", "\n": " ", "\t": " ", "\u200b": "", "A": "a", "¨": " \u0308"}
    | {"½": "1⁄2"}
)
"""Some of what the tables of published files do."""
METASPACE = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
RUNS = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
SHAPES = ("XLM-R", "T5", "ALBERT", "DeBERTa-v3", "mBART", "NLLB")
"""XLM-R's is that of mT5, bge-m3 and multilingual-e5, too."""
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def stage(kind: str, **settings: Any) -> dict[str, Any]:
    return {"type": kind, **settings}


def shape(table: bytes, name: str) -> dict[str, Any]:
    """Normalizers and pre-tokenizer of a published file. `table`: what its Precompiled has."""
    precompiled = stage("Precompiled", precompiled_charsmap=base64.b64encode(table).decode())
    quotes = [stage("Replace", pattern={"String": x}, content='"') for x in ("``", "''")]
    strip, white = stage("Strip", strip_left=True, strip_right=True), stage("WhitespaceSplit")
    right = stage("Strip", strip_left=False, strip_right=True)
    marks = stage("Replace", pattern={"Regex": " {2,}"}, content="▁")
    folded = [stage("NFKD"), stage("StripAccents"), stage("Lowercase")]
    rows = {
        "DeBERTa-v3": ([strip, precompiled, RUNS], [METASPACE]),
        "ALBERT": ([*quotes, *folded, precompiled, RUNS], [white, METASPACE]),
        "T5": ([precompiled], [white, METASPACE]),
        "XLM-R": ([precompiled, right, marks], [METASPACE]),
        "mBART": ([precompiled, RUNS], [white, METASPACE]),
        "NLLB": ([precompiled, RUNS], [METASPACE]),
    }
    normalizers, pre = rows[name]
    return {
        "normalizer": stage("Sequence", normalizers=normalizers),
        "pre_tokenizer": stage("Sequence", pretokenizers=pre) if len(pre) > 1 else pre[0],
    }


def draw_scored_pieces(draw: random.Random, words: Sequence[str]) -> list[tuple[str, float]]:
    """Pieces of words and parts of words: "▁" begins a word, some characters are missing, scores
    are near a real model's, equal, or differ in the last bit."""
    marked = ["▁" + word for word in words]
    names = {char for word in marked for char in word if draw.random() < 0.97}
    for word in draw.choices(marked, k=2 * len(marked)):
        start = draw.choice([0, 0, draw.randrange(len(word))])
        names.add(word[start : start + draw.choice([1, 2, 3, 4, len(word)])])
    chosen = sorted(name for name in names if name)
    draw.shuffle(chosen)
    chosen += draw.choice([[], [], [], BYTES, draw.choices(chosen, k=5)])
    mode = draw.choice(["real", "real", "equal", "close"])
    return [("<unk>", 0.0), *((name, _score(draw, mode, len(name))) for name in chosen)]


def _score(draw: random.Random, mode: str, size: int) -> float:
    if mode == "equal":
        return -float(size)
    if mode == "close":
        return math.nextafter(-1.1 * size, draw.choice([-9.0 * size, -1.1 * size, 0.0]))
    return -draw.uniform(4, 9) - draw.random() * size
