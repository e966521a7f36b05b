"""The compiled call has the ids of the library's own `encode`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
import tokpar_sentencepiece as plugin
from drawn_models import drawn_merges, drawn_model, drawn_texts, processor_of, serialized
from tokpar_sentencepiece.model_file import read_kind, read_path_model
from trained import LINES, SHAPES, model, processor

import tokpar
from tests.support.profiles import drawn
from tokpar.compiled import compiled_build
from tokpar.process import kernel_modules

pytestmark = pytest.mark.skipif(
    kernel_modules.CALL is None or plugin.library().__version__ not in plugin.COMPARED,
    reason="no compiled call of this version",
)
SHOWN = [shape for shape in SHAPES if shape not in ("word", "spaces kept, control symbols")]
NAMES = ("unigram, nmt_nfkc", "nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_build, "IN_BACKGROUND", False)


def call_of(tokenizer: Any) -> Any:
    later = tokenizer.later_call
    assert later is not None, tokenizer.why_not_compiled
    assert later.call is not None, later.why_none
    return later.call


@pytest.mark.parametrize("draw_one", [drawn_model, drawn_merges])
def test_drawn_models_have_the_ids_of_the_library(draw_one: Any) -> None:
    maps = [b""] * 6 + [read_path_model(model(name)).charsmap for name in NAMES]
    draw, compared, refused = random.Random(7), 0, 0
    for _ in range(drawn(400)):
        alphabet, pieces, data = draw_one(draw, maps)
        try:
            own = processor_of(data)
        except RuntimeError:  # a score that is no number, or a prefix that two symbols share
            refused += 1
            continue
        call = call_of(tokpar.load(own))
        for text in drawn_texts(draw, alphabet, pieces):
            found = call.encode_plain(text)
            assert found is not None
            assert found.tolist() == own.encode(text), (text, pieces)
            compared += 1
    assert compared > 40 * refused


@pytest.mark.parametrize("shape", SHOWN)
def test_an_encoder_takes_the_compiled_call_for_texts_of_every_length(shape: str) -> None:
    own, encoder = processor(shape), tokpar.Encoder(processor(shape))
    encoder.prepare()
    for text in (*LINES, "", "  ▁ x▁▁the ", "ﬁ½ the\u3000dog\u200b", " ".join(LINES * 500)):
        found = encoder.encode(text)
        assert found == own.encode(text)
        assert found.report.executor == "memo"
    batch = encoder.encode_batch([*LINES, "", "the dog"])
    assert [list(row) for row in batch] == own.encode([*LINES, "", "the dog"])
    pieces = [(p, s) for p, s in zip(*own_offsets(own, LINES[3]), strict=True)]
    assert [*zip(list(encoder.encode(LINES[3])), spans(encoder, LINES[3]), strict=True)] == pieces


def own_offsets(own: Any, text: str) -> tuple[list[int], list[tuple[int, int]]]:
    found = own.encode(text.encode(), return_type="offset_mapping")
    return found["ids"], [*map(tuple, found["offsets"])]


def spans(encoder: tokpar.Encoder, text: str) -> list[tuple[int, ...]]:
    return [tuple(span) for span in encoder.encode(text).spans.tolist()]


@pytest.mark.parametrize(
    "settings",
    [{"add_bos": True, "add_eos": True}, {"reverse": True}, {"add_bos": True, "reverse": True}],
)
def test_settings_are_those_of_the_library(settings: dict[str, bool]) -> None:
    tokenizer = tokpar.load(processor("unigram"), **settings)
    call_of(tokenizer)
    found = tokpar.Encoder(tokenizer).encode("the lazy dog")
    assert list(found) == processor("unigram").encode("the lazy dog", **settings)
    assert found.report.executor == "memo"


def test_who_has_no_compiled_call_is_told_why(monkeypatch: pytest.MonkeyPatch) -> None:
    sampled = tokpar.load(processor("unigram"), enable_sampling=True, alpha=0.5)
    assert "draws pieces" in sampled.why_not_compiled
    assert "no such model" in tokpar.load(processor("word")).why_not_compiled
    controls = tokpar.load(processor("spaces kept, control symbols"))
    assert controls.later_call.wait() is None
    assert "its piece b'b' is a character" in controls.why_not_compiled
    monkeypatch.setattr(plugin, "COMPARED", ("0.2.1",))
    other = tokpar.load(processor("unigram"))
    assert "was not compared; 0.2.1 was" in other.why_not_compiled
    assert other.later_call is None
    assert tokpar.encode("the dog", other) == processor("unigram").encode("the dog")


def test_tables_on_disk_are_those_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    data = processor("unigram, nmt_nfkc")
    call_of(tokpar.load(data))
    monkeypatch.setattr("tokpar.compiled.path_tables.path_arrays", None)
    again = tokpar.load(data)
    assert call_of(again).encode_plain("the dog").tolist() == data.encode("the dog")
    assert again.later_call.tables.startswith("read from")


def test_the_kind_of_a_model_is_read_without_its_pieces() -> None:
    for shape in SHAPES:
        assert read_kind(model(shape)) == plugin.read_model(model(shape)).kind
    many = [(f"piece {k} " + "x" * (k % 300), 0.0, 1) for k in range(1000)]
    assert read_kind(serialized(many, [False] * 4)) == plugin.UNIGRAM
    with pytest.raises(ValueError, match="no protocol buffer"):
        read_kind(b"\x0a\x02ab\x12\xff")


def test_a_lone_surrogate_is_the_library_s_error() -> None:
    encoder = tokpar.Encoder(processor("unigram"))
    with pytest.raises(RuntimeError, match="cast"):
        encoder.encode("the \ud800 dog")
