"""Texts of tokenizers that stages cut before spaces (theorem 50)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import DIVIDED, encoded
from tests.support.stage_configs import TABLE, config, metaspace, replace, unigram
from tests.support.stages_drawn import tokenizer_of
from tests.support.stages_shaped import SHAPES
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.results.seams import Columns, Everywhere, Seams
from tokpar.types import Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def licensed(tokenizer: Tokenizer, text: str, **witness: str) -> list[str]:
    """What the checker says of a cut at every place of a text, with another witness."""
    facts = facts_of(tokpar.load(tokenizer))
    licence = finder_for(facts).at_spaces
    assert licence is not None
    assert licence.theorem == "50"
    changed = tuple((name, witness.get(name, value)) for name, value in licence.witness)
    regions = np.array([[0, len(text)]], dtype=np.int64)
    seams = Seams(Columns(), Everywhere(Seam(0, "STAGE", "50", changed), regions))
    return [finding.kind for finding in seam_findings(seams, text, facts)]


GEMMA = Tokenizer.from_str(SHAPES["gemma"].to_str())  # which no other test has loaded
QUOTED = tokenizer_of(config(unigram(), [replace("'", "b"), TABLE], [metaspace()]))


@pytest.mark.parametrize(
    ("tokenizer", "text", "witness", "kinds"),
    [
        (GEMMA, "a b> a b", {}, []),
        (GEMMA, "a b> a b", {"spared": ""}, ["context"]),
        (GEMMA, "a▁ a b", {}, ["context"]),
        (GEMMA, "a  b a", {"left": "any", "spared": ""}, ["pre-tokenizer"]),
        (QUOTED, "ab' ab b", {}, []),
        (QUOTED, "ab' ab b", {"spared": ""}, ["context"]),
        (QUOTED, "ab b", {"right": "line end"}, ["witness"]),
        (QUOTED, "a\u0301 b  \u0600 a b", {}, []),
        (QUOTED, "ab  b", {"left": "non-space", "spared": ""}, ["normalizer"]),
    ],
)
def test_the_checker_judges_each_place_that_a_licence_means(
    tokenizer: Tokenizer, text: str, witness: dict[str, str], kinds: list[str]
) -> None:
    assert licensed(tokenizer, text, **witness) == kinds


@needs_kernel
def test_spaces_behind_what_tokens_join_are_not_cut_at() -> None:
    """ "> " is one token of this vocabulary, so that it is no cut; "▁ " may be one."""
    adapter: Any = tokpar.load(GEMMA)
    texts = ["a b> a b a", "a b▁ a b a", "a b a b a"]
    long = [" ".join([text] * 900) for text in texts]
    batch = encoded([*texts, *long], adapter)
    for text, encoding in zip([*texts, *long], batch, strict=True):
        assert encoding.ids.tolist() == GEMMA.encode(text).ids
    assert [adapter.may_divide(text) for text in texts] == [True, False, True]
    assert [encoding.report.plan == DIVIDED for encoding in batch[3:]] == [True, False, True]
    assert batch[3].seams.positions.tolist()[:4] == [1, 6, 8, 10]
