"""A stream's text is the text of the tokenizer's own decode, for every decoder of Hugging Face and
every division of the ids."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import needs_below_one
from tests.decoding.decoders_drawn import DecoderSpec, divided, ids_of, specs
from tests.support import profiles
from tests.support.decode_streams import KINDS, KNOWN_SHAPES, check_stream, encoder_of, own_text
from tokpar import Encoder
from tokpar.decoding.streams import common_start


def check_spec(spec: DecoderSpec, prompt: list[int], runs: list[list[int]], skip: bool) -> None:
    """`check_stream` of a tokenizer."""
    tokenizer = spec.build()
    encoder = Encoder(tokenizer)
    check_stream(
        lambda ids: encoder.decode_stream(ids, skip_special_tokens=skip),
        lambda ids: str(tokenizer.decode(ids, skip_special_tokens=skip)),
        prompt,
        runs,
    )


@given(st.data(), specs(), st.booleans())
def test_a_stream_gives_the_text_of_the_own_decode(
    data: st.DataObject, spec: DecoderSpec, skip: bool
) -> None:
    ids = data.draw(ids_of(spec))
    prompt = data.draw(st.just([]) | ids_of(spec, 6))
    check_spec(spec, prompt, divided(data.draw, ids), skip)


@needs_below_one
@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@profiles.divided(len(KINDS))
@given(st.data())
def test_every_division_gives_the_same_text(kind: str, data: st.DataObject) -> None:
    encoder, tokenizer = encoder_of(kind)
    ids = data.draw(ids_of(KINDS[kind], 40))
    prompt = data.draw(st.just([]) | ids_of(KINDS[kind], 6))
    runs = divided(data.draw, ids)
    decode = lambda some: str(tokenizer.decode(some, skip_special_tokens=False))  # noqa: E731
    check_stream(encoder.decode_stream, decode, prompt, runs)


@pytest.mark.parametrize("kind", KNOWN_SHAPES)
@given(st.data())
def test_text_comes_as_soon_as_no_later_id_can_change_it(kind: str, data: st.DataObject) -> None:
    encoder, tokenizer = encoder_of(kind)
    spec = KINDS[kind]
    ids = data.draw(ids_of(spec, 8))
    final = encoder.decode_stream().push(ids)
    later = [[*ids, *more] for n in range(3) for more in product(range(len(spec.tokens)), repeat=n)]
    texts = [own_text(lambda some: str(tokenizer.decode(some)), some) or "" for some in later]
    common = texts[0]
    for text in texts:
        common = common[: common_start(common, text)]
    assert final == common


@pytest.mark.parametrize("kind", KINDS)
def test_most_held_is_no_more_than_is_needed(kind: str) -> None:
    encoder, _ = encoder_of(kind)
    expected = {"byte-level": 1, "metaspace": 0, "wordpiece": 0, "none": 0, "replace": 0}
    assert encoder.decode_stream().most_held == expected.get(kind)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in KNOWN_SHAPES])
def test_a_decoder_whose_shape_is_not_known_gives_all_text_at_the_end(kind: str) -> None:
    encoder, tokenizer = encoder_of(kind)
    stream, ids = encoder.decode_stream(), [*range(len(KINDS[kind].tokens))]
    assert stream.push(ids) == ""
    assert stream.finish() == tokenizer.decode(ids) != ""
