"""Files that the engine is given, and files that it is not given. Nothing is kept in a cache."""

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors
from tokie_unigram import saved

import tokpar
from tokpar.errors import EngineError, OptionError

LINE = "the ant didn't sing 12345 \u200d 中文 <x> e\u0301\n"


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("TOKPAR_CACHE", "")


def test_long_texts_and_short_ones_have_the_ids_of_tokenizers(tmp_path):
    path = saved(tmp_path)
    own = tokpar.load(path)
    with tokpar.Encoder(tokpar.load(path, engine="tokie")) as encoder:
        for text in ("", "a", LINE, LINE * 4000):
            encoding = encoder.encode(text)
            assert encoding == tokpar.encode(text, own).ids
            assert encoding.report.agreement.startswith("same ids as tokenizers ")
        assert encoder.encode_batch([LINE, "b"]) == [tokpar.encode(t, own) for t in (LINE, "b")]


def test_special_tokens_truncation_and_padding_are_those_of_the_file(tmp_path):
    def change(tokenizer):
        around = processors.TemplateProcessing("a $A in", None, [("a", 16), ("in", 6)])
        tokenizer.post_processor = around
        tokenizer.enable_truncation(6)
        tokenizer.enable_padding(length=8, pad_id=3)

    path = saved(tmp_path, change)
    for settings in ({}, {"add_special_tokens": False}):
        adapter = tokpar.load(path, engine="tokie", trust=True, **settings)
        own = tokpar.load(path, **settings)
        for text in ("", "the", LINE):
            assert tokpar.encode(text, adapter) == tokpar.encode(text, own).ids


def test_single_word_is_refused_with_its_token(tmp_path):
    def change(tokenizer):
        tokenizer.add_tokens([AddedToken("<x>", single_word=True)])

    with pytest.raises(EngineError, match=r"'<x>' has single_word, but tokie .*tokpar\.load"):
        tokpar.load(saved(tmp_path, change), engine="tokie")


def test_byte_level_bpe_with_other_ids_is_refused_with_a_text():
    with pytest.raises(EngineError, match=r"does not give the ids of tokenizers (.|\n)*trust=True"):
        tokpar.load("default", engine="tokie")


def test_wordpiece_with_other_ids_is_refused_with_a_text(tmp_path):
    vocab = {token: n for n, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "a", "##b", "1"])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.save(str(tmp_path / "bert.json"))
    with pytest.raises(EngineError, match="does not give the ids of tokenizers"):
        tokpar.load(tmp_path / "bert.json", engine="tokie")


def test_divisions_with_one_score_are_refused_with_their_tokens(tmp_path):
    """ "l", "ll" is as good for "lll" as "ll", "l"; each library takes one as it rounds."""

    def change(tokenizer):
        scores = [("<unk>", -20.0), ("▁", -2.0), ("l", -3.3), ("ll", -4.4)]
        tokenizer.model = models.Unigram(scores, 0)

    with pytest.raises(EngineError, match=r"runs with the tokens 'l' and 'll' have several"):
        tokpar.load(saved(tmp_path, change), engine="tokie")


def test_files_of_other_kinds_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"engine 'tokie' reads tokenizer\.json files, got"):
        tokpar.load(tmp_path / "cl100k_base.tiktoken", engine="tokie")
