"""Small models, trained here; `SHAPES` by name: whether tokpar splits them, and how they differ."""

from __future__ import annotations

import functools
import io
from typing import Any

import sentencepiece

LINES = (
    "the quick brown fox jumps over the lazy dog; the dog sleeps  on",
    "hello world and the rest of it, 12 345 6789",
    "aa aaa aaaaa aaaaa b é éa ça",
    "日本語 日本 語 ab<x>c",
)
SYMBOLS = ["<x>", "the", "▁q", "x", "ab"]
KEPT = {"remove_extra_whitespaces": False}
PLAIN = {**KEPT, "add_dummy_prefix": False}
SPACES = {"allow_whitespace_only_pieces": True, "user_defined_symbols": ["▁▁"]}
LOOSE = {"split_by_whitespace": False, "split_by_number": False, "split_by_unicode_script": False}
SHAPES: dict[str, tuple[str | None, dict[str, Any]]] = {
    "as trained by default": (None, {}),
    "spaces kept": (None, KEPT),
    "spaces kept, bytes": (None, {**KEPT, "byte_fallback": True, "vocab_size": 400}),
    "spaces kept, symbols": (None, {**KEPT, "user_defined_symbols": SYMBOLS}),
    "spaces kept, control symbols": (None, {**KEPT, "control_symbols": ["<c>", "b", "lo"]}),
    "spaces kept, pieces of spaces": (None, {**KEPT, **SPACES}),
    "symbols": (None, {"user_defined_symbols": SYMBOLS}),
    "no prefix": (None, PLAIN),
    "no prefix, bytes": (None, {**PLAIN, "byte_fallback": True, "vocab_size": 400}),
    "no prefix, symbols": (None, {**PLAIN, "user_defined_symbols": SYMBOLS}),
    "symbol of two spaces": (None, {**KEPT, "user_defined_symbols": ["▁▁"]}),
    "no prefix, symbol of two spaces": ("'▁▁'", {**PLAIN, "user_defined_symbols": ["▁▁"]}),
    "symbol with a space": ("holds a space", {"user_defined_symbols": ["e d  s"]}),
    "symbol across a space": ("'e▁d'", {"user_defined_symbols": ["e▁d"]}),
    "across spaces": ("behind another character", {**KEPT, **LOOSE, "vocab_size": 220}),
    "no prefix, spaces removed": ("lose the space", {"add_dummy_prefix": False}),
    "spaces not escaped": ("escape_whitespaces", {}),
    "space as suffix": ("treat_whitespace_as_suffix", {"treat_whitespace_as_suffix": True}),
    "unigram": ("Unigram", {"model_type": "unigram"}),
    "unigram, spaces kept": ("Unigram", {**KEPT, "model_type": "unigram"}),
    "char": ("character model", {"model_type": "char"}),
    "word": ("word model", {"model_type": "word"}),
    "nmt_nfkc": ("'nmt_nfkc'", {"normalization_rule_name": "nmt_nfkc"}),
    "nfkc": ("'nfkc'", {"normalization_rule_name": "nfkc"}),
    "nmt_nfkc_cf": ("'nmt_nfkc_cf'", {"normalization_rule_name": "nmt_nfkc_cf"}),
    "nfkc_cf": ("'nfkc_cf'", {"normalization_rule_name": "nfkc_cf"}),
    "nmt_nfkc, pieces of spaces": (
        "'nmt_nfkc'",
        {**KEPT, **SPACES, "normalization_rule_name": "nmt_nfkc"},
    ),
    "unigram, nmt_nfkc": (
        "Unigram",
        {"model_type": "unigram", "normalization_rule_name": "nmt_nfkc"},
    ),
}
ADDED = {"spaces not escaped": b"\x1a\x02\x28\x00"}
"""What the trainer refuses: more of the model's NormalizerSpec (3), escape_whitespaces (5) = 0."""


@functools.cache
def model(shape: str) -> bytes:
    written = io.BytesIO()
    settings: dict[str, Any] = {
        "model_type": "bpe",
        "vocab_size": 110,
        "hard_vocab_limit": False,
        "normalization_rule_name": "identity",
        "character_coverage": 0.99,
        "num_threads": 1,
        "minloglevel": 2,
    }
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES * 10), model_writer=written, **settings | SHAPES[shape][1]
    )
    return written.getvalue() + ADDED.get(shape, b"")


@functools.cache
def processor(shape: str, **settings: Any) -> Any:
    return sentencepiece.SentencePieceProcessor(model_proto=model(shape), **settings)
