"""Encodes any number of texts in bounded memory: batch after batch, one encoding after another."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from typing import Any

import numpy as np

from tokpar.arrays import byte_length, plain_text
from tokpar.compiled.utf8_texts import arrow_chunks, arrow_edges, texts_of
from tokpar.contract.interfaces import PostProcesses
from tokpar.errors import MismatchError, OptionError, WorkerError
from tokpar.pipeline.call_result import name_text
from tokpar.process.interrupts import raise_foreign
from tokpar.results.encoding import Batch, Encoding
from tokpar.results.final_rows import final_of_each

_ARROW_ROWS = 1 << 16
"""Rows of an Arrow array whose offsets are read together."""
EncodeBatch = Callable[[Sequence[str]], Callable[[int], Encoding]]


def batches_of(texts: Iterable[Any], batch_bytes: int) -> Generator[Any, None, None]:
    """Returns an iterator of lists, or Arrow arrays, of at most `batch_bytes` UTF-8 bytes of text.

    A longer text is a batch of its own. A list has only str or only bytes. Reads nothing before the
    first batch is asked for. Raises OptionError for arguments of other types at once, and for a
    text that is neither str nor bytes after the batch of the texts before it."""
    if isinstance(texts, (str, bytes)):
        raise OptionError(
            f"encode_iter takes several texts, got one {type(texts).__name__}; use encode for one "
            "text"
        )
    if not isinstance(batch_bytes, int) or isinstance(batch_bytes, bool) or batch_bytes < 1:
        raise OptionError(f"batch_bytes must be an int of at least 1, got {batch_bytes!r}")
    chunks = arrow_chunks(texts)
    if chunks is not None:
        return _arrow_batches(chunks, batch_bytes)
    return _batches(iter(texts), batch_bytes)


def _batches(texts: Iterator[Any], batch_bytes: int) -> Generator[list[Any], None, None]:
    batch: list[Any] = []
    number = total = 0
    try:
        for text in texts:
            if not isinstance(text, (str, bytes)):
                raise OptionError(
                    f"text {number} must be a str or UTF-8 bytes, got {type(text).__name__}"
                )
            text = plain_text(text)
            size = byte_length(text) if isinstance(text, str) else len(text)
            if batch and (total + size > batch_bytes or type(batch[0]) is not type(text)):
                yield batch
                batch, total = [], 0
            batch.append(text)
            number, total = number + 1, total + size
            del text
            if total >= batch_bytes:
                yield batch
                batch, total = [], 0
    except Exception as error:  # of the source: the texts that it returned before come first
        raise_foreign(error)
        if batch:
            yield batch
        raise
    finally:
        if isinstance(texts, Generator):
            texts.close()
    if batch:
        yield batch


def _arrow_batches(chunks: Sequence[Any], batch_bytes: int) -> Generator[Any, None, None]:
    for chunk in chunks:
        for first in range(0, len(chunk), _ARROW_ROWS):
            part = chunk.slice(first, _ARROW_ROWS)
            edges = arrow_edges(part)[1]
            start = 0
            while start < len(part):
                stop = int(np.searchsorted(edges, edges[start] + batch_bytes, side="right")) - 1
                stop = max(start + 1, stop)
                yield part.slice(start, stop - start)
                start = stop


def each_encoding(batches: Generator[Any, None, None], encode: EncodeBatch) -> Iterator[Encoding]:
    """Yields the encoding of each text of `batches`.

    Where a batch fails, its texts are encoded one by one, so that the texts before the failing text
    are yielded, and the failing text raises its own error, which then names its number."""
    first = 0
    with closing(batches):
        for batch in batches:
            row = _rows_of(batch, encode, first)
            for k in range(len(batch)):
                yield row(k)
            first += len(batch)
            del batch, row  # before the next batch is read


def _rows_of(batch: Any, encode: EncodeBatch, first: int) -> Callable[[int], Encoding]:
    """Returns a function that returns the encoding of text k of a batch."""
    try:
        row = encode(texts_of(batch, first))
    except (MismatchError, WorkerError):
        raise
    except Exception as error:  # which text fails, and by what error, shows when each is alone
        raise_foreign(error)
        return lambda k: _name_failing_text(
            lambda: encode(texts_of(batch[k : k + 1], first + k))(0), first + k
        )
    return lambda k: _name_failing_text(lambda: row(k), first + k)


def _name_failing_text(make: Callable[[], Encoding], number: int) -> Encoding:
    """Returns the result of `make`. An error of a text names the number of the text."""
    try:
        return make()
    except OptionError:
        raise
    except Exception as error:
        raise_foreign(error)
        name_text(error, number, f"text {number}")
        raise


def postprocess_each(
    batch: Batch, texts: Sequence[str], post: PostProcesses | None
) -> Callable[[int], Encoding]:
    """Returns a function that returns the encoding of text k, post-processed as a single text.

    `batch`: the ids of `texts` before post-processing. Each encoding has its own copy of its ids,
    and keeps only its own text alive. `post`: see `FinalRows.of`."""
    final = final_of_each(texts, batch.rows, post)
    return lambda k: batch[k].with_ids(final(k))
