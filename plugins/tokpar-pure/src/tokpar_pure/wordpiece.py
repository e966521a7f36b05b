"""WordPiece, the greedy longest match of BERT, and WordLevel, a table of whole words.

Tokens that continue a word have a prefix, "##". The match never goes back: with the tokens "ab",
"a" and "##bc" it takes "ab" of "abc", and then fails. If it fails, or the word is too long, the
whole word becomes the unknown token."""

from collections.abc import Mapping

from tokpar import EngineError
from tokpar_pure.merging import Memo, Span


class WordPiece:
    """WordPiece with the ids of HF's `models.WordPiece`.

    >>> WordPiece({"[UNK]": 0, "play": 1, "##ing": 2}).encode("playing")
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
        self._first = vocab
        self._later = {t[len(prefix) :]: id_ for t, id_ in vocab.items() if t.startswith(prefix)}
        self._longest = max(map(len, vocab), default=0)
        self._unk_token = unk_token
        self._limit = max_input_chars_per_word

    def spans(self, piece: str) -> list[Span]:
        if not piece:
            return []
        found = self._match(piece) if len(piece) <= self._limit else None
        return found or [(unknown_id(self._first, self._unk_token), 0, len(piece))]

    def _ids(self, piece: str) -> tuple[int, ...]:
        return tuple([span[0] for span in self.spans(piece)])

    def _match(self, word: str) -> list[Span] | None:
        """Returns the tokens of the greedy longest match, or None if it fails."""
        tokens: list[Span] = []
        known, start = self._first, 0
        while start < len(word):
            for stop in range(min(len(word), start + self._longest), start, -1):
                id_ = known.get(word[start:stop])
                if id_ is not None:
                    tokens.append((id_, start, stop))
                    break
            else:
                return None
            known, start = self._later, stop
        return tokens


class WordLevel:
    """One id per word: the word's own id, or the id of the unknown token.

    >>> WordLevel({"[UNK]": 0, "yes": 1}, "[UNK]").encode("no")
    (0,)
    """

    def __init__(self, vocab: Mapping[str, int], unk_token: str) -> None:
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        self._vocab = vocab
        self._unk_token = unk_token

    def spans(self, piece: str) -> list[Span]:
        return [(id_, 0, len(piece)) for id_ in self._ids(piece)]

    def _ids(self, piece: str) -> tuple[int, ...]:
        if piece and piece not in self._vocab:
            return (unknown_id(self._vocab, self._unk_token),)
        return (self._vocab[piece],) if piece else ()


def unknown_id(vocab: Mapping[str, int], token: str) -> int:
    """Returns the id of the unknown token. Raises EngineError if it is not in the vocabulary; HF
    raises there, too."""
    if token not in vocab:
        raise EngineError(f"the unknown token {token!r} is needed but not in the vocabulary")
    return vocab[token]
