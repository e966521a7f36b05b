"""The texts of a run, and the kit's own tokenizers.

A run has fixed texts, drawn texts and the caller's texts; they are the same in each run. The
tokenizers are `Unknown`, which has no facts, and `Letters`, which can fail or wait and can be
built again in another process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings

from tokpar.arrays import IdArray, SpanArray, byte_starts
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.types import Piece, Rows
from tokpar_conformance.checks import Pools
from tokpar_conformance.fixed_texts import (
    added_contents,
    competing,
    hostile_texts,
    separate_words,
    surround_contents,
    vocabulary_words,
)
from tokpar_conformance.fixed_texts import surrogate_texts as fixed_surrogates
from tokpar_conformance.text_strategies import Texts, made_of, surrogate_texts, texts

FAILS = "\x07"


@dataclass(frozen=True)
class Unknown:
    """A tokenizer without facts, whose ids depend on the whole text: "ab" -> [97 + 2, 98 + 2]."""

    name: str = "unknown"

    def encode(self, text: str) -> IdArray:
        return np.array([ord(character) + len(text) for character in text], dtype=np.uint32)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        return Rows.of(map(self.encode, texts))


@dataclass(frozen=True)
class Letters:
    """A tokenizer with one id per code point.

    It raises a ValueError that shows the text if the text has the character FAILS. It sleeps
    `seconds` before each text, so that other threads run."""

    seconds: float = 0.0
    name: str = "letters"

    def encode(self, text: str) -> IdArray:
        if self.seconds:
            time.sleep(self.seconds)
        if FAILS in text:
            raise ValueError(f"cannot encode {text!r}")
        return np.array([ord(character) for character in text], dtype=np.uint32)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        starts = byte_starts(text)
        return np.stack([starts[:-1], starts[1:]], axis=1)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        found = [self.encode(text) for text in texts]
        return Rows.of_pieces(
            [
                Piece(ids, self.locate(ids, text) if spans else None)
                for ids, text in zip(found, texts, strict=True)
            ]
        )

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], dict[str, Any]]:
        return Letters, {"seconds": self.seconds}


EXAMPLES = 60
"""Drawn texts of a run. A caller may ask for another number, and a profile of hypothesis may have
fewer examples. If the vocabulary is known, two more sets, each half as large, are drawn: texts of
tokens alone, and texts with tokens between other text."""
MOST = 400
"""Most code points of a drawn text, or of a text made of the vocabulary. A vocabulary may have
tokens of a hundred spaces, and the finest chunks are single code points."""
LONG = 2000  # only checks of the pool "long" get texts of more code points
MOST_ADDED = 50


def pools(
    tokenizer: TokenizerAdapter,
    own: Sequence[str],
    examples: int | None = None,
    reference: TokenizerAdapter | None = None,
) -> Pools:
    """The texts of a run, by pool: "texts", "surrogates" and "long".

    Drawn texts hold the contents of added tokens, whole and in parts, and tokens of the
    vocabulary if it is known: merges that compete need both. Both may also come from the
    reference: an adapter without facts gets texts as hard as the others get."""
    if examples is None:
        examples = min(EXAMPLES, settings().max_examples)
    known = [tokenizer] if reference is None else [tokenizer, reference]
    added = tuple(dict.fromkeys(content for each in known for content in added_contents(each)))
    added = added[:MOST_ADDED]
    short = [text for text in own if len(text) <= LONG]
    words = next(filter(None, map(vocabulary_words, known)), ())
    drawn = _draw_texts(_usual, added, examples)
    drawn += (
        *surround_contents(added),
        *(text[:MOST] for text in competing(words) + separate_words(words)),
    )
    if words:
        drawn += _draw_texts(made_of, words, examples // 2) + _draw_texts(
            _usual, words, examples // 2
        )
    return {
        "texts": tuple(dict.fromkeys((*short, *hostile_texts(), *drawn))),
        "surrogates": (*fixed_surrogates(), *_draw_texts(_lone, added, examples // 10)),
        "long": tuple(text for text in own if len(text) > LONG),
    }


@lru_cache(maxsize=32)
def _draw_texts(
    strategy: Callable[[tuple[str, ...]], Texts], contents: tuple[str, ...], examples: int
) -> tuple[str, ...]:
    if examples < 1:
        return ()
    found: list[str] = []

    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy(contents))
    def draw(text: str) -> None:
        found.append(text[:MOST])

    draw()
    return tuple(found)


def _usual(contents: tuple[str, ...]) -> Texts:
    return texts(added=contents, max_size=MOST)


def _lone(contents: tuple[str, ...]) -> Texts:
    return surrogate_texts(added=contents, max_size=MOST)
