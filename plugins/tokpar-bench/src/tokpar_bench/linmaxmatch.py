"""LinMaxMatch: longest match in one pass over the word, with failure links.

Song, Salcianu, Song, Dopson, Zhou: "Fast WordPiece Tokenization", EMNLP 2021. A node of the trie
stands for the characters read since the last token. Where the trie has no edge for the next
character, the failure link of the node gives the tokens of the characters read, and the node of the
characters that these tokens leave."""

from collections.abc import Mapping

from tokpar_pure.merging import Memo
from tokpar_pure.wordpiece import unknown_id

_BEGIN, _INSIDE = 0, 1


class LinearMatcher:
    """Greedy longest match in a number of steps linear in the word's length.

    `first`: ids of the tokens that may begin a word. `later`: ids of the tokens that may follow,
    written without their prefix.

    >>> LinearMatcher({"play": 1}, {"ing": 2, "i": 3}).match("playing")
    [1, 2]
    """

    def __init__(self, first: Mapping[str, int], later: Mapping[str, int]) -> None:
        self._edges: list[dict[str, int]] = [{}, {}]
        self._token = [-1, -1]
        for root, tokens in ((_BEGIN, first), (_INSIDE, later)):
            for token, id_ in tokens.items():
                if token:
                    self._token[self._grow(root, token)] = id_
        self._rest = [-1] * len(self._edges)
        self._pops: list[tuple[int, ...]] = [()] * len(self._edges)
        self._link()

    def match(self, word: str) -> list[int] | None:
        """The ids of the tokens of a word; None if greedy matching fails."""
        edges, rest, made = self._edges, self._rest, self._pops
        ids: list[int] = []
        node = _BEGIN
        for character in word:
            after = edges[node].get(character)
            while after is None:
                ids += made[node]
                node = rest[node]
                if node < 0:
                    return None
                after = edges[node].get(character)
            node = after
        while node > _INSIDE:
            ids += made[node]
            node = rest[node]
        return ids if node == _INSIDE or not word else None

    def _grow(self, node: int, token: str) -> int:
        for character in token:
            after = self._edges[node].get(character)
            if after is None:
                after = self._edges[node][character] = len(self._edges)
                self._edges.append({})
                self._token.append(-1)
            node = after
        return node

    def _link(self) -> None:
        """Compute the failure links. `_pops[node]`: the tokens of the characters read.
        `_rest[node]`: the node of the characters that these tokens leave, or -1 if greedy matching
        fails there.

        Nodes nearer to the root come first, because a rest is shorter than the whole."""
        order = [_BEGIN, _INSIDE]
        for node in order:
            for character, after in self._edges[node].items():
                order.append(after)
                if self._token[after] >= 0:
                    self._pops[after], self._rest[after] = (self._token[after],), _INSIDE
                    continue
                made, rest = self._pops[node], self._rest[node]
                while rest >= 0 and character not in self._edges[rest]:
                    made, rest = made + self._pops[rest], self._rest[rest]
                if rest >= 0:
                    self._pops[after], self._rest[after] = made, self._edges[rest][character]


class LinearWordPiece:
    """`tokpar_pure.wordpiece.WordPiece` with LinMaxMatch for words that are not one token.

    >>> LinearWordPiece({"[UNK]": 0, "play": 1, "##ing": 2}).encode("playing")
    (1, 2)
    """

    def __init__(
        self,
        vocab: Mapping[str, int],
        unk_token: str = "[UNK]",
        max_input_chars_per_word: int = 100,
        continuing_subword_prefix: str = "##",
    ) -> None:
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        prefix = continuing_subword_prefix
        later = {t[len(prefix) :]: id_ for t, id_ in vocab.items() if t.startswith(prefix)}
        self._matcher = LinearMatcher(vocab, later)
        self._vocab = vocab
        self._unk_token = unk_token
        self._limit = max_input_chars_per_word

    def _ids(self, piece: str) -> tuple[int, ...]:
        if not piece:
            return ()
        short = len(piece) <= self._limit
        if short and piece in self._vocab:
            return (self._vocab[piece],)
        found = self._matcher.match(piece) if short else None
        return (unknown_id(self._vocab, self._unk_token),) if found is None else tuple(found)
