"""Counts of texts by the way in which they were encoded; what a drop-in says after a mismatch."""

from __future__ import annotations

import logging
import random
import threading
from collections import Counter
from typing import Any

import pytest
import tiktoken

import tokpar
from tests.conftest import needs_kernel
from tests.support.paths import DATA
from tests.support.profiles import drawn
from tests.support.seams import part
from tokpar.errors import MismatchError
from tokpar.results.encoder_report import REASONS
from tokpar.results.text_counts import OF_DROP_INS, WAYS, TextCounts

pytestmark = [needs_kernel, pytest.mark.compiled_at_once]
WORDS = ("the", " quick", " brownfox", " 12345", "\n\n", "中文", " é")
LONG_WORD = " x" * 3000


def plain_hf() -> Any:
    """A tokenizer of transformers with an engine of its own."""
    transformers = pytest.importorskip("transformers", reason="the door is one of transformers")
    tokenizers = pytest.importorskip("tokenizers", reason="the engine is one of tokenizers")
    engine = tokenizers.Tokenizer.from_file(str(DATA / "default.json"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=engine)


def plain_tiktoken() -> tiktoken.Encoding:
    known = part("cl100k_part")
    return tiktoken.Encoding(
        "own",
        pat_str=known._pat_str,
        mergeable_ranks=known._mergeable_ranks,
        special_tokens=known._special_tokens,
    )


def own_ids(tokenizer: Any, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text)
    return found


DOORS = {"as_hf": plain_hf, "as_tiktoken": plain_tiktoken}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("seed", range(3))
def test_each_text_counts_once_in_one_way(door: str, seed: int) -> None:
    rng = random.Random(seed)
    plain = DOORS[door]()
    view = getattr(tokpar, door)(plain)
    before, texts = sum(OF_DROP_INS.by_way.values()), 0
    for _ in range(drawn(100)):
        count = rng.choice((1, 3))
        batch = ["".join(rng.choices(WORDS, k=rng.randrange(9))) for _ in range(count)]
        if rng.random() < 0.1:
            batch[0] += LONG_WORD
        if count == 1:
            assert own_ids(view, batch[0]) == own_ids(plain, batch[0])
        elif door == "as_tiktoken":
            assert view.encode_batch(batch) == plain.encode_batch(batch)
        else:
            assert view(batch)["input_ids"] == plain(batch)["input_ids"]
        texts += count
        assert sum(view.tokpar_texts.values()) == texts
        assert sum(view.tokpar_fallbacks.values()) == view.tokpar_texts["engine"]
        assert view.tokpar_fallbacks.keys() <= REASONS.keys()
    assert view.tokpar_texts["compiled"] > 0
    assert tuple(view.tokpar_texts) == WAYS
    assert sum(OF_DROP_INS.by_way.values()) == before + texts


def plant_mismatch(tokenizer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine has other ids for each word from now on, as far as the compiled call sees."""
    monkeypatch.setattr(tokenizer.later_call.call, "_tokenize", lambda word: [1, 2, 3])


@pytest.mark.parametrize("door", DOORS)
def test_a_mismatch_in_a_drop_in_is_logged_once_and_counted(
    door: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.SAMPLED", 1)
    plain = DOORS[door]()
    view = getattr(tokpar, door)(plain)
    state = view._tokpar if door == "as_tiktoken" else view._tokpar_state()
    tokenizer: Any = state.tokenizer if door == "as_tiktoken" else state.encoder().tokenizer
    assert own_ids(view, "a text") == own_ids(plain, "a text")
    assert view.tokpar_texts["compiled"] == 1
    plant_mismatch(tokenizer, monkeypatch)
    for text in ("zqxjv kwvzq", "qqxz jjvw", "xzzv qkj " * 900):
        assert own_ids(view, text) == own_ids(plain, text)
    (line,) = [each for each in caplog.records if each.name == "tokpar"]
    assert line.levelno == logging.ERROR
    said = line.getMessage()
    assert "the engine encodes all texts from now on: the engine has ids [1, 2, 3]" in said
    assert view.tokpar_texts["compiled"] == 1
    assert view.tokpar_fallbacks["mismatch"] >= 2
    assert view.tokpar_calls == 1 + view.tokpar_texts["cut"]
    assert tokenizer.why_not_compiled in said


def test_an_encoder_says_what_it_did(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.SAMPLED", 1)
    with tokpar.Encoder(DATA / "default.json") as encoder:
        encoder.encode("one")
        encoder.encode_batch(["two", "three"])
        list(encoder.encode_iter(["four"]))
        assert encoder.report.texts == {"compiled": 4, "cut": 0, "untrusted": 0, "engine": 0}
        assert encoder.report.why_not_compiled == ""
        plant_mismatch(encoder.tokenizer, monkeypatch)
        with pytest.raises(MismatchError):
            encoder.encode("zqxjv kwvzq")
        assert encoder.encode("zqxjv kwvzq").report.why_not_compiled
        assert encoder.report.fallbacks == {"mismatch": 1}
        assert "the engine has ids" in encoder.report.why_not_compiled
    assert sum(each.name == "tokpar" for each in caplog.records) == 1


@pytest.mark.parametrize(
    ("settings", "options", "reason"),
    [
        ({"cache_bytes": 0}, {}, "no_compiled_call"),
        ({}, {"strategy": "serial", "executor": "serial"}, "strategy"),
        ({}, {"executor": "serial"}, "strategy"),
    ],
)
def test_the_reason_of_a_text_that_the_engine_encoded_is_counted(
    settings: dict[str, Any], options: dict[str, Any], reason: str
) -> None:
    with tokpar.Encoder(tokpar.load(DATA / "default.json", **settings), **options) as encoder:
        encoder.encode("a text")
        encoder.encode_batch(["two", "texts"])
        assert encoder.report.fallbacks == {reason: 3}


def test_no_count_is_lost_between_threads() -> None:
    total = TextCounts()
    counts, each = TextCounts(total), 2000

    def work(seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(each):
            if rng.random() < 0.5:
                counts.one_compiled()
            else:
                counts.add({"cut": 2, "engine": 1}, "arguments")

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = Counter[str]()
    for seed in range(4):
        rng = random.Random(seed)
        halves = sum(rng.random() < 0.5 for _ in range(each))
        expected += Counter(compiled=halves, cut=2 * (each - halves), engine=each - halves)
    for found in (counts, total):
        assert +Counter(found.by_way) == expected
        assert found.fallbacks == {"arguments": expected["engine"]}
