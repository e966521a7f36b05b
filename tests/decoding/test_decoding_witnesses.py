"""The counterexamples of proofs/decoding.md, on the library."""

from __future__ import annotations

from typing import Any

from tests.decoding.decoders_drawn import LLAMA, spec_of
from tokpar import Encoder


def built(stages: list[dict[str, Any]], tokens: tuple[str, ...]) -> tuple[Any, Encoder]:
    tokenizer = spec_of(stages, tokens).build()
    return tokenizer, Encoder(tokenizer)


def test_one_later_byte_changes_the_text_of_the_whole_run() -> None:
    tokenizer, encoder = built(LLAMA, ("<0xE4>", "<0xB8>", "<0xAD>", "<0xFF>", "a"))
    assert tokenizer.decode([4, 0, 1, 2]) == "a中"
    assert tokenizer.decode([4, 0, 1, 2, 3]) == "a" + "\ufffd" * 4
    stream = encoder.decode_stream()
    assert stream.push([4, 0, 1, 2]) == "a"
    assert stream.fork().finish() == "中"
    assert stream.step(3) == "\ufffd" * 4


def test_a_prompt_that_ends_inside_a_character_leaves_no_replacement_character() -> None:
    tokenizer, encoder = built([{"type": "ByteLevel"}], ("a", "ä¸", "Ń"))
    assert (tokenizer.decode([0, 1]), tokenizer.decode([0, 1, 2])) == ("a\ufffd", "a中")
    stream = encoder.decode_stream([0, 1])
    assert stream.step(2) + stream.finish() == "中"


def test_one_later_token_changes_all_text_of_byte_level_behind_fuse() -> None:
    stages = [{"type": "Fuse"}, {"type": "ByteLevel"}]
    tokenizer, encoder = built(stages, ("Ġ", "中"))
    assert (tokenizer.decode([0] * 3), tokenizer.decode([0, 0, 0, 1])) == ("   ", "ĠĠĠ中")
    assert encoder.decode_stream().push([0] * 3) == ""
