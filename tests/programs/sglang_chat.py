"""SGLang: the methods of its server that make a prompt's ids, with the plugin `tokpar-vllm`, which
SGLang's own loader finds, and without it.

The server itself needs kernels for a GPU. Its modules run as they are: `get_tokenizer`, the chat's
renderer with its parallel encode, which is on by default, its renderer of segments with their
cache, and the tokenizer manager. Both tokenizers have the control tokens of GLM-5.3, at which
SGLang cuts."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.programs.documents import documents, growing_chats
from tests.programs.tokenizer_files import directory
from tests.programs.turns import Row, compare
from tests.programs.vllm_requests import prompts

INSTALL = ("sglang==0.5.23", "./plugins/tokpar-vllm", "dill")
LEFT_OUT = (
    "cuda-python",
    "flash-attn-4",
    "flashinfer-python",
    "humming-kernels",
    "kernels",
    "nvidia-cutlass-dsl",
    "nvidia-mathdx",
    "nvshmem4py-cu13",
    "quack-kernels",
    "sgl-deep-ep",
    "sgl-deep-gemm",
    "sgl-flash-mla",
    "sglang-kernel",
    "tilelang",
    "torch-memory-saver",
    "torchaudio",
    "torchcodec",
)
VERSIONS = ("sglang", "tokpar-vllm", "transformers", "tokenizers", "torch")
CONTROL = ("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>")
CONTROL += ("<think>", "</think>")


def rows() -> Iterator[Row]:
    os.environ.pop("TOKENIZERS_PARALLELISM", None)  # the parallel encode needs the engine's threads
    with tempfile.TemporaryDirectory() as made:
        own, ours = _tokenizers(Path(made))
    _encode_in_parallel(own)
    sides = [_rendered_by_jinja(own), _rendered_by_jinja(ours)]
    for share, size in enumerate((1_000, 20_000, 200_000), 1):
        row = compare(f"next turn of {size:,}", *sides, growing_chats(size, share))
        yield replace(row, note=_turn(row))
    row = compare(
        "the same, renderer of segments", *map(_segments, (own, ours)), growing_chats(200_000, 4)
    )
    yield replace(row, note=f"its own cache of turns; {_turn(row)}")
    texts = [[{"role": "user", "content": each}] for each in ("", *prompts())]
    yield compare("chats of 12 prompts", *sides, texts)
    managers = map(_manager, (own, ours))
    yield compare("a prompt of 20,000", *managers, documents(20_000, 13, share=0))
    if not ours.tokpar_calls:
        raise RuntimeError("no text went through tokpar")


def _turn(row: Row) -> str:
    own, ours = (1e3 * each / row.texts for each in (row.new_own, row.new_ours))
    return f"a turn {own:.1f} -> {ours:.1f} ms"


def _tokenizers(folder: Path) -> tuple[Any, Any]:
    """Returns the tokenizer that SGLang loads, and the one that it loads after its plugins."""
    from sglang.srt.plugins import load_plugins
    from sglang.srt.utils.hf_transformers.tokenizer import get_tokenizer
    from transformers import AutoTokenizer

    plain = AutoTokenizer.from_pretrained(directory())
    plain.add_special_tokens({"additional_special_tokens": [*CONTROL]})
    plain.save_pretrained(folder)
    own = get_tokenizer(str(folder))
    load_plugins()
    ours = get_tokenizer(str(folder))
    if hasattr(own, "tokpar_calls") or not hasattr(ours, "tokpar_calls"):
        raise RuntimeError(f"SGLang's plugins made {type(own)} and {type(ours)}")
    return own, ours


def _rendered_by_jinja(tokenizer: Any) -> Callable[[Any], list[int]]:
    """Returns the method of SGLang's chat server that renders and encodes a chat."""
    return _chat_server(tokenizer, None)


def _segments(tokenizer: Any) -> Callable[[Any], list[int]]:
    from sglang.srt.parser.python_chat_template import GLM53

    return _chat_server(tokenizer, GLM53)


def _chat_server(tokenizer: Any, template: Any) -> Callable[[Any], list[int]]:
    from sglang.srt.entrypoints.openai.serving_chat import OpenAIServingChat

    server = object.__new__(OpenAIServingChat)  # its `__init__` asks a running engine
    server.tokenizer_manager = SimpleNamespace(tokenizer=tokenizer)
    server.template_manager = SimpleNamespace(python_chat_template=template)
    server._prompt_text_round_trip_is_lossy = server._probe_prompt_text_round_trip()

    def ids(chat: Any) -> list[int]:
        found: list[int] = server._render_and_encode_chat_template(
            chat, tools=None, template_kwargs={}, encode_kwargs={}, use_cache=False
        )[0]
        return found

    return ids


def _manager(tokenizer: Any) -> Callable[[str], Any]:
    """Returns the method of the tokenizer manager that encodes a prompt."""
    from sglang.srt.managers.tokenizer_manager import TokenizerManager

    manager = object.__new__(TokenizerManager)
    manager.tokenizer, manager.async_dynamic_batch_tokenizer = tokenizer, None
    manager.model_config = SimpleNamespace(is_embedding_gemma=False)
    return lambda text: asyncio.run(manager._tokenize_texts(text))


def _encode_in_parallel(tokenizer: Any) -> None:
    """Turns on SGLang's parallel encode, which it turns off itself on a busy machine. Raises
    RuntimeError if it does not cut the chats of this tokenizer."""
    from sglang.srt.entrypoints.openai import parallel_prompt_encode as module

    module._parallel_ok = True
    if module._plan_for(tokenizer) is None:
        raise RuntimeError("SGLang encodes no chat of this tokenizer in parallel")
