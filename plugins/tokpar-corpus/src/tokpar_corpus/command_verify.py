"""Verify a folder that `tokpar corpus build` wrote: its files, its tokenizer, samples, seams.

    tokpar corpus verify shards/ --sample 1% --against data/*.jsonl.zst

Digests every file, encodes samples again with the tokenizer's own serial call, finds and checks the
seams of divided documents again. Without --against the texts are decoded from the shards. Exit code
1 if anything differs from the manifest.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from tokpar.cli.options import declare_output, print_json
from tokpar.cli.progress import bar_of
from tokpar.cli.screen import plural
from tokpar.errors import OptionError
from tokpar_corpus.command_audit import declare_reader, print_findings, tokenizer_of
from tokpar_corpus.manifest import MANIFEST_NAME

if TYPE_CHECKING:
    from tokpar_corpus.verifying import VerifyReport


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="DIR", help="the --out of a build that was finished")
    add(
        "--sample", default="1%", metavar="PART", help="of the documents: 1%% (default), 0.5, 100%%"
    )
    add("--seed", type=int, metavar="N", help="of the sample (default: another one each time)")
    add("--against", nargs="+", default=(), metavar="INPUT", help="the inputs, in their order")
    declare_reader(parser, is_required=False)
    add("--workers", type=int, metavar="N", help="default: the cores available")
    add("--progress", action="store_true", help="show a bar even if stderr is not a terminal")
    declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    from tokpar_corpus.verifying import verify

    tokenizer = None if arguments.tokenizer is None else tokenizer_of(arguments)
    with bar_of(arguments, _bytes_in(Path(arguments.folder)), "B") as moved:
        report = verify(
            arguments.folder,
            tokenizer=tokenizer,
            sample=_part(arguments.sample),
            against=arguments.against,
            seed=arguments.seed,
            workers=arguments.workers,
            on_read=moved,
        )
    if arguments.json:
        print_json({"ok": bool(report), **asdict(report)})
    else:
        _print(report)
    return 0 if report else 1


def _bytes_in(folder: Path) -> int | None:
    """How many bytes a verification reads; None for a folder without a manifest, which `verify`
    refuses."""
    from tokpar_corpus.building import manifest_of
    from tokpar_corpus.verifying import bytes_to_verify

    return bytes_to_verify(manifest_of(folder)) if (folder / MANIFEST_NAME).is_file() else None


def _part(text: str) -> float:
    """ "1%" -> 0.01, "0.5" -> 0.5."""
    try:
        part = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        part = -1.0
    if 1 < part <= 100 and not text.endswith("%"):
        raise OptionError(f"--sample {text} is more than all documents: write {text}% for per cent")
    if not 0 <= part <= 1:
        raise OptionError(f"--sample: expected a part such as 1% or 0.01, got {text!r}")
    return part


def _print(report: VerifyReport) -> None:
    from tokpar_corpus.verifying import CHECKS

    verdict = "ok" if report else "failed"
    sampled = f"{report.sampled:,} encoded again (--seed {report.seed})"
    seams = f"{plural(report.seams, 'seam')} found again"
    print(f"{verdict}: {plural(report.documents, 'document')}, {sampled}, {seams}")
    print_findings(report, CHECKS, {})
