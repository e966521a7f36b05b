"""Each operation on the files of a build fails in turn, and builds are killed at drawn moments: no
shard that the journal names is broken, and the build goes on to the same bytes."""

from __future__ import annotations

import errno
import json
import os
import random
import sys
from collections import Counter
from pathlib import Path

import killed_corpora
import pytest
from corpora import contents, many, write_rows
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.building import run_build
from tokpar_corpus.durable_files import Disk
from tokpar_corpus.job import Request, prepare

from tests.support.failing_files import ERRORS, each_failure
from tests.support.forked_children import output_of
from tests.support.profiles import chosen_profile, is_quick
from tokpar.errors import TokparError

KILLS = {"quick": 10, "dev": 20, "ci": 40, "deep": 200}[chosen_profile()]
STEP = {"quick": 23, "dev": 11, "ci": 7, "deep": 1}[chosen_profile()]
"""One of so many operations fails; all of them in `deep`, which takes a quarter of an hour."""
FORMATS = ["megatron", "numpy", "parquet"]


def run(source: Path, out: Path, format_: str) -> None:
    options = {"shard_size": 1200, "workers": 1, "format": format_, "resume": True}
    request = Request([str(source)], out, "default", **options)  # type: ignore[arg-type]
    run_build(prepare(request), Disk(), Progress())


@pytest.mark.parametrize("format_", FORMATS)
def test_a_build_goes_on_after_an_operation_that_failed(tmp_path: Path, format_: str) -> None:
    """The reads of its input fail, too. What fails is an OSError of that kind, or an error of
    tokpar that names it."""
    (tmp_path / "in").mkdir()
    source = write_rows(tmp_path / "in" / "rows.jsonl.gz", many(40))
    run(source, tmp_path / "whole", format_)
    expected = contents(tmp_path / "whole")
    out, seen = tmp_path / "out", Counter[str]()
    errors = ("no room", "half") if is_quick() else tuple(ERRORS)
    for files in each_failure(tmp_path, lambda: run(source, out, format_), STEP, errors):
        raised = files.raised
        assert raised is None or isinstance(raised, (OSError, TokparError, MemoryError)), raised
        if raised is None:
            assert contents(out) == expected, (files.error, files.failed)
        elif isinstance(raised, OSError):
            assert raised.errno in (ERRORS[files.error], errno.EIO), (files.error, files.failed)
        seen[files.failed] += raised is not None
        assert killed_corpora.broken_shards(out)[1] == [], (files.error, files.failed)
        run(source, out, format_)
        assert contents(out) == expected, (files.error, files.failed)
        for path in out.iterdir():
            path.unlink()
    assert sum(seen.values()) >= (1 if is_quick() else 20), seen


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.parametrize("format_", FORMATS[: 1 if is_quick() else None])
def test_after_a_kill_at_any_moment_no_shard_is_broken_and_the_build_goes_on(
    tmp_path: Path, format_: str
) -> None:
    source = write_rows(tmp_path / "rows.jsonl.gz", many(70))
    run(source, tmp_path / "whole", format_)
    seed = str(random.randrange(1 << 32))
    command = [sys.executable, killed_corpora.__file__, str(source), str(tmp_path / "out"), format_]
    path = os.pathsep.join(sys.path)
    said = output_of([*command, seed, str(KILLS)], 120 + KILLS, PYTHONPATH=path)
    kills = [json.loads(line) for line in said.splitlines()]
    assert len(kills) == KILLS
    for number, left in enumerate(kills):
        assert left["right"], (seed, number)
        assert left["broken"] == [], (seed, number)
    assert any(left["killed"] for left in kills), seed
    assert contents(tmp_path / "out") == contents(tmp_path / "whole"), seed
