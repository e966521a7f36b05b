"""`tokpar try`: the own call beside tokpar, ids compared, the certificate checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokpar
from tests.support.cli_runs import run
from tests.support.paths import VOCAB

CL100K_PATTERN = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"]
TEXT = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too. " * 400


@pytest.fixture
def text_file(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.mark.parametrize(
    "tokenizer",
    [
        ("default",),
        (VOCAB / "deepseek_part.json",),
        (VOCAB / "bert_part.json", "--no-padding", "--no-truncation"),
        (VOCAB / "metaspace_unigram.json",),
        (VOCAB / "cl100k_part.tiktoken", "--pat-str", CL100K_PATTERN),
        (VOCAB / "deepseek_part.json", "--engine", "pure"),
    ],
)
def test_try_compares_the_own_call_with_tokpar(
    tokenizer: tuple[object, ...], text_file: Path
) -> None:
    name, *settings = tokenizer
    got = run("try", name, text_file, "--json", *settings).json
    assert got["ok"] is True
    assert got["ids_equal"] is got["lossless"] is got["certificate_ok"] is True
    assert got["equal_ids"] == got["own_ids"] > 1000
    assert (got["whole"], got["part"]) == (len(TEXT), len(TEXT))
    assert got["megabytes"] == len(TEXT.encode()) / 1e6
    assert min(got[f"{name}_seconds"] for name in ("own", "cold", "seen")) > 0


@pytest.mark.parametrize("call", ["cold", "seen"])
@pytest.mark.parametrize("wrong", ["other", "fewer"])
def test_try_hides_no_id_that_differs(
    text_file: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, call: str
) -> None:
    own_encode = tokpar.Encoder.encode
    calls: list[str] = []

    def encode(self: tokpar.Encoder, text: str) -> Any:
        encoding = own_encode(self, text)
        if self._strategy == "serial":
            return encoding
        calls.append(text)
        if len(calls) != (1 if call == "cold" else 2):
            return encoding
        ids = np.array(encoding.ids)
        ids[17] += 1
        changed = ids if wrong == "other" else ids[:-1]
        object.__setattr__(encoding, "ids", changed)
        return encoding

    monkeypatch.setattr(tokpar.Encoder, "encode", encode)
    outcome = run("try", "default", text_file)
    assert outcome.code == 1
    assert "ids DIFFER    from id 17 on" in outcome.out
    assert "ids equal" not in outcome.out
