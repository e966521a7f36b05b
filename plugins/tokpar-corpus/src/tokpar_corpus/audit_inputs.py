"""The texts that shards were made of, read as `tokpar corpus build` read them: by the manifest
beside the shards if there is one."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tokpar.arrays import IntArray
from tokpar.errors import FileFormatError, OptionError
from tokpar_corpus.build_options import BUDGET, SHARD_BYTES, Memory
from tokpar_corpus.build_progress import Progress
from tokpar_corpus.chat import template_of
from tokpar_corpus.document_blocks import Block
from tokpar_corpus.input_field import find_field
from tokpar_corpus.input_parts import plan_parts
from tokpar_corpus.inputs import Input, find_inputs
from tokpar_corpus.json_rows import TextOf
from tokpar_corpus.manifest import MANIFEST_NAME, Manifest, Options, Position
from tokpar_corpus.part_reading import PartReader
from tokpar_corpus.read_ahead import ReadAhead
from tokpar_corpus.tokenizer_source import CorpusTokenizer


@dataclass
class InputFiles:
    """The texts of input files, in order; they can be read again.

    `text_field`: the name of the text in a row. `unusable`: rows that hold no text, as a build
    with errors="skip" leaves them out."""

    inputs: Sequence[Input]
    text_field: str = "text"
    text_of: TextOf | None = None
    unusable: int = 0
    _firsts: list[int] = field(default_factory=list)
    _begins: list[tuple[int, IntArray]] = field(default_factory=list)

    def batches(self) -> Iterator[list[str]]:
        """The texts, some at a time. Raises OSError, FileFormatError."""
        self._firsts, self._begins, self.unusable = [], [], 0
        row = 0
        for block in self._blocks():
            self._firsts.append(row)
            self._begins.append((block.input, block.begins))
            self.unusable += len(block.faults)
            row += len(block.texts)
            yield block.texts

    def require_texts(self) -> None:
        """Raises FileFormatError if rows are there and none of them has a text."""
        fault = None
        for block in self._blocks():
            if block.texts:
                return
            fault = fault or next(iter(block.faults), None)
        if fault is not None:
            raise FileFormatError(
                f"no row of the input has a text: {fault.message} (--field NAME chooses a field)"
            )

    def _blocks(self) -> Iterator[Block]:
        memory = Memory(BUDGET)
        for part in plan_parts(self.inputs, SHARD_BYTES):
            reader = PartReader(
                self.inputs,
                part,
                Position(part.spans[0].input, part.spans[0].start),
                self.text_field,
                None,
                self.text_of,
                memory,
                Progress(),
            )
            with closing(ReadAhead(reader.blocks(), memory.in_flight)) as blocks:
                yield from blocks

    def place(self, row: int) -> str:
        """Where text `row` is: "a.jsonl:17"."""
        k = bisect_right(self._firsts, row) - 1
        number, begins = self._begins[k]
        return self.inputs[number].place(int(begins[row - self._firsts[k]]))


def input_files(
    names: Sequence[str],
    shards: Sequence[str],
    tokenizer: CorpusTokenizer,
    field_name: str | None,
    lines: bool,
    text: bool,
) -> tuple[InputFiles, list[str]]:
    """Returns the texts of the inputs `names`, and notes that say how they are read.

    Without `field_name`, the manifest of the shards says in which field the texts are, and whether
    a chat template made them of messages; without a manifest, the inputs tell it (`find_field`).
    Raises FileFormatError if no row has a text; OptionError, OSError."""
    options, notes = options_of(shards), list[str]()
    if options is not None:
        lines, text = lines or options.lines, text or options.text
    inputs = find_inputs(names, lines, text).files
    has_rows = any(each.kind not in ("text", "lines") for each in inputs)
    text_of = None
    if field_name is None and options is not None:
        field_name, why = options.field, f"as {MANIFEST_NAME} of the shards says"
        text_of = None if options.chat_template is None else _chat_of(tokenizer, options)
    elif field_name is None:
        choice = find_field(inputs, skips_faults=True)
        field_name, why = choice.field, f"by {choice.place}"
    else:
        why = ""
    if has_rows and why:
        notes.append(f"the texts of the input are in the field {field_name!r}, {why}")
    files = InputFiles(inputs, field_name, text_of)
    files.require_texts()
    return files, notes


def options_of(shards: Sequence[str]) -> Options | None:
    """Returns the options of the build that made the shards, from the manifests in their folders;
    None without a manifest. Raises OptionError if texts were not read the same way for all."""
    known = _known_options(shards)
    if len({(each.field, each.lines, each.text, each.chat_template) for each in known}) > 1:
        raise OptionError("the shards are of builds that read their texts in different ways")
    return known[0] if known else None


def are_untrusted(shards: Sequence[str]) -> bool:
    """True if the shards are of builds with --untrusted text. Raises OptionError if only some
    are."""
    found = {each.untrusted == "text" for each in _known_options(shards)}
    if len(found) > 1:
        raise OptionError("only some shards are of builds with --untrusted text: audit them apart")
    return True in found


def _known_options(shards: Sequence[str]) -> list[Options]:
    by_folder: dict[Path, set[str]] = {}
    for path in map(Path, shards):
        by_folder.setdefault(path.parent, set()).add(path.name)
    found = [_options_in(folder, names) for folder, names in by_folder.items()]
    return [options for options in found if options is not None]


def _options_in(folder: Path, names: set[str]) -> Options | None:
    """Returns the options of the manifest in a folder, if it has one of the shards `names`."""
    try:
        manifest = Manifest.from_json((folder / MANIFEST_NAME).read_text(encoding="utf-8"))
    except (FileNotFoundError, FileFormatError, UnicodeDecodeError):
        return None
    files = (file.name for each in manifest.shards for file in each.files)
    return manifest.options if not names.isdisjoint(files) else None


def _chat_of(tokenizer: CorpusTokenizer, options: Options) -> TextOf:
    text_of, digest = template_of(tokenizer, True)
    if digest != options.chat_template:
        raise OptionError(
            "the texts of these shards were made by a chat template that is not the tokenizer's "
            "own: audit without --against, or use verify"
        )
    return text_of
