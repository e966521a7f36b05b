"""`--chat-template`: the ids of a chat are those of transformers' own template and its own call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from corpora import all_documents
from tokpar_corpus import build, manifest_of

from tests.support.cli_runs import run
from tests.support.model_files import CHATML, folder, fresh

CHATS: list[list[dict[str, str]]] = [
    [{"role": "user", "content": "Hello?"}, {"role": "assistant", "content": "  Hi, Zürich 北京 "}],
    [{"role": "user", "content": "<|im_end|> in a text"}],
    [
        {"role": ("user", "assistant")[k % 2], "content": f"{k}: " + "word and\n" * (k % 7)}
        for k in range(400)
    ],
]


def write_chats(path: Path) -> Path:
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        parquet = pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pyarrow.table({"messages": CHATS}), path)
    else:
        path.write_text("".join(json.dumps({"messages": chat}) + "\n" for chat in CHATS))
    return path


def own_ids(name: str, **options: Any) -> list[list[int]]:
    """The ids of `apply_chat_template`, which are those of the tokenizer's call on the text."""
    own = fresh(name)
    found = []
    for chat in CHATS:
        ids = own.apply_chat_template(chat, tokenize=True, return_dict=False, **options)
        text = own.apply_chat_template(chat, tokenize=False, **options)
        assert ids == own(text, add_special_tokens=False)["input_ids"]
        found.append(ids)
    return found


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
@pytest.mark.parametrize("name", ["qwen", "llama 3", "gemma"])
def test_chats_have_the_ids_of_apply_chat_template(tmp_path: Path, name: str, suffix: str) -> None:
    source = write_chats(tmp_path / f"chats{suffix}")
    build(source, tmp_path / "out", tokenizer=folder(name), chat_template=True)
    assert all_documents(tmp_path / "out") == own_ids(name)


def test_a_template_in_a_file_takes_the_place_of_the_tokenizers_own(tmp_path: Path) -> None:
    source, template = write_chats(tmp_path / "chats.jsonl"), tmp_path / "chat.jinja"
    template.write_text(CHATML + "\n{{ eos_token }}")
    words = ("--tokenizer", folder("llama 3"), "--chat-template", template, "--quiet")
    outcome = run("corpus", "build", source, "--out", tmp_path / "out", *words)
    assert outcome.code == 0, outcome
    expected = own_ids("llama 3", chat_template=template.read_text())
    assert all_documents(tmp_path / "out") == expected != own_ids("llama 3")


def test_messages_that_the_template_refuses_are_named_or_skipped(tmp_path: Path) -> None:
    source = write_chats(tmp_path / "chats.jsonl")
    with source.open("a") as file:  # gemma's roles must take turns
        for messages in (CHATS[0][:1] * 2, "no list"):
            file.write(json.dumps({"messages": messages}) + "\n")
    words = ("corpus", "build", source, "--tokenizer", folder("gemma"), "--chat-template")
    stopped = run(*words, "--out", tmp_path / "stopped", "--quiet")
    assert f"{source}:4: " in stopped.err
    assert "roles must alternate" in stopped.err
    assert not (tmp_path / "stopped" / "manifest.json").exists()
    skipped = run(*words, "--out", tmp_path / "out", "--quiet", "--errors", "skip")
    assert skipped.code == 0, skipped
    assert all_documents(tmp_path / "out") == own_ids("gemma")
    assert sum(manifest_of(tmp_path / "out").skipped.values()) == 2
