"""Each kind of normalizer, pre-tokenizer and decoder that the readers know, on one text."""

from __future__ import annotations

from typing import Any

import pytest
from tokpar_pure.decoders import read_decoder
from tokpar_pure.model import read_model
from tokpar_pure.normalizers import UnicodeForm, read_normalizer
from tokpar_pure.postprocess import PostProcess, read_postprocess
from tokpar_pure.pretokenize import read_pre_tokenizer
from tokpar_pure.traced_text import TracedText

BERT = {"clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": True}
EACH_DIGIT = {"type": "Digits", "individual_digits": True}
LETTERS = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
ON_DASHES = {"type": "Split", "pattern": {"String": "-"}, "invert": False}
STRIP = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
Kind = dict[str, Any]


@pytest.mark.parametrize(
    ("kind", "text", "normalized"),
    [
        ({"type": "NFC"}, "e\u0301", "é"),
        ({"type": "NFD"}, "é", "e\u0301"),
        ({"type": "NFKC"}, "ﬁ e\u0301", "fi é"),
        ({"type": "NFKD"}, "ﬁ é", "fi e\u0301"),
        ({"type": "Lowercase"}, "ÉΣ", "éσ"),
        ({"type": "StripAccents"}, "e\u0301", "e"),
        ({"type": "Strip", "strip_left": True, "strip_right": False}, " a ", "a "),
        ({"type": "Prepend", "prepend": "▁"}, "a b", "▁a b"),
        ({"type": "Replace", "pattern": {"String": " "}, "content": "▁"}, "a b", "a▁b"),
        ({"type": "Replace", "pattern": {"Regex": " +"}, "content": " "}, "a   b", "a b"),
        ({"type": "BertNormalizer", **BERT}, "Café\t中", "cafe  中 "),
        (
            {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "StripAccents"}]},
            "é",
            "e",
        ),
    ],
)
def test_a_normalizer(kind: Kind, text: str, normalized: str) -> None:
    normalizer = read_normalizer(kind)
    assert normalizer is not None
    assert normalizer(text) == normalized


@pytest.mark.parametrize(
    ("kind", "text", "pieces"),
    [
        ({"type": "BertPreTokenizer"}, "a, b-c", ["a", ",", "b", "-", "c"]),
        ({"type": "Whitespace"}, "a_1, b--", ["a_1", ",", "b", "--"]),
        ({"type": "WhitespaceSplit"}, "a, b", ["a,", "b"]),
        ({"type": "Punctuation"}, "a, b", ["a", ",", " b"]),
        ({"type": "Digits", "individual_digits": False}, "a12", ["a", "12"]),
        (EACH_DIGIT, "a12", ["a", "1", "2"]),
        ({"type": "CharDelimiterSplit", "delimiter": "-"}, "a-b", ["a", "b"]),
        ({"type": "FixedLength", "length": 2}, "abc", ["ab", "c"]),
        ({"type": "ByteLevel", "add_prefix_space": True}, "a b", [" a", " b"]),
        (LETTERS, "a b", ["a b"]),
        (
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            "a b",
            ["▁a", "▁b"],
        ),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}, "a b", ["a", "▁b"]),
        (
            {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, EACH_DIGIT]},
            "a 12",
            ["a", "1", "2"],
        ),
        (  # a stage behind ByteLevel sees a letter for each byte: "в" is the bytes D0 and B2
            {
                "type": "Sequence",
                "pretokenizers": [LETTERS, {"type": "Digits", "individual_digits": False}],
            },
            "7 в",
            ["7", "ĠÐ", "²"],
        ),
        ({**ON_DASHES, "behavior": "Removed"}, "a--b", ["a", "b"]),
        ({**ON_DASHES, "behavior": "Isolated"}, "a--b", ["a", "-", "-", "b"]),
        ({**ON_DASHES, "behavior": "MergedWithPrevious"}, "a--b", ["a-", "-", "b"]),
        ({**ON_DASHES, "behavior": "MergedWithNext"}, "a--b", ["a", "-", "-b"]),
        ({**ON_DASHES, "behavior": "Contiguous"}, "a--b", ["a", "--", "b"]),
    ],
)
def test_a_pre_tokenizer(kind: Kind, text: str, pieces: list[str]) -> None:
    assert read_pre_tokenizer(kind).split(text) == pieces


def test_metaspace_first_marks_the_start_of_the_whole_text_only() -> None:
    dashes = {**ON_DASHES, "behavior": "Removed"}
    first = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}
    stages = read_pre_tokenizer({"type": "Sequence", "pretokenizers": [dashes, first]})
    assert [piece.text for piece in stages.trace(TracedText("a-b", range(3)))] == ["▁a", "b"]


def test_a_text_carries_along_where_its_characters_come_from() -> None:
    text = TracedText("Éa", range(2)).with_text("E\u0301a", UnicodeForm("NFD").trace("Éa"))
    assert text.span(0, 2) == (0, 1)


@pytest.mark.parametrize(
    ("kind", "tokens", "text"),
    [
        (None, ["play", "ing"], "play ing"),
        ({"type": "ByteLevel"}, ["caf", "Ã", "©", "Ġau"], "café au"),
        (
            {"type": "WordPiece", "prefix": "##", "cleanup": True},
            ["play", "##ing", "!"],
            "playing!",
        ),
        (
            {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
            ["▁a", "▁b"],
            "a b",
        ),
        ({"type": "BPEDecoder", "suffix": "</w>"}, ["pl", "ay</w>", "on</w>"], "play on"),
        ({"type": "ByteFallback"}, ["a", "<0xC3>", "<0xA9>"], "aé"),
        ({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, ["a", "▁b"], "a b"),
        (STRIP, [" a", "  b"], "a b"),
        ({"type": "Sequence", "decoders": [{"type": "Fuse"}, STRIP]}, [" a", " b"], "a b"),
    ],
)
def test_a_decoder(kind: Kind | None, tokens: list[str], text: str) -> None:
    assert read_decoder(kind)(tokens) == text


def test_a_model_of_words_and_one_that_leaves_out_what_is_no_token() -> None:
    words = {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "play": 1, "work": 2}}
    model = read_model(words, byte_level=False)
    assert model.encode_all(["work", "play", "rest"]) == [2, 1, 0]
    assert model.spans("play") == [(1, 0, 4)]
    small = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    assert read_model(small, byte_level=True).encode("aéb") == (2,)


def test_what_is_done_once_to_the_ids() -> None:
    config = {
        "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]},
        "truncation": {"max_length": 4, "strategy": "LongestFirst", "stride": 0},
        "padding": {"strategy": {"Fixed": 5}, "pad_id": 0, "pad_token": "[PAD]"},
    }
    postprocess = read_postprocess(config, add_special_tokens=True)
    assert postprocess == PostProcess(prefix=(1,), suffix=(2,), limit=2, pad=0, length=5)
    assert postprocess.one([3, 4, 5]) == [1, 3, 4, 2, 0]
    assert PostProcess(pad=0, pads_start=True).batch([[3, 4], [5]]) == [[3, 4], [0, 5]]
