"""What the matches of a pattern do beside a space or a line end (theorem 50)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from tokpar.arrays import SPACES
from tokpar.patterns.pattern_reader import UnsupportedPatternError, read_pattern

ENGINE = "oniguruma"
_WHITE = re.compile(rf"\\[sntr]|[{re.escape(SPACES)}]|\[(?:\\[sntr]|[{re.escape(SPACES)}])+\]")
"""Classes that hold white space only."""
_NO_SPACES = re.compile(r"\\p\{[LNPSM][a-z]?\}")
"""Classes of Unicode that hold neither " " nor "\\n"."""
_UNREAD = re.compile(r"&&|--|\|\||~~|\\[^sSdDwWntr!-/:-@\[-`{-~]")
"""What may mean something else to Python than to the engine."""
_LETTER = "\ue000"


@dataclass(frozen=True, slots=True)
class ClassPattern:
    """A pattern that is one class of characters, alone or repeated.

    `source`: the class. `is_white`: it holds white space only. `joins`: a match may hold several
    characters; `least`: the fewest that it holds."""

    source: str
    is_white: bool
    joins: bool
    least: int

    def holds(self, char: str) -> bool | None:
        """True if the class holds `char`, " " or "\\n"; None if that is not known."""
        return _class_holds(self.source, char)


@lru_cache(maxsize=64)
def class_pattern(pattern: str) -> ClassPattern | None:
    """The pattern as a `ClassPattern`, or None if it is more than one class."""
    found = _tree(pattern)
    if found is None:
        return None
    sources, (kind, *parts) = found
    if kind == "set":
        return ClassPattern(sources[0], _is_white(sources[0]), False, 1)
    if kind != "repeat" or parts[0][0] != "set" or parts[3] == "lazy":
        return None
    return ClassPattern(sources[0], _is_white(sources[0]), parts[2] != 1, parts[1])


@lru_cache(maxsize=64)
def never_holds(pattern: str, char: str) -> bool:
    """True if no match of the pattern holds `char`, " " or "\\n", and none looks at what stands
    behind it."""
    found = _tree(pattern)
    if found is None or _looks(found[1]):
        return False
    return all(_class_holds(source, char) is False for source in found[0])


def _tree(pattern: str) -> tuple[list[str], Any] | None:
    """The classes of a pattern, and its tree over their numbers."""
    try:
        reader = read_pattern(pattern, ENGINE)
    except UnsupportedPatternError:
        return None
    sources = [*reader.sources]
    return sources, reader.tree(lambda source: [sources.index(source)], len(sources))


def _looks(tree: Any) -> bool:
    kind, *parts = tree
    if kind in ("look", "set"):
        return bool(kind == "look")
    return any(map(_looks, [parts[0]] if kind == "repeat" else parts[0]))


def _is_white(source: str) -> bool:
    return _WHITE.fullmatch(source) is not None


def _class_holds(source: str, char: str) -> bool | None:
    spelled = _NO_SPACES.sub(_LETTER, source)
    inner = spelled[1:-1] if spelled[0] == "[" else ""
    if "[" in inner or _UNREAD.search(spelled):
        return None
    try:
        return re.fullmatch(spelled, char) is not None
    except re.error:
        return None
