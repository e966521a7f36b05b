"""One run of vLLM's renderer: all that is compared, as JSON.

python vllm_run.py MODEL_FOLDER WORKERS INPUTS.json OUTPUT.json"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from inputs import Prompt

LIMIT = 2_000_000
"""Tokens that the model takes."""
TIMES = 3
"""How often each prompt is rendered, so that each copy of two gets it."""


def renderer_of(folder: Path, workers: int) -> Any:
    from vllm.config import DeviceConfig, LoggingConfig, ModelConfig, VllmConfig
    from vllm.logger import configure_logging
    from vllm.plugins import load_general_plugins
    from vllm.renderers.registry import renderer_from_config

    configure_logging(LoggingConfig())  # as `vllm serve` does
    load_general_plugins()  # as EngineArgs does, in each process
    model = ModelConfig(str(folder), dtype="float32", renderer_num_workers=workers)
    config = VllmConfig(model_config=model, device_config=DeviceConfig(device="cpu"))
    return renderer_from_config(config)


def copies_of(renderer: Any) -> list[Any]:
    """The tokenizers that the renderer borrows from its pool, one at a time for each call."""
    borrow = nonlocals(type(renderer.tokenizer).decode)["_borrow_from_pool"].__wrapped__
    return list(nonlocals(borrow)["tokenizer_pool"].queue)


def nonlocals(function: Any) -> dict[str, Any]:
    cells = function.__closure__ or ()
    names = function.__code__.co_freevars
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def parameters_of(prompt: Prompt) -> Any:
    from vllm.renderers.params import TokenizeParams

    return TokenizeParams(max_total_tokens=LIMIT, max_output_tokens=None, **prompt.parameters)


def rendered(make: Callable[[], Any]) -> dict[str, Any]:
    """Ids and offsets that vLLM made for the engine, or the error that it raised; how long that
    took, and how many texts tokpar encoded meanwhile."""
    called, began = counted(), time.perf_counter()
    try:
        (made,) = make()
    except Exception as error:
        found = error_of(error)
    else:
        found = compared(made)
    seconds = time.perf_counter() - began
    return {"found": found, "seconds": seconds, "calls": counted() - called}


def compared(made: Any) -> dict[str, Any]:
    return {name: made.get(name) for name in ("prompt_token_ids", "prompt_token_offsets")}


def error_of(error: Exception) -> dict[str, Any]:
    return {"error": f"{type(error).__name__}: {error}"}


def counted() -> int:
    if os.environ.get("TOKPAR_VLLM") == "0":
        return 0
    from tokpar.integrations import hf

    return hf.calls()


def run(folder: Path, workers: int, inputs: Path) -> dict[str, Any]:
    """All that is compared, and times, of one run."""
    from vllm.renderers.params import ChatParams

    stored = json.loads(inputs.read_text(encoding="utf-8"))
    texts = [Prompt(**each) for each in stored["prompts"]]
    began = time.perf_counter()
    renderer = renderer_of(folder, workers)
    renderer.warmup(ChatParams())  # as the server does
    result: dict[str, Any] = {"loading": time.perf_counter() - began}
    copies = copies_of(renderer)
    result["classes"] = [[each.__name__ for each in type(copy).__mro__[:3]] for copy in copies]
    result["isinstance"] = [is_real(copy) for copy in copies]
    result["limits"] = [(copy.max_token_id, copy.max_chars_per_token) for copy in copies]
    result |= through_the_renderer(renderer, texts, stored["chats"])
    result |= at_once(renderer, texts)
    calls = [getattr(copy, "tokpar_calls", 0) for copy in copies]
    result["copies"] = [on_a_copy(copy, texts) for copy in copies]
    after = [getattr(copy, "tokpar_calls", 0) for copy in copies]
    result["calls of copies"] = [b - a for a, b in zip(calls, after, strict=True)]
    result["calls"] = counted()
    return result


def is_real(copy: Any) -> bool:
    """The fast detokenizer and guidance take it for a fast tokenizer."""
    from vllm.v1.engine.detokenizer import uses_fast_detokenizer
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend

    return bool(uses_fast_detokenizer(copy) and GuidanceBackend.is_tokenizer_supported(copy))


def through_the_renderer(renderer: Any, texts: list[Prompt], talks: list[Any]) -> dict[str, Any]:
    """`render_cmpl` of each prompt, three times; `render_chat` of each chat, in both ways in which
    vLLM's callers ask for it: ids from the template, or a text that is tokenized then."""
    from vllm.renderers.params import ChatParams

    def complete(prompt: Prompt) -> Any:
        return renderer.render_cmpl([{"prompt": prompt.text}], parameters_of(prompt))

    def answer(chat: Any, settings: dict[str, Any]) -> Any:
        return renderer.render_chat([chat], ChatParams(chat_template_kwargs=settings))[1]

    ways = {}, {"tokenize": False, "add_generation_prompt": True}
    return {
        "prompts": [rendered(partial(complete, each)) for each in texts for _ in range(TIMES)],
        "chats": [rendered(partial(answer, chat, way)) for chat in talks for way in ways],
    }


def at_once(renderer: Any, texts: list[Prompt]) -> dict[str, Any]:
    """All prompts at the same time, as the server renders requests."""
    import asyncio

    async def one(prompt: Prompt) -> dict[str, Any]:
        try:
            how = parameters_of(prompt)
            (made,) = await renderer.render_cmpl_async([{"prompt": prompt.text}], how)
        except Exception as error:
            return error_of(error)
        return compared(made)

    async def every() -> list[dict[str, Any]]:
        return await asyncio.gather(*map(one, texts))

    called, began = counted(), time.perf_counter()
    out = [{"found": each} for each in asyncio.run(every())]
    seconds = time.perf_counter() - began
    return {"at once": out, "at once calls": counted() - called, "at once seconds": seconds}


def on_a_copy(copy: Any, texts: list[Prompt]) -> dict[str, Any]:
    """What one tokenizer of the pool gives for each prompt, and texts decoded from ids in one piece
    and one by one."""
    rows: list[Any] = []
    for prompt in texts:
        try:
            ids = copy(prompt.text, **parameters_of(prompt).get_encode_kwargs())["input_ids"]
        except Exception as error:
            rows.append(error_of(error))
            continue
        some = ids[:1000]
        rows.append(
            [ids, copy.decode(some), copy.convert_ids_to_tokens(some), streamed(copy, some)]
        )
    return {"rows": rows, "guidance": guided(copy)}


def streamed(tokenizer: Any, ids: list[int]) -> str:
    """The text that vLLM's fast detokenizer gives for ids that arrive one by one."""
    from vllm import SamplingParams
    from vllm.v1.engine import EngineCoreRequest
    from vllm.v1.engine.detokenizer import IncrementalDetokenizer

    fields = dict.fromkeys(EngineCoreRequest.__struct_fields__[:9])
    how = SamplingParams(skip_special_tokens=False, spaces_between_special_tokens=False)
    fields |= {"request_id": "x", "prompt_token_ids": ids[:5], "sampling_params": how}
    decoder = IncrementalDetokenizer.from_new_request(
        tokenizer, EngineCoreRequest(**fields | {"arrival_time": 0.0})
    )
    for id_ in ids[5:]:
        decoder.update([id_], False)
    return str(decoder.get_next_output_text(True, False))


def guided(tokenizer: Any) -> list[int]:
    """Ids that llguidance, which reads the tokenizer's own file, gives for a text."""
    from vllm.v1.structured_output.backend_guidance import GuidanceBackend

    made = GuidanceBackend._build_ll_tokenizer(tokenizer, len(tokenizer))
    return list(made.tokenize_str('{"name": "Ada", "year": 1843}'))


if __name__ == "__main__":
    folder, workers, inputs, output = sys.argv[1:]
    made = run(Path(folder), int(workers), Path(inputs))
    Path(output).write_text(json.dumps(made), encoding="utf-8")
