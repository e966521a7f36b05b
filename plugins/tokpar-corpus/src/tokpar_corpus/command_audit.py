"""Check anybody's shards: is this the tokenizer, are BOS and EOS there, is anything missing?

    tokpar corpus audit shards/ --tokenizer tokenizer/
    tokpar corpus audit data.bin --tokenizer cl100k_base --eos "<|endoftext|>" --against data.jsonl

Reads .bin with .idx (Megatron), .ds with .ds.index (datatrove), .parquet and .arrow with a column
input_ids, and .npy. Each document is decoded and encoded again. The first ten of each fault are
shown. Exit code 1 if there is a fault.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tokpar.cli import options
from tokpar.cli.options import print_json
from tokpar.cli.progress import bar_of
from tokpar.cli.screen import plural, visible

if TYPE_CHECKING:
    from tokpar.contract.interfaces import TokenizerAdapter
    from tokpar_corpus.audit_report import AuditReport, CheckResult, Fault
    from tokpar_corpus.verifying import VerifyReport


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("shards", nargs="+", metavar="SHARD", help="files, folders and globs")
    declare_against(parser)
    auto = "auto (default): as the tokenizer does, and most documents; none; or TOKEN|ID"
    add("--bos", default="auto", metavar="TOKEN", help=f"what each document begins with; {auto}")
    add("--eos", default="auto", metavar="TOKEN", help="what each document ends with; as --bos")
    add("--packed", action="store_true", help="rows are pieces of one stream; split it after --eos")
    add("--any-order", action="store_true", help="the documents may be in another order")
    declare_reader(parser, is_required=True)
    add("--workers", type=int, metavar="N", help="default: the cores available")
    add("--progress", action="store_true", help="show a bar even if stderr is not a terminal")
    options.declare_output(parser)


def declare_tokenizer(parser: argparse.ArgumentParser, is_required: bool = True) -> Any:
    """Declare the arguments that name a tokenizer, and return their group. The tokenizer is loaded
    without truncation and padding."""
    group = parser.add_argument_group("tokenizer")
    add = group.add_argument
    what = "a directory (what transformers makes of it), tokenizer.json, a name ..."
    add("--tokenizer", required=is_required, metavar="NAME|PATH", help=what)
    add("--engine", metavar="NAME", help="the engine that must load it (see `tokpar plugins`)")
    add("--offline", action="store_true", help="download nothing (sets HF_HUB_OFFLINE=1)")
    options.declare_specials(group)
    options.declare_ranks(group)
    return group


def declare_reader(parser: argparse.ArgumentParser, is_required: bool) -> None:
    """Declare the arguments that name the tokenizer of shards."""
    group = declare_tokenizer(parser, is_required)
    bare = "expect no [CLS], <s> and the like"
    group.add_argument("--no-special-tokens", action="store_true", help=bare)


def tokenizer_of(arguments: argparse.Namespace) -> TokenizerAdapter:
    """The adapter that the arguments describe."""
    from tokpar_corpus.tokenizer_source import load_for_corpus

    settings = options.tokenizer_settings(arguments)
    return load_for_corpus(arguments.tokenizer, arguments.engine, settings).adapter


def declare_against(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--against", nargs="+", default=(), metavar="INPUT", help="what the shards were made of")
    field = "the text in a row of INPUT (default: as the manifest of the shards says)"
    add("--field", metavar="NAME", help=field)
    add("--lines", action="store_true", help="each line of an INPUT of text is a document")
    add("--text", action="store_true", help="take text files of a folder that has rows, too")


def run(arguments: argparse.Namespace) -> int:
    from tokpar_corpus.auditing import audit
    from tokpar_corpus.shards import open_shards

    tokenizer = tokenizer_of(arguments)
    opened, _ = open_shards(arguments.shards)
    total = sum(shard.tokens * shard.dtype.itemsize for shard in opened)
    began = time.perf_counter()
    with bar_of(arguments, total, "B") as moved:
        report = audit(
            arguments.shards,
            tokenizer,
            against=arguments.against,
            field=arguments.field,
            lines=arguments.lines,
            text=arguments.text,
            bos=arguments.bos,
            eos=arguments.eos,
            packed=arguments.packed,
            ordered=not arguments.any_order,
            workers=arguments.workers,
            on_read=moved,
        )
    if arguments.json:
        print_json({"ok": bool(report), **asdict(report)})
    else:
        _print(report, time.perf_counter() - began)
    return 0 if report else 1


def _print(report: AuditReport, seconds: float) -> None:
    from tokpar_corpus.audit_report import CHECKS

    checked = f"{plural(len(report.shards), 'shard')}, {plural(report.documents, 'document')}"
    checked += f", {plural(report.tokens, 'token')}"
    verdict = f"{plural(report.faults, 'fault')}" if report.faults else "ok"
    speed = f"{report.text_bytes / 1e6:,.1f} MB of text in {seconds:.1f} s"
    print(f"{verdict}: {checked}, {speed}, tokenizer {report.tokenizer}")
    sizes = {shard.name: shard.documents for shard in report.shards}
    print_findings(report, CHECKS, sizes)


def print_findings(
    report: AuditReport | VerifyReport, checks: Mapping[str, str], sizes: Mapping[str, int]
) -> None:
    """Print the results of all checks, and the notes. `checks`: the claim of each check. `sizes`:
    the number of documents of each shard."""
    for result in report.results:
        _print_check(result, checks[result.check], sizes)
    for note in report.notes:
        print(f"note: {visible(note)}")
    for note in report.not_checked:
        print(f"not checked: {visible(note)}")


def _print_check(result: CheckResult, description: str, sizes: Mapping[str, int]) -> None:
    if not result.count:
        print(f"  {result.check:9} ok: {description}")
        return
    print(f"  {result.check:9} {plural(result.count, 'fault')}: {description}")
    for shard, count in result.by_shard.items():
        of = f" of {plural(sizes[shard], 'document')}" if shard in sizes else ""
        print(f"    {visible(shard)}: {count:,}{of}")
    for fault in result.shown:
        print(f"    {visible(_line(fault))}")


def _line(fault: Fault) -> str:
    place = "" if fault.document is None else f", document {fault.document}"
    place += "" if fault.place is None else f", id {fault.place}"
    return f"{fault.shard}{place}: {fault.found}; expected {fault.expected}"
