"""Incremental BPE: the tokenization of every prefix of a text, byte by byte. Source: "Incremental
BPE Tokenization" (arXiv 2605.30813). It is that of a shorter prefix and one more token, so only the
last token of each prefix is kept. That is found among the tokens that the prefix ends with; the
proof is in proofs/incremental-bpe.md."""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate, pairwise

from tokpar.errors import OptionError
from tokpar.pure.incremental_dictionary import Dictionary, Following
from tokpar.pure.incremental_search import SHORT, START, Automaton, Forest, Search
from tokpar.pure.merging import Memo, Span, cover_characters


class Tables:
    """What all texts share; costs seconds for a large vocabulary, and may be shared by threads."""

    def __init__(self, dictionary: Dictionary, short: int = SHORT) -> None:
        self.dictionary = dictionary
        self.forest = Forest(dictionary)
        self.automaton = Automaton(self.forest.spelling)
        self.search = Search(self.forest, self.automaton.longest_suffix, short)

    @cached_property
    def following(self) -> Following:
        """Which token may come next; for eager output only."""
        return Following(self.dictionary)

    @cached_property
    def size_of(self) -> dict[int, int]:
        """Bytes of each token by id, of all that `ids` may give."""
        whole = {id_: len(token) for token, id_ in self.dictionary.whole.items()}
        return dict(zip(self.forest.ids, self.forest.size, strict=True)) | whole

    @cached_property
    def begins_whole(self) -> frozenset[bytes]:
        """All that the tokens begin with which only whole pre-tokens become."""
        whole = self.dictionary.whole
        return frozenset(token[:stop] for token in whole for stop in range(len(token) + 1))

    def ids(self, last: Sequence[int], stop: int) -> list[int]:
        """Ids of the first `stop` bytes, a whole pre-token, given the last tokens of prefixes."""
        forest, whole = self.forest, self.dictionary.whole
        nodes = []
        while stop:
            nodes.append(last[stop - 1])
            stop -= forest.size[nodes[-1]]
        nodes.reverse()
        if whole and (id_ := whole.get(b"".join([forest.spelling[n] for n in nodes]))) is not None:
            return [id_]
        return [forest.ids[node] for node in nodes]

    def extend(self, last: list[int], state: int, data: bytes | bytearray) -> int:
        """Append the last token, a node, of each prefix that ends in `data` to those of the shorter
        prefixes, `last`; gives the state of the automaton after `state`."""
        automaton, forest, find = self.automaton, self.forest, self.search.last_token
        next_state, shorter, longest = automaton.next_state, automaton.shorter, automaton.longest
        right_size, low, high = forest.right_size, forest.low, forest.high
        for byte in data:
            following = next_state.get(state << 8 | byte)
            while following is None:
                state = shorter[state]
                following = next_state.get(state << 8 | byte)
            state = following
            node = longest[state]
            size = right_size[node]
            if size and not low[node] <= last[-size] < high[node]:
                node = find(node, last)
            last.append(node)
        return state


class IncrementalBPE:
    """The tokens of every prefix of the bytes given so far. Not to be shared between threads.

    >>> from tokpar.pure.incremental_dictionary import dictionary
    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"bc": 256, b"ab": 257}
    >>> bpe = IncrementalBPE(dictionary("", ids, [(98, 99, 0), (97, 98, 1)]))
    >>> bpe.append(b"abc")
    >>> [bpe.tokens(length) for length in range(4)]
    [[], [97], [257], [97, 256]]
    """

    def __init__(self, tables: Dictionary | Tables) -> None:
        self._tables = Tables(tables) if isinstance(tables, Dictionary) else tables
        self._last: list[int] = []
        self._state = START

    def __len__(self) -> int:
        return len(self._last)

    def append(self, data: bytes) -> None:
        """More bytes; O(log^2 t) each on average, for tokens of at most t bytes."""
        self._state = self._tables.extend(self._last, self._state, data)

    def last_token(self, length: int) -> int:
        """Id of the last token of the first `length` bytes; O(1)."""
        if not 1 <= length <= len(self._last):
            raise OptionError(f"length must be 1 to {len(self._last)}, got {length}")
        if self._tables.dictionary.whole:
            return self.tokens(length)[-1]
        return self._tables.forest.ids[self._last[length - 1]]

    def tokens(self, length: int | None = None) -> list[int]:
        """Ids of the first `length` bytes (default: all), as of a pre-token of its own."""
        stop = len(self._last) if length is None else length
        if not 0 <= stop <= len(self._last):
            raise OptionError(f"length must be 0 to {len(self._last)}, got {length}")
        return self._tables.ids(self._last, stop)


class IncrementalModel:
    """A model of the pipeline: whole pre-tokens, each from its first byte on.

    >>> from tokpar.pure.incremental_dictionary import dictionary
    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"bc": 256}
    >>> IncrementalModel(Tables(dictionary("", ids, [(98, 99, 0)]))).encode("abc")
    (97, 256)
    """

    def __init__(self, tables: Tables) -> None:
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        self._tables = tables

    def spans(self, piece: str) -> list[Span]:
        ids, size_of = self.encode(piece), self._tables.size_of
        edges = pairwise(accumulate((size_of[id_] for id_ in ids), initial=0))
        return cover_characters([(id_, *edge) for id_, edge in zip(ids, edges, strict=True)], piece)

    def _ids(self, piece: str) -> tuple[int, ...]:
        last: list[int] = []
        self._tables.extend(last, START, piece.encode("utf-8"))
        return tuple(self._tables.ids(last, len(last)))
