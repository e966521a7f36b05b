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
    RULES,
    THEOREMS,
    UNCERTIFIED_SENTENCE,
    Row,
    proof_page,
    rule_sentence,
    show_text,
    theorem_sentence,
)
from tokpar_explain.seam import explain_seam
from tokpar_explain.trace import differences, trace

import tokpar
from tests.support.bare import Bare
from tests.support.delimiter_sizes import plain
from tests.support.drawn_runs import any_tokenizer, drawn_text
from tests.support.paths import ROOT, VOCAB
from tests.support.patterns_of_users import IN_TWOS, by_regex
from tests.support.seams import every_lossless, part, serial
from tokpar.cli import main
from tokpar.types import Seam, Theorem

PROSE = "The cat sat. A dog ran, and they met at the gate; nobody saw more of it than I did. "
RUN = "thequickbrownfoxjumpsoverthelazydogandrunsawayfromallofthemtoday"
SMALL = {
    "cut": {"chunk_chars": 30},
    "auto": {"chunk_chars": 30},
    "lopt": {"chunk_chars": 30, "overlap_chars": 20},
    "blocks": {"chunk_chars": 30},
    "recursive": {"depth": 2},
}
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


@pytest.mark.each_value
@pytest.mark.parametrize("strategy", SMALL)
@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part", "bert_part", "llama_style"])
def test_a_certified_seam_shows_what_both_chunks_found_and_the_serial_tokens(
    name: str, strategy: str
) -> None:
    adapter = plain(part(name))
    traced = trace(PROSE * 2, adapter, strategy=strategy, **SMALL[strategy])
    assert traced.ok
    assert traced.encoding.ids.tolist() == serial(part(name), PROSE * 2)
    for n in range(len(traced.seams)):
        seam = explain_seam(traced, n, 15)
        assert seam.rule in RULES
        assert seam.meaning == rule_sentence(traced.seams[n], strategy)
        assert not seam.differs
        assert seam.differences == ()
        joined, whole = seam.joined_row, seam.serial_row
        assert [token.id for token in joined.tokens] == [token.id for token in whole.tokens]
        kept = [token.id for token in (*seam.left_row.tokens, *seam.right_row.tokens) if token.kept]
        assert kept == [token.id for token in joined.tokens][: len(kept)]
        assert (seam.line, seam.column) == (1, seam.position + 1)
    assert len(traced.seams) > 1


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
    assert "".join(stretch.text for stretch in seam.before + seam.after) == show_text(
        PROSE[seam.position - 12 : seam.position + 12]
    )


def test_lines_and_columns_count_from_one() -> None:
    traced = trace("a b\nc d\n\ne f", tokpar.load(), strategy="cut", chunk_chars=1)
    places = {seam.position: traced.place(seam.position) for seam in traced.seams}
    assert places[5] == (2, 2)
    assert traced.place(0) == (1, 1)
    assert traced.place(8) == (3, 1)
    assert traced.place(11) == (4, 3)


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


def test_what_no_rule_licenses_comes_before_what_one_does() -> None:
    traced = trace(
        "see google.com and f(x).. now",
        plain(part("cl100k_part")),
        strategy="delimiter",
        delimiter=".",
        chunk_chars=10,
        allow_approximate=True,
    )
    assert traced.equal
    assert [seam.rule for seam in traced.seams] == ["PAIR", None]
    assert traced.ordered() == [1, 0]


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


def test_a_text_that_is_not_split_has_no_seam_and_a_reason() -> None:
    short = trace("a b")
    assert (short.ok, len(short.seams), short.ordered()) == (True, 0, [])
    assert "chunk size" in short.encoding.report.why
    assert trace(PROSE, strategy="serial").ok
    surrogate = trace("a \ud800 b" * 9, plain(part("cl100k_part")), strategy="cut", chunk_chars=3)
    assert len(surrogate.seams) == 0
    assert "surrogate" in surrogate.encoding.report.why


def test_explain_refuses_what_encode_refuses() -> None:
    with pytest.raises(tokpar.LossyError):
        trace(PROSE, strategy="delimiter")
    with pytest.raises(tokpar.OptionError, match="chunk_chars"):
        trace(PROSE, strategy="cut", chunk=3)
    with pytest.raises(tokpar.UnknownNameError):
        trace(PROSE, strategy="cuts")


@pytest.mark.parametrize("engine", ["huggingface", "pure"])
def test_engines_of_one_file_tell_the_same_story(engine: str) -> None:
    file = str(VOCAB / "deepseek_part.json")
    adapter = tokpar.load(file, engine=engine, add_special_tokens=False)
    traced = trace(PROSE * 2, adapter, strategy="blocks", chunk_chars=40)
    first = explain_seam(traced, 0, 20)
    other = explain_seam(
        trace(PROSE * 2, plain(part("deepseek_part")), strategy="blocks", chunk_chars=40), 0, 20
    )
    assert first == other


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


def test_a_character_in_several_tokens_is_shown_in_bytes() -> None:
    traced = trace("é😀글 " * 9, plain(part("deepseek_part")), strategy="cut", chunk_chars=8)
    texts = {token.text for token in explain_seam(traced, 0).left_row.tokens}
    assert any(re.fullmatch(r"(\\x[0-9a-f]{2})+", text) for text in texts), texts


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


def test_the_midpoint_filter_loses_a_digit_and_it_says_which() -> None:
    """Both chunks are out of phase by one: 198-201 is the last kept on the left, 202 the first."""
    options = {"acceptance": "paper", "chunk_chars": 200, "overlap_chars": 128}
    traced = trace(
        "1" * 400,
        plain(part("cl100k_part")),
        strategy="blocks",
        allow_approximate=True,
        **options,
    )
    seam = explain_seam(traced, 0)
    assert "The text of code points 201 to 202 is lost: no token that was kept covers it." in (
        seam.words
    )
    assert [token.start for token in seam.left_row.tokens if token.kept][-1] == 198
    assert next(token.start for token in seam.right_row.tokens if token.kept) == 202
    assert seam.matched == 0


def test_text_that_is_there_twice_is_named() -> None:
    traced = trace(
        "ha " * 60,
        plain(part("cl100k_part")),
        strategy="overlap",
        chunk_chars=80,
        overlap_chars=20,
        allow_approximate=True,
    )
    said = [words for n in traced.ordered() for words in explain_seam(traced, n).words]
    assert (
        "The text of code points 160 to 180 is there twice: both chunks' tokens for it"
        in " ".join(said)
    )


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
        assert explain_seam(traced, n, 10).rule is not None


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


rows = st.lists(st.tuples(st.integers(1, 3), st.integers(0, 2)), max_size=12)


def located(row: list[tuple[int, int]]) -> Any:
    """Ids and spans of tokens of these lengths, one behind the other."""
    stops = np.cumsum([length for length, _ in row], dtype=np.int64)
    starts = stops - np.array([length for length, _ in row], dtype=np.int64)
    ids = np.array([id_ for _, id_ in row], dtype=np.uint32)
    return ids, np.stack([starts, stops], axis=1).reshape(-1, 2)


@given(joined=rows, whole=rows, places=st.booleans())
def test_differences_are_apart_and_mend(
    joined: list[tuple[int, int]], whole: list[tuple[int, int]], places: bool
) -> None:
    one, other = located(joined), located(whole)
    assume(places or one[0].tolist() != other[0].tolist())
    if not places:
        one, other = (one[0], None), (other[0], None)
    found = differences(one, other, [(0, 0)], exact=True)
    mended, last = [], 0
    for each in found:
        assert last <= each.first
        mended += [*one[0][last : each.first], *other[0][each.other_first : each.other_last]]
        last = each.last
    assert [*mended, *one[0][last:]] == list(other[0])


def test_a_difference_is_laid_to_the_seams_inside_or_to_the_nearest() -> None:
    one, other = located([(1, 0)] * 9), located([(1, 0)] * 4 + [(1, 1)] + [(1, 0)] * 4)
    for places, seams in (([1, 7], (1,)), ([4, 5, 8], (0, 1)), ([2, 8], (0,)), ([8], (0,))):
        (found,) = differences(one, other, [(place, place) for place in places], exact=True)
        assert (found.start, found.stop, found.seams) == (4, 5, seams)


# words


def test_every_rule_theorem_and_claim_has_its_sentence_and_page() -> None:
    assert THEOREMS.keys() == {*Theorem}
    for theorem in THEOREMS:
        page = proof_page(Seam(1, "PAIR", theorem), "cut")
        assert (ROOT / "proofs" / page).is_file()
        assert theorem_sentence(Seam(1, "PAIR", theorem))
    for record in tokpar.strategies():
        approximate = not record.lossless or any("acceptance" in each for each in record.options)
        if record.owner == "tokpar" and approximate:
            assert (ROOT / "proofs" / CLAIMS[record.name][1]).is_file()
    plugged = Seam(1, None, "")
    assert (rule_sentence(plugged, "mine"), proof_page(plugged, "mine")) == (
        UNCERTIFIED_SENTENCE,
        "",
    )


def test_text_is_shown_on_one_line_without_what_a_terminal_obeys() -> None:
    assert show_text("a b\n\t\x1b[31m\u202e") == "a␣b\\n\\t\\x1b[31m\\u202e"
    assert show_text("│┃␣⟨") == "\\u2502\\u2503\\u2423\\u27e8"
    assert show_text("\\n") == "\\\\n"
    assert show_text("\u0301e\u0301") == "\\u0301e\u0301"
    assert show_text("中文 😀") == "中文␣😀"
    assert show_text(b"\xe4\xb8".decode("utf-8", "surrogateescape")) == "\\xe4\\xb8"


@given(text=st.text())
def test_what_is_shown_can_be_printed_and_read_back(text: str) -> None:
    seen = show_text(text)
    assert all(char.isprintable() for char in seen)
    assert " " not in seen
    escape = r"\\(?:x(..)|u(....)|U(.{8})|(.))"
    names_of = {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}

    def char_of(match: re.Match[str]) -> str:
        digits = match[1] or match[2] or match[3]
        return chr(int(digits, 16)) if digits else names_of[match[4]]

    assert re.sub(escape, char_of, seen.replace("␣", " ")) == text


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
        "--text: strategy auto, tokenizer huggingface:BPE; cut at 60 places (60 PAIR; "
    )
    assert "), shown: 7 seams between 8 chunks; the " in out
    assert "are the serial ones" in out
    assert RULES["PAIR"].split(":")[0] in out
    assert "Theorem 20: " in out
    assert "proofs/theorem-20.md" in out
    assert "and 4 more (--all shows them, --seam N one, --html FILE writes a page)" in out
    assert out.count("seam ") - out.count("the seam ") >= 3


def test_differing_ids_end_with_1_and_are_shown(run: Run) -> None:
    code, out, _ = run(*ONES, *PAPER)
    assert code == 1
    assert "the 133 ids are NOT the 134 serial ones, 1 difference" in out
    assert "seam 0 at code point 200 (line 1, column 201): no rule, ids differ" in out
    assert "⟦111⟧" in out
    assert "(111)" in out
    assert "code points 201 to 202 is lost" in out


def test_an_uncertified_seam_ends_with_1_even_if_the_ids_are_right(run: Run) -> None:
    options = ("--strategy", "delimiter", "--option", "delimiter=.", "--allow-approximate")
    code, out, _ = run("--text", "see it and f(x).. now", "--chunk-chars", 15, *options)
    assert "are the serial ones" in out
    assert "no rule, ids equal" in out
    assert code == 1


def test_differing_seams_come_first(run: Run) -> None:
    text = PROSE * 4 + " " * 40 + PROSE * 4
    options = ("--strategy", "delimiter", "--chunk-chars", 12, "--allow-approximate")
    out = run("--text", text, *options, "--all")[1]
    first, differ = out.index("ids equal"), out.rindex("ids differ")
    assert differ < first
    code, out, _ = run("--text", text, *options, "--json")
    got = json.loads(out)
    assert code == 1
    assert got["differing"]
    assert [seam["number"] for seam in got["seams"]] == list(range(got["seams_count"]))
    assert [seam["number"] for seam in got["seams"] if seam["differs"]] == got["differing"]


def test_one_seam_can_be_asked_for(run: Run) -> None:
    code, out, _ = run("--text", PROSE * 3, "--chunk-chars", 30, "--seam", 5)
    assert code == 0
    assert "seam 5 at" in out
    assert "seam 0" not in out
    assert "more (" not in out
    code, out, err = run("--text", PROSE * 3, "--chunk-chars", 30, "--seam", 7)
    assert (code, out) == (2, "")
    assert "there are 7 seams, numbered 0 to 6" in err
    assert "there are 0 seams" in run("--text", "a", "--seam", 0)[2]


def test_all_seams_can_be_shown(run: Run) -> None:
    out = run("--text", PROSE * 3, "--chunk-chars", 30, "--all")[1]
    assert [int(n) for n in re.findall(r"^seam (\d+) at", out, re.MULTILINE)] == list(range(7))


def test_json_holds_all_of_it(run: Run) -> None:
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


def test_text_comes_from_files_and_standard_input_too(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(PROSE * 2, encoding="utf-8")
    assert run(path, "--chunk-chars", 30)[1].startswith(f"{path}: ")
    assert run("-", "--chunk-chars", 30, stdin=PROSE.encode())[1].startswith("-: ")
    assert "one text, got 2" in run(path, path)[2]
    assert "not both" in run(path, "--text", "a")[2]


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


def test_colour_is_only_where_it_is_wanted(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ("--text", PROSE * 2, "--chunk-chars", 30)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    plain_out = run(*text)[1]
    assert "\x1b" not in plain_out
    coloured = run(*text, "--color", "always")[1]
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain_out
    assert "\x1b" not in run(*text, "--color", "never")[1]
    monkeypatch.setattr("tokpar_explain.command.sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[" in run(*text)[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in run(*text)[1]
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert "\x1b" not in run(*text)[1]


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


def test_many_seams_are_listed_and_the_worst_detailed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar_explain.page.MOST_DETAILED", 5)
    text = PROSE * 4 + " " * 40 + PROSE * 4
    traced = trace(text, strategy="delimiter", chunk_chars=12, allow_approximate=True)
    data = data_of(page_of(text, strategy="delimiter", chunk_chars=12, allow_approximate=True))
    assert len(data["seams"]) == len(traced.seams) > 5
    assert {int(n) for n in data["details"]} == set(traced.ordered()[:5])
    assert set(traced.differing) <= {int(n) for n in data["details"]}
