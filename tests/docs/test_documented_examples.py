"""Every Python and console example of README.md and docs/ runs, in order, and prints what it shows.

Console examples are lines `$ tokpar ...`, run in this process; "..." stands for any text. One that
ends with `|| echo "exit code $?"` must fail, and shows that line.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest
import tiktoken

import tokpar.registry as registry_module
from tests.support.hf_sources import fresh
from tests.support.pages import BLOCK, PAGES, Block, blocks, public_names
from tests.support.paths import ROOT
from tests.support.seams import part
from tokpar import kernel_modules, pure
from tokpar.cli import main
from tokpar.pure import decoders, normalizers, pretokenize
from tokpar.registry import Registry

KINDS = {"python", "console"}
COMMANDS = {"bench.md": "bench", "train.md": "train"}
"""Pages on commands that are packages of their own."""
MEASURING = {"try"}
"""Commands whose output has times in it: pages show those of a real run."""
FAILS = ' || echo "exit code $?"'
TUTORIAL = "tokpar_bytes"
OF_TUTORIAL = f"# {TUTORIAL}.py\n"
"""The module that docs/plugins.md has its reader write, and how the blocks of it begin."""


def sessions(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    for session in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, output = session.partition("\n")
        yield command, output


def without_figures(output: str) -> str:
    """With "N" for each number and one space between words: what is measured is another time
    another, and so wide."""
    return re.sub(r"[ \t]+", " ", re.sub(r"\d[\d,]*(?:\.\d+)*", "N", output))


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    padded = "\n" * block.line + block.body
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(padded, page.name, "exec"), names)


def run_console(block: Block, page: Path) -> None:
    checker = doctest.OutputChecker()
    for command, expected in sessions(block.body):
        own, fails, _ = command.partition(FAILS)
        program, *arguments = shlex.split(own)
        assert program == "tokpar", f"{page.name}: {command}"
        with contextlib.redirect_stdout(io.StringIO()) as stdout:
            code = main(arguments)
        got = stdout.getvalue() + (f"exit code {code}\n" if fails else "")
        assert bool(code) == bool(fails), f"{page.name}: {command} ended with {code}"
        if arguments[-1:] == ["--help"]:  # tests/docs/test_commands_page.py compares it
            continue
        if arguments[0] in MEASURING:
            expected, got = without_figures(expected), without_figures(got)
        assert checker.check_output(expected, got, doctest.ELLIPSIS), (
            f"{page.name}: {command}\nexpected:\n{expected}\ngot:\n{got}"
        )


def module_of(page: Path) -> str:
    """The module that a page has its reader write."""
    bodies = [block.body for block in blocks(page)]
    return "\n\n".join(body for body in bodies if body.startswith(OF_TUTORIAL))


def save_model(folder: Path) -> None:
    """The folder of a model, as pages name it: a tokenizer with a chat template."""
    chatml = fresh("deepseek_part")
    chatml.save_pretrained(folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if kernel_modules.SEGMENTS is None and page.name in ("README.md", "guide.md"):
        pytest.skip("they print seams at every space, of which there are fewer without the kernel")
    if page.name == "conformance.md" or page.parent.name == "hooks":
        request.getfixturevalue("few_texts")  # tests/testing looks at the parts with all of them
    # a page may register plugins, and those that are installed here may have the same names
    installed = []
    if page.name in COMMANDS:
        name = COMMANDS[page.name]
        monkeypatch.syspath_prepend(ROOT / "plugins" / f"tokpar-{name}" / "src")
        installed = [EntryPoint(name, f"tokpar_{name}", "tokpar")]
    monkeypatch.setattr(registry_module, "_registry", [Registry.load(installed)])
    monkeypatch.delenv("TOKPAR_PLUGINS", raising=False)
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = page.read_text(encoding="utf-8")
    if '"my-model"' in text:
        save_model(tmp_path / "my-model")
    if "book.txt" in text:
        words = (ROOT / "LICENSE").read_text(encoding="utf-8")
        (tmp_path / "book.txt").write_text(words * 4, encoding="utf-8")
    if "tiktoken.get_encoding" in text:  # a part of it stands for an encoding that is downloaded
        monkeypatch.setitem(tiktoken.registry.ENCODINGS, "cl100k_base", part("cl100k_part"))
    names: dict[str, Any] = {"__name__": "__main__"}
    module = ""
    for block in blocks(page):
        assert block.kind in KINDS, f"{page.name}:{block.line}: a block of kind {block.kind!r}"
        if block.body.startswith(OF_TUTORIAL):
            module += block.body
            grown = Registry.load(installed_by(pyproject_of(page), module, tmp_path))
            monkeypatch.delitem(sys.modules, TUTORIAL, raising=False)
            monkeypatch.setattr(registry_module, "_registry", [grown])
        if block.kind == "python":
            run_python(block, page, names)
        else:
            run_console(block, page)


def pyproject_of(page: Path) -> str:
    """The pyproject.toml that a page shows."""
    text = page.read_text(encoding="utf-8")
    shown = re.search(r"^    \[build-system\]\n(?:(?:    .*)?\n)+", text, re.MULTILINE)
    assert shown is not None
    return inspect.cleandoc(shown[0])


def installed_by(pyproject: str, module: str, folder: Path) -> EntryPoints:
    """Write what `pip install` leaves of a package of one module, the module and its metadata, and
    return its entry points."""
    project = tomllib.loads(pyproject)["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    (folder / f"{TUTORIAL}.py").write_text(module, encoding="utf-8")
    told = folder / f"{name}-{version}.dist-info"
    told.mkdir(exist_ok=True)
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    (told / "METADATA").write_text(metadata, encoding="utf-8")
    for group, points in project["entry-points"].items():
        lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (told / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return Distribution.at(told).entry_points


def test_the_plugin_of_the_tutorial_works_from_a_shell(tmp_path: Path) -> None:
    page = ROOT / "docs" / "plugins.md"
    installed_by(pyproject_of(page), module_of(page), tmp_path)
    path = os.pathsep.join([str(tmp_path), str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": path, "PYTHONUTF8": "1"}
    environment.pop("TOKPAR_PLUGINS", None)
    for words, expected in (
        (["plugins"], "  tokenizer bytes\n"),
        (["encode", "--quiet", "--tokenizer", "bytes", "--text", "añb"], "97 195 177 98\n"),
        (["count", "--quiet", "--strategy", "halves+glue", "LICENSE"], "3071 LICENSE\n"),
        (["different", "to be or not to be"], "5\n"),
    ):
        command = [sys.executable, "-m", "tokpar", *words]
        done = subprocess.run(
            command, env=environment, cwd=ROOT, capture_output=True, encoding="utf-8"
        )
        assert done.returncode == 0, done.stderr
        assert expected in done.stdout


def kinds_read() -> Iterator[str]:
    """Kinds of parts of a tokenizer.json that the readers know by name."""
    for module in (normalizers, pretokenize, decoders):
        yield from module._READERS


def test_pure_md_names_every_class_reader_and_kind_of_the_pure_tokenizers() -> None:
    page = (ROOT / "docs" / "pure.md").read_text(encoding="utf-8")
    code = " ".join(re.findall(r"^```python$.*?^```$|`[^`\n]+`", page, re.DOTALL | re.MULTILINE))
    wanted = {*public_names(pure), *kinds_read()}
    assert sorted(wanted - set(re.findall(r"\w+", code))) == []


def test_there_are_examples_of_both_kinds() -> None:
    found = {block.kind for page in PAGES for block in blocks(page)}
    assert found == KINDS


def test_the_readme_has_exactly_two_command_lines_to_copy() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^    (\S.*)$", BLOCK.sub("", text), re.MULTILINE) == [
        "pip install . && tokpar encode README.md",
        "pip install -e '.[test]' && pytest",
    ]
