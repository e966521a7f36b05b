"""Level `ids`: ids pass if and only if they are those of the tokenizer's own call (theorem 31)."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import replace
from itertools import pairwise
from typing import Any
from unittest import mock

import numpy as np
import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, normalizers

import tokpar
from tests.conftest import needs_below_one
from tests.support.certified import (
    by_hand,
    changed_ids,
    cl100k,
    cl100k_case,
    dummy_case,
    encoding_of,
    kinds,
    regex_tokenizer,
)
from tests.support.session_models import CL100K, byte_level
from tests.support.tokenizers_drawn import (
    build,
    byte_level_specs,
    contents,
    hf_tokenizers,
    texts_with,
    tiktoken_encodings,
    tiktoken_specs,
)
from tokpar.arrays import IdArray
from tokpar.certificate import distinct_segments as distinct_module
from tokpar.certificate.checker import check
from tokpar.certificate.distinct_segments import distinct_segments
from tokpar.certificate.fact_differences import checked_facts
from tokpar.certificate.further_cuts import further_cuts
from tokpar.certificate.tokenizer_probe import TokenizerProbe
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.errors import EngineError, OptionError
from tokpar.results.seams import Seams
from tokpar.types import Seam

SIZES = st.sampled_from([1, 2, 3, 250])


# ---------------------------------------------------------------------- distinct segments


@given(st.binary(min_size=1, max_size=300), SIZES, st.randoms(use_true_random=False))
def test_distinct_segments_are_those_of_a_dictionary(
    data: bytes, letters: int, rng: random.Random
) -> None:
    codes = np.frombuffer(data, np.uint8) % letters
    starts = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(1, 80)))
    stops = [min(len(data), start + rng.randrange(50)) for start in starts]
    found = distinct_segments(codes, np.array(starts), np.array(stops))
    segments = [codes[a:b].tobytes() for a, b in zip(starts, stops, strict=True)]
    assert len(found.first) == len(set(segments))
    assert [segments[found.first[kind]] for kind in found.kinds.tolist()] == segments


@pytest.mark.parametrize("rounds", [0, 1])
def test_segments_with_equal_hashes_stay_apart(rounds: int) -> None:
    """Every segment gets one place of the table, so each round can tell one kind from others."""
    words = [f"w{k:07}" for k in range(50)] * 2
    codes = np.frombuffer("".join(words).encode(), np.uint8)
    starts = np.arange(len(words)) * 8
    seeds = mock.Mock(**{"integers.return_value": np.zeros(1, dtype=np.uint64)})
    with (
        mock.patch.object(distinct_module, "_ROUNDS", rounds),
        mock.patch.object(np.random, "default_rng", return_value=seeds),
    ):
        found = distinct_segments(codes, starts, starts + 8)
    assert found.kinds.tolist() == [*range(50), *range(50)] or sorted(
        found.kinds[:50].tolist()
    ) == [*range(50)]
    assert found.kinds[:50].tolist() == found.kinds[50:].tolist()
    assert len(found.first) == 50


# ------------------------------------------------------------------------------ the verdict


@given(st.data())
def test_ids_pass_if_and_only_if_they_are_the_serial_ids(data: st.DataObject) -> None:
    tokenizer: Any = data.draw(st.one_of(hf_tokenizers(), tiktoken_encodings()))
    text = data.draw(texts_with(contents(tokenizer), 200)) * data.draw(st.sampled_from([1, 3]))
    rng = data.draw(st.randoms(use_true_random=False))
    settings: dict[str, Any] = {}
    if hasattr(tokenizer, "encode_ordinary"):
        settings["disallowed_special"] = ()
    adapter = tokpar.load(tokenizer, **settings)
    strategy = data.draw(st.sampled_from(["auto", "cut", "lopt"]))
    with tokpar.Encoder(adapter, strategy=strategy, workers=1) as encoder:
        try:
            encoding = encoder.encode(text)
        except EngineError:
            return
    report = check(encoding, text, adapter)
    assert report, report
    rows = [*changed_ids(encoding.ids), encoding.ids[: len(encoding.ids) // 2]]
    for ids in rng.sample(rows, min(8, len(rows))):
        changed = replace(encoding, ids=ids)
        assert check(changed, text, adapter).ok == np.array_equal(ids, encoding.ids)


@pytest.mark.parametrize("condition", ["certified", "absorbed", "end"])
def test_theorem_31_needs_each_condition(condition: str) -> None:
    if condition == "certified":
        tokenizer, text = cl100k(), "the cat sat"
        seams = [Seam(p, "PAIR", "20", ()) for p in range(1, len(text))]
        letters = by_hand(tokenizer, text, seams)
        assert letters.ids.tolist() != tokenizer.encode(text).tolist()
        assert "serial" in kinds(check(letters, text, tokenizer))
        return
    if condition == "absorbed":
        small, text, encoding = dummy_case()
        parts = [text[a:b] for a, b in zip((0, 3, 8, 12), (3, 8, 12, len(text)), strict=True)]
        kept = np.concatenate([small.encode(part) for part in parts])
        assert kept.tolist() != encoding.ids.tolist()
        assert check(encoding, text, small)
        assert not check(encoding_of(kept, encoding.seams), text, small)
        return
    tokenizer, text, encoding = cl100k_case()
    more = np.append(encoding.ids, encoding.ids[-1:])
    assert check(encoding, text, tokenizer)
    assert "serial" in kinds(check(encoding_of(more, encoding.seams), text, tokenizer))


@pytest.mark.parametrize(
    ("normalizer", "has_prefix", "text"),
    [(normalizers.NFC(), False, "one two e\u0301. "), (None, True, "one.two (three), ")],
    ids=["normalizer", "prefix"],
)
def test_no_further_cuts_where_the_pattern_gets_another_text(
    normalizer: Any, has_prefix: bool, text: str
) -> None:
    """NFC joins two characters between which the pattern certifies a cut; a part gets a space."""
    tokenizer, text = regex_tokenizer("gpt2", normalizer, prefix_space=has_prefix), text * 9
    finder = finder_for(tokenizer.facts)
    places = [seam for p in range(1, len(text)) if (seam := finder.certify(text, p))]
    encoding = by_hand(tokenizer, text, places)
    assert {seam.rule for seam in places} == {"PAIR"}
    report = check(encoding, text, tokenizer)
    assert report, report


def test_each_distinct_segment_is_encoded_once() -> None:
    tokenizer, text = cl100k(), "to be or not to be " * 500
    seams = [
        Seam(
            p,
            "PAIR",
            "20",
            (("pattern", "cl100k_tiktoken"), ("left", "non-space"), ("right", "space")),
        )
        for p in range(1, len(text))
        if text[p] == " " and text[p - 1] != " " and p + 1 < len(text)
    ]
    encoding = by_hand(tokenizer, text, seams)
    asked: list[str] = []
    own = tokenizer.encode

    def counted(part: str) -> IdArray:
        asked.append(part)
        return own(part)

    with mock.patch.object(tokenizer, "encode", counted):
        report = check(encoding, text, tokenizer)
    assert report
    assert len(asked) == len(set(asked)) < 10
    assert "5 distinct of" in " ".join(report.proved) or "6 distinct of" in " ".join(report.proved)


def test_an_engine_that_fails_on_a_segment_is_asked_for_the_whole_text() -> None:
    tokenizer, text, encoding = cl100k_case()
    own = tokenizer.encode

    def fails_on_parts(part: str) -> IdArray:
        if part != text:
            raise EngineError("no part")
        return own(part)

    with mock.patch.object(tokenizer, "encode", fails_on_parts):
        report = check(encoding, text, tokenizer)
        assert report
        assert "whole text" in " ".join(report.proved)
        wrong = encoding_of(encoding.ids[::-1].copy(), encoding.seams)
        assert not check(wrong, text, tokenizer)


# ------------------------------------------------------------------------ further cuts


def divided(adapter: Any, text: str, places: Collection[int] = ()) -> list[str]:
    """The segments of a text between the places that rules certify, divided further."""
    finder = finder_for(facts_of(adapter))
    seams = Seams.of(seam for p in sorted(places) if (seam := finder.certify(text, p)))
    probe = TokenizerProbe(adapter, text, None)
    cuts = probe.utf8.byte_offsets(seams.planned.positions)
    more = further_cuts(cuts, seams, checked_facts(adapter).facts, probe)
    assert not {*more.tolist()} & {*cuts.tolist()}
    edges, data = sorted([0, *cuts.tolist(), *more.tolist(), len(text.encode())]), text.encode()
    return [data[a:b].decode() for a, b in pairwise(edges)]


@given(st.data())
def test_the_ids_of_divided_segments_are_those_of_the_text(data: st.DataObject) -> None:
    tokenizer: Any = build(data.draw(st.one_of(byte_level_specs(), tiktoken_specs())))
    text = "x" + data.draw(texts_with(contents(tokenizer), 300)) * data.draw(
        st.sampled_from([1, 4])
    )
    settings = {"disallowed_special": ()} if hasattr(tokenizer, "encode_ordinary") else {}
    adapter: Any = tokpar.load(tokenizer, **settings)
    places = data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=12))
    try:
        whole = adapter.encode(text).tolist()
    except (EngineError, OptionError):  # the engine panics on some added tokens
        return
    parts = [adapter.encode(part) for part in divided(adapter, text, places)]
    assert np.concatenate(parts).tolist() == whole


def test_a_segment_with_an_added_token_is_not_divided_further() -> None:
    """ " foxes" is one match of the regex, and the engine finds "ox" in it."""
    tokenizer, text = byte_level(CL100K), "the foxes, and dogs, and"
    assert divided(tokpar.load(tokenizer), text, [3]) == [
        "the",
        " foxes",
        ",",
        " and",
        " dogs",
        ",",
        " and",
    ]
    tokenizer.add_tokens([AddedToken("ox", normalized=False)])
    adapter: Any = tokpar.load(tokenizer)
    assert divided(adapter, text, [3, 10]) == ["the", " foxes,", " and", " dogs", ",", " and"]


def test_text_that_tiktoken_leaves_out_is_left_out_of_the_parts() -> None:
    """tiktoken drops what the pattern does not match."""
    ranks = {bytes([b]): b for b in range(256)}
    encoding = tiktoken.Encoding("gaps", pat_str="a+|b", mergeable_ranks=ranks, special_tokens={})
    adapter: Any = tokpar.load(encoding)
    parts = divided(adapter, "aab12 bba1a", range(1, 11))
    assert len(parts) > 1
    assert b"".join(bytes(adapter.encode(part).tolist()) for part in parts) == b"aabbbaa"


@needs_below_one
@pytest.mark.parametrize("direction", ["left", "right"])
def test_ids_are_compared_with_what_a_truncation_leaves_of_them(direction: str) -> None:
    """Also of a text that is a little shorter than the limit."""
    tokenizer = byte_level(CL100K)
    tokenizer.enable_truncation(5, direction=direction)
    adapter = tokpar.load(tokenizer)
    for text in ("o", "o t", "o t t", "o t th f", "o t th fo fi s"):
        right = np.array(tokenizer.encode(text).ids, dtype=np.uint32)
        assert check(encoding_of(right, ()), text, adapter).ok
        for wrong in changed_ids(right):
            assert check(encoding_of(wrong, ()), text, adapter).ok == np.array_equal(wrong, right)


def test_ids_of_an_empty_text_are_refused_where_truncation_keeps_nothing() -> None:
    tokenizer = byte_level(CL100K)
    tokenizer.enable_truncation(0)
    adapter = tokpar.load(tokenizer)
    ids = np.array([7], dtype=np.uint32)
    assert not check(encoding_of(ids, ()), "", adapter)
    assert check(encoding_of(ids[:0], ()), "", adapter)
