"""Drawn merge tables of a few letters: proper, improper, with equal priorities, and by rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from hypothesis import strategies as st
from tokpar_incremental.bpe import DictionaryTables
from tokpar_incremental.dictionary import BYTE, Dictionary, dictionary, dictionary_of
from tokpar_pure.formats import rank_vocabulary, read_tokenizer_json

from tests.support.draws import between, bytes_of, shuffled
from tests.support.paths import VOCAB
from tests.support.plain_bpe import ByteBPE, merge_by_scanning
from tokpar.formats.formats import read_ranks

ORDERS = st.sampled_from(("given", "shuffled", "equal"))
BYTES = {bytes([byte]): byte for byte in range(256)}
Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Table:
    """A dictionary made of `rules`, and what it has to agree with."""

    rules: Sequence[object]
    dictionary: Dictionary = field(repr=False)
    expected: Callable[[bytes], list[int]] = field(repr=False)


def table(pairs: Pairs, priorities: Sequence[int] | None = None) -> Table:
    """Merges by explicit priority, by default the best first."""
    priorities = range(len(pairs)) if priorities is None else priorities
    spelt = [part for left, right in pairs for part in (left, right, left + right)]
    ids = BYTES | {token.encode(): 256 + i for i, token in enumerate(spelt) if len(token) > 1}
    merges = {
        (ids[left.encode()], ids[right.encode()]): (priority, ids[(left + right).encode()])
        for (left, right), priority in zip(pairs, priorities, strict=True)
    }
    rules = [(left, right, priority) for (left, right), (priority, _) in merges.items()]
    return Table(
        list(zip(pairs, priorities, strict=True)),
        dictionary("drawn", ids, rules),
        lambda data: merge_by_scanning(list(data), lambda *pair: merges.get(pair)),
    )


def ranked(tokens: Sequence[str]) -> Table:
    """Merges by the rank of the merged bytes, best first; whole pre-tokens are no exception."""
    ranks = BYTES | {token.encode(): 256 + i for i, token in enumerate(dict.fromkeys(tokens))}
    spelling = {rank: token for token, rank in ranks.items()}

    def rule(left: int, right: int) -> tuple[int, int] | None:
        rank = ranks.get(spelling[left] + spelling[right])
        return None if rank is None else (rank, rank)

    vocabulary = rank_vocabulary("drawn", ranks, r"[\s\S]+", {})
    made = dictionary_of(replace(vocabulary, whole_piece=False))
    return Table(tokens, made, lambda data: merge_by_scanning(list(data), rule))


def own_rules(some: Dictionary) -> Callable[[bytes], list[int]]:
    """Greedy merging by the rules of a dictionary alone."""
    rules = {
        (some.ids[left], some.ids[right]): (some.priority[token], some.ids[token])
        for token, (left, right) in enumerate(zip(some.left, some.right, strict=True))
        if left != BYTE
    }
    return lambda data: merge_by_scanning(list(data), lambda *pair: rules.get(pair))


@st.composite
def pair_tables(draw: st.DrawFn, letters: str = "abc", max_token: int = 8) -> Table:
    """Each merge joins letters or tokens of the merges before; then the order is changed, or not,
    or some get the same priority."""
    alphabet = letters[: draw(between(1, len(letters)))]
    tokens: list[str] = list(alphabet)
    pairs: list[tuple[str, str]] = []
    for step in draw(bytes_of(draw(between(1, 12)))):
        left, right = divmod(step % len(tokens) ** 2, len(tokens))
        pair = tokens[left], tokens[right]
        if pair not in pairs and len("".join(pair)) <= max_token:
            pairs.append(pair)
            tokens.append("".join(pair))
    order = draw(ORDERS)
    if order == "shuffled":
        pairs = shuffled(draw, pairs)
    if order == "equal":
        return table(pairs, [step % 5 for step in draw(bytes_of(len(pairs)))])
    return table(pairs)


@cache
def real_tables(name: str) -> tuple[DictionaryTables, Callable[[bytes], Sequence[int]]]:
    """The tables of a part of a real vocabulary, and plain merging by it."""
    if name == "deepseek_part":
        vocabulary = read_tokenizer_json(VOCAB / f"{name}.json")
    else:
        vocabulary = rank_vocabulary(name, read_ranks(VOCAB / f"{name}.tiktoken"), ".", {})
    return DictionaryTables(dictionary_of(vocabulary)), ByteBPE(vocabulary).encode


rank_tables = st.lists(st.text("abc", min_size=2, max_size=6), max_size=12).map(ranked)
tables = st.one_of(pair_tables(), rank_tables)
texts = st.text("ab", max_size=40).map(str.encode) | st.text("abcd", max_size=40).map(str.encode)
