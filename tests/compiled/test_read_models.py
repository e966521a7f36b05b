"""A model is read once when its tokenizer is loaded: the facts are those of the vocabulary that the
engine gives, and tables are never those of a model from before a change."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, trainers

import tokpar
from tests.conftest import needs_kernel
from tests.support.kernel_twins import TWINS, twin
from tests.support.merges_drawn import DrawnBPE, plain_bpe, vocabularies
from tokpar.adapters import hf_copy, hf_look
from tokpar.adapters.hf_look import read_model
from tokpar.compiled.compiled_build import KIND
from tokpar.compiled.merges import vocabulary_arrays
from tokpar.facts.hf_vocabulary import VocabularyArrays

pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.compiled_at_once]

TEXT = "thequick brownfox jumps over\n12 lazy  dogs, and 中文字 too. " * 300
BYTE_LEVEL = {"add_prefix_space": False, "trim_offsets": True, "use_regex": True}


def config_of(model: dict[str, Any], *added: dict[str, Any]) -> dict[str, Any]:
    flags = dict.fromkeys(("single_word", "lstrip", "rstrip", "normalized", "special"), False)
    return {
        "pre_tokenizer": {"type": "ByteLevel", **BYTE_LEVEL},
        "added_tokens": [flags | one for one in added],
        "model": model,
    }


def facts_of(tokenizer: Any) -> dict[str, Any]:
    """The facts of a fresh object, and the lengths of its tokens: of all ids it may have."""
    adapter = tokpar.load(tokenizer)
    facts: Any = adapter.facts  # type: ignore[attr-defined]
    found = {f.name: getattr(facts, f.name) for f in dataclasses.fields(facts)}
    tokens, sizes = found.pop("tokens"), found.pop("sizes")
    found.pop("_derived_values")
    found["tokens"] = None if tokens is None else tokens()
    lengths = adapter._lengths  # type: ignore[attr-defined]
    some = np.arange(2000, dtype=np.uint32)
    found["sizes"] = None if sizes is None else sizes(some).tolist()
    found["lengths"] = None if lengths is None else lengths.lengths_of(some).tolist()
    return found


def from_dictionaries(make: Callable[[], Any]) -> Any:
    """The same of an object whose vocabulary the engine gives as a dictionary."""
    with patch.object(hf_look.kernel_modules, "VOCABULARY", None):
        return facts_of(make())


@given(drawn=vocabularies(most_id=1500), data=st.data())
def test_facts_are_those_of_the_engine_s_own_vocabulary(
    drawn: DrawnBPE, data: st.DataObject
) -> None:
    ids = st.sampled_from([*drawn.vocab.values(), 1501, 1502])
    contents = st.sampled_from([*drawn.vocab, "<a>", "中", "é"]).filter(bool)
    added = data.draw(st.lists(st.fixed_dictionaries({"id": ids, "content": contents}), max_size=3))
    written = json.dumps(config_of(drawn.config, *added))
    try:
        Tokenizer.from_str(written)
    except Exception:
        return
    assert facts_of(Tokenizer.from_str(written)) == from_dictionaries(
        lambda: Tokenizer.from_str(written)
    )


@TWINS
def test_arrays_are_of_as_many_tokens_as_ids_or_none(name: str) -> None:
    reader = twin(name, "_vocabulary")

    def arrays(written: str, size: int) -> VocabularyArrays | None:
        return vocabulary_arrays(written.encode(), size, dict, reader)

    found = arrays('{"vocab": {"a": 0, "\\ud83d\\ude00x": 7, "\\u00e9b": 3, "": 1, "中": 2}}', 5)
    assert found is not None
    assert found.ids.tolist() == [0, 7, 3, 1, 2]
    assert found.characters.tolist() == [1, 2, 2, 0, 1]
    assert found.in_byte_alphabet.tolist() == [True, False, True, True, False]
    assert found.spelled_lengths([3, 7, 9]) == {3: 2}
    assert not found.has_all_bytes
    whole = arrays(json.dumps({"vocab": plain_bpe().vocab}), 256)
    assert whole is not None
    assert whole.has_all_bytes
    assert arrays('{"vocab": {"a": 0, "b": 0}}', 2) is None
    assert arrays('{"vocab": {"a": 0, "a": 1}}', 1) is None
    assert arrays('{"vocab": {"a": 0}}', 2) is None
    assert arrays('{"vocab": {"a": 0}, "vocab": {"b": 0}}', 1) is None
    assert arrays('{"vocab": ["a"]}', 1) is None
    assert arrays("{}", 0) is None
    assert vocabulary_arrays(b'{"vocab": {"a": 0}}', 1, dict, None) is None


CHANGES: dict[str, Callable[[Any], None]] = {
    "a merge less": lambda t: setattr(t, "model", plain_bpe([("t", "h")]).engine),
    "other merges": lambda t: setattr(t, "model", plain_bpe([("h", "e"), ("t", "he")]).engine),
    "trained": lambda t: t.train_from_iterator(
        ["the lazy fox"] * 9, trainers.BpeTrainer(vocab_size=300, show_progress=False)
    ),
    "an added token": lambda t: t.add_tokens(["fox"]),
    "ignore_merges": lambda t: setattr(t.model, "ignore_merges", True),
    "back": lambda t: setattr(t, "model", plain_bpe(MERGES).engine),
}
MERGES = [("t", "h"), ("th", "e"), ("q", "u"), ("qu", "i"), ("d", "o"), ("do", "g")]


# trained after it has encoded, the engine's own call gives ids of before, or panics
CASES = [(change, first) for change in CHANGES for first in (True, False)[change == "trained" :]]


@pytest.mark.parametrize(("change", "first_call"), CASES)
def test_ids_are_those_of_the_object_after_every_change(
    change: str, first_call: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between loading and the first call, and after it, with tables on disk of the model before."""
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setattr("tokpar.adapters.hf_call.LEAST_KEPT", 0)
    tokenizer = Tokenizer.from_str(json.dumps(config_of(plain_bpe(MERGES).config)))
    tokpar.load(tokenizer)
    if first_call:
        assert tokpar.encode(TEXT, tokenizer).ids.tolist() == tokenizer.encode(TEXT).ids
    CHANGES[change](tokenizer)
    for text in (TEXT, TEXT[::-1]):
        assert tokpar.encode(text, tokenizer).ids.tolist() == tokenizer.encode(text).ids
    with tokpar.Encoder(tokenizer) as encoder:
        assert encoder.encode(TEXT).ids.tolist() == tokenizer.encode(TEXT).ids


def test_tables_of_a_model_that_was_trained_since_are_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setattr("tokpar.adapters.hf_call.LEAST_KEPT", 0)
    tokenizer = Tokenizer.from_str(json.dumps(config_of(plain_bpe(MERGES).config)))
    before: Any = tokpar.load(tokenizer)
    assert before.later_call.wait() is not None
    assert len(list((tmp_path / KIND).iterdir())) == 1
    CHANGES["trained"](tokenizer)
    after: Any = tokpar.load(tokenizer)
    call = after.later_call and after.later_call.wait()
    if call is not None:
        assert call.encode_plain("the").tolist() == tokenizer.encode("the").ids
    assert (
        before.later_call.call.encode_plain("the").tolist()
        == plain_bpe(MERGES).tokenize(b"the").tolist()
    )


def test_the_vocabulary_is_asked_for_where_arrays_do_not_tell_enough() -> None:
    asked = patch.object(hf_copy, "read_model", wraps=read_model)
    shared = {**plain_bpe().vocab, "ab": 300, "xy": 300}
    model = {"type": "BPE", "vocab": shared, "merges": [["a", "b"]]}
    with asked as spy:
        adapter: Any = tokpar.load(Tokenizer.from_str(json.dumps(config_of(model))))
    assert spy.call_count == 1
    assert not adapter.facts.tiles
