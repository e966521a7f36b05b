"""Files that the engine is given, and files that it is not given. Nothing is kept in a cache."""

from base64 import b64encode
from pathlib import Path

import pytest
from tokenizers import Regex, Tokenizer, models, pre_tokenizers, processors

import tokpar
from tokpar.errors import EngineError, OptionError

DEFAULT = Path(tokpar.__file__).parent / "data" / "default.json"
LINE = "naïve don't 12345 \u200d 中文 <x> e\u0301\n"


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("TOKPAR_CACHE", "")


def saved(tmp_path, tokenizer):
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


def ranks(tmp_path, name, token=b"ab"):
    """The 256 bytes and a token of two."""
    tokens = [*(bytes([byte]) for byte in range(256)), token]
    rows = (f"{b64encode(token).decode()} {rank}\n" for rank, token in enumerate(tokens))
    path = tmp_path / f"{name}.tiktoken"
    path.write_text("".join(rows))
    return path


def test_long_texts_and_short_ones_have_the_ids_of_tokenizers():
    with tokpar.Encoder(tokpar.load("default", engine="fastokens", trust=True)) as encoder:
        for text in ("", "a", LINE, LINE * 40_000, "a" * (1 << 20)):
            assert encoder.encode(text) == tokpar.encode(text).ids
        assert encoder.encode_batch([LINE, "", "b"]) == [tokpar.encode(t) for t in (LINE, "", "b")]


def test_special_tokens_truncation_and_padding_are_those_of_the_file(tmp_path):
    tokenizer = Tokenizer.from_file(str(DEFAULT))
    around = processors.TemplateProcessing("a $A b", None, [("a", 65), ("b", 66)])
    tokenizer.post_processor = around
    tokenizer.enable_truncation(6)
    tokenizer.enable_padding(length=8, pad_id=3)
    path = saved(tmp_path, tokenizer)
    for settings in ({}, {"add_special_tokens": False}):
        adapter = tokpar.load(path, engine="fastokens", trust=True, **settings)
        own = tokpar.load(path, **settings)
        for text in ("", "Hi", LINE):
            assert tokpar.encode(text, adapter) == tokpar.encode(text, own).ids


def test_the_report_tells_of_the_comparison():
    adapter = tokpar.load("default", engine="fastokens")
    encoding = tokpar.encode(LINE * 4000, adapter)
    assert encoding.report.agreement.startswith("same ids as tokenizers ")
    assert encoding.report.chunks == 1


def test_a_pattern_that_the_engine_reads_otherwise_is_refused_with_a_text(tmp_path):
    """tokenizers reads `{1,3}+` as a repetition of repetitions, fastokens as a possessive one."""
    split = pre_tokenizers.Split(Regex(r"\p{N}{1,3}+"), "isolated")
    byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    vocab = {c: n for n, c in enumerate([*sorted(byte_level.alphabet()), "11", "1111"])}
    tokenizer = Tokenizer(models.BPE(vocab, [("1", "1"), ("11", "11")]))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, byte_level])
    path = saved(tmp_path, tokenizer)
    with pytest.raises(EngineError) as error:
        tokpar.load(path, engine="fastokens")
    assert "text      '1111' (4 code points)" in str(error.value)
    assert "tokpar.load(" in str(error.value)
    trusted = tokpar.load(path, engine="fastokens", trust=True)
    assert trusted.facts.agreement == "trusted, not checked"


def test_a_model_that_the_engine_does_not_have_is_refused_in_its_words(tmp_path):
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("a", -1.0)], 0))
    with pytest.raises(EngineError, match=r"fastokens \S+ refuses .*Unigram.*tokpar\.load"):
        tokpar.load(saved(tmp_path, tokenizer), engine="fastokens")


def test_a_tiktoken_file_takes_the_settings_of_tiktoken(tmp_path):
    path = ranks(tmp_path, "o200k_base")
    text = "cab 12345 <|endoftext|> don't"
    with pytest.raises(ValueError, match="disallowed special token"):
        tokpar.encode(text, tokpar.load(path, engine="fastokens", trust=True))
    for settings in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        adapter = tokpar.load(path, engine="fastokens", **settings)
        own = tokpar.load(path, **settings)
        assert tokpar.encode(text, adapter) == tokpar.encode(text, own).ids


def test_one_character_with_other_ids_is_enough_to_be_refused(tmp_path):
    """With the pattern of cl100k_base, for fastokens 0.3.5 U+180E is white space."""
    path = ranks(tmp_path, "cl100k_base", b" \xe1")
    with pytest.raises(EngineError, match=r"text +' \\u180e"):
        tokpar.load(path, engine="fastokens")


def test_settings_that_there_are_not_are_named():
    with pytest.raises(OptionError, match="unknown setting 'allowed_special'; known: add_special"):
        tokpar.load("default", engine="fastokens", allowed_special="all")


def test_a_letter_that_folds_to_one_of_ascii_is_enough_to_be_refused(tmp_path):
    """With the pattern of o200k_base, for fastokens 0.3.5 U+017F is no s of a contraction."""
    path = ranks(tmp_path, "o200k_base", b"I'")
    with pytest.raises(EngineError, match=r"text .*I'\u017f"):
        tokpar.load(path, engine="fastokens")
