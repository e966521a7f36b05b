"""Models of one layer with random weights, for programs that want a model beside its tokenizer.
They need torch and transformers."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tests.programs.tokenizer_files import directory

SHAPE = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}


def save_model(into: Path, kind: str, **settings: Any) -> str:
    """Writes a model and its tokenizer into a folder, and returns the folder's name.

    `kind`: the configuration class of transformers, such as "BertConfig". `settings`: what its
    configuration has beside `SHAPE` and two heads of attention."""
    import torch
    import transformers

    torch.manual_seed(0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory())
    config = getattr(transformers, kind)(
        vocab_size=len(tokenizer), num_attention_heads=2, **SHAPE | settings
    )
    made = transformers.AutoModelForCausalLM if kind == "LlamaConfig" else transformers.AutoModel
    made.from_config(config).save_pretrained(into)
    for file in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(directory()) / file, into)
    return str(into)
