"""Mistakes of the first hours: what each error says, and that its advice works."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_below_one
from tests.support.cli_runs import run
from tests.support.paths import VOCAB
from tokpar.errors import OptionError, UnknownNameError
from tokpar.registry.tables import ENCODER_OPTIONS, registry

OWN_OPTIONS = ("smallest_text", *ENCODER_OPTIONS)


@pytest.mark.parametrize("name", ["book.txt", "notes.md", "book", "rows.jsonl", "vocab.txt"])
def test_try_with_a_text_as_its_tokenizer_says_how_to_try_a_text(name: str, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_text('{"text": "It was a dark night."}\n' * 30)
    error = run("try", file).error
    assert f"{file}: the first argument is a tokenizer, and this file is none" in error
    advice = re.search(r"to try a text: tokpar (try default \S+)", error)
    assert advice is not None
    assert run(*advice[1].split()).code == 0
    assert "the first argument" not in run("try", file, file).err


@pytest.mark.parametrize("command", ["encode", "count", "stream", "chunks"])
def test_a_directory_in_place_of_a_file_says_what_takes_directories(
    command: str, tmp_path: Path
) -> None:
    for name in (tmp_path, tmp_path / "with.dots", tmp_path / "rows.jsonl"):
        name.mkdir(exist_ok=True)
        words = ("--max-tokens", 5) if command == "chunks" else ()
        error = run(command, name, *words).err
        assert f"{name} is a directory: name its files, such as {name}/*.jsonl" in error
        assert "`tokpar corpus build` takes directories" in error


def fast() -> Any:
    from transformers import PreTrainedTokenizerFast

    file = Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    return PreTrainedTokenizerFast(tokenizer_object=file)


@needs_below_one
@pytest.mark.parametrize(
    ("wrong", "option"),
    [("smalest_text", "smallest_text"), ("worekrs", "workers"), ("chunk_charss", "chunk_chars")],
)
def test_a_misspelt_option_of_as_hf_gets_its_own_options_listed(wrong: str, option: str) -> None:
    tokenizer = fast()
    doors = {
        "as_hf": lambda **options: tokpar.as_hf(tokenizer, **options),
        "patch_tiktoken": tokpar.patch_tiktoken,
        "patch_transformers": tokpar.patch_transformers,
    }
    for door, call in doors.items():
        with pytest.raises(OptionError) as refused:
            call(**{wrong: 1})
        said = str(refused.value)
        assert said.startswith(f"{door} has no option {wrong!r}; did you mean {option!r}?"), said
        assert all(f"{name}: " in said for name in (*OWN_OPTIONS, "chunk_chars"))


@pytest.mark.parametrize(
    "door", [tokpar.load, tokpar.Encoder, tokpar.as_tiktoken, partial(tokpar.encode, "a b")]
)
def test_an_encoder_or_a_class_in_place_of_a_tokenizer_says_what_to_pass(
    door: Callable[[object], object],
) -> None:
    for adapter in (tokpar.load(), tokpar.load("default", engine="pure")):
        with pytest.raises(
            OptionError, match=r"^got the Encoder of a tokenizer; pass its attribute"
        ):
            door(tokpar.Encoder(adapter))
        name = type(adapter).__qualname__
        with pytest.raises(OptionError, match=rf"^{name} is a class; pass an object of it$"):
            door(type(adapter))


@needs_below_one
@pytest.mark.parametrize("name", ["gpt2", VOCAB, str(VOCAB / "bert_part.json"), "no/such"])
def test_as_hf_of_a_name_or_a_path_says_to_load_it_first(name: str | Path) -> None:
    with pytest.raises(OptionError) as refused:
        tokpar.as_hf(name)
    advice = f"load it first, by transformers.AutoTokenizer.from_pretrained({str(name)!r})"
    assert str(refused.value).endswith(advice)


def test_a_part_in_place_of_a_strategy_says_how_to_name_a_strategy() -> None:
    own = registry()
    strategies = {record.name for record in tokpar.strategies()}
    parts = {
        role: {
            words[1]
            for record in tokpar.plugins()
            for words in map(str.split, record.provides)
            if words[0] == role
        }
        for role in ("splitter", "merger")
    }
    tried = 0
    for role, names in parts.items():
        for name in sorted(names - strategies):
            with pytest.raises(UnknownNameError) as refused:
                tokpar.Encoder(strategy=name)
            advice = str(refused.value).rpartition("; ")[2]
            assert advice.startswith(f"{name!r} is a {role}: name a ")
            tokpar.Encoder(strategy=advice.rpartition(" ")[2], allow_approximate=True)
            tried += 1
    assert tried > 3
    assert own.advice_on_parts("no part at all") == ""
