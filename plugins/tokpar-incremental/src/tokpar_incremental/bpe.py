"""Incremental BPE: finds the tokenization of every prefix of a text, byte by byte.

The tokenization of a prefix is the tokenization of a shorter prefix plus one token. So it is enough
to store the last token of each prefix. This token is one of the tokens that the prefix ends with;
`tokpar_incremental.search` finds it. Source: "Incremental BPE Tokenization"
(arXiv 2605.30813). Proof: proofs/incremental-bpe.md."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from tokpar_pure.merging import Memo, Span, cover_characters

from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar_incremental.dictionary import Dictionary, Following
from tokpar_incremental.search import SHORT, START, Forest, Search, TokenAutomaton


class DictionaryTables:
    """The tables of one dictionary, for all texts. Safe to share between threads. Building them
    takes seconds for a large vocabulary. `short`: see `tokpar_incremental.search.SHORT`."""

    def __init__(self, dictionary: Dictionary, short: int = SHORT) -> None:
        self.dictionary = dictionary
        self.forest = Forest(dictionary)
        self.automaton = TokenAutomaton(self.forest.spelling)
        self.search = Search(self.forest, self.automaton.longest_suffix, short)

    @cached_property
    def following(self) -> Following:
        """Finds a token that may come next; only eager output needs it."""
        return Following(self.dictionary)

    @cached_property
    def size_of(self) -> dict[int, int]:
        """Id -> length in bytes, for every token that `ids` may return."""
        whole = {id_: len(token) for token, id_ in self.dictionary.whole.items()}
        return dict(zip(self.forest.ids, self.forest.size, strict=True)) | whole

    @cached_property
    def begins_whole(self) -> frozenset[bytes]:
        """All prefixes of the tokens in `Dictionary.whole`, the empty one and the tokens included.
        Only a whole pre-token becomes one of these tokens."""
        whole = self.dictionary.whole
        return frozenset(token[:stop] for token in whole for stop in range(len(token) + 1))

    def ids(self, last: Sequence[int], stop: int) -> list[int]:
        """Returns the ids of the first `stop` bytes, as of a whole pre-token. `last`: the last
        token, a node of the forest, of each prefix from one byte on."""
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
        """Appends to `last` one node for each byte of `data`: the last token of the prefix that
        ends with this byte. `last` already has the nodes of all shorter prefixes, and `state` is
        the state of the automaton after them. Returns the state after `data`."""
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
    """The tokens of every prefix of the bytes given so far. Not safe to share between threads.

    >>> from tokpar_incremental.dictionary import dictionary
    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"bc": 256, b"ab": 257}
    >>> bpe = IncrementalBPE(dictionary("", ids, [(98, 99, 0), (97, 98, 1)]))
    >>> bpe.append(b"abc")
    >>> [bpe.tokens(length) for length in range(4)]
    [[], [97], [257], [97, 256]]
    """

    def __init__(self, tables: Dictionary | DictionaryTables) -> None:
        self._tables = DictionaryTables(tables) if isinstance(tables, Dictionary) else tables
        self._last: list[int] = []
        self._state = START

    def __len__(self) -> int:
        return len(self._last)

    def append(self, data: bytes) -> None:
        """Appends bytes. Costs O(log^2 t) per byte on average, for tokens of at most t bytes."""
        self._state = self._tables.extend(self._last, self._state, data)

    def last_token(self, length: int) -> int:
        """Returns the id of the last token of the first `length` bytes. Costs O(1), except for
        vocabularies that keep some pre-tokens whole. Raises OptionError for a `length` out of
        range."""
        if not 1 <= length <= len(self._last):
            raise OptionError(f"length must be 1 to {len(self._last)}, got {length}")
        if self._tables.dictionary.whole:
            return self.tokens(length)[-1]
        return self._tables.forest.ids[self._last[length - 1]]

    def tokens(self, length: int | None = None) -> list[int]:
        """Returns the ids of the first `length` bytes (default: all), as if they were a whole
        pre-token. Raises OptionError for a `length` out of range."""
        stop = len(self._last) if length is None else length
        if not 0 <= stop <= len(self._last):
            raise OptionError(f"length must be 0 to {len(self._last)}, got {length}")
        return self._tables.ids(self._last, stop)


class IncrementalModel:
    """A model of the pipeline that encodes each pre-token by incremental BPE.

    >>> from tokpar_incremental.dictionary import dictionary
    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"bc": 256}
    >>> IncrementalModel(DictionaryTables(dictionary("", ids, [(98, 99, 0)]))).encode("abc")
    (97, 256)
    """

    def __init__(self, tables: DictionaryTables) -> None:
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
