"""Corpora: turns documents in files into shards of ids, with a manifest that says how the shards
were made.

`import tokpar` does not import this package.

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
    `tokpar.load` takes. `options`: the fields of `tokpar.corpus.job.Request`; `tokpar corpus build`
    has the same options. `progress`: its counts are updated while the build runs.

    The ids of a document equal the ids of the tokenizer's own serial call. The shards depend only
    on inputs, tokenizer and options. Raises OptionError, FileFormatError, OSError, and the errors
    of `load`. After any error, a later call with `resume=True` continues the build."""
    names = [inputs] if isinstance(inputs, (str, os.PathLike)) else inputs
    request = Request([os.fspath(name) for name in names], Path(out), tokenizer, **options)
    return run_build(prepare(request), Disk(), progress or Progress())
