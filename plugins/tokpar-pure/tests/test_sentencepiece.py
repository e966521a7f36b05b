"""`ScoreBPE` against the library sentencepiece: models that it trains here, and drawn ones."""

from __future__ import annotations

import functools
import io
import random
import struct
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_pure.bpe import ScoreBPE
from tokpar_pure.pairs import byte_token

spm = pytest.importorskip("sentencepiece", reason="needs the package sentencepiece (extra test)")

SYLLABLES = ("ba", "na", "no", "ki", "tu", "re", "él", "на", "да", "語", "日本", "12", "a", "aa")
RARE = ("", "", "ж", "ü", "z", "本")
SETTINGS: dict[str, dict[str, Any]] = {
    "small": {"vocab_size": 40},
    "large": {"vocab_size": 250},
    "bytes": {"vocab_size": 420, "byte_fallback": True},
    "few characters": {"vocab_size": 120, "character_coverage": 0.98},
    "few characters, bytes": {"vocab_size": 380, "character_coverage": 0.98, "byte_fallback": True},
    "across spaces": {
        "vocab_size": 300,
        "split_by_whitespace": False,
        "split_by_unicode_script": False,
        "split_by_number": False,
        "allow_whitespace_only_pieces": True,
    },
}
UNKNOWN, BPE = 2, 2
TYPES = {"normal": 1, "unknown": 2, "byte": 6}
"""Of the library's protocol buffers: `SentencePiece.Type`, and `TrainerSpec.ModelType` above."""

texts = st.text(st.sampled_from("abnokiture él надажüz語日本123 ▁<s>/0xE\n\tß😀"), max_size=40)
long_texts = st.lists(st.sampled_from([*SYLLABLES, " ", "  ", "x", "😀"]), max_size=200).map(
    "".join
)


def sentences() -> list[str]:
    rng = random.Random(1)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(150)]
    lines = [" ".join(rng.choices(words, k=rng.randint(1, 12))) for _ in range(300)]
    return [line.replace(" a", "  a") + rng.choice(RARE) for line in lines]


@functools.cache
def trained(name: str) -> Any:
    """A model that takes the text as it is, but for spaces, which are "▁" to it."""
    model = io.BytesIO()
    spm.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences()),
        model_writer=model,
        model_type="bpe",
        normalization_rule_name="identity",
        add_dummy_prefix=False,
        remove_extra_whitespaces=False,
        num_threads=1,
        minloglevel=2,
        **SETTINGS[name],
    )
    return spm.SentencePieceProcessor(model_proto=model.getvalue())


def ours(model: Any) -> ScoreBPE:
    """`ScoreBPE` of the same pieces, as the library's own functions tell them."""
    normal, bytes_ = {}, {}
    for id_ in range(model.get_piece_size()):
        piece = model.id_to_piece(id_)
        if model.is_byte(id_):
            bytes_[piece] = id_
        elif not (model.is_control(id_) or model.is_unknown(id_) or model.is_unused(id_)):
            normal[piece] = (id_, model.get_score(id_))
    byte_ids = [bytes_[byte_token(byte)] for byte in range(256)] if bytes_ else None
    return ScoreBPE(normal, model.unk_id(), byte_ids)


@functools.cache
def our_trained(name: str) -> ScoreBPE:
    return ours(trained(name))


def encode(model: ScoreBPE, text: str) -> list[int]:
    return list(model.encode(text.replace(" ", "▁")))


@pytest.mark.parametrize("name", SETTINGS)
@given(text=texts | long_texts)
@example(text="")
@example(text="  a  ▁ ")
@example(text="<s></s><unk><0x0A>")
@example(text="😀ß😀x😀")
@example(text="na\x00na")
@example(text="a" * 1000)
def test_trained_models_give_the_ids_of_sentencepiece(name: str, text: str) -> None:
    assert encode(our_trained(name), text) == trained(name).encode(text)


# Drawn pieces and scores: equal scores, pieces that nothing merges into, letters that are no piece


def field(number: int, value: bytes | str | int | float) -> bytes:
    """One field of a protocol buffer; numbers below 128."""
    if isinstance(value, float):
        return bytes([number << 3 | 5]) + struct.pack("<f", value)
    if isinstance(value, int):
        return number_bytes(number << 3) + bytes([value])
    data = value.encode("utf-8") if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + number_bytes(len(data)) + data


def number_bytes(number: int) -> bytes:
    """In groups of seven bits, the least first."""
    low, rest = number & 127, number >> 7
    return bytes([low | 128]) + number_bytes(rest) if rest else bytes([low])


def made(pieces: dict[str, float], bytes_: bool) -> Any:
    """A model with these pieces, of one kind: "normal"."""
    rows = [("<unk>", 0.0, "unknown"), *((p, s, "normal") for p, s in pieces.items())]
    rows += [(byte_token(byte), 0.0, "byte") for byte in range(256)] if bytes_ else []
    proto = b"".join(
        field(1, field(1, piece) + field(2, score) + field(3, TYPES[kind]))
        for piece, score, kind in rows
    )
    trainer = field(3, BPE) + field(35, int(bytes_)) + field(40, 0)
    normalizer = field(1, "identity") + field(3, 0) + field(4, 0) + field(5, 1)
    return spm.SentencePieceProcessor(model_proto=proto + field(2, trainer) + field(3, normalizer))


scores = st.sampled_from((0.0, -1.0, -1.5)) | st.floats(-3, 1, width=32).map(
    lambda score: score + 0
)
"""Not -0.0, which is below 0.0 to sentencepiece 0.2.3, and equal to it to 0.2.0 and to us."""
drawn_pieces = st.dictionaries(
    st.text("ab", min_size=2, max_size=3) | st.text("ab▁c", min_size=1, max_size=5),
    scores,
    min_size=1,
    max_size=16,
)


@given(drawn_pieces, st.booleans(), st.text("ab c", max_size=30) | st.text("ab", max_size=400))
@example({"a": 0.0, "aa": -1.0, "ab": -1.0}, False, "aaab")
@example({"ab": -1.0, "aa": -1.0}, False, "aab")
@example({"ab": -1.0, "abab": -2.0}, True, "abababc")
@example({"aa": -1.0}, False, "aaaaa")
def test_drawn_models_give_the_ids_of_sentencepiece(
    pieces: dict[str, float], bytes_: bool, text: str
) -> None:
    model = made(pieces, bytes_)
    assert encode(ours(model), text) == model.encode(text)
