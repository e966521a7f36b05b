"""The adapter of `tokpar.pure.tokentree`, asked for by ``engine="tokentree"``.

An approximation of the BPE that its vocabulary was made for, and an exact tokenizer by itself:
"lossless" means equal to its own serial call.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from tokpar.adapters import pure
from tokpar.adapters.pure_arrays import ids_of
from tokpar.kernels import IdArray, SpanArray
from tokpar.pure.formats import Vocabulary, vocabulary_of
from tokpar.pure.tokenizer import tokenizer_of
from tokpar.pure.tokentree import TokenTree
from tokpar.types import Facts

UNDIVIDED = (
    "its tokens are longest matches from the left of a pre-token on, and the theorems about places "
    "inside one (5', 11, 24) are about the merges of BPE"
)


def load(source: object, *, engine: str | None = None, **settings: Any) -> TreeTokenizer | None:
    """An adapter of a `Vocabulary`, or of a path that ends in ``.json`` (byte-level BPE) or
    ``.tiktoken``; None for anything else, or if another `engine` than "tokentree" is asked for.

    Settings and errors are those of `tokpar.adapters.pure.load`.
    """
    if engine not in (None, "tokentree"):
        return None
    exact = pure.load(source, **settings)
    if isinstance(exact, pure.PureTokenizer):
        return TreeTokenizer(exact.spec()[1]["vocabulary"])
    if exact is not None and isinstance(source, (str, os.PathLike)):
        config = exact.spec()[1]["config"]
        return TreeTokenizer(vocabulary_of(config, source))  # says what is not byte-level BPE
    return None


class TreeTokenizer:
    """The adapter; see `load`. All but the ids is as in `PureTokenizer`, its exact twin."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.vocabulary = vocabulary
        self._exact = pure.PureTokenizer(vocabulary)
        self._tokenizer = tokenizer_of(vocabulary, TokenTree(vocabulary.tokens))

    @property
    def name(self) -> str:
        """ "tokentree:" and the name of the vocabulary, with what it is."""
        return f"tokentree:{self.vocabulary.name} (approximates BPE)"

    @cached_property
    def facts(self) -> Facts:
        """What proofs may use. Cuts between pre-tokens are as safe as in the exact tokenizer:
        theorem 14 asks nothing of what happens to one pre-token."""
        return replace(self._exact.facts, model="TokenTree", undivided=UNDIVIDED, tokens=None)

    def check_text(self, text: str) -> None:
        """Raises OptionError if `text` cannot be written as UTF-8."""
        self._exact.check_text(text)

    def encode(self, text: str) -> IdArray:
        """Ids of `text`, added tokens included; uint32, (n,)."""
        return ids_of(self._tokenizer, text)

    def encode_whole(self, text: str) -> IdArray:
        """The same as `encode`: nothing is applied to the whole."""
        return self.encode(text)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans; LookupError if these ids do not make up `text`."""
        return self._exact.locate(ids, text)

    def decode(self, ids: Sequence[int]) -> str:
        """The text of `ids`; LookupError for an id that is no token."""
        return self._exact.decode(ids)

    def spec(self) -> tuple[type[TreeTokenizer], dict[str, Any]]:
        """How to build it again in another process."""
        return TreeTokenizer, {"vocabulary": self.vocabulary}
