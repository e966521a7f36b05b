"""Ids, spans and settings are those of the library's own `encode`; bad input is refused."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tokpar_sentencepiece as plugin
from hypothesis import example, given
from hypothesis import strategies as st
from trained import LINES, SHAPES, SYMBOLS, model, processor

import tokpar

SPLIT = [shape for shape, (why, _) in SHAPES.items() if why is None]
LOSSLESS = [record.name for record in tokpar.strategies() if record.lossless]
SMALL = {"chunk_chars": 3, "overlap_chars": 2, "depth": 2}
MARKS = (" ", "  ", "▁", "\t", "\n", "\0", "½", "ﬁ", "e\u0301", "\u00a0", "\u3000", "\ufffd", "😀")
words = st.sampled_from((*" ".join(LINES).split(), *SYMBOLS, *MARKS, "<c>", "<s>", "<0x0A>"))
texts = (
    st.lists(words, max_size=20).map(" ".join)
    | st.lists(words | st.just(" "), max_size=40).map("".join)
    | st.text(max_size=40)
)


def small(strategy: str) -> dict[str, int]:
    (record,) = [each for each in tokpar.strategies() if each.name == strategy]
    return {name: SMALL[name] for name in SMALL if any(name in each for each in record.options)}


@pytest.mark.parametrize("shape", SHAPES)
@given(text=texts)
@example(text="")
@example(text="   ")
@example(text="▁")
@example(text="▁ ▁  the▁ x ▁")
@example(text="a \u0301b ab<x>c the the  the")
@example(text=" ".join(LINES))
@example(text="the d  sleeps on")
@example(text="the\u200b dog\u200b hello")  # some maps make a space of U+200B
@example(text="a" * 300 + " " + "a" * 300)
def test_every_lossless_strategy_and_a_stream_give_the_ids_of_the_library(
    shape: str, text: str
) -> None:
    expected = processor(shape).encode(text)
    for strategy in LOSSLESS:
        encoding = tokpar.encode(text, adapter(shape), strategy=strategy, **small(strategy))
        assert list(encoding) == expected, strategy
        assert tokpar.check(encoding, text, adapter(shape)).ok
    arriving = [text[place : place + 3] for place in range(0, len(text), 3)]
    streamed = [id_ for ids in tokpar.stream(arriving, adapter(shape)) for id_ in ids.tolist()]
    assert streamed == expected


@pytest.mark.parametrize("shape", SPLIT)
@given(text=texts)
@example(text="  the ½  dog")
def test_spans_are_the_same_however_the_text_was_split(shape: str, text: str) -> None:
    found = processor(shape).encode(text.encode(), return_type="offset_mapping")
    encoding = tokpar.encode(text, adapter(shape), strategy="cut", chunk_chars=2)
    assert [tuple(span) for span in encoding.spans.tolist()] == found["offsets"]


def adapter(shape: str, **settings: Any) -> Any:
    """One for all examples: facts are read once."""
    key = shape, *sorted(settings.items())
    if key not in _adapters:
        _adapters[key] = tokpar.load(processor(shape), **settings)
    return _adapters[key]


_adapters: dict[Any, Any] = {}


@pytest.mark.parametrize("shape", SPLIT)
def test_long_texts_are_split_where_that_is_proved(shape: str) -> None:
    text = " ".join(LINES * 6000)
    encoding = tokpar.encode(text, adapter(shape))
    assert len(encoding.seams) > 10
    assert encoding == processor(shape).encode(text)
    rule = "PAIR" if shape.startswith("no prefix") else "STAGE"  # theorem 4.8, or a prefix: 6.4
    assert {seam.rule for seam in encoding.seams} == {rule}
    assert tokpar.check(encoding, text, adapter(shape)).ok


OTHERS = sorted(shape for shape in SHAPES.keys() - set(SPLIT) if not shape.startswith("unigram"))


@pytest.mark.parametrize("shape", OTHERS)
def test_the_others_are_never_cut_and_the_report_says_why(shape: str) -> None:
    text = " ".join(LINES * 300)
    encoding = tokpar.encode(text, adapter(shape), executor="serial")
    assert encoding == processor(shape).encode(text)
    assert (encoding.report.plan, encoding.seams) == ("serial", ())
    assert SHAPES[shape][0] in encoding.report.why


@pytest.mark.parametrize(
    "keywords",
    [
        {"add_bos": True},
        {"add_eos": True},
        {"add_bos": True, "add_eos": True, "reverse": True},
        {"reverse": True},
    ],
)
def test_settings_are_those_of_the_library(keywords: dict[str, bool]) -> None:
    text = " ".join(LINES * 200)
    expected = processor("spaces kept").encode(text, **keywords)
    split = tokpar.encode(text, processor("spaces kept"), strategy="serial").ids
    assert list(split) != expected
    given_to_load = tokpar.load(processor("spaces kept"), **keywords)
    of_the_object = processor("spaces kept", **keywords)
    for tokenizer in (given_to_load, of_the_object):
        encoding = tokpar.encode(text, tokenizer, chunk_chars=50)
        assert list(encoding) == expected
        assert len(encoding.seams) > 10
        assert len(encoding.spans) == len(expected)
    streamed = tokpar.stream([text[:99], text[99:]], given_to_load)
    assert np.concatenate(list(streamed)).tolist() == expected


def test_sampling_is_never_split() -> None:
    tokenizer = tokpar.load(processor("spaces kept"), enable_sampling=True, alpha=0.5)
    encoding = tokpar.encode("the dog " * 2000, tokenizer)
    assert "sampling" in encoding.report.why
    assert tokenizer.decode(encoding.ids) == "the dog " * 2000


def test_a_file_is_its_model(tmp_path: Path) -> None:
    path = tmp_path / "x.model"
    path.write_bytes(model("spaces kept"))
    for tokenizer in (tokpar.load(path), tokpar.load(str(path), engine="sentencepiece")):
        assert tokpar.encode("hello dog", tokenizer) == processor("spaces kept").encode("hello dog")


@pytest.mark.parametrize("name", ["spiece.model", "tokenizer.model", "sentencepiece.bpe.model"])
def test_a_directory_with_a_model_alone_is_the_model(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(model("spaces kept"))
    (tmp_path / "spiece.vocab").write_text("<unk>\t0\n", encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"weights")
    (tmp_path / "README.md").write_text("a card", encoding="utf-8")
    for source in (tmp_path, str(tmp_path)):
        found = tokpar.encode("hello dog", tokpar.load(source))
        assert list(found) == processor("spaces kept").encode("hello dog")


@pytest.mark.parametrize("other", ["config.json", "tokenizer.json", "vocab.txt", "second.model"])
def test_a_directory_with_another_file_that_decides_ids_is_not_the_model(
    tmp_path: Path, other: str
) -> None:
    (tmp_path / "spiece.model").write_bytes(model("spaces kept"))
    (tmp_path / other).write_text("{}", encoding="utf-8")
    assert plugin.load(tmp_path) is None
    assert plugin.load(tmp_path / "spiece.model") is not None


def test_another_process_gets_the_model_itself() -> None:
    build, arguments = adapter("spaces kept").spec()
    again = build(**arguments)
    assert list(again.encode("hello dog")) == processor("spaces kept").encode("hello dog")
    text = " ".join(LINES * 30)
    parts = tokpar.encode(text, again, executor="processes", workers=2, chunk_chars=500)
    assert list(parts) == processor("spaces kept").encode(text)


@pytest.mark.parametrize(
    "content", [b"", b"hello world", b"\0" * 50, b"IQ== 0\nIg== 1\n", b"\x08\x80", b"\x0a\x7f"]
)
def test_a_file_that_is_no_model_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "tokenizer.model"
    path.write_bytes(content)
    with pytest.raises(tokpar.errors.FileFormatError, match=r"tokenizer\.model is no Sentence"):
        tokpar.load(path)


def test_a_missing_file_and_an_unknown_setting_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        tokpar.load(tmp_path / "none.model")
    with pytest.raises(tokpar.errors.OptionError, match="unknown setting 'add_special_tokens'"):
        tokpar.load(processor("spaces kept"), add_special_tokens=False)


def test_bos_is_refused_where_the_model_has_none() -> None:
    fake = SimpleNamespace(bos_id=lambda: -1, eos_id=lambda: 2)
    settings = dict.fromkeys(plugin.SETTINGS, False)
    with pytest.raises(tokpar.errors.OptionError, match="add_bos=True needs a model"):
        plugin.SentencePieceTokenizer(fake, settings | {"add_bos": True})


@pytest.mark.parametrize(
    ("package", "said"), [(None, "missing"), (SimpleNamespace(__version__="0.1.99"), "too old")]
)
def test_a_missing_or_old_package_is_told(
    package: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.model").write_bytes(model("spaces kept"))
    monkeypatch.setitem(sys.modules, "sentencepiece", package)
    with pytest.raises(tokpar.errors.OptionError, match=said):
        tokpar.load(tmp_path / "x.model")


def test_an_unused_piece_is_a_reason_not_to_split() -> None:
    pieces = (("<unk>", 2), ("▁", plugin.NORMAL), ("ab", plugin.UNUSED))
    bare = plugin.Model(plugin.BPE, pieces, "identity", False, True, False, True, False)
    assert "'ab' is unused" in str(plugin.objection(bare))
    without_space = plugin.Model(plugin.BPE, pieces[:1], "", False, True, False, True, False)
    assert "is no piece" in str(plugin.objection(without_space))
