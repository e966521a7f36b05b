"""Whether two tokenizers have one model, without looking at what is in it."""

from __future__ import annotations

import ctypes
import sys
from functools import cache
from typing import Any

from tokenizers import Tokenizer, models


def same_model(one: Any, other: Any) -> bool:
    """Whether the two are the same object of the engine. `tokenizer.model` is a new Python object
    at each call, which holds a pointer to that.

    Where the pointer cannot be read, models that hold the same are taken for one.
    """
    if _pointers_tell():
        return _body(one) == _body(other)
    return bool(one.__getstate__() == other.__getstate__())


def _body(model: Any) -> bytes:
    """What the object holds behind its header."""
    header = object.__basicsize__
    return ctypes.string_at(id(model) + header, type(model).__basicsize__ - header)


@cache
def _pointers_tell() -> bool:
    """Objects around one model hold the same, and around another of the same contents not."""
    if sys.implementation.name != "cpython":
        return False
    first, second = Tokenizer(models.WordLevel()), Tokenizer(models.WordLevel())
    one, again, other = first.model, first.model, second.model
    return one is not again and _body(one) == _body(again) != _body(other)
