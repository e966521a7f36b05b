"""The names of the package `cython` that the kernel's source has: uncompiled, they mean nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

compiled = False
int = None  # noqa: A001  # the package's own name
uint = longlong = ulonglong = uchar = bint = Py_ssize_t = None
p_int = p_uchar = p_uint = p_longlong = p_ulonglong = None


def declare(kind: object, value: Any) -> Any:
    return value


def cast(kind: object, value: Any) -> Any:
    return value


def cfunc(function: Any) -> Any:
    return function


def inline(function: Any) -> Any:
    return function


def exceptval(*, check: bool) -> Callable[[Any], Any]:
    return cfunc


class _NoGil:
    def __call__(self, function: Any) -> Any:
        return function

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        pass


nogil = gil = _NoGil()
