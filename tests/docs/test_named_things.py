"""What a page, a template, a workflow, the citation or a help text names is there: each command
with its options, module, path, environment variable, extra, level, call with its keywords, link,
anchor and title."""

from __future__ import annotations

import argparse
import csv
import importlib
import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import pytest

import tokpar
from tests.recipes.commands_page import VARIABLES
from tests.support.named_things import (
    CALL,
    COMMAND,
    EXTRA,
    FILE,
    KEYWORD,
    LEVEL,
    MODULE,
    OPTION,
    PATH,
    PROSE,
    VARIABLE,
    code_in,
    code_in_yaml,
    headings_of,
    links_in,
    slug,
)
from tests.support.paths import ROOT
from tokpar.certificate.findings import Level
from tokpar.registry.builtins import tokpar_commands

OF_OTHER_PROGRAMS = {
    *(
        "--csv",
        "--doors",
        "--english",
        "--chinese",
        "--faults",
        "--rooms",
        "--strict",
    ),  # our scripts
    *("--no-deps", "--upgrade", "--port", "--trust-remote-code", "--tokenizer-worker-num"),
    *("--inplace", "--long", "--no-build-isolation", "--use-gigatoken", "--help"),
}
"""Options of pip, servers, scripts and others that pages name apart from their program."""
WRITTEN_BY_READERS = {"different"}
"""Commands of plugins that pages have their readers write."""
FOREIGN_FILES = {"halves.py", "preprocess_data.py", "preprocess_data_fast.py"}
"""Files that pages have their readers write, and those of Megatron-LM."""
OTHER_VARIABLES = {
    *("TOKPAR_CORPORA", "TOKPAR_DEEP_EXAMPLES", "TOKPAR_PROFILE", "TOKPAR_VOCAB"),
    "TOKPAR_PATCH_TRANSFORMERS",  # of a module that docs/serving.md has its reader write
}


@cache
def parsers() -> dict[str, argparse.ArgumentParser]:
    """The parser of each command of tokpar and of the packages in plugins/: "encode", "corpus
    build". Those of packages are found without being installed."""
    found: dict[str, argparse.ArgumentParser] = {}
    commands = [*tokpar_commands()]
    for source in sorted(ROOT.glob("plugins/*/src/*/__init__.py")):
        if "def tokpar_commands" in source.read_text(encoding="utf-8"):
            sys.path.append(str(source.parents[1]))
            commands += importlib.import_module(source.parent.name).tokpar_commands()
    for command in commands:
        module = command.load()
        parser = argparse.ArgumentParser(f"tokpar {command.name}", description=module.__doc__)
        module.declare(parser)
        found[command.name] = parser
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                found |= {f"{command.name} {name}": own for name, own in action.choices.items()}
    return found


def options_of(parser: argparse.ArgumentParser) -> set[str]:
    return {*parser._option_string_actions, "--help"}


def commands_missing(code: str) -> Iterator[str]:
    for first, second, rest in COMMAND.findall(code):
        if first in WRITTEN_BY_READERS:
            continue
        parser = parsers().get(f"{first} {second}") or parsers().get(first)
        if parser is None:
            yield f"the command tokpar {first}"
        else:
            known = options_of(parser)
            yield from (
                f"{each} of tokpar {first}"
                for each in OPTION.findall(rest.partition("\n")[0])
                if each not in known
            )


def options_missing(code: str) -> Iterator[str]:
    """Options that stand without a command: `--sample 5%`."""
    if code.startswith("--"):
        known = OF_OTHER_PROGRAMS.union(*map(options_of, parsers().values()))
        yield from (f"the option {each}" for each in OPTION.findall(code) if each not in known)


def calls_missing(code: str) -> Iterator[str]:
    for name, arguments in CALL.findall(code):
        own: Any = getattr(tokpar, name, None)
        if own is None:
            yield f"tokpar.{name}"
            continue
        parameters = inspect.signature(own).parameters
        if not any(each.kind is each.VAR_KEYWORD for each in parameters.values()):
            for keyword in KEYWORD.findall(arguments):
                if keyword not in parameters:
                    yield f"{keyword}= of tokpar.{name}"


@cache
def file_names() -> frozenset[str]:
    folders = ("tokpar", "plugins", "tests", "docs", "proofs", ".github")
    found = [path for folder in folders for path in (ROOT / folder).rglob("*.*")]
    return frozenset(path.name for path in (*found, *ROOT.glob("*.*")))


def is_there(path: str, page: Path) -> bool:
    plain = path.rstrip(".")
    roots = (ROOT, page.parent)
    return any(any(root.glob(plain)) or (root / plain).exists() for root in roots)


def extras_of(package: str) -> set[str]:
    folder = ROOT / "plugins" / package
    if not package or not (folder / "pyproject.toml").is_file():  # in the wheel of tokpar
        folder = ROOT
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project.get("optional-dependencies", {}))


def things_missing(text: str, page: Path) -> Iterator[str]:
    """What a text names and what is not there, in words."""
    for code in code_in(text) if page.suffix == ".md" else code_in_yaml(text):
        yield from commands_missing(code)
        yield from options_missing(code)
        yield from calls_missing(code)
        own = [] if "\n" in code else FILE.findall(code)  # blocks also write files
        names = file_names() | FOREIGN_FILES
        yield from (f"the file {name}" for name in own if name not in names)
    yield from (f"the path {path}" for path in PATH.findall(text) if not is_there(path, page))
    for module in MODULE.findall(text):
        place = ROOT / module.replace(".", "/")
        if not (place.with_suffix(".py").exists() or (place / "__main__.py").exists()):
            yield f"the module {module}"
    known = {*VARIABLES, *OTHER_VARIABLES}
    yield from (f"the variable {name}" for name in VARIABLE.findall(text) if name not in known)
    for package, *names in EXTRA.findall(text):
        own = package or ("" if page.parent.parent.name != "plugins" else page.parent.name)
        for name in ",".join(filter(None, names)).split(","):
            if name not in extras_of(own):
                yield f"the extra {name} of {own or 'tokpar'}"
    yield from (f"the level {level}" for level in LEVEL.findall(text) if level not in [*Level])


def links_missing(text: str, page: Path) -> Iterator[str]:
    for link in links_in(page, text):
        if not link.target.exists():
            yield f"the file {link.target}"
        elif link.target.suffix == ".md":
            headings = headings_of(link.target)
            if link.anchor and link.anchor not in map(slug, headings):
                yield f"the title #{link.anchor} of {link.target.name}"
            if link.is_title and link.text.lower() not in [each.lower() for each in headings]:
                yield f"the title {link.text!r} of {link.target.name}"


@pytest.mark.parametrize("page", PROSE, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = [*things_missing(text, page)]
    assert found + [*links_missing(text, page)] * (page.suffix == ".md") == []


def test_what_the_help_of_a_command_names_is_there() -> None:
    for name, parser in parsers().items():
        helps = [action.help or "" for action in parser._actions]
        text = "\n".join([parser.description or "", *helps])
        assert [*things_missing(f"`{text}`", ROOT / "README.md")] == [], name


def test_each_room_has_tests_of_its_name_or_is_in_the_table_of_guards() -> None:
    table = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    guarded = {*re.findall(r"^\| `tokpar/(\w+)` \|", table, re.MULTILINE)}
    rooms = {path.parent.name for path in (ROOT / "tokpar").glob("*/__init__.py")} - {"data"}
    tested = {path.parent.name for path in (ROOT / "tests").glob("*/__init__.py")}
    assert rooms - tested == guarded


def rows_of(name: str) -> list[dict[str, str]]:
    with (ROOT / "docs" / "data" / name).open(encoding="utf-8", newline="") as file:
        return [*csv.DictReader(file)]


def figures() -> Iterator[tuple[str, str]]:
    """The sentences of pages that state figures, with the figures of docs/data."""
    engines = rows_of("engines.csv")
    own = [row for row in engines if (row["cores"], row["tokenizer"]) == ("1", "llama3")]
    others = {name.split()[0] for name in engines[0] if name.endswith(" seen")} - {"tokpar"}
    new, seen = ([float(row[f"{call} / best"]) for row in own] for call in ("first", "seen"))
    span_new, span_seen = (f"{min(some):.1f} to {max(some):.1f}" for some in (new, seen))
    count = {3: "three", 4: "four", 5: "five"}[len(others)]
    yield (
        "README.md",
        (
            f"On seen text tokpar is {span_seen} times as fast as the fastest of {count} other "
            f"engines, on new text {span_new} times."
        ),
    )
    yield (
        "docs/benchmarks.md",
        (
            f"On new text tokpar is {span_new} times as fast as the fastest other engine, on seen "
            f"text {span_seen} times."
        ),
    )
    english = {
        row["method"]: row
        for row in rows_of("methods.csv")
        if (row["texts"], row["tokenizer"]) == ("English part of L-Eval", "DeepSeek-V3")
    }
    share = {name: row["share of equal texts"] for name, row in english.items()}
    yield (
        "docs/benchmarks.md",
        (
            f"cuts at a comma give right ids for {share['delimiter-comma']} of the texts, cuts at "
            f"spaces for {share['delimiter-space']}, and overlap with the longest match for "
            f"{share['overlap-longest']}."
        ),
    )
    yield (
        "docs/benchmarks.md",
        (
            f"the serial call takes {english['serial']['ms']} ms, LoPT as published "
            f"{english['lopt-paper']['ms']}, `cut` {english['cut']['ms']}."
        ),
    )
    [prompt] = [row for row in rows_of("prompts.csv") if row["characters"] == "200"]
    yield (
        "docs/benchmarks.md",
        (
            f"A prompt of 200 characters takes {float(prompt['own call']):.0f} microseconds in the "
            f"own call, {prompt['new']} in tokpar when it is new and {prompt['seen']} when it "
            "was seen."
        ),
    )
    slow = [
        float(row["own microseconds"]) / float(row["tokpar microseconds"])
        for row in rows_of("never_slower.csv")
    ]
    yield "docs/benchmarks.md", f"Of the {len(slow):,} rows of"
    yield "docs/benchmarks.md", f"the median is {median(slow):.1f} times the own call"


def test_figures_of_pages_are_those_of_the_data() -> None:
    for page, sentence in figures():
        text = " ".join((ROOT / page).read_text(encoding="utf-8").split())
        assert " ".join(sentence.split()) in text, page


def test_each_paper_that_pages_name_is_in_the_citation_and_in_the_bibtex() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    bibtex = (ROOT / "docs" / "research.md").read_text(encoding="utf-8")
    titles = re.findall(r'^    title: "?(.*?)"?$', citation, re.MULTILINE)
    assert len(titles) > 5
    for title in titles:
        assert f"title = {{{title}}}" in bibtex, title
    for page in PROSE:
        for number in re.findall(r"arXiv[ :](\d{4}\.\d{5})", page.read_text(encoding="utf-8")):
            assert f"arXiv:{number}" in citation, page
            assert f"arXiv:{number}" in bibtex, page
    sources = ROOT / "plugins/tokpar-bench/src/tokpar_bench/published_figures/README.md"
    for quoted in re.findall(r'"([A-Z0-9][^"]{15,})"', sources.read_text(encoding="utf-8")):
        assert any(title.startswith(quoted.strip("(")) for title in titles), quoted


def test_the_readme_shows_the_address_of_the_repository() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    address = project.get("urls", {}).get("Repository", "ADDRESS")
    assert f"git clone {address}" in (ROOT / "README.md").read_text(encoding="utf-8")


PLANTED = {
    "the command tokpar cout": "`tokpar cout README.md`",
    "--fast of tokpar encode": "    tokpar encode README.md --fast",
    "--sampel of tokpar corpus": "`tokpar corpus verify shards --sampel 5%`",
    "the option --allow-anything": "give `--allow-anything`",
    "full= of tokpar.check": "what `tokpar.check(encoding, text, tokenizer, full=True)` says",
    "tokpar.chekc": "`tokpar.chekc(encoding)`",
    "the path docs/gone.md": "see docs/gone.md.",
    "the path tests/recipes/gone.py": "`python tests/recipes/gone.py`",
    "the file gone.py": "`gone.py` reads a part",
    "the module tests.benchmarks.gone": "    python -m tests.benchmarks.gone --help",
    "the variable TOKPAR_FAST": "set `TOKPAR_FAST=1`",
    "the extra parquet of tokpar-corpus": "    pip install './plugins/tokpar-corpus[parquet]'",
    "the level seams": "level `seams` says nothing of ids",
}


@pytest.mark.parametrize("missing", PLANTED)
def test_a_name_of_what_is_not_there_is_found(missing: str) -> None:
    assert [*things_missing(PLANTED[missing], ROOT / "docs" / "page.md")] == [missing]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("[a](docs/gone.md)", f"the file {ROOT / 'docs' / 'gone.md'}"),
        ("![a](docs/pictures/gone.svg)", f"the file {ROOT / 'docs' / 'pictures' / 'gone.svg'}"),
        ("[a](docs/corpora.md#gone)", "the title #gone of corpora.md"),
        ("The page [I serve](docs/serving.md)", "the title 'I serve' of serving.md"),
        (
            "pages [Corpora and audit](docs/corpora.md) and\n[Gone](docs/corpora.md#audit)",
            "the title 'Gone' of corpora.md",
        ),
    ],
)
def test_a_link_that_leads_nowhere_or_names_another_title_is_found(text: str, missing: str) -> None:
    assert [*links_missing(text, ROOT / "README.md")] == [missing]
