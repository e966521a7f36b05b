"""Which texts two tokenizers are compared on: fixed ones, those that the vocabulary suggests, all
of Unicode, and long ones. Always the same, and no package is needed for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from random import Random
from string import ascii_letters
from unicodedata import normalize

from tokpar.agreement.assigned import is_assigned
from tokpar.agreement.hostile import hostile_texts
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


def short_texts(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Some thousand texts of up to some thousand code points; `tokenizer` tells its vocabulary."""
    added = tuple(dict.fromkeys(added_contents(tokenizer)))
    everything = all_words(tokenizer)
    words = some_words(everything)
    texts = (*hostile_texts(), *surrounded(added), *beside_everything(added), *competing(words))
    everything |= words_by_id(tokenizer)
    vocabulary = (*separated(words), *shuffled(added), *shuffled(everything))
    vocabulary += contracted(frozenset(everything))
    return tuple(dict.fromkeys((*texts, *vocabulary, *all_code_points())))


def long_texts(some: Sequence[str]) -> tuple[str, ...]:
    """Long runs of one character, and one long text that is made of others."""
    return (*(f"x{one * RUN} y" for one in RUNS), mixed(some, LONG))


def mixed(some: Sequence[str], length: int) -> str:
    """A text of `length` code points that is made of others, in an order of chance that is always
    the same."""
    texts = list(some) * (1 + length // max(1, sum(map(len, some))))
    Random(SEED).shuffle(texts)
    return "".join(texts)[:length]


@lru_cache(maxsize=1)
def all_code_points() -> tuple[str, ...]:
    """Every assigned code point, in each of the contexts."""
    assigned = (chr(point) for point in CODE_POINTS if is_assigned(chr(point)))
    return _joined([CONTEXTS.format(one) for one in assigned], CODE_POINTS_TOGETHER)


@lru_cache(maxsize=1)
def unassigned() -> tuple[str, ...]:
    """The others, each with something around it: engines may know a newer Unicode, or an older."""
    others = (chr(point) for point in CODE_POINTS if not is_assigned(chr(point)))
    return tuple(UNASSIGNED_CONTEXTS.format(one) for one in others)


def shuffled(words: Iterable[str]) -> tuple[str, ...]:
    """All the words, in an order of chance that is always the same, with nothing between them: the
    end of one and the start of another may be a token, too."""
    ordered = sorted(set(words))
    Random(SEED).shuffle(ordered)
    return _joined(ordered, TOKENS_TOGETHER)


def contracted(words: frozenset[str]) -> tuple[str, ...]:
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
    return _joined(lines, CONTRACTIONS_TOGETHER)


def beside_everything(contents: Iterable[str]) -> tuple[str, ...]:
    """One text for each content: between everything that a flag may ask about, and characters that
    normalization, or the end of a word, is about."""
    edges = ("", *SEPARATORS, *COMBINING)
    return tuple("".join(f"b{one}{content}{one}b" for one in edges) for content in contents)


def all_words(tokenizer: TokenizerAdapter) -> set[str]:
    """Every token that is whole text, as far as the tokenizer tells."""
    tokens = facts_of(tokenizer).tokens
    found = _decoded(tokenizer) if tokens is None else {_text(token) for token in tokens()}
    return {word for word in found if word and "\ufffd" not in word}


def words_by_id(tokenizer: TokenizerAdapter) -> set[str]:
    """What the ids decode to, up to the largest of the fixed texts; nothing where tokens are
    listed, or ids do not decode."""
    if facts_of(tokenizer).tokens is not None or not isinstance(tokenizer, Decodes):
        return set()
    try:
        ids = [int(id_) for text in hostile_texts() for id_ in tokenizer.encode(text)]
        last = min(max(ids, default=0), MOST_IDS)
        found = {str(tokenizer.decode([id_])) for id_ in range(last)}
    except (LookupError, TypeError, ValueError, TokparError):
        return set()
    return {word for word in found if word and "\ufffd" not in word}


def _joined(parts: Sequence[str], together: int) -> tuple[str, ...]:
    return tuple("".join(parts[k : k + together]) for k in range(0, len(parts), together))


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
    return some_words(all_words(tokenizer))


def some_words(everything: Iterable[str]) -> tuple[str, ...]:
    """The longest of the words, and some of all lengths."""
    words = sorted(everything, key=_by_length)
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
