"""Turn files of documents into shards of ids for training.

`tokpar corpus COMMAND --help` tells more.
"""

from __future__ import annotations

import argparse
from importlib import import_module

COMMANDS = ("audit", "build", "stats", "verify")
"""The subcommand NAME is the module `tokpar_corpus.command_NAME`."""


def declare(parser: argparse.ArgumentParser) -> None:
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"tokpar_corpus.command_{name}")
        about = module.__doc__ or ""
        summary = about.partition("\n")[0].rstrip(".:").replace("%", "%%")
        own = commands.add_parser(name, help=summary, description=about)
        own.formatter_class = argparse.RawDescriptionHelpFormatter
        module.declare(own)
        own.set_defaults(run_corpus=module.run)


def run(arguments: argparse.Namespace) -> int:
    code: int = arguments.run_corpus(arguments)
    return code
