"""Mistakes of the first hours with corpora: what each error says, and that its advice works."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
from corpora import write_rows
from tokpar_corpus.build_screen import describe_inserted
from tokpar_corpus.job import Request, prepare

from tests.support.cli_runs import run
from tests.support.paths import VOCAB
from tests.support.profiles import drawn


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
