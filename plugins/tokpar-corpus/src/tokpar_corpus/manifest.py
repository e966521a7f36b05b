"""The manifest of a corpus: the inputs, the tokenizer, the options and the content of each shard.

The manifest is `manifest.json` in the folder of the shards. The same inputs, tokenizer and options
give the same manifest, byte for byte, on every machine and with any number of workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

from tokpar.contract.adapter import Loader
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
    """An input file.

    `bytes`: its size as stored. `digests`: in order, without gaps: one digest of the whole file; or
    one digest for each range, if the file was divided into several parts."""

    name: str
    bytes: int
    digests: tuple[Digest, ...]


@dataclass(frozen=True, slots=True)
class Position:
    """The place at which a document begins. `input`: the number of the input.

    `offset`: the byte in the uncompressed file for lines, the row for parquet and Arrow, 0 for a
    file that is one document."""

    input: int
    offset: int


@dataclass(frozen=True, slots=True)
class DividedDocument:
    """A long document that was encoded in pieces between certified cuts.

    `document`: its number in the shard. `seams`: the number of planned seams. `digest`: the
    sha256 of its text, its ids and its planned seams (`document_encoder.seams_digest`)."""

    document: int
    seams: int
    digest: str


@dataclass(frozen=True, slots=True)
class ShardFile:
    """A file of a shard: its name in the folder, its size and its sha256."""

    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Shard:
    """A shard: the documents [begin, end) of the inputs, in the order of the inputs.

    `part`, `number`: the part of the inputs, and the number of the shard within the part; a part
    becomes one or more shards. `files`: empty if all documents were skipped.
    `documents`, `tokens`: counts; tokens include inserted special tokens. `text_bytes`: UTF-8 bytes
    of the documents. `shortest`, `longest`: the fewest and most tokens of a document, 0 without
    documents. `control_documents`: documents that spell a control token. `skipped`: kind of fault
    -> number of skipped documents; only with errors="skip".
    `divided`: the documents that were encoded in pieces."""

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
    control_documents: int
    skipped: Mapping[str, int]
    divided: tuple[DividedDocument, ...]


@dataclass(frozen=True, slots=True)
class TokenizerRecord:
    """The tokenizer that made the ids.

    `source`: the path, folder or name that the caller gave. `fingerprint`: the digest of everything
    that ids depend on, except post-processing (`tokpar.adapters.fingerprint`); without truncation
    and padding. `engine`, `engine_version`: the package that encodes. `vocabulary_size`: the
    highest id plus one. `loader`: what made the tokenizer of a directory or of a repository of the
    Hugging Face Hub, or None."""

    source: str
    fingerprint: str
    engine: str
    engine_version: str
    vocabulary_size: int
    loader: Loader | None = None


@dataclass(frozen=True, slots=True)
class Options:
    """All options that the bytes of the shards depend on.

    `format`: megatron, parquet, arrow or numpy. `dtype`: the dtype of the ids in a shard.
    `shard_bytes`: a shard ends with the document that reaches this number of UTF-8 bytes of text.
    `field`: the field of a row with the text or the messages.
    `lines`: each line of a text file is a document. `text`: folders of rows give their text files.
    `bos`: None: insert the ids that the tokenizer's own call inserts; True: only BOS; False: none.
    `prefix`, `suffix`: the ids that are inserted before and after each document.
    `eod`: the id that --append-eod appends after `suffix`, to each document with ids; or None.
    `document_id`: the field that is stored as the id of a document, or None.
    `chat_template`: the sha256 of the template that turns messages into text, or None.
    `errors`: "stop" or "skip".
    `untrusted`: documents that spell a control token: "text": encode it as text; "refuse": a fault;
    None: its id, as the tokenizer's own call gives."""

    format: str
    dtype: str
    shard_bytes: int
    field: str
    lines: bool
    text: bool
    bos: bool | None
    prefix: tuple[int, ...]
    suffix: tuple[int, ...]
    eod: int | None
    document_id: str | None
    chat_template: str | None
    errors: str
    untrusted: str | None


@dataclass(frozen=True, slots=True)
class Manifest:
    """The whole manifest. `shards`: ordered by part and number, so their documents are in the order
    of `inputs`."""

    tokpar_version: str
    tokenizer: TokenizerRecord
    options: Options
    inputs: tuple[InputFile, ...]
    shards: tuple[Shard, ...]

    @property
    def documents(self) -> int:
        return sum(shard.documents for shard in self.shards)

    @property
    def stored_shards(self) -> int:
        """The number of shards that have files: those with documents."""
        return sum(bool(shard.files) for shard in self.shards)

    @property
    def tokens(self) -> int:
        return sum(shard.tokens for shard in self.shards)

    @property
    def text_bytes(self) -> int:
        return sum(shard.text_bytes for shard in self.shards)

    @property
    def control_documents(self) -> int:
        return sum(shard.control_documents for shard in self.shards)

    @property
    def skipped(self) -> dict[str, int]:
        """Kind of fault -> number of skipped documents, over all shards."""
        total: dict[str, int] = {}
        for shard in self.shards:
            for kind, count in shard.skipped.items():
                total[kind] = total.get(kind, 0) + count
        return total

    def to_json(self) -> str:
        """Returns the text of `manifest.json`. Equal manifests have equal texts."""
        head = {"format": FORMAT, "format_version": FORMAT_VERSION}
        return json.dumps({**head, **asdict(self)}, sort_keys=True, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Manifest:
        """Reads a text from `to_json`. Raises FileFormatError that names the missing or wrong
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
    """Parses the JSON object of a manifest, or of a line of a journal. Raises FileFormatError."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"{what}: expected JSON ({error})") from error
    if not isinstance(found, dict):
        raise FileFormatError(f"{what}: expected an object, got {type(found).__name__}")
    return found


def check_version(record: Mapping[str, Any], what: str) -> None:
    """Raises FileFormatError unless this version of tokpar reads the format of the record."""
    if record.get("format") != FORMAT:
        raise FileFormatError(f"{what}: format: expected {FORMAT!r}, got {record.get('format')!r}")
    version = record.get("format_version")
    if version != FORMAT_VERSION:
        raise FileFormatError(
            f"{what}: format_version: this tokpar reads {FORMAT_VERSION}, got {version!r}"
        )


def tokenizer_from(record: Any) -> TokenizerRecord:
    if isinstance(record, dict):
        record = {"loader": None, **record}  # older manifests have none
    return _build_record(TokenizerRecord, record, loader=_loader_from)


def _loader_from(record: Any) -> Loader | None:
    return None if record is None else _build_record(Loader, record)


def options_from(record: Any) -> Options:
    if isinstance(record, dict):
        record = {"text": False, "untrusted": None, **record}  # older manifests have none
    return _build_record(Options, record, prefix=tuple, suffix=tuple)


def input_from(record: Any) -> InputFile:
    return _build_record(InputFile, record, digests=_each(lambda item: _build_record(Digest, item)))


def shard_from(record: Any) -> Shard:
    if isinstance(record, dict):
        record = {"control_documents": 0, **record}  # older manifests have none
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
    """Returns an instance of the dataclass `kind` from a JSON object. Raises FileFormatError.
    `readers`: name of a field -> function that reads its value."""
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
