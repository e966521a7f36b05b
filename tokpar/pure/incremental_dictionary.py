"""The normalized dictionary of incremental BPE: the tokens that merging makes, and how.

A token is *canonical* if merging its own bytes gives just it. The last merge that does is its one
*rule*, (left, right, priority); all other ways to write the token never happen in any text, and
tokens that are not canonical never appear. So canonical tokens and their rules say all.

When a token is made depends on the worst priority that its own bytes need, its *level*: greedy
merging has done everything of a better level before. Where each rule is worse than those that make
its operands, the dictionary is *proper* and levels are priorities; proofs/incremental-bpe.md holds
for any dictionary. Source of the idea: "Incremental BPE Tokenization" (arXiv 2605.30813), which
asks for proper dictionaries."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tokpar.errors import OptionError
from tokpar.pure.vocabulary import Vocabulary

Rule = tuple[int, int, int]
"""(left, right, priority), the parts by number or id; less is better."""

Way = tuple[bytes, bytes, int]
"""The same with the parts by their bytes."""

NEVER = 1 << 62
"""Worse than any priority."""

BYTE = -1
"""The level of single bytes, and what they have in place of parts and priority."""

START_OF_TEXT = -1
MEMO = 1 << 18
"""Answers that a `Following` remembers."""


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Canonical tokens by number, shorter ones first; all 256 single bytes are there.

    `left`, `right`, `priority`: the rule of each token. `level`: the worst priority its bytes need.
    `left_bound`, `right_bound`: the worst priority of a merge after its left (right) part is made,
    its own included. `rules`: (left, right) -> priority. `number`: of each token by its bytes.
    `unreachable`: tokens that merging never makes, with their ids. `whole`: those of them that a
    pre-token becomes all the same if it is nothing else (`Vocabulary.whole_piece`).

    >>> bytes_ = {bytes([byte]): byte for byte in range(256)}
    >>> d = dictionary("abc", bytes_ | {b"bc": 256, b"abc": 257}, [(98, 99, 0), (97, 256, 1)])
    >>> d.left[d.number[b"abc"]] == d.number[b"a"], d.level[d.number[b"abc"]]
    (True, 1)
    """

    name: str
    spelling: list[bytes] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    left: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    priority: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)
    left_bound: list[int] = field(default_factory=list)
    right_bound: list[int] = field(default_factory=list)
    rules: dict[tuple[int, int], int] = field(default_factory=dict)
    number: dict[bytes, int] = field(default_factory=dict)
    unreachable: Mapping[bytes, int] = field(default_factory=dict)
    whole: Mapping[bytes, int] = field(default_factory=dict)

    def add(self, token: bytes, id_: int, rule: Rule = (BYTE, BYTE, BYTE)) -> None:
        """One more token, the parts by number; only while the dictionary is built."""
        left, right, priority = rule
        level = left_bound = right_bound = priority
        if left != BYTE:
            of_left, of_right = self.level[left], self.level[right]
            level = max(of_left, of_right, priority)
            left_bound = level if max(of_right, priority) == level else priority
            right_bound = level if level > of_right else priority
            self.rules[left, right] = priority
        self.number[token] = len(self.spelling)
        self.spelling.append(token)
        self.ids.append(id_)
        self.left.append(left)
        self.right.append(right)
        self.priority.append(priority)
        self.level.append(level)
        self.left_bound.append(left_bound)
        self.right_bound.append(right_bound)

    def stay_apart(self, left: int, right: int) -> bool:
        """True if merging the bytes of both makes both tokens before anything merges across.

        Looks at the states in which a last part of `left` and a first part of `right` are
        neighbours, from the last on: whether the two merge before one grows. Left comes first at
        equal priority."""
        level, rules = self.level, self.rules
        while True:
            if level[left] > level[right]:
                bound = self.right_bound[left]
                left = self.right[left]
                if rules.get((left, right), NEVER) < bound:
                    return False
            elif level[right] == BYTE:
                return True
            else:
                bound = self.left_bound[right]
                right = self.left[right]
                if rules.get((left, right), NEVER) <= bound:
                    return False

    def neighbours(self, left: int, right: int) -> bool:
        """Merging the bytes of both gives exactly these two tokens."""
        return (left, right) not in self.rules and self.stay_apart(left, right)

    def beats(self, token: int, other: int) -> bool:
        """`other` ends with the left part of `token`, as its own right part; where that part, on
        its way to `other`, meets the right part of `token`: whether `token` is made first."""
        reached = self.level[other] > self.level[self.right[token]]
        return reached and self.priority[token] < self.right_bound[other]


def dictionary_of(vocabulary: Vocabulary) -> Dictionary:
    """The normalized dictionary of a byte-level vocabulary, proper or not.

    OptionError if a merge does not make the bytes of its parts."""
    name, tokens, whole_piece = vocabulary.name, vocabulary.tokens, vocabulary.whole_piece
    if vocabulary.semantics == "pairs":
        return dictionary(name, tokens, _pair_rules(vocabulary), whole_piece)

    def splits(token: bytes, rank: int) -> Iterator[Way]:
        return ((token[:i], token[i:], rank) for i in range(1, len(token)))

    return _build(name, tokens, splits, whole_piece)


def dictionary(
    name: str, tokens: Mapping[bytes, int], rules: Iterable[Rule], whole_piece: bool = False
) -> Dictionary:
    """The normalized dictionary of `tokens`, all 256 bytes among them, and rules by id."""
    ways: dict[bytes, list[Way]] = {}
    spelling = {id_: token for token, id_ in tokens.items()}
    for first, second, priority in rules:
        left, right = spelling[first], spelling[second]
        ways.setdefault(left + right, []).append((left, right, priority))
    return _build(name, tokens, lambda token, _: ways.get(token, ()), whole_piece)


def _build(
    name: str,
    tokens: Mapping[bytes, int],
    ways: Callable[[bytes, int], Iterable[Way]],
    whole_piece: bool,
) -> Dictionary:
    """`ways`: of a token and its id, the ways to make it, the best first."""
    made = Dictionary(name)
    number = made.number
    for token in sorted(tokens, key=len):
        id_ = tokens[token]
        if len(token) == 1:
            made.add(token, id_)
        for first, second, priority in ways(token, id_):
            left, right = number.get(first, BYTE), number.get(second, BYTE)
            if left != BYTE and right != BYTE and made.stay_apart(left, right):
                made.add(token, id_, (left, right, priority))
                break
    unreachable = {token: id_ for token, id_ in tokens.items() if token not in number}
    return replace(made, unreachable=unreachable, whole=unreachable if whole_piece else {})


def _pair_rules(vocabulary: Vocabulary) -> Iterator[Rule]:
    """The merges of a vocabulary whose parts are bytes; the others never happen."""
    spelling = {id_: token for token, id_ in vocabulary.tokens.items()}
    for (left, right), (priority, merged) in vocabulary.merges.items():
        if left not in spelling or right not in spelling:
            continue
        joined = spelling[left] + spelling[right]
        if spelling.get(merged) != joined:
            raise OptionError(
                f"{vocabulary.name}: the merge of {spelling[left]!r} and {spelling[right]!r}, "
                f"priority {priority}, makes {spelling.get(merged)!r}, expected {joined!r}"
            )
        yield left, right, priority


class Following:
    """Which token may stand behind another one, given how it begins. Safe to share between threads.

    Two canonical tokens are neighbours in some tokenization if merging the bytes of both gives just
    the two. While the right one grows from its first byte through its left part, the left part of
    that ... (its first parts, from the inside), no last part of the left one may take the first
    part there is. Whether one does depends on two successive first parts only, so tokens are
    searched in a tree where each hangs below its left part, and all below a part that is taken are
    passed over at once."""

    def __init__(self, dictionary: Dictionary) -> None:
        self._dictionary = dictionary
        self._order = sorted(range(len(dictionary.spelling)), key=dictionary.spelling.__getitem__)
        self._spellings = [dictionary.spelling[token] for token in self._order]
        self._children: list[list[int]] = [[] for _ in self._order]
        for place, token in enumerate(self._order):
            if dictionary.left[token] != BYTE:
                self._children[dictionary.left[token]].append(place)
        self.token = lru_cache(MEMO)(self._token)

    def _token(self, left: int, text: bytes) -> bytes:
        """A token that begins with `text`, is longer, and may stand behind `left`, a token by its
        number or `START_OF_TEXT`; b"" if there is none."""
        low = bisect_left(self._spellings, text)
        high = bisect_right(self._spellings, text, low, key=lambda token: token[: len(text)])
        if high == low or self._spellings[high - 1] == text:
            return b""
        if left == START_OF_TEXT:
            return self._spellings[high - 1]
        dictionary = self._dictionary
        waiting: list[Iterator[int]] = [iter((dictionary.number[text[:1]],))]
        while waiting:
            token = next(waiting[-1], BYTE)
            if token == BYTE:
                waiting.pop()
                continue
            size = len(dictionary.spelling[token])
            if size > 1 and not _grows(dictionary, left, token):
                continue
            taken = (left, token) in dictionary.rules
            if size > len(text) and not taken and _left_alone(dictionary, left, token):
                return dictionary.spelling[token]
            waiting.append(self._longer(token, size, text, low, high))
        return b""

    def _longer(self, token: int, size: int, text: bytes, low: int, high: int) -> Iterator[int]:
        """Tokens whose left part is `token` and that begin with `text`, or `text` with them."""
        below = self._children[token]
        if size < len(text):
            for stop in range(size + 1, len(text)):
                number = self._dictionary.number.get(text[:stop], BYTE)
                if number != BYTE and self._dictionary.left[number] == token:
                    yield number
            below = below[bisect_left(below, low) : bisect_left(below, high)]
        yield from map(self._order.__getitem__, below)


def _grows(dictionary: Dictionary, left: int, token: int) -> bool:
    """The left part of `token` grows to `token` before a last part of `left` takes it; if it was
    there at all, behind `left`. `token` is no byte. See `Dictionary.stay_apart`."""
    level = dictionary.level
    while level[left] > level[token]:
        left = dictionary.right[left]
    part = dictionary.left[token]
    taken = dictionary.rules.get((left, part), NEVER) <= dictionary.left_bound[token]
    return not taken and _left_alone(dictionary, left, part)


def _left_alone(dictionary: Dictionary, left: int, token: int) -> bool:
    """No shorter last part of `left` takes `token` before it grows."""
    level, rules = dictionary.level, dictionary.rules
    while level[left] > level[token]:
        bound = dictionary.right_bound[left]
        left = dictionary.right[left]
        if rules.get((left, token), NEVER) < bound:
            return False
    return True
