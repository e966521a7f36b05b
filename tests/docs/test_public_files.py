"""Workflows, templates, citation and release recipe: they parse, and what they name exists."""

from __future__ import annotations

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
