"""The engines that packages of this project install."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from tokpar_conformance import check_tokenizer

import tokpar
import tokpar.registry as registry_module
from tests.conftest import cases
from tests.support.engines import VOCABULARIES
from tests.support.paths import ROOT
from tests.support.tokenizers_drawn import DATA
from tokpar.errors import EngineError, UnknownNameError
from tokpar.hooks import install
from tokpar.loading import PLUGIN_ENGINES
from tokpar.registry import registry

DEFAULT = DATA / "default.json"
SHARED = "./plugins/tokpar-conformance ./plugins/tokpar-engines"


@pytest.mark.parametrize(
    ("engine", "packages"),
    [
        (
            "fastokens",
            f"{SHARED} ./plugins/tokpar-fastokens",
        ),
        (
            "gigatoken",
            f"{SHARED} ./plugins/tokpar-gigatoken",
        ),
        ("sentencepiece", "./plugins/tokpar-sentencepiece"),
        ("tokentree", "./plugins/tokpar-pure ./plugins/tokpar-strategies ./plugins/tokpar-bench"),
        ("tokie", f"{SHARED} ./plugins/tokpar-tokie"),
    ],
)
def test_an_engine_of_a_plugin_that_is_not_there_is_named_with_the_command(
    engine: str, packages: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "_registry", [registry_module.Registry.load([])])
    with pytest.raises(
        UnknownNameError, match=f"unknown engine '{engine}'.*pip install {packages}, in a checkout"
    ):
        tokpar.load(DEFAULT, engine=engine)


@pytest.mark.parametrize("engine", PLUGIN_ENGINES)
def test_the_command_installs_every_package_of_the_project_that_the_engine_needs(
    engine: str,
) -> None:
    packages = re.findall(r"\./plugins/([\w-]+)", install(*PLUGIN_ENGINES[engine]))
    *needed, last = packages
    own: set[str] = set()
    for package in packages:
        pyproject = (ROOT / "plugins" / package / "pyproject.toml").read_text(encoding="utf-8")
        needs = tomllib.loads(pyproject)["project"]["dependencies"]
        own |= {name.partition("=")[0] for name in needs if name.startswith("tokpar-")}
    assert (own, last) == (set(needed), PLUGIN_ENGINES[engine][-1])


# ------------------------------------------------------------------------------- our plugins

CONFORMING = [
    ("fastokens", "`deepseek_part.json`, renumbered"),
    ("fastokens", "`llama_style.json`"),
    ("gigatoken", "`deepseek_part.json`, renumbered"),
    ("gigatoken", "`deepseek_part.json`"),
    ("gigatoken", "`llama_style.json`"),
]


@pytest.mark.parametrize(
    ("engine", "vocabulary"),
    cases(CONFORMING, CONFORMING[1::2]),
)
def test_an_installed_plugin_conforms_on_the_vocabularies_of_the_findings(
    tmp_path: Path, engine: str, vocabulary: str
) -> None:
    if engine not in {source.name for source in registry().tokenizer_sources()}:
        pytest.skip(f"optional: needs tokpar-{engine}")
    content = VOCABULARIES[vocabulary]()
    assert isinstance(content, str)
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    adapter = tokpar.load(path, engine=engine)
    check_tokenizer(adapter, tokpar.load(path), examples=0)


def test_a_unigram_of_the_findings_with_ties_is_refused_for_tokie(tmp_path: Path) -> None:
    """The page has a text of it with other ids, '&___', which the comparison did not find."""
    if "tokie" not in {source.name for source in registry().tokenizer_sources()}:
        pytest.skip("optional: needs tokpar-tokie")
    content = VOCABULARIES["`metaspace_unigram.json`"]()
    assert isinstance(content, str)
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EngineError, match="have several divisions with the best score"):
        tokpar.load(path, engine="tokie")
    other, own = tokpar.load(path, engine="tokie", trust=True), tokpar.load(path)
    assert other.encode("&___").tolist() != own.encode("&___").tolist()
