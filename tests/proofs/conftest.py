"""The compiled Coq files, once for all tests of this directory."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import directory_of_results, is_quick
from tests.support.coq_runs import compile_all


@pytest.fixture(scope="session")
def compiled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, str]:
    """The directory in which everything is compiled, and what the last file, Assumptions.v, prints.

    The processes of a run compile once. The quick profile takes the compiled files, and what Coq
    computed with them, of an earlier run of this user in any checkout, if every source and the
    version of Coq are the same; all other profiles compile."""
    if shutil.which("coqc") is None:
        pytest.skip("coqc is not installed: the machine-checked proofs were skipped")
    kept = directory_of_results("coq") if is_quick() else None
    own = tmp_path_factory.getbasetemp()
    of_the_run = own.parent if hasattr(request.config, "workerinput") else own
    return compile_all(kept or of_the_run / "coq")
