"""The one parser of pre-tokenizer patterns, for checker and planner (the class of theorem 40).

The parser accepts ordered alternatives of one-character classes, groups, greedy, lazy and
possessive repeats, lookaheads at one character or the end of the text, `$` as the engine means it,
and `(?i:..)` over ASCII. It does not interpret character classes: the engine lists them. It refuses
everything else, with the reason.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

ENGINES = ("fancy-regex", "oniguruma", "regex")
Symbols = Callable[[str], list[int]]
"""A function from the spelling of a class to the symbols of the class."""


class RefusedProofError(ValueError):
    """A pattern is outside the class of theorem 40, or a proof of it does not hold."""


_ONE = (
    r"\\[pP]\{\^?[A-Za-z_][\w =-]*\}|\\[sSdDwWrntfv]|\\x[0-9a-fA-F]{2}(?![0-9a-fA-F])"
    r"|\\u[0-9a-fA-F]{4}(?![0-9a-fA-F])|\\[xu]\{[0-9a-fA-F]{1,6}\}"
    r"|\\[!-/:;=?@\[-_{-~\ ](?<![<>'])"
    r"|\[\^?+(?!\])(?:\\.|[^\[\]\\]|\[\^?+(?!\]|:)(?:\\.|[^\[\]\\])*\])+\]"
    r"|[^\\\[(){|^$*+?]"
)
_TOKEN = re.compile(
    rf"(?P<open>\(\?[:>=!]|\(\?i:|\((?!\?))|(?P<close>\))|(?P<bar>\|)|(?P<end>\$|\\[zZ])"
    rf"|(?P<count>[?*+]|\{{[0-9]{{1,4}}(?:,[0-9]{{0,4}})?\}})|(?P<one>{_ONE})",
    re.DOTALL | re.ASCII,
)
_FOLDABLE = re.compile(r"[ -~]|\[[A-Za-z0-9']+\]")
_DOUBLE = {"s": "st", "f": "fil"}
"""Letters, each with the letters that form one character together with it when folded, as "ss" and
U+00DF."""
_ENDS = {("fancy-regex", "$"), ("fancy-regex", r"\z"), ("oniguruma", r"\z"), ("regex", r"\Z")}
_BRACED = {("fancy-regex", "x"), ("fancy-regex", "u"), ("oniguruma", "x")}
_ALL_SPACES = [("repeat", ("set", r"\s"), low, None, "possessive") for low in (0, 1)]
_DEEPEST, _LONGEST, _MOST = 40, 20_000, 1_000


class PatternReader:
    """Parses one pattern as `engine` reads it. Raises `RefusedProofError` with the reason.

    `sources`: the spellings of the classes, in the order of the pattern. `has_stacked`: `{m,n}+` or
    `{m,n}?` of Oniguruma occurs, where the second sign counts the group again."""

    def __init__(self, pattern: str, engine: str) -> None:
        if engine not in ENGINES:
            raise RefusedProofError(f"engine must be one of {ENGINES}, got {engine!r}")
        if len(pattern) > _LONGEST:
            raise RefusedProofError(f"a pattern of more than {_LONGEST} characters")
        self.engine, self._pattern = engine, pattern
        self.sources: dict[str, None] = {}
        self.has_stacked = False
        self._tokens = [*_tokens(pattern), ("stop", "", len(pattern))]
        self._index = 0
        everywhere = pattern.startswith("(?i)")
        self._tree = self._choice(everywhere, 0)
        if self._kind != "stop":
            raise self._error("unbalanced ')'")
        if _nullable(self._tree):
            raise RefusedProofError(f"{_show(pattern)} may match the empty text")
        _require_single_folds(self._tree)

    def tree(self, symbols: Symbols, size: int) -> Any:
        """Returns the tree of the pattern as a proof spells it. `size` is the symbol of the end of
        the text."""
        return _tree_over(self._tree, symbols, size)

    @property
    def _kind(self) -> str:
        """The kind of the next token."""
        return self._tokens[self._index][0]

    def _error(self, what: str) -> RefusedProofError:
        place = self._tokens[self._index][2]
        return RefusedProofError(f"{what} before offset {place} of {_show(self._pattern)}")

    def _choice(self, fold: bool, depth: int) -> Any:
        if depth > _DEEPEST:
            raise self._error(f"groups nested more than {_DEEPEST} deep")
        options = [self._row(fold, depth)]
        while self._kind == "bar":
            self._index += 1
            options.append(self._row(fold, depth))
        return options[0] if len(options) == 1 else ("choice", options)

    def _row(self, fold: bool, depth: int) -> Any:
        items: list[Any] = []
        while self._kind not in ("bar", "close", "stop"):
            items.append(self._quantify(self._item(fold, depth, items[-1] if items else None)))
        return items[0] if len(items) == 1 else ("row", items)

    def _item(self, fold: bool, depth: int, item_before: Any) -> Any:
        kind, text, _ = self._tokens[self._index]
        if kind == "count":
            raise self._error(f"unsupported {text!r}")
        self._index += 1
        if kind == "open":
            return self._group(text, fold, depth)
        if kind == "end":
            return self._end(text, item_before)
        if self.engine == "regex" and text[0] == "[" and "[" in text[1:].replace("\\[", ""):
            raise self._error("'[' in a class")
        if fold and not _FOLDABLE.fullmatch(text):
            raise self._error("case-insensitive class")
        self._require_code(text)
        return self._class(f"(?i:{text})" if fold else text)

    def _end(self, text: str, item_before: Any) -> Any:
        newline = (self.engine, text) == ("oniguruma", "$")
        # `$` of regex also matches before a last line end, but not after all white space
        spaced = (self.engine, text) == ("regex", "$") and item_before in _ALL_SPACES
        if not newline and not spaced and (self.engine, text) not in _ENDS:
            looks = "looks two characters ahead" if text == "$" else "is no end of the text"
            raise self._error(f"{text!r} {looks} in this engine")
        return "look", [self._class("\\n")] if newline else [], True, False

    def _require_code(self, text: str) -> None:
        if text[:2] not in ("\\x", "\\u"):
            return
        braced = text[2] == "{"
        byte = self.engine == "oniguruma" and text[1] == "x" and text[2] not in "01234567"
        if ((self.engine, text[1]) not in _BRACED) if braced else byte:
            raise self._error(f"unsupported escape {text[:2]}")

    def _class(self, source: str) -> Any:
        self.sources[source] = None
        return "set", source

    def _group(self, opening: str, fold: bool, depth: int) -> Any:
        inside = self._choice(fold or opening == "(?i:", depth + 1)
        if self._kind != "close":
            raise self._error("missing ')'")
        self._index += 1
        if opening == "(?>":
            kind, *parts = inside
            if kind != "repeat" or parts[0][0] != "set" or parts[3] == "lazy":
                raise self._error("atomic group of more than one repeated class")
            return "repeat", *parts[:3], "possessive"
        return self._look(inside, opening == "(?!") if opening in ("(?=", "(?!") else inside

    def _look(self, inner: Any, is_negated: bool) -> Any:
        options = inner[1] if inner[0] == "choice" else [inner]
        ends = [option for option in options if option[0] == "look"]
        sets = [option for option in options if option[0] == "set"]
        if len(ends) + len(sets) != len(options) or any(end[3] for end in ends):
            raise self._error("look-ahead over more than one character")
        sets += [each for end in ends for each in end[1]]
        return "look", sets, any(end[2] for end in ends), is_negated

    def _quantify(self, item: Any) -> Any:
        while self._kind == "count":
            text = self._tokens[self._index][1]
            low, high = _bounds(text)
            if high == 0 or (high is not None and high < low) or max(low, high or 0) > _MOST:
                raise self._error("an empty or great interval")
            self._index += 1
            stacked = text[0] == "{" and self.engine == "oniguruma"
            mode = self._mode(stacked, low == high)
            self._require_countable(item, high, mode)
            item = "repeat", item, low, high, mode
            again = stacked and mode == "greedy" and self._tokens[self._index][1] == "+"
            if self._kind == "count" and not again:
                raise self._error("stacked quantifier")
        return item

    def _mode(self, is_stacked: bool, is_fixed: bool) -> str:
        """Reads the sign after a quantifier. `{m,n}+` of Oniguruma is a repeated group."""
        kind, sign, _ = self._tokens[self._index]
        if kind != "count" or sign not in ("?", "+"):
            return "greedy"
        self.has_stacked |= is_stacked
        if is_stacked and sign == "?" and is_fixed:
            raise self._error("'{n}?' is an optional group in Oniguruma")
        if sign == "+" and is_stacked:
            return "greedy"
        self._index += 1
        return "lazy" if sign == "?" else "possessive"

    def _require_countable(self, item: Any, high: int | None, mode: str) -> None:
        if item[0] == "look":
            raise self._error("repeated look-ahead")
        if (high is None or high > 1) and _nullable(item):
            raise self._error("repeat of something that may be empty")
        if mode == "possessive" and item[0] != "set":
            raise self._error("possessive group")


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
        first = _folded_letters(each, 0)
        if any(first & set(_DOUBLE.get(letter, "")) for letter in before):
            raise RefusedProofError("case-insensitive letters that fold to one character")
        before = _folded_letters(each, -1) | (before if _nullable(each) else set())


def _folded_letters(node: Any, end: int) -> set[str]:
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
        found |= _folded_letters(each, end)
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
        raise RefusedProofError(
            "fancy-regex may take two equal repeats with something optional between for others"
        )


def _flat(node: Any) -> list[Any]:
    return [item for each in node[1] for item in _flat(each)] if node[0] == "row" else [node]


def _same(left: Any, right: Any) -> bool:
    ends = left[0] == right[0] == "repeat" and left[3] is right[3] is None
    return bool(ends) and _key(left[1]) == _key(right[1])


def _key(node: Any) -> object:
    """A key that is equal for nodes that match the same texts in the same way."""
    kind, *parts = node
    if kind == "repeat":
        return _key(parts[0]), *parts[1:]
    if kind == "choice":
        return frozenset(map(_key, parts[0]))
    return tuple(map(_key, _flat(node))) if kind == "row" else (kind, *parts[0])


def _nullable(node: Any) -> bool:
    kind, *parts = node
    if kind == "repeat":
        return parts[1] == 0 or _nullable(parts[0])
    if kind in ("row", "choice"):
        return (all if kind == "row" else any)(map(_nullable, parts[0]))
    return bool(kind == "look")


def _tokens(pattern: str) -> Iterator[tuple[str, str, int]]:
    """Yield (kind, text, offset) of each token."""
    place = 4 if pattern.startswith("(?i)") else 0
    while place < len(pattern):
        found = _TOKEN.match(pattern, place)
        if found is None:
            sign, escape = pattern[place], f"escape {pattern[place : place + 2]}"
            what = {"(": "group", "[": "class", "\\": escape}.get(sign, repr(sign))
            raise RefusedProofError(f"unsupported {what} at offset {place} of {_show(pattern)}")
        yield str(found.lastgroup), found.group(), place
        place = found.end()


def _show(pattern: str) -> str:
    return repr(pattern if len(pattern) < 200 else pattern[:200] + "...")


def _bounds(text: str) -> tuple[int, int | None]:
    if text in "?*+":
        return int(text == "+"), 1 if text == "?" else None
    low, comma, high = text[1:-1].partition(",")
    return int(low), int(high) if high else None if comma else int(low)


def _tree_over(node: Any, symbols: Symbols, size: int) -> Any:
    """Returns the tree with the symbols of each class in place of its source."""
    kind, *parts = node
    if kind == "set":
        return ["set", symbols(parts[0])]
    if kind == "look":
        found = {c for _, source in parts[0] for c in symbols(source)} | (
            {size} if parts[1] else set()
        )
        return ["look", sorted(set(range(size + 1)) - found if parts[2] else found)]
    if kind == "repeat":
        return ["repeat", _tree_over(parts[0], symbols, size), *parts[1:]]
    return [kind, [_tree_over(each, symbols, size) for each in parts[0]]]
