"""List the strategies: what each one promises, on what conditions, and its options."""

import argparse
from collections.abc import Sequence
from dataclasses import asdict

from tokpar.cli.options import print_json
from tokpar.cli.screen import print_table

HEADER = ("name", "lossless", "owner", "options")


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    from tokpar.calls import strategies

    records = strategies()
    if arguments.json:
        print_json([asdict(record) for record in records])
        return 0
    rows = [(r.name, "yes" if r.lossless else "no", r.owner, *_names(r.options)) for r in records]
    print_table(HEADER, rows)
    for record in records:
        print()
        print(f"{record.name}: {record.source}")
        print(f"  conditions: {record.conditions}")
        for option in record.options:
            print(f"  option {option}")
    return 0


def _names(options: Sequence[str]) -> tuple[str]:
    """The names of the options, without types and defaults, as one cell of a table."""
    return (", ".join(option.partition(":")[0] for option in options) or "-",)
