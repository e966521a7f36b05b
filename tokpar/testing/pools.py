"""Which texts a run looks at: fixed ones, drawn ones and the caller's own; always the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from hypothesis import HealthCheck, Phase, given, settings

from tokpar.agreement.compared_texts import (
    added_contents,
    competing,
    separated,
    surrounded,
    vocabulary_words,
)
from tokpar.agreement.hostile import hostile_texts
from tokpar.agreement.hostile import surrogate_texts as fixed_surrogates
from tokpar.interfaces import TokenizerAdapter
from tokpar.testing.checks import Pools
from tokpar.testing.texts import Texts, made_of, surrogate_texts, texts

EXAMPLES = 60
"""Texts drawn for a run unless it asks for a number or the active profile of hypothesis has fewer
examples; besides half as many of the vocabulary's tokens alone, and as many with such tokens among
other text."""
MOST = 400
"""Code points of a drawn text, or of one that is made of the vocabulary: it may have tokens of a
hundred spaces, and the finest chunks are single code points."""
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
    words = next(filter(None, map(vocabulary_words, known)), ())
    drawn = _drawn(_usual, added, examples)
    drawn += (*surrounded(added), *(text[:MOST] for text in competing(words) + separated(words)))
    if words:
        drawn += _drawn(made_of, words, examples // 2) + _drawn(_usual, words, examples // 2)
    return {
        "texts": tuple(dict.fromkeys((*short, *hostile_texts(), *drawn))),
        "surrogates": (*fixed_surrogates(), *_drawn(_lone, added, examples // 10)),
        "long": tuple(text for text in own if len(text) > LONG),
    }


@lru_cache(maxsize=32)
def _drawn(
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


def _usual(added: tuple[str, ...]) -> Texts:
    return texts(added=added, max_size=MOST)


def _lone(added: tuple[str, ...]) -> Texts:
    return surrogate_texts(added=added, max_size=MOST)
