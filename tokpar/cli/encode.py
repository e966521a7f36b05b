"""Encode text: ids on standard output, a summary on stderr.

One line of ids per text; with --json one object per text and line. Exit code 1 if a result is not
lossless.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.arrays import IdArray, byte_length
from tokpar.cli import options
from tokpar.cli.options import plural, print_json, rule_counts
from tokpar.cli.texts import Source
from tokpar.encoding import Encoding
from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokpar.interfaces import TokenizerAdapter

OUT_KINDS = (".npy", ".txt", ".json")


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    options.declare_encoding(parser)
    add = parser.add_argument
    add("--no-ids", action="store_true", help="print everything but the ids")
    out = "write the ids there: .npy (uint32), .txt, .json"
    add("--out", type=Path, metavar="FILE", help=out)
    certificate = "write the seams there, for `tokpar check`"
    add("--certificate", type=Path, metavar="FILE", help=certificate)


def run(arguments: argparse.Namespace) -> int:
    for option in ("out", "certificate"):  # one file holds those of one text
        if getattr(arguments, option) is not None and len(arguments.files) > 1:
            raise OptionError(f"--{option} takes one text, got {len(arguments.files)}")
    if arguments.out is not None and arguments.out.suffix not in OUT_KINDS:
        raise OptionError(f"--out: expected a name ending in {', '.join(OUT_KINDS)}")
    tokenizer = options.tokenizer_of(arguments)
    lossless = True
    for source, encoding in options.encodings_of(arguments, tokenizer):
        lossless &= encoding.lossless
        _write(arguments, encoding, source, tokenizer)
        _print(arguments, encoding, source, tokenizer)
    return 0 if lossless else 1


def _write(
    arguments: argparse.Namespace, encoding: Encoding, source: Source, tokenizer: TokenizerAdapter
) -> None:
    path = arguments.out
    if path is not None and path.suffix == ".npy":
        import numpy as np

        np.save(path, encoding.ids)
    elif path is not None:
        as_json = path.suffix == ".json"
        line = json.dumps(encoding.ids.tolist()) if as_json else _line(encoding.ids)
        path.write_text(line + "\n", encoding="utf-8")
    if arguments.certificate is not None:
        from tokpar import __version__
        from tokpar.certificate.certificate_file import to_bytes

        certificate = to_bytes(encoding, source.text, tokenizer.name, tokpar_version=__version__)
        arguments.certificate.write_bytes(certificate)


def _print(
    arguments: argparse.Namespace, encoding: Encoding, source: Source, tokenizer: TokenizerAdapter
) -> None:
    with_ids = not arguments.no_ids and arguments.out is None
    if arguments.json:
        described: dict[str, Any] = {
            "file": source.name,
            "tokenizer": tokenizer.name,
            "code_points": len(source.text),
            "bytes": byte_length(source.text),
            "ids_count": len(encoding),
            "lossless": encoding.lossless,
            "seams": len(encoding.seams),
            "seams_by_rule": rule_counts(encoding.seams),
            "report": asdict(encoding.report),
        }
        print_json(described | {"ids": encoding.ids.tolist()} if with_ids else described)
    elif with_ids:
        print(_line(encoding.ids))
    if not arguments.json and not arguments.quiet:
        print(summary(encoding, source), file=sys.stderr)


def summary(encoding: Encoding, source: Source) -> str:
    """The result in one line: how many, how fast, where joined."""
    report = encoding.report
    seconds = sum(report.seconds.values())
    speed = f" ({len(encoding) / seconds:,.0f} ids/s)" if seconds else ""
    parts = [
        f"{plural(len(encoding), 'id')} of {plural(len(source.text), 'code point')} "
        f"in {seconds:.4f} s{speed}",
        _cut(encoding),
    ]
    if encoding.seams:
        rules = rule_counts(encoding.seams).items()
        counts = ", ".join(f"{count:,} {rule}" for rule, count in rules)
        parts.append(f"{plural(len(encoding.seams), 'seam')} ({counts})")
    parts.append("lossless" if encoding.lossless else "NOT lossless")
    return f"{source.name}: " + "; ".join(parts)


def _cut(encoding: Encoding) -> str:
    report = encoding.report
    if report.chunks > 1:
        return plural(report.chunks, "chunk")
    return report.plan if encoding.seams else f"serial: {report.why}"


def _line(ids: IdArray) -> str:
    return " ".join(map(str, ids.tolist()))
