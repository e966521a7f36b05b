"""Offsets of tokens are the engine's own (theorem 53), however they were found."""

from __future__ import annotations

import copy
import pickle
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

import tokpar
from tests.charsmaps import NMT_LIKE
from tests.conftest import at_most, needs_kernel
from tests.seams import finder
from tests.stages_drawn import drawn_text, drawn_tokenizer, shaped
from tests.test_engine_offsets import MARKS, falling_back
from tests.tokenizers_drawn import (
    ByteLevelSpec,
    build,
    contents,
    hf_specs,
    is_panic,
    named_tokenizers,
    plain_copy,
    texts_with,
)
from tokpar.adapters import hf_offset_parts, hf_offsets, hf_trimming
from tokpar.adapters.hf_trimming import Trimming
from tokpar.adapters.huggingface import HuggingFaceTokenizer
from tokpar.cuts.inert import inert_for
from tokpar.encoding import Batch
from tokpar.errors import EngineError
from tokpar.interfaces import facts_of
from tokpar.kernel.offset_rows import LONGEST_SEGMENT, packed, unpacked
from tokpar.kernels import byte_starts, code_point_spans
from tokpar.results import Results
from tokpar.types import Rows

pytestmark = pytest.mark.ids

Spans = list[tuple[int, int]]
TEMPLATE = processors.TemplateProcessing(
    single="<s> $A </s>", pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)]
)
WORDS = "the quick brown fox jumps over the lazy dog, and once more "


# ------------------------------------------------------------------------------ what is drawn


def post_processor(rng: random.Random) -> Any:
    def stage() -> Any:
        flags = {"trim_offsets": rng.random() < 0.8, "add_prefix_space": rng.random() < 0.6}
        kinds: list[Callable[[], Any]] = [
            lambda: processors.ByteLevel(**flags),
            lambda: processors.RobertaProcessing(("</s>", 1), ("<s>", 2), **flags),
            lambda: processors.BertProcessing(("</s>", 1), ("<s>", 2)),
            lambda: TEMPLATE,
        ]
        return rng.choice(kinds)()

    count = rng.choice((0, 1, 1, 2, 3))
    row = [stage() for _ in range(count)]
    return processors.Sequence(row) if count > 1 else next(iter(row), None)


@st.composite
def tokenizers(draw: st.DrawFn) -> Tokenizer:
    """Tokenizers of all shapes with any post-processor."""
    rng = random.Random(draw(st.integers(0, 2**32), label="seed"))
    own = draw(st.one_of(hf_specs(finishing=False).map(build), st.none()))
    own = drawn_tokenizer(rng) if own is None else plain_copy(own)
    post = post_processor(rng)
    if post is not None:
        own.post_processor = post
    return own


@st.composite
def adapters(draw: st.DrawFn) -> HuggingFaceTokenizer:
    own = draw(tokenizers())
    try:
        adapter = tokpar.load(own)
    except BaseException as error:
        assume(not is_panic(error))
        raise
    assert isinstance(adapter, HuggingFaceTokenizer)
    assume(adapter.unfinishable is None)
    return adapter


def drawn_texts(data: st.DataObject, own: Tokenizer) -> list[str]:
    seeds = st.integers(0, 2**32).map(lambda seed: drawn_text(random.Random(seed)))
    text = st.one_of(texts_with(contents(own), 60), seeds, seeds.map(lambda text: 3 * text))
    return data.draw(st.lists(text, min_size=1, max_size=3), label="texts")


@contextmanager
def small_parts(data: st.DataObject) -> Iterator[None]:
    """Parts, and calls of the engine, of any size; the table of inert characters from the start or
    not."""
    part = data.draw(st.sampled_from((1, 2, 5, 4096)), label="PART")
    together = data.draw(st.sampled_from((1, 10, 4096)), label="TOGETHER")
    worth = data.draw(st.sampled_from((0, 1 << 20)), label="WORTH_A_TABLE")
    with (
        mock.patch.object(hf_offsets, "PART", part),
        mock.patch.object(hf_offsets, "TOGETHER", together),
        mock.patch.object(hf_offsets, "WORTH_A_TABLE", worth),
    ):
        yield


def ids_of(adapter: HuggingFaceTokenizer, texts: Sequence[str]) -> Rows:
    try:
        return adapter.encode_many(texts, False)
    except EngineError:
        assume(False)
        raise


def engine_offsets(own: Tokenizer, texts: Sequence[str], special: bool = True) -> Spans:
    """The engine's own, of all texts, without special tokens."""
    found: Spans = []
    for text in texts:
        encoding = own.encode(text, add_special_tokens=special)
        mask = encoding.special_tokens_mask
        found += [o for o, inserted in zip(encoding.offsets, mask, strict=True) if not inserted]
    return found


def our_offsets(adapter: HuggingFaceTokenizer, texts: Sequence[str], **how: Any) -> Spans:
    rows = ids_of(adapter, texts)
    return [(a, b) for a, b in adapter.offset_mapping(texts, rows, **how).tolist()]


def assert_engine_offsets(own: Tokenizer, *texts: str) -> None:
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    for _ in ("cold", "warm"):
        assert our_offsets(adapter, texts) == engine_offsets(own, texts)


# ------------------------------------------------------------------------------ properties


@given(st.data(), adapters())
def test_offsets_are_the_engine_s_cold_and_warm(
    data: st.DataObject, adapter: HuggingFaceTokenizer
) -> None:
    texts, special = drawn_texts(data, adapter.caller.own), data.draw(st.booleans())
    ids_of(adapter, texts)
    expected = engine_offsets(adapter.caller.own, texts, special)
    with small_parts(data):
        for _ in ("cold", "warm"):
            assert our_offsets(adapter, texts, add_special_tokens=special) == expected
    for text in texts:
        alone = our_offsets(adapter, [text], add_special_tokens=special)
        assert alone == engine_offsets(adapter.caller.own, [text], special)


@given(st.data(), adapters(), st.sampled_from(("left", "right")), st.integers(1, 6))
def test_offsets_are_the_engine_s_when_it_truncates(
    data: st.DataObject, adapter: HuggingFaceTokenizer, side: str, limit: int
) -> None:
    own, special = adapter.caller.own, data.draw(st.booleans())
    texts = drawn_texts(data, own)
    dropped = np.maximum(0, np.diff(ids_of(adapter, texts).offsets) - limit)
    none = np.zeros_like(dropped)
    cut = (dropped, none) if side == "left" else (none, dropped)
    with small_parts(data):
        found = our_offsets(adapter, texts, add_special_tokens=special, cut=cut)
    inserted = own.num_special_tokens_to_add(False) if special else 0
    own.enable_truncation(limit + inserted, direction=side)
    assert found == engine_offsets(own, texts, special)


@given(st.data(), adapters())
def test_spans_are_the_engine_s_before_post_processing(
    data: st.DataObject, adapter: HuggingFaceTokenizer
) -> None:
    own = adapter.caller.own
    texts = drawn_texts(data, own)
    ids_of(adapter, texts)
    with small_parts(data), tokpar.Encoder(own) as encoder:
        batch = encoder.encode_batch(texts)
        try:
            chars = batch.char_spans()
        except LookupError:
            assert getattr(own.model, "byte_fallback", False)
            return
        one_by_one = [encoding.char_spans.tolist() for encoding in batch]
        in_bytes = [encoding.spans.tolist() for encoding in batch]
    own.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    places = [inserted for e in batch for inserted in _inserted(e, adapter)]
    assert [(a, b) for (a, b), i in zip(chars.tolist(), places, strict=True) if not i] == (
        engine_offsets(own, texts)
    )
    assert not chars[places].any()
    assert chars.tolist() == [*chain(*one_by_one)]
    assert batch.spans().tolist() == [*chain(*in_bytes)]
    for text, spans, wide in zip(texts, in_bytes, one_by_one, strict=True):
        found = code_point_spans(np.array(spans, dtype=np.int64).reshape(-1, 2), text)
        assert found.tolist() == wide


def _inserted(encoding: Any, adapter: HuggingFaceTokenizer) -> list[bool]:
    """Which of the final ids are special tokens that were put around the text."""
    around = adapter.around
    assert around is not None
    prefix, suffix = map(len, around)
    return [True] * prefix + [False] * (len(encoding) - prefix - suffix) + [True] * suffix


@given(st.data(), adapters())
@at_most(60)
def test_theorem_53_holds_at_every_certified_cut(
    data: st.DataObject, adapter: HuggingFaceTokenizer
) -> None:
    offsets, [text, *_] = adapter._offsets, drawn_texts(data, adapter.caller.own)
    ids_of(adapter, [text])
    cuts = finder(adapter.caller.own)
    if cuts.refusal_for(text) is not None or not offsets._composes(text):
        return
    whole = engine_offsets(adapter._chunks, [text])
    for p in range(1, len(text)):
        seam = cuts.certify(text, p)
        if seam is not None:
            parts = hf_offset_parts.parts_between(0, text, [seam])
            found = [composed(adapter._chunks, text, part) for part in parts]
            assert [*chain(*found)] == whole


def composed(engine: Tokenizer, text: str, part: hf_offset_parts.Part) -> Spans:
    spans = np.array(engine_offsets(engine, [text[part.start : part.stop]]), dtype=np.int64)
    return [(a, b) for a, b in hf_offset_parts.moved(spans.reshape(-1, 2), part).tolist()]


# ------------------------------------------------------------------------------ theorem 53


def word_level(*words: str) -> Any:
    return models.WordLevel({word: i for i, word in enumerate(("[UNK]", *words))}, "[UNK]")


def deleting() -> Tokenizer:
    """Its table deletes U+00AD."""
    never = pre_tokenizers.Metaspace("▁", "never")
    own = shaped(word_level("a", "▁a", "▁b"), [normalizers.Precompiled(NMT_LIKE)], [never])
    own.add_tokens([AddedToken("<s>", normalized=False)])
    return own


def trimming() -> Tokenizer:
    words = word_level("hello", "Ġworld", "a", "Ġb", "Ġ")
    own = shaped(words, [], [pre_tokenizers.ByteLevel(add_prefix_space=False)])
    own.post_processor = processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
    return own


def tiling() -> Tokenizer:
    own = plain_copy(build(ByteLevelSpec("gpt2", 1, 40)))
    own.post_processor = processors.ByteLevel(trim_offsets=True)
    return own


def prefixing() -> Tokenizer:
    return plain_copy(named_tokenizers()["llama_style"])


CONDITIONS = {
    "a cut inside a token": (lambda: shaped(word_level("ab")), "ab", 1, 1),
    "an absorbed space": (prefixing, "a b", 1, 2),
    "a deletion at the beginning": (deleting, "\xadaa b", 3, 3),
    "a deletion behind a token": (deleting, "<s>\xadaa b", 6, 6),
    "after trimming": (trimming, "hello world", 5, 5),
}


@pytest.mark.parametrize(
    "case",
    [
        "a cut inside a token",
        "an absorbed space",
        "a deletion at the beginning",
        "a deletion behind a token",
        "after trimming",
    ],
)
def test_theorem_53_needs_each_condition(case: str) -> None:
    """Offsets of both sides do not compose, and ours are those of the whole text all the same."""
    make, text, stop, start = CONDITIONS[case]
    own = make()
    left, right = engine_offsets(own, [text[:stop]]), engine_offsets(own, [text[start:]])
    assert [*left, *((a + start, b + start) for a, b in right)] != engine_offsets(own, [text])
    with mock.patch.object(hf_offsets, "PART", 1):
        assert_engine_offsets(own, text, 9 * text)


def test_trimming_looks_at_what_truncation_leaves() -> None:
    own, text = trimming(), "a b b"
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    cut = np.array([1]), np.array([0])
    assert our_offsets(adapter, [text]) == [(0, 1), (2, 3), (4, 5)]
    assert our_offsets(adapter, [text], cut=cut) == [(1, 3), (4, 5)]
    own.enable_truncation(2, direction="left")
    assert engine_offsets(own, [text]) == [(1, 3), (4, 5)]


def test_behind_a_token_that_a_stage_put_in_front_no_token_is_the_first() -> None:
    own = trimming()
    bert = processors.BertProcessing(("</s>", 1), ("<s>", 2))
    own.post_processor = processors.Sequence([bert, own.post_processor])
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    cut = np.array([1]), np.array([0])
    assert our_offsets(adapter, ["a b b"], cut=cut) == [(2, 3), (4, 5)]
    assert our_offsets(adapter, ["a b b"], cut=cut, add_special_tokens=False) == [(1, 3), (4, 5)]


# ------------------------------------------------------------------------------ the routes


def bert() -> Tokenizer:
    return plain_copy(named_tokenizers()["bert_part"])


def composing() -> Tokenizer:
    own = plain_copy(build(ByteLevelSpec("qwen2", 1, 60, normalizers=("NFC",))))
    own.add_special_tokens(["<|end|>"])
    return own


def counted(own: Tokenizer) -> tuple[HuggingFaceTokenizer, mock.Mock]:
    """An adapter whose offsets come from an engine that counts how it is asked."""
    adapter = tokpar.load(own)
    assert isinstance(adapter, HuggingFaceTokenizer)
    engine = mock.Mock(wraps=adapter._chunks)
    engine.model, engine.normalizer = adapter._chunks.model, adapter._chunks.normalizer
    object.__setattr__(adapter._offsets, "engine", engine)
    return adapter, engine.encode_batch


@needs_kernel
@pytest.mark.parametrize(
    ("make", "text"),
    [
        (bert, WORDS * 40 + "É"),
        (composing, WORDS * 40 + "e\u0301 x"),
        (deleting, "a b ab b " * 200),
    ],
    ids=["BERT", "NFC", "Precompiled"],
)
def test_what_the_cache_knows_the_engine_is_not_asked(make: Any, text: str) -> None:
    own = make()
    adapter, asked = counted(own)
    expected = engine_offsets(own, [text])
    assert our_offsets(adapter, [text]) == expected
    assert 0 < sum(len("".join(call.args[0])) for call in asked.call_args_list) < len(text)
    asked.reset_mock()
    assert our_offsets(adapter, [text, WORDS[:39] if make is not deleting else "a"]) == [
        *expected,
        *engine_offsets(own, [WORDS[:39] if make is not deleting else "a"]),
    ]
    assert not [call for call in asked.call_args_list if call.args[0]]


@pytest.mark.parametrize("make", [tiling, composing], ids=["tiling", "inert"])
def test_where_lengths_tell_the_engine_is_not_asked(make: Any) -> None:
    own = make()
    adapter, asked = counted(own)
    texts = ["", WORDS, "a", WORDS * 30]
    assert our_offsets(adapter, texts) == engine_offsets(own, texts)
    assert not [call for call in asked.call_args_list if call.args[0]]


def test_the_engine_is_given_little_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes 150 bytes for each byte of text: never the whole of a long one."""
    own = bert()
    adapter, asked = counted(own)
    object.__setattr__(adapter._offsets, "memory_bytes", 0)
    monkeypatch.setattr(hf_offsets, "TOGETHER", 20_000)
    text = WORDS * 3_000
    assert our_offsets(adapter, [text]) == engine_offsets(own, [text])
    sizes = [sum(map(len, call.args[0])) for call in asked.call_args_list]
    assert len(sizes) >= 8
    assert max(sizes) <= 20_000


def test_of_other_text_than_ascii_lengths_tell_when_there_was_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own, text = composing(), "中文的éя" * 2_000
    adapter, asked = counted(own)
    object.__setattr__(adapter._offsets, "memory_bytes", 0)
    monkeypatch.setattr(hf_offsets, "WORTH_A_TABLE", 5_000)
    for _ in range(2):
        asked.reset_mock()
        assert our_offsets(adapter, [text]) == engine_offsets(own, [text])
    assert not [call for call in asked.call_args_list if call.args[0]]


def test_ascii_characters_are_inert_as_the_table_says() -> None:
    for names in (("NFC",), ("Lowercase",), ("StripAccents", "Replace ab by c"), ("Strip",), ()):
        own = plain_copy(build(ByteLevelSpec("qwen2", 1, 10, normalizers=names)))
        guard = inert_for(facts_of(tokpar.load(own)))
        for code in range(128):
            expected = guard.chars is None or bool(guard.chars.has[code])
            assert guard.inert(chr(code)) == expected, (names, code)


def test_other_ids_are_a_lookup_error() -> None:
    for own in (bert(), tiling(), composing()):
        adapter = tokpar.load(own)
        assert isinstance(adapter, HuggingFaceTokenizer)
        rows = adapter.encode_many(["the dog"], False)
        for text in ("a fox", "the dogs", "", "É\u0301"):
            with pytest.raises(LookupError, match="not those of the text"):
                adapter.offset_mapping([text], rows)


@pytest.mark.parametrize("marks", MARKS)
def test_wrong_places_of_the_engine_are_its_offset_mapping_and_no_spans(
    marks: dict[str, str],
) -> None:
    own = falling_back(**marks)
    assert_engine_offsets(own, "ab   ", "ab é ab")
    with pytest.raises(LookupError, match="wrong places"):
        tokpar.Encoder(own).encode_batch(["ab", "é"]).char_spans()


@needs_kernel
def test_a_segment_too_long_for_the_cache_is_encoded_by_the_engine() -> None:
    text = "a b " + "é" * (LONGEST_SEGMENT + 5) + " a b"
    assert_engine_offsets(bert(), text)
    assert_engine_offsets(composing(), text)


def test_a_tokenizer_that_was_changed_has_other_offsets() -> None:
    own = bert()
    with tokpar.Encoder(own) as encoder:
        for lowercase in (True, False):
            own.normalizer = normalizers.BertNormalizer(lowercase=lowercase, strip_accents=False)
            adapter = encoder.tokenizer
            assert isinstance(adapter, HuggingFaceTokenizer)
            texts = [WORDS * 30 + "THE DOG É"]
            assert our_offsets(adapter, texts) == engine_offsets(own, texts)


# ------------------------------------------------------------------------------ planted mistakes


def off_by_one(code_points: Any, counts: Any, spans: Any) -> Rows:
    rows = packed(code_points, counts, spans)
    rows.ids[1] ^= 1  # where the first token of the first segment stops
    return rows


def forgets_a_code_point(code_points: Any, counts: Any, spans: Any) -> Rows:
    return packed(code_points + 1, counts, spans)


def keeps_a_head(rows: Rows) -> Any:
    spans, edges, code_points = unpacked(rows)
    return np.insert(spans, 0, 0, axis=0), edges + (edges > 0), code_points


@needs_kernel
def test_a_length_off_by_one_in_a_kept_row_is_seen_by_the_comparison() -> None:
    with (
        mock.patch.object(hf_offsets, "packed", off_by_one),
        pytest.raises(AssertionError),
    ):
        assert_engine_offsets(bert(), WORDS * 30)


@needs_kernel
@pytest.mark.parametrize(
    ("name", "mistake"), [("packed", forgets_a_code_point), ("unpacked", keeps_a_head)]
)
def test_rows_that_do_not_make_up_the_text_are_not_taken(name: str, mistake: Any) -> None:
    """The engine answers instead."""
    own, text = bert(), WORDS * 30
    with mock.patch.object(hf_offsets, name, mistake):
        adapter, asked = counted(own)
        for _ in range(2):
            asked.reset_mock()
            assert our_offsets(adapter, [text]) == engine_offsets(own, [text])
            assert [text] in [call.args[0] for call in asked.call_args_list]


def unmoved(spans: Any, part: Any) -> Any:
    return spans


def never_first(*given: Any) -> Any:
    spans, before, behind, is_first, stages = given
    return hf_trimming_trimmed(spans, before, behind, np.zeros_like(is_first), stages)


hf_trimming_trimmed = hf_trimming._trimmed


@pytest.mark.parametrize(
    ("place", "name", "mistake"),
    [
        (Trimming, "trimmed", lambda self, texts, rows, spans, cut: spans),
        (hf_trimming, "_trimmed", never_first),
        (hf_trimming, "_PREPENDING", frozenset()),
        (hf_offsets, "moved", unmoved),
        (hf_offsets.EngineOffsets, "_composes", lambda self, text: True),
    ],
    ids=["a trim forgotten", "no first", "special first", "unmoved", "composes"],
)
def test_planted_mistakes_are_seen_by_the_comparisons(place: Any, name: str, mistake: Any) -> None:
    with (
        mock.patch.object(place, name, mistake),
        mock.patch.object(hf_offsets, "PART", 1),
        pytest.raises((AssertionError, LookupError)),
    ):
        compare_all()


def compare_all() -> None:
    with mock.patch.object(hf_offsets.EngineOffsets, "memory", None):
        assert_engine_offsets(trimming(), "a  b")
        assert_engine_offsets(deleting(), "\xadaa b")
        assert_engine_offsets(bert(), WORDS * 3)
        assert_engine_offsets(composing(), "e\u0301\u0301 a")
    test_trimming_looks_at_what_truncation_leaves()
    test_behind_a_token_that_a_stage_put_in_front_no_token_is_the_first()


def test_without_a_mistake_all_comparisons_hold() -> None:
    with mock.patch.object(hf_offsets, "PART", 1):
        compare_all()


# ------------------------------------------------------------------------------ packed rows


@given(st.lists(st.lists(st.tuples(st.integers(0, 40), st.lists(st.integers(0, 99), max_size=4)))))
def test_packed_rows_are_unpacked_as_they_were(texts: list[list[tuple[int, list[int]]]]) -> None:
    segments = [segment for text in texts for segment in text]
    expected, sizes, counts = [], [], []
    for text in texts:
        done = 0
        for length, places in text:
            own = [(a % length, length) for a in places] if length else []
            expected += [[a + done, b + done] for a, b in own]
            done += length
        counts.append(sum(len(places) for length, places in text if length))
        sizes.append(done)
    spans = [(a % n, n) for n, places in segments if n for a in places]
    row = packed(
        np.array([n for n, _ in segments], dtype=np.int64),
        np.array([len(places) if n else 0 for n, places in segments], dtype=np.int64),
        np.array(spans, dtype=np.int64).reshape(-1, 2),
    )
    firsts = np.cumsum([0, *map(len, texts)])
    found, edges, code_points = unpacked(Rows(row.ids, row.offsets[firsts]))
    assert found.tolist() == expected
    assert np.diff(edges).tolist() == counts
    assert code_points.tolist() == sizes


@pytest.mark.parametrize(
    ("length", "span"),
    [(3, (1, 4)), (3, (3, 3)), (3, (2, 1)), (LONGEST_SEGMENT + 1, (0, 1))],
)
def test_what_does_not_lie_in_its_segment_is_not_packed(length: int, span: Any) -> None:
    with pytest.raises(ValueError, match="cannot be packed"):
        packed(np.array([length]), np.array([1]), np.array([span]))


@given(st.text(max_size=30), st.data())
def test_code_points_of_byte_spans_are_those_that_they_touch(
    text: str, data: st.DataObject
) -> None:
    starts = byte_starts(text)
    place = st.integers(0, int(starts[-1]))
    spans = data.draw(st.lists(st.tuples(place, place).map(sorted)))
    found = code_point_spans(np.array(spans, dtype=np.int64).reshape(-1, 2), text).tolist()
    left = (np.searchsorted(starts, [a for a, _ in spans], side="right") - 1).tolist()
    right = np.searchsorted(starts, [b for _, b in spans], side="left").tolist()
    assert found == [list(pair) for pair in zip(left, right, strict=True)]


# ------------------------------------------------------------------------------ batches


def test_a_batch_tells_the_spans_of_all_its_texts() -> None:
    own = plain_copy(build(ByteLevelSpec("llama3", 1, 40)))
    own.add_special_tokens(["<s>", "</s>"])
    ids = [(token, own.token_to_id(token)) for token in ("<s>", "</s>")]
    own.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=ids)
    own.enable_padding(pad_id=0, direction="left")
    own.enable_truncation(6)
    batch = tokpar.Encoder(own).encode_batch(["ab é", "", "中 1 2 3 4 5 6"])
    assert batch.spans().shape == batch.char_spans().shape == (len(batch.ids), 2)
    for k, encoding in enumerate(batch):
        rows = slice(batch.offsets[k], batch.offsets[k + 1])
        assert batch.spans()[rows].tolist() == encoding.spans.tolist()
        assert batch.char_spans()[rows].tolist() == encoding.char_spans.tolist()
    assert tokpar.Encoder(own).encode_batch([]).spans().shape == (0, 2)
    for text in ("ab é", WORDS * 400):
        one = tokpar.Encoder(own).encode_batch([text])
        assert one.spans().tolist() == one[0].spans.tolist()


def test_a_tiktoken_batch_tells_spans() -> None:
    batch = tokpar.Encoder(named_tokenizers()["cl100k_part"]).encode_batch(["ab 😀", "x" * 9])
    assert batch.spans()[-1].tolist()[1] == 9
    assert batch.char_spans().tolist() == [*chain(*(e.char_spans.tolist() for e in batch))]


def test_a_tokenizer_without_places_is_a_lookup_error() -> None:
    class Bare:
        name = "bare"

        def encode(self, text: str) -> Any:
            return np.zeros(len(text), dtype=np.uint32)

    with pytest.raises(LookupError, match="bare cannot tell where its tokens lie"):
        tokpar.Encoder(Bare()).encode_batch(["a", "b"]).spans()


def test_a_batch_that_was_copied_has_left_its_texts_behind() -> None:
    batch = tokpar.Encoder(bert()).encode_batch(["the dog", "a fox"])
    for twin in (pickle.loads(pickle.dumps(batch)), copy.copy(batch)):
        assert isinstance(twin, Batch)
        with pytest.raises(LookupError, match="left behind"):
            twin.spans()


def test_a_row_of_a_batch_does_not_count_the_others_again() -> None:
    """It took 350 microseconds in a batch of 8,000."""

    class Counting(list[str]):
        seen = 0

        def __iter__(self) -> Any:
            self.seen += 1
            return super().__iter__()

    texts = Counting(["a b", "c", "d e f"])
    adapter = tokpar.load(bert())
    own = adapter.encode_many(texts, False)  # type: ignore[attr-defined]
    report = tokpar.Encoder(bert()).encode_batch(["a"]).report
    results = Results(texts, adapter, own, own, {}, {}, report)
    seen = texts.seen
    shares = [results.told(k).seconds for k in range(3) for _ in range(5)]
    assert texts.seen == seen + 1
    assert len(shares) == 15
