"""Ids of every container, dtype and value: the outcome is that of the tokenizer's own decode."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.conftest import needs_below_one
from tests.decoding.decoders_drawn import spec_of
from tests.support.small_encodings import small_encoding
from tokpar import Encoder
from tokpar.decoding import text_table
from tokpar.decoding.id_rows import MOST_IDS, ids_for_table
from tokpar.errors import OptionError

pytestmark = [pytest.mark.ids, needs_below_one]


class Indexed:
    """An id that is no int."""

    def __index__(self) -> int:
        return 5

    __repr__ = object.__repr__


class Rounded:
    """A number that is no id."""

    def __int__(self) -> int:
        return 5


class SubInt(int):
    """An int of a class of its own."""


class SubList(list[Any]):
    """A list of a class of its own."""


class Items(Sequence[Any]):
    """A sequence that is neither list nor tuple."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = values

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, place: Any) -> Any:
        return self.values[place]


WHOLE = st.integers(0, 9) | st.sampled_from([True, np.int8(5), np.uint64(6), SubInt(5), Indexed()])
EDGES = [-1, 2**16, 2**31 - 1, 2**32 - 1, 2**32, 2**32 + 5, 2**63, 2**64 + 5, -(2**63) - 1]
NO_INTS = [1.0, 1.5, float("nan"), "5", "a", None, b"5", 5j, Decimal(5), Rounded(), [5]]
NUMPY = [np.True_, np.float32(5), np.array(5), np.array([5]), np.datetime64(5, "s")]
ODD = st.sampled_from([*EDGES, *NO_INTS, *NUMPY, np.timedelta64(5, "s")])
VALUES = st.lists(WHOLE, max_size=5) | st.lists(WHOLE | ODD, max_size=5)
CONTAINERS: list[Callable[[list[Any]], Any]] = [list, tuple, SubList, Items, deque]
DTYPES = ["i1", "u1", "<u2", ">u2", "<i4", ">u4", "<i8", "<u8", "f4", "f8", "?", "O", "U3", "m8[s]"]


def arrays(draw: Callable[[Any], Any]) -> Any:
    """An array of any dtype: whole, strided, with a mask, or of two dimensions."""
    dtype = np.dtype(draw(st.sampled_from(DTYPES)))
    numbers = draw(st.lists(st.integers(-2 if dtype.kind == "i" else 0, 9), max_size=6))
    made = np.array(numbers, np.int64).astype(dtype)
    shapes = [made, made[::2], made.reshape(-1, 1), made.reshape(1, -1), made.reshape(-1, 1)[:, :0]]
    shapes += [np.ma.array(made, mask=[k % 2 for k in range(len(made))])]
    shapes += [np.ma.array(made), np.array(made[0]) if len(made) else made]
    return draw(st.sampled_from(range(len(shapes))).map(shapes.__getitem__))


def buffers(draw: Callable[[Any], Any]) -> Any:
    """Bytes, and buffers of other items."""
    numbers = draw(st.lists(st.integers(0, 9), max_size=5))
    code = draw(st.sampled_from("bBhHiIlLqQfd"))
    made = [bytes(numbers), bytearray(numbers), memoryview(bytes(numbers)), array(code, numbers)]
    made += [memoryview(array(code, numbers)), memoryview(bytes(numbers)).cast("?")]
    return draw(st.sampled_from(range(len(made))).map(made.__getitem__))


@st.composite
def id_rows(draw: Any) -> Any:
    """What a caller may pass as one row of ids."""
    kind = draw(st.integers(0, 5))
    if kind < 3:
        return draw(st.sampled_from(CONTAINERS))(draw(VALUES))
    if kind < 5:
        return (arrays, buffers)[kind - 3](draw)
    return draw(st.sampled_from(NO_ROWS))


NO_ROWS = ["", "56", None, 5, 1.5, range(5), range(0), [[5, 6]], {5, 6}, {5: 6}, object(), Ellipsis]
NO_SEQUENCES = (set, dict)


def outcome(call: Callable[[Any], Any], ids: Any) -> tuple[str, Any]:
    """The text, or the error."""
    try:
        return "text", call(ids)
    except Exception as error:
        return "error", error


def check_alike(call: Callable[[Any], Any], own: Callable[[Any], Any], ids: Any) -> None:
    """The text of the own call, or an error that a caller of it catches."""
    (kind, result), (own_kind, expected) = outcome(call, ids), outcome(own, ids)
    assert kind == own_kind, (ids, result, expected)
    if kind == "text":
        assert result == expected, ids
    else:
        kinds = type(expected), *error_types_of_prefixes(own, ids)
        assert isinstance(result, kinds), (ids, result, expected)
        assert str(result), ids


def error_types_of_prefixes(own: Callable[[Any], Any], ids: Any) -> Iterator[type[Exception]]:
    """The errors of the own call for the first ids alone: which of several is met first is free."""
    if isinstance(ids, (list, tuple)):
        for stop in range(len(ids)):
            kind, result = outcome(own, ids[:stop])
            if kind == "error":
                yield type(result)


def pairs_of_doors(encoder: Encoder, own: Any) -> Iterator[tuple[Any, Any]]:
    """Calls of one row of ids, each beside the own call."""
    yield encoder.decode, own.decode
    yield encoder.tokenizer.decode, own.decode  # type: ignore[attr-defined]
    yield lambda ids: tokpar.decode(ids, own), own.decode
    yield (
        lambda ids: encoder.decode_batch([[1], ids]),
        lambda ids: [own.decode([1]), own.decode(ids)],
    )
    yield lambda ids: encoder.decode_batch([ids]), lambda ids: own.decode_batch([ids])


def by_batch(encoding: Any) -> Callable[[Any], Any]:
    return lambda ids: encoding.decode_batch([ids])


def pushed(encoder: Encoder, ids: Any) -> str:
    stream = encoder.decode_stream()
    return stream.push(ids) + stream.finish()


def began_with(encoder: Encoder, ids: Any) -> str:
    """The text of ids that are the prompt of a stream."""
    encoder.decode_stream(ids)
    return pushed(encoder, ids)


def stepped(encoder: Encoder, ids: Any) -> str:
    """The text of ids one by one, in a stream whose table has met each small id."""
    encoder.decode_stream().push(range(10))
    stream = encoder.decode_stream()
    return "".join(map(stream.step, ids)) + stream.finish()


def pushed_to_many(encoder: Encoder, ids: Any) -> str:
    streams = encoder.decode_streams()
    number = streams.open()
    return "".join(streams.push([number] * len(ids), ids)) + streams.finish(number)


TOKENIZERS: dict[str, Callable[[], Any]] = {
    "byte-level": lambda: spec_of([{"type": "ByteLevel"}]).build(),
    "WordPiece": lambda: spec_of([{"type": "WordPiece"}], added=[("[CLS]", True)]).build(),
    "tiktoken": small_encoding,
}


@pytest.fixture(params=[0, 1 << 40], ids=["table", "own call"], autouse=True)
def table_at_once(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first decode makes the table, or none does."""
    monkeypatch.setattr(text_table, "IN_BACKGROUND", False)
    monkeypatch.setattr(text_table, "LEAST_IDS", request.param)


@pytest.fixture(scope="module", params=TOKENIZERS)
def own(request: Any) -> Any:
    return TOKENIZERS[request.param]()


LEAKS = [np.array([True, False]), b"\x05\x06", (np.True_, 5), [1.0], [Decimal(5)], ("5",)]
MORE_LEAKS = [np.ma.array([5, 6], mask=[0, 1]), np.array([2**63], np.uint64), np.array([5], object)]


@given(st.lists(id_rows(), min_size=1, max_size=5))
@example([*LEAKS, *MORE_LEAKS])
def test_decode_gives_the_outcome_of_the_own_call_for_all_ids(own: Any, rows: list[Any]) -> None:
    encoder = Encoder(own)
    for ids in rows:
        for call, expected in pairs_of_doors(encoder, own):
            check_alike(call, expected, ids)


@given(st.lists(id_rows(), min_size=1, max_size=5))
@example([*LEAKS, *MORE_LEAKS])
def test_streams_give_the_outcome_of_the_own_call_for_all_ids(own: Any, rows: list[Any]) -> None:
    encoder = Encoder(own)
    for ids in rows:
        if not isinstance(ids, NO_SEQUENCES):  # a stream takes any iterable
            for call in (pushed, began_with):
                check_alike(partial(call, encoder), own.decode, ids)
        if isinstance(ids, (list, tuple, bytes, array)):
            for call in (stepped, pushed_to_many):
                check_alike(partial(call, encoder), own.decode, ids)


@given(st.lists(id_rows(), min_size=1, max_size=5))
def test_the_drop_ins_give_the_outcome_of_the_own_call_for_all_ids(rows: list[Any]) -> None:
    encoding = small_encoding()
    fast = tokpar.as_tiktoken(encoding)
    for ids in rows:
        for name in ("decode", "decode_with_offsets", "decode_bytes"):
            check_alike(getattr(fast, name), getattr(encoding, name), ids)
        check_alike(
            lambda ids: fast.decode_batch([ids]), lambda ids: encoding.decode_batch([ids]), ids
        )


@given(id_rows())
def test_a_tokenizer_of_transformers_decodes_as_its_own_call_or_says_which_call_to_use(
    ids: Any,
) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is missing")
    own = transformers.PreTrainedTokenizerFast(tokenizer_object=TOKENIZERS["WordPiece"]())
    fast, encoder = tokpar.as_hf(own), Encoder(own)
    check_alike(fast.decode, own.decode, ids)
    kind, expected = outcome(own.decode, ids)
    if kind == "text" and not isinstance(expected, str):
        with pytest.raises(TypeError, match="decode_batch"):
            encoder.decode(ids)
    else:
        check_alike(encoder.decode, own.decode, ids)


def test_an_iterator_that_the_own_call_refuses_is_refused_unread(own: Any) -> None:
    some = iter([1, 2])
    with pytest.raises(TypeError):
        Encoder(own).decode(some)  # type: ignore[arg-type]
    assert [*some] == [1, 2]


def test_the_error_of_a_stream_is_also_an_option_error_and_says_what_came(own: Any) -> None:
    streams = Encoder(own).decode_streams()
    for call in (
        Encoder(own).decode_stream().step,
        lambda id_: streams.push([streams.open()], [id_]),
    ):
        with pytest.raises(OptionError, match=r"whole number.*float"):
            call(1.0)  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="got -1"):
            call(-1)
    with pytest.raises(OptionError, match="a number that open"):
        streams.push([0.0], [1])


def test_only_rows_of_ids_reach_the_table() -> None:
    """An array of two dimensions or of none is for the own call, which has an error for it."""
    for array_ in (np.zeros((2, 2), np.uint32), np.uint32(3), np.array(3, np.uint32)):
        assert [*ids_for_table(array_)] == [MOST_IDS - 1]
    row = np.arange(4, dtype=np.uint32)
    assert ids_for_table(row) is row
    assert [*ids_for_table(row[::2])] == [0, 2]
