"""Real shapes of rows of stages, and what theorem 50 says of each."""

from __future__ import annotations

from typing import Any

from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from tests.support.charsmaps import NMT_LIKE, charsmap
from tests.support.seams import serial
from tests.support.stages_drawn import byte_bpe, shaped
from tests.support.tokenizers_drawn import is_panic

MARKS = normalizers.Replace(" ", "▁")
TABLE = normalizers.Precompiled(NMT_LIKE)
RUNS = normalizers.Replace(Regex(" {2,}"), "▁")
WORDS = ["[UNK]", "a", "b", "##a", "##b", "ab", "▁a", "▁b", "▁ab", " ", "▁", "▁▁", ".", "1", "aa"]


def unigram() -> Any:
    return models.Unigram([("<unk>", 0.0), *((w, -1.0 - i / 7) for i, w in enumerate(WORDS))], 0)


def word_level() -> Any:
    words = [*WORDS, "a b", " a", " b", "a ", "a▁", "a▁b", "é", "e", "x", "_a"]
    return models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]")


def ids_or_none(tokenizer: Tokenizer, text: str) -> list[int] | None:
    """The engine's own ids; None where it panics."""
    try:
        return serial(tokenizer, text)
    except BaseException as error:
        if is_panic(error):
            return None
        raise


T5 = shaped(unigram(), [TABLE], [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
SHAPES = {
    "gemma": shaped(byte_bpe([(">", "▁"), ("▁", "a"), ("▁", "▁"), ("a", "b")]), [MARKS]),
    "gemma, Split": shaped(
        byte_bpe([("▁", "a")]), [MARKS], [pre_tokenizers.Split(" ", "merged_with_previous")]
    ),
    "llama, Metaspace": shaped(
        byte_bpe([("▁", "a")]), [], [pre_tokenizers.Metaspace("▁", "first", split=False)]
    ),
    "t5": T5,
    "t5, runs": shaped(
        unigram(), [TABLE, normalizers.Strip(left=False), RUNS], [pre_tokenizers.Metaspace()]
    ),
    "albert": shaped(
        unigram(),
        [
            normalizers.Replace("``", '"'),
            normalizers.NFKD(),
            normalizers.StripAccents(),
            normalizers.Lowercase(),
            normalizers.Precompiled(charsmap({"ﬁ": "fi", "\u3000": " "})),
        ],
        [pre_tokenizers.Metaspace()],
    ),
    "falcon": shaped(
        byte_bpe([("Ġ", "a")]),
        [],
        [
            pre_tokenizers.Punctuation("contiguous"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            pre_tokenizers.Digits(individual_digits=False),
            pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
        ],
    ),
    "starcoder": shaped(
        byte_bpe([("Ġ", "a")]),
        [],
        [pre_tokenizers.Digits(True), pre_tokenizers.ByteLevel(add_prefix_space=False)],
    ),
    "bert without normalizer": shaped(word_level(), [], [pre_tokenizers.BertPreTokenizer()]),
    "whitespace, NFKC": shaped(word_level(), [normalizers.NFKC()], [pre_tokenizers.Whitespace()]),
    "clip": shaped(
        byte_bpe([], end_of_word_suffix="</w>", byte_fallback=False),
        [normalizers.NFC(), normalizers.Replace("\t", " "), normalizers.Lowercase()],
        [
            pre_tokenizers.Split(Regex(r"\s+"), "removed"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ],
    ),
    "unigram, ByteLevel": shaped(unigram(), [], [pre_tokenizers.ByteLevel()]),
}
