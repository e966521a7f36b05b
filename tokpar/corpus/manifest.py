"""The manifest of a corpus: what was read, by which tokenizer, and what each shard holds.

The manifest is `manifest.json` in the folder of the shards. Equal inputs, tokenizer and options
give an equal manifest, byte for byte, whoever built it and with however many workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from tokpar.errors import FileFormatError

FORMAT = "tokpar corpus"
FORMAT_VERSION = 1
MANIFEST_NAME = "manifest.json"

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Digest:
    """The sha256 of the bytes [start, stop) of a file, as 64 hexadecimal digits."""

    start: int
    stop: int
    sha256: str


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read.

    `bytes`: its size as it is stored. `digests`: in order, without gaps: one of the whole file, or
    one of each range of a large .jsonl that several shards were made of."""

    name: str
    bytes: int
    digests: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """Where a document begins: in which input, and at which place of the input.

    `offset`: bytes of the uncompressed file for lines, rows for parquet and Arrow, 0 for a file
    that is one document."""

    input: int
    offset: int


@dataclass(frozen=True, slots=True)
class DividedDocument:
    """A long document that was encoded in pieces between certified cuts.

    `document`: its number in the shard. `seams`: how many. `certificate`: the sha256 of its
    certificate, the bytes of `tokpar.certificate.certificate_file.to_bytes`."""

    document: int
    seams: int
    certificate: str


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A file of a shard: its name in the folder, its size and its sha256."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Shard:
    """The documents [begin, end) of the inputs, in the order of the inputs.

    `part`, `number`: the build divides the inputs into parts, and each part becomes one shard or
    several. `files` is empty if all documents were skipped. `documents`, `tokens`: inserted
    special tokens included. `text_bytes`: UTF-8 bytes of the documents. `shortest`, `longest`:
    tokens of a document, 0 without documents. `skipped`: how many documents were left out, by the
    kind of fault; only with errors="skip"."""

    part: int
    number: int
    begin: Position
    end: Position
    files: tuple[ShardFile, ...]
    documents: int
    tokens: int
    text_bytes: int
    shortest: int
    longest: int
    skipped: Mapping[str, int]
    divided: tuple[DividedDocument, ...]


@dataclass(frozen=True, slots=True)
class TokenizerRecord:
    """The tokenizer that made the ids.

    `source`: what the caller named, a path, a folder or a name. `fingerprint`: the digest of
    everything that decides ids before special tokens (`tokpar.adapters.fingerprint`), computed
    without truncation and padding. `engine`, `engine_version`: the package that encodes.
    `vocabulary_size`: the highest id and one."""

    source: str
    fingerprint: str
    engine: str
    engine_version: str
    vocabulary_size: int


@dataclass(frozen=True, slots=True)
class Options:
    """Everything else that decides the bytes of the shards.

    `format`: megatron, parquet, arrow or numpy. `dtype`: of the ids in a shard. `shard_bytes`:
    UTF-8 bytes of text after which a shard ends, with the document that is complete then. `field`:
    the name of the text, or of the messages, in a row. `lines`: each line of a text file is a
    document. `prefix`, `suffix`: ids inserted before and after each document, BOS and EOS and what
    else the tokenizer adds; `bos`: None as the tokenizer's own call does, True or False as asked.
    `eod`: the id that --append-eod appends to each document that has ids, after `suffix`; None
    without. `document_id`: the field that is stored as the document's id, or None.
    `chat_template`: the sha256 of the template by which messages became text, or None. `errors`:
    "stop" or "skip"."""

    format: str
    dtype: str
    shard_bytes: int
    field: str
    lines: bool
    bos: bool | None
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    eod: int | None
    document_id: str | None
    chat_template: str | None
    errors: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """All of it. `shards`: ordered by part and number, so that their documents are in the order of
    `inputs`."""

    tokpar_version: str
    tokenizer: TokenizerRecord
    options: Options
    inputs: tuple[InputFile, ...]
    shards: tuple[Shard, ...]

    @property
    def documents(self) -> int:
        return sum(shard.documents for shard in self.shards)

    @property
    def tokens(self) -> int:
        return sum(shard.tokens for shard in self.shards)

    @property
    def text_bytes(self) -> int:
        return sum(shard.text_bytes for shard in self.shards)

    @property
    def skipped(self) -> dict[str, int]:
        """How many documents were left out, by the kind of fault."""
        total: dict[str, int] = {}
        for shard in self.shards:
            for kind, count in shard.skipped.items():
                total[kind] = total.get(kind, 0) + count
        return total

    def to_json(self) -> str:
        """The text of `manifest.json`: equal manifests give equal text."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return json.dumps({**head, **asdict(self)}, sort_keys=True, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Reads what `to_json` wrote. Raises FileFormatError that names the missing or wrong
        field."""
        found = parse_object(text, "manifest")
        check_version(found, "manifest")
        return cls(
            tokpar_version=_read_field(found, "tokpar_version", str),
            tokenizer=tokenizer_from(_read_field(found, "tokenizer", dict)),
            options=options_from(_read_field(found, "options", dict)),
            inputs=tuple(map(input_from, _read_field(found, "inputs", list))),
            shards=tuple(map(shard_from, _read_field(found, "shards", list))),
        )


def parse_object(text: str, what: str) -> dict[str, Any]:
    """The JSON object of a manifest or of a line of a journal. Raises FileFormatError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{what}: expected JSON ({error})") from error
    if not isinstance(found, dict):
        raise FileFormatError(f"{what}: expected an object, got {type(found).__name__}")
    return found


def check_version(record: Mapping[str, Any], what: str) -> None:
    """Raises FileFormatError unless this version of tokpar wrote the format."""
    if record.get("format") != FORMAT:
        raise FileFormatError(f"{what}: format: expected {FORMAT!r}, got {record.get('format')!r}")
    version = record.get("format_version")
    if version != FORMAT_VERSION:
        raise FileFormatError(
            f"{what}: format_version: this tokpar reads {FORMAT_VERSION}, got {version!r}"
        )


def tokenizer_from(record: Any) -> TokenizerRecord:
    return _build_record(TokenizerRecord, record)


def options_from(record: Any) -> Options:
    return _build_record(Options, record, prefix=tuple, suffix=tuple)


def input_from(record: Any) -> InputFile:
    return _build_record(InputFile, record, digests=_each(lambda item: _build_record(Digest, item)))


def shard_from(record: Any) -> Shard:
    return _build_record(
        Shard,
        record,
        begin=lambda item: _build_record(Position, item),
        end=lambda item: _build_record(Position, item),
        files=_each(lambda item: _build_record(ShardFile, item)),
        divided=_each(lambda item: _build_record(DividedDocument, item)),
    )


def _each(read: Callable[[Any], Value]) -> Callable[[Any], tuple[Value, ...]]:
    return lambda items: tuple(map(read, items))


def _build_record(kind: type[Value], record: Any, **readers: Callable[[Any], Any]) -> Value:
    """The dataclass `kind` of a JSON object. Raises FileFormatError."""
    if not isinstance(record, dict):
        raise FileFormatError(f"{kind.__name__}: expected an object, got {record!r:.80}")
    names = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    if sorted(record) != sorted(names):
        missing, unknown = sorted(set(names) - set(record)), sorted(set(record) - set(names))
        raise FileFormatError(f"{kind.__name__}: missing {missing}, unknown {unknown}")
    try:
        return kind(**{name: readers.get(name, lambda x: x)(record[name]) for name in names})
    except TypeError as error:
        raise FileFormatError(f"{kind.__name__}: {error}") from error


def _read_field(record: Mapping[str, Any], name: str, kind: type) -> Any:
    value = record.get(name)
    if not isinstance(value, kind):
        got = "nothing" if name not in record else type(value).__name__
        raise FileFormatError(f"manifest: {name}: expected {kind.__name__}, got {got}")
    return value
