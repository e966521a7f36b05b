"""Reads documents from JSON lines. pyarrow parses a whole block if all its lines are good.
Otherwise the block is read line by line, which finds the faults."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, byte_length, has_surrogate
from tokpar.cli.text_files import path_of, value_of
from tokpar.process.cached_property import cached_property
from tokpar_corpus.document_blocks import BROKEN, MISSING, NO_STRING, NO_UTF8, BadDocument, Block
from tokpar_corpus.inputs import Input
from tokpar_corpus.lines import Lines

TextOf = Callable[[Any], str]
"""Turns the value of the field into a text. Raises ValueError that says what is wrong with the
value."""
BOM = b"\xef\xbb\xbf"
_ARROW_BLOCK = 1 << 20


@dataclass(frozen=True)
class RowReader:
    """Reads blocks of JSON lines. `field`: the field of the text, "data.text" for a nested one (see
    `value_of` of tokpar.cli.text_files). `name`: the field of the document id, or None. `text_of`:
    turns the value of the field into a text; None if the value is the text."""

    field: str
    name: str | None
    text_of: TextOf | None = None

    def block(self, lines: Lines, number: LineNumbers, input_: int) -> Block:
        """Returns the documents of a block of whole lines. `number`: counts lines for messages.
        `input_`: the number of the input."""
        data = without_bom(lines)
        found = None if self.text_of is not None else self._by_arrow(data)
        if found is None:
            return self._line_by_line(data, lines, number, input_)
        texts, sizes, begins, names = found
        return Block(input_, texts, sizes, begins + lines.begin, lines.end, names, (), len(data))

    def _by_arrow(
        self, data: bytes
    ) -> tuple[list[str], IntArray, IntArray, list[str] | None] | None:
        """Returns the texts, their sizes in bytes, the byte at which each line begins, and the
        names. Returns None without pyarrow, or if a line is not good.

        pyarrow ignores line ends, so this method checks itself that each line is one object."""
        arrow = self._arrow
        begins = None if arrow is None else object_lines(data)
        if arrow is None or begins is None or not len(begins):
            return None
        pa, pj, pc, parse = arrow
        source = pa.py_buffer(data)
        try:
            pa.Array.from_buffers(
                pa.large_utf8(), 1, [None, pa.py_buffer(np.array([0, len(data)])), source]
            ).validate(full=True)
            table = pj.read_json(
                pa.BufferReader(source), pj.ReadOptions(block_size=_ARROW_BLOCK), parse
            )
            columns = [_column(table, name, pc) for name in self._fields]
            if table.num_rows != len(begins) or any(column.null_count for column in columns):
                return None
            texts = columns[0].to_pylist()
        except (pa.ArrowException, UnicodeDecodeError, KeyError):
            return None
        sizes = pc.binary_length(columns[0]).to_numpy().astype(np.int64)
        return texts, sizes, begins, columns[1].to_pylist() if self.name is not None else None

    @property
    def _fields(self) -> list[str]:
        return [self.field] if self.name is None else [self.field, self.name]

    @cached_property
    def _arrow(self) -> tuple[Any, Any, Any, Any] | None:
        """The modules of pyarrow and the options of its parser. None without pyarrow, and if one
        field lies within another one."""
        try:
            pa, pj, pc = map(import_module, ("pyarrow", "pyarrow.json", "pyarrow.compute"))
        except ImportError:
            return None
        tree = _tree_of(self._fields)
        if tree is None:
            return None
        schema = pa.schema(_arrow_fields(tree, pa))
        return pa, pj, pc, pj.ParseOptions(schema, unexpected_field_behavior="ignore")

    def _line_by_line(self, data: bytes, lines: Lines, number: LineNumbers, input_: int) -> Block:
        texts: list[str] = []
        names: list[str] = []
        begins: list[int] = []
        faults: list[BadDocument] = []
        for count, (place, line) in enumerate(lines_of(data)):
            try:
                text, name = self._document(line)
            except UnusableError as error:
                where = f"{number.name}:{number.lines_before(lines.begin) + count + 1}"
                faults.append(BadDocument(len(texts), error.kind, f"{where}: {error}"))
                continue
            if text is not None:
                texts.append(text)
                names.append(name)
                begins.append(lines.begin + place)
        sizes = np.fromiter(map(byte_length, texts), np.int64, len(texts))
        own = names if self.name is not None else None
        starts = np.array(begins, dtype=np.int64)
        return Block(input_, texts, sizes, starts, lines.end, own, faults, len(data))

    def _document(self, line: bytes) -> tuple[str | None, str]:
        """Returns the text and the name of a line. The text is None for an empty line. Raises
        UnusableError."""
        row = row_of(line)
        if row is None:
            return None, ""
        value = _field_of(row, self.field)
        text = value if self.text_of is None else _make_text(self.text_of, value)
        return _require_text(text, self.field), self._name_of(row)

    def _name_of(self, row: dict[str, Any]) -> str:
        if self.name is None:
            return ""
        value = _field_of(row, self.name)
        return _require_text(str(value) if type(value) is int else value, self.name)


def without_bom(lines: Lines) -> bytes:
    """Returns the bytes of a block. Spaces take the place of a byte order mark at its beginning."""
    data = lines.data
    return b"   " + data[3:] if lines.begin == 0 and data.startswith(BOM) else data


def row_of(line: bytes) -> dict[str, Any] | None:
    """Returns the JSON object of a line, or None for an empty line. Raises UnusableError."""
    try:
        written = line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UnusableError(NO_UTF8, f"expected UTF-8 ({error})") from None
    if not written.strip():
        return None
    try:
        row = json.loads(written)
    except (ValueError, RecursionError) as error:
        raise UnusableError(BROKEN, f"expected a JSON object ({error})") from None
    if not isinstance(row, dict):
        raise UnusableError(BROKEN, f"expected a JSON object, got a {type(row).__name__}")
    return row


def _tree_of(fields: list[str]) -> dict[str, Any] | None:
    """Returns the fields as a tree: a name -> None for a text, or the tree of an object. Each field
    has its own name, too, which may hold dots. Returns None if one field lies within another."""
    tree: dict[str, Any] = dict.fromkeys(fields)
    for field in fields:
        node = tree
        *objects, last = path_of(field)
        for name in objects:
            inner = node.setdefault(name, {})
            if inner is None:
                return None
            node = inner
        if node.setdefault(last, None) is not None:
            return None
    return tree


def _arrow_fields(tree: dict[str, Any], pa: Any) -> list[tuple[str, Any]]:
    return [
        (name, pa.string() if inner is None else pa.struct(_arrow_fields(inner, pa)))
        for name, inner in tree.items()
    ]


def _column(table: Any, field: str, pc: Any) -> Any:
    """Returns the values of a field: of the field of this very name, or of the nested one if no row
    has that name."""
    column = table[field]
    if "." not in field or column.null_count < len(column):
        return column
    first, *names = path_of(field)
    return pc.struct_field(table[first], names)


class UnusableError(ValueError):
    """A row has no document that can be used. `kind`: the kind of its fault."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def _field_of(row: dict[str, Any], field: str) -> Any:
    value = value_of(row, field)
    if value is None:
        what = "it is null" if field in row else f"the fields are {', '.join(map(repr, row))}"
        raise UnusableError(MISSING, f"expected a field {field!r}; {what:.200}")
    return value


def _make_text(text_of: TextOf, value: Any) -> str:
    try:
        return text_of(value)
    except ValueError as error:
        raise UnusableError(NO_STRING, str(error)) from None


def _require_text(text: Any, field: str) -> str:
    if not isinstance(text, str):
        raise UnusableError(NO_STRING, f"expected a str as {field!r}, got a {type(text).__name__}")
    if has_surrogate(text):
        raise UnusableError(NO_UTF8, f"expected {field!r} with a UTF-8 form, got a lone surrogate")
    return text


@dataclass
class LineNumbers:
    """Counts the lines before a place of an input, for messages. Reads the input again if the count
    there is not known. `lines`: the number of lines before byte `place`."""

    input: Input
    place: int = 0
    lines: int = 0

    @property
    def name(self) -> str:
        return self.input.name

    def lines_before(self, offset: int) -> int:
        """Returns how many lines end before `offset` of the uncompressed file."""
        if offset != self.place:
            self.place, self.lines = offset, self.input.line(offset) - 1
        return self.lines

    def go_past(self, lines: Lines) -> None:
        """Adds the lines of a block to the count, if the count at its beginning is known."""
        if lines.begin == self.place:
            self.place, self.lines = lines.end, self.lines + lines.data.count(b"\n")


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields the offset of each line, and the line without its newline."""
    start = 0
    while start < len(data):
        stop = data.find(b"\n", start)
        stop = len(data) if stop < 0 else stop
        yield start, data[start:stop]
        start = stop + 1


def object_lines(data: bytes) -> IntArray | None:
    """Returns the offset of each line that is not empty, int64. Returns None if one of these lines
    does not begin with { and end with }."""
    codes: NDArray[np.uint8] = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(codes == ord("\n")).astype(np.int64)
    if not len(ends) or ends[-1] != len(data) - 1:
        ends = np.append(ends, len(data))
    starts = np.concatenate([[0], ends[:-1] + 1])
    ends = ends - (codes[np.maximum(ends - 1, 0)] == ord("\r"))
    full = ends > starts
    starts, ends = starts[full], ends[full]
    is_object = (codes[starts] == ord("{")) & (codes[ends - 1] == ord("}"))
    return starts if is_object.all() else None
