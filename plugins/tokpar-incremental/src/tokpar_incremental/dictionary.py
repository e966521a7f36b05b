"""The normalized dictionary of incremental BPE: the tokens that merging can make, and their merges.

A token is *canonical* if merging its bytes gives exactly this one token. The last merge of that run
is the *rule* of the token: (left, right, priority). Merging makes the token by its rule in every
text, and never makes a token that is not canonical. So the dictionary stores only canonical tokens
and their rules.

The *level* of a token is the worst priority among all merges that its bytes need. Greedy merging
makes tokens with a better level first. A dictionary is *proper* if each rule has a worse priority
than the rules of its two parts; then the level of a token is the priority of its rule.

Source: "Incremental BPE Tokenization" (arXiv 2605.30813), which requires a proper dictionary. The
proof in proofs/incremental-bpe.md holds for every dictionary."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from tokpar.errors import OptionError
from tokpar.formats.vocabulary import Vocabulary

Rule = tuple[int, int, int]
"""(left, right, priority): the parts by number or id. A lower priority is better."""

Way = tuple[bytes, bytes, int]
"""(left, right, priority): the parts by their bytes. A lower priority is better."""

NEVER = 1 << 62
"""A priority that is worse than every real one."""

BYTE = -1
"""The level of a single byte, and the value of its `left`, `right` and `priority`."""

START_OF_TEXT = -1
MEMO = 1 << 18
"""How many answers a `Following` caches."""


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """Canonical tokens, numbered by length, shortest first; all 256 single bytes are among them.

    Lists, one entry per token number:
    `spelling`, `ids`: the bytes and the id of the token.
    `left`, `right`, `priority`: its rule; `BYTE` for a single byte.
    `level`: the worst priority among the merges that its bytes need.
    `left_bound`, `right_bound`: the worst priority among the merges after the left (right) part is
    made, the token's own merge included; l(t) and r(t) in proofs/incremental-bpe.md.

    Mappings:
    `rules`: (left, right) -> priority. `number`: bytes -> token number.
    `unreachable`: bytes -> id of the tokens that merging never makes.
    `whole`: bytes -> id of the unreachable tokens that a pre-token still becomes if it has exactly
    their bytes. All unreachable ones with `Vocabulary.whole_piece`, else none.

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
        """Appends a token; `rule` has its parts by number. Only for building the dictionary."""
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
        """True if merging the bytes of both tokens makes both before anything merges across the
        boundary between them.

        While the two tokens are made, a last part of `left` (the token, its right part, the right
        part of that part, ...) meets a first part of `right` at the boundary. The loop goes through
        these pairs, from the last pair back to the first, and tests whether the pair merges before
        one of its parts grows. At equal priority, the leftmost merge comes first."""
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
        """True if merging the joined bytes of both tokens gives exactly these two tokens."""
        return (left, right) not in self.rules and self.stay_apart(left, right)

    def beats(self, token: int, other: int) -> bool:
        """True if `token` is made before `other`, where both are possible in one text.

        The right part of `other` is the left part of `token`. In a text where this part is
        followed by the right part of `token`, the two merge to `token` if that happens before the
        part grows to `other`."""
        reached = self.level[other] > self.level[self.right[token]]
        return reached and self.priority[token] < self.right_bound[other]


def dictionary_of(vocabulary: Vocabulary) -> Dictionary:
    """Returns the normalized dictionary of a byte-level vocabulary, proper or not.

    Raises OptionError for a merge whose result is not the joined bytes of its parts."""
    name, tokens, whole_piece = vocabulary.name, vocabulary.tokens, vocabulary.whole_piece
    if vocabulary.semantics == "pairs":
        return dictionary(name, tokens, _pair_rules(vocabulary), whole_piece)

    def splits(token: bytes, rank: int) -> Iterator[Way]:
        return ((token[:i], token[i:], rank) for i in range(1, len(token)))

    return _build(name, tokens, splits, whole_piece)


def dictionary(
    name: str, tokens: Mapping[bytes, int], rules: Iterable[Rule], whole_piece: bool = False
) -> Dictionary:
    """Returns the normalized dictionary of `tokens` and `rules`.

    `tokens`: bytes -> id, with all 256 single bytes. `rules`: the parts by id.
    `whole_piece`: as in `Vocabulary`."""
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
    """Returns the dictionary. `ways`: takes a token and its id, returns the merges that make the
    token, tried in this order."""
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
    """Yields the merges of a vocabulary whose two parts are in `tokens`. Other merges never happen.
    Raises OptionError for a merge whose result is not the joined bytes of its parts."""
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
    """Finds a token that begins with given bytes and may follow a given token. Safe to share
    between threads.

    Two canonical tokens are neighbours in some tokenization if merging their joined bytes gives
    exactly these two. The right token grows through its *first parts*: its first byte, ..., the
    left part of its left part, its left part, the token itself. At no step may a last part of the
    left token merge with the present first part. Whether it does depends only on two successive
    first parts. So the search goes down a tree in which the parent of each token is its left part.
    Where a first part merges with the left token, the search skips the whole subtree."""

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
        """Returns the bytes of a token that begins with `text`, is longer, and may follow `left`;
        b"" if there is none. `left`: the number of a token, or `START_OF_TEXT`."""
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
        """Yields the tokens whose left part is `token`, and that begin with `text` or are a prefix
        of `text`. `size`: bytes of `token`. `low`, `high`: the range of the tokens that begin with
        `text`, in sorted order."""
        below = self._children[token]
        if size < len(text):
            for stop in range(size + 1, len(text)):
                number = self._dictionary.number.get(text[:stop], BYTE)
                if number != BYTE and self._dictionary.left[number] == token:
                    yield number
            below = below[bisect_left(below, low) : bisect_left(below, high)]
        yield from map(self._order.__getitem__, below)


def _grows(dictionary: Dictionary, left: int, token: int) -> bool:
    """True if the left part of `token`, once it is made after `left`, grows to `token` before a
    last part of `left` merges with it. `token` is no single byte. See `Dictionary.stay_apart`."""
    level = dictionary.level
    while level[left] > level[token]:
        left = dictionary.right[left]
    part = dictionary.left[token]
    taken = dictionary.rules.get((left, part), NEVER) <= dictionary.left_bound[token]
    return not taken and _left_alone(dictionary, left, part)


def _left_alone(dictionary: Dictionary, left: int, token: int) -> bool:
    """True if no last part of `left` that is shorter than `left` merges with `token` before that
    last part grows."""
    level, rules = dictionary.level, dictionary.rules
    while level[left] > level[token]:
        bound = dictionary.right_bound[left]
        left = dictionary.right[left]
        if rules.get((left, token), NEVER) < bound:
            return False
    return True
