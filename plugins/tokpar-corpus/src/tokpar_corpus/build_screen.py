"""What `tokpar corpus build` prints while it runs, at its end, and in a dry run."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from tokpar.cli.screen import plural
from tokpar_corpus.build_progress import STAGES, Progress
from tokpar_corpus.estimate import estimate
from tokpar_corpus.input_names import describe_kinds, describe_left_out
from tokpar_corpus.job import BuildJob
from tokpar_corpus.manifest import Manifest, Options

LOG_SECONDS = 60.0
_MEGABYTE = 1e6


@contextmanager
def show_progress(
    arguments: argparse.Namespace, progress: Progress
) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each block. It moves the bar, and writes to the log each
    minute. The log gets one more line at the end."""
    with ExitStack() as stack:
        bar = Bar(progress) if _bar_wanted(arguments) else None
        log: IO[str] | None = None
        if arguments.log is not None:
            log = stack.enter_context(arguments.log.open("a", encoding="utf-8"))
        if bar is not None:
            stack.callback(bar.close)
        last = time.monotonic()

        def on_block() -> None:
            nonlocal last
            if bar is not None:
                bar.move()
            if log is not None and time.monotonic() - last >= LOG_SECONDS:
                last = time.monotonic()
                write_log(log, progress)

        try:
            yield on_block
        finally:
            if log is not None:
                write_log(log, progress)


def write_log(file: IO[str], progress: Progress) -> None:
    """Append the progress so far to the log, as one line of JSON."""
    left = progress.seconds_left
    file.write(
        json.dumps(
            {
                "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "documents": progress.documents,
                "tokens": progress.tokens,
                "text_bytes": progress.text_bytes,
                "read_bytes": progress.stored,
                "input_bytes": progress.stored_total,
                "shards": progress.shards,
                "skipped": progress.skipped,
                "tokens_per_second": round(progress.new_tokens / max(progress.elapsed, 1e-9)),
                "seconds_left": None if left is None else round(left),
                "stage_seconds": {k: round(v, 3) for k, v in progress.seconds.items()},
            }
        )
        + "\n"
    )
    file.flush()


class Bar:
    """A progress bar on stderr. Its unit is the bytes of the inputs as they are stored."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._bar: Any = None

    def move(self) -> None:
        progress = self._progress
        if self._bar is None:
            from tqdm import tqdm

            self._bar = tqdm(
                total=progress.stored_total,
                initial=progress.stored - progress.new_stored,
                unit="B",
                unit_scale=True,
                leave=False,
                miniters=0,  # redraw also if a block moves the other counts and reads no bytes
                file=sys.stderr,
            )
        rate = progress.new_tokens / max(progress.elapsed, 1e-9)
        done = f"{progress.documents:,} documents, {rate:,.0f} tokens/s, {progress.shards} shards"
        self._bar.set_postfix_str(done, refresh=False)
        self._bar.update(progress.stored - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _bar_wanted(arguments: argparse.Namespace) -> bool:
    return not arguments.quiet and (arguments.progress or sys.stderr.isatty())


def print_summary(manifest: Manifest, progress: Progress, out_folder: Path) -> None:
    """Print on stderr the counts, the skipped documents, and a line for each stage."""
    documents = plural(manifest.documents, "document")
    shards = plural(manifest.stored_shards, "shard")
    size = manifest.text_bytes / _MEGABYTE
    say = f"{documents}, {manifest.tokens:,} tokens of {size:,.1f} MB of text in {shards}"
    print(f"{say}: {out_folder}", file=sys.stderr)
    if manifest.control_documents:
        print(describe_control(manifest.control_documents, manifest.options), file=sys.stderr)
    for kind, count in sorted(manifest.skipped.items()):
        print(f"skipped: {count:,} ({kind})", file=sys.stderr)
    print(stage_table(progress), file=sys.stderr)


def stage_table(progress: Progress) -> str:
    """A table of the stages of this run: seconds, and MB of text a second.

    Reading and parsing run at the same time as encoding and writing, so the sum of the stages may
    exceed the elapsed time."""
    size = progress.new_text_bytes / _MEGABYTE
    lines = [f"{'stage':<8}{'seconds':>10}{'MB/s':>10}"]
    for name, seconds in [*((n, progress.seconds[n]) for n in STAGES), ("all", progress.elapsed)]:
        rate = f"{size / seconds:,.1f}" if seconds > 0.0005 else "-"
        lines.append(f"{name:<8}{seconds:>10,.2f}{rate:>10}")
    return "\n".join(lines)


def print_dry_run(job: BuildJob) -> bool:
    """Print what a build would write and how large it would be, estimated from a sample. Returns
    False if the inputs have no document."""
    found = estimate(job)
    options = job.options
    print(f"inputs: {describe_inputs(job)}")
    print(f"parts: {len(job.parts):,}, shards of {options.shard_bytes / _MEGABYTE:,.0f} MB of text")
    print(f"ids: {options.dtype}; {describe_inserted(options)}")
    print(
        f"sample: {plural(found.documents, 'document')}, {found.tokens:,} tokens of "
        f"{found.text_bytes:,} bytes of text, read from {found.stored_bytes:,} bytes"
    )
    if found.control_documents:
        print(f"in the sample {describe_control(found.control_documents, options)}")
    if found.is_beginning:
        print("compressed files were read at their beginnings")
    for kind, count in sorted(found.skip_counts.items()):
        print(f"skipped in the sample: {count:,} ({kind})")
    documents = f"{found.all_documents:,} documents{describe_error(found.document_error)}"
    tokens = f"{found.all_tokens:,} tokens{describe_error(found.token_error)}"
    print(f"expected: {documents}, {tokens}, {found.all_bytes / _MEGABYTE:,.1f} MB in {job.folder}")
    if found.all_seconds:
        size = sum(each.bytes for each in job.inputs)
        hourly = size / found.all_seconds * 3600 / 1e9
        print(
            f"time: {found.all_seconds:,.1f} s on this machine without writing, "
            f"{hourly:,.1f} GB of input as stored an hour"
        )
    return found.documents > 0 or found.stored_bytes < sum(each.bytes for each in job.inputs)


def describe_control(count: int, options: Options) -> str:
    """How documents that spell a control token are encoded."""
    spell = f"{plural(count, 'document')} spell{'s' if count == 1 else ''} a control token"
    if options.untrusted == "text":
        return f"{spell}, which was encoded as text"
    return (
        f"{spell} and {'has' if count == 1 else 'have'} its id, as by the tokenizer's own call "
        "(--untrusted text encodes it as text, --untrusted refuse names the document)"
    )


def describe_error(error: float) -> str:
    """How far an expected count may be off. `error`: see `Estimate`."""
    return f" (give or take {max(error, 0.001):.1%})" if error else ""


def describe_inserted(options: Options) -> str:
    """The sentence that says which special tokens a build adds to each document."""
    places = {
        "before": list(options.prefix),
        "after": [*options.suffix, *([] if options.eod is None else [options.eod])],
    }
    inserted = [f"{ids} {place} each document" for place, ids in places.items() if ids]
    if not inserted:
        return "no special tokens are added"
    return f"special tokens are added: {', '.join(inserted)}"


def describe_inputs(job: BuildJob) -> str:
    """The kinds of the inputs, their size, and what is left out of their folders."""
    size = sum(each.bytes for each in job.inputs) / _MEGABYTE
    kinds = f"{describe_kinds(each.name for each in job.inputs)}, {size:,.1f} MB as stored"
    return f"{kinds}; {describe_left_out(job.left_out)}" if job.left_out else kinds
