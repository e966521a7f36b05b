"""The splitters of docs/chunks.md, and the counters of docs/programs.md, for other libraries run
where the library is installed."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest
from tokenizers import Tokenizer

import tokpar
from tests.support.paths import DATA, ROOT

TEXT = "One sentence of some words. 另一个句子。And one more 🫠, with an end!\n" * 20
RECIPES = ("langchain_text_splitters", "llama_index.core.node_parser")
COUNTING = ("semchunk", "semantic_text_splitter", "langchain_text_splitters")


def recipe(module: str, page: str = "chunks.md") -> dict[str, Any]:
    """Run the block of the page that imports `module`; returns its names."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = re.search(
        rf"^    from {re.escape(module)}\S* import .*\n(?:(?:    .*)?\n)+", text, re.M
    )
    assert found is not None
    names: dict[str, Any] = {"__name__": "recipe"}
    exec(inspect.cleandoc(found[0]), names)
    return names


class OwnCounts:
    """Counts by the tokenizer's own call."""

    def __init__(self) -> None:
        self.own = Tokenizer.from_file(str(DATA / "default.json"))

    def count(self, text: str) -> int:
        return len(self.own.encode(text).ids)


@pytest.mark.parametrize("module", COUNTING)
def test_a_splitter_that_counts_by_tokpar_gives_the_chunks_of_the_own_counts(module: str) -> None:
    pytest.importorskip(module, reason=f"{module} is not installed")
    encoder, split = tokpar.Encoder(), recipe(module, "programs.md")["split"]
    for max_tokens in (8, 32):
        parts = split(encoder, TEXT, max_tokens)
        assert len(parts) > 5
        assert parts == split(OwnCounts(), TEXT, max_tokens)
        assert max(map(encoder.count, parts)) <= max_tokens


def test_the_tokenizer_of_docling_counts_by_tokpar() -> None:
    reason = "docling-core is not installed"
    pytest.importorskip("docling_core.transforms.chunker.tokenizer.base", reason=reason)
    encoder, made = tokpar.Encoder(), recipe("docling_core", "programs.md")["TokparTokenizer"]
    tokenizer = made(encoder=encoder, max_tokens=64)
    assert tokenizer.count_tokens(TEXT) == tokenizer.get_tokenizer()(TEXT) == encoder.count(TEXT)
    assert tokenizer.get_max_tokens() == 64


@pytest.mark.parametrize("module", RECIPES)
def test_a_recipe_gives_the_slices_of_the_chunks(module: str) -> None:
    pytest.importorskip(module)
    encoder = tokpar.Encoder()
    splitter = recipe(module)["TokparSplitter"](encoder, max_tokens=32)
    parts = splitter.split_text(TEXT)
    assert "".join(parts) == TEXT
    assert max(map(encoder.count, parts)) <= 32
