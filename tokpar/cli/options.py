"""Arguments that several subcommands have, and the tokenizer and options that they describe."""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
from typing import TYPE_CHECKING, Any

from tokpar.cli.text_files import RULE
from tokpar.errors import OptionError

if TYPE_CHECKING:
    from tokpar.contract.interfaces import TokenizerAdapter

OR_STDIN = 'UTF-8 text, .jsonl, .gz, .zst; "-" is standard input, the default'
ONE_TEXT = 'UTF-8 text, a row of a .jsonl, .gz, .zst; "-" is standard input'
_CONTROLS = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
"""Control characters that a terminal obeys and that JSON does not escape by itself."""
_OFF = {
    "no_special_tokens": "add_special_tokens",
    "no_truncation": "truncation",
    "no_padding": "padding",
    "no_lowercase": "lowercase",
}
"""Arguments that turn off a setting of `load`: argument -> setting."""


def declare_sources(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE", help=OR_STDIN)
    parser.add_argument("--text", help="use this text instead of files")
    declare_field(parser)


def declare_trust(parser: argparse.ArgumentParser) -> None:
    what = "the text cannot spell a control token such as <|im_end|> (docs/untrusted.md)"
    parser.add_argument("--untrusted", action="store_true", help=what)


def declare_field(parser: argparse.ArgumentParser) -> None:
    which = f"the text in a row of a .jsonl, also nested: data.text (default: {RULE})"
    parser.add_argument("--field", metavar="NAME", help=which)


def declare_row(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--row", type=int, metavar="N", help="the text of this row of a .jsonl")


def declare_tokenizer(parser: argparse.ArgumentParser, has_name_option: bool = True) -> None:
    """Declare the tokenizer arguments. `has_name_option=False`: without --tokenizer, because the
    command names the tokenizer by another argument."""
    group = parser.add_argument_group("tokenizer")
    add = group.add_argument
    if has_name_option:
        what = "a name, a directory (what transformers makes of it), tokenizer.json ..."
        add("--tokenizer", default="default", metavar="NAME|PATH", help=what)
    add("--engine", metavar="NAME", help="the engine that must load it (see `tokpar plugins`)")
    add("--offline", action="store_true", help="download nothing (sets HF_HUB_OFFLINE=1)")
    add("--no-special-tokens", action="store_true", help="leave out [CLS], <s> and the like")
    add("--no-truncation", action="store_true", help="encode all of a text, whatever the file says")
    add("--no-padding", action="store_true", help="add no padding tokens, whatever the file says")
    add("--no-lowercase", action="store_true", help="of a BERT vocab.txt that is cased")
    declare_specials(group)
    declare_ranks(group)


def declare_specials(parser: argparse._ActionsContainer) -> None:
    """Declare what becomes of the special tokens that a text spells."""
    add = parser.add_argument
    allowed = "tiktoken, tekken.json: a special token that gets its id in the text, or all"
    add("--allowed-special", action="append", metavar="TOKEN", help=allowed)
    refused = "a special token that is refused in the text, all or none; repeatable"
    add("--disallowed-special", action="append", metavar="TOKEN", help=refused)


def declare_ranks(parser: argparse._ActionsContainer) -> None:
    """Declare the arguments for facts that a .tiktoken file does not hold."""
    add = parser.add_argument
    add("--encoding", metavar="NAME", help="the known encoding that a .tiktoken file holds")
    add("--pat-str", metavar="REGEX", help="the regex of a .tiktoken file of another encoding")
    special = "a special token of a .tiktoken file; repeatable"
    add("--special", action="append", metavar="TOKEN=ID", help=special)


def declare_strategy(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("strategy").add_argument
    shape = "a name (see `tokpar strategies`), or SPLITTER+MERGER"
    add("--strategy", default="auto", metavar="NAME", help=shape)
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

    settings = tokenizer_settings(arguments)
    return load(arguments.tokenizer, engine=arguments.engine, **settings)


def tokenizer_settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """The tokenizer arguments as settings of `load`. With --offline, sets HF_HUB_OFFLINE."""
    os.environ.setdefault("TRANSFORMERS_NO_ADVISORY_WARNINGS", "1")  # "PyTorch was not found"
    if arguments.offline:
        os.environ["HF_HUB_OFFLINE"] = "1"
    settings: dict[str, Any] = {
        name: False for flag, name in _OFF.items() if getattr(arguments, flag, False)
    }
    for setting in ("allowed_special", "disallowed_special"):
        tokens = getattr(arguments, setting, None)
        if tokens is not None:
            settings[setting] = "all" if "all" in tokens else frozenset(tokens) - {"none"}
    return settings | rank_settings(arguments)


def strategy_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """--option and --chunk-chars as keyword arguments of the strategy."""
    options = options_of(arguments)
    if arguments.chunk_chars is not None:
        options["chunk_chars"] = arguments.chunk_chars
    return options


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """Each --option as a keyword argument."""
    pairs = [_pair("--option", item) for item in arguments.option or ()]
    return {name: _value(value) for name, value in pairs}


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
    """Split NAME=VALUE at the last "=", since the name of a special token may hold "="."""
    name, equals, value = item.rpartition("=")
    if not equals or not name:
        raise OptionError(f"{option} takes NAME=VALUE, got {item!r}")
    return name, value


def _value(text: str) -> Any:
    """The value of a Python literal, or the text itself: "4096" -> 4096, "paper" -> "paper"."""
    python_names = {"true": "True", "false": "False", "none": "None"}
    try:
        return ast.literal_eval(python_names.get(text.lower(), text))
    except (ValueError, SyntaxError):
        return text


def print_json(value: Any) -> None:
    """Print `value` as one line of JSON on standard output."""
    print(json_line(value))


def json_line(value: Any) -> str:
    """`value` as one line of JSON, without control characters that a terminal obeys."""
    shown = json.dumps(value, ensure_ascii=False)
    return _CONTROLS.sub(lambda control: f"\\u{ord(control[0]):04x}", shown)
