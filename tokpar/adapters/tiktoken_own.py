"""A `tiktoken.Encoding` that encodes in its own way: of a derived class, or with a call replaced.

Nothing is known of its ids. Each text is encoded by one call of its own `encode`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tiktoken

from tokpar.kernels import IdArray
from tokpar.types import Facts

# What the ids of tiktoken's own `encode` come from, besides the methods named "encode...".
_SOURCES = frozenset(
    {
        "_core_bpe",
        "_mergeable_ranks",
        "_pat_str",
        "_special_tokens",
        "special_tokens_set",
        "__getattribute__",
    }
)


def own_encode(encoding: tiktoken.Encoding) -> str | None:
    """Why the ids may not be those of tiktoken's own code; None if they are."""
    for name in vars(encoding):
        if _encodes(name):
            return f"{name} of this encoding object was replaced"
    for cls in type(encoding).__mro__:
        if cls is tiktoken.Encoding:
            break
        for name in vars(cls):
            if _encodes(name) or name in _SOURCES:
                return f"the class {cls.__qualname__} has its own {name}"
    return None


def _encodes(name: str) -> bool:
    return name.lstrip("_").startswith("encode")


class OwnEncoding:
    """The adapter. `why`: what is its own about it; `settings`: those of its `encode` that are not
    left at their defaults, which it may not even take."""

    def __init__(self, encoding: tiktoken.Encoding, why: str, settings: dict[str, Any]) -> None:
        self._encoding = encoding
        self._why = why
        self._settings = settings

    @property
    def name(self) -> str:
        """ "tiktoken:" and the name of the encoding."""
        return f"tiktoken:{self._encoding.name}"

    @property
    def why(self) -> str:
        """What is its own about it."""
        return self._why

    @property
    def facts(self) -> Facts:
        """That nothing is known."""
        return Facts(engine="unknown", model="unknown", unprovable=self._why)

    def encode(self, text: str) -> IdArray:
        """Ids by the encoding's own `encode`. Raises what that raises."""
        return np.array(self._encoding.encode(text, **self._settings), dtype=np.uint32)

    def decode(self, ids: Sequence[int]) -> str:
        """`decode` of the encoding."""
        text: str = self._encoding.decode([int(id_) for id_ in ids])
        return text

    @property
    def encoding(self) -> tiktoken.Encoding:
        """The object that does the work."""
        return self._encoding
