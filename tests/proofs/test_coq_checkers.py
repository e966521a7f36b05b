"""The checkers in Coq and those of tokpar give the same answers."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokpar_model import model_findings

from tests.recipes.coq_tables import coq_tree
from tests.support.certified import encoding_of
from tests.support.checked_worlds import (
    CheckedWorld,
    certificate_of,
    drawn_ids,
    drawn_seams,
    drawn_world,
)
from tests.support.coq_runs import computed
from tests.support.coq_worlds import (
    DEFINITIONS,
    FAMILIES,
    PanicError,
    drawn_pattern,
    listed,
    points,
    written,
)
from tests.support.profiles import cases, drawn
from tests.support.sure_cuts import sure_triples
from tests.support.windows_drawn import ATOMS, decided
from tokpar.certificate.checker import check
from tokpar.certificate.pattern_machine import PairChecker, ProvedMachine
from tokpar.patterns.automaton import Automaton
from tokpar.patterns.decided_pattern import stage_proof
from tokpar.patterns.pair_rows import RowPairs
from tokpar.patterns.splits import SplitStage, tree_of

PATTERNS = drawn(50)
TOKENIZERS_EACH, TEXTS_EACH = 4, drawn(100)
ANSWER = "Definition answer (b : bool) : nat := if b then 1 else 0."
ANSWERS = """Definition answer (b : bool) : N := if b then 1%N else 0%N.
Definition answers (f : facts) (m : bpe) (S : text) (cert : certificate) (ids : list N) :=
  [[answer (check f S cert ids); answer (check_model (tokenizer_of f) m S ids)];
   T (tokenizer_of f) S]."""


# ---------------------------------------------------------------------------------- pairs


@dataclass(frozen=True)
class Row:
    """A row of Splits: the proof of each, and the checker of its pairs."""

    proofs: Sequence[dict[str, Any]]
    checker: PairChecker | RowPairs
    stages: Sequence[Automaton]

    @property
    def size(self) -> int:
        return self.checker.size

    def coq(self) -> str:
        """The machines of Coq."""
        trees = (coq_tree(proof["tree"], self.size) for proof in self.proofs)
        return "; ".join(f"machine_of {self.size} ({tree})" for tree in trees)


def drawn_row(rng: random.Random, count: int) -> Row:
    splits = [SplitStage(drawn_pattern(rng, count == 1)[0], "regex") for _ in range(count)]
    pairs = decided(splits, ATOMS)
    proofs = [
        stage_proof(stage, tree_of(split, pairs.alphabet))
        for stage, split in zip(pairs.stages, splits, strict=True)
    ]
    read = json.loads(json.dumps(proofs))
    checker = PairChecker(read[0]) if count == 1 else RowPairs([*map(ProvedMachine, read)])
    return Row(proofs, checker, pairs.stages)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_pairs_in_coq_are_those_of_the_checker(compiled: tuple[Path, str], count: int) -> None:
    """Of several Splits Coq accepts fewer pairs, for the reason that the README there gives."""
    rng = random.Random(40)
    definitions, terms, expected = [ANSWER], [], list[int]()
    for number in range(PATTERNS):
        row = drawn_row(rng, count)
        pairs = [(c, d) for c in range(row.size) for d in range(row.size)]
        definitions.append(f"Definition row_{number} := Eval vm_compute in [{row.coq()}].")
        each = f"fun '(c, d) => answer (row_pair_ok row_{number} c d)"
        terms.append(f"[map ({each}) [{'; '.join(map(str, pairs))}]]")
        expected += [int(row.checker.refusal(*pair) is None) for pair in pairs]
    values = computed(compiled[0], "PatternPairs Rows", terms, "\n".join(definitions))
    found = [answer for (row,) in values for answer in row]
    if count == 1:
        assert found == expected
    else:
        assert all(coq <= tokpar for coq, tokpar in zip(found, expected, strict=True))
    assert 0.7 * sum(expected) < sum(found) < 0.9 * len(found)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_sure_triples_in_coq_are_those_of_theorem_63(
    compiled: tuple[Path, str], count: int
) -> None:
    rng = random.Random(63)
    definitions, terms, expected = [ANSWER], [], list[list[list[int]]]()
    for number in range(PATTERNS):
        row = drawn_row(rng, count)
        definitions.append(f"Definition row_{number} := Eval vm_compute in [{row.coq()}].")
        symbols = listed(map(str, range(row.size)))
        for name, triples in zip(("last", "middle false"), sure_triples(row.stages), strict=True):
            answers = f"fun a b => map (fun c => answer (sure_{name} row_{number} a b c)) {symbols}"
            terms.append(f"flat_map (fun a => map (({answers}) a) {symbols}) {symbols}")
            size = range(row.size)
            expected.append([[int((a, b, c) in triples) for c in size] for a in size for b in size])
    found = computed(compiled[0], "PatternPairs Rows SureCuts", terms, "\n".join(definitions))
    assert found == expected
    answers = [answer for each in expected for rows in each for answer in rows]
    assert 0.02 * len(answers) < sum(answers) < 0.9 * len(answers)


# ------------------------------------------------------------------------------------ ids


def answers(
    rng: random.Random, world: CheckedWorld, text: str
) -> tuple[str, list[list[int]]] | None:
    """What Coq is asked about a text, about ids and seams that may be forged, and the answers of
    the checker and of the engine; None if the engine panics."""
    try:
        right = world.engine_ids(text)
    except PanicError:
        return None
    ids, seams = drawn_ids(rng, right, world), drawn_seams(rng, world, text)
    claimed = encoding_of(np.array(ids, np.uint32), seams)
    by_segments = check(claimed, text, world.adapter, level="ids").ok
    plain = not world.tokens.contents
    by_model = plain and model_findings(world.adapter, text, claimed.ids).ok
    question = f"{points(text)} {certificate_of(seams)} {written(ids)}%N"
    return question, [[int(by_segments), int(by_model)], right]


@pytest.mark.parametrize("family", cases(FAMILIES, ("gpt2", "deepseek")))
def test_ids_in_coq_are_those_of_the_checker(compiled: tuple[Path, str], family: str) -> None:
    rng = random.Random(family)
    definitions, terms, expected = [DEFINITIONS, ANSWERS], [], []
    for number in range(TOKENIZERS_EACH):
        world = drawn_world(rng, family, bare=number % 2 == 0)
        while world.may_hide_tokens:
            world = drawn_world(rng, family, bare=number % 2 == 0)
        definitions.append(f"Definition f_{number} : facts := {world.coq()}.")
        definitions.append(f"Definition m_{number} : bpe := {world.model.coq[len('Merges ') :]}.")
        for text in world.texts(rng, TEXTS_EACH):
            if found := answers(rng, world, text):
                terms.append(f"answers f_{number} m_{number} {found[0]}")
                expected.append(found[1])
    definitions.append("Open Scope N_scope.")
    imports = "PatternPairs Tables Ids Pipeline EndToEnd Certificates"
    assert computed(compiled[0], imports, terms, "\n".join(definitions)) == expected
    verdicts = {tuple(row[0]) for row in expected}
    assert verdicts == {(0, 0), (1, 1), (0, 1), (1, 0)}
