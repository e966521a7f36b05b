"""Documents that spell a control token: said, refused, or encoded as text."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
import tiktoken
from corpora import all_documents, build_rows, many, own_ids, write_rows
from tokpar_corpus import audit, build, manifest_of, verify
from written_shards import VOCAB

import tokpar
from tests.support.cli_runs import run
from tokpar.errors import FileFormatError, OptionError

END = "<|endoftext|>"
DRAWN = random.Random(5)
TEXTS = [
    END,
    f"before {END} after",
    f"{END}{END}",
    "nothing of it",
    END[:-1],
    "",
    *["".join(DRAWN.choices([END, "a ", "<|", "|>", "\n", "endoftext"], k=9)) for _ in range(40)],
    f"{'a long document. ' * 31_000}{END} end",
]
SPELT = [END in text for text in TEXTS]


def as_text(text: str, tokenizer: object = "default") -> list[int]:
    return tokpar.encode(text, tokenizer, untrusted=[(0, len(text))] if text else []).ids.tolist()


def test_a_control_token_in_a_document_is_said_and_has_the_id_of_the_own_call(
    tmp_path: Path,
) -> None:
    source = write_rows(tmp_path / "a.jsonl", TEXTS)
    words = ("corpus", "build", source, "--tokenizer", "default", "--out", tmp_path / "out")
    said = f"{sum(SPELT)} documents spell a control token and have its id"
    assert f"\nin the sample {said}" in run(*words, "--dry-run").out
    assert f"\n{said}, as by the tokenizer's own call (--untrusted text" in run(*words).err
    assert all_documents(tmp_path / "out") == own_ids(TEXTS)
    assert manifest_of(tmp_path / "out").control_documents == sum(SPELT)
    assert "control" not in run(*words[:3], *words[3:5], "--out", tmp_path / "q", "--quiet").err


def test_untrusted_text_encodes_a_control_token_as_text_and_audits_agree(tmp_path: Path) -> None:
    manifest = build_rows(tmp_path, TEXTS, untrusted="text", shard_size=5000)
    folder, source = tmp_path / "shards", tmp_path / "rows.jsonl"
    assert all_documents(folder) == [as_text(text) for text in TEXTS]
    assert 0 not in {id_ for ids in all_documents(folder) for id_ in ids}
    assert manifest.control_documents == sum(SPELT)
    for against in ([], [source]):
        assert verify(folder, sample=1, against=against)
        report = audit(folder, "default", against=against)
        assert report, [each for each in report.results if each.count]


def test_an_audit_still_finds_a_control_id_in_shards_of_untrusted_text(tmp_path: Path) -> None:
    build_rows(tmp_path, TEXTS, untrusted="text", format="numpy")
    build(tmp_path / "rows.jsonl", tmp_path / "trusted", tokenizer="default", format="numpy")
    for path in (tmp_path / "trusted").glob("*.npy"):
        (tmp_path / "shards" / path.name).write_bytes(path.read_bytes())
    assert not audit(tmp_path / "shards", "default", against=tmp_path / "rows.jsonl")
    assert not audit(tmp_path / "shards", "default")


def test_refused_control_tokens_are_named_with_their_place_or_skipped(tmp_path: Path) -> None:
    said = r"rows.jsonl:2: spells the control token '<\|endof.*--untrusted text encodes it as text"
    with pytest.raises(FileFormatError, match=said):
        build_rows(tmp_path, ["good", END], untrusted="refuse")
    manifest = build_rows(tmp_path, TEXTS, untrusted="refuse", errors="skip")
    assert manifest.skipped == {"control token": sum(SPELT)}
    kept = [text for text, spelt in zip(TEXTS, SPELT, strict=True) if not spelt]
    assert all_documents(tmp_path / "shards") == own_ids(kept)


@pytest.mark.parametrize("name", ["llama_style", "deepseek_part"])
def test_untrusted_text_of_each_kind_of_tokenizer_has_the_ids_of_encode(
    name: str, tmp_path: Path
) -> None:
    tokenizer = str(VOCAB / f"{name}.json")
    added = json.loads(Path(tokenizer).read_text(encoding="utf-8"))["added_tokens"]
    contents = [token["content"] for token in added if token["special"]][:3]
    texts = [*many(20), *contents, " and ".join(contents)]
    source = write_rows(tmp_path / "a.jsonl", texts)
    build(source, tmp_path / "out", tokenizer=tokenizer, untrusted="text")
    assert all_documents(tmp_path / "out") == [as_text(text, tokenizer) for text in texts]


def test_an_unknown_word_is_no_control_token_that_a_document_spells(tmp_path: Path) -> None:
    """WordPiece gives it the id of [UNK], which is a special token."""
    tokenizer = str(VOCAB / "bert_part.json")
    texts = ["hello \u1234", "plain words", "it says [UNK] here"]
    said = build_rows(tmp_path, texts, tokenizer=tokenizer)
    [unknown] = tokpar.load(tokenizer, add_special_tokens=False).encode("\u1234").tolist()
    assert [unknown in ids for ids in all_documents(tmp_path / "shards")] == [True, False, True]
    assert said.control_documents == 1
    with pytest.raises(FileFormatError, match=r"rows.jsonl:3: spells the control token '\[UNK\]'"):
        build(tmp_path / "rows.jsonl", tmp_path / "no", tokenizer=tokenizer, untrusted="refuse")


def test_tiktoken_refuses_a_special_token_unless_it_is_untrusted_text(tmp_path: Path) -> None:
    own = tiktoken.Encoding(
        "small",
        pat_str=r"\w+|\W",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={END: 256},
    )
    with pytest.raises(FileFormatError, match=r"rows.jsonl:1: .*endoftext"):
        build_rows(tmp_path, TEXTS[:6], tokenizer=own)
    build_rows(tmp_path, TEXTS[:6], tokenizer=own, untrusted="text")
    assert all_documents(tmp_path / "shards") == [[*text.encode()] for text in TEXTS[:6]]
    assert verify(tmp_path / "shards", tokenizer=own, sample=1)
    assert audit(tmp_path / "shards", own, against=tmp_path / "rows.jsonl")


def test_a_tokenizer_that_cannot_encode_control_tokens_as_text_is_refused_at_once(
    tmp_path: Path,
) -> None:
    tokenizer = str(VOCAB / "bert_part.json")  # ids of its tokens have gaps
    with pytest.raises(OptionError, match="untrusted text needs a copy"):
        build_rows(tmp_path, ["nothing of it"], tokenizer=tokenizer, untrusted="text")


def test_chats_are_refused_because_their_template_writes_control_tokens(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="untrusted=True"):
        build_rows(tmp_path, ["a"], untrusted="text", chat_template=True)
