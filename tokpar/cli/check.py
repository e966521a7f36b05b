"""Check an encoding, independently of how it was made, and say what was proved.

With --certificate: the one that `tokpar encode --certificate` wrote for this text and tokenizer.
Without: the text is encoded here. First, the rule of each seam is checked. Then the ids are, as
--level says. ids: they are those of the tokenizer's own call, which encodes each distinct segment
once. model: they follow from the tokenizer's file, without any call. Exit code 0: proved.
1: something is wrong. 3: level model cannot judge this tokenizer or text.
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
from tokpar.cli.progress import encoding_bar, working
from tokpar.cli.screen import plural, visible
from tokpar.errors import FileFormatError

if TYPE_CHECKING:
    from tokpar.certificate.certificate_file import StoredCertificate
    from tokpar.certificate.findings import CheckReport
    from tokpar.results.encoding import Encoding


NOT_JUDGED = 3
"""The exit code if level model cannot judge the tokenizer or the text."""


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help=options.ONE_TEXT)
    options.declare_field(parser)
    options.declare_row(parser)
    options.declare_encoding(parser)
    options.declare_trust(parser)
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="check this one")
    parser.add_argument(
        "--level",
        choices=("ids", "model"),
        default="ids",
        help="what is to be proved (ids)",
    )


def run(arguments: argparse.Namespace) -> int:
    from tokpar.certificate.certificate_file import from_bytes
    from tokpar.certificate.checker import check

    source = one_source(arguments, arguments.file)
    spans = [(0, len(source.text))] if arguments.untrusted else None
    tokenizer = options.tokenizer_of(arguments)
    encoding: StoredCertificate | Encoding
    with blamed_on(source):
        if arguments.certificate is not None:
            try:
                encoding = from_bytes(arguments.certificate.read_bytes())
            except FileFormatError as error:
                raise FileFormatError(f"{arguments.certificate}: {error}") from error
            # the same tokenizer can have two names, so different names are no failure
            if encoding.tokenizer != tokenizer.name and not arguments.quiet:
                whose = f"certificate of tokenizer {encoding.tokenizer!r}"
                print(f"{whose}, checked with {tokenizer.name!r}", file=sys.stderr)
        else:
            bar = encoding_bar(arguments, tokenizer, source.text)
            with encoder_of(arguments, tokenizer) as encoder, bar:
                encoding = encoder.encode(source.text, untrusted=spans)
        with working(arguments, "checking"):
            report = check(encoding, source.text, tokenizer, arguments.level, spans)
    if arguments.json:
        print_json({"ok": report.ok, **asdict(report)})
    else:
        _print(report)
    if report.refused is not None and not report.findings:
        return NOT_JUDGED
    return 0 if report.ok else 1


def _print(report: CheckReport) -> None:
    verdict = "ok" if report.ok else f"failed, {plural(len(report.findings), 'finding')}"
    if report.refused is not None and not report.findings:
        verdict = f"not judged: {visible(report.refused)}"
    print(f"{verdict}: {plural(report.seams, 'seam')} checked at level {report.level}")
    for finding in report.findings:
        place = "" if finding.position is None else f" at {finding.position}"
        print(f"  {finding.kind}{place}: {visible(finding.message)}")
    for title, sentences in (("proved", report.proved), ("not proved", report.not_proved)):
        for sentence in sentences:
            print(f"  {title}: {visible(sentence)}")
    for note in report.notes:
        print(f"  note: {visible(note)}")
