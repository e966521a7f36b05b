"""A stream's text is the text of the tokenizer's own decode, for every decoder of Hugging Face and
every division of the ids."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.decoding.decoders_drawn import (
    BYTES,
    HALVES,
    LLAMA,
    DecoderSpec,
    divided,
    ids_of,
    spec_of,
    specs,
)
from tokpar import Encoder
from tokpar.decoding.stages import common_start
from tokpar.decoding.streams import DecodeStream
from tokpar.errors import EngineError, OptionError

Decode = Callable[[list[int]], str]
PANICS = "PanicException"
REFUSED = "decode_stream cannot be used: decoder .*, after the tokens were joined"


def own_text(decode: Decode, ids: list[int]) -> str | None:
    """The text of the tokenizer's own call; None where the library panics."""
    try:
        return decode(ids)
    except BaseException as error:
        if type(error).__name__ != PANICS:
            raise
        return None


def streamed(stream: DecodeStream, runs: Sequence[list[int]]) -> str:
    """All texts of a stream that gets these runs."""
    texts = []
    for run in runs:
        texts.append(stream.step(run[0]) if len(run) == 1 else stream.push(run))
        most = stream.most_held
        assert most is None or len(rest_of(stream.fork())) <= most
    return "".join(texts) + stream.finish()


def rest_of(stream: DecodeStream) -> str:
    try:
        return stream.finish()
    except EngineError:
        return ""


def check_stream(
    start: Callable[[list[int]], DecodeStream],
    decode: Decode,
    prompt: list[int],
    runs: Sequence[list[int]],
) -> None:
    """Asserts that the stream gives what follows the prompt's own text in the text of all ids."""
    whole = own_text(decode, [*prompt, *(id_ for run in runs for id_ in run)])
    if whole is None:
        with pytest.raises(EngineError, match="Strip"):
            streamed(start(prompt), runs)
        return
    before = own_text(decode, prompt) or ""
    assert streamed(start(prompt), runs) == whole[common_start(before, whole) :]


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


KINDS: dict[str, DecoderSpec] = {
    "byte-level": spec_of([{"type": "ByteLevel"}], (*HALVES, "a", "Ġ", "é", "中")),
    "llama": spec_of(LLAMA, (*BYTES[:7], BYTES[9], *BYTES[-2:], "▁", "▁a")),
    "byte fallback": spec_of(
        [{"type": "ByteFallback"}], (*BYTES[:7], BYTES[9], *BYTES[-2:], "a", "")
    ),
    "metaspace": spec_of([{"type": "Metaspace", "replacement": "▁"}], ("▁", "▁a", "a▁", "")),
    "wordpiece": spec_of([{"type": "WordPiece"}], ("a", "##b", "##", ".", "'", "##'", "s", "")),
    "bpe": spec_of([{"type": "BPEDecoder"}], ("a</w>", "b", "</w>", "a</w>b", "")),
    "ctc": spec_of([{"type": "CTC"}], ("a", "b", "<pad>", "|", ".", "")),
    "none": spec_of([], ("a", " ", "", ".")),
    "fuse and strip": spec_of(
        [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 2, "stop": 2}],
        (" ", "a", "a  ", ""),
    ),
    "replace in the text": spec_of(
        [{"type": "Fuse"}, {"type": "Replace", "pattern": {"String": "aab"}, "content": "."}],
        ("a", "b", "ab", "aa", ""),
    ),
}
"""The decoders that are in use, each over tokens in which it finds something to do."""


@cache
def encoder_of(kind: str) -> tuple[Encoder, Any]:
    tokenizer = KINDS[kind].build()
    return Encoder(tokenizer), tokenizer


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
