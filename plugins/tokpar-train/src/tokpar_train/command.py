"""Train a byte-level BPE vocabulary on files; each file is one text.

Special tokens divide a file into texts, are left out of the counts and come first in the
vocabulary. The result, a tokenizer.json or a .tiktoken file, is the same for any number of workers,
and is written only when it is complete.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.cli.options import declare_output, print_json
from tokpar.cli.screen import plural
from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokpar.formats.vocabulary import Vocabulary

OUT_KINDS = (".json", ".tiktoken")


def declare(parser: argparse.ArgumentParser) -> None:
    from tokpar_train.merges import TIES
    from tokpar_train.trainer import END_OF_TEXT, PATTERNS

    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="UTF-8 text")
    add("--vocab-size", type=int, required=True, metavar="N", help="entries, at most")
    add("-o", "--out", type=Path, required=True, metavar="FILE", help=f"{' or '.join(OUT_KINDS)}")
    special = f"a special token; repeatable (default: {END_OF_TEXT})"
    add("--special", action="append", metavar="TOKEN", help=special)
    add("--no-special", action="store_true", help="no special token at all")
    add("--min-frequency", type=int, default=2, metavar="N", help="of a pair (default: 2)")
    add("--max-token-length", type=int, metavar="N", help="tokens are shorter, in bytes")
    ties = f"of pairs that are equally frequent: {' or '.join(TIES)}"
    add("--ties", choices=TIES, default=TIES[0], metavar="ORDER", help=ties)
    pattern = f"what pre-tokens are: {', '.join(PATTERNS)} or a regex (default: {PATTERNS[0]})"
    add("--pattern", default=PATTERNS[0], metavar="NAME|REGEX", help=pattern)
    add("--workers", type=int, metavar="N", help="processes (default: the cores available)")
    add("--progress", action="store_true", help="show bars even if stderr is not a terminal")
    declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    from tokpar_train.save import write_ranks, write_tokenizer_json

    _check(arguments)
    start = time.perf_counter()
    size = sum(path.stat().st_size for path in arguments.files)
    vocabulary = _train(arguments, size)
    settings: dict[str, Any] = {}  # the settings that `tokpar.load` needs besides the file
    if arguments.out.suffix == ".tiktoken":
        settings = write_ranks(vocabulary, arguments.out, covering=True)
    else:
        write_tokenizer_json(vocabulary, arguments.out, compact=True)
    seconds = time.perf_counter() - start
    if arguments.json:
        described = {
            "file": str(arguments.out),
            "vocab_size": len(vocabulary.tokens) + len(vocabulary.added),
            "merges": len(vocabulary.merges),
            "special_tokens": {token.content: token.id for token in vocabulary.added},
            "settings": settings,
            "bytes": size,
            "seconds": seconds,
        }
        print_json(described)
    elif not arguments.quiet:
        print(summary(arguments, vocabulary, size, seconds), file=sys.stderr)
    return 0


def _check(arguments: argparse.Namespace) -> None:
    """Raise OptionError for arguments that would fail only after the training."""
    from tokpar_pure.formats import require_none_begins_another

    from tokpar_train.trainer import covers

    if arguments.out.suffix not in OUT_KINDS:
        raise OptionError(f"--out: expected a name ending in {' or '.join(OUT_KINDS)}")
    directory = arguments.out.resolve().parent
    if not directory.is_dir():
        raise OptionError(f"--out: there is no directory {directory}")
    if arguments.special and arguments.no_special:
        raise OptionError("give either --special or --no-special, not both")
    if arguments.out.suffix == ".tiktoken":
        if not covers(arguments.pattern):
            raise OptionError(
                "tiktoken drops text that the pattern does not match, and this one is not known to "
                "match everything: write a .json"
            )
        require_none_begins_another(_special_tokens(arguments))


def _special_tokens(arguments: argparse.Namespace) -> tuple[str, ...]:
    from tokpar_train.trainer import END_OF_TEXT

    return () if arguments.no_special else tuple(arguments.special or (END_OF_TEXT,))


def _train(arguments: argparse.Namespace, size: int) -> Vocabulary:
    """Train the vocabulary. One bar shows the bytes read, then another bar shows the merges."""
    from tokpar.cli.progress import bar_of
    from tokpar_train.trainer import train

    special_tokens = _special_tokens(arguments)
    merges = arguments.vocab_size - 256 - len(special_tokens)
    with ExitStack() as bars:
        moves: dict[str, Any] = {}

        def progress(stage: str, count: int) -> None:
            if stage not in moves:
                bars.close()
                total, unit = (size, "B") if stage == "count" else (merges, " merges")
                moves[stage] = bars.enter_context(bar_of(arguments, total, unit))
            moves[stage](count)

        return train(
            arguments.files,
            vocab_size=arguments.vocab_size,
            special_tokens=special_tokens,
            pattern=arguments.pattern,
            ties=arguments.ties,
            min_frequency=arguments.min_frequency,
            max_token_length=arguments.max_token_length,
            workers=arguments.workers,
            progress=progress,
            name=arguments.out.stem,
        )


def summary(
    arguments: argparse.Namespace, vocabulary: Vocabulary, size: int, seconds: float
) -> str:
    """The result in one line."""
    entries = len(vocabulary.tokens) + len(vocabulary.added)
    parts = [
        f"{entries:,} entries ({plural(len(vocabulary.added), 'special token')}, 256 bytes, "
        f"{plural(len(vocabulary.merges), 'merge')}) from {plural(size, 'byte')} in {seconds:.1f} s"
    ]
    if entries < arguments.vocab_size:
        parts.append(f"no other pair may be merged, {arguments.vocab_size:,} were asked for")
    if arguments.out.suffix == ".tiktoken":
        options = [f"--special '{token.content}={token.id}'" for token in vocabulary.added]
        parts.append(" ".join(["load it with", *options, f"--pat-str '{vocabulary.patterns[0]}'"]))
    return f"{arguments.out}: " + "; ".join(parts)
