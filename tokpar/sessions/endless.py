"""Append to a text that is one long pre-token of byte-level BPE, and encode only its end.

Theorem 37: let i < j be edges of tokens of w. If j is also an edge of a token of w[i:] + X, then
the ids of w + X are the ids of w before i, followed by the ids of w[i:] + X."""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate

import numpy as np

from tokpar.arrays import IdArray, concatenate_ids
from tokpar.cuts.normalizer_invariant import inert_for
from tokpar.cuts.pretokens import scanner_for
from tokpar.cuts.within_pretoken import pretoken_planner
from tokpar.interfaces import TokenizerAdapter, facts_of, token_bytes_of

_FIRST_TOKENS = 8
"""How many tokens at the end of the old text are encoded again at first."""


def grown_ids(
    tokenizer: TokenizerAdapter, text: str, ids: IdArray, more: str
) -> tuple[IdArray, int] | None:
    """The ids of ``text + more``, and how many code points were encoded; None without a proof.

    `ids` are the ids of `text`. The proof needs a text that is one pre-token both with and without
    `more`, has no added token, and is not changed by a normalizer."""
    token_bytes = token_bytes_of(tokenizer)
    if not more or token_bytes is None or not _is_one_pretoken(tokenizer, text, more):
        return None
    count, scanner = _FIRST_TOKENS, scanner_for(facts_of(tokenizer))
    while count < len(ids):
        tail = _text_of_last(token_bytes, text, ids[len(ids) - count :])
        if tail is None:  # the tokens begin inside a character
            count += 1
            continue
        part = tail + more
        if not scanner.is_one(part):
            return None
        found = np.asarray(tokenizer.encode(part), dtype=np.uint32)
        old = _edges(token_bytes, ids[len(ids) - count :])
        # an engine that looks up whole pre-tokens would find one token here, without an inner edge
        if not old.isdisjoint(_edges(token_bytes, found)):
            return concatenate_ids([ids[: len(ids) - count], found]), len(part)
        count *= 2
    return None


def _is_one_pretoken(tokenizer: TokenizerAdapter, text: str, more: str) -> bool:
    """True if `text` and `text + more` are each one pre-token whose ids depend on the merges alone
    (gate 0'.7)."""
    facts, whole = facts_of(tokenizer), text + more
    if pretoken_planner(tokenizer).refusal is not None:
        return False
    scanner = scanner_for(facts)
    if scanner.refusal is not None or len(text) <= facts.longest_token:
        return False
    if not inert_for(facts).clear(whole, 0, len(whole)):
        return False
    return scanner.is_one(whole) and scanner.is_one(text)


def _edges(token_bytes: Callable[[int], bytes | None], ids: IdArray) -> set[int]:
    """The ends of the tokens, in UTF-8 bytes from the start of the first token."""
    return set(accumulate(len(token_bytes(id_) or b"") for id_ in ids.tolist()))


def _text_of_last(
    token_bytes: Callable[[int], bytes | None], text: str, ids: IdArray
) -> str | None:
    """The end of `text` that the tokens of `ids`, its last ids, spell.

    None if that end begins inside a character, or if the bytes of the tokens are not the bytes of
    the text."""
    tokens = b"".join(token_bytes(id_) or b"" for id_ in ids.tolist())
    end = text[max(0, len(text) - len(tokens)) :].encode()
    if not end.endswith(tokens) or (tokens[0] & 0xC0) == 0x80:
        return None
    return tokens.decode()
