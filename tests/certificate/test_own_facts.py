"""The checker reads each tokenizer's file by itself, and agrees with the planner where both read
right."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from tokpar_pure.patterns import flatten_sets

import tokpar
from tests.support import file_formats, hf_sources, shared_ids
from tests.support.engine_files_drawn import drawn_file
from tests.support.fakes import Wrapper
from tests.support.small_models import bert, byte_level
from tests.support.stages_drawn import drawn_tokenizer
from tests.support.tokenizers_drawn import (
    hf_tokenizers,
    named_tokenizers,
    tiktoken_encodings,
)
from tokpar.certificate.canonical_form import form_of_json
from tokpar.certificate.fact_differences import AS_TOLD, checked_facts, differences
from tokpar.certificate.origin_reader import _state_of_part
from tokpar.certificate.own_division import without_inner_sets
from tokpar.certificate.own_facts import facts_of_form
from tokpar.contract.interfaces import facts_of
from tokpar.errors import TokparError
from tokpar.facts.hf_facts import facts_with_tokens
from tokpar.formats.format_upgrade import as_format_one
from tokpar.formats.vocabulary import GPT2_PATTERN, Vocabulary

LINE = "The first line, ab <x> 123 of caf\u00e9s.\n"


def findings_of(tokenizer: Any, **settings: Any) -> list[str]:
    """What the checker finds in the facts, all tokens compared."""
    adapter = tokpar.load(tokenizer, **settings)
    return [each.message for each in checked_facts(adapter).findings]


def notes_of(tokenizer: Any) -> tuple[str, ...]:
    return checked_facts(tokpar.load(tokenizer)).notes


# ------------------------------------------------------------------------------ read alike


@given(hf_tokenizers())
def test_drawn_tokenizers_are_read_alike(tokenizer: Tokenizer) -> None:
    assert findings_of(tokenizer) == []
    assert notes_of(tokenizer) == ()


@given(st.integers(0, 1 << 32))
def test_drawn_rows_of_stages_are_read_alike(seed: int) -> None:
    assert findings_of(drawn_tokenizer(random.Random(seed))) == []


@given(tiktoken_encodings(), st.data())
def test_drawn_encodings_are_read_alike(encoding: tiktoken.Encoding, data: st.DataObject) -> None:
    specials = sorted(encoding.special_tokens_set)
    allowed = data.draw(st.sets(st.sampled_from(specials)) if specials else st.just(set()))
    assert findings_of(encoding, allowed_special=allowed) == []
    assert findings_of(encoding, allowed_special="all") == []


@pytest.mark.parametrize("engine", [None, "pure"])
@given(number=st.integers(0, 1 << 32))
def test_drawn_files_are_read_alike(
    engine: str | None, number: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = drawn_file(number, 44, tmp_path_factory.mktemp("files"))
    try:
        adapter = tokpar.load(file.path, engine=engine, **file.settings)
    except TokparError:
        return  # the engine does not read such a file
    assert findings_of(adapter) == []


@pytest.mark.parametrize("name", named_tokenizers())
def test_the_committed_tokenizers_are_read_alike(name: str) -> None:
    assert findings_of(named_tokenizers()[name]) == []


@pytest.mark.parametrize("name", hf_sources.SOURCES)
def test_tokenizers_of_transformers_are_read_alike(name: str) -> None:
    assert findings_of(hf_sources.original(name)) == []


def with_gaps() -> Tokenizer:
    vocab = {"a": 0, "b": 7, "ab": 3_000_000_000, "\u2581": 9, "": 12}
    return Tokenizer(models.BPE(vocab, [("a", "b")], unk_token="a"))


def with_equal_pieces() -> Tokenizer:
    pieces = [("<unk>", 0.0), ("a", -1.0), ("a", -2.0), ("b", -1.0)]
    return Tokenizer(models.Unigram(pieces, 0, False))


def with_odd_contents() -> Tokenizer:
    own = byte_level([("a", "b")])
    flagged = AddedToken(" \u00e9", lstrip=True, rstrip=True, single_word=True, normalized=True)
    own.add_tokens([flagged, AddedToken("a"), AddedToken("\u0120"), AddedToken("ab", special=True)])
    own.encode_special_tokens = True
    return own


def custom() -> Tokenizer:
    class Upper:
        def normalize(self, normalized: Any) -> None:
            normalized.uppercase()

    own = byte_level([])
    own.normalizer = normalizers.Normalizer.custom(Upper())
    return own


ODD: dict[str, Callable[[], Tokenizer]] = {
    "ids with gaps, and an empty token": with_gaps,
    "pieces that are listed twice": with_equal_pieces,
    "added tokens with all flags": with_odd_contents,
    "two tokens with one id": lambda: shared_ids.tokenizer_of(shared_ids.sharing()),
    "an empty vocabulary": lambda: Tokenizer(models.BPE()),
    "an empty vocabulary of words": lambda: Tokenizer(models.WordLevel()),
    "a part in Python": custom,
    "BERT": bert,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_tokenizers_are_read_alike(name: str) -> None:
    assert findings_of(ODD[name]()) == []


@pytest.mark.parametrize("name", ["one", "two"])
@pytest.mark.parametrize("sample", file_formats.NAMES)
def test_both_formats_of_a_file_are_read_as_the_planner_reads_them(sample: str, name: str) -> None:
    config = file_formats.sample(sample, name)
    own = facts_of_form(form_of_json(config, lists_classes=True))
    told = facts_with_tokens(as_format_one(config), lists_classes=True)
    assert [each.message for each in differences(told, own)] == []
    assert (own.unprovable is None) == (told.unprovable is None)
    assert own.scheme == told.scheme


@given(st.lists(st.sampled_from([*"ab-^", "[", "]", r"\[", r"\]", r"\s", r"\p{L}", "+"])))
def test_sets_in_sets_are_written_out_as_the_plain_engine_gets_them(parts: list[str]) -> None:
    pattern = f"[^{''.join(p for p in parts if p not in '[]^-+')}[x,.]y]|" + r"\s+"
    assert without_inner_sets(pattern) == flatten_sets(pattern)


def test_a_vocabulary_may_lack_a_byte_that_no_text_has() -> None:
    tokens = {bytes([byte]): byte for byte in range(256) if byte != 0xC0}
    gpt2 = (GPT2_PATTERN,)
    vocabulary = Vocabulary("lacking", tokens, "pairs", gpt2, {}, keep_gaps=True, whole_piece=True)
    assert findings_of(vocabulary, engine="pure") == []
    assert tokpar.load(vocabulary, engine="pure").facts.tiles


# ------------------------------------------------------------------------------ no file


def test_a_tokenizer_without_a_file_is_believed_and_the_report_says_so() -> None:
    told = Wrapper(inner=tokpar.load(byte_level([("a", "b")])))
    encoding = tokpar.encode(LINE * 20, told, strategy="cut", chunk_chars=16)
    report = tokpar.check(encoding, LINE * 20, told)
    assert len(encoding.seams) > 1
    assert report.findings == ()
    assert AS_TOLD in report.notes
    assert AS_TOLD not in tokpar.check(encoding, LINE * 20, told.inner).notes


# ------------------------------------------------------------------------------ changes

CHANGES: dict[str, Callable[[Tokenizer], object]] = {
    "another normalizer": lambda own: setattr(own, "normalizer", normalizers.NFC()),
    "another pre-tokenizer": lambda own: setattr(
        own,
        "pre_tokenizer",
        pre_tokenizers.Sequence([pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(False)]),
    ),
    "a stage in place": lambda own: setattr(own.pre_tokenizer[1], "add_prefix_space", True),
    "an added token": lambda own: own.add_tokens([AddedToken("<x>", lstrip=True)]),
    "dropout": lambda own: setattr(own.model, "dropout", 0.5),
    "another model": lambda own: setattr(own, "model", byte_level([("a", "b")]).model),
    "truncation": lambda own: own.enable_truncation(5),
    "padding": lambda own: own.enable_padding(length=1000),
    "special tokens as text": lambda own: setattr(own, "encode_special_tokens", True),
}


@given(st.lists(st.sampled_from(sorted(CHANGES)), max_size=6))
def test_whatever_changes_follow_each_other_nothing_false_is_found(names: list[str]) -> None:
    own = byte_level([("c", "d")])
    for name in names:
        CHANGES[name](own)
        found = tokpar.check(tokpar.encode(LINE * 3, own), LINE * 3, own).findings
        assert [each for each in found if each.kind == "facts"] == []


# ------------------------------------------------------------------------------ what decides


def test_the_facts_of_the_file_decide_about_a_seam_whatever_the_planner_was_told() -> None:
    """The planner is told of no added token; one lies across a seam."""
    own = byte_level([])
    own.add_tokens([AddedToken("b c", normalized=False)])
    text = "a b c d e"
    plain = tokpar.encode(text, byte_level([]), strategy="cut", chunk_chars=1)
    assert 3 in [seam.position for seam in plain.seams]
    kinds = {each.kind for each in tokpar.check(plain, text, own).findings}
    assert "added token" in kinds


def test_a_refusal_of_the_planner_alone_is_no_finding_and_refuses() -> None:
    adapter = tokpar.load(byte_level([]))
    adapter.facts = replace(facts_of(adapter), unprovable="the adapter knows more")
    known = checked_facts(adapter)
    assert known.findings == ()
    assert known.facts.unprovable == "the adapter knows more"


def test_only_the_error_of_a_part_in_python_is_its_state() -> None:
    """A deadline while the state is asked for stops the check."""

    @dataclass
    class Part:
        error: Exception

        def __getstate__(self) -> bytes:
            raise self.error

    said = "Custom Normalizer cannot be serialized"
    assert _state_of_part(Part(Exception(said))) == said
    with pytest.raises(TimeoutError, match="deadline"):
        _state_of_part(Part(TimeoutError("deadline")))
