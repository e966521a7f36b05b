"""Encodes texts one by one in the calling thread. All executors encode single texts this way."""

from collections.abc import Sequence

import numpy as np

from tokpar.arrays import IdArray, concatenate_ids, offsets_of
from tokpar.contract.interfaces import EncodesMany, Locates, TokenizerAdapter
from tokpar.errors import EngineError
from tokpar.process.interrupts import raise_foreign
from tokpar.types import Piece, Rows


class SerialExecutor:
    """Encodes in the calling thread, without a pool."""

    name = "serial"

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text. Raises EngineError; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)
        return encode_rows(texts, tokenizer, spans)


def check_spans(tokenizer: TokenizerAdapter, spans: bool) -> None:
    """Raise LookupError if spans are wanted and the tokenizer cannot locate its tokens."""
    if spans and not isinstance(tokenizer, (Locates, EncodesMany)):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")


def encode_rows(
    texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool, first: int = 0
) -> Rows:
    """Returns one row per text. `first`: the number of the first text, for errors."""
    if not spans:
        return _bare_rows(texts, tokenizer, first)
    rows = enumerate(texts, start=first)
    return Rows.of_pieces([encode_piece(text, tokenizer, spans, row) for row, text in rows])


def _bare_rows(texts: Sequence[str], tokenizer: TokenizerAdapter, first: int) -> Rows:
    """Returns the rows without spans. Faster than `encode_piece` for many short texts."""
    arrays: list[IdArray] = []
    encode, row = tokenizer.encode, first
    try:
        for text in texts:
            arrays.append(np.asarray(encode(text), dtype=np.uint32))
            row += 1
    except BaseException as error:
        raise_foreign(error)
        raise engine_error(error, len(texts[row - first]), row) from error
    return Rows(concatenate_ids(arrays), offsets_of(map(len, arrays)))


def encode_piece(text: str, tokenizer: TokenizerAdapter, spans: bool, row: int = 0) -> Piece:
    """Returns the ids of a text, and its spans if `spans`.

    Raises EngineError for any error of the engine, LookupError if it cannot locate its tokens."""
    locate = tokenizer.locate if spans and isinstance(tokenizer, Locates) else None
    try:
        if spans and locate is None:
            assert isinstance(tokenizer, EncodesMany)
            return only(tokenizer.encode_many([text], True)).piece(0)
        ids = np.asarray(tokenizer.encode(text), dtype=np.uint32)
    except BaseException as error:
        raise_foreign(error)
        raise engine_error(error, len(text), row) from error
    if locate is None:
        return Piece(ids)
    try:
        return Piece(ids, locate(ids, text))
    except LookupError:
        raise
    except BaseException as error:
        raise_foreign(error)
        raise engine_error(error, len(text), row) from error


def only(rows: Rows) -> Rows:
    """Returns `rows` if there is exactly one row. Else raises RuntimeError."""
    if len(rows) != 1:
        raise RuntimeError(f"encode_many gave {len(rows)} rows for 1 text")
    return rows


def engine_error(error: BaseException, length: int, row: int = 0) -> EngineError:
    """Returns `error` as an EngineError about text `row`.

    The place is the whole text of `length` code points, or the part that `error` names."""
    if isinstance(error, EngineError):
        inner = (error.start, error.stop) if error.stop else (0, length)
        return EngineError(str(error), *inner, row)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return EngineError(f"the tokenizer failed: {said}", 0, length, row)
