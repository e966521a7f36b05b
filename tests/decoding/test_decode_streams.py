"""Many streams at once give the texts that each stream gives alone."""

from __future__ import annotations

from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import needs_below_one
from tests.support.decode_streams import KINDS, encoder_of
from tests.support.small_encodings import small_encoding
from tokpar import Encoder
from tokpar.decoding import tables
from tokpar.errors import EngineError, OptionError


@needs_below_one
@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_many_streams_give_the_texts_of_single_streams(kind: str, data: st.DataObject) -> None:
    encoder, _ = encoder_of(kind)
    id_ = st.integers(0, KINDS[kind].id_count - 1)
    prompts = data.draw(st.lists(st.lists(id_, max_size=4), min_size=1, max_size=4))
    calls = st.lists(st.tuples(st.integers(0, len(prompts) - 1), id_), max_size=12)
    streams = encoder.decode_streams()
    numbers = [streams.open(prompt) for prompt in prompts]
    alone = [encoder.decode_stream(prompt) for prompt in prompts]
    for _ in range(data.draw(st.integers(0, 4))):
        call = data.draw(calls)
        texts = streams.push([numbers[k] for k, _ in call], [id_ for _, id_ in call])
        assert texts == [alone[k].step(id_) for k, id_ in call]
    assert len(streams) == len(prompts)
    for number, stream in zip(numbers, alone, strict=True):
        try:
            rest = stream.finish()
        except EngineError:  # Strip fails for a text of spaces only
            with pytest.raises(EngineError):
                streams.finish(number)
            continue
        assert streams.finish(number) == rest


@needs_below_one
@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_starts_say_where_each_text_lies_in_the_text_of_its_stream(
    kind: str, data: st.DataObject
) -> None:
    encoder, _ = encoder_of(kind)
    ids = st.lists(st.integers(0, KINDS[kind].id_count - 1), max_size=6)
    streams = encoder.decode_streams(starts=True)
    for prompts in data.draw(st.lists(st.lists(ids, min_size=2, max_size=2), max_size=2)):
        numbers = [streams.open(prompt) for prompt in prompts]  # the second time, known numbers
        pieces: list[list[tuple[int, str]]] = [[], []]
        for _ in range(data.draw(st.integers(0, 3))):
            some = data.draw(ids)
            which = [data.draw(st.integers(0, 1)) for _ in some]
            texts = streams.push([numbers[k] for k in which], some)
            for k, start, text in zip(which, streams.starts, texts, strict=True):
                pieces[k].append((start, text))
        for number, own in zip(numbers, pieces, strict=True):
            try:
                rest = streams.finish(number)
            except EngineError:  # Strip fails for a text of spaces only
                return
            whole = "".join(text for _, text in own) + rest
            assert own == [(start, whole[start : start + len(text)]) for start, text in own]
            assert [start for start, _ in own] == [
                *accumulate((len(t) for _, t in own), initial=0)
            ][:-1]


def test_starts_stay_as_they_were_after_an_error() -> None:
    streams = Encoder(small_encoding()).decode_streams(starts=True)
    number = streams.open([65])
    assert streams.push([number] * 5, [66, 0xE4, 0xB8, 0xAD, 67]) == ["B", "", "", "中", "C"]
    with pytest.raises(OptionError):
        streams.push([number, 9], [65, 65])
    assert streams.push([number], [0xE4]) == [""]
    assert (streams.starts, streams.finish(number)) == ([3], "\ufffd")


def test_an_error_leaves_all_streams_as_they_were() -> None:
    streams = Encoder(small_encoding()).decode_streams()
    one, two = streams.open(), streams.open()
    assert streams.push([one, two], [0xE4, 65]) == ["", "A"]
    for wrong in (299, -1, "a"):
        with pytest.raises((OptionError, LookupError)):
            streams.push([one, two, one, one], [0xB8, 0xE4, 0xAD, wrong])  # type: ignore[list-item]
    for numbers, ids in (([2], [65]), ([-1], [65]), (["a"], [65]), ([0.5], [65])):
        with pytest.raises(OptionError, match=r"a number that open\(\) returned, got"):
            streams.push(numbers, ids)  # type: ignore[arg-type]
    with pytest.raises(OptionError, match="one stream for each id: got 1 and 2"):
        streams.push([one], [65, 66])
    assert streams.push([one, one, two], [0xB8, 0xAD, 66]) == ["", "中", "B"]


def test_the_number_of_a_finished_stream_comes_again() -> None:
    streams = Encoder(small_encoding()).decode_streams()
    number = streams.open([0xE4])
    streams.open()
    assert streams.finish(number) == ""  # the prompt's own text has this U+FFFD
    for call in (lambda: streams.finish(number), lambda: streams.push([number], [65])):
        with pytest.raises(OptionError, match="finished"):
            call()
    assert len(streams) == 1
    assert streams.open() == number
    assert streams.push([number, number], [0xFF, 65]) == ["\ufffd", "A"]
    assert streams.push([], []) == []


def test_a_table_without_room_gives_the_same_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "MOST_KEPT", 3)
    encoder = Encoder(small_encoding())
    stream = encoder.decode_stream()
    data = "é中😀a".encode() * 5
    assert "".join(stream.step(byte) for byte in data) + stream.finish() == data.decode()
    assert sum(map(len, stream._table._rows.values())) <= 3


@needs_below_one
@pytest.mark.parametrize("kind", ["llama", "byte fallback"])
def test_a_long_run_of_bytes_keeps_no_row_for_each_byte(kind: str) -> None:
    """With and without stages behind the one that reads the bytes."""
    own = KINDS[kind].build()
    letter = next(id_ for id_ in range(9) if own.decode([id_]).isascii())
    stream = Encoder(own).decode_stream()
    rows = stream._table._rows
    stream.push([letter] * 40)
    before = len(rows)
    stream.push([letter] * 400)
    assert 1 < len(rows) == before
    assert stream.finish() == own.decode([letter] * 440)


def test_a_stream_whose_ids_the_own_decode_fails_for_frees_its_number() -> None:
    encoder, _ = encoder_of("fuse and strip")
    streams = encoder.decode_streams()
    number = streams.open()
    with pytest.raises(EngineError):
        streams.finish(number)
    assert len(streams) == 0
    with pytest.raises(OptionError, match="already finished"):
        streams.finish(number)
    assert [streams.open(), streams.open()] == [number, number + 1]


def test_a_stream_whose_ids_the_own_decode_fails_for_is_finished() -> None:
    encoder, _ = encoder_of("fuse and strip")
    stream = encoder.decode_stream()
    with pytest.raises(EngineError):
        stream.finish()
    with pytest.raises(OptionError, match="the stream is finished"):
        stream.step(0)
    with pytest.raises(OptionError, match="already finished"):
        stream.finish()
