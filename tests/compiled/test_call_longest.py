"""The longest tokens of a word against the engine: drawn merges, and each condition left out."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

import tokpar
from tests.conftest import at_most, needs_below_one, needs_kernel
from tokpar.compiled import call_tables, compiled_build
from tokpar.formats.vocabulary import letters_of

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
Change = Callable[[Any], Any]
ATOMS = [*"abc", *"abc", "中", "丮", "文", "é", "😀"]
"""丮 and 中 share two bytes."""
MADE = call_tables.byte_arrays
LEVEL, BY_RIGHT, BY_LEFT, RANK = 5, 6, 7, 4


def tokenizer_of(merges: Sequence[tuple[str, str]], other: str = "zzz") -> Any:
    """A byte-level BPE whose words end at spaces. `merges`: in the byte alphabet. `other`: a token
    that no merge makes: tokenizers that are equal share a call."""
    vocab = {letters_of(bytes([byte])): byte for byte in range(256)}
    for left, right in sorted(merges):  # the same ids in whatever order they merge
        vocab.setdefault(left + right, len(vocab))
    vocab.setdefault(other, len(vocab))
    tokenizer = Tokenizer(models.BPE(vocab, [*merges]))
    words = pre_tokenizers.Split(Regex("[^ ]+| "), "isolated")
    stages = [words, pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
    return tokenizer


def call_of(tokenizer: Any, change: Change | None = None) -> Any:
    """The compiled call that encodes every new word by its longest tokens, with changed tables."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TOKPAR_CACHE", "")
        patched.setattr(call_tables, "LONGEST_FROM", 1)
        patched.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
        if change is not None:
            patched.setattr(call_tables, "byte_arrays", lambda *given: change(MADE(*given)))
        adapter: Any = tokpar.load(tokenizer)
    return adapter.later_call.call


def draw_merges(draw: random.Random) -> list[tuple[str, str]]:
    """Merges of bytes, of characters, of parts of characters, in any order."""
    parts = [letters_of(bytes([byte])) for atom in ATOMS for byte in atom.encode()]
    merges: list[tuple[str, str]] = []
    for char in draw.sample("中丮文é😀", draw.randrange(6)):
        letters = letters_of(char.encode())
        merges += [(letters[:k], letters[k]) for k in range(1, len(letters))]
        parts += [letters] * 3
    for _ in range(draw.randrange(30)):
        pair = draw.choice(parts), draw.choice(parts)
        if len("".join(pair)) < 12:
            merges.append(pair)
            parts.append("".join(pair))
    merges = [*dict.fromkeys(merges)]
    if draw.random() < 0.7:
        draw.shuffle(merges)
    return merges


@at_most(300)
@given(seed=st.integers(0, 1 << 60))
def test_drawn_merges_have_the_engine_s_ids(seed: int) -> None:
    draw = random.Random(seed)
    tokenizer = tokenizer_of(draw_merges(draw))
    call = call_of(tokenizer)
    assert call is not None
    few = draw.choices(ATOMS, k=draw.randrange(1, 4))
    words = ["".join(draw.choices(few, k=draw.choice([2, 4, 8, 40]))) for _ in range(60)]
    words.append("".join(draw.choices(ATOMS, k=2000)))
    for word in words:
        assert call.encode(word).tolist() == tokenizer.encode(word).ids, word


def of_tokens(column: int, value: Callable[[Any], Any]) -> Change:
    """Changes a number of each token that is no byte."""

    def change(arrays: Any) -> Any:
        tokens = arrays["tokens"].view(np.int32).reshape(-1, 8).copy()
        is_made = (tokens[:, 0] > 0) & (tokens[:, LEVEL] >= 0)
        tokens[is_made, column] = value(tokens[is_made])
        return arrays | {"tokens": tokens.reshape(-1).view(np.uint8)}

    return change


def all_levels_are_priorities(arrays: Any) -> Any:
    for column in (LEVEL, BY_RIGHT, BY_LEFT):
        arrays = of_tokens(column, lambda tokens: tokens[:, RANK])(arrays)
    return arrays


def a_tree_of_other_merges(arrays: Any) -> Any:
    """As if "bab", which the merges leave as "b", "ab", were canonical."""
    other: list[Any] = []
    tokenizer = tokenizer_of(pairs_of("b-a ba-b a-b"), other="z" * 9)
    call_of(tokenizer, lambda arrays: other.append(arrays) or arrays)
    return arrays | {name: other[0][name] for name in call_tables.TREE}


def without_joins(start: int, stop: int) -> Change:
    """Empties words of the table of rules that join."""

    def change(arrays: Any) -> Any:
        joins = arrays["rule_joins"].view(np.uint64).copy()
        assert joins[start:stop].any()
        joins[start:stop] = 0
        return arrays | {"rule_joins": joins.view(np.uint8)}

    return change


def pairs_of(merges: str) -> list[tuple[str, str]]:
    return [(left, right) for left, right in (pair.split("-") for pair in merges.split())]


def merges_of(*rules: tuple[str | bytes, str | bytes]) -> str:
    """Rules in the byte alphabet."""
    rows = [[x if isinstance(x, bytes) else x.encode() for x in rule] for rule in rules]
    return " ".join(f"{letters_of(left)}-{letters_of(right)}" for left, right in rows)


MIDDLE = [(b"\xe4", b"\xb8"), (b"\xe4\xb8", b"\xad")]  # make "中"
SCRIPT = [(b"\xe6", b"\x96"), (b"\xe6\x96", b"\x87")]  # make "文"
AFTER_BYTE, BEFORE_BYTE, OF_BYTES = 1 << 14, (1 << 14) + 1028, (1 << 14) + 2056


CONDITIONS = {
    "canonical": ("a-b b-a ba-b", "baba", a_tree_of_other_merges),
    "levels": ("bb-a a-b b-b", "bbab", all_levels_are_priorities),
    "steps on the left": ("b-a c-b", "cba", of_tokens(BY_RIGHT, lambda t: t[:, BY_RIGHT] - 1)),
    "steps on the right": ("b-b c-b", "cbbb", of_tokens(BY_LEFT, lambda t: t[:, BY_LEFT] - 1)),
    "rules that join bytes": ("b-c a-b", "abcc", without_joins(OF_BYTES, OF_BYTES + 1024)),
    "rules that join characters": (
        merges_of(*MIDDLE, *SCRIPT, ("中", "文"), ("a", "中")),
        "a中文文",
        without_joins(0, AFTER_BYTE),
    ),
    "rules behind a byte": (
        merges_of(*SCRIPT, (b"\xad", "文"), *MIDDLE),
        "中文",
        without_joins(AFTER_BYTE, BEFORE_BYTE),
    ),
    "rules behind the least byte": (
        merges_of(*SCRIPT, (b"\x80", "文"), (b"\xe4", b"\xb8"), (b"\xe4\xb8", b"\x80")),
        "一文",
        without_joins(AFTER_BYTE, BEFORE_BYTE),
    ),
    "rules before a byte": (
        merges_of(*MIDDLE, ("中", b"\xe6"), ("x", "中"), *SCRIPT),
        "x中文",
        without_joins(BEFORE_BYTE, OF_BYTES),
    ),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_of_the_longest_tokens_is_needed(name: str) -> None:
    merges, text, change = CONDITIONS[name]
    tokenizer = tokenizer_of(pairs_of(merges))
    expected = tokenizer.encode(text).ids
    assert call_of(tokenizer).encode(text).tolist() == expected
    changed = call_of(tokenizer_of(pairs_of(merges), other="z" * 9), change)
    found = changed._call.encode_plain(text)  # `encode` may compare this very word with the engine
    ids = found if type(found) is bytes else found[0]
    assert np.frombuffer(ids, np.uint32).tolist() != expected


def test_there_is_no_tree_of_tokens_of_more_than_255_bytes() -> None:
    """A rule that is in no tree would be missed between its parts."""
    merges = [("a" * 2**k, "a" * 2**k) for k in range(9)]
    tokenizer = tokenizer_of(merges)
    call = call_of(tokenizer)
    for n in (1, 255, 256, 511, 512, 513, 1300, 5000):
        assert call.encode("a" * n).tolist() == tokenizer.encode("a" * n).ids
