"""Encode text: ids on standard output, a summary on stderr.

One line of ids per text; with --json one object per text and line. Exit code 1 if a result is not
lossless.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.cli.options import (
    blamed_on,
    declare_executor,
    declare_output,
    declare_strategy,
    declare_tokenizer,
    encoder_of,
    tokenizer_of,
)
from tokpar.cli.output import plural, print_json, rule_counts, warn_if_truncated
from tokpar.cli.source import Source, declare_sources, sources
from tokpar.encoding import Encoding
from tokpar.errors import OptionError
from tokpar.kernels import IdArray, byte_length

if TYPE_CHECKING:
    from tokpar.interfaces import TokenizerAdapter

OUT_KINDS = (".npy", ".txt", ".json")


def declare(parser: argparse.ArgumentParser) -> None:
    declare_sources(parser)
    declare_tokenizer(parser)
    declare_strategy(parser)
    declare_executor(parser)
    declare_output(parser)
    parser.add_argument("--no-ids", action="store_true", help="print everything but the ids")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write the ids there: .npy (uint32), .txt, .json"
    )
    parser.add_argument(
        "--certificate", type=Path, metavar="FILE", help="write the seams there, for `tokpar check`"
    )


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    tokenizer = tokenizer_of(arguments)
    lossless = True
    with encoder_of(arguments, tokenizer) as encoder:
        for source in sources(arguments):
            with blamed_on(source):
                encoding = encoder.encode(source.text)
            lossless &= encoding.lossless
            warn_if_truncated(arguments, encoding, source)
            _write(arguments, encoding, source, tokenizer)
            _print(arguments, encoding, source, tokenizer)
    return 0 if lossless else 1


def _check(arguments: argparse.Namespace) -> None:
    """One file holds the ids or the certificate of one text."""
    for option in ("out", "certificate"):
        if getattr(arguments, option) is not None and len(arguments.files) > 1:
            raise OptionError(f"--{option} takes one text, got {len(arguments.files)}")
    if arguments.out is not None and arguments.out.suffix not in OUT_KINDS:
        raise OptionError(f"--out: expected a name ending in {', '.join(OUT_KINDS)}")


def _write(
    arguments: argparse.Namespace, encoding: Encoding, source: Source, tokenizer: TokenizerAdapter
) -> None:
    if arguments.out is not None:
        _write_ids(arguments.out, encoding.ids)
    if arguments.certificate is not None:
        from tokpar import __version__
        from tokpar.certificate.stored import to_bytes

        certificate = to_bytes(encoding, source.text, tokenizer.name, tokpar_version=__version__)
        arguments.certificate.write_bytes(certificate)


def _write_ids(path: Path, ids: IdArray) -> None:
    if path.suffix == ".npy":
        import numpy as np

        with path.open("wb") as file:
            np.save(file, ids)
    elif path.suffix == ".json":
        path.write_text(json.dumps(ids.tolist()) + "\n", encoding="utf-8")
    else:
        path.write_text(_line(ids.tolist()) + "\n", encoding="utf-8")


def _print(
    arguments: argparse.Namespace, encoding: Encoding, source: Source, tokenizer: TokenizerAdapter
) -> None:
    with_ids = not arguments.no_ids and arguments.out is None
    if arguments.json:
        described = describe(encoding, source, tokenizer)
        print_json(described | {"ids": encoding.ids.tolist()} if with_ids else described)
    elif with_ids:
        print(_line(encoding.ids.tolist()))
    if not arguments.json and not arguments.quiet:
        print(summary(encoding, source), file=sys.stderr)


def describe(encoding: Encoding, source: Source, tokenizer: TokenizerAdapter) -> dict[str, Any]:
    """All there is to say of an encoding but its ids."""
    return {
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


def summary(encoding: Encoding, source: Source) -> str:
    """The same in one line: how many, how fast, where joined."""
    report = encoding.report
    seconds = sum(report.seconds.values())
    speed = f" ({len(encoding) / seconds:,.0f} ids/s)" if seconds else ""
    parts = [
        f"{plural(len(encoding), 'id')} of {plural(len(source.text), 'code point')} "
        f"in {seconds:.4f} s{speed}",
        f"serial: {report.why}" if report.chunks == 1 else plural(report.chunks, "chunk"),
        *([_seams(encoding)] if encoding.seams else []),
        "lossless" if encoding.lossless else "NOT lossless",
    ]
    return f"{source.name}: " + "; ".join(parts)


def _seams(encoding: Encoding) -> str:
    rules = ", ".join(f"{count:,} {rule}" for rule, count in rule_counts(encoding.seams).items())
    return f"{plural(len(encoding.seams), 'seam')} ({rules})"


def _line(ids: Sequence[int]) -> str:
    return " ".join(map(str, ids))
