"""Coq's own `Compute` and the checkers in Python give the same answers: 1,000 about pairs, 1,000
about ids; quick asks for fewer."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers

import tokpar
from tests.recipes.coq_tables import coq_tree, decided_tables
from tests.support import profiles
from tests.support.certified import encoding_of, oniguruma_patterns
from tests.support.coq_runs import computed
from tests.support.tokenizers_drawn import byte_characters, byte_text
from tests.support.windows_drawn import ATOMS, decided
from tokpar.certificate.checker import check
from tokpar.certificate.model.model_proof import model_findings
from tokpar.certificate.pattern_machine import PairChecker
from tokpar.interfaces import TokenizerAdapter
from tokpar.patterns.decided_pattern import stage_proof
from tokpar.patterns.known_pattern import PairTable, shipped_pattern
from tokpar.patterns.splits import SplitStage, tree_of
from tokpar.types import Seam

if shutil.which("coqc") is None:
    pytest.skip("coqc is not installed: Coq computed no answers", allow_module_level=True)

ITEMS = (
    *("a", "A", r"\p{L}", r"\s", "[aA]", r"[^\s\p{L}]", r"\p{L}+", r"\s+", r"\s*", r"\s++", " ?"),
    *(r"\p{N}{1,3}", r"\p{N}{1,2}+", r"\p{L}+?", r"[aA]*", r"[.1]?+", r"(?:ab|a)?", "(?:1|a.)"),
    *(r"(?!\S)", r"(?=a)", r"\Z", r"(?:\.a|a)??"),
)
PAIRS_EACH, PATTERNS = 20, 50
FAMILIES = ("gpt2", "cl100k", "qwen2", "tekken")
TOKENIZERS_EACH, TEXTS_EACH = 5, profiles.drawn(50)
LETTERS = "aasS1'. \n\u4e2d"
ANSWER = "Definition answer (b : bool) : nat := if b then 1 else 0."
ANSWERS = f"""{ANSWER}
Definition answers (f : facts) (S : text) (cuts : list nat) (ids : list N) : list (list nat) :=
  [[answer (check_ids f S cuts ids); answer (check_model f S ids)]; map N.to_nat (ids_of f S)]."""


def numbers(values: Sequence[int], scope: str = "") -> str:
    return f"[{'; '.join(map(str, values))}]{scope}"


# ---------------------------------------------------------------------------------- pairs


def drawn_pattern(rng: random.Random) -> str:
    """Some alternatives of classes, counts, groups and look-aheads; every text has a match."""
    rows = ["".join(rng.choices(ITEMS, k=rng.randint(0, 3))) for _ in range(rng.randint(1, 4))]
    return "|".join(
        [*(rng.choice([f"a{row}", rf"\p{{L}}{row}", f" {row}"]) for row in rows), r"[\s\S]"]
    )


def drawn_proof(rng: random.Random) -> dict[str, Any]:
    split = SplitStage(drawn_pattern(rng), "regex")
    pairs = decided([split], ATOMS)
    return stage_proof(pairs.stages[0], tree_of(split, pairs.alphabet))


def test_pairs_in_coq_are_those_of_the_checker(compiled: tuple[Path, str]) -> None:
    rng = random.Random(40)
    definitions, terms, expected = [ANSWER], [], []
    for number in range(PATTERNS):
        proof = drawn_proof(rng)
        size, checker = proof["size"], PairChecker(json.loads(json.dumps(proof)))
        tree = coq_tree(proof["tree"], proof["size"])
        definitions += [
            f"Definition tree_{number} := {tree}.",
            f"Definition m_{number} := Eval vm_compute in machine_of {size} tree_{number}.",
        ]
        pairs, answers = [], []
        for _ in range(PAIRS_EACH):
            left, right = rng.choices(range(size), k=2)
            pairs.append(f"({left}, {right})")
            answers.append(int(checker.refusal(left, right) is None))
        sound = f"answer (table_ok {size} tree_{number} [])"
        each = f"map (fun '(c, d) => answer (pair_ok m_{number} c d)) [{'; '.join(pairs)}]"
        terms.append(f"[{sound} :: {each}]")
        expected.append([[1, *answers]])
    assert computed(compiled[0], "PatternPairs", terms, "\n".join(definitions)) == expected
    accepted = sum(sum(row[0][1:]) for row in expected)
    assert 200 < accepted < 900


# ------------------------------------------------------------------------------------ ids


@dataclass(frozen=True)
class Drawn:
    """A byte-level BPE tokenizer with a known regex, small enough to be written down in Coq."""

    family: str
    merges: tuple[tuple[str, str], ...]
    whole_piece: bool

    @cached_property
    def vocabulary(self) -> dict[str, int]:
        """The 256 bytes, as their letters in the file, and what the merges make."""
        strings = [*byte_characters(), *("".join(pair) for pair in self.merges)]
        return {string: number for number, string in enumerate(strings)}

    @cached_property
    def adapter(self) -> TokenizerAdapter:
        model = models.BPE(
            self.vocabulary, list(self.merges), ignore_merges=self.whole_piece, fuse_unk=False
        )
        tokenizer = Tokenizer(model)
        (pattern,) = oniguruma_patterns(self.family)
        stages = [
            pre_tokenizers.Split(Regex(pattern), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
        return tokpar.load(tokenizer)

    @cached_property
    def table(self) -> PairTable:
        found = shipped_pattern("oniguruma", oniguruma_patterns(self.family))
        assert found is not None
        return found.table

    def coq(self) -> str:
        """The facts of Certificates.v. Bytes that no text has are left out."""
        table = table_of(self.family)
        known = {*"".join(map(byte_text, LETTERS))}
        tokens = {s: i for s, i in self.vocabulary.items() if known.issuperset(s)}
        pairs = (f"({numbers(codes(u))}, {numbers(codes(v))})" for u, v in self.merges)
        words = (f"({numbers(codes(s))}, {i}%N)" for s, i in tokens.items())
        ranges = (f"({ord(c)}%N, {ord(c)}%N, {self.table.symbol_of[ord(c)]})" for c in {*LETTERS})
        return (
            f"{{| size := {self.table.size}; ranges := [{'; '.join(ranges)}]; other := 0; "
            f"pattern := hd Nothing (snd (fst {table})); pairs := snd {table}; "
            f"vocabulary_of := [{'; '.join(words)}]; merges := [{'; '.join(pairs)}]; "
            f"whole_piece := {str(self.whole_piece).lower()} |}}"
        )


def table_of(family: str) -> str:
    """The name of the table in Tables.v that this test uses."""
    patterns = [*oniguruma_patterns(family)]
    source = {"engine": "oniguruma", "patterns": patterns}
    (number,) = (
        n for name, n, entry in decided_tables() if name == family and source in entry["sources"]
    )
    return f"{family}_{number}"


def codes(string: str) -> list[int]:
    """The bytes of a string of a byte-level file."""
    return [byte_characters().index(letter) for letter in string]


def drawn_tokenizer(rng: random.Random, family: str) -> Drawn:
    """Merges over the bytes of `LETTERS`, in any order, each of another string."""
    strings = sorted({*"".join(map(byte_text, LETTERS))})
    made: dict[str, tuple[str, str]] = {}
    for _ in range(rng.randint(4, 14)):
        pair = rng.choice(strings), rng.choice(strings)
        if "".join(pair) not in strings:
            made["".join(pair)] = pair
            strings.append("".join(pair))
    merges = [*made.values()]
    rng.shuffle(merges)
    return Drawn(family, tuple(merges), rng.random() < 0.5)


def drawn_ids(rng: random.Random, right: list[int], drawn: Drawn, text: str) -> list[int]:
    """The ids of a text, or forged ones: the bytes, two swapped, one dropped, split or other."""
    row, k = [*right], rng.randrange(len(right) or 1)
    match rng.randrange(9):
        case 0:
            return [drawn.vocabulary[letter] for letter in byte_text(text)]
        case 1:
            row[k : k + 2] = row[k : k + 2][::-1]
        case 2:
            del row[k:]
        case 3:
            string = next(s for s, i in drawn.vocabulary.items() if i in row[k : k + 1] or not row)
            row[k : k + 1] = [drawn.vocabulary[letter] for letter in string]
        case 4:
            row.insert(rng.choice([k, len(row)]), rng.randrange(260))
    return row


def drawn_seams(rng: random.Random, drawn: Drawn, text: str) -> list[Seam]:
    """Seams at some places: of a pair of characters that holds, or, rarely, of any."""
    seams = []
    for p in range(1, len(text)):
        certain = drawn.table.is_sure(text[p - 1], text[p])
        if (certain and rng.random() < 0.6) or rng.random() < 0.03:
            witness = (("pattern", drawn.family),)
            before = len(drawn.adapter.encode(text[:p]))
            seams.append(Seam(p, "PAIR", "40", witness, before))
    return seams


@pytest.mark.parametrize("family", FAMILIES)
def test_ids_in_coq_are_those_of_the_checker(compiled: tuple[Path, str], family: str) -> None:
    rng = random.Random(family)
    definitions, terms, expected = [ANSWERS], [], []
    for number in range(TOKENIZERS_EACH):
        drawn = drawn_tokenizer(rng, family)
        definitions.append(f"Definition f_{number} : facts := {drawn.coq()}.")
        terms.append(f"[[answer (facts_ok f_{number})]]")
        expected.append([[1]])
        for _ in range(TEXTS_EACH):
            text = "".join(rng.choices(LETTERS, k=rng.randint(1, 14)))
            right = drawn.adapter.encode(text).tolist()
            ids = drawn_ids(rng, right, drawn, text)
            seams = drawn_seams(rng, drawn, text)
            claimed = encoding_of(np.array(ids, np.uint32), seams)
            verdicts = [
                int(check(claimed, text, drawn.adapter, level="ids").ok),
                int(model_findings(drawn.adapter, text, claimed.ids).ok),
            ]
            cuts = "; ".join(str(seam.position) for seam in seams)
            points = numbers([ord(char) for char in text], "%N")
            terms.append(f"answers f_{number} {points} [{cuts}] {numbers(ids, '%N')}")
            expected.append([[*verdicts], right])
    values = computed(
        compiled[0], "PatternPairs Tables Ids Pipeline Certificates", terms, "\n".join(definitions)
    )
    assert values == expected
    both = [row[0] for row in expected if len(row) == 2]
    assert {tuple(verdicts) for verdicts in both} == {(0, 0), (1, 1), (0, 1)}
