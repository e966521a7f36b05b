"""Hypothesis strategies for texts that break tokenizers, regexes and normalizers.

`texts()` mixes all strategies below, and adds contents of added tokens and tokens of a vocabulary.
`surrogate_texts()` adds lone surrogates. All of them join lists of fragments with few draws each,
so that a failing text shrinks to the fragments that matter."""

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

from hypothesis import strategies as st

from tokpar_conformance.fixed_texts import stored_texts

Texts = st.SearchStrategy[str]


_DRAWN = stored_texts()["drawn"]
WHITESPACE: str = _DRAWN["whitespace"]
"""The 25 code points of the regex class \\s."""

ALMOST_WHITESPACE: str = _DRAWN["almost_whitespace"]
"""Characters that str.isspace or a reader takes for whitespace, and the regex \\s does not."""

LENGTHS = sorted({1, 400, *(2**k + d for k in range(1, 9) for d in (-1, 0, 1))})
RUN_CHARACTERS = "a1 \n \n=A-.\t0é中😀ا\0\u0301あ가_#\r３"
LETTERS = "abABzxsté中あ가яΣاक"
SUFFIXES: list[str] = _DRAWN["suffixes"]
SUFFIXES_ODD: list[str] = _DRAWN["suffixes_odd"]
DIGITS: dict[str, str] = _DRAWN["digits"]
HANGUL: list[str] = _DRAWN["hangul"]
JAPANESE: list[str] = _DRAWN["japanese"]
CHINESE: list[str] = _DRAWN["chinese"]
EMOJI: list[str] = _DRAWN["emoji"]
COMBINING: list[str] = _DRAWN["combining"]
SCRIPTS: list[str] = _DRAWN["scripts"]
ODD: list[str] = _DRAWN["odd"]
PUNCTUATION: str = _DRAWN["punctuation"]
LITERALS: list[str] = _DRAWN["literals"]
WORDS: list[str] = _DRAWN["words"]
NEW = (
    "\U000125c4",  # a digit for `regex`, nothing for Oniguruma
    "\U00016139",  # a digit for Oniguruma, nothing for older tables
    "\u2e43",
    "\u061d",
    "\u017f",  # ſ, which (?i:s) matches
    "\u212a",  # the Kelvin sign, which lowercases to k
    "\U0001e900",
    "\ua7dc",
    "\u203f",
)


def pick(*strategies: Texts) -> Texts:
    """Draw from one of the strategies. A strategy that is listed twice is twice as likely;
    `one_of` would count it once."""
    return st.sampled_from(range(len(strategies))).flatmap(lambda which: strategies[which])


def concatenations(strings: Sequence[str], *, max_size: int = 8) -> Texts:
    """Up to `max_size` of the given strings, joined."""
    string = dict(enumerate(strings, start=ord("0")))  # "0" is the first: hypothesis shrinks to it
    key = st.characters(min_codepoint=ord("0"), max_codepoint=max(string))
    return st.text(key, min_size=1, max_size=max_size).map(lambda keys: keys.translate(string))


@cache
def runs(characters: str = RUN_CHARACTERS) -> Texts:
    """One character, repeated 1 to 400 times, often near a power of two."""
    lengths = st.sampled_from([*LENGTHS * (400 // len(LENGTHS)), *range(1, 401)])
    return st.tuples(st.sampled_from(characters), lengths).map(lambda run: run[0] * run[1])


@cache
def words_of(size: int) -> Texts:
    return st.text(LETTERS + " 1.", min_size=size, max_size=size)


@cache
def periodic() -> Texts:
    """A word of 1 to 64 characters that is repeated; the last copy may be cut short."""
    word = st.integers(1, 64).flatmap(words_of)
    return st.tuples(word, st.integers(1, 300)).map(lambda w: (w[0] * w[1])[: w[1]])


def fibonacci_word(first: str, second: str, length: int) -> str:
    """The start of the Fibonacci word: ("a", "b", 8) -> "abaababa"."""
    shorter, longer = first, first + second
    while len(longer) < length:
        shorter, longer = longer, longer + shorter
    return longer[:length]


def thue_morse_word(first: str, second: str, length: int) -> str:
    """The start of the Thue-Morse word, which has no cube: ("a", "b", 8) -> "abbabaab"."""
    return "".join((first, second)[n.bit_count() % 2] for n in range(length))


@cache
def aperiodic() -> Texts:
    """Fibonacci and Thue-Morse words over two drawn letters."""
    letter = st.sampled_from(LETTERS + "1 ")
    word = st.sampled_from((fibonacci_word, thue_morse_word))
    return st.builds(lambda kind, *drawn: kind(*drawn), word, letter, letter, st.integers(1, 300))


@cache
def near_overlaps() -> Texts:
    """The same text two or more times; in each copy but the first, one character is changed, added
    or missing. Chunks then agree except at one place."""
    part = st.text(LETTERS + " 1.", min_size=3, max_size=24)
    every = list(product(range(25), ("", "a", "1", " ", "."), (False, True)))  # all but one a byte
    changes = st.binary(min_size=1, max_size=4).map(lambda drawn: [every[b % 250] for b in drawn])
    return st.builds(nearly_repeated, part, changes)


def nearly_repeated(part: str, changes: Sequence[tuple[int, str, bool]]) -> str:
    """Join the text and its changed copies; a change is (place, character, kept).

    ("abc", [(1, "x", False)]) -> "abcaxc"."""
    copies = [part[:at] + char + part[at + (not kept) :] for at, char, kept in changes]
    return part + "".join(copies)


@cache
def runs_at_offsets() -> Texts:
    """A run that begins 0 to 70 characters into the fragment, so at every offset from a seam."""
    return st.builds(
        lambda offset, char, length, behind: ("ab c" * 18)[:offset] + char * length + behind,
        st.sampled_from(range(71)),
        st.sampled_from(RUN_CHARACTERS),
        st.sampled_from([*LENGTHS[:20] * 4, *range(1, 81)]),
        st.sampled_from(("", "x", " x", "1", "\n")),
    )


@cache
def digits() -> Texts:
    """A run of 1 to 40 digits, of one kind or of all kinds; or a run of one kind and then
    another."""
    kinds = [*DIGITS.values(), "".join(DIGITS.values())]
    short = [st.text(kind, min_size=1, max_size=20) for kind in kinds]
    long = [st.text(kind, min_size=21, max_size=40) for kind in kinds]
    return pick(*short, *long, *[st.tuples(pick(*short), pick(*short)).map("".join)] * len(kinds))


@cache
def whitespace() -> Texts:
    """Spaces and newlines of every kind, and characters that only look like them."""
    usual = st.text(" \n\r\t", min_size=1, max_size=12)
    return pick(usual, concatenations(WHITESPACE + ALMOST_WHITESPACE, max_size=12))


@cache
def contractions() -> Texts:
    """A word, an apostrophe ending, and a second word; the ending may be at every offset."""
    word = st.text("aIdonTé中1 ", max_size=9)
    return st.tuples(word, st.sampled_from(SUFFIXES + SUFFIXES_ODD), word).map("".join)


@cache
def scripts() -> Texts:
    """Writing systems, emoji, combining marks and code points of recent Unicode versions."""
    return pick(
        *map(concatenations, (CHINESE, JAPANESE, HANGUL, EMOJI, COMBINING, SCRIPTS, ODD, NEW))
    )


@cache
def fragments() -> tuple[Texts, ...]:
    """The strategies for one fragment of a text."""
    usual = (concatenations(WORDS, max_size=3), st.text(LETTERS + " ", min_size=1, max_size=8))
    punctuation = st.text(PUNCTUATION + " \n", min_size=1, max_size=12)
    shapes = (whitespace(), digits(), punctuation, *[contractions()] * 2, runs())
    any_unicode = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=6)
    written = (*[scripts()] * 2, *[st.sampled_from(LITERALS)] * 2, any_unicode)
    repetitive = (periodic(), aperiodic(), near_overlaps(), runs_at_offsets())
    return (*usual, *shapes, *written, *repetitive)


def overlap_contents(first: str, second: str) -> str:
    """Both contents, overlapping in their longest common part: ("<a>", ">b") -> "<a>b"."""
    for size in range(min(len(first), len(second)), 0, -1):
        if size < max(len(first), len(second)) and first.endswith(second[:size]):
            return first + second[size:]
    return first + second


def added_fragments(contents: Sequence[str]) -> Texts:
    """Contents of added tokens: whole, cut at either end, nested, overlapping, with other text
    around."""
    content = st.sampled_from(tuple(contents))
    at = st.integers(1, max(map(len, contents)))
    around = st.sampled_from(("", " ", "  ", "\n", "\t ", "a", "1", "_", "\u0301", "中", "\u3000"))
    return pick(
        content,
        st.tuples(around, content, around).map("".join),
        st.builds(lambda text, n: text[:n], content, at),
        st.builds(lambda text, n: text[-n:], content, at),
        st.builds(overlap_contents, content, content),
        st.builds(lambda outer, n, inner: outer[:n] + inner + outer[n:], content, at, content),
        st.builds(lambda text, n: text * n, content, st.integers(2, 5)),
    )


def made_of(tokens: Sequence[str]) -> Texts:
    """Tokens of a vocabulary next to each other; or texts that are built backwards.

    Each backward step puts text in front, so that a token reaches over the former start."""
    token, fronts = st.sampled_from(tuple(tokens)), fronts_of(tokens)
    steps = st.text(st.characters(max_codepoint=999), min_size=1, max_size=12)
    return pick(
        concatenations(tokens, max_size=12),
        st.builds(lambda last, drawn: backwards(fronts, last, [*map(ord, drawn)]), token, steps),
    )


def fronts_of(tokens: Sequence[str]) -> dict[str, list[str]]:
    """Each proper suffix of a token, with the prefixes that complete it to a token.

    ("the",) -> {"e": ["th"], "he": ["t"]}."""
    fronts: dict[str, list[str]] = {}
    for token in tokens:
        for at in range(1, len(token)):
            fronts.setdefault(token[at:], []).append(token[:at])
    return fronts


def backwards(fronts: Mapping[str, Sequence[str]], last: str, steps: Sequence[int]) -> str:
    """Build a text backwards from the token `last`.

    Each number in `steps` chooses a prefix that makes a token together with the start of the text.
    The text ends when no token fits."""
    text, longest = last, max(map(len, fronts), default=0)
    for step in steps:
        ends = range(1, 1 + min(longest, len(text)))
        found = [front for end in ends for front in fronts.get(text[:end], ())]
        if not found:
            break
        text = found[step % len(found)] + text
    return text


@cache
def lone_surrogates() -> Texts:
    """Surrogates: alone, doubled, in the wrong order, and as a pair of two code points."""
    return concatenations(
        ("\ud800", "\udfff", "\udc00\ud83d", "\ud83d\ude00", "\udbff", "x\udead"), max_size=3
    )


def texts(
    *,
    added: Sequence[str] = (),
    tokens: Sequence[str] = (),
    surrogates: bool = False,
    max_size: int = 2000,
) -> Texts:
    """Texts that break tokenizers, mostly of 0 to 400 code points, sometimes of up to `max_size`.

    `added`: contents of added tokens, to draw whole and in parts. `tokens`: texts of some tokens
    of the vocabulary. `surrogates`: draw lone surrogates, too."""
    kinds = [added_fragments(added)] * 3 if added else []
    kinds += [made_of(tokens)] if tokens else []
    kinds += [lone_surrogates()] if surrogates else []
    fragment = pick(*fragments() * 4, *kinds * len(fragments()))
    # three lists are longer on average than one, and each still shrinks to nothing
    some = st.lists(fragment, max_size=8).map("".join)
    times = st.sampled_from((1, 1, 1, 1, 1, 1, 2, 5, 60))
    several = st.builds(
        lambda *drawn: _repeat("".join(drawn[:3]), drawn[3])[:max_size], some, some, some, times
    )
    return st.one_of(some.map(lambda text: text[: min(400, max_size)]), several)


def _repeat(text: str, times: int) -> str:
    return text[:400] if times == 1 else text * times


def surrogate_texts(*, added: Sequence[str] = (), max_size: int = 400) -> Texts:
    """Texts that break tokenizers, with at least one lone surrogate."""
    side = texts(added=added, surrogates=True, max_size=max_size // 2)
    return st.tuples(side, lone_surrogates(), side).map("".join)
