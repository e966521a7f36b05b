"""Pre-tokens and their ids by the kernel, against the engine's own pre-tokenizer and model; the
uncompiled source of the kernel is held to the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.conftest import at_most, drawn
from tests.support.kernel_edges import SEEDS, edges_by_kernel, segments
from tests.support.kernel_twins import TWINS, twin
from tests.support.merges_drawn import (
    LETTERS,
    DrawnBPE,
    letters_of,
    merge_alone,
    plain_bpe,
    vocabularies,
)
from tests.support.patterns_drawn import CATEGORIES, words
from tests.support.pretoken_edges import WHOLE, machine_of, own_edges
from tests.support.texts import texts
from tests.support.tokenizers_drawn import PATTERNS
from tests.support.windows_brute import edges_of
from tests.support.windows_drawn import ENGINES, RELAXED, rows, split
from tokpar.cache.generations import Generation
from tokpar.cache.machine_tables import Machine
from tokpar.cache.merges import Merges
from tokpar.cache.new_segments import Pieces
from tokpar.patterns.splits import SplitStage

pytestmark = [pytest.mark.ids, pytest.mark.tables_at_once]

BYTES = plain_bpe()


def places_of(bits: int) -> list[int]:
    return [p for p in range(bits.bit_length()) if bits >> p & 1]


# ------------------------------------------------------------------------------- pre-tokens


ATOMS = "".join(CATEGORIES)


@TWINS
@pytest.mark.each_value
@pytest.mark.parametrize("engine", ENGINES)
@RELAXED
@given(data=st.data())
def test_pieces_of_drawn_rows_are_those_of_the_engine(
    name: str, engine: str, data: st.DataObject
) -> None:
    """Gaps, lazy and possessive quantifiers, look-aheads, one to three Splits; short texts all,
    and some long ones."""
    alone = engine == "fancy-regex"
    splits = [data.draw(split(engine, True))] if alone else data.draw(rows(engine))
    if data.draw(st.booleans()):
        splits = splits[:1]
    atoms = "".join(data.draw(st.permutations(ATOMS))[:4])
    machine = machine_of(splits, atoms)
    some = list(words(atoms, 3 if name == "plain" or alone else 5))
    if not alone:
        some += data.draw(st.lists(st.text(atoms, min_size=6, max_size=70), max_size=9))
    edges = edges_of(splits, some)
    found = edges_by_kernel(twin(name, "_pretokens"), machine, some)
    expected = [places_of(edges(text)) for text in some]
    assert [(t, e, f) for t, e, f in zip(some, expected, found, strict=True) if e != f] == []


@pytest.fixture(scope="module")
def machines() -> dict[str, Machine]:
    return {
        name: machine_of([SplitStage(pattern, "oniguruma") for pattern in patterns])
        for name, patterns in PATTERNS.items()
        if name not in ("r50k", "cl100k")  # which mean other things to Oniguruma
    }


ENCODABLE = texts(max_size=200).filter(lambda text: text.isascii() or _encodes(text))


def _encodes(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@TWINS
@pytest.mark.each_value
@pytest.mark.parametrize("family", ["gpt2", "llama3", "qwen2", "o200k", "tekken", "deepseek"])
@given(some=st.lists(ENCODABLE, min_size=1, max_size=6))
@example(some=["", "\0", "a\u0378b", "\U0010ffff", "  \u3000\n \u2028x", "٣٣٣٣٣٣٣", "'ſ'S"])
def test_pieces_of_real_rows_are_those_of_the_engine(
    name: str, family: str, machines: dict[str, Machine], some: list[str]
) -> None:
    """A text is left to the engine exactly if one of its characters was never asked of it."""
    machine = machines[family]
    found = edges_by_kernel(twin(name, "_pretokens"), machine, some)
    for text, edges in zip(some, found, strict=True):
        unknown = any(machine.symbol_of[ord(c)] == machine.symbols for c in text)
        assert edges == (None if unknown else own_edges(PATTERNS[family], text)), text


class Counting:
    """A memoryview that counts how often it is read."""

    def __init__(self, items: Any) -> None:
        self.items, self.reads = memoryview(items), 0

    def __getitem__(self, at: int) -> int:
        self.reads += 1
        return int(self.items[at])


@pytest.mark.parametrize("pattern", [r"a+b|[\s\S]", r" +(?=b)|[\s\S]", r"(?:a+b)?c|\S\s?|\s"])
def test_no_pattern_makes_the_kernel_read_far_ahead_again_and_again(pattern: str) -> None:
    """Attempts that read to the end of a long run and fail: the segment is left to the engine."""
    splits = [SplitStage(pattern, "oniguruma")] * 2
    machine = machine_of(splits, "ab c")
    size = 3000
    some = ["a" * size, "ab", " " * size, "a c", "a" * (size - 1) + "b"]
    for name in ("plain", "compiled"):
        found = edges_by_kernel(twin(name, "_pretokens"), machine, some)
        assert None in (found[0], found[2])
        for text, edges in zip(some, found, strict=True):
            assert edges in (None, own_edges([pattern] * 2, text))
            assert edges is not None or len(text) > 3
    counting = Counting(machine.moves)
    told = replace(machine, moves=counting)  # type: ignore[arg-type]
    edges_by_kernel(twin("plain", "_pretokens"), told, some)
    assert counting.reads <= 66 * sum(map(len, some)) + 130 * len(some)


# ------------------------------------------------------------------------------- ids


def expected_alone(drawn_: DrawnBPE, pieces: Sequence[bytes]) -> list[list[int]]:
    """The engine's ids without the lookup of whole pieces."""
    merged = DrawnBPE(drawn_.vocab, drawn_.merges)
    return [merged.tokenize(piece).tolist() for piece in pieces]


PIECES = st.text("ab", min_size=1, max_size=45) | st.text("abcé d", min_size=1, max_size=30)
REPEATED = st.builds(lambda word, n: (word * n)[:n], PIECES, st.integers(1, 3000))


@TWINS
@given(drawn_=vocabularies(), pieces=st.lists(PIECES.map(str.encode), min_size=1, max_size=8))
def test_merging_alone_gives_the_ids_of_the_engine(
    name: str, drawn_: DrawnBPE, pieces: list[bytes]
) -> None:
    """Both ways of merging, of pieces that either is used for, and of others."""
    functions, merges = twin(name, "_pretokens"), drawn_.by_kernel(name)
    expected = expected_alone(drawn_, pieces)
    assert merge_alone(functions, merges, pieces, 0) == expected
    few = [k for k, piece in enumerate(pieces) if len(piece) <= functions.SHORT]
    if few:
        own = merge_alone(functions, merges, [pieces[k] for k in few], functions.SHORT)
        assert own == [expected[k] for k in few]


@settings(max_examples=drawn(60))
@given(drawn_=vocabularies(), pieces=st.lists(REPEATED.map(str.encode), min_size=1, max_size=5))
def test_long_pieces_have_the_ids_of_the_engine(drawn_: DrawnBPE, pieces: list[bytes]) -> None:
    functions, merges = twin("compiled", "_pretokens"), drawn_.by_kernel("compiled")
    own = merge_alone(functions, merges, pieces, functions.SHORT)
    assert own == expected_alone(drawn_, pieces)


@given(drawn_=vocabularies())
def test_both_twins_read_the_same_tables(drawn_: DrawnBPE) -> None:
    own, other = drawn_.by_kernel("plain"), drawn_.by_kernel("compiled")
    for name in ("table", "byte_ids", "whole"):
        assert getattr(own, name).tolist() == getattr(other, name).tolist()
    tokens, same = own.tokens, other.tokens
    assert tokens.bytes_of(range(len(tokens.ids))) == same.bytes_of(range(len(same.ids)))
    written = [letters_of(token) for token in tokens.bytes_of(range(len(tokens.ids)))]
    alphabet = {token: id_ for token, id_ in drawn_.vocab.items() if set(token) <= set(LETTERS)}
    assert dict(zip(written, tokens.ids.tolist(), strict=True)) == {
        token: id_ for token, id_ in alphabet.items() if token
    }
    whole = [[token.id for token in drawn_.engine.tokenize(letters)] for letters in written]
    assert own.whole.tolist() == [
        ids == [drawn_.vocab[t]] for ids, t in zip(whole, written, strict=True)
    ]


def pieces_of(
    drawn_: DrawnBPE, name: str, splits: Sequence[SplitStage] = WHOLE, mask: int = 0
) -> Pieces:
    merges: Merges = drawn_.by_kernel(name)
    functions = twin(name, "_pretokens")
    return Pieces(machine_of(splits), merges, drawn_.tokenize, SEEDS, mask, functions)


@TWINS
@settings(at_most(60))
@given(
    drawn_=vocabularies(),
    some=st.lists(st.text("ab", min_size=1, max_size=50) | PIECES, min_size=1, max_size=12),
)
def test_segments_have_the_ids_of_the_engine(name: str, drawn_: DrawnBPE, some: list[str]) -> None:
    """Each segment is one piece, and asked for twice: met first, and known. With the lookup of
    whole pieces where the file says so; every new piece is compared with the engine, too."""
    pieces = pieces_of(drawn_, name)
    some = [*some, *(token for token in drawn_.vocab if token and token.isascii()), *some]
    older = Generation.empty(1)
    newer = Generation.empty(1)
    for _ in range(2):
        found = pieces.solve(segments(some), (newer, older))
        for k, text in enumerate(some):
            own = found.fresh.ids[found.fresh.firsts[k] : found.fresh.stops[k]].tolist()
            assert own == drawn_.tokenize(text.encode()).tolist(), text
        newer, older = found.table, newer
    assert (found.pieces, found.new) == (len(some), 0)


def test_a_token_is_looked_up_as_a_whole_piece_where_the_file_says_so() -> None:
    """Without it the merges make another row of "bb" and "aab"."""
    merges = [("a", "b"), ("a", "a"), ("aa", "b")]
    for ignore, expected in ((True, [[300], [258]]), (False, [[98, 98], [97, 256]])):
        drawn_ = plain_bpe(merges, {"bb": 300}, ignore_merges=ignore)
        assert [drawn_.tokenize(piece).tolist() for piece in (b"bb", b"aab")] == expected
        for name in ("plain", "compiled"):
            found = pieces_of(drawn_, name).solve(
                segments(["bb", "aab"]), [Generation.empty(1)] * 2
            )
            rows_ = np.split(found.fresh.ids, found.fresh.stops[:-1])
            assert [row.tolist() for row in rows_] == expected


@TWINS
def test_what_a_full_table_does_not_keep_is_right_too(name: str) -> None:
    """More pieces than a table has room for, and pieces that no table keeps."""
    drawn_ = plain_bpe([("a", "b"), ("ab", "c"), ("b", "a")])
    some = [f"a{k:04}abcab" for k in range(400)] + ["ab" * 400, "abc" * 200, "é" * 300]
    pieces = pieces_of(drawn_, name, [SplitStage(r"\S+|\s+", "oniguruma")])
    tables = [Generation.empty(1)] * 2
    own = Generation.empty(256)
    pieces._own = lambda size: own  # type: ignore[method-assign]
    found = pieces.solve(segments(some), tables)
    assert found.new == len(some)
    assert 0 < found.table.used_counts[0] < 400
    assert found.table.used_counts[2] <= len(found.table.ids)
    for a, b, text in zip([0, *found.fresh.stops], found.fresh.stops, some, strict=False):
        assert found.fresh.ids[a:b].tolist() == drawn_.tokenize(text.encode()).tolist()


@TWINS
@given(some=st.lists(st.lists(PIECES, max_size=4), min_size=2, max_size=5))
def test_tables_are_put_together_without_a_loss(name: str, some: list[list[str]]) -> None:
    drawn_ = plain_bpe([("a", "b"), ("ab", "a"), ("Ã", "©")])
    pieces = pieces_of(drawn_, name)
    functions = twin(name, "_pretokens")
    into = Generation.empty(512)
    for part in some:
        table = pieces.solve(segments(part or ["a"]), [Generation.empty(1)] * 2).table
        done = functions.copy_entries(*table.arrays, *into.arrays, into.used_counts, SEEDS, 0)
        assert done == len(table.slots) // 4
    every = [text for part in some for text in part] or ["a"]
    found = pieces.solve(segments(every), (Generation.empty(1), into))
    assert found.new == 0
    edges = [0, *found.fresh.stops.tolist()]
    for (a, b), text in zip(pairwise(edges), every, strict=True):
        assert found.fresh.ids[a:b].tolist() == drawn_.tokenize(text.encode()).tolist()
