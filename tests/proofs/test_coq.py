"""The machine-checked proofs in proofs/coq: Coq accepts them, and they speak of what tokpar runs.

Without `coqc` (Debian's package coq) only the sources and the tables are looked at.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
import regex
from tokpar_pure.merging import merge_text
from tokpar_pure.pairs import PairBPE, PairSettings
from tokpar_pure.patterns import divide, spans

from tests.recipes.coq_tables import decided_tables
from tests.support.coq_runs import COQ, SOURCES, computed
from tests.support.plain_bpe import merge_by_heap, merge_by_scanning, pair_rule, rank_rule
from tests.support.proof_pages import PROOFS, page_of
from tokpar.patterns.known_pattern import shipped_pattern

REQUIRED = [page_of(str(number)).name for number in (3, 4, 5, 7, 14, 15, 20, 24)]
LINKED = re.compile(r"\]\(\.\./([\w.-]+)\)")
ATOMS = "ab"


def main_theorems() -> dict[str, str]:
    """Theorem -> the row of the table "Statements" that names it."""
    table = (COQ / "README.md").read_text(encoding="utf-8").partition("## Statements")[2]
    rows = [line for line in table.partition("\n## ")[0].splitlines() if "](../" in line]
    return {name: row for row in rows for name in re.findall(r"`([\w']+)`", row)}


def pages_of_the_table() -> list[str]:
    return sorted({page for row in main_theorems().values() for page in LINKED.findall(row)})


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
        places = merge_text(text, dict(zip(strings, order, strict=True)))
        by_score = [text[i:j] for i, j in pairwise(places)]
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


def lengths_of_pieces(patterns: Sequence[str], text: str) -> list[int]:
    """How long the pieces of a row of Splits are: matches and gaps, each pattern on each piece."""
    pieces = [text]
    for pattern in map(regex.compile, patterns):
        cuts = [divide(spans(pattern, each), len(each), "Isolated", False) for each in pieces]
        pieces = [
            each[start:stop]
            for each, slices in zip(pieces, cuts, strict=True)
            for start, stop in slices
        ]
    return [len(piece) for piece in pieces]


def compiled_by_regex() -> Iterator[tuple[str, Sequence[str]]]:
    """The stored tables that the library regex has a spelling of: name in Coq, patterns."""
    for name, number, entry in decided_tables():
        for source in entry["sources"]:
            if source["engine"] == "regex":
                yield f"{name}_{number}", source["patterns"]
                break


def test_patterns_in_coq_cut_as_the_regexes_do(compiled: tuple[Path, str]) -> None:
    random_ = random.Random(18)
    texts = [drawn(random_, 1, 14, "aeLs'17.!/ \t\r\n\n  1\u4e2d") for _ in range(40)]
    texts += ["'Sa", "x'S", "'K1", "'\u4e2d"]
    terms, expected = [], []
    for name, patterns in compiled_by_regex():
        shipped = shipped_pattern("regex", tuple(patterns))
        assert shipped is not None
        cut = f"pieces_of_row (splits_of (fun c : nat => c) (snd (fst {name})))"
        for text in texts:
            symbols = [int(shipped.table.symbol_of[ord(char)]) for char in text]
            terms.append(f"{cut} [{'; '.join(map(str, symbols))}]")
            expected.append((name, text, lengths_of_pieces(patterns, text)))
    values = computed(compiled[0], "PreTokens Patterns Rows Tables", terms)
    for row, (name, text, lengths) in zip(values, expected, strict=True):
        assert [len(piece) for piece in row] == lengths, (name, text)
    assert len({name for name, *_ in expected}) > 9
