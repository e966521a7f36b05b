"""Decoders of each kind, and streams of ids compared with the whole decode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import pytest

from tests.decoding.decoders_drawn import BYTES, HALVES, LLAMA, DecoderSpec, spec_of
from tokpar import Encoder
from tokpar.decoding.streams import DecodeStream, common_start
from tokpar.errors import EngineError

Decode = Callable[[list[int]], str]
PANICS = "PanicException"


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
        with pytest.raises(EngineError, match="the own decode fails"):
            streamed(start(prompt), runs)
        return
    before = own_text(decode, prompt) or ""
    assert streamed(start(prompt), runs) == whole[common_start(before, whole) :]


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
    "replace": spec_of([*LLAMA[:1], LLAMA[2]], ("▁", "▁a", "b", "")),
}
"""The decoders that are in use, each over tokens in which it finds something to do."""
KNOWN_SHAPES = (*tuple(KINDS)[:5], "none", "replace")


@cache
def encoder_of(kind: str) -> tuple[Encoder, Any]:
    tokenizer = KINDS[kind].build()
    return Encoder(tokenizer), tokenizer
