"""The text of ids, and where each token begins in it, as `decode_with_offsets` of tiktoken says."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import tiktoken

_OWN_METHODS = ("decode_with_offsets", "decode_tokens_bytes", "decode_single_token_bytes")
_INT = frozenset([int])
_MOST_TOKENS = 1 << 21
"""Tokens of which the bytes are kept."""


class TokenOffsets:
    """`decode_with_offsets` of an encoding, which keeps the bytes of the tokens that it has met."""

    def __init__(self, encoding: tiktoken.Encoding) -> None:
        self._encoding = encoding
        self._bytes: dict[int, bytes] = {}
        self._characters: dict[int, int] = {}
        """How many characters begin in each token."""
        self._continued: set[int] = set()
        """The tokens that begin within a character."""
        self._is_own = any(
            getattr(type(encoding), name) is not getattr(tiktoken.Encoding, name)
            for name in _OWN_METHODS
        )

    def decode(self, tokens: Sequence[int]) -> tuple[str, list[int]] | None:
        """Returns the text of a list of int, and the offset of each token in code points. None for
        other arguments, for tokens without bytes, and for a method that was replaced. Raises
        tiktoken's errors for what is no token, and for bytes that are no UTF-8."""
        if type(tokens) is not list or not {*map(type, tokens)} <= _INT or self._is_replaced():
            return None
        pieces = self._known_bytes(tokens)
        if pieces is None:
            if not all(self._bytes.get(id_) or self._learn(id_) for id_ in tokens):
                return None
            pieces = [*map(self._bytes.__getitem__, tokens)]
        starts = [*accumulate(map(self._characters.__getitem__, tokens[:-1]), initial=0)]
        if not self._continued.isdisjoint(tokens):
            is_continued = map(self._continued.__contains__, tokens)
            starts = [*map(int.__sub__, starts, is_continued)]
        text = b"".join(pieces).decode("utf-8", errors="strict")
        return text, starts if tokens else []

    def _known_bytes(self, tokens: Sequence[int]) -> list[bytes] | None:
        """Returns the bytes of tokens; None if one has not been met."""
        try:
            return [*map(self._bytes.__getitem__, tokens)]
        except KeyError:
            return None

    def _is_replaced(self) -> bool:
        return self._is_own or not vars(self._encoding).keys().isdisjoint(_OWN_METHODS)

    def _learn(self, id_: int) -> bool:
        """Keep what is to be known of a token. False for a token without bytes."""
        token: bytes = self._encoding.decode_single_token_bytes(id_)
        if not token or len(self._bytes) >= _MOST_TOKENS:
            return False
        if 0x80 <= token[0] < 0xC0:
            self._continued.add(id_)
        self._characters[id_] = sum(1 for byte in token if not 0x80 <= byte < 0xC0)
        self._bytes[id_] = token  # last: other threads look here
        return True
