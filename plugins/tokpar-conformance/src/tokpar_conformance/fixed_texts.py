"""The texts of a run that are not drawn: short texts that are known to break tokenizers, and texts
made from the vocabulary and the added tokens."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from typing import Any
from unicodedata import normalize

from tokpar.contract.interfaces import Decodes, TokenizerAdapter, facts_of
from tokpar.errors import TokparError

MOST_WORDS = 80
TOGETHER = 20
SURROUNDED = 12
SEPARATED = 8
SEPARATORS = ("1", " ", "  ", ".", "\n", "_")


def all_words(tokenizer: TokenizerAdapter) -> set[str]:
    """Returns all tokens that are valid text, as far as the tokenizer lists its vocabulary. If it
    does not: the tokens of the fixed texts."""
    tokens = facts_of(tokenizer).tokens
    if tokens is None:
        return _decode_words(tokenizer)
    return set(_whole(token.decode("utf-8", "replace") for token in tokens()))


def _decode_words(tokenizer: TokenizerAdapter) -> set[str]:
    """Returns the valid texts that the single ids of the hostile texts decode to."""
    if not isinstance(tokenizer, Decodes):
        return set()
    try:
        ids = {int(id_) for text in hostile_texts() for id_ in tokenizer.encode(text)}
        return set(_whole(str(tokenizer.decode([id_])) for id_ in ids))
    except (LookupError, TypeError, ValueError, TokparError):  # a check reports the error
        return set()


def _whole(words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if word and "\ufffd" not in word)


def join_in_groups(parts: Sequence[str], size: int, separator: str = "") -> tuple[str, ...]:
    return tuple(separator.join(parts[k : k + size]) for k in range(0, len(parts), size))


def added_contents(tokenizer: TokenizerAdapter) -> Iterator[str]:
    """Yields the contents of the added tokens. If the tokenizer has a normalizer, also yields their
    normalized and other-case forms: "é" -> "e\u0301", "É"."""
    facts = facts_of(tokenizer)
    for content in filter(None, (token.content for token in facts.added_tokens)):
        yield content
        if facts.normalizers:
            yield from (normalize(form, content) for form in ("NFC", "NFD"))
            yield from (content.lower(), content.upper())


def texts_for(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Returns the hostile texts, and texts of the tokenizer's added tokens and vocabulary."""
    added = tuple(dict.fromkeys(added_contents(tokenizer)))
    words = vocabulary_words(tokenizer)
    texts = (*surround_contents(added), *competing(words), *separate_words(words))
    return (*hostile_texts(), *texts)


def vocabulary_words(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Returns the longest tokens that are valid text, and some tokens of each length."""
    return some_words(all_words(tokenizer))


def some_words(everything: Iterable[str]) -> tuple[str, ...]:
    """Returns the longest of the words, and some words of each length."""
    words = sorted(everything, key=lambda word: (-len(word), word))
    some = words[:: max(1, len(words) // (MOST_WORDS // 2))]
    return tuple(dict.fromkeys((*words[: MOST_WORDS // 2], *some)))


@lru_cache(maxsize=32)
def competing(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns texts in which two tokens overlap: ("ab", "bc") -> "abc". Several such texts are
    joined by a null character."""
    shared = [
        left + right[size:]
        for left in words
        for right in words
        for size in range(1, min(len(left), len(right)))
        if left.endswith(right[:size])
    ]
    return join_in_groups(list(dict.fromkeys(shared)), TOGETHER, "\0")


def surround_contents(contents: Sequence[str]) -> tuple[str, ...]:
    """Returns each of the first contents alone, doubled, and between two equal separators, which
    matter for the flags of added tokens."""
    return tuple(
        text
        for content in contents[:SURROUNDED]
        for text in (content, content * 2, *(f"b{one}{content}{one}b" for one in SEPARATORS))
    )


@lru_cache(maxsize=32)
def separate_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns texts of tokens with one separator between them: ("ab", " the") and "1" ->
    "ab1 the"."""
    rows = (join_in_groups(words[:MOST_WORDS], SEPARATED, one) for one in SEPARATORS)
    return tuple(chain.from_iterable(rows))


_RUNS = "a1 \n=é中😀"
_WORDS_AGAIN = ("ab", "abc", " a", "a ", "aab", "中a", "1a", "the ")
_LENGTHS = (3, 8, 33, 129)


@cache
def stored_texts() -> dict[str, dict[str, Any]]:
    """Returns the stored texts by kind. "hostile": complete texts. "drawn": parts from which texts
    are made."""
    stored = (files("tokpar_conformance") / "texts.json").read_text(encoding="ascii")
    found: dict[str, dict[str, Any]] = json.loads(stored)
    return found


@cache
def hostile_texts() -> tuple[str, ...]:
    """Returns the fixed texts, shortest kinds first. All of them have a UTF-8 form."""
    kinds = stored_texts()["hostile"].values()
    return tuple(dict.fromkeys((*chain.from_iterable(kinds), *_repetitions())))


def surrogate_texts() -> tuple[str, ...]:
    """Returns a few texts without a UTF-8 form: with lone surrogates, and with a surrogate pair as
    two code points."""
    alone = ("\ud800", "\udfff", "a\ud800b", "one two \udc00 three", "\ud83d\ude00", "x\udead y")
    return (*alone, "word " * 8 + "\udbff" + " word" * 8)


def _repetitions() -> Iterator[str]:
    for k, character in enumerate(_RUNS):
        yield character * _LENGTHS[k % len(_LENGTHS)]
        yield f"x{character * _LENGTHS[(k + 1) % len(_LENGTHS)]} y"
    for k, word in enumerate(_WORDS_AGAIN):
        yield word * (5 + 4 * k)
    yield "abaababaabaababaababa" * 2
    yield "abbabaabbaababbabaababbaabbabaab"
