"""A str that knows, for each of its characters, whether a chat template wrote it.

Methods of str that a template calls keep the marks; the result of any other method or function is
a plain str without marks. So a step that is not followed loses marks and never
makes one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self, SupportsIndex

_PERCENT_FIELD = re.compile(r"%(?:%|s|\((\w+)\)s)")
_BRACE_FIELD = re.compile(r"\{\{|\}\}|\{([0-9]*|[A-Za-z_]\w*)\}")


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

    def _slice(self, start: int, length: int) -> MarkedText:
        return self[start : start + length]

    def _in_order(self, parts: Iterable[str]) -> list[MarkedText]:
        """`parts` of this text, in order, between which stand only characters with which no part
        begins."""
        found, at = [], 0
        for part in parts:
            at = self.index(part, at)
            found.append(self._slice(at, len(part)))
            at += len(part)
        return found

    def _letter_by_letter(self, text: str) -> MarkedText:
        """`text`, which has at least one character for each of this text: the same number means one
        for each."""
        return MarkedText(text, self._marks if len(text) == len(self) else None)

    def _fill(
        self, new_text: str, fields: re.Pattern[str], value_of: Callable[[str], object]
    ) -> MarkedText:
        """`new_text`, which a formatting method made of this text. Marks are kept if this text is
        the template's and every field is plain: a match of `fields`, its group the field's name,
        or None for an escape, whose first character is written."""
        if not all(self._marks):
            return MarkedText(new_text)  # the text decides where values go
        parts: list[str] = []
        at = 0
        for match in fields.finditer(self):
            name = match[1]
            is_escape = name is None and match[0] != "%s"
            parts.append(self._slice(at, match.start() - at))
            parts.append(self._slice(match.start(), 1) if is_escape else str(value_of(name or "")))
            at = match.end()
        joined = join_marked((*parts, self[at:]))
        return joined if joined == new_text else MarkedText(new_text)

    def fill_braces(
        self, new_text: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> MarkedText:
        """`new_text` is `self.format(*args, **kwargs)`."""
        rest = iter(args)

        def value_of(name: str) -> object:
            if not name:
                return next(rest)
            return args[int(name)] if name.isdigit() else kwargs[name]

        return self._fill(new_text, _BRACE_FIELD, value_of)

    def __mod__(self, values: Any) -> MarkedText:
        new_text = str.__mod__(self, values)
        rest = iter(values if isinstance(values, tuple) else (values,))
        return self._fill(
            new_text, _PERCENT_FIELD, lambda name: values[name] if name else next(rest)
        )

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

    def _parts_between(self, parts: Iterable[str], sep: str) -> list[MarkedText]:
        found, at = [], 0
        for part in parts:
            found.append(self._slice(at, len(part)))
            at += len(part) + len(sep)
        return found

    def split(  # type: ignore[override]
        self, sep: str | None = None, maxsplit: SupportsIndex = -1
    ) -> list[MarkedText]:
        parts = str.split(self, sep, maxsplit)
        return self._in_order(parts) if sep is None else self._parts_between(parts, sep)

    def rsplit(  # type: ignore[override]
        self, sep: str | None = None, maxsplit: SupportsIndex = -1
    ) -> list[MarkedText]:
        parts = str.rsplit(self, sep, maxsplit)
        return self._in_order(parts) if sep is None else self._parts_between(parts, sep)

    def splitlines(self, keepends: bool = False) -> list[MarkedText]:  # type: ignore[override]
        return self._in_order(str.splitlines(self, keepends))

    def partition(self, sep: str, /) -> tuple[MarkedText, MarkedText, MarkedText]:
        return self._three(str.partition(self, sep))

    def rpartition(self, sep: str, /) -> tuple[MarkedText, MarkedText, MarkedText]:
        return self._three(str.rpartition(self, sep))

    def _three(self, parts: tuple[str, str, str]) -> tuple[MarkedText, MarkedText, MarkedText]:
        first, middle, last = self._parts_between(parts, "")
        return first, middle, last

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
