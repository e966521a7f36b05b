"""Write docs/commands.md: the help of every command of tokpar, 80 columns wide, with what several
commands take said once, and the environment variables.

    python -m tests.recipes.commands_page

tests/docs/test_commands_page.py fails while the page is not what this writes.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
WIDTH = "80"
SEVERAL = 3
"""What so many commands say in the same words stands once."""
ENTRY = re.compile(r"^  (?=\S).*\n(?:   .*\n)*", re.MULTILINE)
"""One argument of a help: its line and the lines that are further in."""
HEAD = """# Commands and variables

Everything that `tokpar` takes in a shell, as its `--help` says it; what several commands take is
said [once](#arguments-of-several-commands). Exit codes: 0 done; 1 not lossless, a check failed, or
one of several files cannot be used; 2 the arguments or files cannot be used; 130 interrupted.
"""
SHARED_HEAD = """
## Arguments of several commands

The usage of a command says which of these it takes.

"""
OF_PLUGINS = """
Of plugins in the wheel of tokpar: `tokpar bench` and `tokpar tokentree`
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
    "TOKPAR_PLUGINS": "names of the plugins of others that may load, separated by commas; empty: "
    "none; not set: all",
    "TOKPAR_CACHE": "the directory for tables of vocabularies and results of comparisons; empty: "
    "none; not set: `tokpar` in `XDG_CACHE_HOME`, else `~/.cache/tokpar`",
    "TOKPAR_CACHE_MAP": "`0`: each process reads the files of the cache into its memory; not set: "
    "all processes map them and share the memory, see [the cache on disk]"
    "(serving.md#the-cache-on-disk)",
    "TOKPAR_KERNEL": "`none`: use no compiled code, `compiled`: an error where there is none; not "
    "set: the compiled code if it is there. The ids are the same",
    "TOKPAR_AS_HF": "`0`: objects of `as_hf`, also those of `patch_transformers` and of "
    "tokpar-vllm, give every text but untrusted ones to the tokenizer's own engine",
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
    return HEAD + "".join(sections()) + OF_PLUGINS + VARIABLES_HEAD + table() + TESTS


def sections() -> Iterator[str]:
    """A heading and the help of `tokpar`, of each of its own commands, and what these share."""
    from tokpar.registry.builtins import tokpar_commands

    commands = [[], *([command.name] for command in tokpar_commands())]
    helps = [help_of(words) for words in commands]
    said = Counter(words_of(entry) for text in helps for entry in ENTRY.findall(text))
    shared: dict[str, str] = {}
    for words, text in zip(commands, helps, strict=True):
        shared |= {words_of(each): each for each in ENTRY.findall(text) if is_shared(each, said)}
        own = ENTRY.sub(lambda match: "" if is_shared(match[0], said) else match[0], text)
        own = re.sub(r"^[a-z ]+:\n\n?(?=\S|\Z)", "", own, flags=re.MULTILINE)
        yield f"\n## {' '.join(['tokpar', *words])}\n\n{indented(own.strip())}"
    yield SHARED_HEAD + indented("".join(shared.values()))


def is_shared(entry: str, said: Counter[str]) -> bool:
    return said[words_of(entry)] >= SEVERAL


def words_of(entry: str) -> str:
    return " ".join(entry.split())


def indented(text: str) -> str:
    """The text as a block of code."""
    return "".join(f"    {line}".rstrip() + "\n" for line in text.splitlines())


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
