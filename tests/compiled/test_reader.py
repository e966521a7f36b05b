"""The reader of vocabularies and merges, both twins, against `json.loads`."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.kernel_twins import TWINS, twin
from tests.support.merges_drawn import LETTERS
from tokpar.compiled.merges import GateError, Tokens, byte_of, model_parts, parts_of, token_table

SEEDS = np.array([1, 2, 2**64 - 1], dtype=np.uint64)
BYTE_OF = {letter: byte for byte, letter in enumerate(LETTERS)}
NAMES = st.text(st.sampled_from([*LETTERS]), max_size=5) | st.text(max_size=5)
NAMES = NAMES.filter(lambda name: not any("\ud800" <= char <= "\udfff" for char in name))


def layouts(value: Any) -> list[str]:
    """The same value as different programs write it."""
    return [
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        json.dumps(value, indent=2, ensure_ascii=False),
        json.dumps(value, indent="\t", separators=(" ,", " : ")),
        json.dumps(value).replace('"a', '"\\u0061').replace("/", "\\/"),
        re.sub(
            r"\\u[0-9a-f]{4}", lambda found: found[0][:2] + found[0][2:].upper(), json.dumps(value)
        ),
    ]


def arrays(text: str) -> tuple[Any, int]:
    data = text.encode()
    return np.frombuffer(data + bytes(16), dtype=np.uint8), len(data)


def read_vocabulary(functions: Any, text: str) -> list[tuple[bytes | None, int]] | None:
    """The bytes of each token, None for those outside the alphabet, and its id; None if it is not
    read."""
    data, size = arrays(text)
    lengths, ids = np.zeros((2, size // 5 + 1), dtype=np.int64)
    target = np.zeros(size + 16, dtype=np.uint8)
    count = functions.read_vocabulary(data, 0, size, byte_of(), target, lengths, ids)
    if count < 0:
        return None
    found: list[tuple[bytes | None, int]] = []
    at = 0
    for n, id_ in zip(lengths[:count].tolist(), ids[:count].tolist(), strict=True):
        found.append((None if n < 0 else target[at : at + n].tobytes(), id_))
        at += max(n, 0)
    return found


def as_bytes(token: str) -> bytes | None:
    return bytes(BYTE_OF[c] for c in token) if set(token) <= BYTE_OF.keys() else None


@TWINS
@given(vocab=st.dictionaries(NAMES, st.integers(0, 2**31), max_size=12))
@example(vocab={})
@example(vocab={"": 0, 'a"b\\c/': 1, "\x00\x1f\n": 2, "Ġ": 3, "\U0001f600Ġ": 4, "\u2028": 5})
def test_a_vocabulary_is_read_as_json_reads_it(name: str, vocab: dict[str, int]) -> None:
    expected = [(as_bytes(token), id_) for token, id_ in vocab.items()]
    for text in layouts(vocab):
        assert json.loads(text) == vocab
        assert read_vocabulary(twin(name, "_vocabulary"), text) == expected, text


MERGES = st.lists(st.tuples(NAMES, NAMES), max_size=8)


def read_merges(name: str, text: str, vocab: dict[str, int]) -> list[tuple[int, int, int]] | None:
    data, size = arrays(text)
    known = {token: id_ for token, id_ in vocab.items() if as_bytes(token)}
    spelt = b"".join(as_bytes(token) or b"" for token in known) + bytes(16)
    tokens = Tokens(
        np.frombuffer(spelt, dtype=np.uint8),
        np.array([len(token) for token in known], dtype=np.int64),
        np.array(list(known.values()), dtype=np.uint32),
    )
    slots, keys = token_table(tokens, SEEDS, twin(name, "_merges"))
    found = np.zeros((3, size // 6 + 1), dtype=np.uint32)
    told = byte_of(), slots, keys, SEEDS, np.zeros(size + 16, dtype=np.uint8)
    count = twin(name, "_vocabulary").read_merges(data, 0, size, *told, *found)
    return None if count < 0 else [tuple(row) for row in found[:, :count].T.tolist()]


@TWINS
@given(merges=MERGES)
@example(merges=[])
@example(merges=[("Ġ", "a"), ("中", "a"), ("a", "b中"), ("a", "b"), ("a", "b")])
@example(merges=[('"', "\\"), ("\\", "/"), ("{", "}"), ("[", "]"), (",", ":")])
def test_merges_are_read_as_json_reads_them(name: str, merges: list[tuple[str, str]]) -> None:
    """Those of letters outside the alphabet are left out; an empty part is no token."""
    merges = [(a, b) for a, b in merges if " " not in a + b]
    spelt = dict.fromkeys(part for a, b in merges for part in (a, b, a + b))
    vocab = {token: 7 * k for k, token in enumerate(spelt)}
    inside = [(a, b) for a, b in merges if as_bytes(a + b) is not None]
    expected = None
    if all(a and b for a, b in inside):
        expected = [(vocab[a], vocab[b], vocab[a + b]) for a, b in inside]
    for text in layouts([list(pair) for pair in merges]):
        assert read_merges(name, text, vocab) == expected, text
    for text in layouts([" ".join(pair) for pair in merges]):
        assert read_merges(name, text, vocab) == expected, text


@TWINS
@pytest.mark.parametrize(
    "text",
    [
        *('["a"]', '["ab"]', '["a", "b"]', '[["a"]]', '[["a", "b", "ab"]]', '[["a", 1]]', "[1]"),
        *('[["a", "b"]', '["a b', '["a b"', '[["a" "b"', "[", "", '["a \\u12', '["a \\uzzzz b"]'),
        *('["a  b"]', '["a c"]', '[["a", "c"]]', '{"a": "b"}', '["#version a"]'),
    ],
)
def test_merges_that_are_none_are_not_read(name: str, text: str) -> None:
    vocab = {token: k for k, token in enumerate(["a", "b", "ab", "#version", "#versiona"])}
    assert read_merges(name, '["a b", ["a", "b"]]', vocab) == [(0, 1, 2), (0, 1, 2)]
    found = read_merges(name, text, vocab)
    assert found is None or (text == '["a  b"]' and found == [])


@TWINS
@pytest.mark.parametrize(
    "text",
    [
        *('{"a"', '{"a":', '{"a": 1', '{"a": -1}', '{"a": 1.5}', '{"a": 1e3}', '{"a": "b"}', "{"),
        *('{"a": 12345678901234567890}', '{"a": null}', "{a: 1}", '{"a\\u12', '{"a\\', '{"', ""),
        *('["a"]', '{"a": [1]}', '{"a": 1]'),
    ],
)
def test_a_vocabulary_that_is_none_is_not_read(name: str, text: str) -> None:
    assert read_vocabulary(twin(name, "_vocabulary"), '{"a": 1}') == [(b"a", 1)]
    assert read_vocabulary(twin(name, "_vocabulary"), text) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | NAMES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@TWINS
@given(whole=st.dictionaries(NAMES, VALUES, max_size=5))
@example(whole={"a": {}, "b": {"c": {}, "d": ["}"]}, "": {"": 1}})
@example(whole={"a": "}", "b": '\\"', "c": ["]", {"d": "{"}], "e": -1.5e-7})
def test_the_parts_of_an_object_are_found_as_json_finds_them(
    name: str, whole: dict[str, Any]
) -> None:
    functions = twin(name, "_vocabulary")
    for text in layouts(whole):
        data = text.encode()
        found = {key: json.loads(data[i:j]) for key, (i, j) in parts_of(data, functions).items()}
        assert found == json.loads(text)
        for key, value in whole.items():
            if isinstance(value, dict):
                inside = parts_of(data, functions, key)
                assert {k: json.loads(data[i:j]) for k, (i, j) in inside.items()} == value
            else:
                with pytest.raises(GateError, match="has no"):
                    parts_of(data, functions, key)
        with pytest.raises(GateError, match="has no"):
            parts_of(data, functions, "no such name")


@TWINS
@given(whole=st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), data=st.data())
def test_an_object_that_is_cut_off_is_no_crash(
    name: str, whole: dict[str, Any], data: st.DataObject
) -> None:
    text = json.dumps(whole).encode()
    part = text[: data.draw(st.integers(0, len(text) - 1))]
    functions = twin(name, "_vocabulary")
    try:
        found = parts_of(part, functions)
    except (GateError, ValueError):
        return
    assert {key: part[i:j] for key, (i, j) in found.items()}.keys() <= whole.keys()


def test_a_file_with_a_name_twice_has_no_parts() -> None:
    files = (
        b'{"model": {"a": 1}, "model": {"a": 2}}',
        b'{"model": {"a": 1, "a": 2}}',
        b'{"b": 1, "model": {"a": 1}, "b": 2}',
        b'{"model": {"a": 1}',
        b'{"model": {"a": 1},, "b": 1}',
        b'{"model": [1]}',
        b'{"model": {"a": 1} "b": 1]',
        b"",
    )
    for name in ("plain", "compiled"):
        assert model_parts(b' {"b": {"a": 2}, "model" : {"a": 1 } } ', twin(name, "_vocabulary"))
        for written in files:
            assert model_parts(written, twin(name, "_vocabulary")) is None
    assert model_parts(files[0], None) is None
