"""Streams of tiktoken, transformers and tokenizers in plain Python; what streams refuse."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import decoders, models

import tokpar
from tests.decoding.decoders_drawn import divided, spec_of
from tests.support.decode_streams import check_stream
from tests.support.small_encodings import small_encoding
from tokpar import Encoder
from tokpar.decoding.shapes import ByteRuns, Utf8
from tokpar.errors import OptionError
from tokpar.formats.vocabulary import letters_of

EDGES = bytes.fromhex("00417f80 8f909fa0bf c0c1c2df e0e1ecedeeef f0f1f3f4f5ff")
"""Bytes at which UTF-8 decides something."""
FEWER = bytes.fromhex("41 80 90 a0 c3 e0 e4 ed f0 f4 ff")


def by_stage(data: Sequence[int]) -> str:
    """The text of bytes that arrive one by one."""
    stage, state, texts = Utf8(), None, []
    for byte in data:
        text, state = stage.step(state, bytes((byte,)))
        texts.append(text)
    return "".join([*texts, stage.finish(state)])


@pytest.mark.ids
@pytest.mark.parametrize("length", [1, 2, 3])
def test_bytes_one_by_one_give_the_replacement_characters_of_python(length: int) -> None:
    for data in product(EDGES, repeat=length):
        assert by_stage(data) == bytes(data).decode("utf-8", "replace")


@pytest.mark.ids
def test_bytes_one_by_one_give_the_replacement_characters_of_rust() -> None:
    decode = decoders.ByteLevel().decode
    for length, some in ((2, EDGES), (3, FEWER), (4, FEWER)):
        for data in product(some, repeat=length):
            assert by_stage(data) == decode([letters_of(bytes(data))])


UTF8_IDS = st.lists(
    st.sampled_from([*EDGES, *"é中😀".encode(), *range(256, 264), 300]), max_size=30
)


@pytest.mark.ids
@given(st.data(), UTF8_IDS, UTF8_IDS)
def test_a_stream_of_tiktoken_gives_the_text_of_its_decode(
    data: st.DataObject, prompt: list[int], ids: list[int]
) -> None:
    encoding = small_encoding()
    encoder = Encoder(encoding)
    check_stream(encoder.decode_stream, encoding.decode, prompt, divided(data.draw, ids))
    assert encoder.decode_stream().most_held == 1


@pytest.mark.ids
@given(st.data())
def test_streams_of_the_bundled_tokenizer_give_the_text_of_its_decode(data: st.DataObject) -> None:
    for engine in ("pure", None):
        tokenizer = tokpar.load("default", engine=engine)
        encoder = Encoder(tokenizer)
        ids = data.draw(st.lists(st.integers(0, 8000), max_size=20))
        check_stream(encoder.decode_stream, encoder.decode, ids[:3], divided(data.draw, ids[3:]))


def transformers() -> Any:
    return pytest.importorskip("transformers", reason="transformers is missing")


def wrapped(cleans: bool, model: str = "WordLevel") -> Any:
    tokens = ("do", "n't", " ", "'", "a", ".", " .", "'s", "not", "n", "'t", "", " '")
    own = spec_of([], tokens, [("<s>", True), ("</s>", False)]).build()
    if model == "BPE":
        own.model = models.BPE({token: id_ for id_, token in enumerate("a.n'")}, [])
    return transformers().PreTrainedTokenizerFast(
        tokenizer_object=own, clean_up_tokenization_spaces=cleans
    )


@pytest.mark.ids
@pytest.mark.parametrize(
    ("cleans", "model"), [(True, "WordLevel"), (False, "WordLevel"), (True, "BPE")]
)
@given(st.data(), st.booleans())
def test_a_stream_of_transformers_cleans_up_as_its_decode_does(
    cleans: bool, model: str, data: st.DataObject, skip: bool
) -> None:
    tokenizer = wrapped(cleans, model)
    encoder = Encoder(tokenizer)
    ids = data.draw(st.lists(st.integers(0, 14), max_size=30))
    check_stream(
        lambda prompt: encoder.decode_stream(prompt, skip_special_tokens=skip),
        lambda some: str(tokenizer.decode(some, skip_special_tokens=skip)),
        ids[:4],
        divided(data.draw, ids[4:]),
    )


def test_text_that_is_cleaned_up_is_held_for_what_may_follow() -> None:
    tokenizer = wrapped(cleans=True)
    stream = Encoder(tokenizer).decode_stream()
    assert [stream.step(id_) for id_ in (0, 1, 4, 5, 2)] == ["do", "n't", " a", ".", ""]
    assert stream.fork().step(5) == "  ."  # one of three spaces is gone
    assert stream.finish() == "  "


def test_tokenizers_with_a_decoder_of_their_own_give_its_text_at_the_end() -> None:
    class OwnDecode(transformers().PreTrainedTokenizerFast):  # type: ignore[misc]
        def _decode(self, *given: Any, **named: Any) -> str:
            return "other"

    class Bare:
        name = "bare"

        def encode(self, text: str) -> Any:
            raise NotImplementedError

        def decode(self, ids: Sequence[int]) -> str:
            return "-".join(map(str, ids))

    class Python:
        def decode_chain(self, tokens: list[str]) -> list[str]:
            return tokens[::-1]

    class Reversed(tiktoken.Encoding):
        def decode(self, tokens: Sequence[int], errors: str = "replace") -> str:
            return super().decode(tokens, errors)[::-1]

    own = wrapped(cleans=False).backend_tokenizer
    own_class = OwnDecode(tokenizer_object=own)
    small = small_encoding()
    other = Reversed("r", pat_str=r"\S+", mergeable_ranks=small._mergeable_ranks, special_tokens={})
    own.decoder = decoders.Decoder.custom(Python())
    for tokenizer, text in ((Bare(), "65-66"), (own_class, "other"), (other, "BA")):
        stream = Encoder(tokenizer).decode_stream()
        assert (stream.push([65, 66]), stream.finish()) == ("", text)
    stream = Encoder(own).decode_stream()
    assert (stream.push([0, 1]), stream.finish()) == ("", "n'tdo")
    with pytest.raises(OptionError, match="bare cannot decode, or not without special tokens"):
        Encoder(Bare()).decode_stream(skip_special_tokens=True)


def test_a_table_that_decodes_other_texts_leaves_all_ids_to_the_own_call() -> None:
    class Wrong(type(tokpar.load("default", engine="pure"))):  # type: ignore[misc]
        def decode(self, ids: Sequence[int]) -> str:
            return super().decode(ids).upper()  # type: ignore[no-any-return]

    tokenizer = Wrong(tokpar.load("default", engine="pure").vocabulary())  # type: ignore[attr-defined]
    stream = Encoder(tokenizer).decode_stream()
    ids = tokenizer.encode("some words").tolist()
    assert (stream.push(ids), stream.finish()) == ("", "SOME WORDS")


def test_skipping_special_tokens_needs_a_tokenizer_that_can() -> None:
    for encoder in (Encoder(small_encoding()), Encoder(tokpar.load("default", engine="pure"))):
        with pytest.raises(OptionError, match="has no such setting"):
            encoder.decode_stream(skip_special_tokens=True)


def test_a_decoder_that_the_caller_changes_counts_from_the_next_encoder_on() -> None:
    own = spec_of([], ("a", "▁b")).build()
    encoder = Encoder(own)
    before = encoder.decode_stream()
    assert encoder.decode_stream()._table is before._table
    own.decoder = decoders.Metaspace()
    own.add_tokens(["new"])
    after = Encoder(own).decode_stream()
    assert after.push([0, 1, 2]) + after.finish() == own.decode([0, 1, 2]) == "a bnew"
    assert before.push([0, 1]) + before.finish() == "a ▁b"


BAD = [-1, 2**32, 1.5, "1", None, [1], b"a"]


@pytest.mark.parametrize("wrong", BAD, ids=repr)
def test_what_is_no_id_is_refused_and_the_stream_is_as_it_was(wrong: Any) -> None:
    stream = Encoder(small_encoding()).decode_stream()
    assert stream.push([0xE4, 0xB8]) == ""
    with pytest.raises(OptionError, match="id"):
        stream.step(wrong)
    with pytest.raises(OptionError, match=r"whole number|a number from 0"):
        stream.push([0x41, wrong])
    assert stream.step(0xAD) + stream.finish() == "中"


def test_unknown_ids_raise_what_decode_raises_or_are_left_out() -> None:
    stream = Encoder(small_encoding()).decode_stream()
    stream.push([0xE4, 0xB8])
    with pytest.raises(LookupError):
        stream.step(299)
    with pytest.raises(LookupError):
        stream.push([0xAD, 299])
    assert stream.step(0xAD) == "中"
    own = spec_of([], ("a", "b")).build()
    assert Encoder(own).decode_stream().push([0, 17, 1]) == own.decode([0, 17, 1]) == "a b"


def test_a_finished_stream_says_so() -> None:
    stream = Encoder(small_encoding()).decode_stream()
    assert stream.finish() == ""
    for call in (lambda: stream.step(65), lambda: stream.push([65]), stream.finish):
        with pytest.raises(OptionError, match="finished"):
            call()


def test_ids_may_be_an_array_or_an_iterator() -> None:
    import numpy as np

    encoder = Encoder(small_encoding())
    assert encoder.decode_stream().push(np.array([65, 66], dtype=np.uint32)) == "AB"
    assert encoder.decode_stream().push(iter((65, 66))) == "AB"
    assert encoder.decode_stream(np.array([65])).step(np.int64(66)) == "B"
    with pytest.raises(OptionError, match="whole number, got ndarray"):
        encoder.decode_stream().push(np.array([[65]]))


def test_a_long_byte_run_is_not_copied_for_each_byte() -> None:
    runs, state = ByteRuns(), None
    for _ in range(1000):
        before = state
        _, state = runs.step(state, "<0x41>")
        assert before is None or state[1][0] is before[1]
    assert runs.finish(state) == "A" * 1000
