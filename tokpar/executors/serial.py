"""One chunk after the other in the calling thread; and what one chunk means to every executor."""

from __future__ import annotations

from collections.abc import Sequence

from tokpar.errors import EngineError
from tokpar.interfaces import EncodesMany, Locates, TokenizerAdapter
from tokpar.types import Chunk, Piece

# Not the engine's failures. All else is, even BaseExceptions: pyo3's PanicException is one.
PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit)


class SerialExecutor:
    """Encodes in the calling thread; holds no pool."""

    name = "serial"

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        """One piece per chunk. Raises EngineError; LookupError if there can be no spans."""
        check_spans(tokenizer, spans)
        return encode_chunks(text, chunks, tokenizer, spans)


def check_spans(tokenizer: TokenizerAdapter, spans: bool) -> None:
    """Raises LookupError if spans are wanted and the tokenizer cannot tell them."""
    if spans and not isinstance(tokenizer, (Locates, EncodesMany)):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")


def encode_chunks(
    text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
) -> list[Piece]:
    """One piece per chunk, each chunk's text sliced only when its turn comes."""
    return [
        encode_part(text[chunk.start : chunk.stop], chunk.start, tokenizer, spans)
        for chunk in chunks
    ]


def encode_part(part: str, start: int, tokenizer: TokenizerAdapter, spans: bool) -> Piece:
    """The piece of `part`, which begins `start` code points into the text.

    Raises EngineError for whatever the engine raises, LookupError if it cannot locate its tokens.
    """
    try:
        if spans and not isinstance(tokenizer, Locates):
            assert isinstance(tokenizer, EncodesMany)
            return only(tokenizer.encode_many([part], True))
        ids = tokenizer.encode(part)
    except PASSING:
        raise
    except BaseException as error:
        raise engine_error(error, start, start + len(part)) from error
    if not spans:
        return Piece(ids)
    assert isinstance(tokenizer, Locates)
    try:
        return Piece(ids, tokenizer.locate(ids, part))
    except (*PASSING, LookupError):
        raise
    except BaseException as error:
        raise engine_error(error, start, start + len(part)) from error


def only(pieces: Sequence[Piece]) -> Piece:
    """The one piece of a batch of one text. Raises RuntimeError if there is not exactly one."""
    if len(pieces) != 1:
        raise RuntimeError(f"encode_many gave {len(pieces)} pieces for 1 text")
    return pieces[0]


def engine_error(error: BaseException, start: int, stop: int) -> EngineError:
    """`error` with its place: [start, stop) in code points is the slice the engine was given.

    An EngineError that tells a place within the slice keeps it, counted from the text's start.
    """
    if isinstance(error, EngineError):
        inner = (start + error.start, start + error.stop) if error.stop else (start, stop)
        return EngineError(f"{error} (in the chunk [{start}, {stop}))", *inner)
    said = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return EngineError(f"the tokenizer failed on the chunk [{start}, {stop}): {said}", start, stop)
