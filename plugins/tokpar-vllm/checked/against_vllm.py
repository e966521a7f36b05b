"""Compare what vLLM's renderer makes of prompts and chats with the plugin and without it.

Needs vllm, tokpar and tokpar-vllm, no GPU and no weights of a model:

    python plugins/tokpar-vllm/checked/against_vllm.py [--vocabulary tokenizer.json] [--texts FILE]

Each column of the printed table is one run of vLLM, in a process of its own. The script fails if
the ids, offsets or decoded texts of a run with the plugin differ from those of the run without it,
or if a prompt over the threshold was not encoded by tokpar on each of the renderer's copies.
The runs with fastokens are for comparison: their differences are shown."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inputs import Prompt, chats, prompts, save_model
from vllm_run import TIMES

HERE = Path(__file__).parent
RUNS = {
    "off, 1 worker": (1, {"TOKPAR_VLLM": "0"}),
    "on, 1 worker": (1, {}),
    "on, 2 workers": (2, {}),
    "fastokens, 1 worker": (1, {"TOKPAR_VLLM": "0", "VLLM_USE_FASTOKENS": "1"}),
    "on and fastokens": (1, {"VLLM_USE_FASTOKENS": "1"}),
}
BASE = "off, 1 worker"


def results_of(folder: Path, inputs: Path, name: str) -> dict[str, Any]:
    """What `vllm_run.py` found in a new process; what it logged of tokpar is printed."""
    workers, settings = RUNS[name]
    output = inputs.with_name(f"{name}.json")
    environment = os.environ | {"HF_HUB_OFFLINE": "1", "VLLM_PLUGINS": "tokpar"} | settings
    given = [str(folder), str(workers), str(inputs), str(output)]
    command = [sys.executable, str(HERE / "vllm_run.py"), *given]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    for line in (done.stdout + done.stderr).splitlines():
        if "tokpar" in line:
            print(f"    {line}")
    if done.returncode:
        sys.exit(f"{name}:\n{done.stderr}")
    return json.loads(output.read_text(encoding="utf-8"))


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


def uncounted(
    result: dict[str, Any], threshold: int, texts: list[Prompt], talks: list[Any]
) -> list[str]:
    """Prompts and chats over the threshold that tokpar did not encode, shorter ones that it did."""
    wanted = [int(len(each.text) >= threshold and each.by_tokpar) for each in texts]
    got = [each["calls"] for each in result["prompts"]]
    found = [
        f"{prompt.name}: tokpar encoded {got[TIMES * n : TIMES * (n + 1)]} texts, not {wanted[n]}"
        for n, prompt in enumerate(texts)
        if got[TIMES * n : TIMES * (n + 1)] != [wanted[n]] * TIMES
    ]
    long = [sum(len(each["content"]) for each in chat) >= threshold for chat in talks]
    found += [
        f"chat {n}: tokpar encoded {made['calls']} texts"
        for n, made in enumerate(result["chats"])
        if made["calls"] != int(long[n // 2])
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
            wrong += uncounted(result, threshold, texts, stored["chats"])
        copies = len(result["copies"])
        print(f"    classes of a copy: {' < '.join(result['classes'][0])}; copies: {copies}")
        print(f"    {len(wrong)} differences" + "".join(f"\n    {each}" for each in wrong[:20]))
        failed |= bool(wrong) and name.startswith("on, ")
    print_times(results, texts)
    sys.exit(failed)


def smallest_text(folder: Path) -> int:
    from transformers import AutoTokenizer

    import tokpar

    return tokpar.Encoder(AutoTokenizer.from_pretrained(folder)).smallest_split


if __name__ == "__main__":
    main()
