"""Compare tokpar with a tokenizer's own call on a text of yours: ids, speed and certificate.

TOKENIZER is what `tokpar encode --tokenizer` takes: a file means the file, a directory or a
repository means what transformers makes of it. Without FILE the text is Python's own documentation.
The tables of the compiled call are made first. Then rounds: the own call, the first call of a
tokenizer that was loaded anew ("cold"), later calls on the same text ("seen"); the least time of
each counts. Of a text for which the own call would take more than some seconds only the first part
is used. Exit code 1 if ids differ or the certificate does not hold.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokpar.arrays import IdArray, byte_length
from tokpar.cli import options
from tokpar.cli.cuts import rule_counts
from tokpar.cli.encodings import blamed_on, sources
from tokpar.cli.options import print_json
from tokpar.cli.progress import working
from tokpar.cli.screen import plural
from tokpar.cli.summary import describe_compiled_call, describe_loader, engine_of
from tokpar.cli.text_files import TextSource, has_rows
from tokpar.cli.trial_rounds import (
    FIRST_CHARS,
    MOST_CHARS,
    MOST_SECONDS,
    ROUNDS_SECONDS,
    fresh_tokenizer,
    longest_part,
    run_rounds,
)
from tokpar.errors import FileFormatError, OptionError
from tokpar.results.encoding import Encoding

if TYPE_CHECKING:
    from tokpar.certificate.findings import Finding
    from tokpar.contract.interfaces import TokenizerAdapter


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "a name or a path, the default is the bundled one"
    add("tokenizer_name", nargs="?", default="default", metavar="TOKENIZER", help=what)
    add("files", nargs="*", metavar="FILE", help="UTF-8 text, or .jsonl with a text per row")
    add("--text", help="use this text instead of files")
    options.declare_field(parser)
    options.declare_tokenizer(parser, has_name_option=False)
    add = parser.add_argument_group("executor").add_argument
    add("--workers", type=int, metavar="N", help="default: the cores available")
    options.declare_output(parser)


def run(arguments: argparse.Namespace) -> int:
    arguments.tokenizer = arguments.tokenizer_name
    name, text = _text(arguments)
    with working(arguments, "making tables"):
        own = _tokenizer(arguments)
        compiled_call = describe_compiled_call(own)
    with blamed_on(TextSource(name, "")):
        trial = run_trial(name, text, own, arguments) | {"compiled_call": compiled_call}
    if arguments.json:
        print_json(trial)
    else:
        print("\n".join(describe_trial(trial)))
    return 0 if trial["ok"] else 1


def _tokenizer(arguments: argparse.Namespace) -> TokenizerAdapter:
    """The tokenizer of the first argument. OptionError if this is a text, as the only argument."""
    try:
        return options.tokenizer_of(arguments)
    except FileFormatError as error:
        file = Path(arguments.tokenizer)
        is_alone = not arguments.files and arguments.text is None
        if not is_alone or not file.is_file() or file.suffix in (".json", ".tiktoken", ".model"):
            raise
        raise OptionError(
            f"{file}: the first argument is a tokenizer, and this file is none; to try a text: "
            f"tokpar try default {file} ({error})"
        ) from None


def run_trial(
    name: str, text: str, own: TokenizerAdapter, arguments: argparse.Namespace
) -> dict[str, Any]:
    """Measure the own call of `own` beside tokpar, with other objects of the same tokenizer.

    `whole`, `part`: the code points of the text, and of the part that was used. `rounds`: see
    `run_rounds`. `loader`: what made the tokenizer of a directory or a repository, or None."""
    from tokpar.certificate.checker import check_seams

    own_call = _own_call(own)
    expected = 2 * MOST_SECONDS if len(text) > FIRST_CHARS else None
    with working(arguments, "measuring the own call", expected):
        part = longest_part(own_call, text)
    with working(arguments, "encoding with tokpar, and checking", expected and ROUNDS_SECONDS):
        fresh = partial(fresh_tokenizer, arguments)
        rounds = run_rounds(own_call, part, fresh, arguments.workers)
        step = check_seams(rounds.encoding, part, rounds.tokenizer)
    certificate_ok = not step.findings
    return {
        "tokenizer": Path(arguments.tokenizer).name,
        "engine": engine_of(own),
        "loader": describe_loader(own),
        "text": name,
        "whole": len(text),
        "part": len(part),
        "megabytes": byte_length(part) / 1e6,
        **{f"{call}_seconds": spent for call, spent in rounds.seconds.items()},
        "rounds": rounds.count,
        "own_ids": len(rounds.ids),
        "equal_ids": rounds.equal_ids,
        "ids_equal": rounds.ids_equal,
        "lossless": rounds.lossless,
        "certificate_ok": certificate_ok,
        "certified": _describe_certificate(rounds.encoding, part, step.findings),
        "ok": rounds.ids_equal and rounds.lossless and certificate_ok,
    }


def describe_trial(trial: Mapping[str, Any]) -> Iterator[str]:
    """The report: a few lines of at most 80 columns."""
    seconds = {call: max(1e-9, trial[f"{call}_seconds"]) for call in ("own", "cold", "seen")}
    rate = {call: f"{trial['megabytes'] / spent:10,.1f} MB/s" for call, spent in seconds.items()}
    times = {call: f"{seconds['own'] / spent:8,.1f}" for call, spent in seconds.items()}
    size = f"{plural(trial['part'], 'character')}, {trial['megabytes']:,.3g} MB"
    if trial["part"] != trial["whole"]:
        size += f", the first of {plural(trial['whole'], 'character')}"
    yield from _lines("tokenizer", f"{trial['tokenizer']}, engine {trial['engine']}")
    if trial["loader"] is not None:
        yield from _lines("loaded by", trial["loader"])
    yield from _lines("compiled call", trial["compiled_call"])
    yield from _lines("text", f"{trial['text']}: {size}")
    yield from _lines(
        "own call", f"{rate['own']}  the least time of {trial['rounds']} calls, as below"
    )
    for call, which in (("cold", "first calls"), ("seen", "later calls")):
        faster = f"{rate[call]}  {times[call]} times the own call, {which}"
        yield from _lines(f"tokpar, {call}", faster)
    if trial["ids_equal"]:
        yield from _lines("ids equal", f"{trial['equal_ids']:,} of {trial['own_ids']:,}")
    else:
        said = f"from id {trial['equal_ids']:,} on, of {trial['own_ids']:,}: a bug"
        yield from _lines("ids DIFFER", said)
        yield from _lines("", "of tokpar; please report it with this tokenizer and text")
    yield from _lines("certificate", trial["certified"])


def _lines(title: str, content: str) -> list[str]:
    """Two columns, title and content. Content that is too long continues in the next line, and is
    cut after three lines."""
    parts = textwrap.wrap(content, 66, max_lines=3, placeholder=" ...", break_on_hyphens=False)
    return [f"{each:13} {part}" for each, part in zip([title, "", ""], parts, strict=False)]


def _text(arguments: argparse.Namespace) -> tuple[str, str]:
    """The name of the text, and as much of the text as may be used. Raises OptionError if all files
    are empty."""
    if not arguments.files and arguments.text is None:
        topics: Any = import_module("pydoc_data.topics")
        return "Python's documentation", "\n".join(topics.topics.values())
    found = [source for source in _few(arguments) if source.text]
    if not found:
        raise OptionError("there is no text to try, only empty files")
    more = len(found) > 1
    name = "--text" if arguments.text is not None else arguments.files[0]
    rows = not arguments.files or any(map(has_rows, arguments.files))
    joined = f", {plural(len(found), 'row' if rows else 'file')} joined" if more else ""
    return f"{Path(name).name}{joined}", "\n".join(source.text for source in found)


def _few(arguments: argparse.Namespace) -> Iterator[TextSource]:
    """The texts, until together they are longer than `MOST_CHARS` code points."""
    length = 0
    for source in sources(arguments):
        yield source
        length += len(source.text)
        if length > MOST_CHARS:
            return


def _own_call(tokenizer: TokenizerAdapter) -> Callable[[str], IdArray]:
    """The engine's own serial call, with special tokens."""
    from tokpar.encoder import Encoder

    serial = Encoder(tokenizer, strategy="serial")
    return lambda text: serial.encode(text).ids


def _describe_certificate(encoding: Encoding, part: str, findings: Sequence[Finding]) -> str:
    if findings:
        return f"FAILED: {findings[0].message}"
    if not encoding.seams:
        return f"no seam: {encoding.report.plan} for the whole text ({encoding.report.why})"
    rules = ", ".join(islice(rule_counts(encoding.seams, part), 4))
    return f"ok: {plural(len(encoding.seams), 'seam')} derived again by the checker ({rules})"
