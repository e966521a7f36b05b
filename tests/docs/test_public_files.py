"""Workflows, templates, citation and release recipe: they parse, and what they name exists."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path

from tests.recipes import release
from tests.support.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def test_all_files_of_a_release_name_one_version(tmp_path: Path) -> None:
    version = PROJECT["project"]["version"]
    for name in release.NAMED:
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    changes = tmp_path / "CHANGELOG.md"
    changes.write_text(
        changes.read_text("utf-8").replace("## [Unreleased]", f"## [{version}]"), "utf-8"
    )
    assert release.problems(f"v{version}", tmp_path) == []
    assert release.problems(version, tmp_path) == [
        f"the tag must be v and a version, such as v1.2.3, got {version!r}"
    ]
    citation = tmp_path / "CITATION.cff"
    citation.write_text(citation.read_text("utf-8").replace(version, "9.9.9"), "utf-8")
    assert release.problems(f"v{version}", tmp_path) == [
        f"CITATION.cff names 9.9.9, the tag {version}"
    ]


def test_the_changelog_says_what_a_release_is_and_not_what_once_was() -> None:
    """A release has at most 800 words; until then further lines may come."""
    text = (ROOT / "CHANGELOG.md").read_text("utf-8")
    own = text.partition("## [Unreleased]")[2].partition("\n## [")[0]
    assert len(own.split()) <= 1000
    if "\n## [" not in text.partition("## [Unreleased]")[2]:  # no release yet
        once = (
            r"^### (?:Removed|Renamed|Changed|Fixed)|\bno longer\b|\b(?:is|are) gone\b|\bit was\b"
        )
        assert re.findall(once, own, re.MULTILINE | re.IGNORECASE) == []


def test_no_page_or_message_says_that_a_part_is_brought_by_another_package() -> None:
    """A page says "is in the wheel of tokpar", or names the extra to install."""
    phrase = re.compile(r"\b(?:comes?|came) with\b", re.IGNORECASE)
    pages = [ROOT / "CITATION.cff", *ROOT.glob("*.md"), *ROOT.glob(".github/**/*.*")]
    for room in ("docs", "proofs", "plugins", "tokpar"):
        pages += [path for path in ROOT.joinpath(room).rglob("*") if path.suffix in {".md", ".py"}]
    assert len(pages) > 400
    assert [p for p in pages if p.is_file() and phrase.search(p.read_text("utf-8"))] == []
