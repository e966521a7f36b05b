"""Files and directories that are no tokenizer that tokpar reads: the error says what they are, what
to pass, and quotes little of them."""

from __future__ import annotations

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.paths import VOCAB
from tokpar.adapters.directory_files import file_to_name
from tokpar.errors import LONGEST_QUOTE, FileFormatError, TokparError

KERAS = {"class_name": "Tokenizer", "config": {"word_counts": json.dumps({"a": 1})}}
MERGES = b"\xc4\xa0 t\nh e\ni n\nr e\no n\n"
IDS = json.dumps({"<s>": 0, "a": 4}).encode()
RANKS = b"IQ== 0\nIg== 1\nIw== 2\n"
KINDS: dict[str, tuple[bytes, str]] = {
    "keras": (json.dumps(json.dumps(KERAS)).encode(), "of Keras, .* pass an object of your own"),
    "keras object": (json.dumps(KERAS).encode(), "of Keras, .* pass an object of your own"),
    "ids": (IDS, "without its merges: pass the tokenizer.json"),
    "merges": (b"#version: 0.2\n" + MERGES, "merges of BPE alone: pass the tokenizer.json"),
    "merges without a version": (MERGES, "merges of BPE alone: pass the tokenizer.json"),
    "pickle": (pickle.dumps({"a": 1}), "a pickle runs code .* pass the tokenizer object"),
    "torch": (b"PK\x03\x04" + bytes(99), "as torch.save writes: pass the tokenizer.json"),
    "safetensors": ((2).to_bytes(8, "little") + b"{}", r"\(safetensors\): pass the tokenizer.json"),
    "GGUF": (b"GGUF\x03\0\0\0" + bytes(99), "a GGUF file has no normalizer, .* pass the"),
    "ranks": (RANKS, "a .tiktoken file .* pass pat_str"),
    "LFS": (b"version https://git-lfs.github.com/spec/v1\n", "run git lfs pull"),
    "tekken": (b'{"config": {}, "vocab": []}', "a tekken.json of Mistral: give it a name"),
    "settings": (b'{"tokenizer_class": "A", "model_max_length": 1}', "settings of transformers"),
}


@pytest.mark.parametrize("engine", [None, "pure"])
@pytest.mark.parametrize("suffix", [".json", ".txt", ".model", ".bin", ".tiktoken", ""])
@pytest.mark.parametrize("kind", KINDS)
def test_a_foreign_file_is_named_under_every_name(
    tmp_path: Path, kind: str, suffix: str, engine: str | None
) -> None:
    content, words = KINDS[kind]
    path = tmp_path / f"tokenizer{suffix}"
    path.write_bytes(content)
    if (kind, suffix) == ("ranks", ".tiktoken"):
        words = "expected a token for each byte"
    settings: dict[str, Any] = {"pat_str": ".", "special_tokens": {}} if "tik" in suffix else {}
    with pytest.raises(TokparError, match=f"(?s)tokenizer{suffix}.*{words}"):
        tokpar.load(path, engine=engine, **settings)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_without_a_wait_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="the name of a tokenizer's file tells its kind"):
        tokpar.load(tmp_path / "pipe")


def places(part: Any) -> list[tuple[Any, Any]]:
    """Each (container, key) of a parsed JSON file, but for the entries of its vocabulary."""
    keys = list(part) if isinstance(part, dict) else range(min(len(part), 3))
    found = [(part, key) for key in keys if key != "vocab"]
    inner = (part[key] for _, key in found if isinstance(part[key], (dict, list)))
    return [*found, *(place for each in inner for place in places(each))]


@given(data=st.data(), engine=st.sampled_from([None, "pure"]))
def test_no_message_quotes_much_of_a_file(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, engine: str | None
) -> None:
    config = json.loads((VOCAB / "bert_part.json").read_text(encoding="utf-8"))
    container, key = data.draw(st.sampled_from(places(config)))
    long = "x" * 100_000
    container[key] = data.draw(st.sampled_from([long, [long], {long: long}, {"type": long}]))
    path = tmp_path_factory.mktemp("long") / "tokenizer.json"
    path.write_text(json.dumps(data.draw(st.sampled_from([config, json.dumps(config)]))))
    said = ""
    try:
        tokpar.load(path, engine=engine)
    except FileFormatError as error:
        said = str(error)
    assert len(said) <= 1000
    assert "x" * (LONGEST_QUOTE + 1) not in said


@given(st.sets(st.sampled_from(["vocab.json", "merges.txt", "config.json", "a.bin", "notes"])))
def test_a_directory_without_a_file_to_name_says_what_it_holds(
    tmp_path_factory: pytest.TempPathFactory, names: set[str]
) -> None:
    directory = tmp_path_factory.mktemp("held")
    for name in names:
        (directory / name).write_bytes(MERGES if name == "merges.txt" else IDS)
    told = file_to_name(directory)
    assert f"it holds {', '.join(sorted(names)) or 'nothing'}, and no file" in told
    assert ("GPT2TokenizerFast" in told) == ({"vocab.json", "merges.txt"} <= names)
    with pytest.raises(FileFormatError) as refused:
        tokpar.load(directory)
    assert str(refused.value).endswith(told)
    assert ":)" not in str(refused.value)
    (directory / "vocab.txt").write_text("[UNK]\n")
    assert file_to_name(directory) == f"name the file ({directory / 'vocab.txt'})"
