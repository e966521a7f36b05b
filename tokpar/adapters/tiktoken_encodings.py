"""Adapters of `tiktoken.Encoding` objects with their own `encode`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tiktoken

from tokpar.adapters.decoding_parts import refuse_skipping
from tokpar.arrays import IdArray
from tokpar.contract.adapter import DecodingParts, ids_for_own_call
from tokpar.types import Facts

# The ids of tiktoken's own `encode` depend on these attributes, and on methods named "encode...".
_DATA = ("_core_bpe", "_mergeable_ranks", "_pat_str", "_special_tokens", "special_tokens_set")
_SOURCES = frozenset({*_DATA, "__getattribute__"})
_FEW_IDS = 1 << 16
"""Ids from which on a token is left to the encoding's own `decode` if eight times as many ids as
there are ranks lie below it."""
_DISALLOWED = "Encountered text corresponding to disallowed special token"
_ADVICE = (
    "tokpar takes these arguments when the tokenizer is loaded: pass "
    "`tokpar.load(encoding, disallowed_special=())` for the encoding.\n"
)
_DECODING = ("decode", "decode_bytes", "decode_single_token_bytes")


def own_encode(encoding: tiktoken.Encoding) -> str | None:
    """Returns why tiktoken's own code may not decide the ids of this encoding, or None."""
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


def twin_of(encoding: tiktoken.Encoding) -> tiktoken.Encoding:
    """Returns another object with the same attributes: one set on either is set on both."""
    made = object.__new__(type(encoding))
    made.__dict__ = vars(encoding)
    return made


def arguments_of(encoding: tiktoken.Encoding) -> dict[str, Any]:
    """Returns the arguments that make another `tiktoken.Encoding` with the same tokens and
    regex."""
    return {
        "name": encoding.name,
        "pat_str": encoding._pat_str,
        "mergeable_ranks": encoding._mergeable_ranks,
        "special_tokens": encoding._special_tokens,
    }


def add_advice(error: ValueError) -> None:
    """Add to tiktoken's words about a disallowed special token where tokpar takes what they
    advise."""
    if str(error).startswith(_DISALLOWED):
        error.args = (f"{error}{_ADVICE}",)


class EncodingAdapter:
    """The base of the adapters of encodings."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self.encoding = encoding
        self.name = f"tiktoken:{encoding.name}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    def token_bytes(self, id_: int) -> bytes | None:
        """The bytes of a token; None for an unknown id."""
        try:
            token: bytes = self.encoding.decode_single_token_bytes(id_)
        except KeyError:
            return None
        return token

    def decode(self, ids: Sequence[int]) -> str:
        """Returns the text of the encoding's `decode`. Raises KeyError for an id that is no
        token."""
        return str(self.encoding.decode(ids_for_own_call(ids)))

    def decoding_parts(self, skip_special_tokens: bool) -> DecodingParts:
        """The bytes of each token; those of an encoding with a `decode` of its own are not
        known."""
        refuse_skipping(self.name, skip_special_tokens)
        encoding = self.encoding
        is_own = any(
            getattr(getattr(encoding, name), "__func__", None)
            is not getattr(tiktoken.Encoding, name)
            for name in _DECODING
        )
        return DecodingParts(
            encoding.decode_single_token_bytes,
            lambda ids: str(encoding.decode(list(ids))),
            min(encoding.n_vocab, 8 * len(encoding._mergeable_ranks) + _FEW_IDS),
            in_bytes=not is_own,
            decoder={"type": "unknown"} if is_own else None,
        )


class OwnEncoding(EncodingAdapter):
    """The adapter of an encoding of a derived class, or with a replaced method. Its texts are never
    split.

    `why`: says which method is not tiktoken's. `settings`: the arguments of `encode` that differ
    from the defaults."""

    def __init__(self, encoding: tiktoken.Encoding, why: str, settings: dict[str, Any]) -> None:
        super().__init__(encoding)
        self.why = why
        self._settings = settings

    @property
    def facts(self) -> Facts:
        """The facts of an unknown tokenizer: nothing is proved about it."""
        return Facts(engine="unknown", model="unknown", unprovable=self.why)

    def encode(self, text: str) -> IdArray:
        """Returns the ids of the encoding's own `encode`. Raises its errors."""
        try:
            return np.array(self.encoding.encode(text, **self._settings), dtype=np.uint32)
        except ValueError as error:
            add_advice(error)
            raise
