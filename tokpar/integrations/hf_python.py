"""`as_hf` of tokenizers in Python that keep a `tiktoken.Encoding`, as remote code does."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import tiktoken
from transformers import PreTrainedTokenizerBase, PreTrainedTokenizerFast

from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property

try:
    from transformers.tokenization_python import Trie
except ImportError:  # below 5.0
    from transformers.tokenization_utils import Trie


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
    if encodings:
        _refuse_untrusted(tokenizer)
        if type(attributes.get("tokens_trie")) is Trie:
            attributes["tokens_trie"] = AddedTokenSearch(attributes["tokens_trie"])
    return bool(encodings)


def _refuse_untrusted(tokenizer: Any) -> Any:
    """`tokenizer`, which from now on raises OptionError for `untrusted` instead of ignoring it."""
    own: Any = type(tokenizer)
    if not issubclass(own, _Refuses):
        tokenizer.__class__ = _refusing_class(own)
    return tokenizer


class _Refuses:
    """Marks the classes of `_refusing_class`."""


@cache
def _refusing_class(base: Any) -> type:
    """The subclass of `base`, with its name, that cannot encode untrusted text and says so."""

    class RefusingTokenizer(base, _Refuses):  # type: ignore[misc]  # known at run time
        __doc__ = base.__doc__

        def __call__(self, *args: Any, untrusted: object = None, **kwargs: Any) -> Any:
            _require_trusted(self, untrusted)
            return super().__call__(*args, **kwargs)

        def encode(self, *args: Any, untrusted: object = None, **kwargs: Any) -> Any:
            _require_trusted(self, untrusted)
            return super().encode(*args, **kwargs)

        def apply_chat_template(self, *args: Any, untrusted: object = None, **kwargs: Any) -> Any:
            _require_trusted(self, untrusted or None)
            return super().apply_chat_template(*args, **kwargs)

        def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
            plain: Any = object.__new__(base)
            plain.__dict__ = self.__dict__
            return _refuse_untrusted, (copy.copy(plain),)

    for name in ("__name__", "__qualname__", "__module__"):  # which transformers saves
        setattr(RefusingTokenizer, name, getattr(base, name))
    return RefusingTokenizer


def _require_trusted(tokenizer: object, untrusted: object) -> None:
    if untrusted is not None:
        kept = [k for k, each in vars(tokenizer).items() if isinstance(each, tiktoken.Encoding)]
        raise OptionError(
            f"untrusted cannot be used with {type(tokenizer).__name__}, a tokenizer in Python; "
            f"encode with the tiktoken encoding that it keeps: tokenizer.{kept[0]}.encode(text, "
            "untrusted=...)"
        )


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
