"""Every Python and console example of README.md, docs/ and the READMEs of packages with commands
runs, in order, and prints what it shows.

The Python of a page is saved as a file and run as a user runs it, with only those packages that the
page has its reader install; pages whose Python is a plugin run in this process. Console examples
are lines `$ tokpar ...`, run in this process; "..." stands for any text. One that ends with
`|| echo "exit code $?"` must fail, and shows that line.
"""

from __future__ import annotations

import contextlib
import doctest
import functools
import inspect
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, EntryPoints, packages_distributions
from pathlib import Path
from typing import Any

import pytest
import tiktoken

import tokpar.registry.tables as registry_module
from tests.support.hf_sources import fresh, save_remote_code
from tests.support.pages import BLOCK, PAGES, Block, blocks
from tests.support.paths import ROOT, TESTS, own_entry_points
from tests.support.seams import part
from tests.support.tekken_files import save_tekken
from tokpar.cli import main
from tokpar.process import kernel_modules
from tokpar.registry.tables import Registry

KINDS = {"python", "console"}
MEASURING = {"try"}
"""Commands whose output has times in it: pages show those of a real run."""
FAILS = ' || echo "exit code $?"'
ONLY_PACKAGES = TESTS / "support" / "only_packages"
TUTORIAL = "tokpar_bytes"
OF_TUTORIAL = f"# {TUTORIAL}.py\n"
"""The module that docs/plugins.md has its reader write, and how the blocks of it begin."""


def sessions(body: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, each with the output shown below it."""
    for session in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, output = session.partition("\n")
        yield command, output


def without_figures(output: str) -> str:
    """With "N" for each number, one space between words, and without where the tables of a compiled
    call lie: what is measured is another time another, and so wide."""
    output = re.sub(r"(?s)(compiled call tables) .*?(?=\ntext )", r"\1", output)
    return re.sub(r"[ \t]+", " ", re.sub(r"\d[\d,]*(?:\.\d+)*", "N", output))


WAITS = "print('\\0', flush=True); input()\n"
"""Where a page has a console block, its program waits until the test has run the block."""


def save_python(page: Path, folder: Path) -> Path:
    """Save the Python of a page as one file, each block on the lines that it has in the page."""
    program, line = "", 0
    for block in blocks(page):
        code = block.body if block.kind == "python" else WAITS
        program += "\n" * (block.line - line) + code
        line = block.line + code.count("\n")
    path = folder / f"{page.stem}_example.py"
    path.write_text(program, encoding="utf-8")
    return path


def first_use_of_an_installed_package(page: Path) -> int:
    """The place in a page of the first Python block that imports what tokpar does not bring."""
    known = {*sys.stdlib_module_names, "tokpar", "numpy", "tiktoken", "tokenizers", TUTORIAL}
    known |= {point.module for point in own_entry_points()} | {"tokpar_model"}
    text = page.read_text(encoding="utf-8")
    for match in BLOCK.finditer(text):
        imported = re.findall(r"^\s*(?:from|import) (\w+)", match[2], re.MULTILINE)
        if match[1] == "python" and not known.issuperset(imported):
            return match.start()
    return len(text)


def packages_of(page: Path) -> list[str]:
    """What a page has its reader install before the first block that needs one of the packages, as
    `tests/support/only_packages` takes it."""
    text = page.read_text(encoding="utf-8")[: first_use_of_an_installed_package(page)]
    words = shlex.split(" ".join(re.findall(r"pip install ([^`\n&#:]*)", text)), posix=True)
    names = [re.sub(r"^\.(/plugins/|(?=\[)|$)", "", word) for word in words if word[0] != "-"]
    return ["tokpar", *(f"tokpar{name}" if name[:1] in ("", "[") else name for name in names)]


@functools.cache
def owners() -> str:
    """The distributions of each module, as `tests/support/only_packages` takes them."""
    return json.dumps(packages_distributions())


@contextlib.contextmanager
def started(page: Path, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """The program of a page, as its reader starts it."""
    own = {k: v for k, v in os.environ.items() if not k.startswith("TOKPAR_")}
    path = [str(ONLY_PACKAGES), *filter(None, [os.environ.get("PYTHONPATH")])]
    own |= {"PYTHONPATH": os.pathsep.join(path), "PAGE_PACKAGES": " ".join(packages_of(page))}
    own["PAGE_OWNERS"] = owners()
    if "tiktoken.get_encoding" in page.read_text(encoding="utf-8"):
        own["PAGE_CL100K_FROM"] = str(ROOT)
    command = [sys.executable, "-X", "utf8", "-W", "error", save_python(page, folder).name]
    errors = folder / "stderr"
    with (
        errors.open("w", encoding="utf-8") as stderr,
        subprocess.Popen(
            command,
            cwd=folder,
            env=own,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
        ) as program,
    ):
        try:
            yield program
            program.communicate(timeout=120)
        finally:
            program.kill()
    assert program.returncode == 0, f"{page.name}: {errors.read_text(encoding='utf-8')}"


def run_in_process(block: Block, page: Path, names: dict[str, Any]) -> None:
    padded = "\n" * block.line + block.body
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(padded, page.name, "exec"), names)


def let_run(program: subprocess.Popen[str]) -> None:
    """Wait until the program waits, or ends."""
    assert program.stdout is not None
    while program.stdout.readline() not in ("\0\n", ""):
        pass


def let_go_on(program: subprocess.Popen[str]) -> None:
    assert program.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # it failed, and its error is shown
        program.stdin.write("\n")
        program.stdin.flush()


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
    """The folder of a model, as pages name it: a tokenizer with a chat template that writes its
    control tokens, as those of Qwen 3 and Gemma 3 do."""
    chatml = fresh("deepseek_part")
    chatml.add_special_tokens({"bos_token": "<|im_start|>", "eos_token": "<|im_end|>"})
    chatml.save_pretrained(folder)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if kernel_modules.CALL is None and page.name == "certificates.md":
        pytest.skip("they print seams at every space, of which there are fewer without the kernel")
    if page.name == "conformance.md":
        request.getfixturevalue("few_texts")  # tests of the kit look at the parts with all of them
    # a page may register plugins, and those of others that are installed here may have these names
    installed = own_entry_points()
    monkeypatch.setattr(registry_module, "_registry", [Registry.load(installed)])
    monkeypatch.delenv("TOKPAR_PLUGINS", raising=False)
    for name in ("README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    text = page.read_text(encoding="utf-8")
    if "my-model" in text:
        save_model(tmp_path / "my-model")
    if '"my-kimi"' in text:
        save_remote_code(tmp_path, monkeypatch)
    if '"tekken.json"' in text:
        save_tekken(tmp_path)
    if "book.txt" in text:
        words = (ROOT / "LICENSE").read_text(encoding="utf-8")
        (tmp_path / "book.txt").write_text(words * 4, encoding="utf-8")
    if "tiktoken.get_encoding" in text:  # a part of it stands for an encoding that is downloaded
        monkeypatch.setitem(tiktoken.registry.ENCODINGS, "cl100k_base", part("cl100k_part"))
    names: dict[str, Any] = {"__name__": "__main__"}
    module = ""
    with contextlib.nullcontext() if runs_here(page) else started(page, tmp_path) as program:
        for block in blocks(page):
            assert block.kind in KINDS, f"{page.name}:{block.line}: a block of kind {block.kind!r}"
            if block.body.startswith(OF_TUTORIAL):
                module += block.body
                (tmp_path / f"{TUTORIAL}.py").write_text(module, encoding="utf-8")
                grown = Registry.load([*installed, *installed_by(pyproject_of(page), tmp_path)])
                monkeypatch.delitem(sys.modules, TUTORIAL, raising=False)
                monkeypatch.setattr(registry_module, "_registry", [grown])
            if block.kind == "python" and program is None:
                run_in_process(block, page, names)
            if block.kind == "console":
                if program is not None:
                    let_run(program)
                run_console(block, page)
                if program is not None:
                    let_go_on(program)


def runs_here(page: Path) -> bool:
    """True for the page that has its reader write a module, piece by piece, and for the page whose
    checks take few texts in this process only (`few_texts`)."""
    return page.name in ("plugins.md", "conformance.md")


def pyproject_of(page: Path) -> str:
    """The pyproject.toml that a page shows."""
    text = page.read_text(encoding="utf-8")
    shown = re.search(r"^    \[build-system\]\n(?:(?:    .*)?\n)+", text, re.MULTILINE)
    assert shown is not None
    return inspect.cleandoc(shown[0])


def installed_by(pyproject: str, folder: Path) -> EntryPoints:
    """Write the metadata that `pip install` leaves of a package, and return its entry points."""
    project = tomllib.loads(pyproject)["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    told = folder / f"{name}-{version}.dist-info"
    told.mkdir(exist_ok=True)
    metadata = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {version}"]
    metadata += [f"Requires-Dist: {needed}" for needed in project.get("dependencies", ())]
    (told / "METADATA").write_text("\n".join(metadata) + "\n", encoding="utf-8")
    for group, points in project.get("entry-points", {}).items():
        lines = [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
        (told / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return Distribution.at(told).entry_points


def test_the_plugin_of_the_tutorial_works_from_a_shell(tmp_path: Path) -> None:
    page = ROOT / "docs" / "plugins.md"
    installed_by(pyproject_of(page), tmp_path)
    (tmp_path / f"{TUTORIAL}.py").write_text(module_of(page), encoding="utf-8")
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


def test_the_readme_has_exactly_three_command_lines_to_copy() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^    (\S.*)$", BLOCK.sub("", text), re.MULTILINE) == [
        "git clone ADDRESS tokpar && cd tokpar && pip install . transformers",
        "pip install . && tokpar encode README.md",
        "pip install -e '.[test]' && pytest",
    ]
