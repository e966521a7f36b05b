"""The bundled default tokenizer: what its file promises, and that its recipe rebuilds it."""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
from tokpar_train.merges import Pair, learn_merges

import tokpar.registry.tables as registry_module
from tests.recipes import train_default
from tests.support.paths import DATA
from tokpar.cli import main
from tokpar.registry.tables import Registry

FILE = DATA / "default.json"
SDIST_VARIABLE = "TOKPAR_DJANGO_SDIST"


@functools.cache
def data() -> dict[str, Any]:
    result: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return result


@functools.cache
def tokenizer() -> Any:
    return pytest.importorskip("tokenizers").Tokenizer.from_file(str(FILE))


def test_the_file_has_the_sha256_that_script_and_readme_name() -> None:
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
    readme = (DATA / "README.md").read_text(encoding="utf-8")
    assert digest == train_default.DEFAULT_SHA256
    assert digest in readme
    assert train_default.SDIST_SHA256 in readme


def test_the_pipeline_is_the_llama_3_split_and_byte_level() -> None:
    split, byte_level = data()["pre_tokenizer"]["pretokenizers"]
    assert split["pattern"]["Regex"] == train_default.PATTERN
    assert split["behavior"] == "Isolated"
    assert not byte_level["use_regex"]
    assert not byte_level["add_prefix_space"]
    assert data()["normalizer"] is None
    assert data()["post_processor"] is None


def test_another_archive_is_refused_with_both_hashes(tmp_path: Path) -> None:
    wrong = tmp_path / train_default.SDIST_NAME
    wrong.write_bytes(b"something else")
    with pytest.raises(ValueError, match=train_default.SDIST_SHA256) as caught:
        next(train_default.training_texts(wrong))
    assert hashlib.sha256(b"something else").hexdigest() in str(caught.value)


needs_sdist = pytest.mark.skipif(
    SDIST_VARIABLE not in os.environ,
    reason=f"set {SDIST_VARIABLE} to the file {train_default.SDIST_NAME} to rebuild",
)


@pytest.fixture(scope="module")
def learned_once() -> Iterator[None]:
    """The merges of the same words in the same order, with the same limits, are learned once: the
    recipe and the command differ in how they count words, and in how they write."""
    kept = dict[tuple[object, ...], list[Pair]]()

    def learn(words: Mapping[bytes, int], *arguments: Any) -> list[Pair]:
        *settings, _ = arguments  # the last shows the progress
        key = (*words.items(), *map(repr, settings))
        if key not in kept:
            kept[key] = [*learn_merges(words, *arguments)]
        return kept[key]

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tokpar_train.trainer.learn_merges", learn)
        yield


@needs_sdist
@pytest.mark.usefixtures("learned_once")
def test_the_recipe_rebuilds_the_same_bytes() -> None:
    texts = train_default.training_texts(Path(os.environ[SDIST_VARIABLE]))
    assert train_default.train(texts) == FILE.read_bytes()


@needs_sdist
@pytest.mark.usefixtures("learned_once")
def test_the_command_rebuilds_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = [EntryPoint("train", "tokpar_train", "tokpar")]
    monkeypatch.setattr(registry_module, "_registry", [Registry.load(installed)])
    monkeypatch.delenv("TOKPAR_PLUGINS", raising=False)
    end = train_default.END_OF_TEXT
    texts = train_default.training_texts(Path(os.environ[SDIST_VARIABLE]))
    corpus, out = tmp_path / "corpus.txt", tmp_path / "default.json"
    corpus.write_bytes(end.join(texts).encode())
    options = ["--vocab-size", train_default.VOCAB_SIZE, "--special", end, "--min-frequency", 2]
    options += ["--max-token-length", train_default.MAX_TOKEN_LENGTH]
    assert main(["train", *map(str, [corpus, *options, "-o", out])]) == 0
    assert json.loads(out.read_bytes()) == data()
    assert out.read_bytes() == FILE.read_bytes()
