"""Makes the compiled call of a model of SentencePiece, for an adapter of any author."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from tokpar.adapters.cached_rows import call_refused, later_call
from tokpar.contract.path_model import PathModel
from tokpar.types import Seam

if TYPE_CHECKING:
    from tokpar.compiled.call_tables import Arrays
    from tokpar.compiled.compiled_build import LaterCall
    from tokpar.compiled.compiled_call import EncodeMany


def path_call(
    identity: Sequence[bytes | str],
    read_model: Callable[[], PathModel],
    encode_many: EncodeMany,
    tokens: Callable[[], Sequence[str]],
    special: tuple[Sequence[int], Sequence[int]] | None,
) -> LaterCall | str:
    """Returns the compiled call of a model, for the attribute `later_call` of its adapter; or why
    there is none.

    `identity`: all that decides the ids: the bytes of the file, the library and its version, which
    must have been compared. `read_model`: returns what the file says; called in another thread,
    where tables are made. `encode_many`: the library's ids of texts, without special tokens.
    `tokens`: returns some pieces as text, from which compared texts are drawn. `special`: the ids
    before and after each text; None if they depend on it."""
    refused = call_refused(False, 1)
    if refused is not None:
        return refused
    from tokpar.compiled.compiled_build import LEAST_KEPT, CallParts  # other adapters do without it

    size = sum(map(len, identity))
    parts = CallParts(
        identity=identity if size >= LEAST_KEPT else None,
        make_arrays=partial(_make_arrays, read_model),
        added_tokens={},
        special=special,
        tokens=tokens,
        encode_many=encode_many,
        tokenize=_no_word,
        find_cut=_no_cut,
    )
    return later_call(parts)


def _make_arrays(read_model: Callable[[], PathModel]) -> Arrays:
    from tokpar.compiled.path_tables import path_arrays  # only where tables are made

    return path_arrays(read_model())


def _no_word(word: bytes) -> None:
    """Words are not compared: a path goes over the whole text."""


def _no_cut(text: str, start: int) -> Seam | None:
    """A path over the whole text has no certified cut (proofs/unigram.md)."""
    return None
