"""Files that the engine is given, and files that it is not given. Nothing is kept in a cache."""

from pathlib import Path

import pytest
from tokenizers import AddedToken, Tokenizer, normalizers
from tokpar_conformance import check_tokenizer
from tokpar_engines.gigatoken_engine import LONG, is_divided

import tokpar
from tokpar.errors import EngineError, OptionError
from tokpar.formats.openai import KNOWN_ENCODINGS

DEFAULT = Path(tokpar.__file__).parent / "data" / "default.json"
LINE = "naïve don't 12345 \u200d 中文 <x> e\u0301\n"


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("TOKPAR_CACHE", "")


def saved(tmp_path, change):
    tokenizer = Tokenizer.from_file(str(DEFAULT))
    change(tokenizer)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def ranks(tmp_path, name="cl100k_base"):
    """The 256 bytes and a token of two."""
    from base64 import b64encode

    tokens = [*(bytes([byte]) for byte in range(256)), b"ab"]
    rows = (f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))
    path = tmp_path / f"{name}.tiktoken"
    path.write_text("".join(rows))
    return path


def test_gigatoken_conforms_and_gives_the_ids_of_tokenizers():
    check_tokenizer(tokpar.load("default", engine="gigatoken"), tokpar.load("default"))


def test_long_texts_and_short_ones_have_the_ids_of_tokenizers():
    with tokpar.Encoder(tokpar.load("default", engine="gigatoken", trust=True)) as encoder:
        for text in ("", "a", LINE, LINE * 70_000, "a" * (1 << 20)):
            assert encoder.encode(text) == tokpar.encode(text).ids
        assert encoder.encode_batch([LINE, "", "b"]) == [tokpar.encode(t) for t in (LINE, "", "b")]


def test_the_batch_call_gets_texts_that_it_divides():
    assert is_divided(LINE * 70_000), "2.7 MB with spaces"
    assert is_divided("中文 " * (LONG // 7 + 1))
    assert not is_divided("")
    assert not is_divided(LINE * 40_000), "too short"
    assert not is_divided("word" * LONG), "no space to divide it at"
    assert is_divided("\ud800 " * LONG), "a lone surrogate is the engine's matter"


def test_our_cuts_are_licensed_by_the_comparison_if_asked_for():
    adapter = tokpar.load("default", engine="gigatoken", cut=True)
    encoding = tokpar.encode(LINE * 4000, adapter, executor="native", chunk_chars=20_000)
    assert len(encoding.seams) > 3
    assert encoding == adapter.encode(LINE * 4000)
    assert tokpar.check(encoding, LINE * 4000, adapter).ok


@pytest.mark.parametrize(
    ("flag", "normalizer"), [("single_word", None), ("normalized", normalizers.NFC())]
)
def test_a_flag_that_the_engine_does_not_honour_is_refused(tmp_path, flag, normalizer):
    def change(tokenizer):
        if normalizer is not None:
            tokenizer.normalizer = normalizer
        tokenizer.add_tokens([AddedToken("<x>", **{"normalized": False, flag: True})])

    path = saved(tmp_path, change)
    with pytest.raises(EngineError, match=f"'<x>' has {flag}, but gigatoken .*tokpar.load"):
        tokpar.load(path, engine="gigatoken")


def test_marks_that_are_put_in_another_order_are_enough_to_be_refused(tmp_path):
    def change(tokenizer):
        tokenizer.normalizer = normalizers.NFC()

    path = saved(tmp_path, change)
    text = "\u0eb9\u0eba"
    trusted = tokpar.load(path, engine="gigatoken", trust=True)
    assert trusted.encode(text).tolist() != tokpar.load(path).encode(text).tolist()
    with pytest.raises(EngineError, match="does not give the ids of tokenizers"):
        tokpar.load(path, engine="gigatoken")


@pytest.mark.parametrize("name", ["r50k_base", "o200k_base"])
def test_other_patterns_have_scanners(tmp_path, name):
    adapter = tokpar.load(ranks(tmp_path, name), engine="gigatoken")
    assert adapter.traits.agreement.startswith("same ids as tiktoken ")


def test_a_pattern_without_a_scanner_is_refused(tmp_path):
    settings = {"pat_str": r"\s+|\S+", "special_tokens": {}}
    with pytest.raises(OptionError, match="gigatoken has scanners for the patterns of r50k_base"):
        tokpar.load(ranks(tmp_path), engine="gigatoken", **settings)
    assert KNOWN_ENCODINGS["cl100k_base"].pattern not in settings.values()
