"""A second parser of pre-tokenizer patterns, by recursive descent: the oracle of the first one,
`tokpar.regexes.pattern_parser`, which works token by token. Raises `UnsupportedPatternError`.
"""

from __future__ import annotations

import re

from tests.support.second_trees import (
    Ahead,
    Choice,
    Expression,
    Mode,
    OneOf,
    Repeat,
    Row,
    UnsupportedPatternError,
    folded_edge,
    may_be_empty,
)

ENGINES = ("fancy-regex", "oniguruma", "regex")
MAX_DEPTH = 40
MAX_LENGTH = 20_000
MAX_COUNT = 1_000


def parse_expression(pattern: str, engine: str) -> Expression:
    """Parse the pattern as `engine` ("fancy-regex", "oniguruma", "regex") reads it.

    Raises UnsupportedPatternError."""
    if engine not in ENGINES:
        raise UnsupportedPatternError(f"engine must be one of {ENGINES}, got {engine!r}")
    if len(pattern) > MAX_LENGTH:
        raise UnsupportedPatternError(f"a pattern of more than {MAX_LENGTH} characters")
    reader = _Reader(pattern, engine)
    tree = reader.choice(fold=reader.take("(?i)"))
    if reader.place < len(pattern):
        raise reader.error("unbalanced ')'")
    if may_be_empty(tree):
        raise UnsupportedPatternError(f"{pattern!r} may match the empty text")
    return tree


_BOUNDS = {"?": (0, 1), "*": (0, None), "+": (1, None)}
_INTERVAL = re.compile(r"\{([0-9]+)(,?)([0-9]*)\}")
_PROPERTY = re.compile(r"\{\^?[A-Za-z_][A-Za-z0-9_ =-]*\}")
_FOLDED = re.compile(r"[ -~]|\[[A-Za-z0-9']+\]")
_SIMPLE_ESCAPES = frozenset("sSdDwWrntfv")
_ANCHORS = frozenset("<>`'")
"""Characters that are anchors in some engines when escaped."""
_CODES = {
    "x": re.compile(r"[0-9a-fA-F]{2}(?![0-9a-fA-F])"),
    "u": re.compile(r"[0-9a-fA-F]{4}(?![0-9a-fA-F])"),
}
_CODE_IN_BRACES = re.compile(r"\{[0-9a-fA-F]{1,6}\}")
_DOUBLE_FOLDS = frozenset({"ss", "st", "ff", "fi", "fl"})
"""ASCII pairs that are the full case folding of one character, or begin such a folding."""


class _Reader:
    """Recursive descent parser of one pattern. `place`: the next unread character."""

    def __init__(self, pattern: str, engine: str) -> None:
        self.pattern, self.engine = pattern, engine
        self.place = self.depth = 0

    def error(self, what: str) -> UnsupportedPatternError:
        shown = self.pattern if len(self.pattern) < 200 else self.pattern[:200] + "..."
        return UnsupportedPatternError(f"{what} before offset {self.place} of {shown!r}")

    def at(self, text: str) -> bool:
        return self.pattern.startswith(text, self.place)

    def take(self, text: str) -> bool:
        found = self.at(text)
        self.place += len(text) * found
        return found

    def take_match(self, what: re.Pattern[str]) -> re.Match[str] | None:
        found = what.match(self.pattern, self.place)
        if found:
            self.place = found.end()
        return found

    def char(self) -> str:
        if self.place == len(self.pattern):
            raise self.error("unexpected end")
        self.place += 1
        return self.pattern[self.place - 1]

    def choice(self, fold: bool) -> Expression:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"groups nested more than {MAX_DEPTH} deep")
        options = [self.row(fold)]
        while self.take("|"):
            options.append(self.row(fold))
        self.depth -= 1
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def row(self, fold: bool) -> Expression:
        items: list[Expression] = []
        letters: frozenset[str] = frozenset()
        while self.place < len(self.pattern) and not self.at("|") and not self.at(")"):
            item = self.repeated(self.single(fold, items[-1] if items else None))
            self.refuse_double_folds(letters, item)
            if not isinstance(item, Ahead):
                letters = folded_edge(item, -1) | (letters if may_be_empty(item) else frozenset())
            items.append(item)
        return items[0] if len(items) == 1 else Row(tuple(items))

    def refuse_double_folds(self, letters: frozenset[str], item: Expression) -> None:
        """Raise for pairs like `(?i:ss)`: in Oniguruma the pair also matches the one character
        U+00DF, so the pair is no sequence of classes."""
        for right in folded_edge(item, 0):
            if any(left + right in _DOUBLE_FOLDS for left in letters):
                raise self.error("case-insensitive letters that fold to one character")

    def repeated(self, item: Expression) -> Expression:
        while (bounds := self.bounds()) is not None:
            if isinstance(item, Ahead):
                raise self.error("repeated look-ahead")
            low, high = bounds
            if (high is None or high > 1) and may_be_empty(item):
                raise self.error("repeat of something that may be empty")
            interval = self.pattern[self.place - 1] == "}"
            mode = self.mode(interval and self.engine == "oniguruma", low == high)
            if mode == "possessive" and not isinstance(item, OneOf):
                raise self.error("possessive group")
            if high is None or high > 1:
                self.refuse_double_folds(folded_edge(item, -1), item)
            item = Repeat(item, low, high, mode)
            # In Oniguruma `{m,n}+` is a repeated group, not a possessive repeat.
            again = interval and self.engine == "oniguruma" and mode == "greedy" and self.at("+")
            if not again and self.place < len(self.pattern) and self.pattern[self.place] in "?*+{":
                raise self.error("stacked quantifier")
        return item

    def mode(self, oniguruma_interval: bool, fixed: bool) -> Mode:
        if self.at("?"):
            if oniguruma_interval and fixed:
                raise self.error("'{n}?' is an optional group in Oniguruma")
            self.place += 1
            return "lazy"
        if not oniguruma_interval and self.take("+"):
            return "possessive"
        return "greedy"

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, pair in _BOUNDS.items():
            if self.take(sign):
                return pair
        found = self.take_match(_INTERVAL)
        if found is None:
            return None
        if len(found[1]) > 4 or len(found[3]) > 4:
            raise self.error("a great interval")
        low = int(found[1])
        high = low if not found[2] else int(found[3]) if found[3] else None
        if high == 0 or (high is not None and high < low) or max(low, high or 0) > MAX_COUNT:
            raise self.error("an empty or great interval")
        return low, high

    def single(self, fold: bool, before: Expression | None) -> Expression:
        start = self.place
        if self.take("("):
            return self.group(fold)
        if self.take("$"):
            return self.dollar(before)
        char = self.char()
        if char == "\\":
            if (end := self.escape()) is not None:
                return end
        elif char == "[":
            self.bracket()
        elif char in "^*+?{)|":
            raise self.error(f"unsupported {char!r}")
        source = self.pattern[start : self.place]
        if fold and not _FOLDED.fullmatch(source):
            raise self.error("case-insensitive class")
        return OneOf(f"(?i:{source})" if fold else source)

    def dollar(self, before: Expression | None) -> Ahead:
        # After a possessive repeat of white space no line end is left.
        spaces = [Repeat(OneOf(r"\s"), low, None, "possessive") for low in (0, 1)]
        if self.engine == "fancy-regex" or (self.engine == "regex" and before in spaces):
            return Ahead(end=True)
        if self.engine == "oniguruma":
            return Ahead(("\\n",), end=True)
        raise self.error("'$' looks two characters ahead in this engine")

    def escape(self) -> Ahead | None:
        """Read an escape after its backslash. Returns an `Ahead` for the end of the text, which is
        not a class, else None."""
        char = self.char()
        if char == ("Z" if self.engine == "regex" else "z"):
            return Ahead(end=True)
        if char in "pP":
            if not self.take_match(_PROPERTY):
                raise self.error("a property without braces")
        elif char in _CODES:
            braced = self.engine == "fancy-regex" or (self.engine == "oniguruma" and char == "x")
            # `\x` may be a raw byte in Oniguruma.
            byte = self.engine == "oniguruma" and char == "x" and not self.at_ascii_code()
            taken = braced and self.take_match(_CODE_IN_BRACES)
            if not taken and (byte or not self.take_match(_CODES[char])):
                raise self.error(f"unsupported escape \\{char}")
        elif char not in _SIMPLE_ESCAPES and (
            char.isalnum() or not char.isascii() or char in _ANCHORS
        ):
            raise self.error(f"unsupported escape \\{char}")
        return None

    def at_ascii_code(self) -> bool:
        return self.place < len(self.pattern) and self.pattern[self.place] in "01234567"

    def bracket(self) -> None:
        """Skip to the end of a class. Its opening bracket was already read."""
        depth = 1
        self.take("^")
        if self.at("]"):
            raise self.error("']' first in a class")
        while depth:
            char = self.char()
            if char == "\\":
                self.char()
            elif char == "[":
                if self.at(":"):
                    raise self.error("POSIX class")
                if self.engine == "regex":
                    raise self.error("'[' in a class")
                depth += 1
                self.take("^")
                if self.at("]"):
                    raise self.error("']' first in a class")
            elif char == "]":
                depth -= 1

    def group(self, fold: bool) -> Expression:
        for opening, negated in (("?!", True), ("?=", False)):
            if self.take(opening):
                return self.look_ahead(negated, fold)
        atomic = self.take("?>")
        if not atomic:
            if self.take("?i:"):
                fold = True
            elif not self.take("?:") and self.at("?"):
                raise self.error("unsupported group")
        inside = self.choice(fold)
        self.close()
        if not atomic:
            return inside
        if not isinstance(inside, Repeat) or not isinstance(inside.item, OneOf):
            raise self.error("atomic group of more than one repeated class")
        if inside.mode == "lazy":
            raise self.error("atomic group of a lazy repeat")
        return Repeat(inside.item, inside.low, inside.high, "possessive")

    def look_ahead(self, negated: bool, fold: bool) -> Ahead:
        inside = self.choice(fold)
        self.close()
        found: list[str] = []
        end = False
        for option in inside.options if isinstance(inside, Choice) else (inside,):
            if isinstance(option, OneOf):
                found.append(option.source)
            elif isinstance(option, Ahead) and not option.negated:
                found += option.sources
                end = end or option.end
            else:
                raise self.error("look-ahead over more than one character")
        return Ahead(tuple(found), end, negated)

    def close(self) -> None:
        if not self.take(")"):
            raise self.error("missing ')'")
