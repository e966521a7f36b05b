"""Shapes of published tokenizers: all of their tokenizer.json but the vocabulary.

Names of shapes are those of the models whose files have the pipeline. `around` puts a model into a
shape, `train` learns a small vocabulary for it.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tokenizers import (
    AddedToken,
    Regex,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
)

from tests.support.tokenizers_drawn import PATTERNS

Part = Any
"""A normalizer, pre-tokenizer, decoder or post-processor of `tokenizers`."""


@dataclass(frozen=True)
class Shape:
    """`model`: how the vocabulary is made, see `training.TRAINERS`. `normalizer` gets the table of
    replacements of SentencePiece (empty: none). `special`: added tokens that are special. `added`:
    others, searched in normalized text but for models of SentencePiece. `template`: what is put
    around a text, "$A" being the text. `crossing`: merges of tokens that reach over a space."""

    model: str
    normalizer: Callable[[bytes], Part] = lambda charsmap: None
    pre_tokenizer: Callable[[], Part] = lambda: None
    special: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    template: str = "$A"
    crossing: tuple[tuple[str, str], ...] = ()


def around(
    shape: Shape,
    model: Part,
    charsmap: bytes = b"",
    *,
    special: Sequence[str] | None = None,
    added: Sequence[str] | None = None,
) -> Tokenizer:
    """The model with the shape's pipeline. `special`, `added`: instead of the shape's."""
    tokenizer = Tokenizer(model)
    if (normalizer := shape.normalizer(charsmap)) is not None:
        tokenizer.normalizer = normalizer
    if (pre_tokenizer := shape.pre_tokenizer()) is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = _DECODERS[shape.model]()
    raw = shape.special if special is None else special
    tokenizer.add_special_tokens([AddedToken(token, normalized=False) for token in raw])
    # transformers' converter of SentencePiece models has its own symbols searched in raw text
    moved = shape.model in ("bytes", "words", "WordPiece")
    others = shape.added if added is None else added
    tokenizer.add_tokens([AddedToken(token, normalized=moved) for token in others])
    put = [part for part in shape.template.split() if part != "$A"]
    if put:
        tokenizer.post_processor = processors.TemplateProcessing(
            single=shape.template,
            special_tokens=[(token, tokenizer.token_to_id(token)) for token in dict.fromkeys(put)],
        )
    return tokenizer


def sequence(*stages: Part) -> Part:
    """Normalizers or pre-tokenizers one after the other."""
    kind = normalizers if isinstance(stages[0], normalizers.Normalizer) else pre_tokenizers
    return kind.Sequence(list(stages))


def split(*patterns: str) -> list[Part]:
    return [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]


def byte_level(*before: Part, regex: bool = True) -> Part:
    """ByteLevel behind other pre-tokenizers."""
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=regex)
    return sequence(*before, last) if before else last


def by_patterns(*patterns: str) -> Callable[[], Part]:
    return lambda: byte_level(*split(*patterns), regex=False)


def digits() -> Part:
    return pre_tokenizers.Digits(individual_digits=True)


def words(*before: Part, scheme: str = "always", divided: bool = True) -> Part:
    """Metaspace behind other pre-tokenizers."""
    last = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=divided)
    return sequence(*before, last) if before else last


def precompiled(charsmap: bytes) -> list[Part]:
    if not charsmap:
        return []
    stage = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap).decode()}
    # the class refuses the bytes of some versions' tables; the file's form is read by all
    parts = json.loads(Tokenizer.from_str(_EMPTY).to_str()) | {"normalizer": stage}
    return [Tokenizer.from_str(json.dumps(parts)).normalizer]


def _albert(charsmap: bytes) -> Part:
    quotes = (normalizers.Replace(quote, '"') for quote in ("``", "''"))
    stages = (*quotes, normalizers.NFKD(), normalizers.StripAccents(), normalizers.Lowercase())
    return sequence(*stages, *precompiled(charsmap))


def _deberta(charsmap: bytes) -> Part:
    spaces = normalizers.Replace(Regex(" {2,}"), " ")
    return sequence(normalizers.Strip(), *precompiled(charsmap), spaces)


def _spm(charsmap: bytes) -> Part:
    ends = normalizers.Strip(left=False, right=True)
    return sequence(*precompiled(charsmap), ends, normalizers.Replace(Regex(" {2,}"), "▁"))


def _table(charsmap: bytes) -> Part:
    return sequence(*stages) if (stages := precompiled(charsmap)) else None


def _marked(charsmap: bytes) -> Part:
    return normalizers.Replace(" ", "▁")


def _llama(charsmap: bytes) -> Part:
    return sequence(normalizers.Prepend("▁"), normalizers.Replace(" ", "▁"))


def _nfc(charsmap: bytes) -> Part:
    return normalizers.NFC()


def _clip(charsmap: bytes) -> Part:
    spaces = normalizers.Replace(Regex(r"\s+"), " ")
    return sequence(normalizers.NFC(), spaces, normalizers.Lowercase())


def _clip_words() -> Part:
    pattern = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
    return byte_level(pre_tokenizers.Split(Regex(pattern), "removed", invert=True))


def _falcon() -> Part:
    before = (pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.ByteLevel(False))
    return sequence(*before, pre_tokenizers.Digits(), *split("[0-9][0-9][0-9]"))


def _deepseek_coder() -> Part:
    patterns = ("[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+")
    return byte_level(*split(*patterns), digits(), regex=False)


def _of_words() -> Part:
    return words(pre_tokenizers.WhitespaceSplit())


_EMPTY = (
    '{"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}'
)
_RUNS = tuple(" " * size for size in range(24, 1, -1))
_BERT = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_ENDS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")
_SPM = ("<unk>", "<s>", "</s>")
_EXTRA = tuple(f"<extra_id_{n}>" for n in range(99, -1, -1))
_BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
_QWEN35 = PATTERNS["qwen2"][0].replace(r"?\p{L}+", r"?[\p{L}\p{M}]+").replace(
    r"[^\s\p{L}\p{N}]+", r"[^\s\p{L}\p{M}\p{N}]+"
)  # fmt: skip
_END = ("<|endoftext|>",)

_DECODERS: dict[str, Callable[[], Part]] = {
    "bytes": decoders.ByteLevel,
    "words": lambda: decoders.BPEDecoder(suffix="</w>"),
    "fallback": lambda: decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
    ),
    "pieces": decoders.Metaspace,
    "Unigram": decoders.Metaspace,
    "WordPiece": decoders.WordPiece,
}

SHAPES: dict[str, Shape] = {
    "GPT-2": Shape("bytes", pre_tokenizer=byte_level, special=_END),
    "RoBERTa": Shape(
        "bytes",
        pre_tokenizer=byte_level,
        special=("<s>", "<pad>", "</s>", "<unk>", "<mask>"),
        template="<s> $A </s>",
    ),
    "Phi-2": Shape(
        "bytes", pre_tokenizer=byte_level, special=_END, added=(*_RUNS, "\t\t", "\t\t\t")
    ),
    "GPT-NeoX": Shape("bytes", _nfc, byte_level, _END, _RUNS),
    "ModernBERT": Shape(
        "bytes", _nfc, byte_level, (*_END, *_BERT), (*_RUNS, "|||IP_ADDRESS|||"), "[CLS] $A [SEP]"
    ),
    "Claude": Shape("bytes", lambda charsmap: normalizers.NFKC(), byte_level, ("<EOT>", "<META>")),
    "CLIP": Shape(
        "words",
        _clip,
        _clip_words,
        ("<|startoftext|>", "<|endoftext|>"),
        template="<|startoftext|> $A <|endoftext|>",
    ),
    "BLOOM": Shape("bytes", pre_tokenizer=by_patterns(_BLOOM), special=_SPM),
    "Falcon": Shape("bytes", pre_tokenizer=_falcon, special=(">>TITLE<<", *_END)),
    "StarCoder": Shape("bytes", pre_tokenizer=lambda: byte_level(digits()), special=_END),
    "Command R": Shape("bytes", _nfc, lambda: byte_level(digits()), ("<BOS_TOKEN>",)),
    "DeepSeek Coder": Shape(
        "bytes", pre_tokenizer=_deepseek_coder, special=("<｜end▁of▁sentence｜>",), added=("õ", "÷")
    ),
    "Llama 3": Shape(
        "bytes",
        pre_tokenizer=by_patterns(*PATTERNS["llama3"]),
        special=("<|begin_of_text|>", "<|end_of_text|>"),
        template="<|begin_of_text|> $A",
    ),
    "GLM-4": Shape(
        "bytes",
        pre_tokenizer=by_patterns(*PATTERNS["llama3"]),
        special=(*_END, "[gMASK]", "<sop>", "<|user|>"),
        template="[gMASK] <sop> $A",
    ),
    "GPT-4o": Shape("bytes", pre_tokenizer=by_patterns(*PATTERNS["o200k"]), special=_END),
    "DeepSeek-V3": Shape("bytes", pre_tokenizer=by_patterns(*PATTERNS["deepseek"]), special=_END),
    "Qwen2": Shape(
        "bytes", _nfc, by_patterns(*PATTERNS["qwen2"]), (*_END, "<|im_start|>", "<|im_end|>")
    ),
    "Qwen3.5": Shape("bytes", pre_tokenizer=by_patterns(_QWEN35), special=(*_END, "<|im_start|>")),
    "Llama 2": Shape("fallback", _llama, special=_SPM, template="<s> $A"),
    "Mistral": Shape(
        "fallback",
        pre_tokenizer=lambda: words(scheme="first", divided=False),
        special=(*_SPM, "[INST]", "[/INST]"),
        template="<s> $A",
    ),
    "Gemma": Shape(
        "fallback",
        _marked,
        special=(*_SPM, "<start_of_turn>"),
        template="<s> $A",
        crossing=((">", "▁"), (">▁", "</")),
    ),
    "Gemma 3": Shape(
        "fallback",
        _marked,
        lambda: pre_tokenizers.Split(" ", "merged_with_previous"),
        (*_SPM, "<start_of_turn>"),
        template="<s> $A",
    ),
    "T5": Shape("Unigram", _table, _of_words, ("<unk>", "</s>", *_EXTRA), template="$A </s>"),
    "XLM-R": Shape("Unigram", _table, _of_words, _ENDS, template="<s> $A </s>"),
    "mBART": Shape("Unigram", _table, _of_words, (*_ENDS, "en_XX"), template="$A </s> en_XX"),
    "ALBERT": Shape(
        "Unigram", _albert, _of_words, ("<pad>", "<unk>", *_BERT), template="[CLS] $A [SEP]"
    ),
    "DeBERTa-v3": Shape("Unigram", _deberta, words, ("<unk>", *_BERT), template="[CLS] $A [SEP]"),
    "SentencePiece, Unigram": Shape("Unigram", _spm, words, _SPM),
    "SentencePiece, BPE": Shape("pieces", _spm, words, _SPM),
    "BERT": Shape(
        "WordPiece",
        lambda charsmap: normalizers.BertNormalizer(),
        pre_tokenizers.BertPreTokenizer,
        _BERT,
        template="[CLS] $A [SEP]",
    ),
    "BERT, cased": Shape(
        "WordPiece",
        lambda charsmap: normalizers.BertNormalizer(lowercase=False),
        pre_tokenizers.BertPreTokenizer,
        _BERT,
        template="[CLS] $A [SEP]",
    ),
}


def lines(texts: Iterable[str], size: int = 2000) -> list[str]:
    """The texts cut into pieces that trainers hold in memory well."""
    return [text[at : at + size] for text in texts for at in range(0, len(text), size)]
