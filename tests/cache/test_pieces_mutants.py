"""Planted mistakes of the kernel's tables, each seen by a comparison with the engine: that of the
tests, that at load (`Pieces.difference`), that at run time (`Pieces.solve`)."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.kernel_edges import SEEDS, edges_by_kernel, segments
from tests.support.merges_drawn import plain_bpe
from tests.support.pretoken_edges import WHOLE, machine_of
from tests.support.tokenizers_drawn import DATA, VOCAB
from tokpar import kernel_modules
from tokpar.cache.generations import Generation
from tokpar.cache.machine_tables import HIT, Machine
from tokpar.cache.merges import Merges
from tokpar.cache.new_segments import Pieces
from tokpar.errors import MismatchError

pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.tables_at_once]

TEXT = "Hello wörld's (foo)bar 12345\n\n  天地x玄黄, don't  stop -- 3.14!\t\n" * 3


def deepseek() -> Any:
    return Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))


def made() -> Pieces:
    adapter: Any = tokpar.load(deepseek())
    pieces: Pieces | None = adapter.made_pieces(SEEDS)
    assert pieces is not None
    return pieces


@cache
def kept() -> Pieces:
    """Those that tests only read, made once."""
    return made()


def own_edges(text: str) -> list[int]:
    return [0, *(stop for _, (_, stop) in deepseek().pre_tokenizer.pre_tokenize_str(text))]


def with_tables(machine: Machine | None = None, merges: Merges | None = None) -> Pieces:
    honest = kept()
    machine = honest._machine if machine is None else machine
    merges = honest._merges if merges is None else merges
    return Pieces(machine, merges, honest._tokenize, SEEDS, mask=0)


# ------------------------------------------------------------------------------- pre-tokens


def first_hits(machine: Machine) -> Machine:
    """An attempt stops at its first hit."""
    moves = machine.moves.copy()
    stopping = moves & np.uint32(HIT) != 0
    moves[stopping] |= np.uint32(1 << 30)
    return replace(machine, moves=moves)


def without_last_hit(machine: Machine) -> Machine:
    """No match may end at the end of the segment."""
    moves = machine.moves.reshape(-1, machine.symbols + 1).copy()
    moves[:, machine.symbols] = 0
    return replace(machine, moves=moves.ravel())


def another_symbol(machine: Machine) -> Machine:
    symbol_of = machine.symbol_of.copy()
    symbol_of[ord("(")] = symbol_of[ord("a")]
    return replace(machine, symbol_of=symbol_of)


MACHINES: dict[str, Callable[[Machine], Machine]] = {
    "the first stage forgotten": lambda m: replace(m, begins=m.begins[1:]),
    "a stage in the middle forgotten": lambda m: replace(m, begins=m.begins[[0, 2]]),
    "the last stage forgotten": lambda m: replace(m, begins=m.begins[:-1]),
    "stages in another order": lambda m: replace(m, begins=m.begins[::-1].copy()),
    "a hit taken too early": first_hits,
    "no hit at the end": without_last_hit,
    "a character of another class": another_symbol,
}


@pytest.mark.parametrize("mistake", MACHINES)
def test_a_mistake_in_the_machine_is_seen(mistake: str) -> None:
    machine = kept()._machine
    assert edges_by_kernel(kernel_modules.PRETOKENS, machine, [TEXT]) == [own_edges(TEXT)]
    wrong = MACHINES[mistake](machine)
    assert edges_by_kernel(kernel_modules.PRETOKENS, wrong, [TEXT]) != [own_edges(TEXT)]


@pytest.mark.parametrize("mistake", MACHINES)
def test_a_mistake_in_the_machine_changes_the_ids_of_some_text(mistake: str) -> None:
    """Where the machine is wrong the tests that compare ids see it, too."""
    tokenizer = deepseek()
    adapter: Any = tokpar.load(tokenizer)
    wrong = with_tables(machine=MACHINES[mistake](kept()._machine))
    adapter.made_pieces = lambda seeds: Pieces(
        wrong._machine, wrong._merges, wrong._tokenize, seeds
    )
    draw = random.Random(2)
    words = [
        "天地",
        "12345",
        "(",
        "foo",
        "don't",
        "1",
        "--",
        "é",
        "!",
        ")x",
        "the",
        "\n",
        "  ",
        " a",
    ]
    rows = [" ".join("".join(draw.choices(words, k=6)) for _ in range(9)) for _ in range(900)]
    with tokpar.Encoder(adapter) as encoder:
        found = [encoding.ids.tolist() for encoding in encoder.encode_batch(rows)]
    assert found != [tokenizer.encode(row).ids for row in rows]
    assert adapter._segment_cache.state.pieces > 0


# ------------------------------------------------------------------------------- merges


def moved_ranks(merges: Merges) -> Merges:
    """The order of merges off by one: each two neighbours change places."""
    table = merges.table.copy()
    ranks = table[1::2] >> np.uint64(32) ^ np.uint64(1)
    table[1::2] = ranks << np.uint64(32) | table[1::2] & np.uint64(2**32 - 1)
    return replace(merges, table=table)


def lost_merge(merges: Merges) -> Merges:
    """Half of the pairs are not found."""
    table = merges.table.copy()
    table[: len(table) // 2] = 0
    return replace(merges, table=table)


def wrong_byte(merges: Merges) -> Merges:
    """Two bytes of the alphabet change places."""
    byte_ids = merges.byte_ids.copy()
    byte_ids[[ord("e"), ord("t")]] = byte_ids[[ord("t"), ord("e")]]
    return replace(merges, byte_ids=byte_ids)


def other_id(merges: Merges) -> Merges:
    table = merges.table.copy()
    used = table[::2] != 0
    table[1::2][used] ^= np.uint64(1)
    return replace(merges, table=table)


MERGES: dict[str, Callable[[Merges], Merges]] = {
    "a merge order off by one": moved_ranks,
    "merges that are lost": lost_merge,
    "a wrong byte of the alphabet": wrong_byte,
    "another id": other_id,
}


@pytest.mark.parametrize("mistake", MERGES)
def test_a_mistake_in_the_merges_is_seen_at_load(mistake: str) -> None:
    assert with_tables().difference(3) is None
    assert with_tables(merges=MERGES[mistake](kept()._merges)).difference(3) is not None


@pytest.mark.parametrize("mistake", MERGES)
def test_a_mistake_in_the_merges_is_seen_at_run_time(mistake: str) -> None:
    draw = random.Random(4)
    some = ["".join(draw.choices("etaoinshr", k=9)) for _ in range(300)]
    none = [Generation.empty(1)] * 2
    assert with_tables().solve(segments(some), none).new > 200
    with pytest.raises(MismatchError, match="where the merges of its file give"):
        with_tables(merges=MERGES[mistake](kept()._merges)).solve(segments(some), none)


@pytest.mark.parametrize("ignore_merges", [True, False])
def test_a_lookup_of_whole_pieces_that_is_missing_or_too_much_is_seen(ignore_merges: bool) -> None:
    """At load, and a missing one at run time, too; a token that no merge makes is one id only with
    `ignore_merges`."""
    drawn = plain_bpe([("a", "b")], {"qqq": 300}, ignore_merges=ignore_merges)
    merges, machine = drawn.by_kernel("compiled"), machine_of(WHOLE)
    none = [Generation.empty(1)] * 2
    honest = Pieces(machine, merges, drawn.tokenize, SEEDS, mask=0)
    assert honest.difference(3) is None
    honest.solve(segments(["ab", "qqq"]), none)
    whole = merges.whole ^ (np.array(list(drawn.vocab)) == "qqq")
    wrong = Pieces(machine, replace(merges, whole=whole), drawn.tokenize, SEEDS, mask=0)
    assert wrong.difference(3) == b"qqq"
    if ignore_merges:
        with pytest.raises(MismatchError, match="b'qqq'"):
            wrong.solve(segments(["ab", "qqq"]), none)


@pytest.mark.parametrize("blind", [True, False])
def test_a_piece_that_is_kept_over_an_added_token_is_seen(
    blind: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a search that finds no added token in a segment."""
    if blind:
        none = np.empty((0, 3), np.int64)
        monkeypatch.setattr(
            "tokpar.cache.added_token_parts.Contents.clusters_of_bytes", lambda *given: none
        )
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    text = "the foxes and oxen " * 400
    tokenizer.add_tokens([AddedToken("oxe", normalized=False)])
    with tokpar.Encoder(tokenizer) as encoder:
        found = encoder.encode_batch([text] * 3)
    equal = [row.ids.tolist() for row in found] == [tokenizer.encode(text).ids] * 3
    assert equal is not blind


@pytest.mark.parametrize("part", ["slots", "keys", "ids"])
def test_a_table_of_pieces_with_other_ids_is_seen_by_the_ids(part: str) -> None:
    """A piece found under another one's key, or with another one's ids."""
    pieces = with_tables()
    some = ["Hello", "wörld", "unbelievableness-and-more", "天地玄黄宇宙洪荒"]
    none = Generation.empty(1)
    table = pieces.solve(segments(some), (none, none)).table
    honest = pieces.solve(segments(some), (table, none)).fresh.ids.tolist()
    own = deepseek()
    expected = [own.encode(text, add_special_tokens=False).ids for text in some]
    assert honest == [id_ for row in expected for id_ in row]
    if part == "slots":
        used = np.flatnonzero(table.slots[3::4])
        table.slots[4 * used[:1] + 2] ^= np.uint64(1)
    elif part == "keys":
        table.keys[: int(table.used_counts[1])] ^= 1
    else:
        table.ids[: int(table.used_counts[2])] ^= np.uint32(1)
    spoilt = pieces.solve(segments(some), (table, none))
    changed = spoilt.fresh.ids.tolist() != honest
    assert changed == (part != "keys")  # keys that differ are not found: merged again
    assert (spoilt.new > 0) == (part == "keys")
