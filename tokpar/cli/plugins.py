"""List the plugins, what each plugin provides, and why a plugin did not load.

TOKPAR_PLUGINS, a comma list of names, limits which third-party plugins are loaded; empty: none.
"""

import argparse
from dataclasses import asdict

from tokpar.cli.options import print_json
from tokpar.cli.screen import print_table

HEADER = ("name", "owner", "version", "state")


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")


def run(arguments: argparse.Namespace) -> int:
    from tokpar.calls import plugins

    records = plugins()
    if arguments.json:
        print_json([asdict(record) for record in records])
        return 0
    rows = [(r.name, r.owner, r.version or "-", r.problem or "loaded") for r in records]
    print_table(HEADER, rows)
    for record in records:
        if record.provides:
            print(f"\n{record.name} provides")
            for provided in record.provides:
                print(f"  {provided}")
    return 0
