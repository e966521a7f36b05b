"""Engines that plugins register, and those that packages of this project install."""

from __future__ import annotations

from pathlib import Path

import pytest
from tokpar_conformance import check_tokenizer

import tokpar
import tokpar.registry.tables as registry_module
from tests.conftest import cases
from tests.support.engines import VOCABULARIES
from tests.support.paths import DEFAULT, own_entry_points
from tokpar.errors import EngineError, UnknownNameError
from tokpar.registry.tables import registry


def test_an_engine_that_is_not_installed_is_an_unknown_name_with_advice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = [point for point in own_entry_points() if point.name != "pure"]
    monkeypatch.setattr(registry_module, "_registry", [registry_module.Registry.load(installed)])
    with pytest.raises(
        UnknownNameError, match=r"unknown engine 'pure'.*`tokpar plugins` lists what is installed"
    ):
        tokpar.load(DEFAULT, engine="pure")


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
        pytest.skip(f"optional: needs tokpar-engines[{engine}]")
    content = VOCABULARIES[vocabulary]()
    assert isinstance(content, str)
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    adapter = tokpar.load(path, engine=engine)
    check_tokenizer(adapter, tokpar.load(path), examples=0)


def test_a_unigram_of_the_findings_with_ties_is_refused_for_tokie(tmp_path: Path) -> None:
    """The page has a text of it with other ids, '&___', which the comparison did not find."""
    if "tokie" not in {source.name for source in registry().tokenizer_sources()}:
        pytest.skip("optional: needs tokpar-engines[tokie]")
    content = VOCABULARIES["`metaspace_unigram.json`"]()
    assert isinstance(content, str)
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EngineError, match="have several divisions with the best score"):
        tokpar.load(path, engine="tokie")
    other, own = tokpar.load(path, engine="tokie", trust=True), tokpar.load(path)
    assert other.encode("&___").tolist() != own.encode("&___").tolist()
