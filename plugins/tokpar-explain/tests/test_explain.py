"""`tokpar explain`: what it says of seams, as values and on the command line."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models
from tokpar_explain.rows import (
    ABSORBED_SENTENCE,
    CLAIMS,
    PAGES,
    RULES,
    THEOREMS,
    UNCERTIFIED_SENTENCE,
    Row,
    rule_sentence,
    show_text,
)
from tokpar_explain.seam import explain_seam
from tokpar_explain.trace import trace

import tokpar
from tests.support.bare import Bare
from tests.support.delimiter_sizes import plain
from tests.support.drawn_runs import any_tokenizer, drawn_text
from tests.support.paths import ROOT, VOCAB
from tests.support.patterns_of_users import IN_TWOS, by_regex
from tests.support.seams import every_lossless, part, serial
from tokpar.cli import main

PROSE = "The cat sat. A dog ran, and they met at the gate; nobody saw more of it than I did. "
RUN = "thequickbrownfoxjumpsoverthelazydogandrunsawayfromallofthemtoday"
APPROXIMATE = {
    "delimiter": {"chunk_chars": 20},
    "overlap": {"chunk_chars": 20, "overlap_chars": 10},
    "lopt": {"chunk_chars": 20, "overlap_chars": 10, "acceptance": "paper", "min_match": 1},
    "blocks": {"chunk_chars": 20, "acceptance": "paper"},
    "recursive": {"depth": 3, "acceptance": "paper"},
}


def names(row: Row) -> list[str]:
    return [token.text for token in row.tokens]


# the values


def test_the_rows_of_one_seam_are_those_of_the_two_chunks() -> None:
    tokenizer = part("cl100k_part")
    traced = trace(PROSE, plain(tokenizer), strategy="lopt", chunk_chars=30, overlap_chars=10)
    seam = explain_seam(traced, 0, 12)
    assert (seam.left, seam.right, seam.shared) == ((0, 40), (30, 71), (30, 40))
    alone = [tokenizer.decode([i]).replace(" ", "␣") for i in serial(tokenizer, PROSE[:40])]
    assert names(seam.left_row) == [alone[token.number] for token in seam.left_row.tokens]
    assert seam.left_row.tokens[-1].stop == 40
    assert seam.right_row.tokens[0].start == 30
    common = {token.start for token in seam.left_row.tokens if token.matched}
    assert common == {token.start for token in seam.right_row.tokens if token.matched}
    assert len(common) == seam.matched > 0
    assert all(token.start < seam.position for token in seam.left_row.tokens if token.kept)
    assert all(token.start >= seam.position for token in seam.right_row.tokens if token.kept)
    kept = [token.id for token in (*seam.left_row.tokens, *seam.right_row.tokens) if token.kept]
    assert kept == [token.id for token in seam.joined_row.tokens][: len(kept)]
    assert "".join(part.text for part in seam.before + seam.after) == show_text(
        PROSE[seam.position - 12 : seam.position + 12]
    )


def test_every_kind_of_seam_is_explained() -> None:
    words = {"chunk_chars": 200, "overlap_chars": 120, "min_match": 999}
    chat = Tokenizer(models.WordLevel({"ab": 0, "?": 1}, "?"))
    chat.add_special_tokens(["<s>", "</s>"])
    runs: list[tuple[Any, str, str, dict[str, Any]]] = [
        (plain(part("cl100k_part")), "1" * 90 + PROSE, "cut", {"chunk_chars": 20}),
        (plain(part("llama_style")), PROSE * 2, "cut", {"chunk_chars": 20}),
        (tokpar.load(), RUN * 6, "auto", {"chunk_chars": 60}),
        (plain(part("o200k_part")), "abcdefg" * 300, "auto", {"chunk_chars": 300}),
        (plain(part("cl100k_part")), "=" * 3000, "auto", {"chunk_chars": 60}),
        (plain(part("bert_part")), PROSE * 9, "lopt", words),
        (plain(chat), "<s>ab</s>" * 9, "cut", {"chunk_chars": 20}),
        (by_regex((IN_TWOS,)), PROSE, "cut", {"chunk_chars": 20}),
        (by_regex((IN_TWOS,)), "1" * 90, "cut", {"chunk_chars": 20}),
        (by_regex((r"\p{N}+", IN_TWOS)), PROSE, "cut", {"chunk_chars": 20}),
    ]
    found = set()
    for adapter, text, strategy, options in runs:
        traced = trace(text, adapter, strategy=strategy, **options)
        assert traced.ok
        for n in range(len(traced.seams)):
            seam = explain_seam(traced, n)
            assert seam.meaning
            assert seam.theorem_says == THEOREMS[seam.theorem]
            assert not seam.differs
            assert (ROOT / "proofs" / seam.page).is_file()
            found.add(seam.rule)
    assert found == RULES.keys()


def test_each_page_of_a_theorem_is_named() -> None:
    assert {*PAGES.values()} == {path.name for path in (ROOT / "proofs").glob("[0-9]*.md")}
    assert all(page.startswith(f"{number}-") for number, page in PAGES.items())


def test_an_absorbed_space_is_explained_as_such() -> None:
    traced = trace(PROSE, plain(part("llama_style")), strategy="cut", chunk_chars=30)
    seam = explain_seam(traced, 0)
    assert (seam.rule, seam.theorem, seam.witness) == ("STAGE", "6.4", (("absorbed", "1"),))
    assert seam.meaning == ABSORBED_SENTENCE
    assert seam.right[0] == seam.position + 1


class Liar:
    """Says it is cl100k, and puts an id in front of every text."""

    def __init__(self) -> None:
        self._true = plain(part("cl100k_part"))
        self.name, self.facts = "liar", self._true.facts

    def encode(self, text: str) -> Any:
        return np.concatenate([np.zeros(1, np.uint32), self._true.encode(text)])


def test_certified_seams_of_a_tokenizer_that_lies_do_not_hide_wrong_ids() -> None:
    traced = trace(PROSE * 2, Liar(), strategy="cut", chunk_chars=40)
    assert traced.encoding.lossless
    assert (traced.equal, traced.ok) == (False, False)
    assert explain_seam(traced, traced.ordered()[0]).differs


def test_without_places_the_ids_are_shown_and_the_reason() -> None:
    traced = trace(
        "ab cde fg h" * 3, Bare(), strategy="delimiter", chunk_chars=9, allow_approximate=True
    )
    assert not traced.ok
    seam = explain_seam(traced, 0)
    assert any("cannot tell where" in words for words in seam.words)
    assert [token.id for token in seam.left_row.tokens] == [2, 3, 2]
    assert {(token.start, token.text) for token in seam.left_row.tokens} == {(-1, "")}
    assert seam.differs
    assert seam.differences[0].words.startswith("From id 3: the joined ids have")


# where published methods fail: fails as soon as one of these is no counterexample any more


FAILURES = [
    (
        "cl100k_part",
        "３" * 600 + "１０" + "３" * 4,
        "lopt",
        {"acceptance": "paper", "chunk_chars": 100, "overlap_chars": 300},
        ["１", "０"],
        ["１０"],
    ),
    (
        "o200k_part",
        "a" + "中" * 600 + "亚洲AVx",
        "lopt",
        {"acceptance": "paper", "chunk_chars": 100, "overlap_chars": 503},
        None,
        None,
    ),
    (
        "cl100k_part",
        "google.com",
        "delimiter",
        {"chunk_chars": 7, "delimiter": ".", "side": "after"},
        None,
        [".com"],
    ),
    (
        "cl100k_part",
        "see the end.\n\nNext",
        "delimiter",
        {"chunk_chars": 12, "delimiter": "\n"},
        None,
        [".\\n\\n"],
    ),
    ("o200k_part", "I don't", "delimiter", {"chunk_chars": 5, "delimiter": "'"}, None, None),
    (
        "bert_part",
        "unbelievable" * 10,
        "lopt",
        {"acceptance": "paper", "chunk_chars": 60, "overlap_chars": 30, "min_match": 1},
        None,
        ["[UNK]"],
    ),
    ("cl100k_part", "ha " * 60, "overlap", {"chunk_chars": 80, "overlap_chars": 20}, [], None),
]


@pytest.mark.parametrize(("name", "text", "strategy", "options", "joined", "whole"), FAILURES)
def test_a_failing_method_shows_the_tokens_that_differ(
    name: str,
    text: str,
    strategy: str,
    options: dict[str, Any],
    joined: list[str] | None,
    whole: list[str] | None,
) -> None:
    traced = trace(text, plain(part(name)), strategy=strategy, allow_approximate=True, **options)
    assert not traced.equal
    assert not traced.ok
    number = traced.ordered()[0]
    seam = explain_seam(traced, number, 20)
    assert seam.differs
    assert seam.rule is None
    assert seam.meaning == f"{UNCERTIFIED_SENTENCE} {CLAIMS[strategy][0]}"
    difference = seam.differences[0]
    assert all(token.differs for token in (*difference.joined.tokens, *difference.serial.tokens))
    assert (joined, whole) != ([], [])
    if joined is not None:
        assert names(difference.joined) == joined
    if whole is not None:
        assert names(difference.serial) == whole
    assert difference.words.startswith(f"Code points {difference.start:,} to {difference.stop:,}: ")


# properties


@given(data=st.data(), tokenizer=any_tokenizer(), size=st.sampled_from([1, 3, 7, 20]))
def test_a_lossless_strategy_never_differs_and_what_was_kept_is_known(
    data: st.DataObject, tokenizer: Any, size: int
) -> None:
    text = drawn_text(data, tokenizer, max_size=200)
    strategy, options = data.draw(st.sampled_from(list(every_lossless(size))))
    traced = traced_or_set_aside(text, plain(tokenizer), strategy, options)
    assert traced.ok
    assert traced.differences == ()
    assert_kept_makes_the_result(traced)
    event("seams" if traced.seams else "no seam")
    for n in range(min(3, len(traced.seams))):
        seam = explain_seam(traced, n, 15)
        assert seam.rule in RULES
        assert seam.meaning == rule_sentence(traced.seams[n], strategy)
        assert not seam.differs
        assert seam.differences == ()
        joined = [token.id for token in seam.joined_row.tokens]
        assert joined == [token.id for token in seam.serial_row.tokens]
        assert seam.line == text[: seam.position].count("\n") + 1


@given(data=st.data(), tokenizer=any_tokenizer())
def test_differences_turn_the_joined_ids_into_the_serial_ones(
    data: st.DataObject, tokenizer: Any
) -> None:
    text = drawn_text(data, tokenizer, max_size=200)
    strategy = data.draw(st.sampled_from(list(APPROXIMATE)))
    options = APPROXIMATE[strategy] | {"allow_approximate": True}
    traced = traced_or_set_aside(text, plain(tokenizer), strategy, options)
    event("equal" if traced.equal else "differs")
    mended, last = [], 0
    for each in traced.differences:
        mended += traced.encoding.ids[last : each.first].tolist()
        mended += traced.serial[each.other_first : each.other_last].tolist()
        last = each.last
        assert each.seams
    mended += traced.encoding.ids[last:].tolist()
    assert mended == traced.serial.tolist()
    assert (traced.differences == ()) == traced.equal
    assert_kept_makes_the_result(traced)
    for n in traced.ordered()[:3]:
        assert explain_seam(traced, n, 10).differs == (n in traced.differing)


def traced_or_set_aside(text: str, adapter: Any, strategy: str, options: dict[str, Any]) -> Any:
    """The example is set aside where the tokenizer itself fails."""
    try:
        return trace(text, adapter, strategy=strategy, **options)
    except tokpar.EngineError:
        assume(False)


def assert_kept_makes_the_result(traced: Any) -> None:
    kept = [
        id_
        for piece, (first, last) in zip(traced.pieces, traced.kept, strict=True)
        for id_ in piece.ids[first:last].tolist()
    ]
    assert kept == traced.encoding.ids.tolist()


# words


def test_text_is_shown_on_one_line_without_what_a_terminal_obeys() -> None:
    assert show_text("a b\n\t\x1b[31m\u202e") == "a␣b\\n\\t\\x1b[31m\\u202e"
    assert show_text("│┃␣⟨") == "\\u2502\\u2503\\u2423\\u27e8"
    assert show_text("\\n") == "\\\\n"
    assert show_text("\u0301e\u0301") == "\\u0301e\u0301"
    assert show_text("中文 😀") == "中文␣😀"
    assert show_text(b"\xe4\xb8".decode("utf-8", "surrogateescape")) == "\\xe4\\xb8"


# the command line


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """`run("--text", "a b")` -> exit code, stdout, stderr."""

    def run_main(*arguments: object, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        code = main(["explain", *map(str, arguments)])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run_main


ONES = ("--text", "1" * 400, "--tokenizer", VOCAB / "deepseek_part.json", "--strategy", "blocks")
PAPER = ("--chunk-chars", 200, "--option", "acceptance=paper", "--allow-approximate")


def test_a_certified_encoding_ends_well(run: Run) -> None:
    code, out, err = run("--text", PROSE * 3, "--chunk-chars", 30)
    assert (code, err) == (0, "")
    assert out.startswith(
        "--text: strategy auto, tokenizer huggingface:BPE; cut at 7 places (7 PAIR; "
    )
    assert "), shown: 7 seams between 8 chunks; the " in out
    assert "are the serial ones" in out
    assert RULES["PAIR"].split(":")[0] in out
    assert "Theorem 20: " in out
    assert "proofs/20-universal-cut.md" in out
    assert "and 4 more (--all shows them, --seam N one, --html FILE writes a page)" in out
    assert out.count("seam ") - out.count("the seam ") >= 3


def test_differing_ids_end_with_1_and_are_shown_and_json_holds_all_of_it(run: Run) -> None:
    code, out, _ = run(*ONES, *PAPER)
    assert code == 1
    assert "the 133 ids are NOT the 134 serial ones, 1 difference" in out
    assert "seam 0 at code point 200 (line 1, column 201): no rule, ids differ" in out
    assert "⟦111⟧" in out
    assert "(111)" in out
    assert "code points 201 to 202 is lost" in out
    code, out, _ = run(*ONES, *PAPER, "--json")
    got = json.loads(out)
    assert (code, got["equal"], got["lossless"], got["differing"]) == (1, False, False, [0])
    assert (got["ids_count"], got["serial_ids_count"], got["seams_count"]) == (133, 134, 1)
    assert got["options"] == {"acceptance": "paper", "chunk_chars": 200}
    (seam,) = got["seams"]
    assert seam["position"] == 200
    assert seam["left"] == [0, 300]
    token = seam["left_row"]["tokens"][0]
    assert token["text"] == "111"
    assert token["stop"] - token["start"] == 3
    _, out, _ = run("--text", PROSE, "--chunk-chars", 30, "--json")
    assert json.loads(out)["seams"][0]["witness"]["right"] == "space"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--around", "0"), "--around must be at least 1"),
        (("--strategy", "delimiter"), "--allow-approximate"),
        (("--strategy", "nope"), "auto"),
        (("--option", "nope=1"), "chunk_chars"),
        (("--color", "red"), "auto"),
        (("--html", "no/such/directory/x.html"), "no/such/directory"),
    ],
)
def test_what_cannot_be_used_is_an_error(run: Run, arguments: tuple[str, ...], says: str) -> None:
    code, out, err = run("--text", PROSE, *arguments)
    assert (code, out) == (2, "")
    assert err.startswith("tokpar: error: ")
    assert says in err


def test_a_hostile_text_does_not_reach_the_terminal(run: Run) -> None:
    text = "a \x1b[2J\x07 b\u202e c\r\n d \x9b31m " * 6
    out = run("--text", text, "--chunk-chars", 5, "--all")[1]
    assert all(char.isprintable() or char == "\n" for char in out)
    assert "\\x1b[2J" in out


def test_a_page_is_written_instead_of_the_seams(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "out.html"
    code, out, _ = run("--text", PROSE * 2, "--chunk-chars", 30, "--html", path)
    assert code == 0
    assert out.endswith(f"all seams: {path}\n")
    assert "seam 0" not in out
    assert path.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


# the page as a file; test_page.py opens it in a browser


def data_of(page: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match is not None
    return json.loads(match[1])


def page_of(text: str, name: str = "a.txt", **options: Any) -> str:
    from tokpar_explain.page import page

    return page(trace(text, **options), name, 40)


def test_the_page_holds_every_seam_and_needs_no_network() -> None:
    page = page_of(PROSE * 3, strategy="lopt", chunk_chars=40, overlap_chars=20)
    data = data_of(page)
    assert len(data["seams"]) == len(data["details"]) > 3
    assert data["ok"]
    assert re.findall(r'(?:src|href)="[^"]*"', page) == []
    assert "default-src 'none'" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_hostile_text_and_names_cannot_leave_their_place_in_the_page() -> None:
    hostile = "</script><script>alert(1)</script><!-- <img src=x onerror=alert(2)> {style} \u2028"
    page = page_of(hostile * 4, f"</title><b>{{data}}{hostile}", strategy="cut", chunk_chars=9)
    assert len(re.findall("<script", page)) == len(re.findall("</script", page)) == 2
    assert "<img" not in page
    assert "<b>" not in page
    assert "alert" in json.dumps(data_of(page))
