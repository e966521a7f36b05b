"""The pipelines of published tokenizers around small vocabularies: every lossless strategy gives
the ids of the own call. docs/tokenizers.md has the same of full vocabularies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import pytest

from tests.conftest import below_one, cases, chosen_profile, is_quick
from tests.support.paths import ROOT

below_one()

from tokenizers import Tokenizer  # noqa: E402
from tokpar_conformance.fixed_texts import hostile_texts  # noqa: E402

import tokpar  # noqa: E402
from tests.benchmarks.tokenizers_rows import (  # noqa: E402
    SHORT,
    Loaded,
    differing,
)
from tests.recipes.tokenizer_files.shapes import SHAPES, Shape, lines  # noqa: E402
from tests.recipes.tokenizer_files.training import train  # noqa: E402

pytestmark = pytest.mark.compiled_at_once

SIZE = 900
STEPS = {"quick": 24, "dev": 3, "ci": 3, "deep": 1}
"""Each hostile text is taken with one shape of so many."""
NAMES = list(SHAPES)
NEAR = (
    "a> </b", "x <start_of_turn>user\n", "   two  three    four", " a", "a ", "\t\t\tif x:\n",
    "1234567 12 3.14", "don't DON'T it's", "e\u0301té \ufb01n ½ Ⅷ", "中文 亚洲AVx。", "``x''",
    "<s> a <mask> b </s>", "[CLS] a [SEP]", "a\n\n \n b", "😀👍🏽 1️⃣", "\u3000a\xa0b", "$5 + 6 = ~x",
)  # fmt: skip
"""Texts that one or other of the shapes was made for."""


@cache
def learned_from() -> tuple[str, ...]:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    return (*(page.read_text(encoding="utf-8") for page in pages), *hostile_texts(), *NEAR * 5)


def of_shape(shape: Shape, table: bytes) -> Loaded:
    """Both sides read the file: the library reads many scores of a Unigram model one unit in the
    last place off, so that what was trained is not what was saved."""
    file = train(shape, lines(learned_from()), SIZE, table).to_str()
    own = Tokenizer.from_str(file)

    def again() -> Any:
        return tokpar.load(Tokenizer.from_str(file))

    return Loaded(again(), lambda text: list(own.encode(text).ids), again)


def texts(name: str) -> Sequence[str]:
    """Some of the hostile texts, others for each shape, or all."""
    step, page = STEPS[chosen_profile()], learned_from()[0]
    hostile = hostile_texts()[NAMES.index(name) % step :: step]
    if is_quick():
        return (*hostile, *NEAR, page[:240])
    return (*hostile, *NEAR, " ".join(NEAR), page)


@pytest.mark.ids
@pytest.mark.parametrize("name", cases(NAMES, NAMES[::2]))
def test_every_lossless_strategy_gives_the_own_ids_in_the_shape_of(name: str) -> None:
    assert list(differing(of_shape(SHAPES[name], b""), texts(name), SHORT)) == []
