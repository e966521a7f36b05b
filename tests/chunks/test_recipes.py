"""The splitters of docs/chunks.md for other libraries run where the library is installed."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import tokpar
from tests.support.paths import ROOT

TEXT = "One sentence of some words. 另一个句子。And one more 🫠, with an end!\n" * 20
RECIPES = ("langchain_text_splitters", "llama_index.core.node_parser")


def recipe(module: str) -> dict[str, Any]:
    """Run the block of the page that imports `module`; returns its names."""
    page = (ROOT / "docs" / "chunks.md").read_text(encoding="utf-8")
    found = re.search(rf"^    from {re.escape(module)} import .*\n(?:(?:    .*)?\n)+", page, re.M)
    assert found is not None
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(inspect.cleandoc(found[0]), names)
    return names


@pytest.mark.parametrize("module", RECIPES)
def test_a_recipe_gives_the_slices_of_the_chunks(module: str) -> None:
    pytest.importorskip(module)
    encoder = tokpar.Encoder()
    splitter = recipe(module)["TokparSplitter"](encoder, max_tokens=32)
    parts = splitter.split_text(TEXT)
    assert "".join(parts) == TEXT
    assert max(map(encoder.count, parts)) <= 32
