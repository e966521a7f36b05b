"""The table of a decoder: the text and the next state for a state and an id.

A decoder is a machine with states. Nearly all ids of a stream meet the state in which nothing is
held, so the table answers them by one lookup, and all streams of a tokenizer share the table."""

from __future__ import annotations

import operator
import random
from collections.abc import Sequence
from typing import cast

from tokpar.adapter_parts import DecodingParts
from tokpar.decoding.reading import interpret_stages, replacement_stages
from tokpar.decoding.stages import EachToken, Stage, State, Token, Utf8, comes_again
from tokpar.errors import EngineError, FileFormatError, OptionError
from tokpar.interfaces import TokenizerAdapter

MOST_IDS = 1 << 32
MOST_KEPT = 1 << 19
"""Entries that a table keeps; about 200 bytes each. What does not fit is computed each time."""

_COMPARED_ROWS = 24
"""Rows of drawn ids on which a new table is compared with the tokenizer's own `decode`."""
_MOST_TABLES = 4


class Row(dict[int, tuple[str, "Row"]]):
    """What each id does in one state: the text that becomes final, and the next row."""

    __slots__ = ("state", "table")

    def __init__(self, table: DecodeTable, state: tuple[State, ...] | None) -> None:
        self.table = table
        self.state = state

    def __missing__(self, id_: int) -> tuple[str, Row]:
        return self.table.add(self, id_)


def divided_stages(parts: DecodingParts) -> tuple[list[EachToken], list[Stage]]:
    """Returns the first stages of a decoder, which look at one token only, and the others.

    Raises OptionError and FileFormatError: see `interpret_stages`."""
    stages = [Utf8()] if parts.in_bytes else interpret_stages(parts)
    stages += replacement_stages(parts.replacements)
    changes: list[EachToken] = []
    while stages and isinstance(stage := stages[0], EachToken):
        changes.append(stage)
        del stages[0]
    return changes, stages


class DecodeTable:
    """The decoder of one tokenizer, with its settings. Thread-safe.

    Raises OptionError if the text of the decoder may change without bound."""

    def __init__(self, parts: DecodingParts) -> None:
        self._changes, self._stages = divided_stages(parts)
        self._token_of = parts.token_of
        self._tokens: dict[int, Token | None] = {}
        self._rows: dict[tuple[State, ...], Row] = {}
        self._entry_count = 0
        self.start = self._row((None,) * len(self._stages))
        self.finished_row = Row(self, None)

    @property
    def most_held(self) -> int | None:
        """Code points of text that a stream holds at most. None: all of a run of byte tokens."""
        held: int | None = 0
        for stage in self._stages:
            held = stage.most_held(held)
        return held

    def add(self, row: Row, id_: int) -> tuple[str, Row]:
        """Returns what an id does in the state of a row. Keeps the answer while there is room."""
        if row.state is None:
            raise OptionError("the stream is finished; make another one with decode_stream()")
        id_ = checked_id(id_)
        token = self._token(id_)
        if token is None:
            entry = "", row
        else:
            text, state = self._step(row.state, token)
            entry = text, self._row(state)
        if self._entry_count < MOST_KEPT:
            self._entry_count += 1
            row[id_] = entry
        return entry

    def finish(self, row: Row) -> str:
        """Returns the text that a stream in the state of this row still holds."""
        if row.state is None:
            raise OptionError("the stream is already finished")
        held: list[Token] = []
        for stage, state in zip(self._stages, row.state, strict=True):
            made: list[Token] = []
            for token in held:
                final, state = stage.step(state, token)
                made += final
            held = [*made, *stage.finish(state)]
        return _join(held)

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of all ids."""
        row, texts = self.start, []
        for id_ in ids:
            text, row = row[id_]
            texts.append(text)
        return "".join(texts) + self.finish(row)

    def _token(self, id_: int) -> Token | None:
        """The token of an id, changed by the stages that look at one token only."""
        if id_ in self._tokens:
            return self._tokens[id_]
        token = self._token_of(id_)
        for stage in self._changes if token is not None else ():
            token = stage.change(cast("str", token))
        if self._entry_count < MOST_KEPT:
            self._tokens[id_] = token
        return token

    def _step(self, states: tuple[State, ...], token: Token) -> tuple[str, tuple[State, ...]]:
        tokens: Sequence[Token] = (token,)
        later = []
        for stage, state in zip(self._stages, states, strict=True):
            made: list[Token] = []
            for token in tokens:
                final, state = stage.step(state, token)
                made += final
            tokens = made
            later.append(state)
        return _join(tokens), tuple(later)

    def _row(self, states: tuple[State, ...]) -> Row:
        """The row of a state. A state that hardly comes again gets a row of its own."""
        if not all(map(comes_again, states)):
            return Row(self, states)
        row = self._rows.get(states)
        if row is None:
            row = Row(self, states)
            if self._entry_count < MOST_KEPT:
                row = self._rows.setdefault(states, row)
        return row


def table_of(tokenizer: TokenizerAdapter, parts: DecodingParts) -> DecodeTable:
    """Returns the table of a tokenizer, compared with the tokenizer's own `decode` on drawn ids.

    Raises OptionError if the table decodes other texts, or if text may change without bound."""
    try:
        table = DecodeTable(parts)
    except FileFormatError as error:
        raise OptionError(f"decode_stream of {tokenizer.name}: {error}") from error
    draw = random.Random(0)
    for _ in range(_COMPARED_ROWS):
        ids = [draw.randrange(parts.id_count) for _ in range(draw.randrange(1, 8))]
        try:
            text = table.decode(ids)
        except (EngineError, LookupError):  # the tokenizer's own call fails for these ids, too
            continue
        own = parts.decode(ids)
        if text != own:
            raise OptionError(
                f"decode_stream cannot be used: the decoder of {tokenizer.name} gives {own!r} for "
                f"ids {ids}, and its parts give {text!r}"
            )
    return table


class DecodeTables:
    """The tables of the tokenizer that an encoder has, one for each way to decode."""

    def __init__(self) -> None:
        self._tokenizer: TokenizerAdapter | None = None
        self._tables: list[tuple[object, DecodeTable]] = []

    def table_for(self, tokenizer: TokenizerAdapter, skip_special_tokens: bool) -> DecodeTable:
        """Returns the table for the tokenizer as it is now. Raises OptionError: see `table_of`."""
        decoding_parts = getattr(tokenizer, "decoding_parts", None)
        if decoding_parts is None:
            raise OptionError(
                f"decode_stream cannot be used: {tokenizer.name} does not say how it decodes; "
                "decode all ids at the end instead"
            )
        parts: DecodingParts = decoding_parts(skip_special_tokens)
        tables = self._tables if tokenizer is self._tokenizer else []
        for state, table in tables:
            if state == parts.state:
                return table
        table = table_of(tokenizer, parts)
        self._tokenizer, self._tables = tokenizer, [*tables, (parts.state, table)][-_MOST_TABLES:]
        return table


def _join(tokens: Sequence[Token]) -> str:
    return "".join(cast("Sequence[str]", tokens))  # a stage that reads bytes comes before the end


def checked_id(id_: object) -> int:
    """Returns an id as an int. Raises OptionError for anything but a number from 0 to 2**32 - 1."""
    try:
        number = operator.index(id_)  # type: ignore[arg-type]
    except TypeError:
        raise OptionError(f"an id is a whole number, got {type(id_).__name__}") from None
    if not 0 <= number < MOST_IDS:
        raise OptionError(f"an id is a number from 0 to {MOST_IDS - 1:,}, got {number}")
    return number
