"""Check the seams of an encoding by their proofs, independently of how they were found.

With --certificate: the one that `tokpar encode --certificate` wrote for this text and tokenizer;
--full also compares its ids with the serial encode. Without: the text is encoded here and checked
fully. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.cli.options import blamed_on, declare_encoding, encoder_of, tokenizer_of
from tokpar.cli.output import plural, print_json
from tokpar.cli.source import declare_source, read_source
from tokpar.errors import FileFormatError

if TYPE_CHECKING:
    from tokpar.certificate.findings import CheckReport
    from tokpar.certificate.stored import StoredCertificate
    from tokpar.encoding import Encoding


def declare(parser: argparse.ArgumentParser) -> None:
    declare_source(parser)
    declare_encoding(parser)
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="check this one")
    parser.add_argument("--full", action="store_true", help="compare with the serial encode, too")


def run(arguments: argparse.Namespace) -> int:
    from tokpar.certificate.checker import check

    source = read_source(arguments.file)
    tokenizer = tokenizer_of(arguments)
    full = arguments.full or arguments.certificate is None
    encoding: StoredCertificate | Encoding
    with blamed_on(source):
        if arguments.certificate is not None:
            encoding = read_certificate(arguments.certificate)
            # names may differ for good reasons, so this decides nothing
            if encoding.tokenizer != tokenizer.name and not arguments.quiet:
                whose = f"certificate of tokenizer {encoding.tokenizer!r}"
                print(f"{whose}, checked with {tokenizer.name!r}", file=sys.stderr)
        else:
            with encoder_of(arguments, tokenizer) as encoder:
                encoding = encoder.encode(source.text)
        report = check(encoding, source.text, tokenizer, full)
    if arguments.json:
        print_json(describe(report))
    else:
        _print(report)
    return 0 if report.ok else 1


def read_certificate(path: Path) -> StoredCertificate:
    """The certificate in a file. Raises OSError, FileFormatError."""
    from tokpar.certificate.stored import from_bytes

    try:
        return from_bytes(path.read_bytes())
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from error


def describe(report: CheckReport) -> dict[str, Any]:
    """A check report as JSON."""
    return {
        "ok": report.ok,
        "seams": report.seams,
        "full": report.full,
        "notes": list(report.notes),
        "findings": [asdict(finding) for finding in report.findings],
    }


def _print(report: CheckReport) -> None:
    compared = "compared" if report.full else "not compared"
    verdict = "ok" if report.ok else f"failed, {plural(len(report.findings), 'finding')}"
    checked = plural(report.seams, "seam")
    print(f"{verdict}: {checked} checked, ids {compared} with the serial encode")
    for finding in report.findings:
        place = "" if finding.position is None else f" at {finding.position}"
        print(f"  {finding.kind}{place}: {finding.message}")
    for note in report.notes:
        print(f"  note: {note}")
