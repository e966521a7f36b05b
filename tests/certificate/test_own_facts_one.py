"""The checker's reading of tokenizers of the package tokenizers from 1.0 on; skipped beside another
release of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tokpar
from tests.support.file_formats import NAMES, sample, written
from tests.support.paths import DEFAULT, VOCAB
from tokpar.adapters import hf_version
from tokpar.certificate.fact_differences import checked_facts
from tokpar.certificate.origin_reader import read_origin
from tokpar.certificate.own_facts import facts_of_form

if hf_version.installed_release() < (1,):
    pytest.skip("needs tokenizers 1.x", allow_module_level=True)

from tokenizers import Tokenizer, Truncation

PARTS = ("bert_part", "deepseek_part", "llama_style", "metaspace_unigram")
FILES = [DEFAULT, *(VOCAB / f"{name}.json" for name in PARTS)]
TEXT = "The first line, ab <x> 123 of caf\u00e9s.\n" * 40
X = {"id": 0, "content": "<x>", "special": False, "normalized": False}
PLAIN = {"lstrip": False, "rstrip": False, "single_word": False}


def findings_of(tokenizer: Any, **settings: Any) -> list[str]:
    adapter = tokpar.load(tokenizer, **settings)
    return [each.message for each in checked_facts(adapter).findings]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_committed_files_are_read_alike(path: Path) -> None:
    assert findings_of(path) == []
    assert findings_of(path, add_special_tokens=False, truncation=False, padding=False) == []


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", ["one", "two"])
def test_both_formats_are_read_alike(name: str, version: str, tmp_path: Path) -> None:
    assert findings_of(written(tmp_path, sample(name, version))) == []


def test_a_byte_level_stage_behind_a_split_at_spaces_is_read_alike(tmp_path: Path) -> None:
    config = json.loads(DEFAULT.read_text(encoding="utf-8"))
    split = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithNext"}
    last = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    config["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [{**split, "invert": False}, {**last, "trim_offsets": True}],
    }
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(config), encoding="utf-8")
    assert tokpar.contract.interfaces.facts_of(tokpar.load(path)).scheme == "spaces"
    assert findings_of(path) == []


@pytest.mark.parametrize("most", [0, 1, 2, 3, 8])
def test_another_truncation_is_read_again(most: int) -> None:
    own = Tokenizer.from_file(str(VOCAB / "bert_part.json"))
    assert findings_of(own) == []
    own.truncation = Truncation(max_length=most)
    assert findings_of(own) == []
    own.truncation = None
    assert findings_of(own) == []


def with_added(tmp_path: Path, **flags: bool) -> Path:
    config = json.loads(DEFAULT.read_text(encoding="utf-8"))
    highest = max(config["model"]["vocab"].values())
    token = {**X, **PLAIN, "id": highest + 1, **flags}
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**config, "added_tokens": [token]}), encoding="utf-8")
    return path


@pytest.mark.parametrize("flag", ["lstrip", "rstrip", "single_word", "normalized", None])
def test_added_tokens_with_flags_are_read_alike(flag: str | None, tmp_path: Path) -> None:
    path = with_added(tmp_path, **({flag: True} if flag else {}))
    assert findings_of(path) == []
    adapter: Any = tokpar.load(path)
    encoding = tokpar.encode(TEXT, adapter, strategy="cut", chunk_chars=16)
    assert tokpar.check(encoding, TEXT, adapter).findings == ()
    refused = facts_of_form(read_origin(adapter.origin)).unprovable
    assert (refused is None) == (flag in ("normalized", None))
