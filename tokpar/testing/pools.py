"""Which texts a run looks at: fixed ones, drawn ones and the caller's own; always the same."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from hypothesis import HealthCheck, Phase, given, settings

from tokpar.agreement.hostile import hostile_texts, surrogate_texts
from tokpar.agreement.texts import (
    added_contents,
    competing,
    separated,
    surrounded,
    vocabulary_words,
)
from tokpar.interfaces import TokenizerAdapter
from tokpar.testing import texts as drawing
from tokpar.testing.checks import Pools

Kind = Literal["texts", "words", "surrogates"]

EXAMPLES = 60
"""Texts drawn for a run unless it asks for a number or the active profile of hypothesis has fewer
examples; besides half as many of the vocabulary's tokens alone, and as many with such tokens among
other text."""
LONG = 2000
"""Texts above this many code points are only given to checks that are made for them."""
MOST_ADDED = 50


def pools(
    tokenizer: TokenizerAdapter,
    own: Sequence[str],
    examples: int | None = None,
    reference: TokenizerAdapter | None = None,
) -> Pools:
    """The texts of a run. Contents of added tokens stand in the drawn ones, whole and in parts, and
    so do tokens of the vocabulary, where they can be known: merges that compete need both. The
    reference knows them, too: an adapter without facts gets no easier texts."""
    if examples is None:
        examples = min(EXAMPLES, settings().max_examples)
    known = [tokenizer] if reference is None else [tokenizer, reference]
    added = tuple(dict.fromkeys(content for each in known for content in added_contents(each)))
    added = added[:MOST_ADDED]
    short = [text for text in own if len(text) <= LONG]
    drawn = _drawn(added, examples, "texts")
    words = next(filter(None, map(vocabulary_words, known)), ())
    spelled = surrounded(added) + competing(words) + separated(words)
    spelled += _drawn(words, examples // 2, "words")
    spelled += _drawn(words, examples // 2, "texts") if words else ()
    lone = (*surrogate_texts(), *_drawn(added, examples // 10, "surrogates"))
    return {
        "texts": tuple(dict.fromkeys((*short, *hostile_texts(), *drawn, *spelled))),
        "surrogates": lone,
        "long": tuple(text for text in own if len(text) > LONG),
    }


@lru_cache(maxsize=32)
def _drawn(contents: tuple[str, ...], examples: int, kind: Kind) -> tuple[str, ...]:
    if examples < 1 or (kind == "words" and not contents):
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
    @given(_strategy(contents, kind))
    def draw(text: str) -> None:
        found.append(text)

    draw()
    return tuple(found)


def _strategy(contents: tuple[str, ...], kind: Kind) -> drawing.Texts:
    if kind == "words":
        return drawing.made_of(contents)
    if kind == "surrogates":
        return drawing.surrogate_texts(added=contents, max_size=400)
    return drawing.texts(added=contents, max_size=400)
