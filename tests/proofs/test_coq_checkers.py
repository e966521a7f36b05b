"""The checkers in Coq and those of tokpar give the same answers."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, pre_tokenizers
from tokpar_model import model_findings

import tokpar
from tests.recipes.coq_tables import coq_tree, decided_tables
from tests.support.certified import encoding_of, oniguruma_patterns
from tests.support.coq_runs import computed
from tests.support.coq_worlds import (
    DEFINITIONS,
    FAMILIES,
    KNOWN,
    LETTERS,
    AddedTokens,
    Facts,
    Model,
    PanicError,
    drawn_bytes,
    drawn_pattern,
    drawn_tokens,
    ids_or_panic,
    listed,
    points,
    written,
)
from tests.support.profiles import cases, drawn
from tests.support.windows_drawn import ATOMS, decided
from tokpar.certificate.checker import check
from tokpar.certificate.pattern_machine import PairChecker, ProvedMachine
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.patterns.decided_pattern import stage_proof
from tokpar.patterns.known_pattern import PairTable, shipped_pattern
from tokpar.patterns.pair_rows import RowPairs
from tokpar.patterns.splits import SplitStage, tree_of
from tokpar.process.cached_property import cached_property
from tokpar.types import Rule, Seam

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
    return Row(
        proofs, PairChecker(read[0]) if count == 1 else RowPairs([*map(ProvedMachine, read)])
    )


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


# ------------------------------------------------------------------------------------ ids


@dataclass(frozen=True)
class Drawn:
    """A byte-level BPE tokenizer with the patterns of a known family, and added tokens."""

    family: str
    model: Model
    tokens: AddedTokens

    @cached_property
    def adapter(self) -> TokenizerAdapter:
        return tokpar.load(self.tokens.engine)

    @cached_property
    def table(self) -> PairTable:
        found = shipped_pattern("oniguruma", oniguruma_patterns(self.family))
        assert found is not None
        return found.table

    @cached_property
    def symbols(self) -> dict[str, int]:
        """The symbols of the characters that are the same in every version of Unicode."""
        symbols = {char: int(self.table.symbol_of[ord(char)]) for char in KNOWN}
        return {char: symbol for char, symbol in symbols.items() if symbol < self.table.size}

    def engine_ids(self, text: str) -> list[int]:
        return ids_or_panic(self.tokens.engine)(text)

    def texts(self, rng: random.Random) -> list[str]:
        chars = [char for char in LETTERS if char in self.symbols]
        parts = [*chars, *self.model.texts, *self.tokens.contents * 4]
        return ["".join(rng.choices(parts, k=rng.randint(1, 9))) for _ in range(TEXTS_EACH)]

    def coq(self) -> str:
        """The facts of EndToEnd.v."""
        table = table_of(self.family)
        splits = f"map Pattern (snd (fst {table}))"
        raw, _ = self.tokens.facts
        tokenizer = Facts(self.model.coq, splits=splits, symbols=self.symbols, raw_tokens=raw)
        return (
            f"{{| tokenizer_of := {tokenizer.coq()}; size := fst (fst {table}); "
            f"pairs := snd {table} |}}"
        )


def table_of(family: str) -> str:
    """The name of the table in Tables.v that this test uses."""
    patterns = [*oniguruma_patterns(family)]
    source = {"engine": "oniguruma", "patterns": patterns}
    (number,) = (
        n for name, n, entry in decided_tables() if name == family and source in entry["sources"]
    )
    return f"{family}_{number}"


def drawn_tokenizer(rng: random.Random, family: str, bare: bool) -> Drawn:
    """`bare`: without added tokens."""
    model = drawn_bytes(rng)
    engine = Tokenizer(model.engine)
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(p), "isolated") for p in oniguruma_patterns(family)),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return Drawn(
        family, model, drawn_tokens(rng, engine, most=0 if bare else 3, normalized=0, flagged=0.1)
    )


def drawn_ids(rng: random.Random, right: list[int], world: Drawn) -> list[int]:
    """The ids of a text, or forged ones: two swapped, one dropped, split or other."""
    row, k = [*right], rng.randrange(len(right) or 1)
    match rng.randrange(9):
        case 0:
            letters = world.tokens.engine.id_to_token(row[k]) or "" if row else ""
            row[k : k + 1] = [world.tokens.engine.token_to_id(c) or 0 for c in letters]
        case 1:
            row[k : k + 2] = row[k : k + 2][::-1]
        case 2:
            del row[k:]
        case 3:
            row.insert(rng.choice([k, len(row)]), rng.randrange(260))
    return row


def drawn_seams(rng: random.Random, world: Drawn, text: str) -> list[Seam]:
    """Seams at some places: of a pair of characters that holds, of an edge of a token, or, rarely,
    of any two characters."""
    theorem = "40" if len(oniguruma_patterns(world.family)) == 1 else "42"
    seams = dict[int, tuple[Rule, str, Any]]()
    for p in range(1, len(text)):
        certain = world.table.is_sure(text[p - 1], text[p])
        if (certain and rng.random() < 0.6) or rng.random() < 0.03:
            seams[p] = Rule.PAIR, theorem, (("pattern", world.family),)
        for content in world.tokens.contents:
            for edge, start in (("start", p), ("end", p - len(content))):
                if start >= 0 and text.startswith(content, start) and rng.random() < 0.3:
                    seams[p] = Rule.EDGE, "29", (("token", content), ("edge", edge))
    return [Seam(p, *seam, len(world.engine_ids(text[:p]))) for p, seam in sorted(seams.items())]


def certificate_of(seams: Sequence[Seam]) -> str:
    """The certificate of EndToEnd.v."""
    places = [0, *(seam.position for seam in seams)]
    return listed(
        f"({b - a}%nat, {'Between' if seam.rule == Rule.PAIR else 'Edge'})"
        for seam, (a, b) in zip(seams, pairwise(places), strict=True)
    )


def answers(rng: random.Random, world: Drawn, text: str) -> tuple[str, list[list[int]]] | None:
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
        world = drawn_tokenizer(rng, family, bare=number % 2 == 0)
        definitions.append(f"Definition f_{number} : facts := {world.coq()}.")
        definitions.append(f"Definition m_{number} : bpe := {world.model.coq[len('Merges ') :]}.")
        for text in world.texts(rng):
            if found := answers(rng, world, text):
                terms.append(f"answers f_{number} m_{number} {found[0]}")
                expected.append(found[1])
    definitions.append("Open Scope N_scope.")
    imports = "PatternPairs Tables Ids Pipeline EndToEnd Certificates"
    assert computed(compiled[0], imports, terms, "\n".join(definitions)) == expected
    verdicts = {tuple(row[0]) for row in expected}
    assert verdicts == {(0, 0), (1, 1), (0, 1), (1, 0)}
