"""Tokenize documents into shards for training, resumable, with a manifest.

    tokpar corpus build data/*.jsonl.zst --tokenizer tokenizer/ --out shards --append-eod

The ids of a document are those of the tokenizer's own serial call. Shards are complete or not
there; after an interrupt or a crash the same command with --resume goes on. The bytes of the shards
do not depend on workers or memory.
"""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from tokpar.cli import options
from tokpar.cli.encodings import field_taken
from tokpar.cli.screen import plural
from tokpar.cli.text_files import RULE
from tokpar.errors import TokparError
from tokpar_corpus.build_options import (
    BACKENDS,
    BUDGET,
    ERRORS,
    FORMATS,
    SHARD_BYTES,
    TIMES_LONGEST,
)
from tokpar_corpus.command_audit import declare_tokenizer
from tokpar_corpus.control_documents import UNTRUSTED

if TYPE_CHECKING:
    from tokpar_corpus.job import BuildJob, Request

STOPPING = (signal.SIGINT, signal.SIGTERM)
STOPPED = 128
"""The exit code of a build that a signal stopped is this number plus the number of the signal."""
WHAT = "files, folders, patterns or URLs of .jsonl, .ndjson, .txt (.gz, .zst), .parquet, .arrow"


def declare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("inputs", nargs="+", metavar="INPUT", help=WHAT)
    add("--out", type=Path, required=True, metavar="DIR", help="a folder for shards and manifest")
    add("--resume", action="store_true", help="go on with what is in --out; or begin there")
    declare_tokenizer(parser)
    _declare_documents(parser)
    _declare_shards(parser)
    _declare_run(parser)


def _declare_documents(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("documents").add_argument
    add("--field", metavar="NAME", help=f"the text in a row, also nested: data.text ({RULE})")
    add("--lines", action="store_true", help="each line of a text file is a document")
    add("--text", action="store_true", help="take text files of a folder that has rows, too")
    add("--document-id", metavar="NAME", help="store this field as the document's id, too")
    chat = "make the text of the field messages by this template, or by the tokenizer's own"
    add("--chat-template", nargs="?", const=True, default=False, metavar="FILE", help=chat)
    own = "as the tokenizer's own call does, without --bos and --no-bos"
    bos = parser.add_mutually_exclusive_group()
    bos.add_argument(
        "--bos", action="store_true", default=None, help=f"BOS before each document ({own})"
    )
    bos.add_argument("--no-bos", action="store_false", dest="bos", help="no special tokens")
    add("--bos-token", metavar="TEXT|ID", help="the token of --bos (default: the tokenizer's)")
    add("--append-eod", action="store_true", help="EOS after each document that has ids")
    add("--eod-token", metavar="TEXT|ID", help="the token of --append-eod")
    control = "documents that spell <|endoftext|> or such: as text, or refused (default: its id)"
    add("--untrusted", choices=UNTRUSTED, help=control)
    add("--errors", choices=ERRORS, default="stop", help="skip: leave bad documents out, counted")


def _declare_shards(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("shards").add_argument
    add("--format", choices=FORMATS, default="megatron", help="default: megatron (.bin and .idx)")
    add("--dtype", default="auto", metavar="NAME", help="of the ids: uint16, int32 or uint32")
    size = f"UTF-8 bytes of text after which a shard ends (default: {SHARD_BYTES >> 30}GiB)"
    add("--shard-size", default=str(SHARD_BYTES), metavar="SIZE", help=size)


def _declare_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("run").add_argument
    budget = f"at least {TIMES_LONGEST} times the longest document (default: {BUDGET >> 30}GiB)"
    add("--memory-budget", default=str(BUDGET), metavar="SIZE", help=budget)
    what = "ray: a part for each task on a Ray cluster (pip install ray)"
    add("--backend", choices=BACKENDS, default="local", help=what)
    add("--ray-address", metavar="HOST", help="the cluster (default: one on this machine)")
    add("--workers", type=int, metavar="N", help="threads (default: the cores available)")
    add("--dry-run", action="store_true", help="say what would be written, and how large")
    add("--log", type=Path, metavar="FILE", help="append a line of JSON there each minute")
    add("--progress", action="store_true", help="show a bar even if stderr is not a terminal")
    add("--quiet", action="store_true", help="nothing on stderr but errors")


def run(arguments: argparse.Namespace) -> int:
    from tokpar_corpus.build_progress import Progress
    from tokpar_corpus.build_screen import (
        describe_inputs,
        print_dry_run,
        print_summary,
        show_progress,
    )
    from tokpar_corpus.building import BuildStoppedError, describe_shards, run_build
    from tokpar_corpus.durable_files import Disk
    from tokpar_corpus.job import prepare
    from tokpar_corpus.journal import has_entries

    job = prepare(request_of(arguments))
    choice = job.field_choice
    has_choice = len(job.inputs) > 1 or bool(job.left_out)
    if has_choice and not arguments.quiet and not arguments.dry_run:
        print(f"inputs: {describe_inputs(job)}", file=sys.stderr)
    if choice is not None and choice.place is not None and not arguments.quiet:
        print(f"{choice.place}: {field_taken(choice.field)}", file=sys.stderr)
    if arguments.dry_run:
        return 0 if print_dry_run(job) else _no_document(job)
    progress = Progress()
    with stopping_on_signals() as stop, show_progress(arguments, progress) as on_block:
        try:
            manifest = run_build(job, Disk(), progress, on_block, stop.is_asked)
        except BuildStoppedError:
            print(f"stopped; go on with: {resume_command(sys.argv)}", file=sys.stderr)
            return STOPPED + stop.signal
        except (TokparError, OSError):
            if progress.new_documents and has_entries(job.folder):  # else it began nothing
                shards = describe_shards(job.folder)
                print(f"{job.folder} has {shards}; --resume goes on", file=sys.stderr)
            raise
    if not arguments.quiet:
        print_summary(manifest, progress, job.folder)
    return 0 if manifest.documents else _no_document(job)


def _no_document(job: BuildJob) -> int:
    """Say that the inputs hold no document, and return the exit code of such a build."""
    print(f"no document in {plural(len(job.inputs), 'input')}", file=sys.stderr)
    return 1


@dataclass
class Stop:
    """Whether a signal asked the build to stop. `signal`: its number, or 0."""

    signal: int = 0

    def is_asked(self) -> bool:
        return self.signal != 0


@contextmanager
def stopping_on_signals() -> Iterator[Stop]:
    """Yield what Ctrl-C (SIGINT) and SIGTERM set, by which Slurm and Kubernetes end a job. A second
    signal ends the process at once.

    In a thread other than the main thread, signals do what they did before."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return

    def on_signal(number: int, frame: object) -> None:
        stop.signal = number
        for each in STOPPING:
            signal.signal(each, signal.SIG_DFL)
        name = "Ctrl-C" if number == signal.SIGINT else signal.Signals(number).name
        say = f"the shard in flight is finished first; {name} again ends at once"
        print(f"\n{say}", file=sys.stderr, flush=True)

    before = {each: signal.signal(each, on_signal) for each in STOPPING}
    try:
        yield stop
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def resume_command(words: Sequence[str]) -> str:
    """The shell command that resumes the build: the words of the command line, with --resume."""
    own = list(words[1:])
    return shlex.join(["tokpar", *own, *([] if "--resume" in own else ["--resume"])])


def request_of(arguments: argparse.Namespace) -> Request:
    """The request that the arguments describe."""
    from tokpar_corpus.job import Request

    given = {each.name for each in fields(Request)} - {"settings", "chat_template"}
    return Request(
        **{name: getattr(arguments, name) for name in given},
        settings=options.tokenizer_settings(arguments),
        chat_template=_read_template(arguments.chat_template),
    )


def _read_template(template: bool | str) -> bool | str:
    """The chat template in the file `template`; True and False stay as they are."""
    return template if isinstance(template, bool) else Path(template).read_text(encoding="utf-8")
