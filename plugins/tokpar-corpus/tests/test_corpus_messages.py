"""Mistakes of the first hours with corpora: what each error says, and that its advice works."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from corpora import many, write_rows
from tokenizers import Tokenizer
from tokpar_corpus import build
from tokpar_corpus.build_screen import describe_inserted
from tokpar_corpus.id_texts import tokens_of
from tokpar_corpus.job import Request, prepare
from written_shards import kind

import tokpar
from tests.support.cli_runs import run
from tests.support.paths import VOCAB
from tests.support.profiles import drawn


def test_the_tokens_of_a_report_are_shown_as_text() -> None:
    """No byte of a byte-level vocabulary is shown by its letter."""
    for name in ("deepseek", "cl100k", "llama", "bert", "unigram"):
        adapter = kind(name).adapter
        tokens = tokens_of(adapter)
        rng = random.Random(name)
        known = [k for k in range(tokens.size) if tokens.is_token(k)]
        for id_ in rng.sample(known, drawn(500)):
            shown = tokens.show(id_)
            assert shown.startswith(f"{id_} ")
            token = adapter.token_bytes(id_) if hasattr(adapter, "token_bytes") else None
            if name in ("deepseek", "cl100k") and token is not None:
                assert shown == f"{id_} {token.decode(errors='backslashreplace')!r}"
            if name in ("llama", "unigram") and id_ not in tokens.added_tokens:
                assert "▁" not in shown
            if name == "bert":
                assert shown == f"{id_} {tokens.names[id_]!r}"


def test_the_tokens_of_a_byte_level_file_that_cannot_be_spelled_are_shown_as_text() -> None:
    file = Tokenizer.from_file(str(VOCAB / "deepseek_part.json"))
    ids = file.encode(" the cat é", add_special_tokens=False).ids
    file.model.dropout = 0.1  # the ids of a text are drawn
    tokens = tokens_of(tokpar.load(file))
    assert isinstance(tokens.spelling, str)
    shown = [tokens.show(id_).partition(" ")[2] for id_ in ids]
    assert shown[0] == "' the'"
    assert not [text for text in shown if "Ġ" in text or "Ã" in text]


def test_a_sample_above_all_documents_says_to_write_per_cent(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", many(20))
    build(source, tmp_path / "out", tokenizer="default")
    for sample in ("5", "1.5", "50", "100"):
        error = run("corpus", "verify", tmp_path / "out", "--sample", sample).error
        advice = re.search(r"write (\S+) for per cent", error)
        assert advice is not None, error
        assert run("corpus", "verify", tmp_path / "out", "--sample", advice[1]).code == 0
    for sample in ("101", "-1", "nan", "inf", "x", "101%", ""):
        error = run("corpus", "verify", tmp_path / "out", "--sample", sample).error
        assert "expected a part such as 1% or 0.01, got" in error
    for sample in ("0", "1", "0.05", "5%", "100%"):
        assert run("corpus", "verify", tmp_path / "out", "--sample", sample).code == 0


@pytest.mark.parametrize("dry", [(), ("--dry-run",)])
def test_a_build_with_the_wrong_field_names_the_fields_and_the_option(
    dry: tuple[str, ...], tmp_path: Path
) -> None:
    """For a row without the field and a field without a text, not for a broken line."""
    rng = random.Random(len(dry))
    source = tmp_path / "rows.jsonl"
    words = ("corpus", "build", source, "--tokenizer", "default", "--out", tmp_path / "out", *dry)
    for case in range(drawn(20)):
        right, wrong = (f"{rng.choice(['body', 'text', 'line'])}{k}" for k in range(2))
        row = {right: "a text"} | ({wrong: case} if case % 2 else {})
        source.write_text(json.dumps(row) + "\n")
        error = run(*words, "--field", wrong).error
        assert f"'{wrong}'" in error
        assert case % 2 or f"the fields are '{right}'" in error
        advice = re.search(r"\((--field) NAME takes another field, --errors skip", error)
        assert advice is not None, error
        assert run(*words, "--dry-run", advice[1], right).code == 0
    source.write_text("{\n")
    assert "--field" not in run(*words, "--field", "text").error


def test_verify_without_the_inputs_says_which_option_takes_them(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", many(20))
    build(source, tmp_path / "out", tokenizer="default")
    option = re.search(
        r"^not checked: the inputs: (--\S+)",
        run("corpus", "verify", tmp_path / "out").out,
        re.MULTILINE,
    )
    assert option is not None
    assert "not checked" not in run("corpus", "verify", tmp_path / "out", option[1], source).out


def test_a_dry_run_says_which_special_tokens_are_added(tmp_path: Path) -> None:
    source = write_rows(tmp_path / "rows.jsonl", ["one"])
    for bos in (None, "7"):
        for eod in (None, "9"):
            options: dict[str, Any] = {} if bos is None else {"bos": True, "bos_token": bos}
            options |= {} if eod is None else {"append_eod": True, "eod_token": eod}
            said = describe_inserted(
                prepare(Request([str(source)], tmp_path, "default", **options)).options
            )
            assert ("[7] before each document" in said) == (bos is not None)
            assert ("[9] after each document" in said) == (eod is not None)
            assert (said == "no special tokens are added") == (bos is None and eod is None)
    around = Request([str(source)], tmp_path, str(VOCAB / "bert_part.json"))
    said = describe_inserted(prepare(around).options)
    assert re.fullmatch(
        r"special tokens are added: \[\d+\] before each document, \[\d+\] after each document", said
    )
