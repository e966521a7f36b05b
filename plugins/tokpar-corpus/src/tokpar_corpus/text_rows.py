"""Reads documents of plain text: one document for each file, or for each line."""

from __future__ import annotations

import numpy as np

from tokpar.arrays import byte_length
from tokpar.cli.text_files import uncompressed_blocks
from tokpar_corpus.build_options import Memory
from tokpar_corpus.document_blocks import NO_UTF8, BadDocument, Block
from tokpar_corpus.inputs import Input
from tokpar_corpus.json_rows import LineNumbers, lines_of
from tokpar_corpus.lines import READ_BYTES, DigestedFile, Lines, too_long


def block_of_file(input_: Input, number: int, file: DigestedFile, memory: Memory) -> Block:
    """Returns a block with a whole file as its one document. Raises OptionError for a document
    longer than `memory.longest`."""
    size, parts = 0, []
    for data in uncompressed_blocks(file, input_.name, min(READ_BYTES, memory.block)):
        size += len(data)
        if size <= memory.longest:
            parts.append(data)
    if size > memory.longest:
        raise too_long(input_.name, size)
    begin = np.zeros(1, dtype=np.int64)
    try:
        text = b"".join(parts).decode("utf-8")
    except UnicodeDecodeError as error:
        fault = BadDocument(0, NO_UTF8, f"{input_.name}: expected UTF-8 text ({error})")
        return Block(number, [], begin[:0], begin[:0], 1, None, [fault], size)
    return Block(number, [text], np.array([size]), begin, 1, None, (), size)


def block_of_lines(lines: Lines, numbers: LineNumbers, number: int) -> Block:
    """Returns a block with a document for each line that is not empty. A line ends with "\\n" or
    "\\r\\n"."""
    texts: list[str] = []
    begins: list[int] = []
    faults: list[BadDocument] = []
    for count, (place, line) in enumerate(lines_of(lines.data)):
        line = line.removesuffix(b"\r")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError as error:
            where = f"{numbers.name}:{numbers.lines_before(lines.begin) + count + 1}"
            faults.append(BadDocument(len(texts), NO_UTF8, f"{where}: expected UTF-8 ({error})"))
            continue
        if text:
            texts.append(text)
            begins.append(lines.begin + place)
    sizes = np.fromiter(map(byte_length, texts), np.int64, len(texts))
    starts = np.array(begins, dtype=np.int64)
    return Block(number, texts, sizes, starts, lines.end, None, faults, len(lines.data))
