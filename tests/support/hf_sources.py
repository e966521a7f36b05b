"""transformers tokenizers of many kinds: real files in part, post-processors, padding, sides."""

from __future__ import annotations

import functools
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, processors

from tests.support.hf_releases import HF_RELEASE
from tests.support.tokenizers_drawn import contents, named_tokenizers, plain_copy

FILES = ("default", "deepseek_part", "bert_part", "llama_style")
CHATML = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def transformers_tokenizer(own: Tokenizer, **options: Any) -> Any:
    """What transformers makes of `own`; a skip where transformers is not installed."""
    transformers = pytest.importorskip("transformers", reason="transformers is missing")
    columns = {"model_input_names": ["input_ids", "attention_mask"], "chat_template": CHATML}
    return transformers.PreTrainedTokenizerFast(tokenizer_object=own, **columns | options)


def byte_level(post: Any) -> Tokenizer:
    """The bundled tokenizer with another post-processor and a few added tokens."""
    own = plain_copy(named_tokenizers()["default"])
    own.add_special_tokens(["<s>", "</s>", "<pad>"])
    own.add_tokens([AddedToken(" \n<x>\t", normalized=False)])
    own.post_processor = post
    return own


def template(single: str) -> Any:
    return processors.TemplateProcessing(
        single=single, pair="$A $B", special_tokens=[("<s>", 1), ("</s>", 2)]
    )


def roberta(trim: bool, prefix_space: bool) -> Any:
    return processors.RobertaProcessing(
        ("</s>", 2), ("<s>", 1), trim_offsets=trim, add_prefix_space=prefix_space
    )


def in_order(*parts: Any) -> Any:
    return processors.Sequence(list(parts))


POST_PROCESSORS: dict[str, Callable[[], Any]] = {
    "types": lambda: template("<s>:1 <s>:2 $A:3 </s>:4"),
    "roberta": lambda: roberta(True, True),
    "roberta without prefix": lambda: roberta(True, False),
    "roberta untrimmed": lambda: roberta(False, True),
    "trimmed": lambda: processors.ByteLevel(trim_offsets=True),
    "trimmed, prefix": lambda: processors.ByteLevel(trim_offsets=True, add_prefix_space=True),
    "untrimmed": lambda: processors.ByteLevel(trim_offsets=False),
    "trimmed, template": lambda: in_order(
        processors.ByteLevel(trim_offsets=True), template("<s> $A </s>")
    ),
    "template, trimmed": lambda: in_order(
        template("<s> $A"), processors.ByteLevel(trim_offsets=True, add_prefix_space=True)
    ),
    "trimmed twice": lambda: in_order(processors.ByteLevel(), roberta(True, False)),
    "text twice": lambda: template("$A $A"),  # no rule for it: always the engine's own call
}
LEFT = {
    "pad_token": "<pad>",
    "bos_token": "<s>",
    "eos_token": "</s>",
    "padding_side": "left",
    "truncation_side": "left",
    "model_max_length": 24,
    "pad_token_type_id": 5,
    "model_input_names": ["input_ids", "token_type_ids"],
}
SOURCES = (*FILES, *POST_PROCESSORS, "left", "no padding token", "split specials")


@functools.cache
def engine(name: str) -> Tokenizer:
    """The `tokenizers.Tokenizer` of a source."""
    if name in FILES:
        own = named_tokenizers()[name]
        copied = Tokenizer.from_str(own.to_str())
        if name == "deepseek_part":
            pad = contents(copied)[0]
            copied.enable_padding(pad_id=copied.token_to_id(pad), pad_token=pad, direction="left")
        return copied
    post = POST_PROCESSORS[name]() if name in POST_PROCESSORS else template("<s> $A </s>")
    return byte_level(post)


def fresh(name: str) -> Any:
    """A transformers tokenizer that no other test has."""
    options = {"left": LEFT, "no padding token": {}, "split specials": {}}.get(
        name, {} if name in FILES else {"pad_token": "<pad>"}
    )
    split = {"split_special_tokens": True} if name == "split specials" else {}
    return transformers_tokenizer(engine(name), **options, **split)


@functools.cache
def original(name: str) -> Any:
    """A transformers tokenizer; tests may call but not change it."""
    return fresh(name)


def save_remote_code(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Returns the directory "my-kimi" in `folder`, whose tokenizer is a `KimiLike` of its own code.
    transformers keeps its copy of the code in `folder`, too."""
    modules = str(folder / "modules")
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", modules)
    monkeypatch.setenv("HF_MODULES_CACHE", modules)
    monkeypatch.syspath_prepend(modules)
    model = folder / "my-kimi"
    model.mkdir()
    shutil.copy(Path(__file__).with_name("python_tokenizers.py"), model / "remote.py")
    config = {"auto_map": {"AutoTokenizer": ["remote.KimiLike", None]}}
    (model / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    if HF_RELEASE < (5, 24):  # earlier releases look for the kind of the model, too
        (model / "config.json").write_text('{"model_type": "gpt2"}', encoding="utf-8")
    return model
