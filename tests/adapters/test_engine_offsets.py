"""Places that an engine tells wrongly are no licence to join, and are not handed on."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers
from tokpar_conformance.worlds.charsmaps import NMT_LIKE, charsmap

import tokpar
from tests.support.odd_offsets import MARKS, falling_back
from tests.support.paths import VOCAB
from tests.support.seams import assert_lossless, finder
from tests.support.stages_drawn import TEXTS, drawn_tokenizer
from tokpar.arrays import IdArray, SpanArray, byte_starts, clean_split
from tokpar.contract.interfaces import facts_of
from tokpar.facts.charsmap import Charsmap
from tokpar.facts.hf_facts import MISPLACED
from tokpar.facts.wrong_offsets import why_misplaced
from tokpar.methods.acceptance import by_cut
from tokpar.methods.mergers import OverlapMerger
from tokpar.methods.overlaps import overlap_of
from tokpar.types import Chunk, Facts, Piece

pytestmark = pytest.mark.compiled_at_once


def test_the_engine_counts_the_mark_as_text() -> None:
    """Without this, the tests below would show nothing."""
    assert falling_back(**MARKS[0]).encode("ab   ").offsets[-1] == (3, 4)
    assert falling_back(**MARKS[1]).encode("ab").offsets[-1][1] > 2
    assert falling_back().encode("ab   ").offsets == [(0, 1), (1, 2)]


@pytest.mark.parametrize("marks", MARKS)
def test_no_chunks_are_joined_by_tokens_that_run_past_their_word(marks: dict[str, str]) -> None:
    own, text = falling_back(**marks), "ab   "
    encoding = tokpar.encode(text, own, strategy="recursive", depth=1)
    assert encoding.ids.tolist() == own.encode(text).ids
    assert "mark of words" in encoding.report.why
    with pytest.raises(LookupError, match="wrong places"):
        print(encoding.spans)
    assert facts_of(tokpar.load(own)).unprovable == MISPLACED


@given(st.text("ab é中", max_size=30), st.sampled_from(MARKS))
def test_whatever_the_marks_the_ids_are_the_engine_s(text: str, marks: dict[str, str]) -> None:
    assert_lossless(falling_back(**marks), text, sizes=(1, 2, 7))


class Misplacing:
    """One id for each character, at the places that `spans` tells for a text of this length."""

    def __init__(self, misplaced: Any) -> None:
        self._adapter = tokpar.load(falling_back())
        self._misplaced = misplaced
        self.name = "misplacing"
        self.facts = facts_of(self._adapter)

    def encode(self, text: str) -> IdArray:
        return self._adapter.encode(text)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        spans: SpanArray = self._adapter.locate(ids, text)  # type: ignore[attr-defined]
        return np.array(self._misplaced(spans.copy(), len(text)), dtype=np.int64)


def piece_of(tokenizer: Any, text: str) -> Piece:
    ids = tokenizer.encode(text)
    return Piece(ids, tokenizer.locate(ids, text))


@pytest.mark.parametrize(
    ("token", "column", "place"), [(-1, 1, 15), (0, 0, -1), (-1, 0, 0), (3, 1, 1)]
)
@pytest.mark.parametrize("side", [0, 1])
def test_places_that_tokens_cannot_have_license_nothing(
    token: int, column: int, place: int, side: int
) -> None:
    """Behind the end, before the beginning, and ahead of a token before."""

    def misplaced(spans: SpanArray, length: int) -> SpanArray:
        spans[token, column] = place
        return spans

    right, wrong, text = tokpar.load(falling_back()), Misplacing(misplaced), "aa ab ba aa ab"
    chunks = Chunk(0, 9, 0, 6), Chunk(3, 14, 6, 14)
    merger = OverlapMerger(by_cut)
    pieces = [piece_of(right, text[chunk.start : chunk.stop]) for chunk in chunks]
    assert None not in merger.merge(text, chunks, pieces, right)
    pieces[side] = piece_of(wrong, text[chunks[side].start : chunks[side].stop])
    assert None in merger.merge(text, chunks, pieces, right)
    overlap = overlap_of(text, chunks, (pieces[0], pieces[1]), wrong)
    assert not overlap.spans_fit
    assert all(len(found) == 0 for found in overlap.match_tokens())


@dataclass
class LosesPlaces:
    """A tokenizer that cannot locate the tokens of texts with an exclamation mark."""

    inner: Any
    name: str = "loses places"

    @property
    def facts(self) -> Facts:
        return facts_of(self.inner)

    def encode(self, text: str) -> IdArray:
        ids: IdArray = self.inner.encode(text)
        return ids

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        if "!" in text:
            raise LookupError("these are not the ids of this text")
        spans: SpanArray = self.inner.locate(ids, text)
        return spans


@pytest.mark.parametrize(
    ("strategy", "options"),
    [
        ("recursive", {"depth": 3}),
        ("blocks", {"chunk_chars": 40}),
        ("lopt", {"chunk_chars": 60, "overlap_chars": 16}),
    ],
)
@pytest.mark.parametrize("mark", ["", "!"])
def test_a_tokenizer_that_cannot_locate_its_tokens_is_run_serially(
    strategy: str, options: dict[str, Any], mark: str
) -> None:
    inner = tokpar.load(VOCAB / "bert_part.json", add_special_tokens=False)
    tokenizer = LosesPlaces(inner)
    text = "the man saw the dog and the man was in the house" * 9 + mark
    encoding = tokpar.encode(text, tokenizer=tokenizer, strategy=strategy, **options)
    assert encoding.ids.tolist() == inner.encode(text).tolist()
    assert (encoding.report.plan == "serial") == bool(mark)
    assert ("cannot tell where its tokens lie" in encoding.report.why) == bool(mark)


# ------------------------------------------------- what Precompiled deletes at the beginning

TABLES = [
    NMT_LIKE,
    charsmap({"a": "", "b": "bb"}),
    charsmap({"e\u0301": "", "A": "", "\u00ad": "", "\t": ""}),
    charsmap({"\u00ad": "-", "é": "e"}),
]
BEFORE = (
    *(normalizers.NFD, normalizers.NFKD, normalizers.NFC, normalizers.Lowercase, normalizers.Nmt),
    *(normalizers.StripAccents, normalizers.BertNormalizer, normalizers.Strip),
    lambda: normalizers.Replace("``", '"'),
    lambda: normalizers.Replace("b", ""),
    lambda: normalizers.Replace(Regex(" {2,}"), " "),
    lambda: normalizers.Prepend("\u00ad"),
    lambda: normalizers.Precompiled(NMT_LIKE),
)
DELETED = ("\u00ad", "\x07", "\u200b", "a", "e\u0301", "A", "b", "\t", " ", "\u00ad\u00ad")


def words(table: bytes = NMT_LIKE, *before: Any) -> Tokenizer:
    vocabulary = {"[U]": 0, "▁a": 1, "▁b": 2, "▁": 3, "▁aa": 4, "a": 5, "b": 6, "<s>": 7}
    own = Tokenizer(models.WordLevel(vocabulary, unk_token="[U]"))
    own.normalizer = normalizers.Sequence([*before, normalizers.Precompiled(table)])
    own.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    return own


def test_the_engine_places_all_tokens_too_far_left_behind_what_a_table_deletes() -> None:
    """Without this, the tests below would show nothing."""
    assert words().encode("\u00ada b").offsets == [(0, 1), (1, 3)]  # "a" lies at 1, " b" at 2
    assert words().encode("a\u00ad b").offsets == [(0, 1), (2, 4)]
    own = words()
    own.add_tokens([AddedToken("<s>", normalized=False)])
    assert own.encode("a<s>\u00ada b").offsets[2:] == [(4, 5), (5, 7)]


@pytest.mark.parametrize(
    ("stage", "text", "first"),
    [
        (normalizers.Precompiled(NMT_LIKE), "\u00ada", True),
        (normalizers.Nmt(), "\x07a", False),
        (normalizers.Strip(), " a", False),
    ],
)
def test_metaspace_first_goes_by_the_place_that_the_engine_tells(
    stage: Any, text: str, first: bool
) -> None:
    """A sign is put before "a" if it is told to lie at 0: what is deleted before it counts, but
    where Precompiled loses it."""
    own = words()
    own.normalizer = stage
    own.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    assert own.encode("a").tokens == ["▁a"]
    assert own.encode(text).tokens == (["▁a"] if first else ["a"])
    assert own.encode(text).offsets == [(0, 1) if first else (1, 2)]


@pytest.mark.parametrize(
    ("strategy", "options"), [("blocks", {}), ("lopt", {"overlap_chars": 3, "min_match": 1})]
)
@pytest.mark.parametrize("executor", ["serial", "native"])
def test_no_chunks_are_joined_by_the_places_of_such_a_text(
    strategy: str, options: dict[str, Any], executor: str
) -> None:
    own, texts = words(), ["\u00adaa a b a", "a b a b", "\u00adaa a b a"]
    given = {"strategy": strategy, "executor": executor, "chunk_chars": 3, **options}
    with tokpar.Encoder(own, **given) as encoder:
        assert "beginning of the text" in encoder.encode(texts[0]).report.why
        rows = encoder.encode_batch(texts)
        assert [each.ids.tolist() for each in rows] == [own.encode(each).ids for each in texts]


def test_spans_of_such_a_text_are_refused_and_those_of_others_told() -> None:
    own = words()
    own.add_tokens([AddedToken("<s>", normalized=False)])
    for text, what in (("\u00ada b", "beginning of the text"), ("a<s>\u00ada b", "behind added")):
        with pytest.raises(LookupError, match=what):
            print(tokpar.encode(text, own).spans)
        with pytest.raises(LookupError, match=what):
            tokpar.load(own).encode_many(["a", text], True)  # type: ignore[attr-defined]
    for text in ("a\u00ad b", "a b<s>a"):
        assert len(tokpar.encode(text, own).spans)


@pytest.mark.parametrize(
    ("table", "before", "text"),
    [
        ({"e\u0301": ""}, [], "e\u0301 a b"),
        ({"a": ""}, [normalizers.Lowercase()], "A b b"),
        ({"\u00ad": ""}, [normalizers.Strip()], " \u00ad b"),
        ({"\u00ad": ""}, [normalizers.Replace("a", "\u00ad")], "a b b"),
        ({"\u00ad": ""}, [normalizers.Replace(" ", "\u00ad")], " b b"),
        ({"\u00ad": ""}, [normalizers.Replace("b", "")], "b\u00ad b a"),
        ({"\u00ad": ""}, [normalizers.Nmt()], "\x07\u00ad b"),
        ({" ": ""}, [normalizers.Lowercase()], " a b"),
        ({"e": ""}, [normalizers.NFD()], "é b a"),
        ({"x": ""}, [normalizers.Precompiled(charsmap({"a": "x"}))], "a b b"),
    ],
)
def test_what_a_table_deletes_behind_other_stages_is_seen(
    table: dict[str, str], before: list[Any], text: str
) -> None:
    own = words(charsmap(table), *before)
    own.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    assert own.encode(text).offsets[-1][1] < len(text)  # the engine loses what was deleted
    assert why_misplaced(facts_of(tokpar.load(own)), text) is not None


def text_of(parts: list[str]) -> str:
    return "".join(parts)


@given(
    st.integers(0, 1 << 32),
    st.sampled_from(TABLES),
    st.lists(st.sampled_from(BEFORE), max_size=2),
    st.lists(st.sampled_from(DELETED), max_size=2).map(text_of),
    st.sampled_from([None, "<s>", "a", ". a"]),
)
def test_where_places_are_told_they_part_the_tokens_as_each_certified_cut_does(
    seed: int, table: bytes, before: list[Any], beginning: str, added: str | None
) -> None:
    """What the window lemma asks of the places, (4)."""
    rng = random.Random(seed)
    own = drawn_tokenizer(rng)
    if rng.random() < 0.8:
        stages = [*(make() for make in before), normalizers.Precompiled(table)]
        own.normalizer = normalizers.Sequence(stages)
    if rng.random() < 0.5:
        own.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    if added is not None:
        own.add_tokens([AddedToken(added, normalized=False)])
    adapter, planner = tokpar.load(own), finder(own)
    for _ in range(4):
        text = beginning + TEXTS.draw(rng) + (added or "") + beginning + rng.choice(("", " a b"))
        try:
            ids = adapter.encode(text)
            spans = adapter.locate(ids, text)  # type: ignore[attr-defined]
        except (LookupError, tokpar.errors.EngineError):
            continue
        starts = byte_starts(text)
        for p in range(1, len(text)):
            if planner.refusal_for(text) is None and planner.certify_context(text, p) is not None:
                parted = clean_split(spans, int(starts[p]))
                assert parted in (None, len(adapter.encode(text[:p]))), (text, p)


@given(
    st.integers(0, 1 << 32),
    st.sampled_from(TABLES),
    st.lists(st.sampled_from(BEFORE), max_size=2),
    st.lists(st.sampled_from(("\u00ad", "\x07", "a", "b", " ", " a", "<s>")), max_size=12),
)
def test_whatever_a_table_deletes_the_ids_are_the_engine_s(
    seed: int, table: bytes, before: list[Any], parts: list[str]
) -> None:
    own = words(table, *(make() for make in before))
    if seed % 2:
        own.add_tokens([AddedToken("<s>", normalized=False)])
    text = text_of(parts) + TEXTS.draw(random.Random(seed))
    assert_lossless(own, text, sizes=(3, 7))
    with tokpar.Encoder(own, strategy="blocks", chunk_chars=3, executor="native") as encoder:
        rows = encoder.encode_batch([text, text_of(parts), text])
    expected = [each.ids for each in own.encode_batch([text, text_of(parts), text])]
    assert [each.ids.tolist() for each in rows] == expected


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_known_to_delete_what_the_engine_deletes(table: bytes) -> None:
    engine = normalizers.Precompiled(table)
    own = Charsmap(json.loads(engine.__getstate__())["precompiled_charsmap"])
    deleted = [char for char in map(chr, range(1, 0x3000)) if engine.normalize_str(char) == ""]
    assert all(map(own.may_delete, deleted))
    assert deleted or table is TABLES[3]
    kept = [char for char in "xyz中ф.\u0300" if not own.may_delete(char)]
    assert len(kept) == 7
