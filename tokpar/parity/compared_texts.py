"""Which texts two tokenizers are compared on: short ones that tokenizers stumble over, those that
the vocabulary suggests, all of Unicode, and long ones. Always the same, without any package."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from random import Random
from string import ascii_letters
from typing import Any
from unicodedata import category, normalize

from tokpar.errors import TokparError
from tokpar.interfaces import Decodes, TokenizerAdapter, facts_of

FOLDING = "\u017f\u212a"
"""The only code points besides letters of ASCII that `(?i:s)` and `(?i:k)` match."""
APOSTROPHES = "'\u2019"
CONTRACTIONS = ("s", "t", "re", "ve", "m", "ll", "d")
BEFORE_CONTRACTIONS = ("", "a", "A", "1", " ", ".", "\u4e2d")
CONTRACTIONS_TOGETHER = 256
MOST_WORDS = 80
TOGETHER = 20
SURROUNDED = 12
SEPARATED = 8
SEPARATORS = ("1", " ", "  ", ".", "\n", "_")
COMBINING = ("\u0301", "\u0338", "\u200d", "\xb2")
"""What normalizers put together with the character before, and what may be part of a word."""
CONTEXTS = "{0}a{0}1{0} {0}"
"""What an assigned code point is put into: on either side of a letter, a digit and a space."""
UNASSIGNED_CONTEXTS = " {0}a"
CODE_POINTS = (*range(0xD800), *range(0xF900, 0x40000), *range(0xE0000, 0xE0200))
"""All that are assigned, or may be in a newer Unicode, without those for private use."""
CODE_POINTS_TOGETHER = 256
TOKENS_TOGETHER = 64
RUNS = "a1 \n=\t\0é中😀\u0301"
RUN = 12_000
LONG = 400_000
DIVIDED = 3_000_000
"""Engines divide a text by themselves from some size on: gigatoken 0.10.0 from 4 MB."""
MOST_IDS = 300_000
SEED = 6
UNICODE = "13"  # that of the oldest Python that is supported


def short_texts(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Some thousand texts of up to some thousand code points; `tokenizer` tells its vocabulary."""
    added = tuple(dict.fromkeys(added_contents(tokenizer)))
    everything = all_words(tokenizer)
    words = some_words(everything)
    texts = (
        *hostile_texts(),
        *surround_contents(added),
        *beside_everything(added),
        *competing(words),
    )
    everything |= words_by_id(tokenizer)
    vocabulary = (*separate_words(words), *shuffle_words(added), *shuffle_words(everything))
    vocabulary += contraction_texts(frozenset(everything))
    return tuple(dict.fromkeys((*texts, *vocabulary, *all_code_points())))


def long_texts(some: Sequence[str]) -> tuple[str, ...]:
    """Long runs of one character, and one long text that is made of others."""
    return (*(f"x{one * RUN} y" for one in RUNS), mix_texts(some, LONG))


def mix_texts(some: Sequence[str], length: int) -> str:
    """A text of `length` code points made of others, in an order of chance, always the same."""
    texts = list(some) * (1 + length // max(1, sum(map(len, some))))
    Random(SEED).shuffle(texts)
    return "".join(texts)[:length]


@lru_cache(maxsize=1)
def all_code_points() -> tuple[str, ...]:
    """Every assigned code point, in each of the contexts."""
    assigned = (chr(point) for point in CODE_POINTS if is_assigned(chr(point)))
    return join_in_groups([CONTEXTS.format(one) for one in assigned], CODE_POINTS_TOGETHER)


@lru_cache(maxsize=1)
def unassigned_points() -> tuple[str, ...]:
    """The others, each with something around it: engines may know a newer Unicode, or an older."""
    others = (chr(point) for point in CODE_POINTS if not is_assigned(chr(point)))
    return tuple(UNASSIGNED_CONTEXTS.format(one) for one in others)


def is_assigned(character: str) -> bool:
    """True if Unicode 13 assigns it: "😀" -> True, "\U0001fae0" (Unicode 14) -> False."""
    return category(character) != "Cn" and ord(character) not in _newer()


@lru_cache(maxsize=1)
def _newer() -> frozenset[int]:
    """What Unicode 14 to 17 assign besides, without private use: assigned for the package `regex`
    2026.11.15, and not for Python 3.10. Hexadecimal in the file, ranges inclusive."""
    written = (files("tokpar.parity") / "newer.txt").read_text(encoding="ascii")
    spans = [span.partition("-") for span in written.split()]
    ranges = [range(int(first, 16), int(last or first, 16) + 1) for first, _, last in spans]
    return frozenset(chain.from_iterable(ranges))


def shuffle_words(words: Iterable[str]) -> tuple[str, ...]:
    """All the words with nothing between them, in an order of chance that is always the same."""
    ordered = sorted(set(words))
    Random(SEED).shuffle(ordered)
    return join_in_groups(ordered, TOKENS_TOGETHER)


def contraction_texts(words: frozenset[str]) -> tuple[str, ...]:
    """Contractions, also with what folds to their letters, behind all that a token may be when it
    ends with an apostrophe, so that a token is made or not: " I'm" -> " I's", " I'S", " I'\u017f".
    Then the folding characters before what they begin in a word, and before each letter."""
    endings = [*CONTRACTIONS, *map(str.upper, CONTRACTIONS), *FOLDING]
    begun = {word[: k + 1] for word in words for k, one in enumerate(word) if one in APOSTROPHES}
    begun |= {before + one for before in BEFORE_CONTRACTIONS for one in APOSTROPHES}
    begun |= {form for text in begun for form in (text.lower(), text.upper())}
    behind = {word[k:] for word in words for k, one in enumerate(word) if one in FOLDING}
    behind |= {one + other for one in FOLDING for other in (*ascii_letters, *SEPARATORS)}
    lines = [f"{text}{ending}\n" for text in sorted(begun) for ending in endings]
    lines += [f"{text}'{ending}\n" for ending in sorted(behind) for text in ("", "x")]
    return join_in_groups(lines, CONTRACTIONS_TOGETHER)


def beside_everything(contents: Iterable[str]) -> tuple[str, ...]:
    """Each content between all that a flag, normalization or the end of a word is about."""
    edges = ("", *SEPARATORS, *COMBINING)
    return tuple("".join(f"b{one}{content}{one}b" for one in edges) for content in contents)


def all_words(tokenizer: TokenizerAdapter) -> set[str]:
    """Every token that is whole text, as far as the tokenizer tells."""
    tokens = facts_of(tokenizer).tokens
    if tokens is None:
        return _decode_words(tokenizer)
    return set(_whole(token.decode("utf-8", "replace") for token in tokens()))


def words_by_id(tokenizer: TokenizerAdapter) -> set[str]:
    """What all ids up to the largest of the fixed texts are; nothing where tokens are listed."""
    return set() if facts_of(tokenizer).tokens is not None else _decode_words(tokenizer, up_to=True)


def _decode_words(tokenizer: TokenizerAdapter, up_to: bool = False) -> set[str]:
    """Whole text that the ids of the fixed texts decode to, or all ids up to the largest."""
    if not isinstance(tokenizer, Decodes):
        return set()
    try:
        ids = {int(id_) for text in hostile_texts() for id_ in tokenizer.encode(text)}
        wanted = range(min(max(ids, default=0), MOST_IDS)) if up_to else ids
        return set(_whole(str(tokenizer.decode([id_])) for id_ in wanted))
    except (LookupError, TypeError, ValueError, TokparError):  # the checks will tell
        return set()


def _whole(words: Iterable[str]) -> Iterator[str]:
    return (word for word in words if word and "\ufffd" not in word)


def join_in_groups(parts: Sequence[str], size: int, separator: str = "") -> tuple[str, ...]:
    return tuple(separator.join(parts[k : k + size]) for k in range(0, len(parts), size))


def added_contents(tokenizer: TokenizerAdapter) -> Iterator[str]:
    """Contents of the added tokens, and what normalization may change: "é" -> "e\u0301", "É"."""
    facts = facts_of(tokenizer)
    for content in filter(None, (token.content for token in facts.added_tokens)):
        yield content
        if facts.normalizers:
            yield from (normalize(form, content) for form in ("NFC", "NFD"))
            yield from (content.lower(), content.upper())


def vocabulary_words(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """The longest tokens that are whole text, and some of all lengths."""
    return some_words(all_words(tokenizer))


def some_words(everything: Iterable[str]) -> tuple[str, ...]:
    """The longest of the words, and some of all lengths."""
    words = sorted(everything, key=lambda word: (-len(word), word))
    some = words[:: max(1, len(words) // (MOST_WORDS // 2))]
    return tuple(dict.fromkeys((*words[: MOST_WORDS // 2], *some)))


@lru_cache(maxsize=32)
def competing(words: tuple[str, ...]) -> tuple[str, ...]:
    """Texts, joined by " ", in which two tokens share characters: ("ab", "bc") -> "abc"."""
    shared = [
        left + right[size:]
        for left in words
        for right in words
        for size in range(1, min(len(left), len(right)))
        if left.endswith(right[:size])
    ]
    return join_in_groups(list(dict.fromkeys(shared)), TOGETHER, "\0")


def surround_contents(contents: Sequence[str]) -> tuple[str, ...]:
    """Each content alone, doubled, and between everything that a flag may ask about."""
    return tuple(
        text
        for content in contents[:SURROUNDED]
        for text in (content, content * 2, *(f"b{one}{content}{one}b" for one in SEPARATORS))
    )


@lru_cache(maxsize=32)
def separate_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """The tokens with one character between: ("ab", " the") and "1" -> "ab1 the"."""
    rows = (join_in_groups(words[:MOST_WORDS], SEPARATED, one) for one in SEPARATORS)
    return tuple(chain.from_iterable(rows))


_RUNS = "a1 \n=é中😀"
_WORDS_AGAIN = ("ab", "abc", " a", "a ", "aab", "中a", "1a", "the ")
_LENGTHS = (3, 8, 33, 129)


@cache
def stored_texts() -> dict[str, dict[str, Any]]:
    """Texts that are written down, by kind: "hostile" are whole, of "drawn" others are made."""
    stored = (files("tokpar.parity") / "texts.json").read_text(encoding="ascii")
    found: dict[str, dict[str, Any]] = json.loads(stored)
    return found


@cache
def hostile_texts() -> tuple[str, ...]:
    """The texts, shortest kinds first; all can be written as UTF-8."""
    kinds = stored_texts()["hostile"].values()
    return tuple(dict.fromkeys((*chain.from_iterable(kinds), *_repetitions())))


def surrogate_texts() -> tuple[str, ...]:
    """A few that cannot: lone surrogates, in the wrong order, and a pair of two code points."""
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
