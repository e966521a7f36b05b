"""A table of the bytes of all tokens gives the texts of the own decode (proofs/decoding.md)."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders

from tests.conftest import needs_below_one
from tests.decoding.added_drawn import tokenizers
from tests.decoding.decoders_drawn import BYTES, HALVES, LLAMA, TOKENS, ids_of, spec_of, specs
from tests.support.small_encodings import small_encoding
from tests.support.tokenizers_drawn import hf_tokenizers, is_panic, tiktoken_encodings
from tokpar import Encoder
from tokpar.contract.adapter import DecodingParts
from tokpar.decoding import text_table
from tokpar.decoding.text_table import LaterTable, TextTable, checked_table, table_of
from tokpar.errors import ChangedError
from tokpar.formats.vocabulary import letters_of
from tokpar.process import kernel_modules

pytestmark = [
    pytest.mark.ids,
    needs_below_one,
    pytest.mark.skipif(kernel_modules.CALL is None, reason="the table is read by the kernel"),
]
Rows = Sequence[list[int]]


def wrapped() -> Any:
    """A tokenizer of transformers that cleans decoded text up."""
    transformers = pytest.importorskip("transformers", reason="transformers is missing")
    own = spec_of([], ("do", "n't", "'", "a", ".", " .", "'s", "not", " '"), [("<s>", True)])
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=own.build(), clean_up_tokenization_spaces=True
    )


WITH_A_TABLE: dict[str, Callable[[], Any]] = {
    "byte-level": lambda: spec_of([{"type": "ByteLevel"}]).build(),
    "Llama": lambda: spec_of(LLAMA, [token for token in TOKENS if token]).build(),
    "Gemma": lambda: spec_of(LLAMA[:3], [token for token in TOKENS if token]).build(),
    "WordPiece": lambda: spec_of([{"type": "WordPiece"}], added=[("[CLS]", True)]).build(),
    "Metaspace": lambda: spec_of([{"type": "Metaspace"}]).build(),
    "none": lambda: spec_of([]).build(),
    "tiktoken": small_encoding,
    "transformers": wrapped,
}


@pytest.fixture(autouse=True)
def tables_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first decode of a tokenizer makes its table."""
    monkeypatch.setattr(text_table, "IN_BACKGROUND", False)
    monkeypatch.setattr(text_table, "LEAST_IDS", 0)


def parts_of(tokenizer: Any) -> DecodingParts:
    parts: DecodingParts = Encoder(tokenizer).tokenizer.decoding_parts(False)  # type: ignore[attr-defined]
    return parts


def own_text(parts: DecodingParts, ids: list[int]) -> str | None:
    """The text of the own call; None where it fails."""
    try:
        return parts.decode(ids)
    except BaseException as error:
        if not (isinstance(error, LookupError) or is_panic(error)):
            raise
        return None


def check_table(parts: DecodingParts, rows: Rows) -> None:
    """The table, if there is one, gives the own texts, or none. Nothing was drawn to compare it."""
    made = table_of(parts)
    if made is not None:
        for row, text in zip(rows, made[0].texts(tuple(rows)), strict=True):
            assert text is None or text == own_text(parts, row), row


def table_for(tokenizer: Any) -> TextTable:
    table = checked_table(parts_of(tokenizer))
    assert table is not None
    return table


@given(st.data(), specs())
def test_a_table_of_any_decoder_gives_the_own_texts(data: st.DataObject, spec: Any) -> None:
    rows = data.draw(st.lists(ids_of(spec, most=8), min_size=1, max_size=12))
    check_table(parts_of(spec.build()), rows)


@pytest.mark.parametrize("kind", WITH_A_TABLE)
def test_decoders_in_use_have_a_table_that_gives_the_own_texts(kind: str) -> None:
    parts = parts_of(WITH_A_TABLE[kind]())
    assert table_of(parts) is not None
    ids, draw = range(parts.id_count + 2), random.Random(kind)
    rows = [[], *([id_] for id_ in ids), *(draw.choices(ids, k=2) for _ in range(1500))]
    check_table(parts, [*rows, *(draw.choices(ids, k=draw.randrange(9)) for _ in range(500))])


@given(st.data(), tokenizers())
def test_a_table_has_the_added_tokens_that_the_own_call_has(
    data: st.DataObject, own: Tokenizer
) -> None:
    added = sorted(own.get_added_tokens_decoder())
    some = st.sampled_from(added) | st.integers(0, own.get_vocab_size())
    check_table(parts_of(own), data.draw(st.lists(st.lists(some, max_size=5), max_size=8)))


@given(hf_tokenizers() | tiktoken_encodings(), st.data())
def test_an_encoder_with_a_table_decodes_lists_and_arrays_as_the_own_call_does(
    tokenizer: Any, data: st.DataObject
) -> None:
    encoder, parts = Encoder(tokenizer), parts_of(tokenizer)
    rows = data.draw(st.lists(st.lists(st.integers(0, parts.id_count), max_size=8), max_size=6))
    rows = [row for row in rows if own_text(parts, row) is not None]
    expected = [own_text(parts, row) for row in rows]
    for dtype in (np.uint32, np.int64, np.uint16):
        arrays = [np.array(row, dtype) for row in rows]
        assert encoder.decode_batch(arrays) == [*map(encoder.decode, arrays)] == expected
    spread = [np.repeat(np.array(row, np.uint32), 2)[::2] for row in rows]
    assert encoder.decode_batch(spread) == encoder.decode_batch(rows) == expected
    assert [*map(encoder.decode, rows)] == expected


BYTE_ROWS = [
    *([*pair] for pair in product((0x41, 0x7F, 0x80, 0x9F, 0xA0, 0xBF, 0xC1, 0xC3), repeat=2)),
    *([*row] for row in product((0x41, 0x80, 0x90, 0xA0, 0xE0, 0xED, 0xF0, 0xF4, 0xF5), repeat=4)),
]


@pytest.mark.parametrize("kind", ["byte-level", "byte fallback", "tiktoken"])
def test_bytes_that_are_no_utf8_become_what_the_own_call_makes_of_them(kind: str) -> None:
    if kind == "tiktoken":
        tokenizer: Any = small_encoding()
    elif kind == "byte-level":
        tokenizer = spec_of([{"type": "ByteLevel"}], [letters_of(bytes([k])) for k in range(256)])
    else:
        tokenizer = spec_of(LLAMA, [f"<0x{k:02X}>" for k in range(256)])
    tokenizer = tokenizer if kind == "tiktoken" else tokenizer.build()
    parts, table = parts_of(tokenizer), table_for(tokenizer)
    draw = random.Random(1)
    rows = [*BYTE_ROWS, *(draw.choices(range(256), k=draw.randrange(9)) for _ in range(2000))]
    for row, text in zip(rows, table.texts(tuple(rows)), strict=True):
        if kind == "byte fallback":
            with suppress(UnicodeDecodeError):
                assert text == bytes(row).decode().removeprefix(" ")
        else:
            assert text is not None
        assert text is None or text == parts.decode(row)


def test_an_empty_token_ends_a_run_of_byte_tokens() -> None:
    own = spec_of(LLAMA, ["", *BYTES]).build()
    e4, b8, ad = (1 + BYTES.index(f"<0x{byte:02X}>") for byte in "中".encode())
    encoder = Encoder(own)
    assert encoder.decode([e4, b8, ad]) == "中"
    assert encoder.decode([e4, 0, b8, ad]) == own.decode([e4, 0, b8, ad]) == "\ufffd" * 3


def test_a_left_out_id_is_no_first_token() -> None:
    config = spec_of([{"type": "WordPiece"}], ["a", "##b"]).config
    config["model"]["vocab"] = {"a": 0, "##b": 3, "c": 4}
    own = Tokenizer.from_str(json.dumps(config))
    table = table_for(own)
    rows = [[1, 0, 4], [1, 3, 4], [4, 2, 0], [2, 1], [0, 1, 3]]
    assert table.texts(tuple(rows)) == [own.decode(row) for row in rows]
    assert table.texts(tuple(rows))[0] == "a c"


NO_IDS: tuple[Any, ...] = (
    *([0, 10**6], [-1], [0, True], [1 << 32], [1 << 70], [1.0], ["a"], [[0]], (0, 1), [0, None]),
    *(np.array([-(1 << 32)]), np.array([1 << 32]), np.array([0.0]), np.array([[0]])),
)


@pytest.mark.parametrize("ids", NO_IDS, ids=repr)
@pytest.mark.parametrize("kind", ["byte-level", "tiktoken"])
def test_what_is_no_id_of_the_table_is_left_to_the_own_call(kind: str, ids: Any) -> None:
    encoder = Encoder(WITH_A_TABLE[kind]())
    assert isinstance(encoder.decode([0]), str)

    def result(call: Callable[[Any], Any]) -> object:
        try:
            return call(ids)
        except BaseException as error:
            return type(error)

    assert result(encoder.decode) == result(encoder.tokenizer.decode)  # type: ignore[attr-defined]


@given(st.integers(0, 7), st.sampled_from(sorted(WITH_A_TABLE)))
def test_a_table_is_refused_if_one_id_has_another_text(wrong: int, kind: str) -> None:
    parts = parts_of(WITH_A_TABLE[kind]())
    assert checked_table(parts) is not None

    def decode(ids: Sequence[int]) -> str:
        text = parts.decode(ids)
        return f"{text}!" if wrong in ids else text

    assert checked_table(replace(parts, decode=decode)) is None


def test_a_tokenizer_with_a_refused_table_decodes_by_its_own_call() -> None:
    parts = parts_of(WITH_A_TABLE["byte-level"]())
    later = LaterTable(lambda: replace(parts, decode=lambda ids: "else"))
    assert later.texts([[0], [1]]) == [None, None]
    assert later.wait() is None


def test_tokens_of_any_length_are_copied_whole() -> None:
    letters = "".join(map(chr, range(0x21, 0x21 + 90)))
    tokens = [letters[:length] for length in range(1, 90)] + [letters * 800]
    own = spec_of([{"type": "Fuse"}], tokens).build()
    table = table_for(own)
    rows = [[k, k, k + 1] for k in range(89)]
    assert table.texts(tuple(rows[:-1])) == [own.decode(row) for row in rows[:-1]]
    assert table.texts((rows[-1],)) == [None]
    assert Encoder(own).decode(rows[-1]) == own.decode(rows[-1])


def test_places_outside_of_the_data_are_left_to_the_own_call() -> None:
    table = table_for(spec_of([{"type": "ByteLevel"}], [*HALVES, "ab"]).build())
    ab = len(HALVES)
    assert table.texts(([ab],)) == ["ab"]
    for place in (len(table.data) << 16 | 1, 0xFFF0, (1 << 64) - (1 << 16) + 8):
        later = table.later.copy()
        later[ab] = place
        assert replace(table, first=later, later=later).texts(([ab],)) == [None]
    with pytest.raises(ValueError, match="do not fit"):
        replace(table, first=table.first[:-1]).texts(([ab],))


def test_a_kept_encoder_decodes_as_its_snapshot_and_refuses_a_changed_model() -> None:
    own = WITH_A_TABLE["Llama"]()
    encoder = Encoder(own)
    before = encoder.decode([1, 2, 3])
    own.decoder = decoders.WordPiece()
    own.add_tokens(["later"])
    assert encoder.decode([1, 2, 3]) == before != own.decode([1, 2, 3])
    own.model.unk_token = "b"
    for call in (encoder.decode, lambda ids: encoder.decode_batch([ids])):
        with pytest.raises(ChangedError):
            call([1, 2, 3])


def test_the_own_call_answers_until_the_table_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_table, "IN_BACKGROUND", True)
    monkeypatch.setattr(text_table, "LEAST_IDS", 5)
    parts = parts_of(small_encoding())
    later = LaterTable(lambda: parts)
    assert later.texts([[97], [98, 99]]) == [None, None]
    assert later.table is None
    assert later.wait() is not None
    assert later.texts([[97], [98, 99]]) == ["a", "bc"]


@pytest.mark.parametrize("in_background", [True, False])
def test_the_ids_that_pay_for_a_table_have_it_made(
    in_background: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_table, "IN_BACKGROUND", in_background)
    monkeypatch.setattr(text_table, "LEAST_IDS", 5)
    parts = parts_of(small_encoding())
    later = LaterTable(lambda: parts)
    later.texts([[97], [98, 99, 100]])
    assert later.table is None
    assert later._later is None
    later.texts([[97]])
    assert (later._later is not None) == in_background
    assert later.wait() is not None


def test_ids_are_asked_for_until_all_tokens_are_found_or_twice_as_many_ids() -> None:
    """Ids may leave holes; a tokenizer of few tokens with high ids is left to its own decode."""
    for ids, count, last in (((0, 1, 2), 3, 2), ((0, 1, 4), 3, 4), ((0, 50), 2, 3), ((), 0, -1)):
        asked: list[int] = []

        def token_of(id_: int, ids: Sequence[int] = ids, asked: list[int] = asked) -> str | None:
            asked.append(id_)
            return "a" if id_ in ids else None

        parts = replace(parts_of(spec_of([]).build()), token_of=token_of, id_count=count)
        tokens = text_table._tokens(parts, str)
        assert asked == [*range(last + 1)]
        assert [token == "a" for token in tokens] == [id_ in ids for id_ in range(last + 1)]
