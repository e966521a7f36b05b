"""Files that the engine is given, and files that it is not given. Nothing is kept in a cache."""

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers
from tokpar_conformance import check_tokenizer

import tokpar
from tokpar.errors import EngineError, OptionError

pytest.importorskip("tokie", reason="the engine is not installed: tokpar-engines[tokie]")

PIECES = ["▁", "▁the", "the", "▁a", "an", "in", "ing", "st", "▁don", "'", "1", "12", "中", "文"]
LINE = "the ant didn't sing 12345 \u200d 中文 <x> e\u0301\n"


def saved(tmp_path, change=lambda tokenizer: None):
    """A small Unigram tokenizer behind Metaspace, the kind of file that tokie is offered for."""
    letters = [chr(c) for c in range(ord("a"), ord("z") + 1)]
    scores = [(piece, -1.0 - n / 8) for n, piece in enumerate([*PIECES, *letters])]
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), *dict(scores).items()], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    change(tokenizer)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    return path


@pytest.fixture(autouse=True)
def no_cache(monkeypatch):
    monkeypatch.setenv("TOKPAR_CACHE", "")


def test_tokie_conforms_and_gives_the_ids_of_tokenizers(tmp_path):
    path = saved(tmp_path)
    check_tokenizer(tokpar.load(path, engine="tokie"), tokpar.load(path))


def test_long_texts_and_short_ones_have_the_ids_of_tokenizers(tmp_path):
    path = saved(tmp_path)
    own = tokpar.load(path)
    with tokpar.Encoder(tokpar.load(path, engine="tokie")) as encoder:
        for text in ("", "a", LINE, LINE * 4000):
            encoding = encoder.encode(text)
            assert encoding == tokpar.encode(text, own).ids
            assert encoding.report.agreement.startswith("same ids as tokenizers ")
        assert encoder.encode_batch([LINE, "b"]) == [tokpar.encode(t, own) for t in (LINE, "b")]


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
