r"""The members of a character class, from the shipped tables and not from an engine.

A code point has a set of possible general categories: one where all engines agree. A class that
needs to know more is undecided there, and a text with such a code point is refused."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from hashlib import sha256
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import SPACES, IntArray
from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.class_check import POINTS
from tokpar.certificate.frozen_tables import TABLES, load_tables

Mask = NDArray[np.bool_]
_NAMES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn"
_BITS = {name: 1 << k for k, name in enumerate(_NAMES.split())}
_ALL = (1 << len(_BITS)) - 1
_OF_ATOM = {"cjk": "Lo", "low_block": "S", "space_Z": "Z", "space_control": "Cc"}
_USED = ("atoms", "pictographs", "categories")
_TOKEN = re.compile(
    r"\\(?P<not>[pP])\{(?P<caret>\^?)(?P<name>\w+)\}|\\(?P<letter>[sSdDwWrntfv])"
    r"|\\x(?P<two>[0-9a-fA-F]{2})|\\u(?P<four>[0-9a-fA-F]{4})|\\(?P<itself>[^\w\s]| )"
    r"|(?P<open>\[\^?)|(?P<close>\])|(?P<one>[^\\])",
    re.DOTALL,
)
_LETTERS = {"r": "\r", "n": "\n", "t": "\t", "f": "\f", "v": "\v"}
_FOLDED = re.compile(r"\(\?i:(.*)\)", re.DOTALL)


@dataclass(frozen=True)
class Members:
    """A class: some categories, some ranges, some white space; `is_inverted`: all but these.

    `inner_classes`: nested classes that also belong to the class. `is_folded`: the class is one of
    ASCII letters in both cases, with which an engine may match a character outside the tables."""

    categories: int = 0
    ranges: tuple[tuple[int, int], ...] = ()
    inner_classes: tuple[Members, ...] = ()
    is_inverted: bool = False
    is_folded: bool = False

    def edges(self) -> set[int]:
        """Returns the code points at which explicit ranges begin, or have just ended."""
        own = {edge for low, high in self.ranges for edge in (low, high + 1)}
        return own.union(*(each.edges() for each in self.inner_classes))

    def decide_ranges(self, starts: IntArray, possible: IntArray) -> tuple[Mask, Mask]:
        """Returns which ranges of code points surely are members, and which surely are not.

        `starts`: the first code point of each range. `possible`: categories, as bits."""
        found = (possible & ~self.categories) == 0
        never = (possible & self.categories) == 0
        for low, high in self.ranges:
            own = (low <= starts) & (starts <= high)
            found, never = found | own, never & ~own
        if self.is_folded:
            never = never & (possible != _ALL)
        for each in self.inner_classes:
            also, not_also = each.decide_ranges(starts, possible)
            found, never = found | also, never & not_also
        return (never, found) if self.is_inverted else (found, never)


def read_class(source: str) -> Members:
    """Returns the members of a class, given as a pattern spells it. Refused if it is not known."""
    folded = _FOLDED.fullmatch(source)
    if folded is not None:
        return _both_cases(read_class(folded[1]), source)
    if source == ".":
        return Members(ranges=((10, 10),), is_inverted=True)
    tokens = [*_TOKEN.finditer(source)]
    known = tokens and "".join(token[0] for token in tokens) == source
    if known and tokens[0]["open"] is not None:
        found, rest = _set(tokens, 0, source)
    elif known:
        found, rest = _single(tokens[0], source), 1
    require(known and rest == len(tokens), "pattern", f"class {source!r} is not known")
    return found


def _set(tokens: list[re.Match[str]], index: int, source: str) -> tuple[Members, int]:
    """Returns the set that begins at a token, and the index of the token after the set."""
    inverted, index = len(tokens[index][0]) == 2, index + 1
    parts: list[Members] = []
    while index + 1 < len(tokens) and tokens[index]["close"] is None:
        if tokens[index]["open"] is not None:
            inner, index = _set(tokens, index, source)
            parts.append(inner)
            continue
        _require_plain(tokens, index, source)
        low = _code(tokens[index])
        ranged = index + 2 < len(tokens) and tokens[index + 1]["one"] == "-"
        high = _code(tokens[index + 2]) if ranged and tokens[index + 2]["close"] is None else None
        if ranged and tokens[index + 2]["close"] is None:
            if low is None or high is None or high < low:
                raise RefusedError("pattern", f"range in class {source!r} is not known")
            parts.append(Members(ranges=((low, high),)))
            index += 3
        else:
            parts.append(_single(tokens[index], source))
            index += 1
    if index >= len(tokens) or tokens[index]["close"] is None:
        raise RefusedError("pattern", f"class {source!r} is not closed")
    return _unite(parts, inverted), index + 1


def _require_plain(tokens: list[re.Match[str]], index: int, source: str) -> None:
    """Refuse operators of sets, and a "-" whose meaning depends on its place."""
    double = (
        index + 1 < len(tokens)
        and tokens[index][0] == tokens[index + 1][0]
        and tokens[index][0] in "&|~-"
    )
    edge = tokens[index]["one"] != "-" or tokens[index - 1]["open"] or tokens[index + 1]["close"]
    if double or not edge:
        raise RefusedError("pattern", f"class {source!r} may have an operator")


def _unite(parts: list[Members], is_inverted: bool) -> Members:
    """Returns one class of all parts. Categories are joined: "P or S" is decided where only P and S
    are possible."""
    flat = [part for part in parts if not part.is_inverted and not part.inner_classes]
    return Members(
        categories=_join_masks(part.categories for part in flat),
        ranges=tuple(each for part in flat for each in part.ranges),
        inner_classes=tuple(part for part in parts if part.is_inverted or part.inner_classes),
        is_inverted=is_inverted,
    )


def _join_masks(masks: Iterable[int]) -> int:
    return reduce(or_, masks, 0)


def _single(token: re.Match[str], source: str) -> Members:
    if token["name"] is not None:
        mask = _category(token["name"])
        if mask == 0:
            raise RefusedError("pattern", f"class {token[0]} is not in the tables")
        negated = (token["not"] == "P") != bool(token["caret"])
        return Members(categories=_ALL & ~mask if negated else mask)
    letter = token["letter"]
    if letter is not None and letter in "sS":
        return Members(ranges=tuple((ord(c), ord(c)) for c in SPACES), is_inverted=letter == "S")
    code = _code(token)
    if code is None:
        raise RefusedError("pattern", f"{token[0]!r} of class {source!r} is not in the tables")
    return Members(ranges=((code, code),))


def _code(token: re.Match[str]) -> int | None:
    """Returns the code point of a token that is one character, else None."""
    if token["letter"] is not None:
        return ord(_LETTERS[token["letter"]]) if token["letter"] in _LETTERS else None
    digits = token["two"] or token["four"]
    if digits is not None:
        return int(digits, 16)
    one = token["itself"] or token["one"]
    return None if one is None else ord(one)


def _category(name: str) -> int:
    """Returns the bits of a general category, "L" or "Lu"; 0 if there is none of this name."""
    return _join_masks(bit for known, bit in _BITS.items() if name in (known, known[0]))


def _both_cases(members: Members, source: str) -> Members:
    """Returns a class of ASCII characters in both cases. No engine matches another character of
    the tables by such a class."""
    codes = {code for low, high in members.ranges for code in range(low, high + 1)}
    plain = not (members.categories or members.inner_classes or members.is_inverted)
    if not plain or not codes or max(codes) > 0x7F:
        raise RefusedError("pattern", f"class {source!r} is folded")
    cases = {ord(case) for code in codes for case in (chr(code).lower(), chr(code).upper())}
    return Members(ranges=tuple((code, code) for code in sorted(cases)), is_folded=True)


@dataclass(frozen=True, eq=False)
class Partition:
    """Code points by symbol: what the classes of a pattern do not tell apart has one symbol.

    `symbol_of`: uint8, (0x110000,); `size` for a code point on which a class is undecided.
    `classes`: the symbols of each class."""

    size: int
    symbol_of: NDArray[np.uint8]
    classes: dict[str, list[int]]


_MOST_SYMBOLS = 250


def partition(sources: tuple[str, ...]) -> Partition:
    """Returns the symbols for some classes. Refused if a class is not known."""
    members = [read_class(source) for source in sources]
    table_starts, in_table = _table()
    edges = set().union(*(each.edges() for each in members)) - {POINTS}
    starts = np.union1d(table_starts, np.array(sorted(edges), dtype=np.int64))
    possible = in_table[np.searchsorted(table_starts, starts, side="right") - 1]
    decided = [each.decide_ranges(starts, possible) for each in members]
    known = np.ones(len(starts), dtype=np.bool_)
    for inside, outside in decided:
        known &= inside | outside
    rows = np.array([inside for inside, _ in decided] or [known]).T
    kinds, symbols = np.unique(rows[known], axis=0, return_inverse=True)
    if not 0 < len(kinds) <= _MOST_SYMBOLS:
        raise RefusedError("pattern", "the classes of the pattern are too many")
    whole = np.full(len(starts), len(kinds), dtype=np.uint8)
    whole[known] = symbols.reshape(-1)
    counts = np.diff(np.append(starts, POINTS))
    classes = {s: np.flatnonzero(kinds[:, k]).tolist() for k, s in enumerate(sources)}
    return Partition(len(kinds), np.repeat(whole, counts), classes)


@cache
def load_pictographs() -> tuple[tuple[int, int], ...]:
    """Returns the inclusive ranges of emoji beyond the atoms that every engine takes for symbols
    only."""
    return tuple((low, high) for low, high in _read("pictographs"))


@cache
def load_categories() -> Mapping[str, Sequence[tuple[int, int]]]:
    """Returns inclusive ranges of further code points, by the general categories that they may
    have: "P S"."""
    found: Mapping[str, Sequence[tuple[int, int]]] = _read("categories")
    return found


def _read(name: str) -> Any:
    return json.loads((TABLES / f"{name}.json").read_text(encoding="utf-8"))[name]


@cache
def _table() -> tuple[IntArray, IntArray]:
    """Returns the ranges of the tables: first code points, and possible categories as bits. A code
    point that is in no table may have any category."""
    ranges = [
        (low, high, _category(_OF_ATOM.get(atom, atom.rpartition("_")[2])) or _ALL)  # or ASCII
        for low, high, atom in load_tables().ranges
    ]
    ranges += [(low, high, _category("S")) for low, high in load_pictographs()]
    for names, spans in load_categories().items():
        bits = _join_masks(map(_category, names.split()))
        ranges += [(low, high, bits) for low, high in spans]
    possible = np.full(POINTS, _ALL, dtype=np.int64)
    for low, high, bits in ranges:
        possible[low : high + 1] = bits
    for code in range(0x80):
        possible[code] = _BITS[unicodedata.category(chr(code))]
    starts = np.append(0, np.flatnonzero(np.diff(possible)) + 1)
    return starts, possible[starts]


@cache
def tables_digest() -> str:
    """Returns the sha256 of the class tables, in hexadecimal digits."""
    digest = sha256()
    for name in _USED:
        digest.update((TABLES / f"{name}.json").read_bytes())
    return digest.hexdigest()
