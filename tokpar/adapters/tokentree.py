"""The adapter of `tokpar.pure.tokentree`, asked for by ``engine="tokentree"``. It approximates BPE;
"lossless" means equal to its own serial call."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

from tokpar.adapters.pure import PureTokenizer, load_vocabulary
from tokpar.pure.tokentree import TokenTree
from tokpar.pure.vocabulary import Vocabulary
from tokpar.types import Facts

UNDIVIDED = (
    "its tokens are longest matches from the left of a pre-token on, and the theorems about places "
    "inside one (5', 11, 24) are about the merges of BPE"
)


def load(source: object, *, engine: str | None = None, **settings: Any) -> TreeTokenizer | None:
    """An adapter of what `adapters.pure.load_vocabulary` takes, with its settings and errors; None
    for anything else, or if another `engine` than "tokentree" is asked for."""
    if engine not in (None, "tokentree"):
        return None
    vocabulary = load_vocabulary(source, settings)
    return None if vocabulary is None else TreeTokenizer(vocabulary)


class TreeTokenizer(PureTokenizer):
    """The adapter; see `load`. All but the ids is as in its exact twin."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__(vocabulary, "tokentree", TokenTree(vocabulary.tokens))
        self.name += " (approximates BPE)"

    @cached_property
    def facts(self) -> Facts:
        """Cuts between pre-tokens are as safe as in the exact tokenizer: theorem 14 asks nothing of
        what happens to one pre-token."""
        return replace(super().facts, model="TokenTree", undivided=UNDIVIDED, tokens=None)
