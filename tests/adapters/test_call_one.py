"""The compiled call of tokenizers from 1.0 on; skipped beside another release of it."""

from __future__ import annotations

import copy
import json
import random
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import at_most, needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.file_formats import NAMES, sample, written
from tests.support.paths import DEFAULT, VOCAB
from tokpar.adapters import hf_one_call, hf_version

if hf_version.installed_release() < (1,):
    pytest.skip("needs tokenizers 1.x", allow_module_level=True)

from tokenizers import Tokenizer

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_kernel]
PARTS = ("bert_part", "deepseek_part", "llama_style", "metaspace_unigram")
FILES = {"default": DEFAULT, **{name: VOCAB / f"{name}.json" for name in PARTS}}
WORDS = [
    *ENGLISH.split()[:16],
    "中文",
    "é",
    "e\u0301",
    "▁",
    "x▁",
    "1234",
    "İ",
    "\u061d",
    "😀",
    "don't",
]


def draw_text(draw: random.Random, contents: list[str]) -> str:
    odd = [*contents, "", "\n", "\t", "\u3000", "\x00"]
    count = draw.choice([0, 1, 3, 12, 60])
    words = [draw.choice(WORDS if draw.random() < 0.9 else odd) for _ in range(count)]
    text = "".join(word + draw.choice([" "] * 9 + ["", "  "]) for word in words)
    return text.strip() if draw.random() < 0.7 else text


@pytest.mark.parametrize("name", FILES)
@at_most(20)
@given(seed=st.integers(0, 1 << 60))
def test_drawn_texts_have_the_engine_s_ids(name: str, seed: int) -> None:
    draw, own = random.Random(seed), Tokenizer.from_file(str(FILES[name]))
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    adapter: Any = encoder.tokenizer
    assert adapter.later_call.call.asks_engine
    contents = [token.content for token in adapter.facts.added_tokens][:9]
    texts = [draw_text(draw, contents) for _ in range(30)]
    expected = [own.encode(text).ids for text in texts]
    for _ in "12":
        assert [encoder.encode(text).ids.tolist() for text in texts] == expected
        assert [row.ids.tolist() for row in encoder.encode_batch(texts)] == expected
    assert encoder.report.texts["compiled"] > 0


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_either_format_has_the_engine_s_ids(name: str, tmp_path: Path) -> None:
    for version in ("one", "two"):
        own = Tokenizer.from_file(str(written(tmp_path, sample(name, version))))
        encoder = tokpar.Encoder(own)
        encoder.prepare()
        for text in (ENGLISH[:200], ENGLISH[:900], "a  b", " a ", "<｜x｜> a", "a\u061da \u061d b"):
            for _ in "12":
                assert encoder.encode(text).ids.tolist() == own.encode(text).ids


def test_what_is_known_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = tokpar.Encoder(Tokenizer.from_file(str(VOCAB / "llama_style.json")))
    encoder.prepare()
    text = ENGLISH.strip()
    ids = [encoder.encode(text).ids.tolist() for _ in range(3)]
    monkeypatch.setattr(hf_one_call.OneSegmentEngine, "_rows", None)
    monkeypatch.setattr(hf_one_call.OneSegmentEngine, "_whole_row", None)
    assert encoder.encode(text).ids.tolist() == ids[0] == ids[2]
    assert encoder.tokenizer.why_not_compiled == ""  # type: ignore[attr-defined]


def test_adapters_of_one_object_share_a_call() -> None:
    own = Tokenizer.from_file(str(DEFAULT))
    one, two = (tokpar.load(own) for _ in "12")
    assert one.later_call is two.later_call is not None  # type: ignore[attr-defined]
    other: Any = tokpar.load(own, cache_bytes=0)
    assert other.later_call is None
    assert "cache_bytes=0" in other.why_not_compiled


def test_a_flag_that_nothing_is_proved_of_leaves_texts_to_the_engine() -> None:
    config = copy.deepcopy(json.loads(DEFAULT.read_text(encoding="utf-8")))
    token = {"id": len(config["model"]["vocab"]), "content": "xyz", "special": False}
    token |= {"single_word": False, "lstrip": True, "rstrip": False, "normalized": False}
    config["added_tokens"].append(token)
    with tempfile.TemporaryDirectory() as folder:
        adapter: Any = tokpar.load(Tokenizer.from_file(str(written(Path(folder), config))))
    assert adapter.later_call is None
    assert "the flags of 'xyz'" in adapter.why_not_compiled


def test_threads_have_the_engine_s_ids() -> None:
    own = Tokenizer.from_file(str(FILES["metaspace_unigram"]))
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    texts = [ENGLISH[k : k + 37 * k % 2000] for k in range(200)]
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(encoder.encode, texts * 2)]
    assert [each.ids.tolist() for each in found] == [own.encode(text).ids for text in texts] * 2
