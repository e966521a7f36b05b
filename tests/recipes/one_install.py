"""Use all that the wheel of tokpar has once, in an environment that holds nothing else.

    python tests/recipes/one_install.py

Encodes with every strategy and every engine of the wheel, runs every command of `tokpar --help`,
and calls every public function. It imports nothing of the checkout, and ends with the number of
things that it used. `.ci/run` runs it after `pip install` of the wheel, of the source distribution
and of an editable checkout."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tokpar

TEXT = "The quick brown fox, 1234567 times: the lazy dog. " * 200
EXACT = ("auto", "blocks", "cut", "lopt", "recursive", "serial")
APPROXIMATE = ("delimiter", "overlap")
COMMANDS: dict[str, list[str]] = {
    "bench": ["--quick", "--only", "methods", "--methods", "auto", "--repeats", "1"],
    "check": ["text.txt", "--level", "model"],
    "chunks": ["text.txt", "--max-tokens", "500"],
    "conform": ["cut", "--examples", "1"],
    "corpus": ["build", "rows.jsonl", "--tokenizer", "default", "--out", "shards", "--quiet"],
    "count": ["text.txt"],
    "decode": ["--file", "ids.txt"],
    "diff": ["default", "default"],
    "encode": ["text.txt", "--engine", "pure"],
    "explain": ["text.txt"],
    "plan": ["text.txt"],
    "plugins": [],
    "strategies": [],
    "stream": ["text.txt", "--engine", "incremental"],
    "tokentree": ["default", "text.txt"],
    "train": ["text.txt", "--vocab-size", "300", "-o", "trained.json"],
    "try": ["default", "text.txt"],
}
"""Arguments of each command."""
NEEDS = {"conform": "hypothesis"}
"""Commands that need a package which tokpar does not bring: they say which."""


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "text.txt").write_text(TEXT, encoding="utf-8")
        (folder / "ids.txt").write_text("6728 5246\n", encoding="utf-8")
        (folder / "rows.jsonl").write_text(json.dumps({"text": TEXT}) + "\n", encoding="utf-8")
        used = [*encode_by_each_way(), *run_commands(folder), *call_functions()]
    print(f"{len(used)} strategies, engines, commands and functions used: {tokpar.__file__}")
    return 0


def encode_by_each_way() -> list[str]:
    """Encode by each strategy and engine. Returns their names."""
    serial = tokpar.encode(TEXT, strategy="serial")
    found = {record.name for record in tokpar.strategies()}
    assert found == {*EXACT, *APPROXIMATE}, found
    for strategy in EXACT:
        assert tokpar.encode(TEXT, strategy=strategy) == serial, strategy
    for strategy in APPROXIMATE:
        assert len(tokpar.encode(TEXT, strategy=strategy, allow_approximate=True))
    engines = ("pure", "incremental")
    for engine in engines:
        assert tokpar.encode(TEXT, tokpar.load("default", engine=engine)) == serial, engine
    return [*EXACT, *APPROXIMATE, *engines]


def run_commands(folder: Path) -> list[str]:
    """Run each command that the help names. Returns their names."""
    command = [str(Path(sys.executable).with_name("tokpar"))]
    help_of_all = run([*command, "--help"], folder).stdout
    names = re.findall(r"^    (\w+)(?= |$)", help_of_all, re.MULTILINE)
    said = " ".join(help_of_all.split())  # of a command without its package the help says why
    names += [name for name, package in NEEDS.items() if f"needs the package {package}" in said]
    assert sorted(names) == sorted(COMMANDS), help_of_all
    for name, arguments in COMMANDS.items():
        done = run([*command, name, *arguments], folder)
        if name in NEEDS and done.returncode == 2:
            assert f"needs the package {NEEDS[name]}" in done.stderr, done.stderr
        else:
            assert done.returncode == 0, (name, done.stderr, done.stdout[-500:])
    return list(COMMANDS)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command in the folder."""
    return subprocess.run(
        command, cwd=folder, capture_output=True, encoding="utf-8", timeout=300, check=False
    )


def call_functions() -> list[str]:
    """Call each public function. Returns their names."""
    calls: dict[str, Callable[[], Any]] = {
        "check": lambda: tokpar.check(tokpar.encode(TEXT), TEXT).ok,
        "count": lambda: tokpar.count(TEXT),
        "decode": lambda: tokpar.decode([6728, 5246]) == "Hello world",
        "encode": lambda: tokpar.encode(TEXT),
        "encode_batch": lambda: tokpar.encode_batch([TEXT, "a"]),
        "encode_iter": lambda: [*tokpar.encode_iter([TEXT, "a"])],
        "encode_segments": lambda: tokpar.encode_segments([("Hello", True), (" world", False)]),
        "fit": lambda: tokpar.fit([TEXT, "a"], 4),
        "load": lambda: tokpar.load("default"),
        "patch_tiktoken": lambda: tokpar.patch_tiktoken().active,
        "patch_tokenizers": lambda: tokpar.patch_tokenizers().active,
        "patch_transformers": lambda: callable(tokpar.patch_transformers),
        "plugins": tokpar.plugins,
        "strategies": tokpar.strategies,
        "stream": lambda: [*tokpar.stream(["Hello wor", "ld"])],
        "train": lambda: tokpar.train([TEXT], vocab_size=300),
    }
    of_other_packages = {"as_hf", "as_tiktoken", "as_tokenizers"}  # need an object of theirs
    functions = {name for name in tokpar.__all__ if name[0].islower()} - of_other_packages
    assert functions <= calls.keys(), functions - calls.keys()
    for name, call in calls.items():
        assert call(), name
    return list(calls)


if __name__ == "__main__":
    raise SystemExit(main())
