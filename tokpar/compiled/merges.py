"""The merges of a byte-level BPE as flat tables, inside the gate of theorem 52."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, IntArray, offsets_of
from tokpar.facts.hf_vocabulary import VocabularyArrays
from tokpar.formats.vocabulary import byte_alphabet
from tokpar.process import kernel_modules

Parts = Mapping[str, tuple[int, int]]
MOST_IDS = 1 << 31
LONGEST_TOKEN = (1 << 15) - 1  # bytes
LONGEST_HALVED = 128
"""Bytes of a rank up to which each of its places is looked up, in quadratic time."""
_DENSE = 8
"""Ids below this multiple of their count are counted in a table."""
NO_BYTE = (1 << 32) - 2
"""Stands for the id of a byte that is no token: the engine encodes each word with such a byte."""
_IN_UTF8 = np.array([byte not in (0xC0, 0xC1) and byte < 0xF5 for byte in range(256)])
"""The 243 bytes that occur in UTF-8."""
_SEEDS = np.array([1, 2, 2**64 - 1], dtype=np.uint64)


@dataclass(frozen=True, slots=True, eq=False)
class Tokens:
    """The tokens of a model that are written in the byte alphabet.

    `data`: the bytes of all tokens, and 16 more bytes. `lengths`: bytes of each token. `ids`: the
    id of each token."""

    data: NDArray[np.uint8]
    lengths: IntArray
    ids: IdArray


@dataclass(frozen=True, slots=True, eq=False)
class Merges:
    """The merges of a model as tables, see `_merges`.

    `table`: the pairs. `byte_ids`: uint32, (256,); `NO_BYTE` for a byte that is no token. `tokens`:
    all tokens. `stay_whole`: a pre-token that is a token has one id, whatever the merges make of it
    (`ignore_merges`)."""

    table: NDArray[np.uint64]
    byte_ids: IdArray
    tokens: Tokens
    stay_whole: bool


@dataclass(frozen=True, slots=True)
class Source:
    """The length and the SHA-256 of the bytes that identify a model."""

    length: int
    sha256: bytes

    @classmethod
    def of(cls, state: bytes) -> Source:
        return cls(len(state), hashlib.sha256(state).digest())


class GateError(Exception):
    """The merges of a file do not determine the ids: a condition of theorem 52 does not hold."""


def merges_of(
    state: bytes, size: int, functions: Any = kernel_modules, parts: Parts | None = None
) -> Merges:
    """Returns the merges of a model. Raises GateError.

    `state`: the part "model" of a `tokenizer.json`, or a whole file with the `parts` of its
    model."""
    text = np.frombuffer(state + bytes(16), dtype=np.uint8)
    parts = parts_of(state, functions.VOCABULARY) if parts is None else parts
    settings = {
        name: json.loads(state[i:j])
        for name, (i, j) in parts.items()
        if name not in ("vocab", "merges")
    }
    _require(settings)
    for name in ("vocab", "merges"):
        if name not in parts:
            raise GateError(f"its model has no {name}")
    tokens = _tokens(text, *parts["vocab"], size, functions.VOCABULARY)
    slots, keys = token_table(tokens, _SEEDS, functions.MERGES)
    start, stop = parts["merges"]
    found = np.empty((3, (stop - start) // 6 + 1), dtype=np.uint32)
    scratch = np.zeros(stop - start + 16, dtype=np.uint8)
    columns = byte_of(), slots, keys, _SEEDS, scratch
    merges = functions.VOCABULARY.read_merges(text, start, stop, *columns, *found)
    if merges < 0:
        raise GateError("it has a merge of what is no token, or one that looks like a comment")
    table = np.zeros(2 << max(4, (2 * merges).bit_length()), dtype=np.uint64)
    functions.MERGES.put_merges(*found[:, :merges], table)
    byte_ids = _byte_ids(tokens)
    return Merges(table, byte_ids, tokens, bool(settings.get("ignore_merges")))


def ranks_of(ranks: Mapping[bytes, int], functions: Any = kernel_modules) -> Merges:
    """Returns the merges of a tiktoken encoding. Raises GateError.

    Two neighbours whose joined bytes are a token merge into this token, the least rank first. A
    piece that is a token stays whole."""
    from tokpar.compiled.long_ranks import halves_of_long_ranks  # a stored table does without it

    lengths = np.fromiter(map(len, ranks), dtype=np.int64, count=len(ranks))
    ids = np.fromiter(ranks.values(), dtype=np.int64, count=len(ranks))
    _require_ids(ids, lengths)
    data = np.frombuffer(b"".join(ranks) + bytes(16), dtype=np.uint8)
    tokens = Tokens(data, lengths, ids.astype(np.uint32))
    byte_ids = _byte_ids(tokens)
    missing = np.flatnonzero((byte_ids == NO_BYTE) & _IN_UTF8)
    if len(missing):  # the engine panics, and there is nothing that would encode the word
        raise GateError(f"it has no token for the byte {int(missing[0])}")
    slots, keys = token_table(tokens, _SEEDS, functions.MERGES)
    columns = data, lengths, tokens.ids, slots, keys, _SEEDS
    pairs = halves_of_long_ranks(ranks, LONGEST_HALVED)
    size = 1 << max(4, (4 * (len(ids) + pairs.shape[1])).bit_length())
    table = np.zeros(2 * size, dtype=np.uint64)
    count = functions.MERGES.put_ranks(*columns, table, LONGEST_HALVED)
    while count < 0 or functions.MERGES.put_pairs(*pairs, table, count) < 0:
        table = np.zeros(2 * len(table), dtype=np.uint64)
        count = functions.MERGES.put_ranks(*columns, table, LONGEST_HALVED)
    return Merges(table, byte_ids, tokens, stay_whole=True)


def token_table(
    tokens: Tokens, seeds: NDArray[np.uint64], pieces: Any
) -> tuple[NDArray[np.uint64], NDArray[np.uint8]]:
    """Returns a table of the tokens as pieces."""
    columns = tokens.data, tokens.lengths, tokens.ids
    for more in (0, 1, 2):  # places that are taken may lie too close together
        slots = np.zeros(4 << more + max(4, (2 * len(tokens.ids)).bit_length()), dtype=np.uint64)
        keys = np.zeros(int(tokens.lengths.sum()) + 16, dtype=np.uint8)
        if pieces.put_tokens(*columns, slots, keys, seeds) == len(tokens.ids):
            return slots, keys
    raise GateError("its tokens find no place in a table")


def model_parts(tokenizer_json: bytes, reader: Any = kernel_modules.VOCABULARY) -> Parts | None:
    """Returns the parts of the model in a `tokenizer.json`, or None if they cannot be read."""
    try:
        return None if reader is None else parts_of(tokenizer_json, reader, "model")
    except (GateError, ValueError):
        return None


def parts_of(state: bytes, reader: Any, member: str | None = None) -> Parts:
    """Returns [start, stop) of the value of each name of a JSON object, or of its `member`.

    Raises GateError if a name comes twice."""
    text, begins = np.frombuffer(state, dtype=np.uint8), state.find(b"{")
    member_parts: dict[str, Parts] = {}
    parts, _ = (
        _members(state, text, begins, reader, member, member_parts) if begins >= 0 else ({}, 0)
    )
    if member is None:
        return parts
    if member not in member_parts:
        raise GateError(f"its file has no {member}")
    return member_parts[member]


def _members(
    state: bytes,
    text: NDArray[np.uint8],
    place: int,
    reader: Any,
    member: str | None,
    member_parts: dict[str, Parts],
) -> tuple[Parts, int]:
    """Returns the parts of the object at `place`, and the place after the object.

    If `member` is an object too, its parts are put into `member_parts`, so that it is read once."""
    parts: dict[str, tuple[int, int]] = {}
    place = _behind_white(state, place + 1)
    while state[place : place + 1] == b'"':
        end = reader.value_end(text, place)
        start = _behind_white(state, state.find(b":", end) + 1)
        name: str = json.loads(state[place:end]) if end > 0 else ""
        if name == member and state[start : start + 1] == b"{":
            member_parts[name], stop = _members(state, text, start, reader, None, {})
        else:
            stop = reader.value_end(text, start) if end > 0 < start else -1
        if stop < 0:
            break
        if name in parts:
            raise GateError(f"its file has {name!r} twice")
        parts[name] = start, stop
        place = _behind_white(state, stop)
        if state[place : place + 1] == b",":
            place = _behind_white(state, place + 1)
    if state[place : place + 1] != b"}":
        raise GateError("its model is not written as JSON")
    return parts, place + 1


def _behind_white(state: bytes, place: int) -> int:
    while state[place : place + 1].isspace():
        place += 1
    return place


def _require(settings: Mapping[str, Any]) -> None:
    if settings.get("type", "BPE") != "BPE":
        raise GateError(f"its model is {settings['type']}, not BPE")
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if settings.get(name):
            raise GateError(f"its BPE has {name} {settings[name]!r}"[:200])


def _tokens(text: NDArray[np.uint8], start: int, stop: int, size: int, reader: Any) -> Tokens:
    data, lengths, ids = _entries(text, start, stop, reader)
    _require_ids(ids, lengths)
    if len(ids) < size:
        raise GateError("two of its tokens have one id")
    if len(ids) > size:
        raise GateError("it has a token twice")
    own = lengths > 0  # an empty one is made by no merge, and is no piece
    used = int(lengths[own].sum()) + 16
    return Tokens(data[:used], lengths[own], ids[own].astype(np.uint32))


def _entries(
    text: NDArray[np.uint8], start: int, stop: int, reader: Any
) -> tuple[NDArray[np.uint8], IntArray, IntArray]:
    """Returns what `read_vocabulary` reads from the JSON object at [start, stop)."""
    room = (stop - start) // 5 + 1
    lengths, ids = np.empty((2, room), dtype=np.int64)
    data = np.zeros(stop - start + 16, dtype=np.uint8)
    count = reader.read_vocabulary(text, start, stop, byte_of(), data, lengths, ids)
    if count < 0:
        raise GateError("its vocabulary is not written as JSON")
    return data, lengths[:count], ids[:count]


def vocabulary_arrays(
    state: bytes,
    size: int,
    tokens: Callable[[], dict[str, int]],
    reader: Any = kernel_modules.VOCABULARY,
    parts: Parts | None = None,
) -> VocabularyArrays | None:
    """The vocabulary in `state`, as `merges_of` takes it, of a model of so many tokens; None if it
    cannot be read, or does not have `size` tokens with an id each. `tokens`: the same vocabulary as
    the engine gives it."""
    if reader is None:
        return None
    try:
        start, stop = (parts_of(state, reader) if parts is None else parts)["vocab"]
        text = np.frombuffer(state, dtype=np.uint8)
        data, lengths, ids = _entries(text, start, stop, reader)
    except (GateError, KeyError, ValueError):
        return None
    if len(ids) != size or not are_distinct(ids):
        return None
    spelled = lengths >= 0
    edges = offsets_of(np.maximum(lengths, 0))
    single = np.unique(data[edges[:-1][lengths == 1]])
    characters = np.where(spelled, lengths, -1 - lengths)
    return VocabularyArrays(ids, characters, spelled, len(single) == 256, tokens)


def _require_ids(ids: IntArray, lengths: IntArray) -> None:
    if not are_distinct(ids):
        raise GateError("two of its tokens have one id")
    if ids.min(initial=0) < 0 or ids.max(initial=0) >= MOST_IDS:
        raise GateError("it has ids that are too great")
    if lengths.max(initial=0) > LONGEST_TOKEN:
        raise GateError("it has a token of more than 32,767 bytes")


def are_distinct(ids: NDArray[Any]) -> bool:
    """True if no id comes twice."""
    if len(ids) and ids.min() >= 0 and ids.max() < _DENSE * len(ids):  # sooner than by sorting
        return int(np.bincount(ids).max()) == 1
    return len(np.unique(ids)) == len(ids)


def _byte_ids(tokens: Tokens) -> IdArray:
    """Returns the id of each byte, `NO_BYTE` for a byte that is no token."""
    single = np.flatnonzero(tokens.lengths == 1)
    places = offsets_of(tokens.lengths)[single]
    found = np.full(256, NO_BYTE, dtype=np.uint32)
    found[tokens.data[places]] = tokens.ids[single]
    return found


def byte_of() -> NDArray[np.int32]:
    """Returns the byte of each character of the byte alphabet, -1 for other characters."""
    alphabet = byte_alphabet()
    found = np.full(max(map(ord, alphabet)) + 1, -1, dtype=np.int32)
    for letter, byte in alphabet.items():
        found[ord(letter)] = byte
    return found
