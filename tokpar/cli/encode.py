"""Encode text: ids on standard output, a summary on stderr.

One line of ids per text; with --json one object per text and line. A terminal shows the first ids,
--all all of them. Exit code 1 if a result is not lossless, or one of several files cannot be used:
the others are encoded all the same.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.arrays import IdArray, byte_length
from tokpar.cli import options
from tokpar.cli.cuts import rule_counts
from tokpar.cli.encodings import TEXT, InputEncoder, Problems, input_encoder, inputs
from tokpar.cli.files import id_blocks, new_file, write_ids
from tokpar.cli.options import json_line
from tokpar.cli.summary import Total, label_of
from tokpar.cli.text_files import STDIN, TextSource, has_rows
from tokpar.errors import OptionError
from tokpar.results.encoding import Encoding

if TYPE_CHECKING:
    from tokpar.contract.interfaces import TokenizerAdapter

OUT_KINDS = (".npy", ".npz", ".txt", ".json")
SHOWN_IDS, SHOWN_TEXTS = 30, 5
NAMES = {STDIN: "stdin", TEXT: "text"}


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    options.declare_encoding(parser)
    options.declare_trust(parser)
    add = parser.add_argument
    add("--no-ids", action="store_true", help="print everything but the ids")
    add("--all", action="store_true", help="print all ids on a terminal, too")
    out = "write the ids there: .npy (uint32), .txt, .json, of rows .npz; or a directory, for a "
    add("--out", type=Path, metavar="FILE|DIR", help=out + "file of each input")
    certificate = "write the seams there, for `tokpar check`"
    add("--certificate", type=Path, metavar="FILE", help=certificate)


def run(arguments: argparse.Namespace) -> int:
    names = inputs(arguments)
    if arguments.certificate is not None:
        _require_one_text("--certificate", names, has_rows(names[0]))
    targets = targets_of(arguments.out, names)
    tokenizer = options.tokenizer_of(arguments)
    problems, label = Problems(), label_of(arguments.tokenizer, tokenizer)
    every = Total("total", label)
    with input_encoder(arguments, tokenizer) as encoder:
        for name in names:
            with problems.record_input(name):
                total = Total(name, label)
                _encode(encoder, total, targets.get(name))
                every.join(total)
    if problems.used_count > 1:
        _print_summary(arguments, every.summary)
    return problems.code(every.lossless)


def targets_of(out_path: Path | None, names: Sequence[str]) -> dict[str, Path]:
    """The path to which the ids of each input are written: input -> path. Makes the directory
    `out_path` if needed.

    Raises OptionError, OSError."""
    if out_path is None:
        return {}
    is_folder = out_path.is_dir() or not out_path.suffix or os.fspath(out_path).endswith(os.sep)
    if not is_folder:
        if out_path.suffix not in OUT_KINDS:
            kinds = ", ".join(OUT_KINDS)
            raise OptionError(f"--out: expected a name ending in {kinds}, or a directory")
        _require_one_text(
            f"--out {out_path}", names, has_rows(names[0]) and out_path.suffix == ".npy"
        )
        return {names[0]: out_path}
    out_path.mkdir(parents=True, exist_ok=True)
    targets: dict[str, Path] = {}
    for name in names:
        end = ".npz" if has_rows(name) else ".npy"
        target = out_path / (NAMES.get(name, Path(name).name) + end)
        other = next((each for each, path in targets.items() if path == target), None)
        if other is not None:
            raise OptionError(f"--out: {other} and {name} would both be written to {target}")
        targets[name] = target
    return targets


def _require_one_text(option: str, names: Sequence[str], refuses_rows: bool) -> None:
    if len(names) > 1:
        raise OptionError(f"{option} takes one text, got {len(names)} files")
    if refuses_rows:
        raise OptionError(f"{option} takes one text, got the rows of {names[0]}")


def _encode(encoder: InputEncoder, total: Total, target: Path | None) -> None:
    """Encode the input that `total` names, and add its texts to `total`."""
    arguments, tokenizer, name = encoder.arguments, encoder.tokenizer, total.name
    rows: list[IdArray] = []
    for source, encoding in encoder.encodings(name):
        total.add(source, encoding)
        if target is not None:
            rows.append(encoding.ids)
        if arguments.certificate is not None:
            _write_certificate(arguments.certificate, encoding, source, tokenizer)
        with_ids = target is None and not arguments.no_ids
        if arguments.json:
            _print_json(encoding, source, tokenizer, with_ids)
        elif with_ids:
            _print_ids(encoding.ids, arguments.all, total.texts)
    if target is not None:
        write_ids(target, rows if has_rows(name) else rows[0])
    written = f"; written to {target}" if target is not None else ""
    _print_summary(arguments, total.summary + written)


def _print_summary(arguments: argparse.Namespace, summary: str) -> None:
    if not arguments.json and not arguments.quiet:
        print(summary, file=sys.stderr)


def _write_certificate(
    path: Path, encoding: Encoding, source: TextSource, tokenizer: TokenizerAdapter
) -> None:
    from tokpar import __version__
    from tokpar.certificate.certificate_file import to_bytes

    certificate = to_bytes(encoding, source.text, tokenizer.name, tokpar_version=__version__)
    with new_file(path) as file:
        file.write(certificate)


def _print_json(
    encoding: Encoding, source: TextSource, tokenizer: TokenizerAdapter, with_ids: bool
) -> None:
    counts = rule_counts(encoding.seams, source.text)
    described: dict[str, Any] = {
        "file": source.name,
        "tokenizer": tokenizer.name,
        "code_points": len(source.text),
        "bytes": byte_length(source.text),
        "ids_count": len(encoding),
        "lossless": encoding.lossless,
        "seams": sum(counts.values()),
        "seams_by_rule": counts,
        "report": asdict(encoding.report),
    }
    written = json_line(described)
    if not with_ids:
        print(written)
        return
    print(written[:-1], end=', "ids": [')
    for block in id_blocks(encoding.ids, ", "):
        print(block, end="")
    print("]}")


def _print_ids(ids: IdArray, everything: bool, number: int) -> None:
    """Print all ids in one line. A terminal shows the first ids of the first texts only."""
    if everything or not sys.stdout.isatty():
        for block in id_blocks(ids, " "):
            print(block, end="")
        print()
    elif number <= SHOWN_TEXTS:
        more = f" ... {len(ids):,} ids (--all shows them)" if len(ids) > SHOWN_IDS else ""
        print(*ids[:SHOWN_IDS].tolist(), end=f"{more}\n")
    elif number == SHOWN_TEXTS + 1:
        print("... (--all shows the ids of all texts)")
