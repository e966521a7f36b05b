"""Count the ids that `tokpar encode` gives: one line per text, and their total."""

from __future__ import annotations

import argparse

from tokpar.cli.options import (
    blamed_on,
    declare_executor,
    declare_output,
    declare_strategy,
    declare_tokenizer,
    encoder_of,
    tokenizer_of,
)
from tokpar.cli.output import print_json, warn_if_truncated
from tokpar.cli.source import declare_sources, sources


def declare(parser: argparse.ArgumentParser) -> None:
    declare_sources(parser)
    declare_tokenizer(parser)
    declare_strategy(parser)
    declare_executor(parser)
    declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    counts: list[int] = []
    lossless = True
    with encoder_of(arguments, tokenizer_of(arguments)) as encoder:
        for source in sources(arguments):
            with blamed_on(source):
                encoding = encoder.encode(source.text)
            counts.append(len(encoding))
            lossless &= encoding.lossless
            cut = {"truncated_from": encoding.untruncated} if encoding.truncated else {}
            if arguments.json:
                print_json({"file": source.name, "ids_count": counts[-1], **cut})
            else:
                print(f"{counts[-1]} {source.name}")
            warn_if_truncated(arguments, encoding, source)
    if len(counts) > 1 and not arguments.json:
        print(f"{sum(counts)} total")
    return 0 if lossless else 1
