"""Finds the field of the inputs that holds the texts, where the caller names none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tokpar.cli.text_files import FIELDS, choose_field, kind_of, shown_fields
from tokpar.errors import FileFormatError
from tokpar_corpus.build_options import BUDGET, Memory
from tokpar_corpus.columns import kinds_of_columns
from tokpar_corpus.input_parts import Span
from tokpar_corpus.inputs import Input
from tokpar_corpus.json_rows import UnusableError, lines_of, row_of, without_bom
from tokpar_corpus.lines import line_blocks, open_digested


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """The field that holds the texts. `place`: the row that told it ("a.jsonl:1"), or None if no
    input has rows."""

    field: str
    place: str | None


def find_field(inputs: Sequence[Input], skips_faults: bool) -> FieldChoice:
    """Returns the field that the first row of the inputs tells (`tokpar.cli.text_files`), for
    columns the one that the types of the first file tell.

    `skips_faults`: rows that do not tell it are passed over. Otherwise such a row raises
    FileFormatError. Raises it, too, if no row tells the field; OSError."""
    problem: FileFormatError | None = None
    for input_ in inputs:
        for place, found in _rows(input_):
            if isinstance(found, UnusableError):
                error = FileFormatError(f"{place}: {found}")
            elif (field := choose_field(found)) is not None:
                return FieldChoice(field, place)
            else:
                error = FileFormatError(
                    f"{place}: expected a str as one of {', '.join(map(repr, FIELDS))}; its "
                    f"fields: {shown_fields(found)} (--field NAME chooses one)"
                )
            if not skips_faults:
                raise error
            problem = problem or error
    if problem is not None:
        raise problem
    return FieldChoice(FIELDS[0], None)


def _rows(input_: Input) -> Iterator[tuple[str, Mapping[str, str] | UnusableError]]:
    """Yields the place of each row, and the kinds of its fields or why it is no row. Columns yield
    one row, which is the schema."""
    if input_.kind in ("parquet", "arrow"):
        yield input_.name, kinds_of_columns(input_)
    if input_.kind != "rows":
        return
    span = Span(0, 0, input_.bytes)
    file = open_digested(input_, span)
    count = 0
    try:
        for lines in line_blocks(input_, span, file, Memory(BUDGET)):
            for _, line in lines_of(without_bom(lines)):
                count += 1
                place = f"{input_.name}:{count}"
                try:
                    row = row_of(line)
                except UnusableError as error:
                    yield place, error
                    continue
                if row is not None:
                    yield place, {name: kind_of(value) for name, value in row.items()}
    finally:
        file.close()
