"""What is learnt, and what goes straight to the engine: decided for each text by itself."""

from __future__ import annotations

import base64
import random
from dataclasses import asdict
from typing import Any

import pytest
import tiktoken
from tokenizers import Tokenizer
from tokpar.cache.cache_policy import CacheState

import tokpar
from tests.conftest import needs_kernel
from tests.support.paths import DEFAULT, VOCAB
from tests.support.seams import serial
from tests.support.tiktoken_parts import encoding
from tokpar.adapters.tiktoken_encodings import arguments_of

FILE = str(VOCAB / "deepseek_part.json")
ENGLISH = "The quick brown fox jumps over the lazy dog. " * 900
PARTS = ["deepseek_part", "bert_part"]


def drawn_words(draw: random.Random, count: int) -> str:
    """Words that no other text has."""
    return " ".join(base64.b64encode(draw.randbytes(9)).decode() for _ in range(count))


@needs_kernel
@pytest.mark.parametrize("name", PARTS)
def test_text_that_never_comes_again_does_not_make_known_text_unknown(name: str) -> None:
    """A document of new words between each two of English, in one call and one by one: what is
    known of English is the same as without them."""
    path = VOCAB / f"{name}.json"
    draw = random.Random(7)
    alone, mixed = [ENGLISH] * 6, [ENGLISH, drawn_words(draw, 1000)] * 6
    adapter: Any = tokpar.load(Tokenizer.from_file(str(path)))
    counts = []
    with tokpar.Encoder(adapter) as encoder:
        for _ in range(2):  # a segment is kept when it is met again
            encoder.encode(ENGLISH)
        for texts in (alone, mixed):
            for rows in (encoder.encode_batch(texts), map(encoder.encode, texts)):
                before = adapter._segment_cache.state.missed
                assert [row.ids.tolist() for row in rows] == [
                    adapter.encode_whole(text).tolist() for text in texts
                ]
                counts.append(adapter._segment_cache.state.missed - before)
    assert counts[0] == counts[1] == 0
    assert counts[3] <= counts[2] <= 2 * 6 * 1000


@pytest.mark.usefixtures("engine_only")
@needs_kernel
def test_known_rows_of_a_wave_are_divided_and_too_new_ones_are_not() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(FILE))
    draw = random.Random(8)
    memory = adapter._segment_cache
    texts = [ENGLISH, drawn_words(draw, 2000), ENGLISH[::2] + ENGLISH, drawn_words(draw, 2000)]
    _, divided = adapter.cached_rows(texts, 2)
    assert list(divided) == [True, False, True, False]
    assert memory.state.straight == sum(map(len, texts[1::2]))
    _, divided = adapter.cached_rows(texts[1::2], 2)
    assert not any(divided)
    assert memory.state.straight == 2 * sum(map(len, texts[1::2]))


def loaded_with(kind: str, **settings: Any) -> Any:
    if kind == "tiktoken":
        return tokpar.load(tiktoken.Encoding(**arguments_of(encoding())), **settings)
    return tokpar.load(FILE if kind == "file" else Tokenizer.from_file(FILE), **settings)


@needs_kernel
@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
def test_the_report_has_the_counters_that_the_pace_follows_from(kind: str) -> None:
    adapter = loaded_with(kind)
    with tokpar.Encoder(adapter) as encoder:
        first = encoder.encode(ENGLISH).report.cache
        assert first == encoder.tokenizer.counters  # type: ignore[attr-defined]
        assert first["looked"] == len(ENGLISH)
        assert first["segments"] > 8000
        assert first["missed"] > 0
        assert first["straight"] == 0
        [*_, second] = encoder.encode_batch([ENGLISH, "short", ENGLISH])
        assert second.report.cache["missed"] < first["missed"] + 10
        assert second.report.cache["looked"] > 3 * len(ENGLISH) - 100
        assert asdict(CacheState(**second.report.cache)) == second.report.cache
        assert encoder.encode("short").report.cache == {}


@needs_kernel
@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
def test_the_budget_of_the_memory_is_a_setting(kind: str) -> None:
    whole, small, without = (loaded_with(kind, cache_bytes=n) for n in (1 << 20, 1 << 16, 0))
    assert whole.has_segment_cache
    assert small.has_segment_cache
    assert not without.has_segment_cache
    assert without.counters == {}
    rows = [[*tokpar.Encoder(each).encode(ENGLISH)] for each in (whole, small, without)]
    assert rows[0] == rows[1] == rows[2] == whole.encode(ENGLISH).tolist()


@pytest.mark.parametrize("kind", ["file", "object", "tiktoken"])
@pytest.mark.parametrize("wrong", [-1, 1, (1 << 16) - 1, True, "1", None, 1e6])
def test_a_budget_that_cannot_be_kept_is_refused(kind: str, wrong: Any) -> None:
    with pytest.raises(tokpar.OptionError, match=r"cache_bytes must be 0, or 65,536 or more"):
        loaded_with(kind, cache_bytes=wrong)


@needs_kernel
def test_a_changed_tokenizer_keeps_its_budget() -> None:
    own = Tokenizer.from_file(str(DEFAULT))
    tokpar.load(own, cache_bytes=0)
    own.add_special_tokens(["<fox>"])
    encoder = tokpar.Encoder(tokpar.load(own, cache_bytes=0))
    assert [*encoder.encode(ENGLISH + "<fox>")] == serial(own, ENGLISH + "<fox>")
    assert not encoder.tokenizer.has_segment_cache  # type: ignore[attr-defined]
    assert not tokpar.load(own, cache_bytes=0).has_segment_cache  # type: ignore[attr-defined]
    assert tokpar.load(own).has_segment_cache  # type: ignore[attr-defined]


def test_an_unknown_setting_names_this_one_too() -> None:
    for kind in ("file", "tiktoken"):
        with pytest.raises(tokpar.OptionError, match=r"unknown setting 'memory'; .*cache_bytes"):
            loaded_with(kind, memory=1)
