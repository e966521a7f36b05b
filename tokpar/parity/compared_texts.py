"""The texts on which two tokenizers are compared.

They are: short texts that are known to break tokenizers, texts made from the vocabulary, all of
Unicode, and long texts. They are the same on every run, and need no other package."""

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
"""The only code points outside ASCII that `(?i:s)` and `(?i:k)` match."""
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
"""Characters that a normalizer may compose with the character before, or that may belong to the
word before."""
CONTEXTS = "{0}a{0}1{0} {0}"
"""The context of an assigned code point: before and after a letter, a digit and a space."""
UNASSIGNED_CONTEXTS = " {0}a"
CODE_POINTS = (*range(0xD800), *range(0xF900, 0x40000), *range(0xE0000, 0xE0200))
"""All code points that are assigned, or that a newer Unicode may assign; without private use and
surrogates."""
CODE_POINTS_TOGETHER = 256
TOKENS_TOGETHER = 64
RUNS = "a1 \n=\t\0é中😀\u0301"
RUN = 12_000
LONG = 400_000
DIVIDED = 3_000_000
"""Code points of a text that engines may divide by themselves. gigatoken 0.10.0 does so from 4 MB
on."""
MOST_IDS = 300_000
SEED = 6
UNICODE = "13"  # the Unicode version of the oldest supported Python


def short_texts(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Returns a few thousand texts of up to a few thousand code points each. `tokenizer`: its
    vocabulary and added tokens occur in the texts."""
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
    """Returns long runs of one character, and one text of `LONG` code points made of `some`."""
    return (*(f"x{one * RUN} y" for one in RUNS), mix_texts(some, LONG))


def mix_texts(some: Sequence[str], length: int) -> str:
    """Returns a text of `length` code points, made of the texts `some` in a random order. The seed
    is fixed."""
    texts = list(some) * (1 + length // max(1, sum(map(len, some))))
    Random(SEED).shuffle(texts)
    return "".join(texts)[:length]


@lru_cache(maxsize=1)
def all_code_points() -> tuple[str, ...]:
    """Returns texts with every assigned code point, each in `CONTEXTS`, many in one text."""
    assigned = (chr(point) for point in CODE_POINTS if is_assigned(chr(point)))
    return join_in_groups([CONTEXTS.format(one) for one in assigned], CODE_POINTS_TOGETHER)


@lru_cache(maxsize=1)
def unassigned_points() -> tuple[str, ...]:
    """Returns one text for each code point of `CODE_POINTS` that is not assigned, in
    `UNASSIGNED_CONTEXTS`. Engines may know a newer or an older Unicode."""
    others = (chr(point) for point in CODE_POINTS if not is_assigned(chr(point)))
    return tuple(UNASSIGNED_CONTEXTS.format(one) for one in others)


def is_assigned(character: str) -> bool:
    """True if Unicode 13 assigns it: "😀" -> True, "\U0001fae0" (Unicode 14) -> False."""
    return category(character) != "Cn" and ord(character) not in _newer()


@lru_cache(maxsize=1)
def _newer() -> frozenset[int]:
    """Returns the code points that Unicode 14 to 17 added, without private use: assigned in the
    package `regex` 2026.11.15, but not in Python 3.10. The file has inclusive ranges of hexadecimal
    numbers."""
    written = (files("tokpar.parity") / "newer.txt").read_text(encoding="ascii")
    spans = [span.partition("-") for span in written.split()]
    ranges = [range(int(first, 16), int(last or first, 16) + 1) for first, _, last in spans]
    return frozenset(chain.from_iterable(ranges))


def shuffle_words(words: Iterable[str]) -> tuple[str, ...]:
    """Returns texts of all the words with nothing between them, in a random order with a fixed
    seed."""
    ordered = sorted(set(words))
    Random(SEED).shuffle(ordered)
    return join_in_groups(ordered, TOKENS_TOGETHER)


def contraction_texts(words: frozenset[str]) -> tuple[str, ...]:
    """Returns texts with contractions, also in upper case and with characters that fold to ASCII.

    A contraction follows every prefix of a word that ends with an apostrophe, so that a merge of
    the two happens or not: " I'm" -> " I's", " I'S", " I'\u017f". Other texts have a folding
    character (`FOLDING`) before the rest of a word that has it, before each letter and before each
    separator."""
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
    """Returns, for each content, one text with the content next to separators and combining
    characters: they matter for the flags of added tokens, for normalization, and for word ends."""
    edges = ("", *SEPARATORS, *COMBINING)
    return tuple("".join(f"b{one}{content}{one}b" for one in edges) for content in contents)


def all_words(tokenizer: TokenizerAdapter) -> set[str]:
    """Returns all tokens that are valid text, as far as the tokenizer lists its vocabulary. If it
    does not: the tokens of the fixed texts."""
    tokens = facts_of(tokenizer).tokens
    if tokens is None:
        return _decode_words(tokenizer)
    return set(_whole(token.decode("utf-8", "replace") for token in tokens()))


def words_by_id(tokenizer: TokenizerAdapter) -> set[str]:
    """Returns the tokens of all ids below the highest id of the fixed texts, at most `MOST_IDS`.
    Returns nothing if the tokenizer lists its vocabulary."""
    return set() if facts_of(tokenizer).tokens is not None else _decode_words(tokenizer, up_to=True)


def _decode_words(tokenizer: TokenizerAdapter, up_to: bool = False) -> set[str]:
    """Returns the valid texts that single ids decode to: the ids of the fixed texts, or with
    `up_to` all ids below the highest of them, at most `MOST_IDS`."""
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
    """Yields the contents of the added tokens. If the tokenizer has a normalizer, also yields their
    normalized and other-case forms: "é" -> "e\u0301", "É"."""
    facts = facts_of(tokenizer)
    for content in filter(None, (token.content for token in facts.added_tokens)):
        yield content
        if facts.normalizers:
            yield from (normalize(form, content) for form in ("NFC", "NFD"))
            yield from (content.lower(), content.upper())


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
    stored = (files("tokpar.parity") / "texts.json").read_text(encoding="ascii")
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
