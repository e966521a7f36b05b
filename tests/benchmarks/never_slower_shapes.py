"""The tokenizers of `never_slower` without files: shapes that it trains on the pages of this
checkout, and the files that installed packages carry."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import cache
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)

from tests.support.paths import ROOT
from tokpar.formats.vocabulary import letters_of

VOCABULARY = 8000
SPECIAL = ["<unk>", "<s>", "</s>", "<pad>"]
MARK = "\u2581"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
SPLITS = {
    "falcon": r"[0-9][0-9][0-9]",
    "lines": r"[\r\n]",
    "letters": r"\s?\p{L}+",
    "numbers": r"\s?\p{N}+",
}


@cache
def pages() -> list[str]:
    """Returns the pages and the code of the checkout."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("proofs/*.md")]
    found += [*ROOT.glob("plugins/*/README.md"), *ROOT.glob("tokpar/*/*.py")]
    return [path.read_text(encoding="utf-8") for path in sorted(found)]


def _trained(
    tokenizer: Tokenizer,
    kind: Any,
    normalizer: Any = None,
    pre_tokenizer: Any = None,
    **options: Any,
) -> Tokenizer:
    """Returns a tokenizer as its file has it: a trained object has no compiled call."""
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    settings = {"vocab_size": VOCABULARY, "special_tokens": SPECIAL, "show_progress": False}
    tokenizer.train_from_iterator(pages(), kind(**(settings | options)))
    return Tokenizer.from_str(tokenizer.to_str())


def _bpe(normalizer: Any = None, pre_tokenizer: Any = None, **model: Any) -> Tokenizer:
    own = models.BPE(**({"unk_token": "<unk>"} | model))
    marks = {
        name: model[name]
        for name in ("end_of_word_suffix", "continuing_subword_prefix")
        if name in model
    }
    return _trained(Tokenizer(own), trainers.BpeTrainer, normalizer, pre_tokenizer, **marks)


def _byte_level(*stages: Any, normalizer: Any = None, bytes_of: Any = range(256)) -> Tokenizer:
    """A byte-level BPE behind a row of stages. `bytes_of`: the bytes that are tokens."""
    row = pre_tokenizers.Sequence([*stages, pre_tokenizers.ByteLevel(False, use_regex=not stages)])
    alphabet = [letters_of(bytes([byte])) for byte in bytes_of]
    own = Tokenizer(models.BPE())
    return _trained(own, trainers.BpeTrainer, normalizer, row, initial_alphabet=alphabet)


def _neox() -> Tokenizer:
    """With the 243 bytes that UTF-8 has."""
    used = [byte for byte in range(256) if byte < 0xF5 and byte not in (0xC0, 0xC1)]
    return _byte_level(normalizer=normalizers.NFC(), bytes_of=used)


def _word_level() -> Tokenizer:
    own = Tokenizer(models.WordLevel(unk_token="<unk>"))
    return _trained(own, trainers.WordLevelTrainer, None, pre_tokenizers.Whitespace())


def _word_piece(normalizer: Any, pre_tokenizer: Any) -> Tokenizer:
    own = Tokenizer(models.WordPiece(unk_token="<unk>"))
    return _trained(own, trainers.WordPieceTrainer, normalizer, pre_tokenizer)


def _unigram(normalizer: Any = None) -> Tokenizer:
    stage = pre_tokenizers.Metaspace()
    own = Tokenizer(models.Unigram())
    return _trained(own, trainers.UnigramTrainer, normalizer, stage, unk_token="<unk>")


def _sentencepiece(prefix: bool) -> Tokenizer:
    """As Llama 2 and Gemma: the normalizer writes U+2581 for a space, others are bytes."""
    row = [normalizers.Prepend(MARK)] if prefix else []
    normalizer = normalizers.Sequence([*row, normalizers.Replace(" ", MARK)])
    own = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    names = [f"<0x{byte:02X}>" for byte in range(256)]
    split = pre_tokenizers.Split(" ", "merged_with_previous")
    own.normalizer = normalizers.Replace(" ", MARK)
    own.pre_tokenizer = pre_tokenizers.Split(MARK, "merged_with_next")
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=[*SPECIAL, *names], show_progress=False
    )
    own.train_from_iterator(pages(), trainer)
    own.normalizer = normalizer
    own.pre_tokenizer = None if prefix else split
    return Tokenizer.from_str(own.to_str())


def _with_tokens(count: int) -> Tokenizer:
    own = _byte_level()
    own.add_tokens([AddedToken(f"<extra_{k}>", normalized=False) for k in range(count)])
    return own


def _deepseek_coder() -> Tokenizer:
    rows = [SPLITS["lines"], SPLITS["letters"], SPLITS["numbers"]]
    return _byte_level(*(pre_tokenizers.Split(Regex(row), "isolated") for row in rows))


def _clip() -> Tokenizer:
    row = [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
    stages = [
        pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ]
    own = Tokenizer(models.BPE(end_of_word_suffix="</w>"))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    stage = pre_tokenizers.Sequence(stages)
    options: dict[str, Any] = {"initial_alphabet": alphabet, "end_of_word_suffix": "</w>"}
    return _trained(own, trainers.BpeTrainer, normalizers.Sequence(row), stage, **options)


def _falcon() -> Tokenizer:
    split = pre_tokenizers.Split(Regex(SPLITS["falcon"]), "isolated")
    own = Tokenizer(models.BPE())
    stages = [
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
        pre_tokenizers.Digits(individual_digits=False),
        split,
    ]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    stage = pre_tokenizers.Sequence(stages)
    return _trained(own, trainers.BpeTrainer, None, stage, initial_alphabet=alphabet)


_BERT = normalizers.BertNormalizer, pre_tokenizers.BertPreTokenizer
SHAPES: dict[str, Callable[[], Tokenizer]] = {
    "BPE, Whitespace": lambda: _bpe(None, pre_tokenizers.Whitespace()),
    "BPE, WhitespaceSplit": lambda: _bpe(None, pre_tokenizers.WhitespaceSplit()),
    "WordLevel, Whitespace": _word_level,
    "Unigram, Metaspace": _unigram,
    "BPE </w>, Whitespace": lambda: _bpe(
        normalizers.Lowercase(), pre_tokenizers.Whitespace(), end_of_word_suffix="</w>"
    ),
    "byte-level, 243 bytes (NeoX)": _neox,
    "WordPiece, Whitespace": lambda: _word_piece(
        normalizers.Lowercase(), pre_tokenizers.Whitespace()
    ),
    "Falcon's stages": _falcon,
    "Metaspace, NFKC": lambda: _bpe(normalizers.NFKC(), pre_tokenizers.Metaspace()),
    "Split of the normalizer's mark": lambda: _bpe(
        normalizers.Replace(" ", MARK), pre_tokenizers.Split(MARK, "merged_with_next")
    ),
    "BPE, Punctuation": lambda: _bpe(
        None,
        pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()]),
    ),
    "BPE, Digits": lambda: _bpe(
        None, pre_tokenizers.Sequence([pre_tokenizers.Whitespace(), pre_tokenizers.Digits(True)])
    ),
    "no pre-tokenizer": lambda: _without_stages(),
    "CLIP's": _clip,
    "DeepSeek Coder's": _deepseek_coder,
    "BERT's": lambda: _word_piece(*(stage() for stage in _BERT)),
    "byte-level (GPT-2)": _byte_level,
    "Llama 2's": lambda: _sentencepiece(prefix=True),
    "Gemma's": lambda: _sentencepiece(prefix=False),
    "T5's (Unigram, Nmt, NFKC)": lambda: _unigram(
        normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    ),
    "byte-level, 2,000 added tokens": lambda: _with_tokens(2000),
}


def _without_stages() -> Tokenizer:
    """A BPE of short pieces without stages, as of molecules: trained with words, used without."""
    own = _bpe(None, pre_tokenizers.WhitespaceSplit())
    own.pre_tokenizer = None
    return Tokenizer.from_str(own.to_str())


def carried_files() -> Iterator[Path]:
    """Yields the tokenizer files that installed packages carry."""
    for distribution in distributions():
        for file in distribution.files or ():
            path = Path(str(file.locate()))
            if path.name.endswith("tokenizer.json") and path.stat().st_size > 1 << 14:
                yield path


def passage(draw: random.Random, some_pages: list[str], size: int) -> str:
    """Returns `size` code points of some pages, from the beginning of a word on."""
    text = draw.choice(some_pages)
    while len(text) < size + 200:
        text += "\n" + draw.choice(some_pages)
    start = text.find(" ", draw.randrange(len(text) - size - 150)) + 1
    return text[start : start + size]


def with_new_words(draw: random.Random, text: str) -> str:
    """Returns a text of the same length with a made-up word in each fifty code points."""
    words, place, last = text.split(" "), 0, -25
    for k, word in enumerate(words):
        place += len(word) + 1
        if word and place - last >= 50:
            words[k], last = "".join(draw.choices("etaoinshrdlu", k=len(word))), place
    return " ".join(words)
