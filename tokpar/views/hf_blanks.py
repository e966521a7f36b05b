"""The spaces that tokens begin and end with, which a post-processor takes out of the offsets.

The engine counts them in a token's own text. That is the vocabulary's but for an added token that
takes white space beside it: its text is what it was found as, " <mask>".
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.kernels import SPACES, IdArray, IntArray, SpanArray

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# SPACES are also what Rust's char::is_whitespace holds for a space.
_BLANKS = SPACES + "\u0120"  # the byte-level character of " ", too


class Blanks:
    """Of one tokenizer, as it was when this was made."""

    def __init__(self, own: Tokenizer) -> None:
        self._own = own
        self._added = own.get_added_tokens_decoder()
        self._stripping = {i for i, token in self._added.items() if token.lstrip or token.rstrip}
        self._unsure = _unsure(own)

    def count(self, ids: IdArray, spans: SpanArray, text: str) -> tuple[IntArray, IntArray]:
        """How many spaces each token begins and ends with; `spans` in code points of `text`.
        LookupError where what the engine took for the text of a token cannot be told."""
        unique, where = np.unique(ids, return_inverse=True)
        known = [_blanks(self._known(int(id_))) for id_ in unique]
        counts = np.array(known, dtype=np.int64).reshape(-1, 2)[where]
        for k in np.flatnonzero(np.isin(ids, list(self._stripping))).tolist():
            start, stop = spans[k].tolist()
            counts[k] = _blanks(self._found(int(ids[k]), text[start:stop]))
        return counts[:, 0], counts[:, 1]

    def _known(self, id_: int) -> str:
        """The text of a token that is the same wherever it stands."""
        if id_ in self._unsure:
            raise LookupError(f"no offsets: the engine alone knows which text id {id_} stands for")
        token = self._added.get(id_)
        if token is None or id_ in self._stripping:
            return self._own.id_to_token(id_) or ""
        return self._searched(token, token.content)

    def _found(self, id_: int, part: str) -> str:
        """The text of an added token with the white space that it took."""
        token = self._added[id_]
        found = self._searched(token, part)
        form = self._searched(token, token.content)
        if token.normalized and found.strip(SPACES) != form.strip(SPACES):
            raise LookupError(
                f"no offsets: the white space beside {token.content!r} is not told apart from what "
                "the normalizer makes of it"
            )
        return found

    def _searched(self, token: Any, text: str) -> str:
        """A text as the token is looked for in it."""
        if not token.normalized or self._own.normalizer is None:
            return text
        return str(self._own.normalizer.normalize_str(text))


def _unsure(own: Tokenizer) -> frozenset[int]:
    """Ids under which a model gives the text itself: unknown pieces of a Unigram, and words that
    share an id."""
    kind = type(own.model).__name__
    if kind == "BPE":
        return frozenset()
    if kind == "Unigram":
        unknown = json.loads(own.model.__getstate__())["unk_id"]
        return frozenset() if unknown is None else frozenset([unknown])
    ids = list(own.get_vocab(with_added_tokens=False).values())  # a saved model has each id once
    return frozenset() if len(set(ids)) == len(ids) else frozenset(ids)


def _blanks(token: str) -> tuple[int, int]:
    return len(token) - len(token.lstrip(_BLANKS)), len(token) - len(token.rstrip(_BLANKS))
