"""What a pattern may take of a space or a line end, as the checker reads it (theorem 50)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.frozen_tables import SPACES
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError

_MEMBER = re.compile(
    r"\\p\{(?P<kind>[A-Z])[a-z]?\}|\\(?P<escape>[^pP])|(?P<low>[^\\])-(?P<high>[^\\])|(?P<one>[^\\])",
    re.DOTALL,
)
_ESCAPES = {"s": " \n", "S": "", "d": "", "D": " \n", "w": "", "W": " \n", "n": "\n"}
"""The spaces and line ends that each escape holds."""
_VISIBLE = frozenset("LNPSM")


class OwnPattern:
    """A pattern as the engine of `tokenizer.json` reads it. RefusedError if it cannot be read."""

    def __init__(self, source: str) -> None:
        try:
            reader = PatternReader(source, "oniguruma")
        except RefusedProofError as error:
            raise RefusedError("normalizer", f"{source!r} is not read: {error}") from error
        self._sources = [*reader.sources]
        place = {each: k for k, each in enumerate(self._sources)}
        self._tree: Any = reader.tree(lambda each: [place[each]], len(place))

    def holds(self, char: str) -> bool:
        """True if some class of the pattern has the character, " " or a line feed."""
        return any(_has(source, char) for source in self._sources)

    @property
    def looks_ahead(self) -> bool:
        """True if a match depends on a character that it does not take."""
        return any(node[0] == "look" for node in _nodes(self._tree))

    @property
    def count(self) -> tuple[int, int | None] | None:
        """The least and the most characters of a match, None: any number; None for a pattern of
        more than one class."""
        if self._tree[0] == "set":
            return 1, 1
        kind, inner, *bounds = (*self._tree, None, None, None)[:5]
        if kind != "repeat" or inner[0] != "set" or bounds[2] == "lazy":
            return None
        return bounds[0], bounds[1]

    @property
    def is_white(self) -> bool:
        """True if each class of the pattern holds white space alone."""
        members = [each for source in self._sources for each in _members(source)]
        negated = any(source.startswith("[^") for source in self._sources)
        return not negated and all(
            each["escape"] in tuple("sntr") or (each["one"] or "\0") in SPACES for each in members
        )


def _nodes(tree: Any) -> Iterator[Any]:
    yield tree
    if tree[0] == "repeat":
        yield from _nodes(tree[1])
    elif tree[0] in ("row", "choice"):
        for each in tree[1]:
            yield from _nodes(each)


def _has(source: str, char: str) -> bool:
    folded = re.fullmatch(r"\(\?i:(.*)\)", source, re.DOTALL)
    source = folded[1] if folded else source
    if source == ".":
        return char != "\n"
    found = any(_holds(member, char) for member in _members(source))
    return found != source.startswith("[^")


def _members(source: str) -> list[re.Match[str]]:
    inner = source
    if source[0] == "[" and len(source) > 1:
        inner = source[2:-1] if source[1] == "^" else source[1:-1]
        if re.search(r"(?<!\\)\[|&&", inner):
            raise RefusedError("pattern", f"the class {source!r} is not read")
    found, place = list[re.Match[str]](), 0
    while place < len(inner):
        member = _MEMBER.match(inner, place)
        inside = member is not None and 0 < place < len(inner) - 1
        if member is None or (inside and member[0] == "-"):  # a range between escapes
            raise RefusedError("pattern", f"the class {source!r} is not read")
        found.append(member)
        place = member.end()
    return found


def _holds(member: re.Match[str], char: str) -> bool:
    kind, escape, low, high, one = member.groups()
    if kind is not None:
        if kind not in _VISIBLE:
            raise RefusedError("pattern", f"the class {member[0]!r} is not read")
        return False
    if escape is not None:
        if escape.isalnum() and escape not in (*_ESCAPES, "r", "t"):
            raise RefusedError("pattern", f"the escape {member[0]!r} is not read")
        return char in _ESCAPES.get(escape, escape)
    return bool(low <= char <= high) if low is not None else bool(one == char)
