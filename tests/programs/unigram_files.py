"""A directory with a Unigram tokenizer in XLM-R's shape, as bge-m3 and multilingual-e5 have it, and
models that return what they get: for programs that make embeddings."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from tests.programs.documents import documents
from tests.support.unigram_shapes import NMT_PART, shape, stage

PIECES = 20_000
SPECIAL = "<s>", "<pad>", "</s>", "<unk>", "<mask>"


def lay_out_unigram(into: Path, **config: Any) -> str:
    """Writes a tokenizer, and a `config.json` of `config`; returns the folder's name. Its pieces
    are words and parts of words of the checkout's pages, with the logarithm of their counts."""
    words = Counter(f"▁{word}" for text in documents(12_000, 48) for word in text.split())
    counts = Counter[str]()
    for word, count in words.items():
        for size in (1, 2, 3, 4, len(word)):
            for start in range(len(word) - size + 1):
                counts[word[start : start + size]] += count
    least = math.log(sum(counts.values()))
    alone = sorted({char for word in words for char in word})
    chosen = dict.fromkeys([*alone, *(name for name, _ in counts.most_common(PIECES))])
    pieces = [(name, math.log(counts[name]) - least) for name in [*chosen][:PIECES]]
    model = {"type": "Unigram", "unk_id": 3, "byte_fallback": False}
    model["vocab"] = [*((name, 0.0) for name in SPECIAL), *pieces]
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    special = [{"id": k, "content": x, "special": True} | flags for k, x in enumerate(SPECIAL)]
    ends = {x: {"id": x, "ids": [SPECIAL.index(x)], "tokens": [x]} for x in ("<s>", "</s>")}
    around = stage("TemplateProcessing", special_tokens=ends)
    around["single"] = [_special("<s>"), _sequence("A"), _special("</s>")]
    around["pair"] = [*around["single"], _special("</s>"), _sequence("B"), _special("</s>")]
    written = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special}
    written |= shape(NMT_PART, "XLM-R") | {
        "post_processor": around,
        "decoder": None,
        "model": model,
    }
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512}
    settings |= {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>"}
    settings |= {"pad_token": "<pad>", "mask_token": "<mask>", "cls_token": "<s>"}
    settings |= {"sep_token": "</s>"}
    for name, content in {"tokenizer": written, "tokenizer_config": settings}.items():
        (into / f"{name}.json").write_text(json.dumps(content), "utf-8")
    if config:
        (into / "config.json").write_text(json.dumps(config), "utf-8")
    return str(into)


def _special(name: str) -> dict[str, Any]:
    return {"SpecialToken": {"id": name, "type_id": 0}}


def _sequence(name: str) -> dict[str, Any]:
    return {"Sequence": {"id": name, "type_id": 0}}


def save_roberta(into: Path, kind: str = "AutoModel") -> str:
    """Writes the tokenizer and an XLM-R of one layer with random weights; returns the folder's
    name. `kind`: a class of transformers that makes models. Needs torch."""
    import torch
    import transformers

    torch.manual_seed(0)
    config = transformers.XLMRobertaConfig(
        vocab_size=PIECES + len(SPECIAL),
        num_attention_heads=2,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=1,
        max_position_embeddings=514,
        num_labels=1,
    )
    getattr(transformers, kind).from_config(config).save_pretrained(into)
    return lay_out_unigram(into)
