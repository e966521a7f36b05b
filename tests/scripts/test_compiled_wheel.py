"""The check of a wheel: it tells a compiled call that answers from one that does not."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import tiktoken

from tests.conftest import needs_below_one, needs_kernel
from tests.recipes import compiled_wheel
from tests.support.paths import ROOT
from tokpar.compiled.compiled_call import CompiledCall

pytestmark = [pytest.mark.compiled_at_once, needs_below_one, needs_kernel]


def small() -> tiktoken.Encoding:
    ranks = {bytes([byte]): byte for byte in range(256)}
    return tiktoken.Encoding("one", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})


def test_a_compiled_call_that_answers_passes() -> None:
    assert compiled_wheel.mistake(small(), ["some text", ""]) is None


def test_a_wheel_without_a_compiled_call_does_not_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar.process.kernel_modules.CALL", None)
    found = compiled_wheel.mistake(small(), ["some text"])
    assert found is not None
    assert "no compiled call" in found


@pytest.mark.parametrize("says", ["to the engine", "other ids"])
def test_a_call_that_does_not_answer_or_answers_wrongly_does_not_pass(
    says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = CompiledCall.encode_plain

    def wrong(self: CompiledCall, text: str) -> Any:
        found = right(self, text)
        changed = None if says == "to the engine" or found is None else found + 1
        return changed if text == "some text" else found

    monkeypatch.setattr(CompiledCall, "encode_plain", wrong)
    found = compiled_wheel.mistake(small(), ["other", "some text"])
    assert found is not None
    assert says in found


def test_one_tokenizer_that_does_not_pass_is_enough(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(compiled_wheel, "sources", lambda: [("a", "x"), ("b", "y")])
    for wrong, code in ((None, 0), ("y", 1)):
        monkeypatch.setattr(
            compiled_wheel,
            "mistake",
            lambda source, texts, bad=wrong: "slow" if source == bad else None,
        )
        assert compiled_wheel.main() == code
    assert capsys.readouterr().out.splitlines()[-2:] == ["a: the compiled call", "b: slow"]


def test_each_wheel_of_a_release_is_asked() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["cibuildwheel"]
    assert any("compiled_wheel.py" in each for each in settings["test-command"])
