"""A Unigram behind Metaspace in the compiled call."""

from __future__ import annotations

import base64
import json
import random
from itertools import product
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from tokpar_conformance.worlds.charsmaps import charsmap

import tokpar
from tests.conftest import needs_kernel
from tests.support.call_answers import own_ids
from tests.support.profiles import drawn
from tests.support.unigram_drawn import (
    draw_cluster_text,
    draw_table,
    draw_tokenizer,
    draw_unigram_text,
    ids_by_path,
    ids_of_call,
    native_call,
    normalized_tokenizer,
)
from tests.support.unigram_shapes import METASPACE, NMT_PART, RUNS, SHAPES, shape, stage
from tokpar.adapters.hf_look import written_model
from tokpar.compiled.charsmap_tables import NormalizerRow, normalizer_arrays
from tokpar.compiled.merges import GateError
from tokpar.compiled.segment_engine import SegmentEngine
from tokpar.compiled.unigram_tables import read_pieces, unigram_arrays, unigram_stages
from tokpar.process import kernel_modules

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_kernel]


def small(pieces: list[tuple[str, float]], unknown: int | None = 0, **mark: Any) -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=unknown, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(**mark)
    return tokenizer


def test_drawn_vocabularies_have_the_engine_s_ids_in_both_meetings() -> None:
    for seed in range(drawn(400)):
        draw = random.Random(seed)
        tokenizer = draw_tokenizer(draw)
        call = native_call(tokenizer)
        for text in (draw_unigram_text(draw) for _ in range(20)):
            expected = own_ids(tokenizer, text, special=True)
            assert ids_of_call(call, text) == expected, (seed, text)
            assert ids_of_call(call, text) == expected, (seed, text)


def test_drawn_pre_tokens_have_the_ids_of_the_rule() -> None:
    for seed in range(drawn(300)):
        draw = random.Random(seed)
        tokenizer = draw_tokenizer(draw)
        model = json.loads(tokenizer.model.__getstate__())
        settings = model["vocab"], model["unk_id"], model["byte_fallback"]
        stage: Any = tokenizer.pre_tokenizer
        for text in (draw_unigram_text(draw) for _ in range(5)):
            rows = [ids_by_path(*settings, piece) for piece, _ in stage.pre_tokenize_str(text)]
            known = [row for row in rows if row is not None]
            expected = None if len(known) < len(rows) else [i for row in known for i in row]
            assert expected == own_ids(tokenizer, text, special=True), (seed, text)


@pytest.mark.parametrize("size", [15, 16, 17])
def test_a_pre_token_is_no_segment_of_the_same_bytes(size: int) -> None:
    """The normalizer makes "b" of "c", and "a" of "b"; the learned words are moved meanwhile."""
    pieces = [("<unk>", 0.0), *((char, -2.0 - 0.1 * k) for k, char in enumerate("abxyz"))]
    tokenizer = small(pieces, prepend_scheme="never")
    replaced = [stage("Replace", pattern={"String": a}, content=b) for a, b in ("ba", "cb")]
    config = json.loads(tokenizer.to_str()) | {
        "normalizer": stage("Sequence", normalizers=replaced)
    }
    tokenizer = Tokenizer.from_str(json.dumps(config))
    call = native_call(tokenizer)
    text = "c" * size + " x"
    assert ids_of_call(call, text) == tokenizer.encode(text).ids
    for number in range(4000):
        word = np.base_repr(number, 3).translate(str.maketrans("012", "xyz"))
        ids_of_call(call, f"x{word} x")
    for text in ("b" * size, "c" * size) * 2:
        assert ids_of_call(call, text) == tokenizer.encode(text).ids


@pytest.mark.parametrize("scheme", ["always", "first", "never"])
@pytest.mark.parametrize("split", [True, False])
def test_a_loaded_tokenizer_asks_the_engine_for_no_segment(
    scheme: str, split: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [("<unk>", 0.0), *((char, -3.0) for char in "▁abcdé"), ("▁ab", -2.0), ("cd", -1.0)]
    tokenizer = small(pieces, prepend_scheme=scheme, split=split)
    tokenizer.add_special_tokens(["<s>"])
    adapter: Any = tokpar.load(tokenizer)
    call = adapter.later_call.wait()
    assert call is not None
    monkeypatch.setattr(SegmentEngine, "rows", lambda *_: pytest.fail("the engine was asked"))
    texts = [
        "ab cd ab",
        "x" * 70 + " ab",
        "é<s>cd <s> ab",
        "",
        " ",
        "▁ab",
        "ab<s>ab  cd\n ab " * 40,
    ]
    for text in texts * 2:
        assert call.encode(text).tolist() == tokenizer.encode(text).ids, text
    rows, is_answered = call.rows(texts, 2)
    assert all(is_answered)
    assert [row.tolist() for row in rows] == [tokenizer.encode(text).ids for text in texts]


def test_drawn_normalizers_have_the_engine_s_ids() -> None:
    answered = left = 0
    for seed in range(drawn(50)):
        draw = random.Random(seed)
        tokenizer = normalized_tokenizer(draw)
        try:
            call = native_call(tokenizer)
        except GateError:
            continue
        for _ in range(150):
            text = draw.choice([draw_cluster_text, draw_unigram_text])(draw)
            found = ids_of_call(call, text)
            answered, left = answered + (found is not None), left + (found is None)
            assert found is None or found == own_ids(tokenizer, text, special=True), (seed, text)
    assert answered > left


@pytest.mark.parametrize("name", SHAPES)
def test_drawn_vocabularies_in_the_shapes_of_published_files_have_the_engine_s_ids(
    name: str,
) -> None:
    answered = left = native = 0
    for seed in range(drawn(40)):
        draw = random.Random(f"{name} {seed}")
        table = draw.choice([NMT_PART, draw_table(draw)])
        config = json.loads(draw_tokenizer(draw).to_str()) | shape(table, name)
        config["model"]["unk_id"] = 0
        tokenizer = Tokenizer.from_str(json.dumps(config))
        tokenizer.add_special_tokens(["[CLS]", "[MASK]"])
        texts = [draw.choice([draw_cluster_text, draw_unigram_text])(draw) for _ in range(40)]
        texts += [f"{texts[0]}[MASK] {texts[1]}", f" {texts[2]}[CLS]"]
        adapter: Any = tokpar.load(tokenizer)
        call = adapter.later_call.wait()
        is_native = call is not None and not call.why_by_engine
        assert is_native or table is not NMT_PART, (seed, adapter.why_not_compiled)
        if call is None:
            continue
        for text in texts * 2:
            found = call.encode(text)
            answered, left = answered + (found is not None), left + (found is None)
            assert found is None or found.tolist() == tokenizer.encode(text).ids, (seed, text)
        native += is_native
        batch = tokpar.Encoder(tokenizer).encode_batch(texts)
        assert [list(row) for row in batch] == [each.ids for each in tokenizer.encode_batch(texts)]
    assert answered > left
    assert native > 2


ROWS = (
    *(
        ["NFC"],
        ["NFKC"],
        ["NFD"],
        ["NFKD"],
        ["Nmt", "NFKC"],
        ["Lowercase", "NFKC"],
        ["NFC", "NFKD"],
    ),
    *(["NFKD", "StripAccents", "Lowercase"], ["NFD", "StripAccents", "NFC"], ["Nmt", "NFD"]),
    ["NFKC", "Lowercase"],
)


MARKS = "aå\u0301\u0344\u0f40\u0f71\u0f72\u0f73\u0f75\u0f81\u093f\u1161"
"""Letters, and marks behind them. Some marks decompose into two."""


@pytest.mark.parametrize("row", ROWS, ids=" then ".join)
@pytest.mark.parametrize("has_table", [False, True])
def test_forms_of_characters_stand_one_after_the_other(row: list[str], has_table: bool) -> None:
    """Those of all characters that are not left to the engine, next to any others of them."""
    draw, stages = random.Random(7), [{"type": kind} for kind in row]
    table = base64.b64encode(NMT_PART).decode()
    own = normalizer_of(
        [*stages, stage("Precompiled", precompiled_charsmap=table)][: len(row) + has_table]
    )
    made = normalizer_arrays(
        NormalizerRow(before=tuple(stages), table=table if has_table else None)
    )
    forms, texts = made["unigram_forms"].tolist(), made["unigram_texts"].tobytes()
    alone = [code for code, form in enumerate(forms) if not form & 2 and code != 0xA000]
    changed = [code for code in alone if forms[code] & 1]
    codes = [draw.choice(draw.choice([alone, changed])) for _ in range(3 * drawn(20_000))]
    words = ["".join(map(chr, codes[k : k + 3])) for k in range(0, len(codes), 3)]
    marks = [char for char in MARKS if not forms[ord(char)] & 2]
    words += map("".join, product(marks, repeat=2))
    images = own.normalize_str("\ua000".join(words)).split("\ua000")
    for word, image in zip(words, images, strict=True):
        if has_table and "\r\n" in word:
            continue
        found = [forms[ord(char)] for char in word]
        spelled = [
            texts[form >> 3 : texts.index(0, form >> 3)].decode() if form & 1 else char
            for char, form in zip(word, found, strict=True)
        ]
        assert "".join(spelled) == image, ascii(word)


def normalizer_of(stages: list[dict[str, Any]]) -> Any:
    config = json.loads(small([("<unk>", 0.0)]).to_str())
    config["normalizer"] = stage("Sequence", normalizers=stages)
    return Tokenizer.from_str(json.dumps(config)).normalizer


@pytest.mark.parametrize(
    ("row", "text", "is_native"),
    [
        (["NFKC"], "中文，中文。ﬁ", True),
        (["Nmt", "NFKC"], "ab\nab\r\nab", True),
        (["NFKC"], "e\u0301", False),
        (["NFKC"], "\u1112\u1161", False),
        (["Nmt", "NFD"], "å\u0f73", False),  # it has the class 0, and is two marks
    ],
)
def test_a_normal_form_of_one_character_is_native(
    row: list[str], text: str, is_native: bool
) -> None:
    config = json.loads(
        small([("<unk>", 0.0), *((c, -2.0) for c in "▁ab中文,。fi\u030a")]).to_str()
    )
    config["normalizer"] = stage("Sequence", normalizers=[{"type": kind} for kind in row])
    tokenizer = Tokenizer.from_str(json.dumps(config))
    found = ids_of_call(native_call(tokenizer), text)
    assert found == (tokenizer.encode(text).ids if is_native else None)


def test_drawn_texts_have_the_places_of_the_engine() -> None:
    answered = 0
    for seed in range(drawn(60)):
        draw = random.Random(seed)
        tokenizer = draw.choice([draw_tokenizer, normalized_tokenizer])(draw)
        try:
            call = native_call(tokenizer)
        except GateError:
            continue
        for _ in range(40):
            text = draw.choice([draw_cluster_text, draw_unigram_text])(draw)
            found = call.encode_places(text)
            if found is not None:
                answered += 1
                assert places_of(found) == own_places(tokenizer, text), (seed, text)
    assert answered > drawn(60)


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("eab", {"a": "", "b": "ab"}),  # the same bytes in other places
        ("a b", {" ": " "}),
        ("a\u3000b", {"\u3000": " "}),
        ("a\nb", {"\n": " "}),
        ("a\r\nb\ne", {"\n": " ", "\r": " "}),
        ("a\n\u0301b", {"\n": " "}),
    ],
)
def test_places_of_changed_characters_are_the_engine_s(text: str, table: dict[str, str]) -> None:
    tokenizer = with_table({**table, "x": "y"})
    call = native_call(tokenizer)
    assert ids_of_call(call, text) in (None, tokenizer.encode(text).ids)
    found = call.encode_places(text)
    assert found is None or places_of(found) == own_places(tokenizer, text)
    assert call.encode_places("e\ne" if "\n" in table else "e e") is not None


def own_places(tokenizer: Tokenizer, text: str) -> Any:
    encoding = tokenizer.encode(text)
    return encoding.ids, encoding.offsets, encoding.word_ids


def places_of(found: Any) -> Any:
    ids, spans, words, _ = found
    pairs = np.frombuffer(spans, np.int64).reshape(-1, 2).tolist()
    numbers = np.frombuffer(words, np.int64).tolist()
    return np.frombuffer(ids, np.uint32).tolist(), [*map(tuple, pairs)], numbers


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("e\u0301x", {"e": "y"}),  # the rest of a cluster below six bytes is dropped
        ("e\u0301\u0301\u0301x", {"e": "y"}),  # not of a longer one
        ("é\u0301\u0301x", {"é": "y"}),
        ("e\u0301x", {"e\u0301": "a"}),
        ("a\r\nb", {"\r\n": "x", "\n": "y"}),
        ("a\r\nb", {"\r": "x"}),
        ("x a  b", {"x": " ", "a": "  "}),
        ("ab" * 40, {"a": "b" * 33}),
    ],
)
def test_the_table_replaces_clusters_as_the_engine_does(text: str, table: dict[str, str]) -> None:
    tokenizer = with_table(table)
    found = ids_of_call(native_call(tokenizer), text)
    assert found is not None
    assert found == tokenizer.encode(text).ids


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ("a\u0600b", {"b": "x"}),  # U+0600 joins what follows
        ("©\u200d©", {"©": "x"}),  # a picture of two characters
        ("\u1161\u1161\u0301", {"\u1161": "x"}),  # a syllable in a longer cluster
        ("❤\u200d❤\u0301", {"❤": "x"}),
        ("\x07\u0301", {"\x07": "x"}),  # a mark does not join a control character
        ("a\u0378", {"a": "x"}),  # not assigned
    ],
)
def test_clusters_that_hang_on_more_are_the_engine_s(text: str, table: dict[str, str]) -> None:
    assert ids_of_call(native_call(with_table(table)), text) is None


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb", "\r\nb", "a\n\u0301b", "\ra"])
def test_a_line_end_that_nmt_makes_a_space_is_in_no_cluster(text: str) -> None:
    """Else the replacement of "a" would stand for "a" and the line end."""
    tokenizer = with_table({"a": "e", "\r": "x", "\r\n": "y"}, stage("Nmt"))
    found = ids_of_call(native_call(tokenizer), text)
    assert found is None or found == tokenizer.encode(text).ids
    assert ids_of_call(native_call(tokenizer), "abab") == tokenizer.encode("abab").ids


def with_table(table: dict[str, str], *stages: Any) -> Tokenizer:
    """A Unigram behind the stages and Precompiled with the replacements."""
    pieces = [("<unk>", 0.0), *((char, -2.0) for char in "▁abexy\u0301\r\n©")]
    config = json.loads(small(pieces).to_str())
    data = base64.b64encode(charsmap(table)).decode()
    row = [*stages, stage("Precompiled", precompiled_charsmap=data)]
    config["normalizer"] = stage("Sequence", normalizers=row)
    return Tokenizer.from_str(json.dumps(config))


@pytest.mark.parametrize("split", [True, False])
def test_white_space_that_becomes_a_cut_and_a_mark_has_room(split: bool) -> None:
    tokenizer = small([("<unk>", 0.0), ("▁", -1.0), ("a", -1.0)], split=split)
    row = [pre_tokenizers.WhitespaceSplit(), tokenizer.pre_tokenizer]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(row)  # type: ignore[assignment]
    call, text = native_call(tokenizer), "a " * 5000
    assert ids_of_call(call, text) == tokenizer.encode(text).ids


@pytest.mark.parametrize(
    ("scores", "text"),
    [
        ({"▁": -1.0, "xa": -5.0, "a": 9.5}, "xa"),  # an unknown character scores -15
        ({"▁": 30.0, "xx": 30.0}, "xx"),  # two unknown ones score 40, and are looked up together
    ],
)
def test_unknown_characters_have_the_engine_s_score_and_ids(
    scores: dict[str, float], text: str
) -> None:
    tokenizer = small([("<unk>", max(scores.values())), *scores.items()])
    assert ids_of_call(native_call(tokenizer), text) == tokenizer.encode(text).ids
    assert tokenizer.token_to_id(text) in tokenizer.encode(text).ids


def test_scores_are_those_that_the_engine_has_read_from_the_file() -> None:
    # the engine reads some decimals of a file one unit off in the last place
    draw, own = random.Random(3), []
    for _ in range(60):
        scores = [-draw.random() * 20 for _ in range(40)]
        read = Tokenizer.from_str(small([(str(k), x) for k, x in enumerate(scores)]).to_str())
        own.append((scores, read_pieces(written_model(read.model)).scores.tolist()))
    assert any(scores != found for scores, found in own)
    assert all(np.allclose(scores, found, rtol=1e-15, atol=0) for scores, found in own)


def test_a_tie_in_the_file_that_is_none_in_the_engine_has_the_engine_s_ids() -> None:
    draw, differ = random.Random(5), 0
    for _ in range(300):
        # "ab" and "a" + "b" have one score in Python
        a, b = -draw.random() * 20, -draw.random() * 20
        pieces = [("<unk>", 0.0), ("▁", -1.0), ("a", a), ("b", b), ("ab", a + b), ("▁a", a - 1.0)]
        tokenizer = Tokenizer.from_str(small(pieces).to_str())
        read = json.loads(tokenizer.model.__getstate__())["vocab"]
        differ += ids_by_path(read, 0, False, "▁ab") != ids_by_path(pieces, 0, False, "▁ab")
        assert ids_of_call(native_call(tokenizer), "ab") == tokenizer.encode("ab").ids
    assert differ > 0


@pytest.mark.parametrize("score", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_is_no_number_leaves_the_model_to_the_engine(score: float) -> None:
    tokenizer = small([("<unk>", 0.0), ("▁", -1.0), ("a", score), ("aa", -1.0)])
    with pytest.raises(GateError, match="no number"):
        unigram_arrays(tokenizer.model.__getstate__(), None, METASPACE)
    adapter: Any = tokpar.load(tokenizer)
    call = adapter.later_call.wait()
    for text in ("a aaa", "aa a x"):
        assert call is None or call.encode(text).tolist() == tokenizer.encode(text).ids


def test_a_new_word_of_which_the_engine_has_other_ids_stops_the_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.SAMPLED", 1)  # each new segment is compared
    monkeypatch.setattr("tokpar.compiled.compiled_build.drawn_texts", lambda *_: [])
    tokenizer = small([("<unk>", 0.0), ("▁", -1.0), ("a", -1.0), ("b", -2.0)])
    adapter: Any = tokpar.load(tokenizer)
    call = adapter.later_call.wait()
    assert call.encode("ab ba").tolist() == tokenizer.encode("ab ba").ids
    monkeypatch.setattr(call, "_tokenize", lambda word: [7])
    with pytest.raises(tokpar.MismatchError, match="bbb"):
        call.encode("bbb")
    assert call.encode("ab") is None


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "why"),
    [
        ({"type": "Prepend", "prepend": "▁"}, METASPACE, "Prepend"),
        ({"type": "BertNormalizer"}, METASPACE, "BertNormalizer"),
        ({"type": "Nmt"}, METASPACE | {"prepend_scheme": "first"}, "first"),
        (
            {"type": "Sequence", "normalizers": [RUNS | {"content": "x"}]},
            METASPACE,
            "Replace",
        ),
        (None, None, "missing"),
        (None, {"type": "Whitespace"}, "Whitespace"),
        (None, METASPACE | {"replacement": "_"}, "U\\+2581"),
        (
            None,
            {
                "type": "Sequence",
                "pretokenizers": [
                    {"type": "WhitespaceSplit"},
                    METASPACE | {"prepend_scheme": "first"},
                ],
            },
            "first",
        ),
    ],
)
def test_other_stages_are_refused_by_name(normalizer: Any, pre_tokenizer: Any, why: str) -> None:
    with pytest.raises(GateError, match=why):
        unigram_stages(normalizer, pre_tokenizer)


@pytest.mark.parametrize(
    ("written", "scheme"),
    [
        ({}, "always"),
        ({"add_prefix_space": True}, "always"),
        ({"add_prefix_space": False}, "never"),
        ({"add_prefix_space": False, "prepend_scheme": "first"}, "first"),
    ],
)
def test_files_of_older_releases_say_by_a_bool_whether_a_mark_is_added(
    written: dict[str, Any], scheme: str
) -> None:
    stage = {"type": "Metaspace", "replacement": "▁"}
    assert unigram_stages(None, {**stage, **written}) == unigram_stages(
        None, {**stage, "prepend_scheme": scheme}
    )
    assert unigram_stages(None, {**stage, "prepend_scheme": scheme}) != unigram_stages(
        None, {**stage, "prepend_scheme": "never" if scheme == "always" else "always"}
    )


def test_the_double_array_has_each_piece_and_nothing_else() -> None:
    draw = random.Random(1)
    for size in (1, 2, 300, 20_000):
        names = {"".join(draw.choices("abcé中😀 ", k=draw.randrange(1, 7))) for _ in range(size)}
        spelled = [name.encode() for name in names]
        ends = np.cumsum([len(each) for each in spelled], dtype=np.int64)
        made = kernel_modules.CALL.unigram_cells(b"".join(spelled), ends)  # type: ignore[union-attr]
        cells = np.frombuffer(made[0], np.uint32).reshape(-1, 2).tolist()
        for number, name in enumerate(spelled):
            at = 0
            for byte in name:
                at = cells[at][0] ^ byte
                assert cells[at][1] & 511 == byte
            assert cells[at][1] >> 9 == number + 1
        assert sum(tag >> 9 > 0 for _, tag in cells) == len(spelled)
        assert len(cells) < 2 * sum(map(len, spelled)) + 1024
