"""What subcommands share: arguments, the texts, tokenizer and encoder that they describe, and how
results are printed."""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.cli.texts import FIELDS, STDIN, Source, read_sources
from tokpar.errors import OptionError, TokparError
from tokpar.seams import Seams

if TYPE_CHECKING:
    from tokpar.encoder import Encoder
    from tokpar.encoding import Encoding
    from tokpar.interfaces import TokenizerAdapter

OR_STDIN = 'UTF-8 text, .jsonl, .gz, .zst; "-" is standard input, the default'
LEAST_WIDTH, MOST_WIDTH = 50, 120
_OFF = {
    "no_special_tokens": "add_special_tokens",
    "no_truncation": "truncation",
    "no_padding": "padding",
    "no_lowercase": "lowercase",
}
"""Arguments that turn off a setting of `load`."""


def declare_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help=OR_STDIN)
    parser.add_argument("--text", help="use this text instead of files")
    declare_field(parser)


def declare_field(parser: argparse.ArgumentParser) -> None:
    which = f"the text in a row of a .jsonl (the first of {', '.join(FIELDS)}, or its only string)"
    parser.add_argument("--field", metavar="NAME", help=which)


def sources(arguments: argparse.Namespace) -> Iterator[Source]:
    """The texts in the order given, each read when its turn comes."""
    if arguments.text is not None:
        if arguments.files:
            raise OptionError("give either files or --text, not both")
        try:
            arguments.text.encode("utf-8")
        except UnicodeEncodeError:  # bytes of an argument that are not UTF-8 are lone surrogates
            raise OptionError(
                "--text: expected UTF-8; read such bytes from a file instead"
            ) from None
        yield Source("--text", arguments.text)
        return
    if arguments.files.count(STDIN) > 1:
        raise OptionError('standard input can be read once, got "-" twice')
    if not arguments.files and sys.stdin.isatty():
        raise OptionError('no text: give files, "-" for standard input, or --text')
    for name in arguments.files or [STDIN]:
        yield from read_sources(name, arguments.field)


def declare_tokenizer(parser: argparse.ArgumentParser, named: bool = True) -> None:
    """`named=False`: an argument of the command names the tokenizer."""
    group = parser.add_argument_group("tokenizer")
    add = group.add_argument
    if named:
        what = "tokenizer.json, vocab.txt ..."
        add("--tokenizer", default="default", metavar="NAME|PATH", help=what)
    add("--engine", metavar="NAME", help="the engine that must load it (see `tokpar plugins`)")
    add("--no-special-tokens", action="store_true", help="leave out [CLS], <s> and the like")
    add("--no-truncation", action="store_true", help="encode all of a text, whatever the file says")
    add("--no-padding", action="store_true", help="add no padding tokens, whatever the file says")
    add("--no-lowercase", action="store_true", help="of a BERT vocab.txt that is cased")
    allowed = "tiktoken: a special token that may stand in the text; repeatable"
    add("--allowed-special", action="append", metavar="TOKEN|all", help=allowed)
    declare_ranks(group)


def declare_ranks(parser: argparse._ActionsContainer) -> None:
    """What a .tiktoken file does not hold."""
    add = parser.add_argument
    add("--encoding", metavar="NAME", help="the known encoding that a .tiktoken file holds")
    add("--pat-str", metavar="REGEX", help="the regex of a .tiktoken file of another encoding")
    special = "a special token of a .tiktoken file; repeatable"
    add("--special", action="append", metavar="TOKEN=ID", help=special)


def declare_strategy(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("strategy").add_argument
    shape = "NAME|SPLITTER+MERGER"
    add("--strategy", default="auto", metavar=shape, help="see `tokpar strategies`")
    add("--chunk-chars", type=int, metavar="N", help="least size of a chunk in code points")
    option = "an option of the strategy, or of its splitter or merger; repeatable"
    add("--option", action="append", metavar="NAME=VALUE", help=option)
    add("--allow-approximate", action="store_true", help="accept ids that may be wrong")


def declare_encoding(parser: argparse.ArgumentParser) -> None:
    declare_tokenizer(parser)
    declare_strategy(parser)
    add = parser.add_argument_group("executor").add_argument
    add("--executor", default="auto", metavar="NAME", help="see `tokpar plugins`")
    add("--workers", type=int, metavar="N", help="default: the cores available")
    add("--progress", action="store_true", help="show a bar even if stderr is not a terminal")
    declare_output(parser)


def declare_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--quiet", action="store_true", help="nothing on stderr but errors")


def tokenizer_of(arguments: argparse.Namespace) -> TokenizerAdapter:
    """The adapter that the tokenizer arguments describe."""
    from tokpar.loading import load

    settings: dict[str, Any] = {
        name: False for flag, name in _OFF.items() if getattr(arguments, flag)
    }
    tokens = arguments.allowed_special
    if tokens is not None:
        settings["allowed_special"] = "all" if "all" in tokens else frozenset(tokens)
    settings |= rank_settings(arguments)
    return load(arguments.tokenizer, engine=arguments.engine, **settings)


def strategy_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """--option and --chunk-chars as keyword arguments of the strategy."""
    options = options_of(arguments)
    if arguments.chunk_chars is not None:
        options["chunk_chars"] = arguments.chunk_chars
    return options


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """--option, repeated, as keyword arguments."""
    pairs = [_pair("--option", item) for item in arguments.option or ()]
    return {name: _value(value) for name, value in pairs}


@contextmanager
def encoder_of(arguments: argparse.Namespace, tokenizer: TokenizerAdapter) -> Iterator[Encoder]:
    """An encoder by the arguments, with a bar if one is wanted; its pools are closed at the end."""
    from tokpar.cli.progress import executor_of
    from tokpar.encoder import Encoder

    with (
        executor_of(arguments) as executor,
        Encoder(
            tokenizer,
            strategy=arguments.strategy,
            executor=executor,
            workers=arguments.workers,
            allow_approximate=arguments.allow_approximate,
            **strategy_options(arguments),
        ) as encoder,
    ):
        yield encoder


def encodings_of(
    arguments: argparse.Namespace, tokenizer: TokenizerAdapter
) -> Iterator[tuple[Source, Encoding]]:
    """Each text and its encoding, with a line on stderr where the tokenizer has truncated it."""
    with encoder_of(arguments, tokenizer) as encoder:
        for source in sources(arguments):
            with blamed_on(source):
                encoding = encoder.encode(source.text)
            if encoding.truncated and not arguments.quiet:
                own = plural(encoding.untruncated, "id")
                print(
                    f"{source.name}: the tokenizer's truncation kept a part of the {own} of the "
                    "text; --no-truncation gives all",
                    file=sys.stderr,
                )
            yield source, encoding


@contextmanager
def blamed_on(source: Source) -> Iterator[None]:
    """What a tokenizer has against a text becomes an OptionError that names the text."""
    try:
        yield
    except TokparError:
        raise
    except ValueError as error:
        raise OptionError(f"{source.name}: {error}") from error


def rank_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `declare_ranks` as settings of `load`."""
    settings: dict[str, Any] = {}
    if arguments.encoding is not None:
        settings["name"] = arguments.encoding
    if arguments.pat_str is not None:
        settings["pat_str"] = arguments.pat_str
    if arguments.special is not None or arguments.pat_str is not None:
        tokens = settings["special_tokens"] = {}
        for token, number in (_pair("--special", item) for item in arguments.special or ()):
            if not (number.isascii() and number.isdigit()):
                raise OptionError(f"--special {token}=ID: the id must be a number, got {number!r}")
            tokens[token] = int(number)
    return settings


def _pair(option: str, item: str) -> tuple[str, str]:
    """NAME=VALUE; the last "=" divides, since special tokens may hold one."""
    name, equals, value = item.rpartition("=")
    if not equals or not name:
        raise OptionError(f"{option} takes NAME=VALUE, got {item!r}")
    return name, value


def _value(text: str) -> Any:
    """A Python literal where it is one, else the text: "4096" -> 4096, "paper" -> "paper"."""
    named = {"true": "True", "false": "False", "none": "None"}
    try:
        return ast.literal_eval(named.get(text.lower(), text))
    except (ValueError, SyntaxError):
        return text


def width() -> int:
    """Columns of the terminal, as far as they are taken: 50 to 120."""
    return min(MOST_WIDTH, max(LEAST_WIDTH, shutil.get_terminal_size().columns))


def print_json(value: Any) -> None:
    """`value` as one line of JSON on standard output."""
    print(json.dumps(value, ensure_ascii=False))


def print_table(
    header: Sequence[str], rows: Iterable[Sequence[object]], most: int | None = None
) -> None:
    """Columns as wide as their widest cell, numbers to the right; the first `most` rows."""
    every = list(rows)
    cells = [[str(cell) for cell in row] for row in every[:most]]
    columns = list(zip(header, *cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    numeric = [
        bool(cells) and all(cell.replace(",", "").isdigit() for cell in column[1:])
        for column in columns
    ]
    for row in [list(header), *cells]:
        padded = (
            cell.rjust(width) if right else cell.ljust(width)
            for cell, width, right in zip(row, widths, numeric, strict=True)
        )
        print("  ".join(padded).rstrip())
    if len(cells) < len(every):
        print(f"and {len(every) - len(cells):,} more (--all shows them)")


def rule_counts(seams: Seams) -> dict[str, int]:
    """How many seams rest on each rule: {"K1": 7}; "none" are uncertified."""
    rules = [rule or "none" for rule, _, _ in seams.planned.licences]
    counts: Counter[str] = Counter()
    for code, count in enumerate(np.bincount(seams.planned.codes, minlength=len(rules)).tolist()):
        counts[rules[code]] += count
    if seams.everywhere is not None:
        counts[seams.everywhere.licence.rule or "none"] += len(seams) - len(seams.planned)
    return dict(sorted(counts.items()))


def plural(count: int, thing: str) -> str:
    """1, "seam" -> "1 seam"; 1200, "seam" -> "1,200 seams"."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def visible(text: str) -> str:
    """`text` on one line: "a\\n\\u200b" has its newline and its zero width space escaped."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape", "surrogatepass").decode()
        for char in text
    )
