"""The table of a decoder whose text is the bytes of its tokens, side by side.

One compiled call copies the bytes of all ids of a text, and reads them as UTF-8 once. Which
decoders are of this kind: proofs/decoding.md, (f)."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.adapter import DecodingParts
from tokpar.decoding.id_rows import ids_for_table
from tokpar.decoding.shapes import ByteRuns, FirstToken, Head, Token, byte_of, shape_of
from tokpar.errors import ChangedError, OptionError
from tokpar.process import kernel_modules
from tokpar.process.interrupts import raise_foreign
from tokpar.process.thread_pool import BackgroundJob

IN_BACKGROUND = True
"""The table is made on a thread of its own, so nobody waits for it."""
LEAST_IDS = 1 << 13
"""Ids that a tokenizer decodes by its own call before its table is made."""
COMPARED_ROWS = 200
"""Rows of drawn ids on which a new table is compared with the tokenizer's own `decode`."""
_ASKED, _LEFT_OUT, _PAD = 0xFFFF, 0xFFFE, bytes(16)  # see call_decode.h
ChangeText = Callable[[str], str]
ReadToken = Callable[[Any], bytes | None]
Row = Sequence[int] | IdArray


@dataclass(frozen=True, slots=True)
class TextTable:
    """The bytes of each token, of a text's first token and of a later one, as call_decode.h reads
    them. `errors`: what becomes of bytes that are no UTF-8: "replace", or "strict", where only the
    engine knows the text. `changes` are made in the whole text, in order."""

    data: bytes
    first: Any
    later: Any
    errors: str
    changes: tuple[ChangeText, ...]

    def texts(self, rows: tuple[list[int] | IdArray, ...]) -> list[str | None]:
        """Returns the text of each row of ids; None where only the engine knows it."""
        call: Any = kernel_modules.CALL
        texts: list[str | None]
        texts = call.texts_of(rows, self.data, self.first, self.later, self.errors)
        for change in self.changes:
            texts = [None if text is None else change(text) for text in texts]
        return texts


class LaterTable:
    """The table of a tokenizer as soon as there is one; it is made when it pays.

    `parts`: see `TokenizerAdapter.decoding_parts`; it may raise OptionError."""

    def __init__(self, parts: Callable[[], DecodingParts]) -> None:
        self.table: TextTable | None = None
        self._parts: Callable[[], DecodingParts] | None = parts
        self._ids_to_come = LEAST_IDS
        self._later: BackgroundJob | None = None
        self._process = 0

    def texts(self, rows: Sequence[Row]) -> list[str | None]:
        """Returns the text of each row of ids; None where only the engine knows it."""
        given = tuple(map(ids_for_table, rows))
        if self._parts is not None:
            self._ids_to_come -= sum(map(len, given))
            if self._ids_to_come <= 0:
                self._start()
        if self.table is not None:
            return self.table.texts(given)
        if self._later is not None and self._process != os.getpid():
            self._process = os.getpid()  # a forked child lacks the thread of its parent
            self._later = BackgroundJob(self._later.wait)
        return [None] * len(given)

    def wait(self) -> TextTable | None:
        """Returns the table, after it was made; None if there is none."""
        self._start()
        if self._later is not None:
            self._later.wait()
        return self.table

    def _start(self) -> None:
        parts, self._parts = self._parts, None
        if parts is None or kernel_modules.CALL is None:
            return
        if IN_BACKGROUND:
            self._process = os.getpid()
            self._later = BackgroundJob(partial(self._build, parts))
        else:
            self._build(parts)

    def _build(self, parts: Callable[[], DecodingParts]) -> None:
        try:
            self.table = checked_table(parts())
        except (ChangedError, OptionError):  # not known, or not any more
            return


def checked_table(parts: DecodingParts) -> TextTable | None:
    """Returns the table of a decoder; None if it has none, or if the tokenizer's own `decode` has
    another text for a drawn row."""
    made = table_of(parts)
    if made is None:
        return None
    table, odd = made
    rows = tuple(_drawn_rows(len(table.later), odd))
    pairs = zip(rows, table.texts(rows), strict=True)
    answered = ((row, text) for row, text in pairs if text is not None)
    for row, text in islice(answered, COMPARED_ROWS):
        try:
            own = parts.decode(row)
        except BaseException as error:  # a panic of the engine is no Exception
            raise_foreign(error)
            return None
        if own != text:
            return None
    return table


def table_of(parts: DecodingParts) -> tuple[TextTable, list[int]] | None:
    """Returns the table, and some ids whose tokens alone are no text or that have no token; None
    for a decoder that has no table."""
    shape = shape_of(parts)
    if shape.change is None:
        return None
    tokens = _tokens(parts, shape.change)
    read_first, read_later, errors = _readings_of(shape.head)
    data = bytearray()
    later, odd = _places(tokens, read_later, data)
    first = later if read_first is read_later else _places(tokens, read_first, data)[0]
    changes = tuple(stage.whole for stage in shape.tail)
    return TextTable(bytes(data) + _PAD, first, later, errors, changes), odd


def _tokens(parts: DecodingParts, change: Callable[[Any], Token]) -> list[Token]:
    """Returns the token of each id; or _ASKED, or _LEFT_OUT."""
    tokens: list[Token] = []
    count = 0
    while count < parts.id_count and len(tokens) < 2 * parts.id_count:  # ids may leave holes
        try:
            token = parts.token_of(len(tokens))
        except (LookupError, OptionError):  # as the own call may fail
            tokens.append(_ASKED)
        else:
            tokens.append(_LEFT_OUT if token is None else change(token))
        count += tokens[-1] != _LEFT_OUT
    return tokens


def _readings_of(head: Head) -> tuple[ReadToken, ReadToken, str]:
    """Returns what writes the bytes of a first token and of a later one, and `TextTable.errors`."""
    match head:
        case FirstToken(first, later) if first is not later:
            return (
                lambda token: first(token).encode(),
                lambda token: later(token).encode(),
                "strict",
            )
        case FirstToken():
            return str.encode, str.encode, "strict"
        case ByteRuns():
            return _byte_or_text, _byte_or_text, "strict"
    return bytes, bytes, "replace"


def _byte_or_text(token: str) -> bytes | None:
    """Returns the bytes of a token of ByteFallback. None for an empty token, which ends a run of
    byte tokens, as no empty bytes do."""
    byte = byte_of(token)
    return (token.encode() or None) if byte is None else byte


def _places(tokens: Sequence[Token], read: ReadToken, data: bytearray) -> tuple[Any, list[int]]:
    """Appends the bytes of the tokens to `data`. Returns their places, and the odd ids."""
    places, odd = np.empty(len(tokens), np.uint64), []
    for id_, token in enumerate(tokens):
        part = b"" if isinstance(token, int) else read(token)
        if isinstance(token, int):
            place = token
        elif part is None or len(part) >= _LEFT_OUT:
            place = _ASKED
        else:
            place = len(data) << 16 | len(part)
            data += part
        places[id_] = place
        if not part or not _is_text(part):
            odd.append(id_)
    return places, odd


def _is_text(part: bytes) -> bool:
    try:
        part.decode()
    except UnicodeDecodeError:
        return False
    return True


def _drawn_rows(count: int, odd: Sequence[int]) -> Iterator[list[int]]:
    """Yields rows of ids: any, odd ones, the lowest, the highest, and unknown ones."""
    draw = random.Random(0)
    kinds = range(count), odd, range(300), range(max(0, count - 300), count + 4)
    some = [kind for kind in kinds if kind]
    for _ in range(5 * COMPARED_ROWS):  # the engine alone knows many texts of odd ids
        kinds_of_row = draw.choices(some, k=draw.randrange(1, 3))
        yield [draw.choice(draw.choice(kinds_of_row)) for _ in range(draw.randrange(12))]
