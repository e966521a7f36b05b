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
from typing import TYPE_CHECKING

from tokpar.cli import options
from tokpar.cli.encodings import blamed_on, encoder_of, one_source
from tokpar.cli.options import print_json
from tokpar.cli.screen import plural, print_line, visible
from tokpar.errors import FileFormatError

if TYPE_CHECKING:
    from tokpar.certificate.certificate_file import StoredCertificate
    from tokpar.certificate.findings import CheckReport
    from tokpar.encoding import Encoding


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=options.ONE_TEXT)
    options.declare_field(parser)
    options.declare_row(parser)
    options.declare_encoding(parser)
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="check this one")
    parser.add_argument("--full", action="store_true", help="compare with the serial encode, too")


def run(arguments: argparse.Namespace) -> int:
    from tokpar.certificate.certificate_file import from_bytes
    from tokpar.certificate.checker import check

    source = one_source(arguments, arguments.file)
    tokenizer = options.tokenizer_of(arguments)
    full = arguments.full or arguments.certificate is None
    encoding: StoredCertificate | Encoding
    with blamed_on(source):
        if arguments.certificate is not None:
            try:
                encoding = from_bytes(arguments.certificate.read_bytes())
            except FileFormatError as error:
                raise FileFormatError(f"{arguments.certificate}: {error}") from error
            # names may differ for good reasons, so this decides nothing
            if encoding.tokenizer != tokenizer.name and not arguments.quiet:
                whose = f"certificate of tokenizer {encoding.tokenizer!r}"
                print(f"{whose}, checked with {tokenizer.name!r}", file=sys.stderr)
        else:
            with encoder_of(arguments, tokenizer) as encoder:
                encoding = encoder.encode(source.text)
        report = check(encoding, source.text, tokenizer, full)
    if arguments.json:
        print_json({"ok": report.ok, **asdict(report)})
    else:
        _print(report)
    return 0 if report.ok else 1


def _print(report: CheckReport) -> None:
    compared = "compared" if report.full else "not compared"
    verdict = "ok" if report.ok else f"failed, {plural(len(report.findings), 'finding')}"
    checked = plural(report.seams, "seam")
    print_line(f"{verdict}: {checked} checked, ids {compared} with the serial encode")
    for finding in report.findings:
        place = "" if finding.position is None else f" at {finding.position}"
        print_line(f"  {finding.kind}{place}: {visible(finding.message)}")
    for note in report.notes:
        print_line(f"  note: {visible(note)}")
