"""Parse pre-tokenizer regexes into ordered alternatives over a finite alphabet of atoms.

Only what Theorem 19 can decide is accepted: classes, ``? * + {m,n}``, groups, one-char
look-aheads, ``$`` behind a possessive class with newlines, and possessive repeats that are
provably the same as greedy ones. Anything else raises `UnsupportedPatternError`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tokpar.certificate.pattern_parser import ENGINES
from tokpar.patterns.class_tables import WHITESPACE, Ranges, merge_ranges
from tokpar.patterns.pattern_reader import UnsupportedPatternError


@dataclass(frozen=True)
class Atom:
    """Code points no pattern tells apart: a general category and inclusive ranges."""

    name: str
    category: str
    ranges: Ranges


@dataclass(frozen=True)
class Chars:
    """Consumes one character of `atoms`; `source` is its regex spelling."""

    atoms: frozenset[str]
    source: str


@dataclass(frozen=True)
class Ahead:
    """Succeeds when one of `item` follows, or with `negated` anything else or END; without `item`,
    when END does. Consumes nothing."""

    item: Chars | None = None
    negated: bool = False


@dataclass(frozen=True)
class Repeat:
    """Greedy (or possessive) repetition; `high` None means unbounded."""

    item: Node
    low: int
    high: int | None
    possessive: bool = False


@dataclass(frozen=True)
class Seq:
    items: tuple[Node, ...]


@dataclass(frozen=True)
class Alt:
    items: tuple[Node, ...]


Node = Chars | Ahead | Repeat | Seq | Alt


def parse(pattern: str, engine: str, atoms: Iterable[Atom]) -> Alt:
    """The pattern as ordered alternatives, with the meaning `engine` gives to it."""
    if engine not in ENGINES:
        raise UnsupportedPatternError(f"engine must be one of {ENGINES}, got {engine!r}")
    parser = _Parser(pattern, engine, {atom.name: atom for atom in atoms})
    tree = parser.alternatives(fold=False)
    if parser.position != len(pattern):
        raise parser.error("unbalanced ')'")
    return Alt(tuple(_without_possessives(option, parser) for option in tree.items))


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the pattern."""
    yield node
    if isinstance(node, Repeat):
        yield from walk(node.item)
    elif isinstance(node, (Seq, Alt)):
        for child in node.items:
            yield from walk(child)


def char_sets(tree: Node) -> dict[str, frozenset[str]]:
    """All one-char regexes in the tree, look-aheads included, by their source: {"\\s": {...}}."""
    leaves = (node.item if isinstance(node, Ahead) else node for node in walk(tree))
    return {leaf.source: leaf.atoms for leaf in leaves if isinstance(leaf, Chars)}


def _without_possessives(option: Node, parser: _Parser) -> Node:
    """Replace possessive repeats by greedy ones, refusing where that could change a match."""
    items = option.items if isinstance(option, Seq) else (option,)
    lowered: list[Node] = []
    for index, item in enumerate(items):
        if isinstance(item, Repeat) and item.possessive:
            if not isinstance(item.item, Chars):
                raise parser.error("possessive group")
            if not _giving_back_is_useless(item.item.atoms, items[index + 1 :]):
                raise parser.error(f"possessive {item.item.source} differs from greedy")
            item = Repeat(item.item, item.low, item.high)
        elif any(isinstance(node, Repeat) and node.possessive for node in walk(item)):
            raise parser.error("possessive repeat inside a group")
        elif item == Ahead():
            _require_end_of_run(items[index - 1] if index else None, parser)
        lowered.append(item)
    return Seq(tuple(lowered))


def _giving_back_is_useless(atoms: frozenset[str], rest: tuple[Node, ...]) -> bool:
    """True if `rest` always succeeds at once, or cannot start with any of `atoms`."""
    if all(isinstance(item, Repeat) and item.low == 0 for item in rest):
        return True
    for item in rest:
        if item == Ahead():
            return True
        chars = item.item if isinstance(item, Repeat) else item
        if not isinstance(chars, Chars) or chars.atoms & atoms:
            return False
        if not isinstance(item, Repeat) or item.low > 0:
            return True
    return False


def _require_end_of_run(before: Node | None, parser: _Parser) -> None:
    """`$` means end of line in Oniguruma: accept it only where the next char is no newline."""
    if not (
        isinstance(before, Repeat)
        and before.possessive
        and isinstance(before.item, Chars)
        and parser.members(((0x0A, 0x0A), (0x0D, 0x0D))) <= before.item.atoms
    ):
        raise parser.error("'$' not behind a possessive class that has the newline")


_ESCAPES = {"r": "\r", "n": "\n", "t": "\t"}
_SPECIAL = set("\\^$.|?*+()[]{}")


class _Parser:
    """Recursive descent over one pattern; `position` is the next unread character."""

    def __init__(self, pattern: str, engine: str, atoms: Mapping[str, Atom]) -> None:
        self.pattern = pattern
        self.engine = engine
        self.atoms = atoms
        self.position = 0

    def error(self, what: str) -> UnsupportedPatternError:
        return UnsupportedPatternError(f"{what} before offset {self.position} of {self.pattern!r}")

    def peek(self, text: str) -> bool:
        return self.pattern.startswith(text, self.position)

    def take(self, text: str) -> bool:
        found = self.peek(text)
        self.position += len(text) * found
        return found

    def char(self) -> str:
        if self.position == len(self.pattern):
            raise self.error("unexpected end")
        self.position += 1
        return self.pattern[self.position - 1]

    def alternatives(self, fold: bool) -> Alt:
        options = [self.sequence(fold)]
        while self.take("|"):
            options.append(self.sequence(fold))
        return Alt(tuple(options))

    def sequence(self, fold: bool) -> Seq:
        items: list[Node] = []
        while self.position < len(self.pattern) and not self.peek("|") and not self.peek(")"):
            items.append(self.quantified(fold))
        return Seq(tuple(items))

    def quantified(self, fold: bool) -> Node:
        item = self.single(fold)
        bounds = self.bounds()
        if bounds is None:
            return item
        if isinstance(item, Ahead):
            raise self.error("repeated assertion")
        interval = self.pattern[self.position - 1] == "}"
        possessive = self.take("+")
        if possessive and interval and self.engine == "oniguruma":
            raise self.error("'{m,n}+' is a repeated group in Oniguruma")
        if self.peek("?") or self.peek("*") or self.peek("+") or self.peek("{"):
            raise self.error("lazy or stacked quantifier")
        return Repeat(item, *bounds, possessive)

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, pair in (("?", (0, 1)), ("*", (0, None)), ("+", (1, None))):
            if self.take(sign):
                return pair
        if not self.take("{"):
            return None
        end = self.pattern.find("}", self.position)
        low, comma, high = self.pattern[self.position : end].partition(",")
        if end < 0 or not low.isdecimal() or not (high.isdecimal() or high == ""):
            raise self.error("bad interval")
        self.position = end + 1
        limit = int(high) if high else None if comma else int(low)
        if limit == 0 or (limit is not None and int(low) > limit):
            raise self.error("empty interval")
        return int(low), limit

    def single(self, fold: bool) -> Node:
        start = self.position
        if self.take("("):
            return self.group(fold)
        if self.take("$"):
            return Ahead()
        if self.take("["):
            atoms = self.bracket(fold)
        elif self.take("\\"):
            atoms = self.escape(fold)
        elif (char := self.char()) in _SPECIAL:
            raise self.error(f"unsupported {char!r}")
        else:
            atoms = self.literal(char, fold)
        source = self.pattern[start : self.position]
        return Chars(atoms, f"(?i:{source})" if fold else source)

    def group(self, fold: bool) -> Node:
        for opening, negated in (("?!", True), ("?=", False)):
            if self.take(opening):
                return self.look_ahead(negated, fold)
        if self.take("?i:"):
            fold = True
        elif not self.take("?:") and self.peek("?"):
            raise self.error("unsupported group")
        inside = self.alternatives(fold)
        if not self.take(")"):
            raise self.error("missing ')'")
        return inside

    def look_ahead(self, negated: bool, fold: bool) -> Ahead:
        item = self.single(fold)
        if not isinstance(item, Chars) or not self.take(")"):
            raise self.error("look-ahead over more than one character")
        only_end = negated and item.atoms == frozenset(self.atoms)
        return Ahead() if only_end else Ahead(item, negated)

    def bracket(self, fold: bool) -> frozenset[str]:
        negated = self.take("^")
        atoms: frozenset[str] = frozenset()
        literal: list[tuple[int, int]] = []
        while not self.take("]"):
            if self.peek("[") or any(self.peek(op) for op in ("&&", "--", "||", "~~")):
                raise self.error("set operation")
            first = self.char()
            if first == "\\" and (found := self.property_escape(fold)) is not None:
                atoms |= found
                continue
            low = self.escaped_char() if first == "\\" else first
            literal += self.span(low, fold)
        atoms |= self.members(literal)
        return frozenset(self.atoms) - atoms if negated else atoms

    def span(self, low: str, fold: bool) -> list[tuple[int, int]]:
        """Code points of `low`, or of `low-high` when a range follows."""
        if not self.peek("-") or self.peek("-]"):
            return _cases(low, fold)
        self.position += 1
        high = self.char()
        if fold or high in "\\[" or high < low:
            raise self.error("unsupported range")
        return [(ord(low), ord(high))]

    def escape(self, fold: bool) -> frozenset[str]:
        found = self.property_escape(fold)
        return self.literal(self.escaped_char(), fold) if found is None else found

    def escaped_char(self) -> str:
        char = self.char()
        if char.isalnum() and char not in _ESCAPES:
            raise self.error(f"unsupported escape \\{char}")
        return _ESCAPES.get(char, char)

    def property_escape(self, fold: bool) -> frozenset[str] | None:
        r"""Atoms of `\s \S \p{..} \P{..}` behind the backslash, None for other escapes."""
        if self.peek("s") or self.peek("S"):
            space = self.members(WHITESPACE)
            return space if self.char() == "s" else frozenset(self.atoms) - space
        if not (self.peek("p{") or self.peek("P{")):
            return None
        negated = self.char() == "P"
        end = self.pattern.find("}", self.position)
        name = self.pattern[self.position + 1 : end]
        if fold or name not in _PROPERTIES:
            raise self.error(f"unsupported property {name!r}")
        self.position = end + 1
        found = frozenset(a.name for a in self.atoms.values() if a.category.startswith(name))
        return frozenset(self.atoms) - found if negated else found

    def literal(self, char: str, fold: bool) -> frozenset[str]:
        return self.members(_cases(char, fold))

    def members(self, ranges: Iterable[tuple[int, int]]) -> frozenset[str]:
        """Atoms whose code points all lie in `ranges`; an atom that is cut in two is refused."""
        wanted = merge_ranges(ranges)
        starts = [low for low, _ in wanted]
        found = set()
        ends = [high for _, high in wanted]
        for atom in self.atoms.values():
            inside = sum(
                _overlap(span, piece)
                for span in atom.ranges
                for piece in wanted[bisect_left(ends, span[0]) : bisect_right(starts, span[1])]
            )
            if inside and inside < sum(high - low + 1 for low, high in atom.ranges):
                raise self.error(f"a class that splits the atom {atom.name!r}")
            if inside:
                found.add(atom.name)
        return frozenset(found)


_PROPERTIES = ("L", "Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S")


def _cases(char: str, fold: bool) -> list[tuple[int, int]]:
    if fold and not char.isascii():
        raise UnsupportedPatternError(f"case-insensitive {char!r}")
    return [(ord(c), ord(c)) for c in ({char.lower(), char.upper()} if fold else char)]


def _overlap(left: tuple[int, int], right: tuple[int, int]) -> int:
    return max(0, min(left[1], right[1]) - max(left[0], right[0]) + 1)
