"""Unigram's search in Coq gives the ids of the native search; a mistake in it is found."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import needs_below_one, needs_kernel
from tests.support.call_answers import own_ids
from tests.support.coq_runs import computed, definitions_only, write_definitions
from tests.support.coq_worlds import listed, points, unigram_facts
from tests.support.profiles import cases, drawn
from tests.support.unigram_drawn import (
    draw_tokenizer,
    draw_unigram_text,
    ids_of_call,
    native_call,
)

pytestmark = [needs_below_one, needs_kernel]
if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no ids", allow_module_level=True)

BATCH, TEXTS_EACH, LONGEST = drawn(100), 8, 24
SEARCH = """From Coq Require Import Floats.
Definition ids (m : unigram float) (l : list (list N)) : list N :=
  concat (map (unigram_ids PrimFloat.add PrimFloat.ltb m) l).
"""


@dataclass(frozen=True)
class Case:
    """A model as Unigram.v writes it, texts as their pre-tokens, and the native ids of each."""

    coq: str
    texts: Sequence[Sequence[str]]
    ids: Sequence[list[int]]


@cache
def drawn_case(seed: int) -> Case | None:
    """None: the model has no unknown token, or its tables are refused."""
    draw = random.Random(f"unigram in Coq {seed}")
    tokenizer = draw_tokenizer(draw)
    model = json.loads(tokenizer.model.__getstate__())
    if model["unk_id"] is None:
        return None
    call, stage = native_call(tokenizer), tokenizer.pre_tokenizer
    assert stage is not None
    texts, rows = [], []
    for text in (draw_unigram_text(draw)[:LONGEST] for _ in range(TEXTS_EACH)):
        found = ids_of_call(call, text)
        assert found == own_ids(tokenizer, text, special=True)
        texts.append([piece for piece, _ in stage.pre_tokenize_str(text)])
        rows.append(found)
    coq = unigram_facts(model["vocab"], model["unk_id"], model["byte_fallback"])
    return Case(coq, texts, rows)


def drawn_cases(first: int, count: int) -> list[Case]:
    return [case for seed in range(first, first + count) if (case := drawn_case(seed)) is not None]


def wrong(directory: Path, imports: str, some: Sequence[Case]) -> list[tuple[str, Any]]:
    """The cases in which Coq has other ids than the native search."""
    models = [f"Definition m_{k} : unigram float := {case.coq}." for k, case in enumerate(some)]
    terms = [
        f"map (ids m_{k}) {listed(listed(map(points, text)) for text in case.texts)}"
        for k, case in enumerate(some)
    ]
    definitions = "\n".join([SEARCH, *models, "Open Scope N_scope."])
    values = computed(directory, imports, terms, definitions)
    return [
        (case.coq, text)
        for case, rows in zip(some, values, strict=True)
        for text, ids, row in zip(case.texts, case.ids, rows, strict=True)
        if ids != row
    ]


def test_the_search_in_coq_has_the_ids_of_the_native_search(compiled: tuple[Path, str]) -> None:
    """The scores are the engine's, binary64, added and compared as it does."""
    some = drawn_cases(0, BATCH)
    assert wrong(compiled[0], "Unigram", some) == []
    assert len(some) > 0.6 * BATCH


MISTAKES = {
    "match entry_from (i + 1) l' w with": ["match @None (N * score) with"],
    "if less best s then": ["if negb (less s best) then", "if less s best then"],
    "offer (add s sum)": ["offer (add s s)"],
    "path room' (skipn n found) ((n, i) :: row)": ["path room' (tl found) ((n, i) :: row)"],
    "strings row' (skipn n w) (waiting ++ firstn n w)": [
        "(waiting ++ firstn n w) :: strings row' (skipn n w) []"
    ],
    "if d <? 10 then 48 + d else 55 + d": ["48 + d"],
    "byte_fallback m && forallb": ["byte_fallback m || forallb", "false && forallb"],
}
PLANTED = [(right, wrong) for right, all_wrong in MISTAKES.items() for wrong in all_wrong]


@pytest.mark.parametrize(("right", "planted"), cases(PLANTED, PLANTED[::4]))
def test_a_mistake_in_the_search_is_found(
    compiled: tuple[Path, str], right: str, planted: str
) -> None:
    definitions = definitions_only("Unigram")
    assert definitions["Unigram"].count(right) == 1
    definitions["Unigram"] = definitions["Unigram"].replace(right, planted)
    directory = write_definitions(compiled[0], definitions)
    batches = (drawn_cases(first, 10) for first in range(0, 100, 10))
    assert any(wrong(directory, "Planted", some) for some in batches)
