"""vLLM without a model: `vllm launch render`, its server that makes prompts' ids and nothing else,
with the plugin `tokpar-vllm` and with `TOKPAR_VLLM=0`. For releases that have no package for
processors alone, whose models want a GPU."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

from tests.programs.turns import Row, compare
from tests.programs.vllm_requests import MODEL, answers_of, requests_of
from tests.programs.vllm_server import SIZES, next_turns, require_way, served_model, two_servers
from tests.programs.web_server import posted

INSTALL = ("vllm==0.33.0", "./plugins/tokpar-vllm")
LEFT_OUT = (
    "flash-attn-4",
    "flashinfer-cubin",
    "flashinfer-jit-cache",
    "flashinfer-python",
    "humming-kernels",
    "nvidia-cutlass-dsl",
    "opencv-python-headless",
    "quack-kernels",
    "ray",
    "tilelang",
    "torchaudio",
    "torchcodec",
    "torchvision",
)
VERSIONS = ("vllm", "tokpar-vllm", "transformers", "torch")
ROUTES = ("/v1/chat/completions/render", "/v1/completions/render", "/tokenize", "/detokenize")
"""What this server has of the routes that `vllm_requests` asks."""
COMMAND = "import sys; from vllm.entrypoints.cli.main import main; sys.exit(main())"


def rows() -> Iterator[Row]:
    os.environ["VLLM_TARGET_DEVICE"] = "cpu"
    with ExitStack() as entered:
        model = served_model(entered)
        command = [sys.executable, "-c", COMMAND, "launch", "render", model]
        own, ours = two_servers(entered, [*command, "--served-model-name", MODEL])
        require_way(own, ours)
        for size in SIZES:
            yield next_turns(size, own, ours, _rendered)
        requests = [(path, question) for path, question in requests_of() if path in ROUTES]
        sides = (answers_of(address) for address in (own, ours))
        each = f"12 prompts, each in {len(requests) // 12} requests"
        yield compare(each, *sides, [requests[0], *requests], time.perf_counter, 0)


def _rendered(address: str, chat: Any) -> Any:
    found = posted(f"{address}{ROUTES[0]}", {"model": MODEL, "messages": chat, "max_tokens": 1})
    if not found["token_ids"]:
        raise RuntimeError(f"a chat has no ids: {str(found)[:400]}")
    return found["token_ids"]
