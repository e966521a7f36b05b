"""The checker's own parser of pre-tokenizer patterns, to trees over symbols (theorem 40).

The parser refuses unknown syntax. It does not interpret character classes: the engine lists them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tokpar.certificate.window_machine import RefusedProofError

Symbols = Callable[[str], list[int]]
"""A function from the spelling of a class to the symbols of the class."""

_ONE = (
    r"\\[pP]\{\^?\w[\w =-]*\}|\\[sSdDwWrntfv]|\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}"
    r"|\\[!-/:;=?@\[-_{-~\ ](?<![<>'])"
    r"|\[\^?(?!\])(?:\\.|[^\[\]\\]|\[\^?(?!\]|:)(?:\\.|[^\[\]\\])*\])+\]"
    r"|[^\\\[(){|^$*+?]"
)
_TOKEN = re.compile(
    rf"(?P<open>\(\?[:>=!]|\(\?i:|\((?!\?))|(?P<close>\))|(?P<bar>\|)|(?P<end>\$|\\[zZ])"
    rf"|(?P<count>[?*+]|\{{\d{{1,4}}(?:,\d{{0,4}})?\}})|(?P<one>{_ONE})",
    re.DOTALL,
)
_FOLDABLE = re.compile(r"[ -~]|\[[A-Za-z0-9']+\]")
_DOUBLE = {"s": "st", "f": "fil"}
"""Letters, each with the letters that form one character together with it when folded, as "ss" and
U+00DF."""
_ENDS = {("fancy-regex", "$"), ("fancy-regex", r"\z"), ("oniguruma", r"\z"), ("regex", r"\Z")}
_ALL_SPACES = [("repeat", ("set", r"\s"), low, None, "possessive") for low in (0, 1)]
_DEEPEST = 60


class PatternReader:
    """Parses one pattern, token by token. Raises `RefusedProofError` for unknown syntax.

    `sources`: the spellings of the classes, in the order of the pattern. `stacked`: `{m,n}+` or
    `{m,n}?` of Oniguruma occurs, where the second sign counts the group again."""

    def __init__(self, pattern: str, engine: str) -> None:
        self.engine = engine
        self.sources: dict[str, None] = {}
        self.stacked = False
        everywhere = pattern.startswith("(?i)")
        body = pattern[4:] if everywhere else pattern
        self._tokens = [*_tokens(body), ("stop", "")]
        self._at = 0
        self._tree = self._choice(everywhere, 0)
        if self._tokens[self._at][0] != "stop":
            raise RefusedProofError(f"what closes a group in {pattern!r} opens none")
        _require_single_folds(self._tree)

    def tree(self, symbols: Symbols, size: int) -> Any:
        """Returns the tree of the pattern as a proof spells it. `size` is the symbol of the end of
        the text."""
        return _over(self._tree, symbols, size)

    def _choice(self, fold: bool, depth: int) -> Any:
        if depth > _DEEPEST:
            raise RefusedProofError("groups too deep")
        options = [self._row(fold, depth)]
        while self._tokens[self._at][0] == "bar":
            self._at += 1
            options.append(self._row(fold, depth))
        return options[0] if len(options) == 1 else ("choice", options)

    def _row(self, fold: bool, depth: int) -> Any:
        items: list[Any] = []
        while self._tokens[self._at][0] not in ("bar", "close", "stop"):
            items.append(self._counted(self._item(fold, depth, items[-1] if items else None)))
        return items[0] if len(items) == 1 else ("row", items)

    def _item(self, fold: bool, depth: int, before: Any) -> Any:
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "open":
            return self._group(text, fold, depth)
        if kind == "end":
            newline = (self.engine, text) == ("oniguruma", "$")
            # `$` of regex also matches before a last line end, but not after all white space
            spaced = (self.engine, text) == ("regex", "$") and before in _ALL_SPACES
            if not newline and not spaced and (self.engine, text) not in _ENDS:
                raise RefusedProofError(f"{text} of {self.engine} is not known")
            return "look", [self._class("\\n")] if newline else [], True, False
        if kind != "one":
            raise RefusedProofError(f"{text!r} has nothing to count")
        if self.engine == "regex" and text[0] == "[" and "[" in text[1:].replace("\\[", ""):
            raise RefusedProofError("a set in a set")
        if fold and not _FOLDABLE.fullmatch(text):
            raise RefusedProofError(f"{text!r} is folded")
        return self._class(f"(?i:{text})" if fold else text)

    def _class(self, source: str) -> Any:
        self.sources[source] = None
        return "set", source

    def _group(self, opening: str, fold: bool, depth: int) -> Any:
        inside = self._choice(fold or opening == "(?i:", depth + 1)
        if self._tokens[self._at][0] != "close":
            raise RefusedProofError("a group is not closed")
        self._at += 1
        if opening == "(?>":
            kind, *parts = inside
            if kind != "repeat" or parts[0][0] != "set" or parts[3] == "lazy":
                raise RefusedProofError("an atomic group of more than one counted class")
            return "repeat", *parts[:3], "possessive"
        return self._look(inside, opening == "(?!") if opening in ("(?=", "(?!") else inside

    def _look(self, inside: Any, negated: bool) -> Any:
        options = inside[1] if inside[0] == "choice" else [inside]
        ends = [option for option in options if option[0] == "look"]
        sets = [option for option in options if option[0] == "set"]
        if len(ends) + len(sets) != len(options) or any(end[3] for end in ends):
            raise RefusedProofError("a look-ahead over more than one character")
        sets += [each for end in ends for each in end[1]]
        return "look", sets, any(end[2] for end in ends), negated

    def _counted(self, item: Any) -> Any:
        while self._tokens[self._at][0] == "count":
            if item[0] == "look":
                raise RefusedProofError("a look-ahead that is counted")
            text = self._tokens[self._at][1]
            self._at += 1
            low, high = _bounds(text)
            stacked = text[0] == "{" and self.engine == "oniguruma"
            mode, sign = "greedy", self._tokens[self._at][1]
            if self._tokens[self._at][0] == "count" and sign in ("?", "+"):
                self.stacked |= stacked
                if stacked and sign == "?" and low == high:
                    raise RefusedProofError("{n}? of Oniguruma is an optional group")
                if sign == "?" or not stacked:
                    mode = "lazy" if sign == "?" else "possessive"
                    self._at += 1
            item = "repeat", item, low, high, mode
            if self._tokens[self._at][0] == "count" and not (stacked and mode == "greedy"):
                raise RefusedProofError("a count of a count")
        return item


def _require_single_folds(node: Any) -> None:
    """Raises RefusedProofError if two letters that a match may have side by side fold to one
    character."""
    kind, *parts = node
    if kind in ("set", "look"):
        return
    inside = [parts[0]] if kind == "repeat" else parts[0]
    for each in inside:
        _require_single_folds(each)
    if kind == "choice" or (kind == "repeat" and parts[2] == 1):
        return
    before: set[str] = set()
    for each in inside * 2 if kind == "repeat" else inside:
        first = _folded(each, 0)
        if any(first & set(_DOUBLE.get(letter, "")) for letter in before):
            raise RefusedProofError("folded letters that may be one character")
        before = _folded(each, -1) | (before if _nullable(each) else set())


def _folded(node: Any, end: int) -> set[str]:
    """Returns the folded letters with which a match of the node may begin (`end` 0) or end (`end`
    -1)."""
    kind, *parts = node
    if kind == "set" and parts[0].startswith("(?i:"):
        inside = parts[0][4:-1]
        return set("sftil") if "-" in inside[1:] else set(inside.lower())
    if kind in ("set", "look"):
        return set()
    found: set[str] = set()
    for each in [parts[0]] if kind == "repeat" else parts[0][:: -1 if end else 1]:
        found |= _folded(each, end)
        if kind == "row" and not _nullable(each):
            break
    return found


def require_kept(node: Any) -> None:
    """Raises RefusedProofError for a tree that fancy-regex 0.19 may rewrite.

    It rewrites `X+(?:YX+)?` to `X+Y?X+`, and `(?:X+(?:YX*)?)+` to `X+(?:YX*)*`. So an unbounded
    repeat may not occur twice with something optional between the two, or around the second."""
    kind, *parts = node
    if kind in ("set", "look"):
        return
    inside = [parts[0]] if kind == "repeat" else parts[0]
    for each in inside:
        require_kept(each)
    row = _flat(parts[0]) if kind == "repeat" and parts[2] is None else []
    twice = len(row) > 1 and row[-1][0] == "repeat" and _same(row[0], _flat(row[-1][1])[-1])
    for first, between, second in zip(row := _flat(node), row[1:], row[2:], strict=False):
        twice |= between[0] == "repeat" and between[2] == 0 and _same(first, second)
    if twice:
        raise RefusedProofError("fancy-regex may take a repeat for another")


def _flat(node: Any) -> list[Any]:
    return [item for each in node[1] for item in _flat(each)] if node[0] == "row" else [node]


def _same(left: Any, right: Any) -> bool:
    ends = left[0] == right[0] == "repeat" and left[3] is right[3] is None
    return bool(ends) and _flat(left[1]) == _flat(right[1])


def _nullable(node: Any) -> bool:
    kind, *parts = node
    if kind == "repeat":
        return parts[1] == 0 or _nullable(parts[0])
    if kind in ("row", "choice"):
        return (all if kind == "row" else any)(map(_nullable, parts[0]))
    return bool(kind == "look")


def _tokens(pattern: str) -> Iterator[tuple[str, str]]:
    place = 0
    while place < len(pattern):
        found = _TOKEN.match(pattern, place)
        if found is None:
            raise RefusedProofError(f"what stands at {place} of {pattern[:200]!r} is not known")
        yield str(found.lastgroup), found.group()
        place = found.end()


def _bounds(text: str) -> tuple[int, int | None]:
    if text in "?*+":
        return int(text == "+"), 1 if text == "?" else None
    low, comma, high = text[1:-1].partition(",")
    return int(low), int(high) if high else None if comma else int(low)


def _over(node: Any, symbols: Symbols, size: int) -> Any:
    kind, *parts = node
    if kind == "set":
        return ["set", symbols(parts[0])]
    if kind == "look":
        found = {c for _, source in parts[0] for c in symbols(source)} | (
            {size} if parts[1] else set()
        )
        return ["look", sorted(set(range(size + 1)) - found if parts[2] else found)]
    if kind == "repeat":
        return ["repeat", _over(parts[0], symbols, size), *parts[1:]]
    return [kind, [_over(each, symbols, size) for each in parts[0]]]
