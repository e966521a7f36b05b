"""Rows of ids as callers give them to `decode` and to streams, for the tables of decoders.

An id is what `operator.index` takes, as in the own calls of tokenizers: no float, no str, no
`numpy.bool`."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.adapter import whole_number_array
from tokpar.errors import IdRangeError, IdTypeError

MOST_IDS = 1 << 32
Ids = Iterable[int] | IdArray
_IDS = np.dtype(np.uint32)


def ids_for_table(ids: object) -> list[int] | IdArray:
    """Returns ids as `TextTable` reads them, a list or uint32; an id that no table has, for all
    that only the own call reads."""
    if type(ids) is list:
        return ids
    if type(ids) is tuple or type(ids) is range:
        return list(ids)
    if type(ids) is np.ndarray and ids.dtype == _IDS and ids.ndim == 1:
        return np.ascontiguousarray(ids)
    found = whole_number_array(ids)
    if found is None or (found.size and not 0 <= found.min() <= found.max() < MOST_IDS):
        return np.array([MOST_IDS - 1], _IDS)
    return np.ascontiguousarray(found, _IDS)


def whole_numbers(ids: Ids) -> Sequence[int]:
    """Returns ids of any iterable as int. Raises as `checked_id` for anything else."""
    if type(ids) is list and set(map(type, ids)) <= {int}:
        return ids
    if isinstance(ids, str):
        raise IdTypeError(f"ids must be a list or an array of whole numbers, got {ids!r:.40}")
    found = whole_number_array(ids)
    if found is not None:
        numbers: list[int] = found.tolist()
        return numbers
    try:
        some = [*ids]
    except TypeError as error:
        raise IdTypeError(f"ids must be whole numbers in one dimension: {error}") from None
    return [*map(checked_id, some)]


def checked_id(id_: object) -> int:
    """Returns an id as an int. Raises IdTypeError for anything but a whole number, IdRangeError
    for one below 0 or from 2**32 on."""
    try:
        number = operator.index(id_)  # type: ignore[arg-type]
    except TypeError:
        raise IdTypeError(f"an id is a whole number, got {type(id_).__name__}") from None
    if not 0 <= number < MOST_IDS:
        raise IdRangeError(f"an id is a number from 0 to {MOST_IDS - 1:,}, got {number}")
    return number
