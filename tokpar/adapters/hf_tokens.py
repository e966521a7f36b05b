"""The token that `decode` of a tokenizer below 1.0 reads for each id, asked of the engine.

The list of added tokens does not tell it. The engine may decode an added token to its normalized
content, and it leaves out a token that was special once, even if it was added again as not
special."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import islice, product
from typing import Any

from tokpar.adapters.settings import is_panic
from tokpar.errors import OptionError

_NEIGHBOURS = 8
"""How many other tokens are tried before and after a token of which the decoder leaves nothing."""


class DecodedTokens:
    """The tokens of one tokenizer. `skips`: `skip_special_tokens` of its `decode`."""

    def __init__(self, own: Any, skips: bool) -> None:
        self._own, self._skips = own, skips
        self._decoder = own.decoder
        self._is_left_out: dict[str, bool] = {}

    def token_of(self, id_: int) -> str | None:
        """Returns the token of an id, or None if `decode` leaves the id out.

        Raises OptionError if `decode` does something else with an added token."""
        token: str | None = self._own.id_to_token(id_)
        if token is None or token not in self._added_texts:
            return token
        if token not in self._is_left_out:
            self._is_left_out[token] = self._find_left_out(id_, token)
        return None if self._is_left_out[token] else token

    @property
    def text_of_added(self) -> str | None:
        """The text of all added tokens; None if the engine fails. It shows that the caller added a
        token again."""
        return self._decode(self._added_ids)

    @cached_property
    def _added_ids(self) -> list[int]:
        return sorted(self._own.get_added_tokens_decoder())

    @cached_property
    def _added_texts(self) -> frozenset[str]:
        """The added tokens as `decode` reads them. No other token can be left out."""
        tokens = map(self._own.id_to_token, self._added_ids)
        return frozenset(token for token in tokens if token is not None)

    def _find_left_out(self, id_: int, token: str) -> bool:
        """True if `decode` leaves the added token out.

        Compares what the engine does with what the decoder does with and without this token (a
        text, or a panic), between the first neighbours for which the decoder tells them apart."""
        for before, after in self._neighbours():
            rest = [self._own.id_to_token(k) for k in (*before, *after)]
            text_without = self._decode_tokens(rest)
            text_with = self._decode_tokens([*rest[: len(before)], token, *rest[len(before) :]])
            if text_without == text_with:
                continue
            text = self._decode([*before, id_, *after])
            if text in (text_without, text_with):
                return text == text_without
            raise OptionError(
                f"decode_stream cannot be used: for id {id_} the tokenizer decodes {text!r}, and "
                f"its decoder makes {text_with!r} of the token {token!r}; decode all ids at the "
                "end instead"
            )
        return False  # the decoder makes the same text with and without the token

    def _neighbours(self) -> Iterator[tuple[list[int], list[int]]]:
        """Yields ids of tokens to put before and after a token: none first."""
        size = self._own.get_vocab_size(with_added_tokens=True)
        tokens = ((k, self._own.id_to_token(k)) for k in range(size))
        ids = (k for k, token in tokens if token is not None and token not in self._added_texts)
        sides = [[], *([k] for k in islice(ids, _NEIGHBOURS))]
        yield from product(sides, sides)

    def _decode(self, ids: Sequence[int]) -> str | None:
        """Returns the engine's text of ids, or None if the engine panics."""
        try:
            return str(self._own.decode(list(ids), skip_special_tokens=self._skips))
        except BaseException as error:
            if not is_panic(error):
                raise
            return None

    def _decode_tokens(self, tokens: list[str]) -> str | None:
        """Returns the decoder's text of tokens, or None if the decoder panics."""
        if self._decoder is None:
            return " ".join(tokens)
        try:
            return str(self._decoder.decode(tokens))
        except BaseException as error:
            if not is_panic(error):
                raise
            return None
