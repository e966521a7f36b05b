"""The command that compares Unigram and SentencePiece models with their engines, on few cases."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import needs_below_one, needs_kernel
from tests.pipeline import unigram_depth
from tests.pipeline.unigram_depth import KINDS, main
from tests.support import sentencepiece_cases

pytestmark = [pytest.mark.ids, needs_below_one, needs_kernel]


@pytest.fixture(autouse=True)
def _few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("sentencepiece", reason="needs sentencepiece")
    monkeypatch.setattr(sentencepiece_cases, "TEXTS", 100)
    monkeypatch.setattr(unigram_depth, "TEXTS", 100)
    monkeypatch.setattr("sys.path", [*sys.path])


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_has_the_ids_of_its_engine(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(3, 600, 1, [kind]) == 0
    assert f"{kind:26} differ 0" in capsys.readouterr().out


def test_another_id_is_a_difference(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own_rows = unigram_depth.own_rows
    monkeypatch.setattr(
        unigram_depth, "own_rows", lambda *given: [[*(row or []), 0] for row in own_rows(*given)]
    )
    assert main(3, 600, 1, ["T5"]) == 1
    assert "differs: T5, seed 3 0: " in capsys.readouterr().out
