"""Texts made from a tokenizer file: from the characters and literals in its patterns, and from its
added tokens. Each stands next to characters of many classes that patterns distinguish."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from random import Random

from tokpar.plugin.tokenizer import AddedToken
from tokpar_engines.compared_texts import CODE_POINTS, FOLDING, SEED, is_assigned, join_in_groups

CHARACTERS = (
    "aAszKé1٣½²Ⅷ中ǅʰªא\u0301\u0903\u0488\u200d.'’-_/▁$<😀 \n\r\t\0\x0c\x1c"
    "\x85\xa0\xad\u180e\u2028\u3000\u200b\ufeff\u0378" + FOLDING
)
"""One or two characters of each class that patterns distinguish: letters of each case, marks,
numbers of three kinds, punctuation, symbols, white space, and characters whose class is known to
differ between engines."""
RUNS = (1, 2, 3, 4)
BESIDE_RUNS = "aA1. \n中"
MOST_CHARACTERS = 84
MOST_LITERALS = 24
MOST_CONTENTS = 16
AMONG_RUNS = 3_000  # how many texts have several runs
POINT_CONTEXTS = "{0}{0}a\1a{0}1\1 {0}\0011{0} \1"
"""No two edges share a character, so each edge shows in the ids, for every order of merges."""
POINTS_TOGETHER = 64
_NO_LITERAL = re.compile(
    r"\\[pP]\{[^}]*\}|\\u\{?[0-9a-fA-F]+\}?|\\x\{?[0-9a-fA-F]+\}?|\\.|\(\?[a-z]*[:<=!>]*"
    r"|\{[0-9,]*\}|\[\^?|\[:\^?[a-z]+:\]|[]()|?*+.^$]"
)
_CODE = re.compile(r"\\[ux]\{?([0-9a-fA-F]{2,6})\}?")


def drawn_texts(stage_texts: Sequence[str], added_tokens: Sequence[AddedToken]) -> tuple[str, ...]:
    """Returns a few thousand texts of a few code points each. `stage_texts`: the patterns and
    contents of the stages. `added_tokens`: a few tokens of each set of flags are used."""
    literals = some_literals(stage_texts)
    contents = some_contents(added_tokens)
    characters = some_characters((*stage_texts, *literals, *contents))
    beside = (*literals, *contents)
    texts = [
        *_runs(characters),
        *_literals_beside_runs(beside, characters),
        *_literal_pairs(beside, characters),
    ]
    return tuple(dict.fromkeys(texts))


def some_characters(file_texts: Iterable[str]) -> tuple[str, ...]:
    """Returns characters: the fixed ones (`CHARACTERS`), the characters of the file, and for each
    assigned non-ASCII one the next code point, because it may be the end of a range."""
    own = [chr(int(code, 16)) for text in file_texts for code in _CODE.findall(text)]
    own += dict.fromkeys("".join(file_texts))
    rare = [one for one in own if not one.isascii() and is_assigned(one)]
    near = [chr(ord(one) + 1) for one in rare]
    found = dict.fromkeys((*CHARACTERS, *rare, *near, *own))
    usable = (one for one in found if not "\ud800" <= one <= "\udfff")
    return tuple(usable)[:MOST_CHARACTERS]


def some_literals(stage_texts: Iterable[str]) -> tuple[str, ...]:
    """Returns the literals of the patterns: characters in a row that stand for themselves. Each as
    written, in upper case, and with characters that fold to it: "'s", "'S"."""
    plain = [one for text in stage_texts for one in _NO_LITERAL.sub("\n", text).split("\n")]
    short = dict.fromkeys(one[:8] for one in plain if len(one) > 1)
    forms = (str, str.upper, lambda one: one.replace("s", FOLDING[0]).replace("k", FOLDING[1]))
    return tuple(dict.fromkeys(form(one) for one in [*short][:MOST_LITERALS] for form in forms))


def some_contents(added_tokens: Sequence[AddedToken]) -> tuple[str, ...]:
    """Returns the contents of some added tokens for each set of flags: white space first, then the
    shortest."""
    by_flags: dict[object, list[str]] = {}
    for token in sorted(
        added_tokens, key=lambda token: (not token.content.isspace(), len(token.content))
    ):
        flags = token.lstrip, token.rstrip, token.single_word, token.normalized
        by_flags.setdefault(flags, []).append(token.content)
    each = max(2, MOST_CONTENTS // max(1, len(by_flags)))
    return tuple(dict.fromkeys(one for some in by_flags.values() for one in some[:each] if one))


@cache
def code_points_in_contexts() -> tuple[str, ...]:
    """Returns texts with assigned code points, each next to itself, a letter, a digit and a space.
    Large blocks of one script have only some of their code points."""
    blocks = (range(0x3400, 0xA000), range(0xAC00, 0xD7A4), range(0x17000, 0x33000))
    dense = {point for block in blocks for point in block[16:-300] if point % 256}
    some = (chr(point) for point in CODE_POINTS if point not in dense)
    lines = [POINT_CONTEXTS.format(one) for one in some if is_assigned(one)]
    return join_in_groups(lines, POINTS_TOGETHER)


def _runs(characters: Sequence[str]) -> Iterator[str]:
    """Yields runs of each character before and after other characters, and several runs in a
    row."""
    for one, other in product(characters, repeat=2):
        yield one + other
    for one, other, times in product(characters, BESIDE_RUNS, RUNS):
        yield from (one * times + other, other + one * times)
        yield other * times + one
    rng = Random(SEED)
    for _ in range(AMONG_RUNS):
        runs = (rng.choice(characters) * rng.choice(RUNS) for _ in range(rng.randint(3, 5)))
        yield "".join(runs)


def _literals_beside_runs(literals: Sequence[str], characters: Sequence[str]) -> Iterator[str]:
    """Yields each literal and content before and after runs of each character."""
    for text, one in product(literals, characters):
        yield from (one + text, text + one, f"{one}{text}{one}", f"{one * 2}{text}{one * 2}a")


def _literal_pairs(literals: Sequence[str], characters: Sequence[str]) -> Iterator[str]:
    """Yields two literals in a row: with nothing between them, with a run of one character between
    them, and with runs between and around them."""
    rng = Random(SEED)
    pairs = list(product(literals, repeat=2))
    for left, right in rng.sample(pairs, min(len(pairs), AMONG_RUNS // 3)):
        between = rng.choice(characters) * rng.choice(RUNS)
        yield from (left + right, left + between + right, between + left + right + between)
