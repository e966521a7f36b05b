"""`python -m tests.benchmarks.kinds` on small texts and parts of vocabularies."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tokpar
from tests.benchmarks import kinds, kinds_rows
from tests.benchmarks.kinds_rows import OURS, Row, calls_of, measured, mixed, subject_of
from tests.benchmarks.kinds_tables import markdown
from tests.benchmarks.kinds_texts import KINDS, Sources, Text
from tests.benchmarks.machine import provenance
from tests.benchmarks.parity import DifferError, same_ids
from tests.benchmarks.speed_engines import Many, Own, Subject
from tests.support.paths import VOCAB

ENGLISH = "The quick brown fox jumps over the lazy dog, 12345 times.\n\n"
CHINESE = "在一个名为维里埃的小镇上，市长因其外表和家族历史受到尊敬。\n"
SOURCES = Sources(ENGLISH * 600, CHINESE * 300, "import this\n" * 900, 8_000)
TEXT = Text("English", [ENGLISH * 100])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a run with two tokenizers."""
    monkeypatch.setattr(kinds, "standard_library", lambda: "import this\n" * 900)
    monkeypatch.setattr(kinds, "LEAST_SIZE", 1)
    cl100k = tmp_path / "cl100k_base.tiktoken"
    shutil.copy(VOCAB / "cl100k_part.tiktoken", cl100k)
    english, chinese = tmp_path / "english.txt", tmp_path / "chinese.jsonl"
    english.write_text(SOURCES.english, encoding="utf-8")
    chinese.write_text(json.dumps({"text": SOURCES.chinese}) + "\n", encoding="utf-8")
    tokenizers = ["--tokenizer", str(VOCAB / "deepseek_part.json"), "--tokenizer", str(cl100k)]
    texts = ["--english", str(english), "--chinese", str(chinese)]
    return [*tokenizers, *texts, "--size", "8000", "--turns", "2", "--engines", ""]


@pytest.fixture
def subject(tmp_path: Path) -> Subject:
    return subject_of(VOCAB / "bert_part.json", tmp_path)


def other_engine(subject: Subject, change: Callable[[Any], Any]) -> dict[str, Callable[[], Own]]:
    """The own call of the subject as if it were tokie's, its ids changed."""

    def new() -> Own:
        call = subject.own().one["encode"]
        return Own({"encode_batch_flat": lambda text: change(call(text))}, {})

    return {"tokie": new}


def ours_with_one_other_id(at: int) -> Callable[[Subject, bool], Many]:
    """tokpar's calls; in each object's call number `at`, from 0 on, the last id is another one."""
    right = kinds_rows.ours

    def ours(subject: Subject, is_batch: bool) -> Many:
        many = right(subject, is_batch)
        calls = 0

        def rows(result: Any) -> list[Any]:
            nonlocal calls
            found = [ids.copy() for ids in many.rows(result)]
            if calls == at:
                found[-1][-1] += 1
            calls += 1
            return found

        return Many(many.call, rows)

    return ours


def test_a_run_prints_every_row_and_column(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert kinds.main([*files, "--turns", "1"]) == 0
    printed = capsys.readouterr()
    speeds, ratios, others = printed.out.split("\n\n")[1:4]
    assert "| own call | tokpar first | tokpar second half | tokpar seen |" in speeds
    for table in (speeds, ratios):
        lines = table.strip().splitlines()[2:]
        assert len(lines) == 2 * 10
        for kind in (*KINDS, "chat with special tokens", "16 documents of 2,000"):
            assert sum(f"| {kind} " in line for line in lines) == 2, kind
        assert {line.count("|") for line in lines} == {8}
    assert "-" not in {cell.strip() for cell in speeds.split("|")}
    assert [line.split("|")[2].strip() for line in others.strip().splitlines()[2:]] == 2 * [
        "mixed traffic, 1 English and 1 Chinese documents, ratio",
        "loading, s",
    ]
    assert "cl100k_base, tiktoken, loading: 100%" in printed.err


def test_only_the_kinds_that_are_asked_for_are_measured(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert kinds.main([*files, "--kinds", "HTML,loading", "--turns", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed.count("| HTML |") == 4
    assert printed.count("| loading, s |") == 2
    assert "English" not in printed


@pytest.mark.parametrize("kind", ["HTML", "documents", "short texts", "mixed traffic"])
def test_a_difference_stops_the_run(
    kind: str,
    files: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(kinds_rows, "ours", ours_with_one_other_id(0))
    assert kinds.main([*files, "--kinds", f"{kind},loading"]) == 1
    printed = capsys.readouterr()
    assert "error: deepseek_part, Hugging Face" in printed.err
    assert "the ids of tokpar differ from those of the own serial call" in printed.err
    assert printed.out == ""


@pytest.mark.parametrize("call", [0, 1, 2, 3])
def test_each_call_is_compared(
    call: int, subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kinds_rows, "ours", ours_with_one_other_id(call))
    with pytest.raises(DifferError, match="the ids of tokpar differ"):
        measured(subject, {}, TEXT, 1, lambda: None)


def test_the_second_half_is_compared(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the calls of the whole text are right."""
    right, made = kinds_rows.ours, 0
    wrong = ours_with_one_other_id(0)

    def ours(subject: Subject, is_batch: bool) -> Many:
        nonlocal made
        made += 1
        return (right if made == 1 else wrong)(subject, is_batch)

    monkeypatch.setattr(kinds_rows, "ours", ours)
    with pytest.raises(DifferError):
        measured(subject, {}, TEXT, 1, lambda: None)
    assert made == 2


def test_tokpar_may_not_leave_out_special_tokens(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = kinds_rows.ours

    def ours(subject: Subject, is_batch: bool) -> Many:
        many = right(subject, is_batch)
        return Many(many.call, lambda result: [ids[1:-1] for ids in many.rows(result)])

    monkeypatch.setattr(kinds_rows, "ours", ours)
    with pytest.raises(DifferError):
        measured(subject, {}, TEXT, 1, lambda: None)


def test_documents_of_mixed_traffic_are_compared_with_both_languages(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six passes of the English document, then English and Chinese."""
    pairs = SOURCES.mixed()
    assert len(pairs) == 1
    for call in (0, 6, 7):
        monkeypatch.undo()
        monkeypatch.setattr(kinds_rows, "ours", ours_with_one_other_id(call))
        with pytest.raises(DifferError):
            mixed(subject, {}, pairs, 1, lambda: None)
    monkeypatch.undo()
    assert len(mixed(subject, {}, pairs, 2, lambda: None).values[OURS, "seen"]) == 2


def test_a_certificate_that_does_not_hold_stops_the_run(
    subject: Subject, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = tokpar.check
    monkeypatch.setattr(tokpar, "check", lambda e, text, adapter: right(e, text[1:], adapter))
    with pytest.raises(DifferError, match="bert_part, Hugging Face, English"):
        measured(subject, {}, TEXT, 1, lambda: None)


def test_a_new_object_whose_cache_is_not_empty_is_refused(subject: Subject) -> None:
    alive = kinds_rows.ours(subject, False)
    alive.call(["the quick brown fox " * 1000])
    if tokpar.kernel_modules.SEGMENTS is not None:
        with pytest.raises(RuntimeError, match="the cache of a new object has seen text"):
            kinds_rows.ours(subject, False)
    del alive
    kinds_rows.ours(subject, False)


def test_the_table_says_where_another_engine_has_other_ids(subject: Subject) -> None:
    def table(change: Callable[[Any], Any]) -> tuple[Row, str]:
        row = measured(subject, other_engine(subject, change), TEXT, 2, lambda: None)
        return row, markdown([row], [], ["tokie"], provenance([]))

    def fail(ids: Any) -> Any:
        raise ValueError("no | such\ntext")

    for same in (lambda ids: ids, lambda ids: ids[1:-1]):  # without [CLS] and [SEP]
        row, printed = table(same)
        assert len(row.values["tokie", "seen"]) == 2
        assert "other ids" not in printed
    row, printed = table(lambda ids: ids[2:])
    assert printed.count(", other ids |") == 2
    row, printed = table(fail)
    assert ("tokie", "first") not in row.values
    assert "tokie fails: ValueError: no / such text" in printed


def test_ids_without_special_tokens_are_the_same_only_where_these_are_allowed_to_be_left_out() -> (
    None
):
    one, two, special = (np.array(ids) for ids in ([1, 5, 2], [5], [1, 2]))
    assert same_ids([one], [one])
    assert same_ids([one], [two], special)
    assert not same_ids([one], [two])
    assert not same_ids([one, one], [one], special)
    assert not same_ids([one], [two], np.array([1, 3]))


def test_texts_have_the_asked_size_and_are_drawn_alike_each_time() -> None:
    special = ["<a>", "<b>"]
    texts = {text.kind: text for text in SOURCES.texts(kinds.ALL_KINDS, special)}
    again = {text.kind: text for text in SOURCES.texts(kinds.ALL_KINDS, special)}
    assert texts == again
    for kind in KINDS:
        assert 7_990 <= texts[kind].bytes <= 8_000, kind
    assert len({texts[kind].texts[0] for kind in KINDS}) == len(KINDS)
    assert all(isinstance(json.loads(line), dict) for line in _lines(texts["JSON lines"])[:-1])
    assert all(line.count('"') == 6 for line in _lines(texts["access logs"])[:-1])
    assert "".join(texts["documents"].texts)[:8_000] == SOURCES.english[:8_000]
    assert "".join(texts["short texts"].texts) == texts["English"].texts[0]
    chat = texts["chat with special tokens"].texts[0]
    assert chat.count("<a>") == chat.count("<b>") == 2
    assert "chat with special tokens" not in {text.kind for text in SOURCES.texts(KINDS, [])}


def test_a_text_is_cut_into_halves() -> None:
    assert [half.texts for half in Text("x", ["abcd"]).halves()] == [["ab"], ["cd"]]
    first, second = Text("x", ["a", "b", "c"], is_batch=True).halves()
    assert (first.texts, second.texts, second.is_batch) == (["a"], ["b", "c"], True)


def test_one_by_one_is_one_call_for_each_text() -> None:
    seen: list[str] = []
    own = Own({"encode": lambda text: seen.append(text) or np.zeros(1)}, {})
    calls_of(lambda: own, "encode", False).call(["a", "b"])
    assert seen == ["a", "b"]


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (["--kinds", "English,nope"], "--kinds: got nope; there are English,"),
        (["--engines", "nope"], "--engines: got nope"),
        (["--turns", "0"], "--turns at least 1"),
        (["--size", "0"], "--size must be at least"),
        (["--code", "/no/such/file"], "there is no file /no/such/file"),
    ],
)
def test_wrong_arguments_are_refused(
    files: list[str], wrong: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        kinds.main([*files, *wrong])
    assert named in capsys.readouterr().err


def _lines(text: Text) -> list[str]:
    return text.texts[0].splitlines()
