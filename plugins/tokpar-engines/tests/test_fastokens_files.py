"""Files that the engine is given, and files that it is not given. Nothing is kept in a cache."""

import re
from base64 import b64encode

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers
from tokpar_conformance import check_tokenizer

import tokpar
from tokpar.errors import EngineError
from tokpar.patterns.shipped_patterns import GPT2

pytest.importorskip("fastokens", reason="the engine is not installed: tokpar-engines[fastokens]")

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


def test_fastokens_conforms_and_gives_the_ids_of_tokenizers():
    check_tokenizer(tokpar.load("default", engine="fastokens"), tokpar.load("default"))


def test_long_texts_and_short_ones_have_the_ids_of_tokenizers():
    with tokpar.Encoder(tokpar.load("default", engine="fastokens", trust=True)) as encoder:
        for text in ("", "a", LINE, LINE * 40_000, "a" * (1 << 20)):
            assert encoder.encode(text) == tokpar.encode(text).ids
        assert encoder.encode_batch([LINE, "", "b"]) == [tokpar.encode(t) for t in (LINE, "", "b")]


def byte_level(pattern, tokens=(), merges=(), normalizer=None):
    """A Split, then bytes; the 256 bytes, some tokens and merges."""
    bytes_of = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    merged = [left + right for left, right in merges]
    vocab = {c: n for n, c in enumerate([*sorted(bytes_of.alphabet()), *merged, *tokens])}
    tokenizer = Tokenizer(models.BPE(vocab, merges))
    split = pre_tokenizers.Split(Regex(pattern), "isolated")
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([split, bytes_of])
    tokenizer.normalizer = normalizer
    return tokenizer


def characters(normalizer=None, without="", tokens=(), unk="<unk>"):
    """BPE over characters: those of ASCII, "▁" and three merges."""
    letters = [one for one in [*map(chr, range(9, 127)), "▁"] if one not in without]
    merges = [("a", "b"), ("▁", "a"), (" ", "a")]
    merged = [left + right for left, right in merges]
    vocab = {c: n for n, c in enumerate([*letters, *merged, *tokens, *([unk] if unk else [])])}
    tokenizer = Tokenizer(models.BPE(vocab, merges, unk_token=unk))
    tokenizer.normalizer = normalizer
    tokenizer.add_special_tokens(["<unk>"] * bool(unk))
    return tokenizer


def refused(tmp_path, tokenizer, text, said):
    """The file is refused in these words, and rightly: the text has other ids."""
    path = saved(tmp_path, tokenizer)
    with pytest.raises(EngineError, match=said) as error:
        tokpar.load(path, engine="fastokens")
    assert "tokpar.load(" in str(error.value)
    assert str(path) in str(error.value)
    from fastokens import Tokenizer as Engine

    assert Engine.from_json_str(tokenizer.to_str()).encode(text).ids != tokenizer.encode(text).ids


@pytest.mark.parametrize(("interval", "text"), [("{1,3}+", "1111"), ("{2}+", "1111")])
def test_a_possessive_interval_is_refused_whatever_the_vocabulary_is(tmp_path, interval, text):
    """tokenizers reads `{1,3}+` as a repetition of repetitions, fastokens as a possessive one."""
    said = rf"the pattern holds '{re.escape(interval)}', which tokenizers reads as a repetition"
    merges = [("1", "1"), ("11", "11")]
    refused(tmp_path, byte_level(rf"\p{{N}}{interval}", (), merges), text, said)
    path = saved(tmp_path, byte_level(rf"\p{{N}}{interval}"))
    with pytest.raises(EngineError, match=said):
        tokpar.load(path, engine="fastokens")
    trusted = tokpar.load(path, engine="fastokens", trust=True)
    assert trusted.traits.agreement == "trusted, not checked"


@pytest.mark.parametrize(("white", "text"), [("\u0120", "  \u180e"), ("\u010a", "\n\n\u180e")])
def test_white_space_before_what_the_engine_takes_for_more_of_it_is_refused(tmp_path, white, text):
    """The regex of GPT-2 as a Split: for fastokens 0.3.5 U+180E is white space."""
    tokenizer = byte_level(GPT2, (), [(white, white)])
    refused(tmp_path, tokenizer, text, r"does not give the ids of tokenizers (.|\n)*\\u180e")


def test_a_token_that_no_merge_makes_is_refused(tmp_path):
    """tokenizers looks for a normalized "<s>" as the normalizer leaves it: for "▁<s>"."""
    prefix = normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")])
    tokenizer = characters(prefix, "<>", ["<s>"])
    tokenizer.add_tokens([AddedToken("<s>", normalized=True)])
    refused(tmp_path, tokenizer, "aa<s>", r"no merge makes the token '<s>', but fastokens finds it")


def test_characters_that_nothing_stands_for_are_refused(tmp_path):
    said = "characters that are no tokens are left out and what stands around them is merged"
    refused(tmp_path, characters(unk=None), "a\xe9b", said)


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [
        (AddedToken("a", lstrip=True, normalized=False), AddedToken("\x0c"), "\x0c\x0ca"),
        (AddedToken("a", rstrip=True, normalized=False), AddedToken("\n"), "a\n"),
        (AddedToken("a", rstrip=True), AddedToken("\n", lstrip=True), "a\n"),
        (AddedToken("  ", lstrip=True, rstrip=True), AddedToken("b"), "    "),
    ],
)
def test_white_space_that_is_a_token_beside_one_that_strips_is_refused(
    tmp_path, first, second, text
):
    tokenizer = byte_level(GPT2)
    tokenizer.add_tokens([first, second])
    refused(tmp_path, tokenizer, text, "strip, but fastokens leaves the white space beside it to")


def test_normalized_tokens_that_overlap_others_are_refused(tmp_path):
    tokenizer = byte_level(GPT2)
    tokenizer.add_tokens([AddedToken("<s>", normalized=False), AddedToken("a<", normalized=True)])
    refused(tmp_path, tokenizer, "a<s>", "'a<' has normalized, but fastokens does not look for it")


def test_a_tiktoken_file_takes_the_settings_of_tiktoken(tmp_path):
    path = ranks(tmp_path, "o200k_base")
    text = "cab 12345 <|endoftext|> don't"
    with pytest.raises(ValueError, match="disallowed special token"):
        tokpar.encode(text, tokpar.load(path, engine="fastokens", trust=True))
    for settings in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        adapter = tokpar.load(path, engine="fastokens", **settings)
        own = tokpar.load(path, **settings)
        assert tokpar.encode(text, adapter) == tokpar.encode(text, own).ids


def test_a_letter_that_folds_to_one_of_ascii_is_enough_to_be_refused(tmp_path):
    """With the pattern of o200k_base, for fastokens 0.3.5 U+017F is no s of a contraction."""
    path = ranks(tmp_path, "o200k_base", b"I'")
    with pytest.raises(EngineError, match=r"text .*I'\u017f"):
        tokpar.load(path, engine="fastokens")
