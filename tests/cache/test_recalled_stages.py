"""Texts through the memory of tokenizers that stages cut before spaces (theorem 50)."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from tokenizers import Tokenizer, normalizers, pre_tokenizers

import tokpar
from tests.conftest import drawn, needs_kernel
from tests.support.cached_texts import DIVIDED, encoded
from tests.support.stages_drawn import TEXTS, drawn_tokenizer, shaped
from tests.support.stages_shaped import SHAPES, TABLE, ids_or_none, unigram
from tokpar.cache import compiled_build
from tokpar.certificate.checker import seam_findings
from tokpar.cuts.finder import finder_for
from tokpar.interfaces import facts_of
from tokpar.seams import Columns, Everywhere, Seams
from tokpar.types import Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]
WORDS = ("a", "ab", "b", "aa", "a.", "1", "x'", "ba", "(a", "b)", "A")


@pytest.fixture(autouse=True)
def no_compiled_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiled call would answer, and what is remembered would not be asked."""
    monkeypatch.setattr(compiled_build.LaterCall, "_build", lambda *_: None)


def spaced(rng: random.Random, known: float) -> str:
    """Words, and what is odd instead of some of them."""
    some = (rng.choice(WORDS) if rng.random() < known else TEXTS.draw(rng) for _ in range(30))
    first, last = rng.choice(("", "", " ", "\n")), rng.choice(("", "", " ", "\n", "é"))
    return first + " ".join(some) + last


def require_recalled(tokenizer: Tokenizer, texts: list[str]) -> int:
    """The memory's ids are the engine's, the checker agrees; how many texts were divided."""
    adapter: Any = tokpar.load(tokenizer)
    own = [ids_or_none(tokenizer, text) for text in texts]
    known = [k for k, ids in enumerate(own) if ids is not None]
    if not known or not getattr(adapter, "has_segment_cache", False):
        return 0
    batch, divided = encoded([texts[k] for k in known], adapter), 0
    for k, encoding in zip(known, batch, strict=True):
        assert encoding.ids.tolist() == own[k], (texts[k], tokenizer.to_str())
        report = tokpar.check(encoding, texts[k], adapter)
        assert report.ok, (texts[k], report.findings, tokenizer.to_str())
        divided += encoding.report.plan == DIVIDED and len(encoding.seams) > 0
    return divided


@needs_kernel
@pytest.mark.parametrize("seed", range(8))
def test_drawn_rows_of_stages_are_remembered_with_the_engines_ids(seed: int) -> None:
    rng, divided = random.Random(seed), 0
    for _ in range(drawn(60)):
        divided += require_recalled(drawn_tokenizer(rng), [spaced(rng, 0.9) for _ in range(3)])
    assert divided > 2


@needs_kernel
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_shapes_that_files_have_are_remembered(name: str) -> None:
    rng, tokenizer = random.Random(name), Tokenizer.from_str(SHAPES[name].to_str())
    texts = [spaced(rng, odd) for odd in (1, 1, 0.95, 0.9, 0.8, 0.5)]
    divided = sum(require_recalled(tokenizer, [text]) for text in texts)
    assert (divided > 1) == (finder_for(facts_of(tokpar.load(tokenizer))).at_spaces is not None)


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
QUOTED = shaped(
    unigram(), [normalizers.Replace("'", "b"), TABLE], [pre_tokenizers.Metaspace("▁", "always")]
)


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
    batch = encoded(texts, adapter)
    for text, encoding in zip(texts, batch, strict=True):
        assert encoding.ids.tolist() == GEMMA.encode(text).ids
    assert [encoding.report.plan == DIVIDED for encoding in batch] == [True, False, True]
    assert batch[0].seams.positions.tolist() == [1, 6, 8]


@needs_kernel
def test_chunks_of_a_long_text_are_divided_where_they_may_be() -> None:
    """Only the chunk with "▁ " is not."""
    text = "a b> a b a\n" * 4_000 + "▁ a" + " b a b" * 4_000
    adapter: Any = tokpar.load(GEMMA)
    finder = finder_for(facts_of(adapter))
    assert finder.spaces_safe(text, 0, 40_000)
    assert not finder.spaces_safe(text, 40_000, 50_000)
    encoding = tokpar.Encoder(GEMMA).encode(text)
    assert encoding.ids.tolist() == GEMMA.encode(text).ids
    assert tokpar.check(encoding, text, GEMMA).ok
