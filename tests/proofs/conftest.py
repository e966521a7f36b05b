"""The compiled Coq files, once for all tests of this directory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import is_quick
from tests.support.coq_runs import compile_all


@pytest.fixture(scope="session")
def compiled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """A copy in which everything is compiled, and what the last file, Assumptions.v, printed.

    The quick profile takes the compiled files of an earlier run, if every source and the version of
    Coq are the same; all other profiles compile."""
    if shutil.which("coqc") is None:
        pytest.skip("coqc is not installed: the machine-checked proofs were skipped")
    directory = tmp_path_factory.mktemp("coq")
    cache = getattr(request.config, "cache", None) if is_quick() else None
    return directory, compile_all(directory, Path(cache.mkdir("coq")) if cache else None)
