"""Eager output: tokens as soon as no continuation can change them, and no later.

What is final is what the tokenizations of all *open* prefixes S[:j] of the bytes so far, S, begin
with: those up to the last boundary within S for some continuation (proofs/incremental-bpe.md). S is
open. A shorter one is if a token t begins with S[j:], is longer, and is the next token of
S[:j] + t; that depends on t and the last token of S[:j] alone. A closed one never is open again.

The tokenizations of the prefixes are a tree, each place below the one where its last token begins.
Places that lead to open ones are kept, each with how many of them are just below it; from the place
up to which tokens are out, the next token is final when just one is left and the place itself is
not open. "Incremental BPE Tokenization" (arXiv 2605.30813) takes every place of the last bytes that
a token could begin with for open; to ask for the token costs more and waits less."""

from tokpar.pure.incremental_bpe import Tables
from tokpar.pure.incremental_dictionary import START_OF_TEXT, Dictionary
from tokpar.pure.incremental_search import START

STRIDE = 16
"""Bytes that are read before it is asked what is final; then fewer places are left to ask for."""


class EagerBPE:
    """Greedy merging of one pre-token that comes in pieces. Not to be shared between threads.

    Where the vocabulary keeps whole pre-tokens that merging cannot make, nothing is final as long
    as the bytes begin one of them.

    >>> from tokpar.pure.incremental_dictionary import dictionary
    >>> ids = {bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"aba": 257}
    >>> eager = EagerBPE(dictionary("", ids, [(97, 98, 0), (256, 97, 1)]))
    >>> eager.feed(b"ca"), eager.feed(b"b"), eager.feed(b"c"), eager.finish()
    ([99], [], [256, 99], [])
    """

    def __init__(self, tables: Dictionary | Tables) -> None:
        self.tables = Tables(tables) if isinstance(tables, Dictionary) else tables
        self._longest = max(self.tables.forest.size)
        self._reset()

    def _reset(self) -> None:
        self._length = self._output_end = 0
        self._state = START
        self._last: list[int] = []
        self._bytes = bytearray()
        self._whole: bytes | None = b"" if self.tables.dictionary.whole else None
        """All bytes so far, while they may become one token that merging cannot make."""
        self._waiting: list[int] = []  # ids that would be final if they did not
        self._open: dict[int, bytes] = {}
        """Open places before the last -> a token that goes on from there, beyond the last."""
        self._unknown: set[int] = set()  # places that may be open
        self._node: dict[int, int] = {}
        """Place -> last token of the prefix up to it; of places that lead to those above."""
        self._branch: dict[int, int] = {}
        """Place -> the place just below `_output_end` that leads to it."""
        self._child_counts = {0: 0}  # place -> how many places just below it are kept
        self._child_sums = {0: 0}  # place -> their sum; the place itself if it is one

    def feed(self, data: bytes) -> list[int]:
        """Ids that became final with these bytes."""
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
        """Ids of all that is left; after it the object is as new."""
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
        """A few more bytes."""
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
        """Where the known token does not go on with this byte, another may."""
        for place, token in list(self._open.items()):
            size = self._length - place
            if len(token) <= size + 1 or token[size] != byte:
                del self._open[place]
                self._unknown.add(place)

    def _next_is_final(self) -> bool:
        """All open places lie beyond the next token. Asks for no more places than it has to."""
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
        """If it is unknown, find out; forget what leads to it alone if it is not."""
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
        """Forget a place and those that lead to it alone."""
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
        for inner, node in self._node.items():  # in ascending order, for so they came
            if inner != place:
                up = inner - size[node]
                branch[inner] = inner if up == place else branch[up]
        return self.tables.forest.ids[self._node[place]]

    def _forget(self, place: int) -> None:
        self._node.pop(place, None)
        self._branch.pop(place, None)
        del self._child_counts[place], self._child_sums[place]
