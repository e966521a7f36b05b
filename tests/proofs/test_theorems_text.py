"""The theorems about what surrounds the pieces, tried on drawn tokenizers (proofs/): added tokens
(6.1), normalizers (6.2), prefixes (6.3, 6.4), and pre-tokenizers that look at two characters (4.8).

The conditions are written out here once more, as the pages state them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers

from tests.support.added_around import a_safe, bytes_only, occurrences, with_tokens
from tests.support.seams import serial
from tests.support.tokenizers_drawn import (
    Added,
    Extras,
    added_tokens,
    build,
    is_panic,
    llama_specs,
    metaspace_specs,
    plain_copy,
    wordpiece_specs,
)

# --------------------------------------------------------------------- theorem 6.1: added tokens


added = st.lists(
    st.builds(Added, st.text("ab< ", min_size=1, max_size=3), *[st.booleans()] * 5),
    min_size=1,
    max_size=4,
    unique_by=lambda token: token.content,
).map(tuple)


def own(tokenizer: Tokenizer, text: str) -> list[int]:
    """The engine's own ids; an example on which it panics is set aside."""
    try:
        return serial(tokenizer, text)
    except BaseException as error:
        assume(not is_panic(error))
        raise


@given(added, st.text("aab<  _\n", min_size=2, max_size=14))
def test_theorem_6_1_matches_are_the_same_on_both_sides_of_a_safe_place(
    tokens: tuple[Added, ...], text: str
) -> None:
    tokenizer = with_tokens(bytes_only(), tokens)
    whole = own(tokenizer, text)
    for p in range(1, len(text)):
        if a_safe(tokens, text, p):
            assert own(tokenizer, text[:p]) + own(tokenizer, text[p:]) == whole, p


# ---------------------------------------------------------------------- theorem 6.2: normalizers

Safe = Callable[[str, str], bool]


def combining(char: str, form: str) -> int:
    return unicodedata.combining(unicodedata.normalize(form, char)[0])


@cache
def seconds() -> frozenset[str]:
    """Second characters of canonical pairs; Hangul vowels and final consonants are, too."""
    pairs = (unicodedata.decomposition(chr(code)).split() for code in range(0x110000))
    found = {chr(int(pair[1], 16)) for pair in pairs if len(pair) == 2 and "<" not in pair[0]}
    return frozenset(found | set(map(chr, (*range(0x1161, 0x1176), *range(0x11A8, 0x11C3)))))


def safe_for_form(form: str) -> Safe:
    decomposed = "NFKD" if "K" in form else "NFD"

    def safe(left: str, right: str) -> bool:
        first = unicodedata.normalize(decomposed, right[0])[0]
        return unicodedata.combining(first) == 0 and first not in seconds()

    return safe


def safe_for_accents(left: str, right: str) -> bool:
    last = unicodedata.normalize("NFD", left[-1])[-1]
    return combining(right[0], "NFD") == 0 or unicodedata.combining(last) == 0


@dataclass(frozen=True)
class Stage:
    """A normalizer of the engine, and where the page says that it may be cut."""

    name: str
    normalizer: Any
    safe: Safe

    def __call__(self, text: str) -> str:
        return self.normalizer.normalize_str(text)


def replacing(pattern: str, content: str) -> Stage:
    def safe(left: str, right: str) -> bool:
        at = len(left)
        return not any(s < at < e for s, e in occurrences(pattern, left + right))

    return Stage(f"{pattern!r} by {content!r}", normalizers.Replace(pattern, content), safe)


def no_space_beside(left: str, right: str) -> bool:
    return not (left[-1].isspace() or right[0].isspace())


FORMS = ("NFC", "NFD", "NFKC", "NFKD")
STAGES = (
    *(Stage(form, getattr(normalizers, form)(), safe_for_form(form)) for form in FORMS),
    Stage("lower case", normalizers.Lowercase(), lambda left, right: True),
    Stage("accents", normalizers.StripAccents(), safe_for_accents),
    Stage("BERT", normalizers.BertNormalizer(), safe_for_accents),
    Stage("BERT cased", normalizers.BertNormalizer(lowercase=False), safe_for_accents),
    replacing("ab", "c"),
    replacing("aa", "b"),
    replacing("a", "\u0338"),
    replacing(" ", "▁"),
    Stage("strip", normalizers.Strip(), no_space_beside),
)
CHARACTERS = (
    *("a", "b", "A", "e", "<", " ", "\t", "é", "İ", "Σ", "ß", "ﬁ", "½", "中", "가", "\u0301"),
    *("aa", "ab", "AB", "a b", "e\u0301", "a\u0323\u0301", "a\u0308\u0301", "<\u0338", "\u0345"),
    *("가\u11a8", "\u1100\u1161", "\u09c7\u09be", "a\u302f\U0001d165", "\u302f\U0001d165"),
)
"""Alone, and beside what they are joined or change places with."""


@given(
    st.lists(st.sampled_from(STAGES), min_size=1, max_size=4),
    st.lists(st.sampled_from(CHARACTERS), min_size=2, max_size=10).map("".join),
)
def test_theorem_6_2_a_safe_place_parts_the_normal_form(stages: list[Stage], text: str) -> None:
    """Each stage is judged at the image of the place in what the stages before it put out."""
    for p in range(1, len(text)):
        left, right = text[:p], text[p:]
        for stage in stages:
            if left and right and not stage.safe(left, right):
                break
            assert stage(left + right) == stage(left) + stage(right), (stage.name, p)
            left, right = stage(left), stage(right)


# ------------------------------------------------------------------------- theorem 6.3: prefixes

spaced = st.text("ab(. \n▁1", min_size=2, max_size=12)


def pieces_of(pre_tokenizer: Any, text: str) -> list[str]:
    return [piece for piece, _ in pre_tokenizer.pre_tokenize_str(text)]


def parts(pre_tokenizer: Any, text: str, p: int) -> list[str]:
    return pieces_of(pre_tokenizer, text[:p]) + pieces_of(pre_tokenizer, text[p:])


@given(spaced)
def test_theorem_6_3_a_prefix_space_changes_nothing_before_a_space(text: str) -> None:
    without, prefixed = (pre_tokenizers.ByteLevel(add_prefix_space=flag) for flag in (False, True))
    for p in range(1, len(text)):
        if text[p] == " " and parts(without, text, p) == pieces_of(without, text):
            assert parts(prefixed, text, p) == pieces_of(prefixed, text)


@given(spaced, st.sampled_from(("always", "first")), st.booleans())
def test_theorem_6_3_a_prefix_mark_changes_nothing_before_a_space_or_mark(
    text: str, scheme: str, split: bool
) -> None:
    without, prefixed = (
        pre_tokenizers.Metaspace(prepend_scheme=each, split=split) for each in ("never", scheme)
    )
    for p in range(1, len(text)):
        if text[p] in " ▁" and parts(without, text, p) == pieces_of(without, text):
            assert parts(prefixed, text, p) == pieces_of(prefixed, text)


# ------------------------------------------------------------------ theorem 6.4: the absorb rule


@given(
    llama_specs(finishing=False),
    st.text("ab the.▁é中1", min_size=3, max_size=30),
    added_tokens(strip=True),
)
def test_theorem_6_4_the_right_parts_prefix_stands_for_the_space(
    spec: Any, text: str, drawn: tuple[Added, ...]
) -> None:
    tokens = tuple(token for token in drawn if token.content.isascii())
    spec = replace(spec, byte_tokens=256, extras=Extras(added=tokens))
    tokenizer = plain_copy(build(spec))
    assume(not any("▁" in token.lstrip("▁") for token in tokenizer.get_vocab(False)))
    assume(not any(token.normalized for token in tokens))
    whole = own(tokenizer, text)
    for p in range(1, len(text) - 1):
        apart = not any(
            s < p + 2 and e > p - 1 for token in tokens for s, e in occurrences(token.content, text)
        )
        safe = apart and a_safe(tokens, text, p) and a_safe(tokens, text, p + 1)
        if safe and text[p] == " " and text[p - 1] not in " ▁":
            assert own(tokenizer, text[:p]) + own(tokenizer, text[p + 1 :]) == whole, p


# -------------------------------------------------------------- theorem 4.8: two characters

SEPARATORS = " \t\n.,_!«中"
OTHERS = "abAé\u03011\u200b\x0b\0\ufffd\u00ad"


@given(wordpiece_specs(finishing=False), st.text(SEPARATORS + OTHERS, min_size=2, max_size=20))
def test_theorem_4_8_bert_parts_at_every_separator(spec: Any, text: str) -> None:
    tokenizer = build(replace(spec, clean_text=True, chinese=True, extras=Extras()))
    whole = serial(tokenizer, text)
    for p in range(1, len(text)):
        if text[p - 1] in SEPARATORS or text[p] in SEPARATORS:
            assert serial(tokenizer, text[:p]) + serial(tokenizer, text[p:]) == whole, p


@given(metaspace_specs(finishing=False), st.text("ab the ▁1é\n", min_size=2, max_size=24))
def test_theorem_4_8_metaspace_parts_before_every_space_or_mark(spec: Any, text: str) -> None:
    """Unigram and BPE alike: the model sees one piece at a time."""
    tokenizer = build(replace(spec, split=True, extras=Extras()))
    whole = serial(tokenizer, text)
    for p in range(1, len(text)):
        if text[p] in " ▁":
            assert serial(tokenizer, text[:p]) + serial(tokenizer, text[p:]) == whole, p
