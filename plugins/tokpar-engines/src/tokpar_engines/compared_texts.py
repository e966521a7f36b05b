"""The texts on which two tokenizers are compared.

They are: short texts that are known to break tokenizers, texts made from the vocabulary, all of
Unicode, and long texts. They are the same on every run."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from importlib.resources import files
from itertools import chain
from random import Random
from string import ascii_letters
from unicodedata import category

from tokpar_conformance import added_contents, all_words, hostile_texts, texts_for

from tokpar import TokparError
from tokpar.plugin.tokenizer import Decodes, TokenizerAdapter, facts_of

FOLDING = "\u017f\u212a"
"""The only code points outside ASCII that `(?i:s)` and `(?i:k)` match."""
APOSTROPHES = "'\u2019"
CONTRACTIONS = ("s", "t", "re", "ve", "m", "ll", "d")
BEFORE_CONTRACTIONS = ("", "a", "A", "1", " ", ".", "\u4e2d")
CONTRACTIONS_TOGETHER = 256
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


def short_texts(tokenizer: TokenizerAdapter) -> tuple[str, ...]:
    """Returns a few thousand texts of up to a few thousand code points each. `tokenizer`: its
    vocabulary and added tokens occur in the texts."""
    added = tuple(dict.fromkeys(added_contents(tokenizer)))
    words = all_words(tokenizer) | words_by_id(tokenizer)
    texts = (
        *texts_for(tokenizer),
        *beside_everything(added),
        *shuffle_words(added),
        *shuffle_words(words),
        *contraction_texts(words),
        *all_code_points(),
    )
    return tuple(dict.fromkeys(texts))


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
    written = (files("tokpar_engines") / "newer.txt").read_text(encoding="ascii")
    spans = [span.partition("-") for span in written.split()]
    ranges = [range(int(first, 16), int(last or first, 16) + 1) for first, _, last in spans]
    return frozenset(chain.from_iterable(ranges))


def shuffle_words(words: Iterable[str]) -> tuple[str, ...]:
    """Returns texts of all the words with nothing between them, in a random order with a fixed
    seed."""
    ordered = sorted(set(words))
    Random(SEED).shuffle(ordered)
    return join_in_groups(ordered, TOKENS_TOGETHER)


def contraction_texts(words: Collection[str]) -> tuple[str, ...]:
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


def words_by_id(tokenizer: TokenizerAdapter) -> set[str]:
    """Returns the tokens of all ids below the highest id of the hostile texts, at most `MOST_IDS`,
    as far as they are valid text. Returns nothing if the tokenizer lists its vocabulary."""
    if facts_of(tokenizer).tokens is not None or not isinstance(tokenizer, Decodes):
        return set()
    try:
        highest = max(int(tokenizer.encode(text).max(initial=0)) for text in hostile_texts())
        words = {str(tokenizer.decode([id_])) for id_ in range(min(highest, MOST_IDS))}
    except (LookupError, TypeError, ValueError, TokparError):  # the comparison reports the error
        return set()
    return {word for word in words if word and "\ufffd" not in word}


def join_in_groups(parts: Sequence[str], size: int) -> tuple[str, ...]:
    """Returns texts of `size` parts each: ("a", "b", "c"), 2 -> ("ab", "c")."""
    return tuple("".join(parts[k : k + size]) for k in range(0, len(parts), size))
