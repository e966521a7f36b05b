"""Bars, and what stands in their place: on stderr, on a terminal; no id depends on them."""

from __future__ import annotations

import argparse
import time
from typing import Any

import pytest

import tokpar
from tests.support.paths import VOCAB
from tokpar.cli import progress
from tokpar.cli.progress import ProgressExecutor, working
from tokpar.executors.native import CachedExecutor

TEXT = "The quick brown fox, 12345678 times.  Na\u00efve \u4e2d\u6587 too;\n\n  it's it. " * 300
ASKED = argparse.Namespace(quiet=False, progress=True)


# ---------------------------------------------------------------------- a cache is given one text


class Bar:
    def __init__(self, total: int) -> None:
        self.total, self.moves, self.closed = total, list[int](), False

    def update(self, step: int) -> None:
        self.moves.append(step)

    def close(self) -> None:
        self.closed = True


def encoded_with_bar(tokenizer: Any, text: str) -> tuple[tokpar.Encoding, list[Bar]]:
    bars: list[Bar] = []

    def new_bar(total: int) -> Bar:
        bars.append(Bar(total))
        return bars[-1]

    inner = CachedExecutor(2)
    executor = ProgressExecutor(lambda *_: inner, new_bar)
    return tokpar.encode(text, tokenizer, executor=executor), bars


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("size", [16, 61, 500])
@pytest.mark.parametrize(
    "name",
    [
        "default",
        "deepseek_part.json",
        "bert_part.json",
        "llama_style.json",
        "metaspace_unigram.json",
    ],
)
def test_a_text_that_a_cache_gets_in_parts_has_the_serial_ids(
    name: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name_of_size, value in (("PART_CHARS", size), ("LEAST_STEP", size), ("STEPS", 1 << 20)):
        monkeypatch.setattr(progress, name_of_size, value)
    settings = {"padding": False, "truncation": False} if name.startswith("bert") else {}
    tokenizer = tokpar.load(name if name == "default" else VOCAB / name, **settings)
    encoding, bars = encoded_with_bar(tokenizer, TEXT)
    serial = tokpar.encode(TEXT, tokpar.load(tokenizer), strategy="serial")
    assert encoding.ids.tolist() == serial.ids.tolist()
    assert tokpar.check(encoding, TEXT, tokenizer).ok
    assert all(sum(bar.moves) == bar.total and bar.closed for bar in bars)
    cached = getattr(tokenizer, "has_segment_cache", False)
    if cached and name in ("default", "deepseek_part.json", "bert_part.json"):
        assert len(bars[0].moves) > len(TEXT) // size // 8
        assert encoding.report.plan == "divided at every space"


# ------------------------------------------------------------------------ where no bar can move


def test_work_that_takes_long_says_for_how_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "WORKING_SECONDS", 0.01)
    with working(ASKED, "planning"):
        time.sleep(0.3)
    said = capsys.readouterr().err
    assert said.startswith("\rplanning: 0 s\r")
    assert said.endswith("\r")  # the line is empty again
    assert said.split("\r")[-2].strip() == ""
