"""Compare TokenTree (longest match) with true BPE over one vocabulary: ids that differ, and speed.

Tokens that differ: 1 - 2 * shared / (BPE's + TokenTree's), where shared tokens have the same bytes
at the same place in both. Speed: processor time of BPE over that of TokenTree, both in Python, from
text to ids and for the model alone (on pre-tokens that are given). Exit code 0 whatever differs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import tokpar
from tokpar import OptionError
from tokpar.cli import options
from tokpar.cli.encodings import sources
from tokpar.cli.options import print_json
from tokpar.cli.screen import plural, print_table
from tokpar.cli.text_files import TextSource

if TYPE_CHECKING:
    from tokpar_bench.tokentree import TreeDifference

SHOWN = 20
HEADER = ("text", "BPE tokens", "TokenTree tokens", "tokens differ", "speed", "model alone")
SHARES = ("text_share", "token_share", "speedup", "model_speedup")

Row = tuple[TextSource, "TreeDifference"]


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("vocabulary", metavar="VOCAB", help='tokenizer.json, .tiktoken or "default"')
    options.declare_sources(parser)
    add("--lines", action="store_true", help="each line of a text is a text of its own")
    options.declare_ranks(parser.add_argument_group("tokenizer"))
    options.declare_output(parser)
    add("--all", action="store_true", help=f"show all texts, not the first {SHOWN}")
    add("--progress", action="store_true", help="show a bar even if stderr is not a terminal")


def run(arguments: argparse.Namespace) -> int:
    from tokpar.cli.progress import bar_of
    from tokpar_bench.tokentree import Comparison, TreeDifference
    from tokpar_bench.tokentree_engine import TreeTokenizer

    adapter = tokpar.load(
        arguments.vocabulary, engine="tokentree", **options.rank_settings(arguments)
    )
    assert isinstance(adapter, TreeTokenizer)
    vocabulary, every = adapter.vocabulary(), list(texts(arguments))
    if not every:
        raise OptionError("there is no line to compare")
    comparison = Comparison(vocabulary)
    rows: list[Row] = []
    with bar_of(arguments, sum(len(source.text) for source in every)) as move:
        for source in every:
            rows.append((source, comparison.difference_in(source.text)))
            move(len(source.text))
    total = sum((difference for _, difference in rows), TreeDifference())
    if arguments.json:
        described = [{"text": source.name, **describe(difference)} for source, difference in rows]
        print_json({"vocabulary": vocabulary.name, "texts": described, "total": describe(total)})
    else:
        _print(rows, total, None if arguments.all else SHOWN)
    return 0


def texts(arguments: argparse.Namespace) -> Iterator[TextSource]:
    """The texts; with --lines, each line of them with its line end, named by its number."""
    for source in sources(arguments):
        if arguments.lines:
            for number, line in enumerate(source.text.splitlines(keepends=True), 1):
                yield TextSource(f"{source.name}:{number}", line)
        else:
            yield source


def describe(difference: TreeDifference) -> dict[str, Any]:
    """The JSON object of a difference: its fields and its shares."""
    return asdict(difference) | {name: getattr(difference, name) for name in SHARES}


def _print(rows: Sequence[Row], total: TreeDifference, most: int | None) -> None:
    print_table(HEADER, (_cells(source.name, difference) for source, difference in rows), most)
    print(
        f"{total.texts_differing:,} of {plural(total.texts, 'text')} ({total.text_share:.2%}) and "
        f"{total.token_share:.3%} of the tokens differ; TokenTree is {total.speedup:.2f} times as "
        f"fast as BPE, the model alone {total.model_speedup:.2f} times"
    )


def _cells(name: str, difference: TreeDifference) -> tuple[object, ...]:
    speeds = f"{difference.speedup:.2f}", f"{difference.model_speedup:.2f}"
    share = f"{difference.token_share:.3%}"
    return name, difference.bpe_tokens, difference.tree_tokens, share, *speeds
