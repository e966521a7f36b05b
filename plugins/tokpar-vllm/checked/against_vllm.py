"""Compare what vLLM's renderer makes of prompts and chats with the plugin and without it.

Needs vllm, tokpar and tokpar-vllm, no GPU and no weights of a model:

    python plugins/tokpar-vllm/checked/against_vllm.py [--vocabulary tokenizer.json] [--texts FILE]

Each row of the printed table is one run of vLLM, in a process of its own. The script fails if the
ids, offsets or decoded texts of any run differ from those of the run without the plugin, or if a
prompt over the threshold was not encoded by tokpar on one of the renderer's tokenizer copies."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inputs import Prompt, chats, prompts, save_model

HERE = Path(__file__).parent
RUNS = {
    "off, 1 worker": (1, {"TOKPAR_VLLM": "0"}),
    "on, 1 worker": (1, {}),
    "on, 2 workers": (2, {}),
    "fastokens, 1 worker": (1, {"TOKPAR_VLLM": "0", "VLLM_USE_FASTOKENS": "1"}),
    "on and fastokens": (1, {"VLLM_USE_FASTOKENS": "1"}),
}
BASE = "off, 1 worker"
LIMIT = 2_000_000
"""Tokens that the model takes."""
TIMES = 3
"""How often each prompt is rendered, so that each copy of two gets it."""


# ------------------------------------------------------------------------- in a process of its own


def renderer_of(folder: Path, workers: int) -> Any:
    from vllm.config import DeviceConfig, ModelConfig, VllmConfig
    from vllm.plugins import load_general_plugins
    from vllm.renderers.registry import renderer_from_config

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
    stored = json.loads(inputs.read_text(encoding="utf-8"))
    texts = [Prompt(**each) for each in stored["prompts"]]
    began = time.perf_counter()
    renderer = renderer_of(folder, workers)
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


# ------------------------------------------------------------------------------- compare and print


def results_of(folder: Path, inputs: Path, name: str) -> dict[str, Any]:
    workers, settings = RUNS[name]
    given = [str(folder), str(workers), str(inputs)]
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_PLUGINS": "tokpar"} | settings
    done = subprocess.run(
        [sys.executable, __file__, "--run", *given],
        env=environment,
        capture_output=True,
        text=True,
    )
    log = done.stdout.splitlines() + done.stderr.splitlines()
    for line in log:
        if "tokpar" in line and not line.startswith("RESULT "):
            print(f"    {line}")
    if done.returncode:
        sys.exit(f"{name}:\n{done.stderr}")
    (line,) = [line for line in log if line.startswith("RESULT ")]
    return json.loads(Path(line.removeprefix("RESULT ")).read_text(encoding="utf-8"))


def differences(base: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Where a run differs from the one without the plugin."""
    found = []
    for key in ("prompts", "chats", "at once"):
        one, two = ([each["found"] for each in run[key]] for run in (base, other))
        found += [f"{key} {n}: another result" for n in range(len(one)) if one[n] != two[n]]
    first = base["copies"][0]
    for number, copy in enumerate(other["copies"]):
        found += [f"copy {number}: other {key}" for key in first if copy[key] != first[key]]
        if other["limits"][number] != base["limits"][0]:
            found.append(f"copy {number}: other limits")
        if not other["isinstance"][number]:
            found.append(f"copy {number}: not a fast tokenizer to vLLM")
    return found


def uncounted(result: dict[str, Any], threshold: int, texts: list[Prompt]) -> list[str]:
    """Prompts over the threshold that tokpar did not encode, and shorter ones that it did."""
    wanted = [int(len(each.text) >= threshold and each.by_tokpar) for each in texts]
    got = [each["calls"] for each in result["prompts"]]
    found = [
        f"{prompt.name}: tokpar encoded {got[TIMES * n : TIMES * (n + 1)]} texts, not {wanted[n]}"
        for n, prompt in enumerate(texts)
        if got[TIMES * n : TIMES * (n + 1)] != [wanted[n]] * TIMES
    ]
    totals = [result["at once calls"], *result["calls of copies"]]
    if totals != [sum(wanted)] * len(totals):
        found.append(f"at once and on each copy: {totals} texts, not {sum(wanted)}")
    return found


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.{0 if seconds > 0.1 else 1}f}"


def print_times(results: dict[str, dict[str, Any]], texts: list[Prompt]) -> None:
    shown = [name for name in results if name != "on, 2 workers"]
    print("\nrender_cmpl of one prompt, ms: first call / the better of two more")
    print(f"{'prompt':28}{'characters':>11}{'tokens':>9}", *(f"{name:>22}" for name in shown))
    for number, prompt in enumerate(texts):
        made = results[BASE]["prompts"][TIMES * number]["found"].get("prompt_token_ids") or []
        row = f"{prompt.name:28}{len(prompt.text):11,}{len(made):9,}"
        for name in shown:
            three = results[name]["prompts"][TIMES * number :][:TIMES]
            first, *again = [each["seconds"] for each in three]
            row += f"{milliseconds(first) + ' / ' + milliseconds(min(again)):>23}"
        print(row)
    for name, result in results.items():
        seconds, chat = result["at once seconds"], sum(each["seconds"] for each in result["chats"])
        print(
            f"{name}: loading {result['loading']:.1f} s, all prompts at the same time "
            f"{seconds:.2f} s, the chats {chat:.2f} s, encoded by tokpar: {result['calls']}"
        )


def main() -> None:
    if sys.argv[1:2] == ["--run"]:
        folder, workers, inputs = sys.argv[2:]
        out = Path(inputs).with_name(f"result-{os.getpid()}.json")
        out.write_text(json.dumps(run(Path(folder), int(workers), Path(inputs))), encoding="utf-8")
        print(f"RESULT {out}")
        return
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabulary", type=Path, help="tokenizer.json, byte-level BPE")
    parser.add_argument("--texts", type=Path, nargs="*", default=[], help="rows with a text each")
    parser.add_argument("--only", nargs="*", default=list(RUNS), choices=list(RUNS))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        compare(Path(place), given)


def compare(place: Path, given: argparse.Namespace) -> None:
    names = "vllm", "transformers", "tokenizers", "torch", "tokpar", "tokpar-vllm"
    print(", ".join(f"{name} {version(name)}" for name in names), f"; {os.cpu_count()} cores")
    folder, inputs = place / "model", place / "inputs.json"
    save_model(folder, given.vocabulary)
    texts = prompts(given.texts)
    threshold = smallest_text(folder)
    print(f"{len(texts)} prompts, texts from {threshold:,} characters on go through tokpar")
    stored = {"prompts": [vars(each) for each in texts], "chats": chats()}
    inputs.write_text(json.dumps(stored), encoding="utf-8")
    results, failed = {}, False
    for name in given.only:
        print(f"\n{name}")
        results[name] = result = results_of(folder, inputs, name)
        wrong = differences(results[BASE], result)
        if name.startswith("on, "):
            wrong += uncounted(result, threshold, texts)
        copies = len(result["copies"])
        print(f"    classes of a copy: {' < '.join(result['classes'][0])}; copies: {copies}")
        print(f"    {len(wrong)} differences" + "".join(f"\n    {each}" for each in wrong[:20]))
        failed |= bool(wrong)
    print_times(results, texts)
    sys.exit(failed)


def smallest_text(folder: Path) -> int:
    from transformers import AutoTokenizer

    import tokpar

    return tokpar.Encoder(AutoTokenizer.from_pretrained(folder)).smallest_split


if __name__ == "__main__":
    main()
