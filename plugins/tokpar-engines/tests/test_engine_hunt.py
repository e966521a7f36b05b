"""Small runs of `engine_hunt`, with a wrong engine and with those installed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import engine_hunt
import numpy as np
import pytest
from engine_hunt import ENGINES, hunt, main

import tokpar
from tokpar.registry import registry


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", "")


def test_nothing_is_accepted_wrongly(tmp_path: Path) -> None:
    engines = [source.name for source in registry().tokenizer_sources() if source.name in ENGINES]
    if not engines:
        pytest.skip("optional: needs one of " + ", ".join(f"tokpar-{name}" for name in ENGINES))
    found = hunt(4, 300, 5, engines, tmp_path)
    assert [found.outcomes[engine].total() for engine in engines] == [4] * len(engines)
    assert found.wrong == []


def test_a_file_that_is_accepted_wrongly_is_named_with_the_smallest_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load = tokpar.load

    class Wrong:
        def __init__(self, own: Any) -> None:
            self.own = own

        def encode(self, text: str) -> Any:
            return np.append(self.own.encode(text), [7] * ("1" in text)).astype(np.uint32)

    def loaded(path: Path, engine: str | None = None, **settings: Any) -> Any:
        own = load(path, **settings)
        return own if engine is None else Wrong(own)

    monkeypatch.setattr(engine_hunt.tokpar, "load", loaded)
    assert main(["--files", "1", "--texts", "300", "--engines", "wrong"]) == 1
    told = capsys.readouterr().out
    assert "300 texts compared" in told
    assert told.rstrip().endswith(": '1'")
    assert os.environ["TOKPAR_CACHE"] == ""
