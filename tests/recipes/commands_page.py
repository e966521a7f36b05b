"""Write docs/commands.md: the help of every command of tokpar, 80 columns wide, and the environment
variables.

    python -m tests.recipes.commands_page

tests/docs/test_commands_page.py fails while the page is not what this writes.
"""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
WIDTH = "80"
HEAD = """# Commands and variables

Everything that `tokpar` takes in a shell, as its `--help` says it. Texts are files, `-` for
standard input, or `--text`. Exit codes: 0 done; 1 not lossless, a check failed, or one of several
files cannot be used; 2 the arguments or files cannot be used; 130 interrupted by Ctrl-C.
"""
ELSEWHERE = """
Of packages of their own: `tokpar bench` and `tokpar tokentree`
([tokpar-bench](../plugins/tokpar-bench/README.md)), `tokpar conform`
([conformance](conformance.md)), `tokpar corpus` ([corpora](corpora.md)), `tokpar diff`
([tokpar-diff](../plugins/tokpar-diff/README.md)),
`tokpar explain` ([tokpar-explain](../plugins/tokpar-explain/README.md)), `tokpar train`
([tokpar-train](../plugins/tokpar-train/README.md)). Plugins add [commands](plugins.md#the-hooks).
"""
VARIABLES_HEAD = """
## Environment variables

| variable | meaning |
|---|---|
"""
VARIABLES = {
    "TOKPAR_PLUGINS": "names of the installed plugins that may load, separated by commas; empty: "
    "none; not set: all",
    "TOKPAR_CACHE": "the directory for tables of vocabularies and results of comparisons; empty: "
    "none; not set: `tokpar` in `XDG_CACHE_HOME`, else `~/.cache/tokpar`",
    "TOKPAR_KERNEL": "`none`: use no compiled code, `compiled`: an error where there is none; not "
    "set: the compiled code if it is there. The ids are the same",
    "TOKPAR_VLLM": "`0`: the package tokpar-vllm changes nothing in vLLM",
    "TOKPAR_SGLANG": "`0`: the package tokpar-vllm changes nothing in SGLang",
    "TOKPAR_BUILD": "while tokpar is installed from source: `0`: do not compile, `1`: fail if it "
    "does not compile",
    "RAYON_NUM_THREADS": "of engines in Rust; tokpar, too, uses at most so many cores, unless "
    "`workers` is given",
    "TOKENIZERS_PARALLELISM": "of Hugging Face tokenizers; `false`: tokpar uses one worker, too, "
    "unless `workers` is given",
    "XDG_CACHE_HOME": "where `TOKPAR_CACHE` lies if it is not set",
    "HF_HUB_OFFLINE": "of huggingface_hub; `1`: download no tokenizer, of tiktoken neither",
    "TIKTOKEN_CACHE_DIR": "of tiktoken; a directory with the files of its encodings",
    "DATA_GYM_CACHE_DIR": "of tiktoken; the same where `TIKTOKEN_CACHE_DIR` is not set",
    "NO_COLOR": "set: `tokpar explain` prints no colours",
}
TESTS = """
The variables of the test suite are in [CONTRIBUTING](../CONTRIBUTING.md).
"""


def page() -> str:
    return HEAD + "".join(sections()) + ELSEWHERE + VARIABLES_HEAD + table() + TESTS


def sections() -> Iterator[str]:
    """A heading and the help of `tokpar`, and of each of its own commands."""
    from tokpar.builtins import tokpar_commands

    for words in ([], *([command.name] for command in tokpar_commands())):
        command = " ".join(["tokpar", *words])
        yield f"\n## {command}\n\n```console\n$ {command} --help\n{help_of(words)}```\n"


def help_of(words: list[str]) -> str:
    """What the command prints on a terminal of 80 columns."""
    from tokpar.cli import main

    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = WIDTH
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            code = main([*words, "--help"])
    finally:
        os.environ.pop("COLUMNS")
        if before is not None:
            os.environ["COLUMNS"] = before
    assert code == 0, words
    return "\n".join(line.rstrip() for line in printed.getvalue().splitlines()) + "\n"


def table() -> str:
    return "".join(f"| `{name}` | {meaning} |\n" for name, meaning in VARIABLES.items())


if __name__ == "__main__":
    os.environ["TOKPAR_PLUGINS"] = ""  # the page is about tokpar's own commands
    PAGE.write_text(page(), encoding="utf-8")
