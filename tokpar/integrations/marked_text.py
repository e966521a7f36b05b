"""A str that knows, for each of its characters, whether a chat template wrote it.

Methods of str that a template calls keep the marks; the result of any other method or function is
a plain str without marks. So a step that is not followed loses marks and never
makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self, SupportsIndex


class MarkedText(str):
    """`text` with `marks`, one byte for each code point: 1 if the template wrote it, else 0.

    Equal to `text`, with the same hash. Immutable. Without `marks` no character is marked."""

    __slots__ = ("_marks",)
    _marks: bytes

    def __new__(cls, text: str = "", marks: bytes | None = None) -> Self:
        made = str.__new__(cls, text)
        made._marks = bytes(len(text)) if marks is None else marks
        if len(made._marks) != len(made):
            raise ValueError(f"{len(made)} characters have {len(made._marks)} marks")
        return made

    @classmethod
    def of_template(cls, text: str) -> Self:
        """Text whose every character the template wrote."""
        return cls(text, b"\1" * len(text))

    def _letter_by_letter(self, text: str) -> MarkedText:
        """`text`, which has at least one character for each of this text: the same number means one
        for each."""
        return MarkedText(text, self._marks if len(text) == len(self) else None)

    def __str__(self) -> str:
        return self

    def __add__(self, other: str) -> MarkedText:
        if not isinstance(other, str) or hasattr(other, "__html__"):
            return NotImplemented  # Markup escapes the text to its left
        return join_marked((self, other))

    def __radd__(self, other: str) -> MarkedText:
        return join_marked((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, times: SupportsIndex) -> MarkedText:
        return MarkedText(str.__mul__(self, times), self._marks * times)

    __rmul__ = __mul__

    def __getitem__(self, key: SupportsIndex | slice) -> MarkedText:
        text = str.__getitem__(self, key)
        if isinstance(key, slice):
            return MarkedText(text, self._marks[key])
        return MarkedText(text, bytes([self._marks[key]]))

    def __iter__(self) -> Iterator[MarkedText]:
        return (self[k] for k in range(len(self)))

    def lstrip(self, chars: str | None = None, /) -> MarkedText:
        return self[len(self) - len(str.lstrip(self, chars)) :]

    def rstrip(self, chars: str | None = None, /) -> MarkedText:
        return self[: len(str.rstrip(self, chars))]

    def strip(self, chars: str | None = None, /) -> MarkedText:
        return self.lstrip(chars).rstrip(chars)

    def removeprefix(self, prefix: str, /) -> MarkedText:
        return self[len(self) - len(str.removeprefix(self, prefix)) :]

    def removesuffix(self, suffix: str, /) -> MarkedText:
        return self[: len(str.removesuffix(self, suffix))]

    def split(  # type: ignore[override]
        self, sep: str | None = None, maxsplit: SupportsIndex = -1
    ) -> list[MarkedText]:
        found, at = [], 0
        for part in str.split(self, sep, maxsplit):
            # only white space stands between parts without a separator, and no part begins with it
            at = self.index(part, at) if sep is None else at
            found.append(self[at : at + len(part)])
            at += len(part) + len(sep or "")
        return found

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> MarkedText:
        if not old:
            return MarkedText(str.replace(self, old, new, count))
        return join_marked(self.split(old, count), new)

    def join(self, parts: Iterable[str], /) -> MarkedText:
        return join_marked(parts, self)

    def lower(self) -> MarkedText:
        return self._letter_by_letter(str.lower(self))

    def upper(self) -> MarkedText:
        return self._letter_by_letter(str.upper(self))

    def capitalize(self) -> MarkedText:
        return self._letter_by_letter(str.capitalize(self))

    def title(self) -> MarkedText:
        return self._letter_by_letter(str.title(self))


def marks_of(text: str) -> bytes:
    """One byte for each code point of `text`: 1 if the template wrote it."""
    return text._marks if isinstance(text, MarkedText) else bytes(len(text))


def join_marked(parts: Iterable[str], separator: str = "") -> MarkedText:
    """The parts, joined by `separator`, with the marks of each. Raises TypeError as str.join."""
    parts = list(parts)
    text = str.join(separator, parts)
    return MarkedText(text, marks_of(separator).join(map(marks_of, parts)))


def mark_strings(value: object, mark: Callable[[str], MarkedText]) -> Any:
    """`value` with `mark` of each string in its lists, tuples and values of mappings."""
    if isinstance(value, str):
        return mark(value)
    if isinstance(value, Mapping):
        return {key: mark_strings(item, mark) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([mark_strings(item, mark) for item in value])
    return value
