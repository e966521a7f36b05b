"""When texts go through a memory of stretches, and when straight to the engine."""

from __future__ import annotations

import base64
import random
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.seams import serial
from tests.test_adapter_tiktoken import encoding
from tokpar.kernel.pace import LARGEST_WAVE, LONGEST_PAUSE, MOST_NEW, SHORTEST_PAUSE, Pace

pytestmark = pytest.mark.pauses
WAVES = st.lists(st.tuples(st.integers(1, 1 << 20), st.floats(0, 1)), max_size=60)


@given(WAVES)
def test_what_follows_is_a_function_of_what_was_seen(waves: list[tuple[int, float]]) -> None:
    """Too much new: as many code points go straight as the pause says, which doubles; else none."""
    pace, paused = Pace(), 0
    for size, share in waves:
        before, (pace, straight) = pace, pace.next(size)
        assert straight == (before.left > 0)
        assert pace.straight - before.straight == size * straight
        if straight:
            paused += size
            continue
        looked, (pace, pays) = pace, pace.after(size, int(share * size), 9, 3)
        assert pays == (int(share * size) <= MOST_NEW * size)
        assert (pace.looked - looked.looked, pace.missed - looked.missed) == (size, 3)
        assert pace.pause == (SHORTEST_PAUSE if pays else min(2 * looked.pause, LONGEST_PAUSE))
        assert pace.left == (looked.left if pays else looked.pause)
        assert pace.wave <= LARGEST_WAVE
    assert pace.straight == paused


@needs_kernel
def test_text_that_never_comes_again_goes_straight_and_english_comes_back() -> None:
    path = Path(__file__).parent / "vocab" / "deepseek_part.json"
    adapter, own = tokpar.load(Tokenizer.from_file(str(path))), Tokenizer.from_file(str(path))
    drawing = random.Random(7)
    random_words = [
        " ".join(base64.b64encode(drawing.randbytes(9)).decode() for _ in range(2000))
        for _ in range(4)
    ]
    memory = adapter._memory
    with tokpar.Encoder(adapter) as encoder:
        for text in random_words:
            assert encoder.encode(text).ids.tolist() == serial(own, text)
        assert memory.pace.straight > 0
        assert memory.pace.left > 0
        memory.pace = Pace()
        english = "The quick brown fox jumps over the lazy dog. " * 900
        assert encoder.encode(english).ids.tolist() == serial(own, english)
        assert memory.pace.straight == 0
        assert memory.pace.stretches > 8000


FILE = str(Path(__file__).parent / "vocab" / "deepseek_part.json")
ENGLISH = "The quick brown fox jumps over the lazy dog. " * 900


def loaded_with(kind: str, **settings: Any) -> Any:
    if kind == "tiktoken":
        return tokpar.load(encoding(), **settings)
    return tokpar.load(FILE if kind == "file" else Tokenizer.from_file(FILE), **settings)


@needs_kernel
@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
def test_the_report_has_the_counters_that_the_pace_follows_from(kind: str) -> None:
    adapter = loaded_with(kind)
    with tokpar.Encoder(adapter) as encoder:
        first = encoder.encode(ENGLISH).report.memory
        assert first == encoder.tokenizer.counters  # type: ignore[attr-defined]
        assert first["looked"] == len(ENGLISH)
        assert first["stretches"] > 8000
        assert first["missed"] > 0
        assert first["straight"] == 0
        [*_, second] = encoder.encode_batch([ENGLISH, "short", ENGLISH])
        assert second.report.memory["missed"] < first["missed"] + 10
        assert second.report.memory["looked"] > 3 * len(ENGLISH) - 100
        again, straight = Pace(**second.report.memory).next(1)
        assert (asdict(again), straight) == (second.report.memory, False)
        assert encoder.encode("short").report.memory == {}


@needs_kernel
@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
def test_the_budget_of_the_memory_is_a_setting(kind: str) -> None:
    whole, small, without = (loaded_with(kind, memory_bytes=n) for n in (1 << 20, 1 << 16, 0))
    assert whole.remembers
    assert small.remembers
    assert not without.remembers
    assert without.counters == {}
    rows = [[*tokpar.Encoder(each).encode(ENGLISH)] for each in (whole, small, without)]
    assert rows[0] == rows[1] == rows[2] == whole.encode(ENGLISH).tolist()


@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
@pytest.mark.parametrize("wrong", [-1, 1, (1 << 16) - 1, True, "1", None, 1e6])
def test_a_budget_that_cannot_be_kept_is_refused(kind: str, wrong: Any) -> None:
    with pytest.raises(tokpar.OptionError, match=r"memory_bytes must be 0, or 65,536 or more"):
        loaded_with(kind, memory_bytes=wrong)


@needs_kernel
def test_a_changed_tokenizer_keeps_its_budget() -> None:
    own = Tokenizer.from_file(str(Path(tokpar.__file__).parent / "data" / "default.json"))
    encoder = tokpar.Encoder(tokpar.load(own, memory_bytes=0))
    own.add_special_tokens(["<fox>"])
    assert [*encoder.encode(ENGLISH + "<fox>")] == serial(own, ENGLISH + "<fox>")
    assert not encoder.tokenizer.remembers  # type: ignore[attr-defined]
    assert not tokpar.load(own, memory_bytes=0).remembers  # type: ignore[attr-defined]
    assert tokpar.load(own).remembers  # type: ignore[attr-defined]


def test_an_unknown_setting_names_this_one_too() -> None:
    for kind in ("file", "tiktoken"):
        with pytest.raises(tokpar.OptionError, match=r"unknown setting 'memory'; .*memory_bytes"):
            loaded_with(kind, memory=1)
