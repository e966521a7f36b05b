"""Lengths of the documents of shards, tokens per byte, unknown tokens, for each shard and all.

    tokpar corpus stats shards/ --tokenizer tokenizer/

Reads what `tokpar corpus audit` reads. Bytes of text and unknown tokens need --tokenizer.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import TYPE_CHECKING

from tokpar.cli.options import print_json
from tokpar.cli.screen import visible
from tokpar_corpus.command_audit import declare_reader, tokenizer_of

if TYPE_CHECKING:
    from tokpar_corpus.length_stats import LengthStats

HEAD = (
    "shard",
    "documents",
    "tokens",
    "least",
    "5%",
    "median",
    "95%",
    "most",
    "per byte",
    "unknown",
)


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shards", nargs="+", metavar="SHARD", help="files, folders and globs")
    declare_reader(parser, is_required=False)
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    from tokpar_corpus.length_stats import QUANTILES, stats

    tokenizer = None if arguments.tokenizer is None else tokenizer_of(arguments)
    report = stats(arguments.shards, tokenizer)
    if arguments.json:
        rows = [asdict(each) for each in report.shards]
        print_json({"quantiles": QUANTILES, "shards": rows, "total": asdict(report.total)})
        return 0
    some = [*report.shards, report.total] if len(report.shards) > 1 else list(report.shards)
    table = [HEAD, *(_row(each, QUANTILES) for each in some)]
    widths = [max(len(row[k]) for row in table) for k in range(len(HEAD))]
    for row in table:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        print("  ".join([row[0].ljust(widths[0]), *cells]).rstrip())
    return 0


def _row(each: LengthStats, quantiles: tuple[int, ...]) -> tuple[str, ...]:
    of = dict(zip(quantiles, each.quantiles, strict=True))
    lengths = (each.shortest, of[5], of[50], of[95], each.longest)
    rate, unknown = each.tokens_per_byte, each.unknown_rate
    return (
        visible(each.name),
        f"{each.documents:,}",
        f"{each.tokens:,}",
        *(f"{length:,}" for length in lengths),
        "-" if rate is None else f"{rate:.4f}",
        "-" if unknown is None else f"{unknown:.2%}",
    )
