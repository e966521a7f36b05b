"""The parts of whole tokenizers in plain Python, each and together, against `tokenizers`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers
from tokpar_pure.adapter import FileTokenizer, PureTokenizer, load
from tokpar_pure.decoders import read_decoder
from tokpar_pure.forms import Form
from tokpar_pure.normalizers import read_normalizer
from tokpar_pure.postprocess import PostProcessor, read_postprocess
from tokpar_pure.pretokenize import is_byte_level, read_pre_tokenizer
from tokpar_pure.tokenizer import read_tokenizer
from tokpar_pure.traced_text import TracedText

from tests.recipes import generate_classes
from tests.support import tokenizers_drawn as drawn
from tests.support.paths import VOCAB
from tests.support.pure_ground import on_common_ground
from tests.support.texts import texts
from tokpar.errors import EngineError, FileFormatError
from tokpar.formats.char_classes import one_of
from tokpar.results.spans import postprocess_single

EVERY = "".join(generate_classes.CHARACTERS)
"""All code points but surrogates, in order."""


anything = st.one_of(
    texts(max_size=200),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text(
        "e\u0301\u0323\u0344\u0327a\u09c7\u09be\uac00\u1100\u1161\u11a8\u1df6ﬁΣİ中 \n▁", max_size=12
    ),
)


EACH_ALONE = (
    *("", "  a b-c-- ", "ab1ab22--a\n", "Éa e\u0301ﬁ Σ İ", "Café\t中, b_c_d!", "▁a b▁", "aaa 1²½b"),
    *("\u1100\u1161\u11a8가 \x00\u200d\ufffd", "a\u3000b\x85c \xa0", "abc ab cab"),
)
"""What each kind of part changes or divides."""


def json_of(part: Any) -> dict[str, Any]:
    state: dict[str, Any] = json.loads(part.__getstate__())
    return state


# Classes of characters


def left_out(text: str) -> list[str]:
    """The characters of EVERY that a text lacks, in order; sets of a million take a second."""
    lacks = np.ones(sys.maxunicode + 1, dtype=np.bool_)
    lacks[0xD800:0xE000] = False
    lacks[np.frombuffer(text.encode("utf-32-le"), "<u4")] = False
    return [chr(point) for point in np.flatnonzero(lacks)]


def removed(part: Any) -> list[str]:
    """Characters that a normalizer takes out."""
    return left_out(part.normalize_str(EVERY))


def engine_pieces(part: Any) -> list[str]:
    """The pieces of all characters; ten thousand at a time, which is five times as fast."""
    parts = (EVERY[i : i + 10_000] for i in range(0, len(EVERY), 10_000))
    return [piece for text in parts for piece, _ in part.pre_tokenize_str(text)]


def bert(**switches: bool) -> Any:
    off = {"clean_text": False, "handle_chinese_chars": False, "strip_accents": False}
    return normalizers.BertNormalizer(**{**off, "lowercase": False, **switches})


def test_the_frozen_classes_are_those_of_the_engine() -> None:
    def members(name: str) -> list[str]:
        return re.findall(one_of(name), EVERY)

    removing = {"removed": bert(clean_text=True), "mark": normalizers.StripAccents()}
    white = set(members("white"))
    for name, part in removing.items():
        assert set(members(name)) - white == set(removed(part)) - white
    assert "\u0301" in members("nonspacing")
    spaced = bert(handle_chinese_chars=True).normalize_str(EVERY)
    assert members("chinese") == [c for c in re.findall(r" ([\s\S]) ", spaced) if c != " "]
    for name, part in {
        "punctuation": pre_tokenizers.Punctuation("removed"),
        "white": pre_tokenizers.WhitespaceSplit(),
    }.items():
        assert members(name) == left_out("".join(engine_pieces(part)))
    pieces = engine_pieces(pre_tokenizers.Digits(individual_digits=True))
    assert set(members("number")) >= {c for c in pieces if c.isdigit() and len(c) == 1}


def test_lowercase_is_that_of_the_engine_for_every_character() -> None:
    ours = read_normalizer({"type": "Lowercase"})
    assert ours is not None
    assert ours(EVERY) == normalizers.Lowercase().normalize_str(EVERY)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_form_is_that_of_the_engine_for_every_character(form: Form) -> None:
    """Up to U+2FFFF; beyond, nothing is normalized by anybody."""
    ours, native = read_normalizer({"type": form}), getattr(normalizers, form)()
    assert ours is not None
    apart = "\n".join(EVERY[:0x2FFFF])
    assert ours(apart) == native.normalize_str(apart)


# Normalizers


def bert_normalizers() -> list[Any]:
    switches = (True, False)
    return [
        normalizers.BertNormalizer(
            clean_text=clean, handle_chinese_chars=chinese, strip_accents=strip, lowercase=lower
        )
        for clean in switches
        for chinese in switches
        for strip in (True, False, None)
        for lower in switches
    ]


NORMALIZERS = [make() for make in drawn.NORMALIZERS.values()] + bert_normalizers()


def origins(normalizer: Any, text: str) -> list[tuple[int, int]]:
    """Where the engine says that each normalized character comes from."""
    tokenizer = Tokenizer(models.BPE(vocab={"?": 0}, merges=[], unk_token="?"))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.FixedLength(1)
    offsets: list[tuple[int, int]] = tokenizer.encode(text).offsets
    return offsets


def check_normalizers(stages: list[Any], text: str) -> None:
    native = normalizers.Sequence(stages)
    ours = read_normalizer(json_of(native))
    assert ours is not None
    assert ours(text) == native.normalize_str(text)
    assert [(i, i + 1) for i in ours.trace(text)] == origins(native, text)


@given(st.lists(st.sampled_from(NORMALIZERS), min_size=1, max_size=2), anything)
@example([normalizers.NFC()], "a\u0323\u0301e\u0301\u0344")
@example([normalizers.NFD()], "q\u0307\u0323\u1df6")
@example([normalizers.NFKC()], "ﬁ\u1100\u1161\u11a8")
def test_normalizers_give_the_text_and_origins_of_hf(stages: list[Any], text: str) -> None:
    check_normalizers(stages, text)


# Pre-tokenizers

BEHAVIORS = ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
SPLITS = [
    pre_tokenizers.Split(pattern, behavior, invert=invert)
    for pattern in (" ", "ab", Regex(r"\s+"), Regex("a|[0-9]+"), Regex(r"(a|b)[ab]?"))
    for behavior in BEHAVIORS
    for invert in (True, False)
]
METASPACES = [
    pre_tokenizers.Metaspace(prepend_scheme=scheme, split=split)
    for scheme in ("always", "first", "never")
    for split in (True, False)
]
PRE_TOKENIZERS = [
    *SPLITS,
    *METASPACES,
    *map(pre_tokenizers.Punctuation, BEHAVIORS),
    pre_tokenizers.Whitespace(),
    pre_tokenizers.WhitespaceSplit(),
    pre_tokenizers.BertPreTokenizer(),
    pre_tokenizers.Digits(individual_digits=False),
    pre_tokenizers.Digits(individual_digits=True),
    pre_tokenizers.CharDelimiterSplit("-"),
    pre_tokenizers.FixedLength(3),
]


def check_pre_tokenizers(stages: list[Any], text: str) -> None:
    native = pre_tokenizers.Sequence(stages)
    ours = read_pre_tokenizer(json_of(native))
    expected = native.pre_tokenize_str(text)
    traced = ours.trace(TracedText(text, range(len(text))))
    assert [(piece.text, piece.span(0, len(piece.text))) for piece in traced] == expected
    if not ours.needs_origin:
        assert ours.split(text) == [piece for piece, _ in expected]


@given(st.lists(st.sampled_from(PRE_TOKENIZERS), min_size=1, max_size=3), anything)
def test_pre_tokenizers_give_the_pieces_and_offsets_of_hf(stages: list[Any], text: str) -> None:
    check_pre_tokenizers(stages, text)


def test_each_normalizer_and_pre_tokenizer_alone_is_that_of_hf() -> None:
    for text in EACH_ALONE:
        for stage in NORMALIZERS:
            check_normalizers([stage], text)
        for stage in PRE_TOKENIZERS:
            check_pre_tokenizers([stage], text)


@given(st.booleans(), st.booleans(), st.sampled_from([None, *SPLITS[:10]]), anything)
def test_byte_level_gives_the_pieces_of_hf(prefix: bool, own: bool, before: Any, text: str) -> None:
    text = on_common_ground(text)
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=own)
    native = pre_tokenizers.Sequence([before, byte_level]) if before else byte_level
    ours = read_pre_tokenizer(json_of(native))
    expected = native.pre_tokenize_str(text)
    traced = ours.trace(TracedText(text, range(len(text))))
    assert [(drawn.byte_text(t.text), t.span(0, len(t.text))) for t in traced] == expected
    assert list(map(drawn.byte_text, ours.split(text))) == [piece for piece, _ in expected]


BYTE_LEVELS = [
    pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=own)
    for prefix in (True, False)
    for own in (True, False)
]


@given(
    st.lists(st.sampled_from(PRE_TOKENIZERS), max_size=1),
    st.sampled_from(BYTE_LEVELS),
    st.lists(st.sampled_from([*PRE_TOKENIZERS, *BYTE_LEVELS]), min_size=1, max_size=2),
    anything,
)
@example([], BYTE_LEVELS[2], [pre_tokenizers.Punctuation("contiguous")], "a \u00a1\u4e2d\u00bb!")
@example([], BYTE_LEVELS[3], [pre_tokenizers.Digits(individual_digits=True)], "1\u00b2\u0432")
def test_stages_behind_byte_level_give_the_pieces_of_hf(
    before: list[Any], byte_level: Any, behind: list[Any], text: str
) -> None:
    """They see the letters of bytes; some letters are punctuation and digits."""
    text = on_common_ground(text)
    native = pre_tokenizers.Sequence([*before, byte_level, *behind])
    expected = native.pre_tokenize_str(text)
    config = json_of(native)
    traced = read_pre_tokenizer(config).trace(TracedText(text, range(len(text))))
    shown = drawn.byte_text if is_byte_level(config) else str
    assert [(shown(t.text), t.span(0, len(t.text))) for t in traced] == expected
    if not any(stage in METASPACES for stage in [*before, *behind]):
        pieces = read_pre_tokenizer(config).split(text)
        assert list(map(shown, pieces)) == [piece for piece, _ in expected]


# Added tokens


def check_whole(tokenizer: Tokenizer, text: str, spans: bool = True) -> None:
    """Ids, offsets and decoded text are those of HF, or both fail."""
    ours = read_tokenizer(json.loads(tokenizer.to_str()))
    try:
        native = tokenizer.encode(text, add_special_tokens=False)
    except BaseException as error:
        if not drawn.is_panic(error):
            raise
        with pytest.raises(EngineError):
            ours.encode(text)
        return
    assert ours.encode(text) == native.ids
    assert [token for token, _, _ in ours.spans(text)] == native.ids
    if spans:
        assert [(start, stop) for _, start, stop in ours.spans(text)] == native.offsets
    assert ours.decode(native.ids) == tokenizer.decode(native.ids, skip_special_tokens=False)


def small(added: Sequence[drawn.Added], normalizer: Any = None) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE(vocab={"a": 0, "b": 1, "?": 2}, merges=[], unk_token="?"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    return drawn.add_extras(tokenizer, drawn.Extras(added=tuple(added)))


@pytest.mark.parametrize(
    ("added", "text"),
    [
        ([drawn.Added("xx", single_word=True)], "xx xxa_xx-xx\u0301xx\u200d xx"),
        ([drawn.Added("x", lstrip=True, rstrip=True)], "a \u3000x\n\x85 x  b"),
        ([drawn.Added("a", rstrip=True), drawn.Added(" ")], "a  b"),
        ([drawn.Added("a", rstrip=True), drawn.Added(" ", lstrip=True)], "a b"),
        ([drawn.Added("a", rstrip=True), drawn.Added(" ", lstrip=True)], "a  b"),
        ([drawn.Added("<a>"), drawn.Added("<a><b>"), drawn.Added("b><")], "<a><b><a><b><"),
        ([drawn.Added("a b", single_word=True), drawn.Added("b")], "a bb a b"),
    ],
)
def test_flags_of_added_tokens_mean_what_they_mean_in_hf(
    added: list[drawn.Added], text: str
) -> None:
    check_whole(small(added), text)


def test_normalized_tokens_are_found_in_their_normalized_form() -> None:
    words = [drawn.Added("XX", normalized=True), drawn.Added("xX")]
    for text in ("axxa", "XXxX", "xXXx"):
        check_whole(small(words, normalizers.Lowercase()), text)


def test_tokens_that_are_one_when_normalized_are_refused_as_hf_chooses_at_random() -> None:
    words = [drawn.Added("XX", normalized=True), drawn.Added("xx", normalized=True)]
    native = {small(words, normalizers.Lowercase()).encode("xx").ids[0] for _ in range(50)}
    assert native == {3, 4}
    with pytest.raises(FileFormatError, match="'XX' and 'xx' are both 'xx'"):
        read_tokenizer(json.loads(small(words, normalizers.Lowercase()).to_str()))


# Whole tokenizers

REFUSED = {"UnicodeScripts", "Split behind", "Split anchored"}


def is_refused(spec: drawn.HFSpec) -> bool:
    """What is not supported, by the spec."""
    match spec:
        case drawn.MetaspaceSpec():
            return spec.model == "Unigram"
        case drawn.OtherSpec():
            return spec.pre_tokenizer in REFUSED
        case drawn.ByteLevelSpec():
            return spec.family in ("r50k", "cl100k")
    return False


@pytest.mark.ids
@given(drawn.with_texts(drawn.hf_specs(finishing=False)))
def test_drawn_tokenizers_give_the_ids_and_offsets_of_hf(case: tuple[drawn.HFSpec, str]) -> None:
    spec, text = case
    tokenizer = drawn.build(spec)
    if is_refused(spec) or drawn.has_twins(tokenizer):
        with pytest.raises(FileFormatError):
            read_tokenizer(json.loads(tokenizer.to_str()))
        return
    if isinstance(spec, drawn.ByteLevelSpec):
        text = on_common_ground(text)
    # With only some of the bytes, HF's offsets are off; those of tokpar are not.
    all_bytes = getattr(spec, "byte_tokens", 256) == 256 and not getattr(spec, "missing", 0)
    check_whole(tokenizer, text, spans=all_bytes)


@given(drawn.with_texts(drawn.hf_specs()), st.booleans())
def test_drawn_tokenizers_finish_as_hf_does(
    case: tuple[drawn.HFSpec, str], add_special_tokens: bool
) -> None:
    spec, text = case
    tokenizer = drawn.build(spec)
    if is_refused(spec) or drawn.has_twins(tokenizer) or spec.extras.encode_special:
        return  # the last is a flag that is not in the file
    postprocess = read_postprocess(
        json.loads(tokenizer.to_str()), add_special_tokens=add_special_tokens
    )
    try:
        plain = drawn.plain_copy(tokenizer).encode(text, add_special_tokens=False).ids
        expected = tokenizer.encode(text, add_special_tokens=add_special_tokens).ids
        several = tokenizer.encode_batch([text, ""], add_special_tokens=add_special_tokens)
    except BaseException as error:
        if drawn.is_panic(error):
            return
        raise
    assert postprocess.one(plain) == expected
    assert postprocess.batch([plain, []]) == [each.ids for each in several]


# Decoders

DECODERS = [
    decoders.ByteLevel(),
    decoders.WordPiece(),
    decoders.WordPiece(prefix="a", cleanup=False),
    decoders.Metaspace(),
    decoders.Metaspace(replacement="a", prepend_scheme="never"),
    decoders.ByteFallback(),
    decoders.Fuse(),
    decoders.Strip(" ", 1, 0),
    decoders.Strip("a", 2, 1),
    decoders.Replace("▁", " "),
    decoders.Replace(Regex("a|[0-9]+"), ""),
    decoders.BPEDecoder(),
    decoders.BPEDecoder(suffix="a"),
]
TOKENS = (
    *("a", "##a", "aaa", "b", " a", "▁", "▁a▁", ".", "n't", " ' ", "do not", "'s", "é", "Ġa", "Ã©"),
    *("<0xE4>", "<0xB8>", "<0xAD>", "<0x41>", "<0xe4>", "<0x+F>", "<0x_1>", "<0x4>", "中", "a</w>"),
    *("</w>", "##", "1a22", " a "),
)


def check_decoders(stages: list[Any], tokens: Sequence[str]) -> None:
    native = decoders.Sequence(stages)
    try:
        expected = native.decode(list(tokens))
    except BaseException as error:
        if drawn.is_panic(error):  # Strip, where a token is shorter than what it takes
            return
        raise
    assert read_decoder(json_of(native))(list(tokens)) == expected


@given(
    st.lists(st.sampled_from(DECODERS), min_size=1, max_size=3),
    st.lists(st.sampled_from(TOKENS), min_size=1, max_size=8),
)
def test_decoders_say_what_those_of_hf_say(stages: list[Any], tokens: list[str]) -> None:
    check_decoders(stages, tokens)


def test_each_decoder_alone_says_what_that_of_hf_says() -> None:
    for stage in DECODERS:
        for first, second in product(TOKENS, repeat=2):
            check_decoders([stage], [first, second])


def test_what_bert_puts_around_ids_counts_for_truncation_and_padding() -> None:
    config = {
        "post_processor": {"type": "BertProcessing", "cls": ["[CLS]", 1], "sep": ["[SEP]", 2]},
        "truncation": CUT | {"max_length": 4},
        "padding": {"strategy": {"Fixed": 5}, "pad_id": 0, "pad_token": "[PAD]"},
    }
    postprocess = read_postprocess(config, add_special_tokens=True)
    assert postprocess == PostProcessor(prefix=(1,), suffix=(2,), limit=2, pad=0, length=5)
    assert postprocess.one([3, 4, 5]) == [1, 3, 4, 2, 0]
    assert PostProcessor(pad=0, pads_start=True).batch([[3, 4], [5]]) == [[3, 4], [0, 5]]


# The committed vocabularies


@cache
def pure(name: str) -> PureTokenizer | FileTokenizer:
    path = drawn.DATA / f"{name}.json" if name == "default" else VOCAB / f"{name}.json"
    tokenizer = load(path, engine="pure")
    assert tokenizer is not None
    return tokenizer


def native(name: str) -> Tokenizer:
    tokenizer: Tokenizer = drawn.named_tokenizers()[name]
    return tokenizer


@cache
def native_plain(name: str) -> Tokenizer:
    return drawn.plain_copy(native(name))


NAMES = ["bert_part", "deepseek_part", "llama_style", "default"]


@pytest.mark.ids
@pytest.mark.parametrize("name", NAMES)
@given(text=texts(added=("[MASK]", "[SEP]", "<s>", "<｜User｜>"), max_size=400))
@example(text="")
@example(text="Ａ\u0301é 中文 naïve İstanbul ΑΣ\tﬁ")
def test_named_tokenizers_give_the_ids_of_hf(name: str, text: str) -> None:
    text = on_common_ground(text) if isinstance(pure(name), PureTokenizer) else text
    plain = native_plain(name).encode(text, add_special_tokens=False)
    whole = native(name).encode(text).ids
    ids = pure(name).encode(text)
    assert ids.dtype == np.uint32
    assert ids.tolist() == plain.ids
    assert pure(name).encode_whole(text).tolist() == whole
    assert postprocess_single(pure(name), ids, text).tolist() == whole
    decoded = native(name).decode(plain.ids, skip_special_tokens=False)
    assert pure(name).decode(ids.tolist()) == decoded


# Bad input


def valid() -> dict[str, Any]:
    return {
        "added_tokens": [],
        "model": {"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"},
    }


def template(*single: object) -> dict[str, Any]:
    return {"post_processor": {"type": "TemplateProcessing", "single": list(single)}}


TEXT = {"Sequence": {"id": "A", "type_id": 0}}
CUT = {"max_length": 5, "stride": 0, "strategy": "LongestFirst", "direction": "Right"}
METASPACE = {"type": "Metaspace", "replacement": "▁"}
SPLIT = {"type": "Split", "pattern": {"String": "a"}, "behavior": "Isolated", "invert": False}

BAD: list[tuple[str, dict[str, Any]]] = [
    ("normalizer Precompiled is", {"normalizer": {"type": "Precompiled"}}),
    ("normalizer Nmt is", {"normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}]}}),
    ("normalizer Sequence: exp", {"normalizer": {"type": "Sequence"}}),
    ("normalizer: expected an object", {"normalizer": "NFC"}),
    ("BertNormalizer: expected true", {"normalizer": {"type": "BertNormalizer"}}),
    ("Strip: expected true", {"normalizer": {"type": "Strip", "strip_left": 1}}),
    ("Prepend: expected a string", {"normalizer": {"type": "Prepend"}}),
    ("Replace: pattern None", {"normalizer": {"type": "Replace", "content": ""}}),
    (
        "Replace: pattern .* regex engines",
        {"normalizer": {"type": "Replace", "pattern": {"Regex": r"\w"}, "content": ""}},
    ),
    (
        "Replace: pattern {'String': ''}",
        {"normalizer": {"type": "Replace", "pattern": {"String": ""}, "content": "x"}},
    ),
    ("pre-tokenizer UnicodeScripts is", {"pre_tokenizer": {"type": "UnicodeScripts"}}),
    ("Split: behavior = 'Odd'", {"pre_tokenizer": SPLIT | {"behavior": "Odd"}}),
    ("Split: pattern 'a' is no", {"pre_tokenizer": SPLIT | {"pattern": "a"}}),
    ("expected one character as repl", {"pre_tokenizer": METASPACE | {"replacement": "__"}}),
    ("contradicts", {"pre_tokenizer": METASPACE | {"add_prefix_space": False}}),
    ("length 0", {"pre_tokenizer": {"type": "FixedLength", "length": 0}}),
    ("model type = 'Odd'", {"model": {"type": "Odd", "vocab": {}}}),
    ("decoder CTC is", {"decoder": {"type": "CTC"}}),
    ("Strip: expected a count", {"decoder": {"type": "Strip", "content": " ", "start": -1}}),
    ("post-processor Odd is", {"post_processor": {"type": "Odd"}}),
    ("its template", template()),
    ("'id': 'B'", template(TEXT, {"Sequence": {"id": "B"}})),
    ("'A'", template(TEXT, TEXT)),
    ("no special token of it", template(TEXT, {"SpecialToken": {"id": "x"}})),
    ("its id as cls", {"post_processor": {"type": "BertProcessing", "sep": ["x", 1]}}),
    (
        "only one may",
        {"post_processor": {"type": "Sequence", "processors": [{"type": "BertProcessing"}] * 2}},
    ),
    ("truncation: strategy", {"truncation": CUT | {"strategy": "OnlySecond"}}),
    ("truncation: its stride", {"truncation": CUT | {"stride": 5}}),
    ("padding: expected an object", {"padding": 5}),
    ("added tokens: expected a list", {"added_tokens": 5}),
    ("padding: strategy", {"padding": {"strategy": "Odd", "pad_id": 0}}),
    ("padding: expected a count as pad_id", {"padding": {"strategy": "BatchLongest"}}),
    ("expected content, id", {"added_tokens": [{"content": "x", "id": 2, "odd": True}]}),
    ("expected content, id", {"added_tokens": [{"content": "x", "id": 2, "lstrip": 1}]}),
    ("id 9, expected 2", {"added_tokens": [{"content": "x", "id": 9}]}),
]  # fmt: skip


@pytest.mark.parametrize(("message", "change"), BAD, ids=[message for message, _ in BAD])
def test_a_part_that_cannot_be_followed_is_refused_by_name(
    tmp_path: Path, message: str, change: dict[str, Any]
) -> None:
    path = tmp_path / "some.json"
    path.write_text(json.dumps(valid()), encoding="utf-8")
    assert load(path) is not None
    path.write_text(json.dumps(valid() | change), encoding="utf-8")
    with pytest.raises(FileFormatError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


# Full vocabularies
