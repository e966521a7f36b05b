"""Eager output of BPE: returns each token as soon as no continuation of the text can change it.

Let S be the bytes so far. A place j in S is *open* if, for some continuation, j is the last token
boundary within S. The end of S is always open. A place j before the end is open if and only if some
token t begins with S[j:], is longer than S[j:], and is the next token of S[:j] + t. This depends
only on t and on the last token of S[:j]. A place that is not open never becomes open again. The
final tokens are the common beginning of the tokenizations of S[:j] for all open places j. Proof:
"Finality" in proofs/incremental-bpe.md.

The places form a tree: the parent of a place is the place where the last token of its prefix
begins. The tree keeps only open places and their ancestors, and counts the children of each place.
All tokens up to `_output_end` have been returned. The next token is final if the place
`_output_end` has exactly one child and is not open itself.

"Incremental BPE Tokenization" (arXiv 2605.30813) treats every place as open if a token could begin
with the bytes after it. The exact test here costs more, but returns tokens earlier."""

from tokpar_incremental.bpe import DictionaryTables
from tokpar_incremental.dictionary import START_OF_TEXT, Dictionary
from tokpar_incremental.search import START

STRIDE = 16
"""How many bytes are read between two tests for final tokens. With more bytes known, fewer places
have to be tested."""


class EagerBPE:
    """BPE of one pre-token that arrives in pieces. Not safe to share between threads.

    Some vocabularies keep a pre-token whole although merging cannot make it
    (`Vocabulary.whole_piece`). No token is final while the bytes so far are the beginning of such a
    pre-token.

    >>> from tokpar_incremental.dictionary import dictionary
    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"aba": 257}
    >>> eager = EagerBPE(dictionary("", ids, [(97, 98, 0), (256, 97, 1)]))
    >>> eager.feed(b"ca"), eager.feed(b"b"), eager.feed(b"c"), eager.finish()
    ([99], [], [256, 99], [])
    """

    def __init__(self, tables: Dictionary | DictionaryTables) -> None:
        self.tables = DictionaryTables(tables) if isinstance(tables, Dictionary) else tables
        self._longest = max(self.tables.forest.size)
        self._reset()

    def _reset(self) -> None:
        self._length = self._output_end = 0
        self._state = START
        self._last: list[int] = []
        self._bytes = bytearray()
        self._whole: bytes | None = b"" if self.tables.dictionary.whole else None
        """All bytes so far, while they may still become one token that merging cannot make."""
        self._waiting: list[int] = []  # ids that are final unless `_whole` becomes such a token
        self._open: dict[int, bytes] = {}
        """Open place before the end -> a token that begins there and reaches beyond the end."""
        self._unknown: set[int] = set()  # places that may be open and are not tested yet
        self._node: dict[int, int] = {}
        """Place -> last token, a node of the forest, of the prefix that ends there. Only places
        that are kept: open or unknown ones and their ancestors."""
        self._branch: dict[int, int] = {}
        """Place -> its ancestor that is a child of `_output_end`."""
        self._child_counts = {0: 0}  # place -> how many children are kept
        self._child_sums = {0: 0}  # place -> the sum of its children; with one child, that child

    def feed(self, data: bytes) -> list[int]:
        """Appends `data` and returns the ids that became final."""
        found: list[int] = []
        for start in range(0, len(data), STRIDE):
            self._read(data[start : start + STRIDE])
            while self._next_is_final():
                found.append(self._put_out())
        if self._whole is None:
            return found
        self._whole += data
        self._waiting += found
        if self._whole in self.tables.begins_whole:
            return []
        self._whole, found, self._waiting = None, self._waiting, []
        return found

    def finish(self) -> list[int]:
        """Ends the pre-token: returns the ids that `feed` did not return, and resets the object."""
        forest, place, found = self.tables.forest, self._length, []
        while place > self._output_end:
            node = self._node[place]
            found.append(forest.ids[node])
            place -= forest.size[node]
        found = self._waiting + found[::-1]
        if self._whole is not None:
            whole = self.tables.dictionary.whole.get(self._whole)
            found = found if whole is None else [whole]
        self._reset()
        return found

    def _read(self, data: bytes) -> None:
        """Appends at most `STRIDE` bytes, and adds a place to the tree for each."""
        if len(self._last) > 3 * self._longest:
            del self._last[: -2 * self._longest], self._bytes[: -2 * self._longest]
        self._bytes += data
        known = len(self._last)
        self._state = self.tables.extend(self._last, self._state, data)
        size, branch = self.tables.forest.size, self._branch
        child_counts, child_sums = self._child_counts, self._child_sums
        for byte, node in zip(data, self._last[known:], strict=True):
            if self._open:
                self._keep_open(byte)
            self._unknown.add(self._length)
            place = self._length = self._length + 1
            self._node[place] = node
            up = place - size[node]
            child_counts[up] += 1
            child_sums[up] += place
            child_counts[place] = child_sums[place] = 0
            branch[place] = place if up == self._output_end else branch[up]

    def _keep_open(self, byte: int) -> None:
        """Updates the open places for the next byte. If the token known for a place does not
        continue with `byte`, the place is unknown again: another token may."""
        for place, token in list(self._open.items()):
            size = self._length - place
            if len(token) <= size + 1 or token[size] != byte:
                del self._open[place]
                self._unknown.add(place)

    def _next_is_final(self) -> bool:
        """True if every open place lies at or behind the end of the next token. Tests as few places
        as possible."""
        out = self._output_end
        if out == self._length or out in self._open or self._is_open(out):
            return False
        if self._child_counts[out] == 1:
            return True
        branch, main = self._branch, self._branch[self._length]
        if any(branch[place] != main for place in self._open):
            return False
        others = [place for place in self._unknown if branch[place] != main]
        return not any(map(self._is_open, others))

    def _is_open(self, place: int) -> bool:
        """Tests an unknown place: True if it is open. If it is not, the tree drops the place and
        the ancestors that lead only to it. False for a place that is not unknown."""
        if place not in self._unknown:
            return False
        self._unknown.remove(place)
        size = self._length - place
        if size < self._longest:
            forest = self.tables.forest
            left = forest.token[self._node[place]] if place else START_OF_TEXT
            token = self.tables.following.token(left, bytes(self._bytes[-size:]))
            if token:
                self._open[place] = token
                return True
        self._prune(place)
        return False

    def _prune(self, place: int) -> None:
        """Removes a place from the tree if it has no children and is neither open nor unknown; then
        its parent in the same way, up to `_output_end`."""
        while place != self._output_end and not self._child_counts[place]:
            if place in self._open or place in self._unknown:
                return
            up = place - self.tables.forest.size[self._node[place]]
            self._forget(place)
            self._child_counts[up] -= 1
            self._child_sums[up] -= place
            place = up

    def _put_out(self) -> int:
        place = self._child_sums[self._output_end]
        self._forget(self._output_end)
        self._output_end = place
        size, branch = self.tables.forest.size, self._branch
        for inner, node in self._node.items():  # ascending: places were added in this order
            if inner != place:
                up = inner - size[node]
                branch[inner] = inner if up == place else branch[up]
        return self.tables.forest.ids[self._node[place]]

    def _forget(self, place: int) -> None:
        self._node.pop(place, None)
        self._branch.pop(place, None)
        del self._child_counts[place], self._child_sums[place]
