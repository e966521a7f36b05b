"""Byte-level BPE as one plain value, whatever kind of file it was read from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

from tokpar.errors import OptionError
from tokpar.types import AddedToken

Ranks = dict[bytes, int]
Merges = dict[tuple[int, int], tuple[int, int]]

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""What HF's ByteLevel pre-tokenizer splits by."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """All that byte-level BPE needs to know.

    `tokens`: id of each token that merging can make, by its bytes; all 256 single bytes are there.
    `semantics`: "pairs" if `merges` decides, "ranks" if the least id of the merged bytes does.
    `merges`: (left id, right id) -> (priority, merged id); empty for "ranks".
    `patterns`: each splits every piece of the one before. `keep_gaps`: text that a pattern does not
    match is a piece of its own (HF "Isolated"), else it is dropped (tiktoken).
    `whole_piece`: a pre-token that is a token is never taken apart, even if merging cannot make it.
    `added`: matched in the text before everything else."""

    name: str
    tokens: Ranks
    semantics: Literal["pairs", "ranks"]
    patterns: tuple[str, ...]
    merges: Merges
    keep_gaps: bool
    whole_piece: bool
    added: tuple[AddedToken, ...] = ()


def rank_vocabulary(
    name: str, ranks: Ranks, pattern: str, special_tokens: Mapping[str, int]
) -> Vocabulary:
    """The vocabulary of a tiktoken encoding; all of `special_tokens` are matched in the text.
    OptionError if it is not certain which of them tiktoken would match."""
    require_free_ids(ranks, special_tokens)
    require_none_begins_another(special_tokens)
    added = tuple(AddedToken(content, id_) for content, id_ in special_tokens.items())
    return Vocabulary(name, ranks, "ranks", (pattern,), {}, False, True, added)


def require_free_ids(ranks: Ranks, special_tokens: Mapping[str, int]) -> None:
    """OptionError if a special token has the id of another token."""
    taken = {rank: token for token, rank in ranks.items()}
    for content, id_ in special_tokens.items():
        if id_ in taken:
            raise OptionError(
                f"special token {content!r} has id {id_}, which is the rank of {taken[id_]!r}"
            )


def require_none_begins_another(special_tokens: Iterable[str]) -> None:
    """OptionError if one begins with another: tiktoken takes the first of its hash map."""
    for short, long in pairwise(sorted(special_tokens)):  # a prefix comes right before such a token
        if long.startswith(short):
            raise OptionError(
                f"special token {long!r} begins with {short!r}: which of the two tiktoken takes "
                "is chance; leave one of them out, or rename it"
            )


def byte_alphabet() -> dict[str, int]:
    """The printable character that HF's ByteLevel shows each byte as: {"!": 0x21, ...,
    "Ġ": 0x20}, in the order of HF's own table."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = sorted(set(range(256)) - set(shown))
    alphabet = {chr(byte): byte for byte in shown}
    return alphabet | {chr(256 + i): byte for i, byte in enumerate(hidden)}


def byte_level_stage(use_regex: bool) -> dict[str, Any]:
    """The pre-tokenizer ByteLevel of a ``tokenizer.json``."""
    settings = {"add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **settings}


def added_entry(token: AddedToken) -> dict[str, Any]:
    """An added token as a ``tokenizer.json`` lists it."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    given = {flag: getattr(token, flag) for flag in flags}
    return {"id": token.id, "content": token.content, **given}


def letters_of(data: bytes) -> str:
    """Bytes as HF's ByteLevel shows them: b" a" -> "Ġa"."""
    return data.decode("latin-1").translate(_LETTERS)


_LETTERS = {byte: letter for letter, byte in byte_alphabet().items()}
