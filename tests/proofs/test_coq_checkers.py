"""Coq's own `Compute` and the checkers in Python give the same 2,000 answers."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, pre_tokenizers

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
    drawn_bytes,
    drawn_pattern,
    drawn_tokens,
    points,
    written,
)
from tests.support.windows_drawn import ATOMS, decided
from tokpar.certificate.checker import check
from tokpar.certificate.model.model_proof import model_findings
from tokpar.certificate.pattern_machine import Machine, PairChecker
from tokpar.interfaces import TokenizerAdapter
from tokpar.patterns.decided_pattern import stage_proof
from tokpar.patterns.known_pattern import PairTable, shipped_pattern
from tokpar.patterns.splits import SplitStage, tree_of
from tokpar.regexes.pair_rows import RowPairs
from tokpar.types import Seam

if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no answers", allow_module_level=True)

PATTERNS = 50
TOKENIZERS_EACH, TEXTS_EACH = 5, 50
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
        return "; ".join(f"machine_of {p['size']} ({coq_tree(p['tree'], p['size'])})" for p in self.proofs)


def drawn_row(rng: random.Random, count: int) -> Row:
    splits = [SplitStage(drawn_pattern(rng, count == 1), "regex") for _ in range(count)]
    pairs = decided(splits, ATOMS)
    proofs = [stage_proof(stage, tree_of(split, pairs.alphabet)) for stage, split in zip(pairs.stages, splits, strict=True)]
    read = json.loads(json.dumps(proofs))
    return Row(proofs, PairChecker(read[0]) if count == 1 else RowPairs([*map(Machine, read)]))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_pairs_in_coq_are_those_of_the_checker(compiled: tuple[Path, str], count: int) -> None:
    rng = random.Random(40)
    definitions, terms, expected = [ANSWER], [], []
    for number in range(PATTERNS):
        row = drawn_row(rng, count)
        pairs = [(c, d) for c in range(row.size) for d in range(row.size)]
        definitions.append(f"Definition row_{number} := Eval vm_compute in [{row.coq()}].")
        terms.append(f"map (fun '(c, d) => answer (row_pair_ok row_{number} c d)) [{'; '.join(map(str, pairs))}]")
        expected.append([int(row.checker.refusal(*pair) is None) for pair in pairs])
    values = computed(compiled[0], "PatternPairs Rows", terms, "\n".join(definitions))
    print(count, sum(map(sum, expected)), sum(map(sum, values)), sum(map(len, expected)))
    for a, b in zip(expected, values):
        assert all(x>=y for x, y in zip(a,b))


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


def drawn_tokenizer(rng: random.Random, family: str) -> Drawn:
    model = drawn_bytes(rng)
    engine = Tokenizer(model.engine)
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(p), "isolated") for p in oniguruma_patterns(family)),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return Drawn(family, model, drawn_tokens(rng, engine, normalized=0, flagged=0.1))


def drawn_ids(rng: random.Random, right: list[int], drawn: Drawn) -> list[int]:
    """The ids of a text, or forged ones: two swapped, one dropped, split or other."""
    row, k = [*right], rng.randrange(len(right) or 1)
    match rng.randrange(9):
        case 0:
            token = drawn.tokens.engine.id_to_token(row[k]) if row else ""
            row[k : k + 1] = [drawn.tokens.engine.token_to_id(c) or 0 for c in token]
        case 1:
            row[k : k + 2] = row[k : k + 2][::-1]
        case 2:
            del row[k:]
        case 3:
            row.insert(rng.choice([k, len(row)]), rng.randrange(260))
    return row


def drawn_seams(rng: random.Random, drawn: Drawn, text: str) -> list[Seam]:
    """Seams at some places: of a pair of characters that holds, of an edge of a token, or, rarely,
    of any two characters."""
    theorem = "40" if len(oniguruma_patterns(drawn.family)) == 1 else "42"
    seams = dict[int, tuple[str, str, Any]]()
    for p in range(1, len(text)):
        certain = drawn.table.is_sure(text[p - 1], text[p])
        if (certain and rng.random() < 0.6) or rng.random() < 0.03:
            seams[p] = "PAIR", theorem, (("pattern", drawn.family),)
        for content in drawn.tokens.contents:
            for edge, start in (("start", p), ("end", p - len(content))):
                if start >= 0 and text.startswith(content, start) and rng.random() < 0.3:
                    seams[p] = "EDGE", "29", (("token", content), ("edge", edge))
    return [
        Seam(p, *seam, len(drawn.adapter.encode(text[:p]))) for p, seam in sorted(seams.items())
    ]


def certificate_of(seams: Sequence[Seam]) -> str:
    """The certificate of EndToEnd.v."""
    rules = {"PAIR": "Between", "EDGE": "Edge"}
    places = [0, *(seam.position for seam in seams)]
    entries = zip(seams, pairwise(places), strict=True)
    return f"[{'; '.join(f'({b - a}%nat, {rules[s.rule]})' for s, (a, b) in entries)}]"


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_in_coq_are_those_of_the_checker(compiled: tuple[Path, str], family: str) -> None:
    rng = random.Random(family)
    definitions, terms, expected, known = [DEFINITIONS, ANSWERS], [], [], []
    for number in range(TOKENIZERS_EACH):
        drawn = drawn_tokenizer(rng, family)
        model = drawn.model.coq.removeprefix("Merges ")
        definitions.append(f"Definition f_{number} : facts := {drawn.coq()}.")
        definitions.append(f"Definition m_{number} : bpe := {model}.")
        parts = [*(c for c in LETTERS if c in drawn.symbols), *drawn.model.texts, *drawn.tokens.contents * 4]
        for _ in range(TEXTS_EACH):
            text = "".join(rng.choices(parts, k=rng.randint(1, 9)))
            try:
                right = drawn.adapter.encode(text).tolist()
                ids, seams = drawn_ids(rng, right, drawn), drawn_seams(rng, drawn, text)
            except BaseException as error:  # a panic is no Exception
                if type(error).__name__ != "PanicException":
                    raise
                continue
            claimed = encoding_of(np.array(ids, np.uint32), seams)
            verdicts = [
                int(check(claimed, text, drawn.adapter, level="ids").ok),
                int(
                    not drawn.tokens.contents
                    and model_findings(drawn.adapter, text, claimed.ids).ok
                ),
            ]
            expected.append([verdicts, right])
            known.append((drawn, text, ids, seams))
            terms.append(
                f"answers f_{number} m_{number} {points(text)} {certificate_of(seams)} "
                f"{written(ids)}%N"
            )
    terms = [f"[[answer (forallb facts_ok [{'; '.join(f'f_{k}' for k in range(TOKENIZERS_EACH))}])]]", *terms]
    definitions.append("Open Scope N_scope.")
    values = computed(
        compiled[0], "PatternPairs Tables Ids Pipeline EndToEnd Certificates", terms, "\n".join(definitions)
    )
    assert values[0] == [[1]]
    from collections import Counter
    print(Counter((tuple(v[0]),tuple(e[0]),v[1]==e[1]) for v,e in zip(values[1:],expected)))
    for v,e,k in zip(values[1:],expected,known):
        if v!=e: print(v,e,[t for t in k[0].tokens.tokens],repr(k[1]),k[2],k[3]); break
    both = [row[0] for row in expected]
    assert {tuple(verdicts) for verdicts in both} == {(0, 0), (1, 1), (0, 1), (1, 0)}
