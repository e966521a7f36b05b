"""Drawn files, loaded with each engine that is installed: one that is accepted has the own ids."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokpar_conformance.differing import show_text, simplest

import tokpar
from tests.support.adversarial_texts import adversarial_texts
from tests.support.engine_files_drawn import DrawnFile, drawn_file
from tests.support.profiles import drawn
from tokpar.errors import EngineError, OptionError, TokparError
from tokpar.registry.tables import registry

ENGINES = ("fastokens", "gigatoken", "tokie")
LONG = 60  # pieces of every twentieth text


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", "")


def difference(file: DrawnFile, adapter: Any, rng: random.Random, texts: int) -> str | None:
    """The smallest of the drawn texts with other ids than the file's own library gives, or None."""
    own = tokpar.load(file.path, **file.settings)
    short, long = (adversarial_texts(file.added, file.tokens, most) for most in (7, LONG))
    some = [(short if k % 20 else long).draw(rng) for k in range(texts)]
    text = next((one for one in some if differs(adapter, own, one)), None)
    return None if text is None else simplest(text, lambda one: differs(adapter, own, one))


def differs(adapter: Any, own: Any, text: str) -> bool:
    """Other ids, or an error where the library has none; what it fails on itself tells nothing."""
    try:
        expected = own.encode(text)
    except EngineError:
        return False
    try:
        return not np.array_equal(expected, adapter.encode(text))
    except TokparError:
        return True


def test_no_engine_is_accepted_with_a_file_that_it_encodes_otherwise(tmp_path: Path) -> None:
    engines = [source.name for source in registry().tokenizer_sources() if source.name in ENGINES]
    if not engines:
        pytest.skip("optional: needs one of " + ", ".join(f"tokpar-{name}" for name in ENGINES))
    for number in range(drawn(20)):
        file = drawn_file(number, 5, tmp_path)
        for engine in engines:
            try:
                adapter = tokpar.load(file.path, engine=engine, **file.settings)
            except (EngineError, OptionError):
                continue  # refused: by the file, the engine, or the comparison
            text = difference(file, adapter, random.Random(f"5 {number}"), 300)
            assert text is None, f"{engine}: {file.name} ({file.path.name}): {show_text(text)}"


@pytest.mark.parametrize(
    ("ids_of", "expected"),
    [(lambda ids, text: ids, None), (lambda ids, text: [*ids, *[7] * ("1" in text)], "1")],
)
def test_a_difference_is_found_and_made_small(
    ids_of: Callable[[Any, str], Any], expected: str | None, tmp_path: Path
) -> None:
    file = drawn_file(0, 0, tmp_path)
    own = tokpar.load(file.path, **file.settings)

    class Changed:
        def encode(self, text: str) -> Any:
            return np.array(ids_of(own.encode(text), text), dtype=np.uint32)

    assert difference(file, Changed(), random.Random(1), 300) == expected
