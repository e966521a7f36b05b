"""Compare what SGLang's tokenizer manager and chats make of prompts with the plugin and without it.

Needs the package sglang with what its import needs, tokpar and tokpar-vllm; no GPU, no weights:

    python plugins/tokpar-vllm/checked/against_sglang.py [--vocabulary tokenizer.json]

The methods of SGLang that tokenize are called as the server calls them; the server itself, which
needs a GPU, is not started."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from inputs import Prompt, chats, prompts, save_model

SITE = """
import os

if os.environ.get("TOKPAR_PATCH_TRANSFORMERS") == "1":
    import tokpar

    tokpar.patch_transformers()
"""
"""A sitecustomize.py: Python runs it at the start of each process, spawned ones too."""
RUNS = {
    "off": {"TOKPAR_SGLANG": "0"},
    "on": {},
    "a spawned worker": {"SPAWN": "1"},
    "a spawned worker, sitecustomize": {"SPAWN": "1", "TOKPAR_PATCH_TRANSFORMERS": "1"},
}


def manager_of(folder: Path) -> Any:
    """A tokenizer manager with the attributes that its method `_tokenize_texts` reads."""
    from sglang.srt.managers.tokenizer_manager import TokenizerManager
    from sglang.srt.utils.hf_transformers_utils import get_tokenizer

    manager = object.__new__(TokenizerManager)
    manager.tokenizer = get_tokenizer(str(folder))
    manager.async_dynamic_batch_tokenizer = None
    manager.model_config = SimpleNamespace(is_embedding_gemma=False)
    return manager


def run(folder: Path, inputs: Path) -> dict[str, Any]:
    """Ids, decoded texts, times and how many texts tokpar encoded."""
    from sglang.srt.entrypoints.openai.parallel_prompt_encode import parallel_prompt_encode
    from sglang.srt.managers.async_dynamic_batch_tokenizer import AsyncDynamicbatchTokenizer

    stored = json.loads(inputs.read_text(encoding="utf-8"))
    texts = [Prompt(**each).text for each in stored["prompts"] if "surrogate" not in each["name"]]
    manager = manager_of(folder)
    tokenizer = manager.tokenizer
    result: dict[str, Any] = {"classes": [each.__name__ for each in type(tokenizer).__mro__[:3]]}
    result["prompts"], result["times"] = [], []
    for text in texts:
        for _ in range(2):
            began = time.perf_counter()
            result["prompts"].append(asyncio.run(manager._tokenize_texts(text))[0])
            result["times"].append(time.perf_counter() - began)
    result["batch"] = asyncio.run(manager._tokenize_texts(texts))[0]
    result["calls of prompts"] = getattr(tokenizer, "tokpar_calls", 0)
    began = time.perf_counter()
    result["chats"] = []
    for chat in stored["chats"]:
        whole = {"add_generation_prompt": True, "return_dict": False}
        rendered = tokenizer.apply_chat_template(chat, tokenize=False, **whole)
        result["chats"].append(parallel_prompt_encode(tokenizer, rendered, {}))
        result["chats"].append(tokenizer.apply_chat_template(chat, tokenize=True, **whole))
    result["chat seconds"] = time.perf_counter() - began

    async def dynamic() -> list[Any]:
        batcher = AsyncDynamicbatchTokenizer(tokenizer)
        made = await asyncio.gather(*(batcher.encode(text) for text in texts[:8]))
        return [each["input_ids"] for each in made]

    result["dynamic batches"] = asyncio.run(dynamic())
    result["decoded"] = tokenizer.batch_decode([ids[:2000] for ids in result["batch"]])
    result["calls"] = getattr(tokenizer, "tokpar_calls", 0)
    return result


def load_and_run(folder: str, inputs: str, out: str) -> None:
    Path(out).write_text(json.dumps(run(Path(folder), Path(inputs))), encoding="utf-8")


def child(folder: str, inputs: str, out: str) -> None:
    """The process of the server; with SPAWN a tokenizer worker of it does the work, as with
    --tokenizer-worker-num 2."""
    import logging
    import multiprocessing

    logging.basicConfig(level=logging.INFO)
    from sglang.srt.plugins import load_plugins

    load_plugins()
    if os.environ.get("SPAWN") != "1":
        load_and_run(folder, inputs, out)
        return
    process = multiprocessing.get_context("spawn").Process(
        target=load_and_run, args=(folder, inputs, out)
    )
    process.start()
    process.join()
    sys.exit(process.exitcode)


def compare(place: Path, vocabulary: Path | None) -> None:
    names = "sglang", "transformers", "tokenizers", "torch", "tokpar", "tokpar-vllm"
    print(", ".join(f"{name} {version(name)}" for name in names), f"; {os.cpu_count()} cores")
    folder, inputs, site = place / "model", place / "inputs.json", place / "site"
    save_model(folder, vocabulary)
    site.mkdir()
    (site / "sitecustomize.py").write_text(SITE, encoding="utf-8")
    texts = prompts([])
    stored = {"prompts": [vars(each) for each in texts], "chats": chats()}
    inputs.write_text(json.dumps(stored), encoding="utf-8")
    results: dict[str, Any] = {}
    for name, settings in RUNS.items():
        print(f"\n{name}")
        paths = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "PYTHONPATH": paths} | settings
        out = place / f"{name}.json"
        command = [sys.executable, __file__, "--run", str(folder), str(inputs), str(out)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        for line in done.stderr.splitlines():
            if "sglang.tokpar" in line:
                print(f"    {line}")
        results[name] = result = json.loads(out.read_text(encoding="utf-8"))
        keys = "prompts", "batch", "chats", "dynamic batches", "decoded"
        wrong = [key for key in keys if result[key] != results["off"][key]]
        print(f"    class: {' < '.join(result['classes'])}; different: {wrong or 'nothing'}")
        print(f"    encoded by tokpar: {result['calls']}, of prompts {result['calls of prompts']}")
        seconds = sum(result["times"][::2]), sum(result["times"][1::2]), result["chat seconds"]
        print("    prompts {:.2f} s, again {:.2f} s, chats {:.2f} s".format(*seconds))
        if wrong:
            sys.exit(1)


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabulary", type=Path, help="tokenizer.json, byte-level BPE")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        compare(Path(place), given.vocabulary)


if __name__ == "__main__":
    main()
