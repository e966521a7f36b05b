"""tokie for tokpar: the ``tokenizer.json`` files for which tokie gives the ids of tokenizers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from tokpar import Rows
from tokpar.plugin.tokenizer import IdArray, TokenizerSource, hookimpl, offsets_of
from tokpar_engines import Calls, Engine, JsonFile, engine_source, unhonoured


def encode(tokenizer: Any, text: str) -> IdArray:
    """The ids of a text: the engine's own array."""
    ids: IdArray = tokenizer.encode_batch_flat([text], add_special_tokens=False)[0]
    return ids


def encode_many(tokenizer: Any, texts: list[str]) -> Rows:
    """The rows: the engine's array, divided by the lengths that the engine returns."""
    if not texts:
        return Rows.of([])
    ids, lengths = tokenizer.encode_batch_flat(texts, add_special_tokens=False)
    return Rows(ids, offsets_of(np.asarray(lengths, dtype=np.int64)))


def of_json(tokie: Any, file: JsonFile) -> Calls:
    for token in file.added:
        if token.single_word:
            does = "takes other characters than tokenizers for parts of a word"
            raise unhonoured(TOKIE, file, token.content, "single_word", does)
    tokenizer = tokie.Tokenizer.from_json(str(file.path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return Calls(partial(encode, tokenizer), partial(encode_many, tokenizer))


def differs(file: JsonFile) -> str | None:
    """Why some text may have other ids in tokie than in tokenizers; None if no such reason is
    known."""
    tie = find_tie(file.config["model"])
    return tie and (
        f"runs with the tokens {tie[0]!r} and {tie[1]!r} have several divisions with the best "
        f"score, of which tokie may take another than tokenizers"
    )


def find_tie(model: Mapping[str, Any]) -> tuple[str, str] | None:
    """Two tokens of a Unigram model for which a text can have two best divisions, or None.

    One token repeats the other, and its score is higher than the score of so many copies of the
    other. For "a" and "aa", the divisions "a", "aa" and "aa", "a" of "aaa" have equal scores. The
    rounding of each library decides between them."""
    if model.get("type") != "Unigram":
        return None
    scores = dict(model["vocab"])
    for token, score in scores.items():
        period = (token + token).find(token, 1)
        one = token[:period]
        if period < len(token) and score > scores.get(one, math.inf) * (len(token) // period):
            return one, token
    return None


TOKIE = Engine("tokie", "0.1.4", of_json, differs=differs)


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [engine_source(TOKIE)]
