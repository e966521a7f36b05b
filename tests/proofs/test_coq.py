"""The machine-checked proofs in proofs/coq: Coq accepts them, and they speak of what tokpar runs.

Without `coqc` (Debian's package coq) only the sources and the tables are looked at.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from tests.conftest import is_quick
from tests.support.paths import ROOT
from tests.support.plain_bpe import merge_by_heap, merge_by_scanning, pair_rule, rank_rule
from tokpar.pure.bpe import ScoreBPE
from tokpar.pure.pairs import PairBPE, PairSettings
from tokpar.pure.patterns import compile_pattern

PROOFS = ROOT / "proofs"
COQ = PROOFS / "coq"
FAMILIES = ROOT / "tokpar" / "data" / "tables" / "families.json"
SOURCES = [line for line in (COQ / "_CoqProject").read_text().splitlines() if line.endswith(".v")]
REQUIRED = [f"theorem-{number}.md" for number in (3, 4, 5, 7, 8, 11, 14, 15, 18, 22, 24)]
LINKED = re.compile(r"\]\(\.\./([\w.-]+)\)")
ATOMS = "ab"
Coq = list[list[list[int]]]
"""What Coq computes: for each text its tokens or pieces."""


def main_theorems() -> dict[str, str]:
    """Theorem -> the row of the table "Statements" that names it."""
    table = (COQ / "README.md").read_text(encoding="utf-8").partition("## Statements")[2]
    rows = [line for line in table.partition("\n## ")[0].splitlines() if "](../" in line]
    return {name: row for row in rows for name in re.findall(r"`([\w']+)`", row)}


def pages_of_the_table() -> list[str]:
    return sorted({page for row in main_theorems().values() for page in LINKED.findall(row)})


def coqc(directory: Path, file: str) -> str:
    """What compiling one file of the directory prints."""
    command = ["coqc", "-Q", ".", "Tokpar", file]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"coqc {file}:\n{done.stdout}{done.stderr}"
    return done.stdout


PRINTED = "Assumptions.out"


def digest_of_sources() -> str:
    """A hash of all sources in their order, and of the version of Coq."""
    version = subprocess.run(["coqc", "--version"], capture_output=True, check=True).stdout
    found = hashlib.sha256(version)
    for file in SOURCES:
        found.update(hashlib.sha256((COQ / file).read_bytes()).digest())
    return found.hexdigest()[:16]


@pytest.fixture(scope="module")
def compiled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """A copy in which everything is compiled, and what the last file, Assumptions.v, printed.

    The quick profile takes the compiled files of an earlier run, if every source and the version of
    Coq are the same; all other profiles compile."""
    if shutil.which("coqc") is None:
        pytest.skip("coqc is not installed: the machine-checked proofs were skipped")
    directory = tmp_path_factory.mktemp("coq")
    cache = getattr(request.config, "cache", None) if is_quick() else None
    kept = cache and cache.mkdir("coq") / digest_of_sources()
    if kept and (kept / PRINTED).is_file():
        shutil.copytree(kept, directory, dirs_exist_ok=True)
        return directory, (kept / PRINTED).read_text(encoding="utf-8")
    for file in SOURCES:
        shutil.copy(COQ / file, directory)
    printed = [coqc(directory, file) for file in SOURCES][-1]
    if kept:
        (directory / PRINTED).write_text(printed, encoding="utf-8")
        whole = Path(shutil.copytree(directory, kept.with_suffix(f".{os.getpid()}")))
        try:
            whole.rename(kept)
        except OSError:  # another process was sooner
            shutil.rmtree(whole)
    return directory, printed


def computed(directory: Path, imports: str, terms: Iterable[str]) -> Coq:
    """The values of the terms, rows of rows of numbers."""
    (directory / "Computed.v").write_text(
        "From Coq Require Import List.\nImport ListNotations.\n"
        f"From Tokpar Require Import {imports}.\n"
        "Set Printing Width 1000000.\nSet Printing Depth 1000000.\n"
        f"Eval vm_compute in [{'; '.join(terms)}].\n",
        encoding="utf-8",
    )
    value = coqc(directory, "Computed.v").partition(": list")[0].strip().removeprefix("=")
    values: Coq = json.loads(value.replace(";", ","))
    return values


def numbers(text: str, atoms: str | None = ATOMS) -> str:
    """A text as Coq writes it: "ab" -> "[0; 1]"; without atoms its code points."""
    return f"[{'; '.join(str(ord(c) if atoms is None else atoms.index(c)) for c in text)}]"


def spelled(rows: Sequence[Sequence[int]], atoms: str | None = ATOMS) -> list[str]:
    """[[0, 1], [1]] -> ["ab", "b"]"""
    return ["".join(chr(n) if atoms is None else atoms[n] for n in row) for row in rows]


def drawn(random: random.Random, least: int, most: int, atoms: str = ATOMS) -> str:
    return "".join(random.choices(atoms, k=random.randint(least, most)))


def drawn_pairs(random: random.Random) -> list[tuple[str, str]]:
    """Merges of letters and of what merges make, in any order: most tables are improper."""
    tokens, pairs = list(ATOMS), []
    for _ in range(random.randint(2, 9)):
        pairs.append((random.choice(tokens), random.choice(tokens)))
        tokens.append("".join(pairs[-1]))
    pairs = list(dict.fromkeys(pairs))
    random.shuffle(pairs)
    return pairs


def test_the_project_lists_every_file() -> None:
    assert sorted(SOURCES) == sorted(path.name for path in COQ.glob("*.v"))
    assert SOURCES[-1] == "Assumptions.v"


@pytest.mark.parametrize("file", SOURCES)
def test_nothing_is_assumed_or_admitted(file: str) -> None:
    source = (COQ / file).read_text(encoding="utf-8")
    banned = (
        r"\b(?:Admitted|admit|give_up|Abort|Axioms?|Parameters?|Conjecture|bypass_check|Unset)\b"
    )
    assert re.findall(banned, source) == []


def test_each_main_theorem_stands_where_the_table_says() -> None:
    for name, row in main_theorems().items():
        files = re.findall(r"\]\((\w+\.v)\)", row)
        stated = rf"^(?:Theorem|Corollary) {re.escape(name)} "
        sources = [(COQ / file).read_text(encoding="utf-8") for file in files]
        assert any(re.search(stated, source, re.MULTILINE) for source in sources), name


def test_every_main_theorem_is_asked_for_its_assumptions() -> None:
    source = (COQ / SOURCES[-1]).read_text(encoding="utf-8")
    told = re.fullmatch(
        r".*^Definition main_theorems :=\n  \((.*?)\)\.\n\nPrint Assumptions main_theorems\.\n",
        source,
        re.DOTALL | re.MULTILINE,
    )
    assert told is not None
    asked = [name.removeprefix("@") for name in re.split(r",\s+", told[1])]
    assert len(asked) == len(set(asked))
    assert set(asked) == set(main_theorems())


def test_every_link_of_the_guide_leads_somewhere() -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", (COQ / "README.md").read_text(encoding="utf-8"))
    assert set(SOURCES) <= set(links)
    assert [link for link in links if not (COQ / link.partition("#")[0]).exists()] == []


def test_the_table_has_the_theorems_about_seams() -> None:
    assert set(REQUIRED) <= set(pages_of_the_table())


@pytest.mark.parametrize("page", pages_of_the_table())
def test_page_and_table_name_the_same_theorems(page: str) -> None:
    text = (PROOFS / page).read_text(encoding="utf-8")
    line = re.search(r"^Machine-checked: (.+?)\.$", text, re.MULTILINE | re.DOTALL)
    assert line is not None
    rows = main_theorems().items()
    assert set(re.findall(r"`([\w']+)`", line[1])) == {name for name, row in rows if page in row}


def test_no_main_theorem_rests_on_an_axiom(compiled: tuple[Path, str]) -> None:
    assert compiled[1].splitlines() == ["Closed under the global context"]


def test_merging_in_coq_is_merging_by_pairs(compiled: tuple[Path, str]) -> None:
    """HF's kind: the two in plain Python, and the model that runs."""
    random_ = random.Random(8)
    terms, expected = [], []
    for _ in range(100):
        pairs = drawn_pairs(random_)
        text = drawn(random_, 0, 16)
        strings = [*ATOMS, *(part for u, v in pairs for part in (u, v, u + v))]
        ids = {string: i for i, string in enumerate(dict.fromkeys(strings))}
        merges = {(ids[u], ids[v]): (rank, ids[u + v]) for rank, (u, v) in enumerate(pairs)}
        atoms, rule = [ids[c] for c in text], pair_rule(merges)
        merged = merge_by_scanning(atoms, rule)
        assert merge_by_heap(atoms, rule) == merged
        assert list(PairBPE(ids, merges, PairSettings()).encode(text)) == merged
        table = "; ".join(f"({numbers(u)}, {numbers(v)})" for u, v in pairs)
        terms.append(f"E (by_pairs [{table}]) {numbers(text)}")
        expected.append([list(ids)[id_] for id_ in merged])
    assert [spelled(rows) for rows in computed(compiled[0], "Merging", terms)] == expected
    assert sum(len(tokens) > 1 for tokens in expected) > 50
    assert sum(any(len(token) > 2 for token in tokens) for tokens in expected) > 25


def test_merging_in_coq_is_merging_by_rank_or_score(compiled: tuple[Path, str]) -> None:
    """tiktoken's kind: the rank of the bytes; SentencePiece's: a score that pieces may share."""
    random_ = random.Random(5)
    terms, expected = [], []
    for _ in range(100):
        strings = list(dict.fromkeys(drawn(random_, 2, 4) for _ in range(random_.randint(3, 14))))
        text = drawn(random_, 0, 16)
        order = [random_.randint(0, 4) for _ in strings]
        pieces = {
            s: (i + 3, -float(n)) for i, (s, n) in enumerate(zip(strings, order, strict=True))
        }
        letters = {letter: (i, -9.0) for i, letter in enumerate(ATOMS)}
        by_score = [text[i:j] for _, i, j in ScoreBPE(letters | pieces, unk_id=99).spans(text)]
        ranks = {s.encode(): i for i, s in enumerate([*ATOMS, *strings])}
        atoms, rule = [ranks[c.encode()] for c in text], rank_rule(ranks)
        by_rank = [[*ATOMS, *strings][id_] for id_ in merge_by_scanning(atoms, rule)]
        for codes, tokens in ((range(len(strings)), by_rank), (order, by_score)):
            rows = zip(strings, codes, strict=True)
            table = "; ".join(f"({numbers(s)}, {code})" for s, code in rows)
            terms.append(f"E (by_string [{table}]) {numbers(text)}")
            expected.append(tokens)
    assert [spelled(rows) for rows in computed(compiled[0], "Merging", terms)] == expected
    differ = [rank != score for rank, score in zip(expected[::2], expected[1::2], strict=True)]
    assert sum(differ) > 20


@pytest.mark.parametrize("family", ["gpt2", "cl100k", "cl100k_tiktoken"])
def test_patterns_in_coq_cut_as_the_regexes_do(compiled: tuple[Path, str], family: str) -> None:
    source = json.loads(FAMILIES.read_text(encoding="utf-8"))["families"][family]["sources"][0]
    pattern = compile_pattern(source["patterns"][0], source["engine"])
    random_ = random.Random(18)
    texts = [drawn(random_, 0, 14, "aeLs'17.!/ \t\r\n\n  1") for _ in range(100)]
    texts += ["'\u017fa", "x'\u017f", "'\u212aa", "'S\u017f", "'Sa", "'K\u212a"]
    terms = [f"pieces (first_end basic_{family}) {numbers(text, None)}" for text in texts]
    values = computed(compiled[0], "PreTokens Patterns Families", terms)
    assert [spelled(rows, None) for rows in values] == [pattern.findall(text) for text in texts]
