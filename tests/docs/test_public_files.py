"""Workflows, templates, citation and release recipe: they parse, and what they name exists."""

from __future__ import annotations

import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.recipes import release
from tests.support.paths import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))


def parsed(path: Path) -> Any:
    """PyYAML comes with the package tokenizers."""
    return pytest.importorskip("yaml").safe_load(path.read_text("utf-8"))


def test_what_the_workflows_run_is_there() -> None:
    """Scripts of the checkout, extras, and marks of the tests."""
    commands = [
        step["run"]
        for path in WORKFLOWS
        for job in parsed(path)["jobs"].values()
        for step in job["steps"]
        if "run" in step
    ]
    text = "\n".join(commands)
    assert ".ci/run" in commands
    scripts = re.findall(r"(?<![\w.])[\w.]+/[\w./]+", text)
    assert scripts
    assert all((ROOT / script).is_file() for script in scripts), scripts
    extras = PROJECT["project"]["optional-dependencies"]
    assert set(re.findall(r"-e \.\[(\w+)\]", text)) <= set(extras)
    marks = " ".join(PROJECT["tool"]["pytest"]["ini_options"]["markers"])
    assert all(f"{mark}:" in marks for mark in re.findall(r"-m pytest -m (\w+)", text))


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
