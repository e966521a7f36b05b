"""A slice of a text that fits a number of tokens."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tokpar.arrays import IdArray


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextChunk:
    """The slice text[start:stop] (code points) and the ids that the slice has alone.

    `ids`: uint32, shape (n,), read-only; with the special tokens of the tokenizer's own call,
    without truncation and padding. A chunk keeps the whole text alive, to answer `certified`; a
    pickled chunk does without the text."""

    start: int
    stop: int
    ids: IdArray
    _is_certified: Callable[[], bool] | bool

    @property
    def certified(self) -> bool:
        """True if both ends are certified cuts or ends of the text: the ids between the special
        tokens are then a slice of the ids of the whole text (theorem 27). Other chunks may have
        other ids at their ends than the whole text has there. Each use searches for both cuts."""
        found = self._is_certified
        return found if isinstance(found, bool) else found()

    def __repr__(self) -> str:
        name = type(self).__name__
        ends = f"start={self.start}, stop={self.stop}"
        return f"{name}({ends}, ids={self.ids!r}, certified={self.certified})"

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.start, self.stop, self.ids, self.certified)
