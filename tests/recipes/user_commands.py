"""Run every command of `user_commands.txt` in a folder of its own: what a user can do still works.

    python -m tests.recipes.user_commands [WORD]

WORD: only the commands that hold it, and those that make files. Commands of packages that are not
installed are left out and counted. Exit code 1 if a command ends otherwise than its line says.
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import DEFAULT, ROOT, VOCAB

LIST = Path(__file__).with_suffix(".txt")
PLUGIN = """
import tokpar
from tokpar.plugin import registry
from tokpar.plugin.split import Split, SplitterKind, hookimpl
class Whole:
    def split(self, text, tokenizer, attempt):
        return Split.whole(text, "one chunk")
class Plugin:
    @hookimpl
    def tokpar_splitters(self):
        return [SplitterKind("whole", Whole)]
registry().register(Plugin())
assert tokpar.encode("a b", strategy=("whole", "cut")).lossless
"""
AS_HF = """
import tokpar, transformers
def load():
    return transformers.PreTrainedTokenizerFast(tokenizer_file="built.json")
own, text = load(), "a b " * 5000
fast = own if hasattr(own, "tokpar_calls") else tokpar.as_hf(own)
assert fast(text, return_offsets_mapping=True) == load()(text, return_offsets_mapping=True)
with_template = "{% for m in messages %}{{ m['content'] }}{% endfor %}"
fast.apply_chat_template([{"role": "user", "content": "a b"}], chat_template=with_template)
"""


class Line(NamedTuple):
    """A command, the exit code that it must have, and the packages that it needs."""

    command: str
    code: int
    packages: tuple[str, ...]


def lines() -> Iterator[Line]:
    packages: tuple[str, ...] = ()
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            packages = tuple(line.strip("[]").split())
        elif line and not line.startswith("#"):
            expected = re.match(r"(\d+)! ", line)
            yield (
                Line(line[expected.end() :], int(expected[1]), packages)
                if expected
                else Line(line, 0, packages)
            )


def prepare(folder: Path) -> None:
    """The files that the commands read."""
    for name in ("README.md", "LICENSE", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, folder)
    for name, start in (("a.jsonl", 0), ("b.jsonl", 100)):
        rows = [{"id": k, "text": f"Document {k}: the fox."} for k in range(start, start + 100)]
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "vocab.txt").write_text("[UNK]\n[CLS]\n[SEP]\nplay\n##ing\n")
    ranks = {bytes([byte]): byte for byte in range(256)} | {b"th": 256, b"the": 257}
    coded = (f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())
    (folder / "own.tiktoken").write_text("".join(coded))
    shutil.copy(VOCAB / "deepseek_part.json", folder / "built.json")
    text = DEFAULT.read_text(encoding="utf-8")
    (folder / "digits.json").write_text(text.replace(r"\\p{N}{1,3}", r"\\p{N}"), "utf-8")
    (folder / "x.letters").write_text("0")
    (folder / "own_plugin.py").write_text(PLUGIN)
    (folder / "as_hf.py").write_text(AS_HF)


def main(words: list[str]) -> int:
    found = [*lines()]
    here = [line for line in found if all(map(find_spec, line.packages))]
    wanted = [
        line for line in here if not words or words[0] in line.command or "--out" in line.command
    ]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for number, line in enumerate(wanted, 1):
            print(f"[{number}/{len(wanted)}] {line.command[:90]}", flush=True)
            done = subprocess.run(
                ["bash", "-c", line.command],
                cwd=folder,
                env=os.environ | {"PATH": path},
                capture_output=True,
                encoding="utf-8",
                timeout=300,
            )
            if done.returncode != line.code:
                wrong += 1
                print(f"  exit code {done.returncode}, expected {line.code}: {done.stderr[-600:]}")
    left_out = len(found) - len(here)
    print(f"{len(wanted) - wrong} of {len(wanted)} commands work; {left_out} need other packages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
