"""A stream's text is the text of the tokenizer's own decode, for every decoder of Hugging Face and
every division of the ids."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import needs_below_one
from tests.decoding.decoders_drawn import DecoderSpec, divided, ids_of, spec_of, specs
from tests.support.decode_streams import KINDS, check_stream, encoder_of, own_text
from tokpar import Encoder
from tokpar.decoding.stages import common_start
from tokpar.errors import OptionError

REFUSED = "decode_stream cannot be used: decoder .*, after the tokens were joined"


def check_spec(spec: DecoderSpec, prompt: list[int], runs: list[list[int]], skip: bool) -> bool:
    """`check_stream` of a tokenizer; False if its decoder is refused by name."""
    tokenizer = spec.build()
    encoder = Encoder(tokenizer)
    if spec.is_refused:
        with pytest.raises(OptionError, match=REFUSED):
            encoder.decode_stream(skip_special_tokens=skip)
        return False
    check_stream(
        lambda ids: encoder.decode_stream(ids, skip_special_tokens=skip),
        lambda ids: str(tokenizer.decode(ids, skip_special_tokens=skip)),
        prompt,
        runs,
    )
    return True


@given(st.data(), specs(), st.booleans())
def test_a_stream_gives_the_text_of_the_own_decode(
    data: st.DataObject, spec: DecoderSpec, skip: bool
) -> None:
    ids = data.draw(ids_of(spec))
    prompt = data.draw(st.just([]) | ids_of(spec, 6))
    check_spec(spec, prompt, divided(data.draw, ids), skip)


WORD_PIECE = {"type": "WordPiece", "prefix": "##", "cleanup": False}
FOUND = (
    [
        {"type": "ByteLevel"},
        {"type": "CTC"},
        {"type": "Strip", "content": " ", "start": 0, "stop": 1},
    ],
    [WORD_PIECE, {"type": "BPEDecoder"}, WORD_PIECE],
    [WORD_PIECE, {"type": "BPEDecoder"}, {"type": "Fuse"}, {"type": "Metaspace"}],
)
"""Decoders for which a stream failed, or held more than it said."""


@pytest.mark.parametrize("stages", FOUND)
@pytest.mark.parametrize("runs", [[], [[0], [0]], [[0, 0], [0]]])
def test_decoders_for_which_a_stream_once_failed(
    stages: list[dict[str, Any]], runs: list[list[int]]
) -> None:
    check_spec(spec_of(stages, ["a"]), [], runs, skip=False)


def test_byte_level_reads_the_last_token_of_bpe_as_a_whole() -> None:
    stages = [{"type": "BPEDecoder", "suffix": "a"}, {"type": "ByteLevel"}]
    check_spec(spec_of(stages, ["Ġa", "b", ""]), [], [[0], [2], [1, 0], [0]], skip=False)


@needs_below_one
@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_every_division_gives_the_same_text(kind: str, data: st.DataObject) -> None:
    encoder, tokenizer = encoder_of(kind)
    ids = data.draw(ids_of(KINDS[kind], 40))
    prompt = data.draw(st.just([]) | ids_of(KINDS[kind], 6))
    runs = divided(data.draw, ids)
    decode = lambda some: str(tokenizer.decode(some, skip_special_tokens=False))  # noqa: E731
    check_stream(encoder.decode_stream, decode, prompt, runs)


@pytest.mark.parametrize("kind", KINDS)
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
    most = encoder.decode_stream().most_held
    expected = {"bpe": 6, "llama": None, "byte fallback": None, "byte-level": 1}
    expected |= {"fuse and strip": 2, "replace in the text": 2}
    assert most == expected.get(kind, 0)
