"""Prepares a build: checks the options, loads the tokenizer, finds the inputs and plans the
parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tokpar import __version__
from tokpar.errors import OptionError
from tokpar.process.limits import require_choice
from tokpar_corpus.build_options import (
    BACKENDS,
    BUDGET,
    ERRORS,
    FORMATS,
    LEAST_BUDGET,
    LEAST_SHARD,
    SHARD_BYTES,
    Memory,
    size_of,
)
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.chat import template_of
from tokpar_corpus.control_documents import UNTRUSTED
from tokpar_corpus.document_blocks import BadDocument
from tokpar_corpus.document_encoder import DocumentEncoder
from tokpar_corpus.input_field import FieldChoice, find_field
from tokpar_corpus.input_parts import InputPart, plan_parts
from tokpar_corpus.inputs import Input, find_inputs, require_folder_beside
from tokpar_corpus.journal import Head
from tokpar_corpus.json_rows import TextOf
from tokpar_corpus.manifest import Options, Position
from tokpar_corpus.part_reading import PartReader
from tokpar_corpus.tokenizer_source import CorpusTokenizer, load_for_corpus
from tokpar_corpus.writers import dtype_for, writer_version


@dataclass(frozen=True, slots=True)
class Request:
    """The options of a build, as a caller gives them: see `tokpar_corpus.build`."""

    inputs: Sequence[str]
    out: Path
    tokenizer: object
    engine: str | None = None
    settings: Mapping[str, Any] | None = None
    format: str = "megatron"
    field: str | None = None
    lines: bool = False
    text: bool = False
    bos: bool | None = None
    bos_token: str | int | None = None
    append_eod: bool = False
    eod_token: str | int | None = None
    document_id: str | None = None
    chat_template: bool | str = False
    dtype: str = "auto"
    shard_size: str | int = SHARD_BYTES
    memory_budget: str | int = BUDGET
    workers: int | None = None
    errors: str = "stop"
    untrusted: str | None = None
    resume: bool = False
    backend: str = "local"
    ray_address: str | None = None


@dataclass(frozen=True)
class BuildJob:
    """A checked build. `text_of`: turns the value of the field into a text; None if the value is
    the text. `field_choice`: the field that the inputs told, or None if the caller named it.
    `left_out`: the files of input folders that are no inputs."""

    request: Request
    folder: Path
    tokenizer: CorpusTokenizer
    head: Head
    parts: tuple[InputPart, ...]
    memory: Memory
    text_of: TextOf | None
    field_choice: FieldChoice | None
    left_out: tuple[str, ...]

    @property
    def options(self) -> Options:
        return self.head.options

    @property
    def inputs(self) -> tuple[Input, ...]:
        return self.head.inputs

    def reader(
        self, part: InputPart, begin: Position, progress: Progress, block_bytes: int | None = None
    ) -> PartReader:
        """Returns the reader of the documents of a part from `begin` on. `block_bytes`: the size of
        its blocks, if the memory budget does not say it."""
        own = self.options
        memory = replace(self.memory, block_bytes=block_bytes)
        return PartReader(
            *(self.inputs, part, begin, own.field, own.document_id),
            *(self.text_of, memory, progress),
        )

    def encoder(self) -> DocumentEncoder:
        """Returns a new encoder of the documents, which its caller has to close."""
        workers = self.request.workers
        return DocumentEncoder(self.tokenizer.adapter, self.options, self.inputs, workers)

    def stop_at(self, faults: Sequence[BadDocument]) -> None:
        """Raises FileFormatError for the first fault, unless the options say to skip faults."""
        if faults and self.options.errors == "stop":
            raise faults[0].error()


def prepare(request: Request) -> BuildJob:
    """Checks a request, loads its tokenizer and finds its inputs and their field. Raises
    OptionError, FileFormatError, OSError, and the errors of `load`."""
    require_choice("format", request.format, FORMATS)
    require_choice("errors", request.errors, ERRORS)
    if request.untrusted is not None:
        require_choice("untrusted", request.untrusted, UNTRUSTED)
    if request.untrusted is not None and request.chat_template:
        raise OptionError(
            "--untrusted takes no --chat-template, which writes control tokens itself: "
            "`tokpar.as_hf(tokenizer).apply_chat_template(chat, untrusted=True)` encodes chats"
        )
    require_choice("backend", request.backend, BACKENDS)
    shard_bytes = size_of(request.shard_size, "--shard-size")
    budget = size_of(request.memory_budget, "--memory-budget")
    if shard_bytes < LEAST_SHARD:
        raise OptionError(
            f"--shard-size must be at least 1kB, got {request.shard_size}: a number without a "
            "unit such as MB or GiB is bytes"
        )
    if budget < LEAST_BUDGET:
        raise OptionError(f"--memory-budget must be at least 64MiB, got {request.memory_budget}")
    tokenizer = load_for_corpus(request.tokenizer, request.engine, request.settings or {})
    text_of: TextOf | None = None
    template: str | None = None
    if request.chat_template:
        text_of, template = template_of(tokenizer, request.chat_template)
    require_folder_beside(str(request.out), request.inputs)
    found = find_inputs(request.inputs, request.lines, request.text)
    inputs = found.files
    field, choice = request.field or "messages", None
    if request.field is None and template is None:
        choice = find_field(inputs, request.errors == "skip")
        field = choice.field
    record = tokenizer.record()
    prefix, suffix = _inserted_ids(tokenizer, request)
    options = Options(
        format=request.format,
        dtype=dtype_for(request.format, request.dtype, record.vocabulary_size),
        shard_bytes=shard_bytes,
        field=field,
        lines=request.lines,
        text=request.text,
        bos=request.bos,
        prefix=prefix,
        suffix=suffix,
        eod=tokenizer.special_id("eod", request.eod_token) if request.append_eod else None,
        document_id=request.document_id,
        chat_template=template,
        errors=request.errors,
        untrusted=request.untrusted,
    )
    if request.document_id is not None and request.format not in ("parquet", "arrow"):
        raise OptionError(f"--document-id is stored by parquet and arrow, not by {request.format}")
    head = Head(__version__, writer_version(request.format), record, options, inputs)
    parts = tuple(plan_parts(inputs, shard_bytes))
    return BuildJob(
        request=request,
        folder=Path(request.out),
        tokenizer=tokenizer,
        head=head,
        parts=parts,
        memory=Memory(budget),
        text_of=text_of,
        field_choice=choice,
        left_out=found.left_out,
    )


def _inserted_ids(
    tokenizer: CorpusTokenizer, request: Request
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Returns the ids that are inserted before and after each document.

    With --bos only BOS, with --no-bos none. Without both: the ids of the tokenizer's own call; none
    with a chat template, which writes its own special tokens."""
    if request.bos is None and not request.chat_template:
        return tokenizer.own_ids()
    if not request.bos:
        return (), ()
    return (tokenizer.special_id("bos", request.bos_token),), ()
