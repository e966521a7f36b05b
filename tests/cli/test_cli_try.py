"""`tokpar try`: the own call beside tokpar, ids compared, the certificate checked."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken

import tokpar
from tests.conftest import needs_kernel
from tests.support.cli_runs import run
from tests.support.paths import DATA, VOCAB
from tests.support.seams import part
from tokpar.cli import trial_rounds
from tokpar.compiled import compiled_build

CL100K_PATTERN = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))["cl100k_part"]
TEXT = "The quick brown fox, 12345678 times.\r\nNaïve 中文 too. " * 400


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trial_rounds, "MOST_ROUNDS", 2)


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
    assert got["rounds"] == 2


@pytest.mark.parametrize("call", range(2 * (1 + trial_rounds.SEEN_CALLS)))
@pytest.mark.parametrize("wrong", ["other", "fewer"])
def test_try_hides_no_id_that_differs_in_any_call(
    text_file: Path, monkeypatch: pytest.MonkeyPatch, wrong: str, call: int
) -> None:
    own_encode = tokpar.Encoder.encode
    calls: list[str] = []

    def encode(self: tokpar.Encoder, text: str) -> Any:
        encoding = own_encode(self, text)
        if self._strategy == "serial":
            return encoding
        calls.append(text)
        if len(calls) != call + 1:
            return encoding
        ids = np.array(encoding.ids)
        ids[17] += 1
        changed = ids if wrong == "other" else ids[:-1]
        object.__setattr__(encoding, "ids", changed)
        return encoding

    monkeypatch.setattr(tokpar.Encoder, "encode", encode)
    outcome = run("try", "default", text_file)
    assert outcome.code == 1
    assert "ids DIFFER    from id 17 on" in outcome.out or wrong == "fewer"
    assert "ids equal" not in outcome.out


TOKENIZERS = {
    "the default": "default",
    "a file": VOCAB / "deepseek_part.json",
    "a name of tiktoken": "cl100k_base",
}


@needs_kernel
@pytest.mark.parametrize("name", TOKENIZERS)
def test_try_times_objects_that_have_seen_no_text_after_their_tables_were_made(
    name: str, text_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = tiktoken.Encoding(**part("cl100k_part").__getstate__())  # no other test made its tables
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, "cl100k_base", new)
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(compiled_build, "IN_BACKGROUND", True)
    own_encode = tokpar.Encoder.encode
    tokenizers: list[Any] = []

    def encode(self: tokpar.Encoder, text: str) -> Any:
        if self._strategy != "serial":
            assert getattr(self.tokenizer, "why_not_compiled", None) == ""
            tokenizers.append(self.tokenizer)
        return own_encode(self, text)

    monkeypatch.setattr(tokpar.Encoder, "encode", encode)
    printed = []
    for _ in range(2):
        monkeypatch.setattr("tokpar.loading._defaults", {})  # as in a process of its own
        printed.append(run("try", TOKENIZERS[name], text_file).out)
    calls = 1 + trial_rounds.SEEN_CALLS
    assert len({id(each) for each in tokenizers}) == len(tokenizers) // calls == 4
    assert all(tokenizers[k] is tokenizers[k - k % calls] for k in range(len(tokenizers)))
    if name == "the default":
        words = "".join(printed[0].split())
        assert f"keptin{tmp_path / 'cache' / 'calls'}" in words
        assert "tables read from" in printed[1]
    assert "compiled call tables made in " in printed[0]


def test_try_gives_the_least_time_of_calls_in_turn(
    text_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(70)
    times: dict[str, list[float]] = {"own": [], "tokpar": []}
    order: list[str] = []

    def time_call(call: Any, text: str) -> tuple[Any, float]:
        kind = "tokpar" if hasattr(call, "__self__") else "own"
        order.append(kind)
        times[kind].append(rng.random())
        return call(text), times[kind][-1]

    monkeypatch.setattr(trial_rounds, "MOST_ROUNDS", 4)
    monkeypatch.setattr(trial_rounds, "ROUNDS_SECONDS", 1e9)
    monkeypatch.setattr(trial_rounds, "time_call", time_call)
    got = run("try", DATA / "default.json", text_file, "--json").json
    own, calls = times["own"][1:], 1 + trial_rounds.SEEN_CALLS  # the first call chose the part
    assert order[1:] == ["own", *["tokpar"] * calls] * 4
    assert got["rounds"] == 4
    assert got["own_seconds"] == min(own)
    cold = times["tokpar"][::calls]
    assert got["cold_seconds"] == min(cold)
    assert got["seen_seconds"] == min(t for k, t in enumerate(times["tokpar"]) if k % calls)
