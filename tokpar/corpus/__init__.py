"""Corpora: documents in files become shards of ids, with a manifest that says how they were made.

Nothing here is imported by `import tokpar`.

    from tokpar.corpus import build

    manifest = build(["data/*.jsonl.zst"], "shards", tokenizer="tokenizer/", append_eod=True)
    print(manifest.documents, manifest.tokens)
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tokpar.corpus.audit import audit
from tokpar.corpus.audit_report import AuditReport, CheckResult, Fault
from tokpar.corpus.build_progress import Progress
from tokpar.corpus.building import BuildStoppedError, manifest_of, run_build
from tokpar.corpus.durable_files import Disk
from tokpar.corpus.job import Request, prepare
from tokpar.corpus.manifest import Manifest
from tokpar.corpus.stats import LengthStats, StatsReport, stats
from tokpar.corpus.verify import VerifyReport, verify

__all__ = [
    "AuditReport",
    "BuildStoppedError",
    "CheckResult",
    "Fault",
    "LengthStats",
    "Manifest",
    "Progress",
    "StatsReport",
    "VerifyReport",
    "audit",
    "build",
    "manifest_of",
    "stats",
    "verify",
]


def build(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    tokenizer: object,
    progress: Progress | None = None,
    **options: Any,
) -> Manifest:
    """Tokenizes documents into shards, and returns their manifest.

    `inputs`: names, patterns or URLs of .jsonl, .ndjson, .txt (also .gz, .zst), .parquet and .arrow
    files. `out`: a folder for the shards, the journal and manifest.json. `tokenizer`: anything that
    `tokpar.load` takes. `options`: those of `tokpar.corpus.job.Request`, of the same names as those
    of `tokpar corpus build`. `progress`: counts what is done while it runs.

    The ids of a document are those of the tokenizer's own serial call. The shards depend on inputs,
    tokenizer and options only. Raises OptionError, FileFormatError, OSError, and what `load`
    raises; with `resume=True` a later call goes on after any error."""
    names = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    request = Request([os.fspath(name) for name in names], Path(out), tokenizer, **options)
    return run_build(prepare(request), Disk(), progress or Progress())
