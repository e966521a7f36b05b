"""The table of a decoder: the text and the next state for a state and an id.

A decoder is a machine with states. Nearly all ids of a stream meet the state in which nothing is
held, so the table answers them by one lookup, and all streams of a tokenizer share the table."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tokpar.contract.adapter import DecodingParts
from tokpar.contract.interfaces import Decodes, TokenizerAdapter
from tokpar.decoding.id_rows import checked_id
from tokpar.decoding.shapes import OwnDecode, Shape, State, Token, comes_again, shape_of
from tokpar.errors import OptionError

MOST_KEPT = 1 << 19
"""Entries that a table keeps; about 200 bytes each. What does not fit is computed each time."""

_COMPARED_ROWS = 24
"""Rows of drawn ids on which a new table is compared with the tokenizer's own `decode`."""


class StateRow(dict[int, tuple[str, "StateRow"]]):
    """What each id does in one state: the text that becomes final, and the next row."""

    __slots__ = ("state", "table")

    def __init__(self, table: DecodeTable, state: tuple[State, ...] | None) -> None:
        self.table = table
        self.state = state

    def __missing__(self, id_: int) -> tuple[str, StateRow]:
        return self.table.add(self, id_)


class DecodeTable:
    """The decoder of one tokenizer, with its settings. Thread-safe."""

    def __init__(self, parts: DecodingParts, shape: Shape | None = None) -> None:
        self._shape = shape_of(parts) if shape is None else shape
        self._token_of = parts.token_of
        self._tokens: dict[int, Token | None] = {}
        self._rows: dict[tuple[State, ...], StateRow] = {}
        self._entry_count = 0
        self.start = self._row((None,) * (1 + len(self._shape.tail)))
        self.finished_row = StateRow(self, None)

    @property
    def most_held(self) -> int | None:
        """Code points of text that a stream holds at most. None: all of a run of byte tokens, or
        the whole text."""
        return self._shape.most_held

    @property
    def has_known_shape(self) -> bool:
        """False if the tokenizer's own call decodes all ids at the end."""
        return self._shape.change is not None

    def add(self, row: StateRow, id_: int) -> tuple[str, StateRow]:
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

    def finish(self, row: StateRow) -> str:
        """Returns the text that a stream in the state of this row still holds."""
        if row.state is None:
            raise OptionError("the stream is already finished")
        head_state, *tail_states = row.state
        text = self._shape.head.finish(head_state)
        for stage, state in zip(self._shape.tail, tail_states, strict=True):
            final, state = stage.step(state, text)
            text = final + stage.finish(state)
        return text

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of all ids."""
        row, texts = self.start, []
        for id_ in ids:
            text, row = row[id_]
            texts.append(text)
        return "".join(texts) + self.finish(row)

    def _token(self, id_: int) -> Token | None:
        """The token of an id, changed as the shape changes each token by itself."""
        if self._shape.change is None:
            return id_
        if id_ in self._tokens:
            return self._tokens[id_]
        token: Token | None = self._token_of(id_)
        token = None if token is None else self._shape.change(token)
        if self._entry_count < MOST_KEPT:
            self._tokens[id_] = token
        return token

    def _step(self, states: tuple[State, ...], token: Token) -> tuple[str, tuple[State, ...]]:
        text, state = self._shape.head.step(states[0], token)
        later = [state]
        for stage, state in zip(self._shape.tail, states[1:], strict=True):
            text, state = stage.step(state, text)
            later.append(state)
        return text, tuple(later)

    def _row(self, states: tuple[State, ...]) -> StateRow:
        """The row of a state. A state that hardly comes again gets a row of its own."""
        if not comes_again(states[0]):
            return StateRow(self, states)
        row = self._rows.get(states)
        if row is None:
            row = StateRow(self, states)
            if self._entry_count < MOST_KEPT:
                row = self._rows.setdefault(states, row)
        return row


def table_of(parts: DecodingParts) -> DecodeTable:
    """Returns the table of a tokenizer: of its shape if that decodes drawn ids as the tokenizer's
    own `decode` does, else the table that leaves all ids to `decode`."""
    table, draw = DecodeTable(parts), random.Random(0)
    for _ in range(_COMPARED_ROWS if table.has_known_shape and parts.id_count else 0):
        ids = [draw.randrange(parts.id_count) for _ in range(draw.randrange(1, 8))]
        try:
            text = table.decode(ids)
        except LookupError:  # the tokenizer's own call fails for these ids, too
            continue
        if text != parts.decode(ids):
            return DecodeTable(parts, Shape(None, OwnDecode(parts.decode)))
    return table


def parts_of(tokenizer: TokenizerAdapter, skip_special_tokens: bool) -> DecodingParts:
    """Returns the decoder of the tokenizer as it is now. Raises OptionError for a tokenizer that
    cannot decode, or that cannot skip special tokens."""
    decoding_parts = getattr(tokenizer, "decoding_parts", None)
    if decoding_parts is not None:
        parts: DecodingParts = decoding_parts(skip_special_tokens)
        return parts
    if not isinstance(tokenizer, Decodes) or skip_special_tokens:
        raise OptionError(f"{tokenizer.name} cannot decode, or not without special tokens")
    return DecodingParts(lambda id_: None, tokenizer.decode, 0, decoder={"type": "own"})
