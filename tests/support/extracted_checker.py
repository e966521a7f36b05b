"""The checker of EndToEnd.v as a program: extracted by Coq, compiled by OCaml."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.support.coq_runs import coqc
from tests.support.coq_worlds import DEFINITIONS, listed
from tests.support.paths import TESTS
from tokpar.types import Rule, Seam

DRIVER = TESTS / "proofs" / "check_lines.ml"
RULES = {Rule.PAIR: 0, Rule.STAGE: 0, Rule.EDGE: 2}
"""The numbers of rules in check_lines.ml."""


@dataclass(frozen=True)
class Claim:
    """Some ids of a text, and the seams that prove them."""

    tokenizer: int
    text: str
    seams: Sequence[Seam]
    ids: Sequence[int]

    def line(self) -> str:
        """The claim as check_lines.ml reads it."""
        places = [0, *(seam.position for seam in self.seams)]
        sizes = (b - a for a, b in pairwise(places))
        segments = (
            f"{size} {RULES[seam.rule]}" for size, seam in zip(sizes, self.seams, strict=True)
        )
        fields = (map(ord, self.text), segments, self.ids)
        return ";".join([str(self.tokenizer), *(" ".join(map(str, field)) for field in fields)])


@dataclass(frozen=True)
class Program:
    """The compiled checker of some tokenizers."""

    path: Path

    def answers(self, claims: Iterable[Claim]) -> list[tuple[bool, list[int]]]:
        """Whether the checker accepts each claim, and the ids that Coq's tokenizer gives."""
        lines = "".join(f"{claim.line()}\n" for claim in claims)
        done = subprocess.run(
            [self.path], input=lines, capture_output=True, text=True, check=True, timeout=3000
        )
        rows = ([*map(int, line.split())] for line in done.stdout.splitlines())
        return [(bool(accepted), ids) for accepted, *ids in rows]


def extract(
    compiled: Path, facts: Sequence[str], imports: str = "PatternPairs Tables Ids Pipeline EndToEnd"
) -> Program:
    """Extract the checker with the facts of these tokenizers, and compile it, unless an earlier run
    did so in the same directory of compiled Coq files."""
    tokenizers = (f"Definition f_{k} : facts := {each}." for k, each in enumerate(facts))
    source = "\n".join(
        [
            "From Coq Require Import List NArith Extraction ExtrOcamlBasic.",
            f"Import ListNotations.\nFrom Tokpar Require Import {imports}.\n{DEFINITIONS}",
            *tokenizers,
            f"Definition tokenizers : list facts := {listed(f'f_{k}' for k in range(len(facts)))}.",
            'Extraction "checker.ml" tokenizers check T.\n',
        ]
    )
    digest = hashlib.sha256(source.encode() + DRIVER.read_bytes()).hexdigest()[:32]
    program = compiled / f"{digest}.program"
    if not program.is_file():
        with TemporaryDirectory(dir=compiled) as own:
            (Path(own) / "Extracted.v").write_text(source, encoding="utf-8")
            coqc(Path(own), "Extracted.v", compiled)
            (Path(own) / DRIVER.name).write_bytes(DRIVER.read_bytes())
            _run(
                ["ocamlopt", "-w", "-a", "-o", "program", "checker.mli", "checker.ml", DRIVER.name],
                own,
            )
            with suppress(OSError):  # another process compiled it, too
                (Path(own) / "program").rename(program)
    return Program(program)


def _run(command: Sequence[str], directory: str) -> None:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{command[0]}:\n{done.stdout}{done.stderr}"
