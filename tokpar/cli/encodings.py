"""Encode the texts that the arguments name, input by input. If one input fails, the others are
still encoded."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import sys
from ast import literal_eval
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

from tokpar.cli.options import strategy_options
from tokpar.cli.progress import bar_of, encoding_bar
from tokpar.cli.screen import visible
from tokpar.cli.text_files import STDIN, TextSource, has_rows, read_sources
from tokpar.contract.adapter import inserted_ids
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import OptionError, TokparError

if TYPE_CHECKING:
    from tokpar.encoder import Encoder
    from tokpar.results.encoding import Encoding

TEXT = "--text"
_KEYWORD = re.compile(r"\b(engine|executor|strategy)='([\w.+-]+)'")
_SPECIAL = re.compile(
    r"""Encountered text corresponding to disallowed special token ('.*'|".*")\.\n[^\0]*"""
)
GROUP_CHARS = 1 << 20
"""Code points of a group of rows that are encoded in one call."""


@dataclass
class Problems:
    """Count the inputs that could be used, and collect the names of the inputs that could not."""

    used_count: int = 0
    refused_names: list[str] = field(default_factory=list)

    @contextmanager
    def record_input(self, name: str) -> Iterator[None]:
        """Run the block for one input. An error is printed on stderr and does not stop the
        command."""
        try:
            yield
            self.used_count += 1
        except BrokenPipeError:
            raise
        except (TokparError, OSError) as error:
            print(f"tokpar: error: {message_of(error)}", file=sys.stderr)
            self.refused_names.append(name)

    def code(self, lossless: bool = True) -> int:
        """The exit code: 2 if no input could be used; 1 if some input could not, or if not
        `lossless`; else 0.

        The inputs that could not be used are named on stderr."""
        every = self.used_count + len(self.refused_names)
        if self.refused_names and every > 1:
            counts = f"{len(self.refused_names):,} of {every:,} inputs left out"
            names = ", ".join(self.refused_names)
            print(f"tokpar: error: {counts}: {names}", file=sys.stderr)
        if self.refused_names and not self.used_count:
            return 2
        return 0 if lossless and not self.refused_names else 1


def message_of(error: Exception) -> str:
    """The message of an error in one line, after the name of the file if there is one.

    Keyword arguments are written as options of the command, and control characters are escaped."""
    said = str(error)
    if isinstance(error, OSError) and error.strerror:
        said = error.strerror
        said = said if error.filename is None else f"{error.filename}: {said}"
    said = said.replace("pass allow_approximate=True", "--allow-approximate")
    said = _SPECIAL.sub(lambda found: _advice_for(found[1]), said)
    return visible(_KEYWORD.sub(r"--\1 \2", said))


def _advice_for(token: str) -> str:
    """What to do with a text that spells a special token. `token`: its `repr`."""
    written = shlex.quote(literal_eval(token))
    return (
        f"the text spells the special token {token}: --disallowed-special none takes it as "
        f"ordinary text, --allowed-special {written} gives it its id"
    )


def inputs(arguments: argparse.Namespace) -> list[str]:
    """The names of the inputs: paths, "-" for standard input, or "--text". Raises OptionError."""
    if arguments.text is not None:
        if arguments.files:
            raise OptionError("give either files or --text, not both")
        try:
            arguments.text.encode("utf-8")
        except UnicodeEncodeError:  # bytes of an argument that are not UTF-8 are lone surrogates
            raise OptionError(
                "--text: expected UTF-8; read such bytes from a file instead"
            ) from None
        return [TEXT]
    if arguments.files.count(STDIN) > 1:
        raise OptionError('standard input can be read once, got "-" twice')
    if not arguments.files and sys.stdin.isatty():
        raise OptionError('no text: give files, "-" for standard input, or --text')
    return arguments.files or [STDIN]


def sources_in(arguments: argparse.Namespace, name: str, **reading: object) -> Iterator[TextSource]:
    """The texts of one input. Each text is read when the iterator reaches it."""
    if name == TEXT:
        return iter([TextSource(TEXT, arguments.text)])
    return read_sources(name, arguments.field, **reading)  # type: ignore[arg-type]


@dataclass
class FieldNews:
    """Says on stderr which field of the rows was taken, unless it is that of the file before."""

    is_quiet: bool
    last_field: str = ""

    def say(self, name: str, field: str) -> None:
        if field != self.last_field and not self.is_quiet:
            print(f"{visible(name)}: {field_taken(field)}", file=sys.stderr)
        self.last_field = field


def field_taken(field: str) -> str:
    """The sentence that says which field holds the text."""
    return f"the text is in the field {visible(field)!r} (--field NAME takes another one)"


def sources(arguments: argparse.Namespace) -> Iterator[TextSource]:
    """The texts of all inputs, in the given order. Says which field of the rows was taken."""
    news = FieldNews(arguments.quiet)
    return chain.from_iterable(
        sources_in(arguments, name, on_field=partial(news.say, name)) for name in inputs(arguments)
    )


def one_source(arguments: argparse.Namespace, name: str) -> TextSource:
    """The only text of an input, or its row that --row names. Raises OptionError."""
    found = sources_in(arguments, name)
    if arguments.row is not None:
        for source in found:
            if source.name == f"{name}:{arguments.row}":
                return source
        raise OptionError(f"--row {arguments.row}: {name} has no text in that row")
    first = list(islice(found, 2))
    if not first:
        raise OptionError(f"{name}: expected a text, got no row")
    if len(first) > 1:
        raise OptionError(f"{name} has more than one text: choose one with --row N")
    return first[0]


def encoder_of(arguments: argparse.Namespace, tokenizer: TokenizerAdapter) -> Encoder:
    """An encoder that the arguments describe; a context manager, which closes its pools."""
    from tokpar.encoder import Encoder

    return Encoder(
        tokenizer,
        strategy=arguments.strategy,
        executor=arguments.executor,
        workers=arguments.workers,
        allow_approximate=arguments.allow_approximate,
        **strategy_options(arguments),
    )


@dataclass(frozen=True)
class InputEncoder:
    """Encode the texts of inputs, with a progress bar if one is wanted."""

    arguments: argparse.Namespace
    tokenizer: TokenizerAdapter
    encoder: Encoder = field(repr=False)
    field_news: FieldNews = field(repr=False)

    def encodings(self, name: str) -> Iterator[tuple[TextSource, Encoding]]:
        """Each text of an input with its encoding. Rows are read and encoded in groups.

        After the last text, a line on stderr says how many texts the tokenizer truncated, if
        any."""
        truncated = texts = 0
        for source, encoding in self._encodings(name):
            texts += 1
            truncated += self.may_truncate and encoding.truncated
            yield source, encoding
        if truncated and not self.arguments.quiet:
            which = "the text" if texts == 1 else f"{truncated:,} of {texts:,} texts"
            print(
                f"{name}: the tokenizer's truncation kept a part of {which}; "
                "--no-truncation gives all ids",
                file=sys.stderr,
            )

    @property
    def may_truncate(self) -> bool:
        """True if the tokenizer may truncate or pad. Then rows are encoded one by one, since
        padding depends on the other texts of a batch."""
        return inserted_ids(self.tokenizer) is None

    def _encodings(self, name: str) -> Iterator[tuple[TextSource, Encoding]]:
        if not has_rows(name):
            for source in sources_in(self.arguments, name):
                bar = encoding_bar(self.arguments, self.tokenizer, source.text)
                with blamed_on(source), bar:
                    encoding = self._encode(source.text)
                yield source, encoding
            return
        with bar_of(self.arguments, os.path.getsize(name), "B") as moved:
            on_field = partial(self.field_news.say, name)
            rows = sources_in(self.arguments, name, on_read=moved, on_field=on_field)
            for group in _groups(rows, 1 if self.may_truncate else GROUP_CHARS):
                yield from zip(group, self._encode_group(group), strict=True)

    def _encode(self, text: str) -> Encoding:
        if getattr(self.arguments, "untrusted", False):
            return self.encoder.encode(text, untrusted=[(0, len(text))])
        return self.encoder.encode(text)

    def _encode_group(self, group: Sequence[TextSource]) -> Sequence[Encoding]:
        if len(group) > 1 and not getattr(self.arguments, "untrusted", False):
            try:
                return self.encoder.encode_batch([source.text for source in group])
            except (TokparError, ValueError):  # the loop below finds the text that fails
                pass
        encodings = []
        for source in group:
            with blamed_on(source):
                encodings.append(self._encode(source.text))
        return encodings


@contextmanager
def input_encoder(
    arguments: argparse.Namespace, tokenizer: TokenizerAdapter
) -> Iterator[InputEncoder]:
    """An InputEncoder whose pools are closed at the end of the block. Raises what `Encoder`
    raises."""
    with encoder_of(arguments, tokenizer) as encoder:
        yield InputEncoder(arguments, tokenizer, encoder, FieldNews(arguments.quiet))


@contextmanager
def blamed_on(source: TextSource) -> Iterator[None]:
    """Turn a ValueError, by which a tokenizer refuses a text, into an OptionError that names the
    text."""
    try:
        yield
    except TokparError:
        raise
    except ValueError as error:
        raise OptionError(f"{source.name}: {error}") from error


def _groups(sources: Iterator[TextSource], most: int) -> Iterator[list[TextSource]]:
    """Consecutive sources in groups. A group ends when it has at least `most` code points."""
    group: list[TextSource] = []
    size = 0
    for source in sources:
        group.append(source)
        size += len(source.text) + 1
        if size >= most:
            yield group
            group, size = [], 0
    if group:
        yield group
