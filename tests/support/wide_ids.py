"""Files of drawn tokenizers whose ids lie far apart: at powers of two and beside them."""

from __future__ import annotations

import json
import random
from typing import Any

from tests.support.calls_drawn import DRAWN, GPT2, QWEN, draw_added, draw_bytes
from tokpar.files.vocabulary import byte_alphabet

POWERS = (16, 20, 21, 22, 24, 26, 27, 28, 30)
MOST = {"bytes": 1 << 31, "characters": (1 << 32) - 1, "words": 1 << 32}
"""The ids of each kind that its tables may have are below this one."""


def wide_ids(draw: random.Random, model: dict[str, Any], most: int) -> dict[str, int]:
    """Returns the vocabulary of a model with new ids below `most`.

    Some ids become 2**k - 1, 2**k, 2**k + 1, or 2**k + the id of another token, whose low bits they
    share. Mostly these are ids of tokens that are in no merge. The other ids keep their order, with
    gaps."""
    merges = model.get("merges", []) if draw.random() < 0.9 else []
    parts = {part for merge in merges for part in merge}
    spread, first = draw.choice([1, 1, 3, 40]), draw.choice([0, 7])
    new = {token: spread * id_ + first for token, id_ in model["vocab"].items()}
    taken, powers = {*new.values()}, [*POWERS, *(k for k in (31,) if most > 1 << 31)]
    rest = [token for token in new if token not in parts]
    low_ids = [number % (1 << 20) for number in new.values()]
    for token in draw.sample(rest, draw.randrange(len(rest) + 1) // draw.choice([1, 9])):
        wide = (1 << draw.choice(powers)) + draw.choice([-1, 0, 1, draw.choice(low_ids)])
        if wide not in taken and wide < most:
            taken.add(wide)
            new[token] = wide
    return new


def draw_wide_file(draw: random.Random, kind: str) -> tuple[str, list[str]]:
    """Returns a `tokenizer.json` of a kind of DRAWN, and the contents of its added tokens."""
    tokenizer = DRAWN[kind](draw)
    contents = draw_added(draw, tokenizer)
    written: dict[str, Any] = json.loads(tokenizer.to_str())
    model = written["model"]
    model["vocab"] = wide_ids(draw, model, MOST[kind])
    for token in written["added_tokens"]:
        token["id"] = model["vocab"].get(token["content"], token["id"])
    return json.dumps(written), contents


def draw_wide_ranks(draw: random.Random) -> tuple[dict[bytes, int], str]:
    """Returns the ranks of a tiktoken encoding, and its pattern."""
    vocab = wide_ids(draw, json.loads(draw_bytes(draw).to_str())["model"], MOST["bytes"])
    alphabet = byte_alphabet()
    ranks = {bytes(map(alphabet.__getitem__, token)): id_ for token, id_ in vocab.items()}
    return ranks, draw.choice([GPT2, QWEN])
