"""Runs a build: keeps the finished shards of earlier runs, builds the others, and writes the
manifest at the end."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokpar.errors import OptionError, TokparError
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.durable_files import UNFINISHED, Disk, FileLayer, write_whole
from tokpar_corpus.folder_lock import LOCK_NAME, lock_folder
from tokpar_corpus.inputs import Paths, name_list
from tokpar_corpus.job import BuildJob, Request, prepare
from tokpar_corpus.journal import (
    JOURNAL_NAME,
    Entry,
    FinishedShards,
    Journal,
    count_shards,
    has_entries,
)
from tokpar_corpus.local import PartBuilder
from tokpar_corpus.manifest import MANIFEST_NAME, Digest, InputFile, Manifest
from tokpar_corpus.writers import STEM


class BuildStoppedError(TokparError):
    """A build stopped on request, after a complete shard. It can be resumed."""


def build(
    inputs: Paths,
    out: str | os.PathLike[str],
    *,
    tokenizer: object,
    progress: Progress | None = None,
    **options: Any,
) -> Manifest:
    """Tokenizes documents into shards, and returns their manifest.

    `inputs`: names, patterns or URLs of .jsonl, .ndjson, .txt (also .gz, .zst), .parquet and .arrow
    files. `out`: a folder for the shards, the journal and manifest.json. `tokenizer`: anything that
    `tokpar.load` takes. `options`: the fields of `tokpar_corpus.job.Request`; `tokpar corpus build`
    has the same options. `progress`: its counts are updated while the build runs.

    The ids of a document equal the ids of the tokenizer's own serial call. The shards depend only
    on inputs, tokenizer and options. Raises OptionError, FileFormatError, OSError, and the errors
    of `load`. After any error, a later call with `resume=True` continues the build."""
    request = Request(name_list(inputs), Path(out), tokenizer, **options)
    return run_build(prepare(request), Disk(), progress or Progress())


def run_build(
    job: BuildJob,
    layer: FileLayer,
    progress: Progress,
    on_block: Callable[[], object] = lambda: None,
    is_stopped: Callable[[], bool] = lambda: False,
) -> Manifest:
    """Builds the unfinished parts of a job, and returns the manifest of all shards.

    `on_block`: called after each block of documents. `is_stopped`: asked after each shard; if it
    returns true, the build raises BuildStoppedError. Raises OptionError for a folder with other
    content, and the errors of reading and encoding. Complete shards stay after an error."""
    progress.start_time = time.monotonic()
    job.folder.mkdir(parents=True, exist_ok=True)
    with lock_folder(job.folder):
        journal = _open_journal(job, layer)
        try:
            _count_done(job, journal, progress)

            def on_entry(entry: Entry) -> None:
                journal.append(entry)
                progress.shards += bool(entry.shard.files)
                progress.parts += entry.last
                on_block()
                if is_stopped() and job.request.backend == "local":
                    raise BuildStoppedError(f"{job.folder}: stopped after a shard")

            def on_part(entries: list[Entry], part_progress: Progress) -> None:
                progress.join(part_progress)
                for entry in entries:
                    on_entry(entry)

            finished = journal.finished_by_part
            todo = [
                (part, finished.setdefault(part.number, FinishedShards())) for part in job.parts
            ]
            todo = [(part, shards) for part, shards in todo if not shards.complete]
            if job.request.backend == "ray" and todo:
                from tokpar_corpus.ray_backend import build_on_ray

                numbers = [(part.number, shards) for part, shards in todo]
                build_on_ray(job, numbers, on_part, is_stopped)
            else:
                with PartBuilder(job, layer, progress, on_block) as builder:
                    for part, shards in todo:
                        builder.build(part, shards, on_entry)
            if not all(finished[part.number].complete for part in job.parts):
                raise BuildStoppedError(f"{job.folder}: stopped after a part")
            manifest = _manifest(job, journal)
            write_whole(layer, job.folder / MANIFEST_NAME, manifest.to_json().encode())
        finally:
            journal.close()
            if journal.is_empty:
                _remove_unpromised(job.folder, layer)
                layer.remove(job.folder / JOURNAL_NAME)
    return manifest


def _open_journal(job: BuildJob, layer: FileLayer) -> Journal:
    """Returns the journal of the folder. Removes the unfinished files of earlier runs. A journal
    without a shard, as a killed build leaves it, is replaced. Raises OptionError if the folder has
    another content, or a build that is not to be resumed."""
    for path in job.folder.glob(f"{UNFINISHED}*"):
        layer.remove(path)
    if has_entries(job.folder):
        if job.request.resume:
            return Journal.go_on(layer, job.folder, job.head)
        raise OptionError(
            f"{job.folder} holds {describe_shards(job.folder)} of a build: --resume goes on with "
            "it, or give another --out"
        )
    if (job.folder / JOURNAL_NAME).exists():
        _remove_unpromised(job.folder, layer)
    others = sorted(set(os.listdir(job.folder)) - {LOCK_NAME, JOURNAL_NAME})
    if others:
        raise OptionError(
            f"{job.folder} is not empty ({others[0]}): shards go to a folder of their own"
        )
    return Journal.begin(layer, job.folder, job.head)


def _remove_unpromised(folder: Path, layer: FileLayer) -> None:
    """Removes the shards of a journal without an entry: a build ended before it entered them."""
    paths = sorted(folder.glob(f"{STEM}*"))
    for path in paths:
        layer.remove(path)
    if paths:
        layer.sync_folder(folder)  # the journal, which tells whose they are, goes after them


def describe_shards(folder: Path) -> str:
    """Returns what a build left in a folder: "3 complete shards"."""
    count = count_shards(folder)
    return f"{count:,} complete shard{'' if count == 1 else 's'}"


def _count_done(job: BuildJob, journal: Journal, progress: Progress) -> None:
    """Adds the shards of earlier runs to `progress`."""
    progress.stored_total = sum(each.bytes for each in job.inputs)
    progress.parts_total = len(job.parts)
    for part in job.parts:
        finished_shards = journal.finished_by_part.get(part.number, FinishedShards())
        progress.parts += finished_shards.complete
        if finished_shards.complete:
            progress.stored += sum(span.stop - span.start for span in part.spans)
        for entry in finished_shards.entries:
            shard = entry.shard
            progress.shards += bool(shard.files)
            progress.documents += shard.documents
            progress.tokens += shard.tokens
            progress.text_bytes += shard.text_bytes
            for kind, count in shard.skipped.items():
                progress.skipped[kind] = progress.skipped.get(kind, 0) + count


def _manifest(job: BuildJob, journal: Journal) -> Manifest:
    digests: dict[int, list[Digest]] = {}
    shards = []
    for part in job.parts:
        entries = journal.finished_by_part[part.number].entries
        shards += [entry.shard for entry in entries]
        for number, digest in entries[-1].digests:  # the digests of the whole part
            digests.setdefault(number, []).append(digest)
    inputs = tuple(
        InputFile(each.name, each.bytes, tuple(digests.get(k, ())))
        for k, each in enumerate(job.inputs)
    )
    head = job.head
    return Manifest(head.tokpar_version, head.tokenizer, head.options, inputs, tuple(shards))


def manifest_of(folder: Path) -> Manifest:
    """Returns the manifest of a folder of shards. Raises OSError, FileFormatError."""
    return Manifest.from_json((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
