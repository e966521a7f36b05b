"""The tables of the compiled call (`call.c`), from the merges of a file and its machine."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.compiled.merges import GateError, Merges
from tokpar.process import kernel_modules
from tokpar.types import Facts

Arrays = dict[str, NDArray[Any]]
ID_BITS, RANK_BITS = 21, 22
SAMPLED = 4096
"""One in this many new words is also encoded by the engine, to compare the ids."""
MOST_LEARNED = 1 << 17
"""The most words that one thread learns; each needs 32 bytes and more for long words."""
LONGEST_FROM = 25
"""A new word of this many bytes, or one with a character outside ASCII at an end, is encoded by its
longest tokens, a shorter one by merging."""
DENSE, DENSE_FROM = 8, 1 << 20
"""An array has an item for each id, token or not, if there are at most so many times as many ids as
tokens, and so many more."""
USES_AVX2 = True
"""Sure cuts are found 32 bytes at a time where the processor can."""
_END, _MOST_SYMBOLS, _MOST_STAGES, _LONG = 255, 127, 8, 16
_NODE_BITS, _PLACE_BITS = 24, 32
"""Bits of the number of a node in call_added.h; of a place among all bytes of tokens (words.h), or
among the ids of words (call_words.h)."""
TREE = ("edges", "root", "rule_joins", "tokens")
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FREE = np.uint64(2**64 - 1)


def pair_arrays(left: IntArray, right: IntArray, rank: IntArray, results: IntArray) -> Arrays:
    """Returns the tables of pairs that merge, see call_merges.h.

    `left`, `right`: the ids of each pair. `rank`: its rank; pairs of one rank make the same id.
    `results`: the id that each pair makes. An id that is in no pair may be any number of 32 bits.
    Raises GateError for ids and ranks that have no room."""
    _, places, ranks = np.unique(rank, return_index=True, return_inverse=True)
    ids = max(int(each.max(initial=0)) for each in (left, right))
    if ids + 1 >> ID_BITS:
        raise GateError(f"a part of a merge has the id {ids:,}, and there is room up to 2,097,150")
    if len(places) >> RANK_BITS:
        raise GateError(f"it has {1 << RANK_BITS:,} merges or more")
    keys = left.astype(np.uint64) << np.uint64(ID_BITS) | right.astype(np.uint64)
    hashes = keys * _GOLDEN
    log = max(4, (3 * len(keys) // 2).bit_length())
    entries = keys << np.uint64(RANK_BITS) | ranks.reshape(-1).astype(np.uint64)
    return {
        "pairs": place_entries(entries, (hashes >> np.uint64(64 - log)).astype(np.int64), 1 << log),
        "may_be": _bits(hashes >> np.uint64(42), 1 << 22),
        "made": results[places].astype(np.uint32),
    }


def last_of_equal(keys: NDArray[np.uint64]) -> IntArray:
    """Returns the places, rising, where a number stands for the last time."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    is_last = np.append(ordered[1:] != ordered[:-1], np.ones(min(1, len(keys)), dtype=np.bool_))
    return np.sort(order[is_last])


def place_entries(entries: NDArray[np.uint64], homes: IntArray, size: int) -> NDArray[np.uint64]:
    """Returns a table of `size` slots in which no slot is free between the home of an entry and the
    entry. There are fewer entries than slots."""
    order = np.argsort(homes, kind="stable")
    numbers = np.arange(len(homes))
    places = np.maximum.accumulate(homes[order] - numbers) + numbers
    fitting = int(np.searchsorted(places, size))
    table = np.full(size, _FREE, dtype=np.uint64)
    table[places[:fitting]] = entries[order[:fitting]]
    rest = order[fitting:]  # all slots from their homes to the last one are taken
    table[np.flatnonzero(table == _FREE)[: len(rest)]] = entries[rest]
    return table


def _bits(places: NDArray[np.uint64], size: int) -> NDArray[np.uint64]:
    """Returns `size` bits in words of 64; the bits at `places` are set."""
    found = np.zeros(size, dtype=np.bool_)
    found[places] = True
    return np.packbits(found, bitorder="little").view("<u8").astype(np.uint64)


def byte_arrays(facts: Facts, merges: Merges) -> Arrays:
    """Returns the tables of a byte-level BPE behind a row of Splits (theorems 51, 52 and 60).

    Raises GateError where a condition does not hold."""
    arrays = _merges_arrays(merges) | _machine_arrays(facts)
    tokens = merges.tokens
    is_whole = np.full(len(tokens.ids), merges.stay_whole)
    return with_words(arrays, tokens.data, np.cumsum(tokens.lengths), tokens.ids, is_whole)


def with_keys(arrays: Arrays, keys: Sequence[tuple[bytes, int]]) -> Arrays:
    """Returns `with_words` of bytes and their ids, of which the model of a call makes the words."""
    data = np.frombuffer(b"".join(key for key, _ in keys) + bytes(16), dtype=np.uint8)
    ends = np.cumsum([len(key) for key, _ in keys], dtype=np.int64)
    ids = np.array([number for _, number in keys], dtype=np.uint32)
    return with_words(arrays, data, ends, ids, np.zeros(len(ids), dtype=np.bool_))


def with_words(
    arrays: Arrays,
    data: NDArray[np.uint8],
    ends: IntArray,
    ids: NDArray[np.uint32],
    is_whole: NDArray[np.bool_],
) -> Arrays:
    """Returns `arrays` with a table of words: the tokens of the vocabulary.

    `data`: the UTF-8 bytes of all tokens, and 16 more. `ends`: where each token ends in `data`.
    `is_whole`: True for a token that is one id as a word; the others have the ids that the merges
    make."""
    lengths = np.diff(ends, prepend=0)
    if int(lengths.sum()) >> _PLACE_BITS:
        raise GateError("its tokens have 4 GiB of bytes or more")
    none = dict.fromkeys(TREE, np.zeros(0, dtype=np.uint8))
    arrays = lengths_by_id(ids, lengths) | none | arrays
    long = lengths[lengths >= _LONG]
    for more in range(4):
        size = 1 << more + max(4, (2 * len(ids)).bit_length())
        tables: Arrays = {
            "words": np.zeros(4 * size, dtype=np.uint64),
            "keys": np.zeros(int(long.sum()) + 4 * len(long) + 64, dtype=np.uint8),
            "more": np.zeros(int(lengths.sum()) + 64, dtype=np.uint32),
        }
        call = call_of(arrays | tables, {}, ((), ()), learns=False)
        try:
            keys, items, *tree = call.seed(data, ends.astype(np.int64), ids, is_whole)
        except ValueError:  # slots that are taken lie too close together
            continue
        tables |= {"keys": tables["keys"][: keys + 64], "more": tables["more"][: items + 64]}
        tables |= {
            name: np.frombuffer(each, np.uint8) for name, each in zip(TREE, tree, strict=True)
        }
        return arrays | tables
    raise GateError("its tokens find no place in a table")


def lengths_by_id(ids: NDArray[np.uint32], lengths: IntArray) -> Arrays:
    """Returns `lengths`, the length of each token: 0 for an id of tokens with several lengths, and
    for a length that has no room.

    `length_ids` is empty: an id is the place of its length. Or, for ids far apart, it has the ids,
    rising, beside their lengths: so no array has an item for each id that is no token."""
    length_ids, places, size = ids[:0], ids.astype(np.int64), int(ids.max(initial=0)) + 1
    if size > DENSE * len(ids) + DENSE_FROM:
        length_ids, places = np.unique(ids, return_inverse=True)
        size = len(length_ids)
    found = np.zeros(size, dtype=np.uint16)
    found[places] = np.where(lengths < 1 << 16, lengths, 0)
    found[places[found[places] != lengths]] = 0
    return {"lengths": found, "length_ids": length_ids}


def call_of(
    arrays: Arrays,
    added_tokens: Mapping[str, tuple[int, int, int]],
    special: tuple[Sequence[int], Sequence[int]],
    learns: bool = True,
    longest_word: int = 1 << 40,
) -> Any:
    """Returns the `Call` of a tokenizer.

    `added_tokens`: (id, flags, where it is searched) of each token, by its content; see
    `added_flags` and `RAW`.
    `special`: the ids before and after a text. `longest_word`: a text with a pre-token of more
    bytes has no answer."""
    assert kernel_modules.CALL is not None
    secret = np.frombuffer(secrets.token_bytes(8), dtype=np.int64)
    learned = MOST_LEARNED if learns else 0
    rest = np.array([learned, 0, SAMPLED - 1, longest_word, LONGEST_FROM, USES_AVX2], np.int64)
    rest[1] = secret[0]
    before, after = (np.array(ids, dtype=np.uint32) for ids in special)
    given = {
        "settings": np.concatenate([arrays["settings"], rest]),
        "before": before,
        "after": after,
    }
    return kernel_modules.CALL.Call(arrays | _added_arrays(added_tokens) | given)


def _machine_arrays(facts: Facts) -> Arrays:
    """Returns the machine of the pre-tokenizer as call_pretokens.h reads it. Raises GateError."""
    from tokpar.compiled.machine_tables import DEAD, HIT, machine_of_all  # only to make tables
    from tokpar.compiled.quick_check import NORMALIZERS, quick_check

    machine = facts.derive(machine_of_all)
    if isinstance(machine, str):
        raise GateError(machine)
    symbol_of = machine.symbol_of
    kinds = tuple(stage.kind for stage in facts.normalizers)
    quick = quick_check(kinds)
    if quick is None:
        raise GateError(f"its normalizer is {' and '.join(kinds)}, not a row of {NORMALIZERS}")
    if quick[:128].any():
        raise GateError(f"its normalizer, {' and '.join(kinds)}, changes ASCII characters")
    width, symbols = machine.symbols + 1, machine.symbols
    if symbols >= _MOST_SYMBOLS:
        raise GateError(f"its pattern has {symbols} kinds of characters, and there is room for 126")
    if len(machine.begins) > _MOST_STAGES:
        raise GateError(f"its pre-tokenizer has more than {_MOST_STAGES} Splits")
    moves = machine.moves.reshape(-1, width)
    state = (moves & np.uint32(DEAD - 1)) // np.uint32(width) << np.uint32(8)
    rows = state | moves & np.uint32(HIT | DEAD)
    table = np.full((len(moves), 256), DEAD, dtype=np.uint32)
    table[:, :128] = rows[:, symbol_of[:128]]
    table[:, 128 : 128 + symbols] = rows[:, :symbols]
    table[:, _END] = rows[:, symbols]
    return {
        "settings": np.array([0, symbols, 0, 0, 0, 0, 0], dtype=np.int64),
        "moves": table.reshape(-1),
        "begins": (machine.begins // width << 8).astype(np.uint32),
        "symbol_of": np.where(quick == 0, symbol_of, np.uint8(symbols)),
        "symbol_of_all": symbol_of,
        "quick_of": quick,
    }


def _merges_arrays(merges: Merges) -> Arrays:
    """Returns the pairs of a model."""
    slots = merges.table.reshape(-1, 2)
    slots = slots[slots[:, 0] != 0]
    key, value = (slots[:, 0] - np.uint64(1)), slots[:, 1]
    low, half = np.uint64(2**32 - 1), np.uint64(32)
    columns = key >> half, key & low, value >> half, value & low
    pairs = pair_arrays(*(each.astype(np.int64) for each in columns))
    return pairs | {"byte_ids": merges.byte_ids}


def _added_arrays(tokens: Mapping[str, tuple[int, int, int]]) -> Arrays:
    """Returns the added tokens as call.c reads them.

    Raises GateError for more bytes than their tree may have nodes."""
    contents = [content.encode() for content in tokens]
    if sum(map(len, contents)) >> _NODE_BITS:
        raise GateError("its added tokens have 16,777,216 bytes or more")
    ids, flags, normalized = zip(*tokens.values(), strict=True) if tokens else ((), (), ())
    return {
        "added_bytes": np.frombuffer(b"".join(contents) + bytes(16), dtype=np.uint8),
        "added_ends": np.cumsum([len(content) for content in contents], dtype=np.int64),
        "added_flags": np.array(flags, dtype=np.uint8),
        "added_ids": np.array(ids, dtype=np.uint32),
        "added_normalized": np.array(normalized, dtype=np.uint8),
    }
