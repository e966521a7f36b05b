"""The vocabulary of byte-level BPE as one plain value, for every file format."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from tokpar.errors import OptionError
from tokpar.types import AddedToken

Ranks = dict[bytes, int]
Merges = dict[tuple[int, int], tuple[int, int]]

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern that HF's ByteLevel pre-tokenizer splits by."""


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """All data of byte-level BPE.

    `tokens`: bytes -> id of each token; all 256 single bytes are among them.
    `semantics`: "pairs": `merges` says which merge comes first. "ranks": the lowest id of the
    merged bytes comes first.
    `merges`: (left id, right id) -> (priority, merged id); empty for "ranks".
    `patterns`: each pattern splits every piece of the pattern before.
    `keep_gaps`: True: text that a pattern does not match is a piece of its own (HF "Isolated").
    False: it is dropped (tiktoken).
    `whole_piece`: a pre-token that equals a token becomes this token, even if merging cannot make
    it.
    `added`: added tokens, which match in the text before all other stages."""

    name: str
    tokens: Ranks
    semantics: Literal["pairs", "ranks"]
    patterns: tuple[str, ...]
    merges: Merges
    keep_gaps: bool
    whole_piece: bool
    added: tuple[AddedToken, ...] = ()


def require_free_ids(ranks: Ranks, special_tokens: Mapping[str, int]) -> None:
    """Raises OptionError if a special token has the id of another token."""
    taken = {rank: token for token, rank in ranks.items()}
    for content, id_ in special_tokens.items():
        if id_ in taken:
            raise OptionError(
                f"special token {content!r} has id {id_}, which is the rank of {taken[id_]!r}"
            )


@cache
def byte_alphabet() -> dict[str, int]:
    """Returns letter -> byte: the printable letter that HF's ByteLevel has for each byte,
    {"!": 0x21, ..., "Ġ": 0x20}, in the order of HF's own table. All callers share one dict."""
    shown = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    hidden = sorted(set(range(256)) - set(shown))
    alphabet = {chr(byte): byte for byte in shown}
    return alphabet | {chr(256 + i): byte for i, byte in enumerate(hidden)}


def byte_level_stage(use_regex: bool) -> dict[str, Any]:
    """Returns the pre-tokenizer ByteLevel as a ``tokenizer.json`` has it."""
    settings = {"add_prefix_space": False, "trim_offsets": True, "use_regex": use_regex}
    return {"type": "ByteLevel", **settings}


def added_entry(token: AddedToken) -> dict[str, Any]:
    """Returns an added token as a ``tokenizer.json`` lists it."""
    flags = ("single_word", "lstrip", "rstrip", "normalized", "special")
    given = {flag: getattr(token, flag) for flag in flags}
    return {"id": token.id, "content": token.content, **given}


def letters_of(data: bytes) -> str:
    """Returns bytes in the letters of HF's ByteLevel: b" a" -> "Ġa"."""
    return data.decode("latin-1").translate(_LETTERS)


_LETTERS = {byte: letter for letter, byte in byte_alphabet().items()}
