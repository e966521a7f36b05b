"""Which texts a run looks at: fixed ones, drawn ones and the caller's own; always the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Literal
from unicodedata import normalize

from hypothesis import HealthCheck, Phase, given, settings

from tokpar.data.hostile import hostile_texts, surrogate_texts
from tokpar.errors import TokparError
from tokpar.interfaces import Decodes, TokenizerAdapter, facts_of
from tokpar.testing import texts as drawing
from tokpar.testing.checks import Pools

Kind = Literal["texts", "words", "surrogates"]

EXAMPLES = 60
"""Texts drawn for a run; besides half as many of the vocabulary's tokens alone, and as many with
such tokens among other text."""
LONG = 2000
"""Texts above this many code points are only given to checks that are made for them."""
MOST_ADDED = 50
MOST_WORDS = 80
TOGETHER = 20
SURROUNDED = 12
SEPARATED = 8
SEPARATORS = ("1", " ", "  ", ".", "\n", "_")


def pools(
    tokenizer: TokenizerAdapter,
    own: Sequence[str],
    examples: int,
    reference: TokenizerAdapter | None = None,
) -> Pools:
    """The texts of a run. Contents of added tokens stand in the drawn ones, whole and in parts, and
    so do tokens of the vocabulary, where they can be known: merges that compete need both. The
    reference knows them, too: an adapter without facts gets no easier texts."""
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


def added_contents(tokenizer: TokenizerAdapter) -> Iterator[str]:
    """Contents of the added tokens; where something is normalized also what may become one or no
    longer be one by that: "é" -> "é", "e\u0301", "É"."""
    facts = facts_of(tokenizer)
    for content in filter(None, (token.content for token in facts.added_tokens)):
        yield content
        if facts.normalizers:
            yield from (normalize(form, content) for form in ("NFC", "NFD"))
            yield from (content.lower(), content.upper())


def vocabulary_words(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Tokens that are whole text, the longest and some of all lengths; of a tokenizer that does not
    list them those that the fixed texts are made of."""
    tokens = facts_of(tokenizer).tokens
    found = _decoded(tokenizer) if tokens is None else {_text(token) for token in tokens()}
    words = sorted((word for word in found if word and "\ufffd" not in word), key=_by_length)
    some = words[:: max(1, len(words) // (MOST_WORDS // 2))]
    return tuple(dict.fromkeys((*words[: MOST_WORDS // 2], *some)))


@lru_cache(maxsize=32)
def competing(words: tuple[str, ...]) -> tuple[str, ...]:
    """Texts in which two tokens share characters, so that one of them is made at the cost of the
    other: ("ab", "bc") -> "abc". Several of them to a text, "\0" between."""
    shared = [
        left + right[size:]
        for left in words
        for right in words
        for size in range(1, min(len(left), len(right)))
        if left.endswith(right[:size])
    ]
    each = list(dict.fromkeys(shared))
    return tuple("\0".join(each[k : k + TOGETHER]) for k in range(0, len(each), TOGETHER))


def surrounded(contents: Sequence[str]) -> tuple[str, ...]:
    """Each content alone, doubled, and between everything that a flag may ask about."""
    return tuple(
        text
        for content in contents[:SURROUNDED]
        for text in (content, content * 2, *(f"b{one}{content}{one}b" for one in SEPARATORS))
    )


@lru_cache(maxsize=32)
def separated(words: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens one after the other with one character between, which makes places to cut whose
    right side is a token: ("ab", " the") and "1" -> "ab1 the"."""
    return tuple(
        one.join(words[k : k + SEPARATED])
        for one in SEPARATORS
        for k in range(0, min(len(words), MOST_WORDS), SEPARATED)
    )


def _by_length(word: str) -> tuple[int, str]:
    return -len(word), word


def _text(token: bytes) -> str:
    return token.decode("utf-8", "replace")


def _decoded(tokenizer: TokenizerAdapter) -> set[str]:
    if not isinstance(tokenizer, Decodes):
        return set()
    try:
        ids = {int(id_) for text in hostile_texts() for id_ in tokenizer.encode(text)}
        return {str(tokenizer.decode([id_])) for id_ in ids}
    except (LookupError, TypeError, ValueError, TokparError):  # the checks will tell
        return set()


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
