"""Count the ids that `tokpar encode` gives: one line per text, and their total."""

import argparse

from tokpar.cli import options
from tokpar.cli.options import print_json


def declare(parser: argparse.ArgumentParser) -> None:
    options.declare_sources(parser)
    options.declare_encoding(parser)


def run(arguments: argparse.Namespace) -> int:
    counts: list[int] = []
    lossless = True
    for source, encoding in options.encodings_of(arguments, options.tokenizer_of(arguments)):
        counts.append(len(encoding))
        lossless &= encoding.lossless
        cut = {"truncated_from": encoding.untruncated} if encoding.truncated else {}
        if arguments.json:
            print_json({"file": source.name, "ids_count": counts[-1], **cut})
        else:
            print(f"{counts[-1]} {source.name}")
    if len(counts) > 1 and not arguments.json:
        print(f"{sum(counts)} total")
    return 0 if lossless else 1
