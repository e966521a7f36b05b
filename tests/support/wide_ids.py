"""Files of drawn tokenizers whose ids lie far apart: at powers of two and beside them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from tests.support.calls_drawn import DRAWN, GPT2, MARK, QWEN, draw_added, draw_bytes
from tokpar.formats.vocabulary import byte_alphabet

ALPHABET = byte_alphabet()
POWERS = (16, 20, 21, 22, 24, 26, 27, 28, 30)
MOST = {"bytes": 1 << 31, "missing bytes": 1 << 31, "characters": (1 << 32) - 1, "words": 1 << 32}
"""The ids of each kind that its tables may have are below this one."""


def widen_ids(draw: random.Random, model: dict[str, Any], most: int) -> list[str]:
    """Gives tokens of a model new ids below `most`. Returns parts of texts that hold such tokens.

    Some ids become 2**k - 1, 2**k, 2**k + 1, or 2**k + the id of another token, whose low bits they
    share: often of the right part of a merge, whose left part is put before the token in the text.
    Mostly these are ids of tokens in no merge. The other ids keep their order, with gaps."""
    merges: list[tuple[str, str]] = model.get("merges", [])
    parts = {part for merge in merges for part in merge} if draw.random() < 0.9 else set()
    spread, first = draw.choice([1, 1, 3, 40]), draw.choice([0, 7])
    new = {token: spread * id_ + first for token, id_ in model["vocab"].items()}
    taken, powers = {*new.values()}, [*POWERS, *(k for k in (31,) if most > 1 << 31)]
    rest, texts = [token for token in new if token not in parts], []
    for token in draw.sample(rest, draw.randrange(len(rest) + 1) // draw.choice([1, 9])):
        left, right = draw.choice(merges) if merges else ("", token)
        low = draw.choice([-1, 0, 1, new[right] % (1 << 20), new[right] % (1 << 20)])
        wide = (1 << draw.choice([21, *powers])) + low
        if wide not in taken and wide < most:
            taken.add(wide)
            new[token] = wide
            texts.append(left + (draw.choice("ñ文ж🙂") if token.startswith("<") else token))
    model["vocab"] = new
    return texts


def draw_wide_file(draw: random.Random, kind: str) -> tuple[str, list[str]]:
    """Returns a `tokenizer.json` of a kind of DRAWN, and parts of texts for it: the contents of its
    added tokens among them."""
    tokenizer = DRAWN[kind](draw)
    contents = draw_added(draw, tokenizer)
    written: dict[str, Any] = json.loads(tokenizer.to_str())
    model = written["model"]
    texts = [*map(TEXT_OF[kind], widen_ids(draw, model, MOST[kind]))]
    for token in written["added_tokens"]:
        token["id"] = model["vocab"].get(token["content"], token["id"])
    return json.dumps(written), [*contents, *texts]


def draw_wide_ranks(draw: random.Random) -> tuple[dict[bytes, int], str, list[str]]:
    """Returns the ranks of a tiktoken encoding, its pattern, and parts of texts for it."""
    model: dict[str, Any] = json.loads(draw_bytes(draw).to_str())["model"]
    texts = [*map(text_of_bytes, widen_ids(draw, model, MOST["bytes"]))]
    ranks = {bytes_of(token): id_ for token, id_ in model["vocab"].items()}
    return ranks, draw.choice([GPT2, QWEN]), texts


def bytes_of(token: str) -> bytes:
    return bytes(ALPHABET[letter] for letter in token if letter in ALPHABET)


def text_of_bytes(token: str) -> str:
    return bytes_of(token).decode(errors="ignore")


TEXT_OF: dict[str, Callable[[str], str]] = {
    "bytes": text_of_bytes,
    "missing bytes": text_of_bytes,
    "characters": lambda token: token.replace(MARK, " "),
    "words": lambda token: token,
}
