"""`as_hf` of tokenizers in Python that keep a `tiktoken.Encoding`, as remote code does."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import tiktoken
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast
from transformers.tokenization_python import Trie


def accelerate_python(
    tokenizer: Any, accelerate: Callable[[tiktoken.Encoding], tiktoken.Encoding]
) -> bool:
    """Replace each encoding that is an attribute of a tokenizer in Python by `accelerate` of it.
    False for a fast tokenizer, and for one without such an attribute. Raises what `accelerate`
    raises; then no attribute was replaced."""
    is_fast = isinstance(tokenizer, PreTrainedTokenizerFast)
    if is_fast or not isinstance(tokenizer, PreTrainedTokenizerBase):
        return False
    attributes = vars(tokenizer)
    encodings = {k: each for k, each in attributes.items() if isinstance(each, tiktoken.Encoding)}
    attributes.update({name: accelerate(each) for name, each in encodings.items()})
    if encodings and type(attributes.get("tokens_trie")) is Trie:
        attributes["tokens_trie"] = AddedTokenSearch(attributes["tokens_trie"])
    return bool(encodings)


class AddedTokenSearch(Trie):  # type: ignore[misc]  # transformers may be missing
    """The search for added tokens of transformers, by a regex where both find the same.

    They do where no token has the first character of a token at a later place: no two occurrences
    then overlap, unless they start at the same place, where both take the longest."""

    def __init__(self, own: Trie) -> None:
        self.__dict__.update(vars(own))

    def add(self, word: str) -> None:
        """As `Trie.add`."""
        super().add(word)
        self.__dict__.pop("_regex", None)

    @cached_property
    def _regex(self) -> re.Pattern[str] | None:
        tokens = sorted(self._tokens, key=len, reverse=True)
        is_plain = self.data.keys().isdisjoint("".join(token[1:] for token in tokens))
        return re.compile(f"({'|'.join(map(re.escape, tokens))})") if tokens and is_plain else None

    def split(self, text: str) -> list[str]:
        """As `Trie.split`: the added tokens, and the text before, between and behind them."""
        pattern = self._regex
        if pattern is None:
            return list(super().split(text))
        return [part for part in pattern.split(text) if part]
