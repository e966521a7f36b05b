"""Whatever release of tokenizers is installed: tokpar reads both formats of a tokenizer.json, and
says which release it needs.
"""

from __future__ import annotations

import dataclasses
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from tokpar_conformance.fixed_texts import hostile_texts

import tokpar
from tests.support.file_formats import NAMES, sample, written
from tests.support.paths import DEFAULT
from tokpar.adapters import hf_version
from tokpar.adapters.hf_postprocess import around_of
from tokpar.errors import EngineError, FileFormatError
from tokpar.facts.hf_facts import facts_from_json
from tokpar.formats.format_upgrade import as_format_one

pytestmark = pytest.mark.ids
RELEASE = hf_version.installed_release()
READ_BY_PURE = tuple(name for name in NAMES if name != "Metaspace")  # that one is Unigram


# --------------------------------------------------------------------- the two formats


@pytest.mark.parametrize("name", NAMES)
def test_both_formats_of_a_file_tell_the_same_facts(name: str) -> None:
    one, two = (facts_from_json(as_format_one(sample(name, version))) for version in ("one", "two"))
    fields = [
        {name: value for name, value in dataclasses.asdict(each).items() if name != "sizes"}
        | {"has sizes": each.sizes is not None}
        for each in (one, two)
    ]
    assert fields[0] == fields[1]


@pytest.mark.parametrize("name", NAMES)
def test_both_formats_of_a_file_put_the_same_ids_around_a_text(name: str) -> None:
    one, two = (
        as_format_one(sample(name, version))["post_processor"] for version in ("one", "two")
    )
    assert around_of(one) == around_of(two)


@pytest.mark.parametrize("name", READ_BY_PURE)
def test_both_formats_of_a_file_give_the_same_ids(name: str, tmp_path: Path) -> None:
    one, two = (
        tokpar.load(written(tmp_path, sample(name, version)), engine="pure")
        for version in ("one", "two")
    )
    for text in (*hostile_texts(), "the <｜x｜> 12 <end> the [SEP] <s> a"):
        assert np.array_equal(one.encode(text), two.encode(text)), text
        whole = [tokenizer.encode_whole(text) for tokenizer in (one, two)]  # type: ignore[attr-defined]
        assert np.array_equal(*whole), text


def test_an_added_token_stands_in_the_vocabulary_as_it_stands_in_a_text() -> None:
    two = sample("ByteLevel's own regex", "two")
    assert "<｜x｜>" not in two["model"]["vocab"]
    assert as_format_one(two)["model"]["vocab"]["<｜x｜>"] == 0


def test_what_format_1_cannot_say_is_provable_of_nothing() -> None:
    two = json.loads(json.dumps(sample("Metaspace", "two")))
    two["normalizer"]["normalizers"][-1] |= {"drop_whitespace": True, "prepend": "first"}
    assert facts_from_json(as_format_one(two)).unprovable is not None


def test_white_space_that_is_dropped_before_a_metaspace_is_a_stage_of_format_1() -> None:
    two = json.loads(json.dumps(sample("Metaspace", "two")))
    two["normalizer"]["normalizers"][-1] |= {"drop_whitespace": True, "prepend": "always"}
    one = as_format_one(two)
    kinds = [stage["type"] for stage in one["pre_tokenizer"]["pretokenizers"]]
    assert kinds == ["WhitespaceSplit", "Metaspace"]
    assert facts_from_json(one).scheme == "spaces"


@pytest.mark.skipif(RELEASE >= (1,), reason="needs tokenizers below 1.0")
def test_a_file_in_format_2_names_the_release_that_reads_it(tmp_path: Path) -> None:
    path = written(tmp_path, sample("BERT", "two"))
    with pytest.raises(FileFormatError, match=r"format 2\.0.*tokenizers>=1\.0\.0rc3") as caught:
        tokpar.load(path)
    assert str(path) in str(caught.value)


# -------------------------------------------------------------------- other releases


class FakeTokenizer:
    """An object of a release that is not installed."""


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """tokenizers 0.19.1, as far as tokpar looks at it."""
    module = ModuleType("tokenizers")
    vars(module).update(__version__="0.19.1", Tokenizer=FakeTokenizer)
    monkeypatch.setitem(sys.modules, "tokenizers", module)


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("source", [DEFAULT, FakeTokenizer()], ids=["file", "object"])
def test_an_old_release_is_refused_with_those_that_work(source: object) -> None:
    said = r"tokenizers 0\.20 or later, 1\.x included; 0\.19\.1 is installed"
    with pytest.raises(EngineError, match=said):
        tokpar.load(source)
