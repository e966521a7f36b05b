"""`functools.cached_property` without a lock.

Up to Python 3.11 the one of functools has a lock for each property of a class: a thread that
computes the value for one object keeps all others waiting, and a child that is forked meanwhile
waits for ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801  # as functools writes it
    """A property that is computed at its first use and then kept in the object's `__dict__`.

    Threads that ask at the same time may each compute the value. All get the value that was kept
    first."""

    def __init__(self, func: Callable[[Any], Value]) -> None:
        self.func, self.__doc__ = func, func.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> cached_property[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type | None = None) -> Value: ...

    def __get__(
        self, instance: object | None, owner: type | None = None
    ) -> cached_property[Value] | Value:
        if instance is None:
            return self
        value = self.func(instance)
        if getattr(owner, self.name, self) is not self:  # super() of a subclass, whose is kept
            return value
        kept: Value = instance.__dict__.setdefault(self.name, value)
        return kept
