"""The packages under plugins/ are laid out alike, the example works from its source through the
public functions and the command line, and the pages on plugins tell what there is."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import tokpar
import tokpar.registry.tables as registry_module
from tests.support.paths import ROOT
from tokpar.cli import main
from tokpar.contract.interfaces import Executor, Merger, Splitter, TokenizerAdapter
from tokpar.registry import hooks

PLUGINS = sorted(path for path in (ROOT / "plugins").iterdir() if (path / "src").is_dir())
APART = [path for path in PLUGINS if (path / "pyproject.toml").is_file()]
"""Distributions of their own, because each needs another package, or is an example of one."""
FOR_SERVERS = {"tokpar-vllm": {"vllm.general_plugins", "sglang.srt.plugins"}}
"""Plugins of other programs, with the groups of entry points in which those look."""
LIBRARY = ROOT / "plugins" / "tokpar-model"
"""What the checker imports: it has no hook."""
OWN: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
TUTORIAL = ROOT / "docs" / "plugins.md"
TEXT = "one two\nthree four\n\n    five, 678 nine\n" * 2000


# --------------------------------------------------------------------------- how they are laid out


def imports_of_tokpar(source: str) -> list[str]:
    """The modules of tokpar that a module imports from."""
    nodes = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.ImportFrom)]
    found = [node.module or "" for node in nodes]
    return [module for module in found if module.partition(".")[0] == "tokpar"]


def modules_of(plugin: Path) -> list[Path]:
    return sorted((plugin / "src").rglob("*.py"))


def test_a_plugin_with_a_pyproject_of_its_own_needs_another_package() -> None:
    assert [path.name for path in APART] == [
        *("tokpar-engines", "tokpar-example", "tokpar-sentencepiece", "tokpar-vllm")
    ]


@pytest.mark.parametrize("plugin", APART, ids=lambda plugin: plugin.name)
def test_a_plugin_apart_is_a_module_that_its_pyproject_announces(plugin: Path) -> None:
    said = tomllib.loads((plugin / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert said["name"] == plugin.name
    tables, module = said["entry-points"], plugin.name.replace("-", "_")
    assert set(tables) == FOR_SERVERS.get(plugin.name, {"tokpar"})
    found = {value.partition(":")[0] for each in tables.values() for value in each.values()}
    assert {each.partition(".")[0] for each in found} == {module}


@pytest.mark.parametrize(
    "plugin", [path for path in PLUGINS if path not in APART], ids=lambda plugin: plugin.name
)
def test_a_plugin_of_tokpar_is_in_its_wheel_and_among_its_entry_points(plugin: Path) -> None:
    module = plugin.name.replace("-", "_")
    packages = OWN["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert f"plugins/{plugin.name}/src/{module}" in packages
    points = OWN["project"]["entry-points"]["tokpar"]
    assert (module in points.values()) is (plugin != LIBRARY)
    assert all(f"tokpar_{name}" == value for name, value in points.items())


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_a_plugin_is_one_package(plugin: Path) -> None:
    package = plugin / "src" / plugin.name.replace("-", "_")
    assert package / "__init__.py" in modules_of(plugin)
    folders = {path.parent for path in modules_of(plugin)}
    assert all(folder in (package, package / folder.name) for folder in folders)
    assert all((folder / "__init__.py").is_file() for folder in folders)


def test_the_page_for_authors_imports_from_doors() -> None:
    doors = {
        "tokpar.plugin",
        *(f"tokpar.plugin.{name}" for name in ("merge", "overlap", "split", "tokenizer")),
    }
    assert set(imports_of_tokpar(fenced(TUTORIAL))) <= {"tokpar"} | doors


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda plugin: plugin.name)
def test_a_plugin_says_what_it_is_and_is_listed(plugin: Path) -> None:
    assert (plugin / "README.md").read_text(encoding="utf-8").startswith(f"# {plugin.name}\n")
    assert f"`{plugin.name}`" in (ROOT / "plugins" / "README.md").read_text(encoding="utf-8")


# --------------------------------------------------------------------------- the example


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """The module of tokpar-example, registered for one test, and there for other processes."""
    source = ROOT / "plugins" / "tokpar-example" / "src"
    monkeypatch.syspath_prepend(source)
    monkeypatch.setenv("PYTHONPATH", str(source))
    monkeypatch.setattr(registry_module, "_registry", [registry_module.Registry.load([])])
    sys.modules.pop("tokpar_example", None)
    module = importlib.import_module("tokpar_example")
    registry_module.registry().register(module, name="example")
    yield module
    del sys.modules["tokpar_example"]


@pytest.fixture
def letters(tmp_path: Path) -> str:
    path = tmp_path / "x.letters"
    path.write_text("0\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def text_file(tmp_path: Path) -> str:
    path = tmp_path / "text.txt"
    path.write_text(TEXT, encoding="utf-8")
    return str(path)


def test_the_tokenizer_of_the_example_is_loaded_by_its_file(
    example: ModuleType, letters: str, tmp_path: Path
) -> None:
    for tokenizer in (tokpar.load(letters), tokpar.load(letters, engine="letters")):
        encoding = tokpar.encode("añ", tokenizer, strategy="lines", executor="pool")
        assert encoding == [97, 241]
        assert encoding.spans.tolist() == [[0, 1], [1, 3]]
        assert tokenizer.decode(encoding.ids) == "añ"
    bad = tmp_path / "bad.letters"
    bad.write_text("a", encoding="utf-8")
    with pytest.raises(tokpar.errors.FileFormatError, match=r"bad\.letters must hold the first id"):
        tokpar.load(bad)
    with pytest.raises(tokpar.errors.OptionError, match="takes no settings"):
        tokpar.load(letters, lowercase=True)
    with pytest.raises(tokpar.errors.OptionError, match="chunk_chars must be an int of at least 1"):
        tokpar.encode("a", strategy="lines", chunk_chars=0)


@pytest.mark.parametrize("tokenizer", ["default", "letters"])
def test_the_command_line_runs_with_the_example(
    example: ModuleType,
    letters: str,
    text_file: str,
    tokenizer: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    parts = ["--strategy", "lines", "--executor", "pool", "--workers", "2"]
    name = letters if tokenizer == "letters" else tokenizer
    assert main(["encode", "--json", "--tokenizer", name, *parts, text_file]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["ids"] == tokpar.encode(TEXT, name, strategy="serial").ids.tolist()
    assert said["lossless"] is True
    assert bool(said["seams"]) is (tokenizer == "default")


# --------------------------------------------------------------------------- the others


# --------------------------------------------------------------------------- the pages


def fenced(page: Path) -> str:
    text = page.read_text(encoding="utf-8")
    return "\n".join(re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))


def test_the_page_has_a_row_for_each_hook() -> None:
    rows = re.findall(r"^\| `(tokpar_\w+)` \|", TUTORIAL.read_text("utf-8"), re.MULTILINE)
    assert sorted(rows) == sorted(hooks.OFFERS)


def test_the_page_names_every_optional_member() -> None:
    page = TUTORIAL.read_text(encoding="utf-8")
    parts = (TokenizerAdapter, Splitter, Executor, Merger)
    members = ["encode_whole", "used_name", "matches_spans", "mend"]
    documented = " ".join(str(part.__doc__) for part in parts)
    assert [name for name in members if f"`{name}" not in documented] == []
    assert [name for name in members if not re.search(rf"[`.]{name}\b", page)] == []
