"""When texts go through a memory of stretches, and when straight to the engine."""

from __future__ import annotations

import base64
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.seams import serial
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
