"""Ask the engine that runs a pattern whether a class has exactly the members that a proof states.

The engine tests all code points that a text may contain: members must match, others must not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.patterns.pattern_parser import RefusedProofError

POINTS = 0x110000
_ITSELF = re.compile(r"\\?([!-/:-@\[-`{-~])|([A-Za-z0-9\x00-\x20])")
_SPECIAL = frozenset(".^$\\[](){}|*+?")
_BLOCK = 1 << 12

Points = NDArray[np.int64]


def require_class(source: str, engine: str, members: Points, others: Points) -> None:
    """Raises RefusedProofError unless the class matches every code point of `members` in `engine`,
    and no code point of `others`."""
    char = _character(source)
    if char is not None:
        holds = members.tolist() == [ord(char)]
    elif engine in _HOLDS:
        holds = _engine_agrees(source, engine, members, others)
    else:
        raise RefusedProofError(f"engine {engine!r} cannot be asked about its classes")
    if not holds:
        raise RefusedProofError(f"{engine} says otherwise about {source}")


def _character(source: str) -> str | None:
    """Returns the only member of a class of one character, if every engine agrees on it, else
    None."""
    found = _ITSELF.fullmatch(source)
    if found is None or (len(source) == 1 and source in _SPECIAL):
        return None
    return found[1] or found[2]


def _engine_agrees(source: str, engine: str, members: Points, others: Points) -> bool:
    """True if the engine matches every code point of `members`, and none of `others`."""
    try:
        return _HOLDS[engine](source, _text(members), _text(others))
    except BaseException as error:  # each engine has its own errors; a panic is no Exception
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise RefusedProofError(f"{engine} refuses a class: {error}") from error


def _text(points: Points) -> str:
    return points.astype("<u4").tobytes().decode("utf-32-le")


def _blocks(text: str) -> Iterator[str]:
    return (text[start : start + _BLOCK] for start in range(0, len(text), _BLOCK))


def _by_regex(source: str, members: str, others: str) -> bool:
    import regex

    whole = not members or regex.fullmatch(f"(?:{source})+", members, regex.VERSION0)
    return bool(whole) and regex.search(source, others, regex.VERSION0) is None


def _by_oniguruma(source: str, members: str, others: str) -> bool:
    from tokenizers import PreTokenizedString, Regex, pre_tokenizers

    removes = pre_tokenizers.Split(Regex(f"(?:{source})+"), "removed")

    def remaining_pieces(text: str) -> list[str]:
        block = PreTokenizedString(text)
        removes.pre_tokenize(block)
        # counting in bytes is much faster
        return [piece for piece, _, _ in block.get_splits("original", "byte")]

    return not any(map(remaining_pieces, _blocks(members))) and all(
        remaining_pieces(b) == [b] for b in _blocks(others)
    )


def _by_fancy(source: str, members: str, others: str) -> bool:
    """Does the same as `_engine_agrees`, by tiktoken: each block of `members` is a token, and
    tiktoken drops other text."""
    import tiktoken

    ranks: dict[bytes, int] = {bytes([byte]): byte for byte in range(256)}
    blocks = list(_blocks(members))
    for block in blocks:
        ranks.setdefault(block.encode(), len(ranks))
    probe: Any = tiktoken.Encoding(
        "class", pat_str=f"(?:{source})+", mergeable_ranks=ranks, special_tokens={}
    )
    whole = all(probe.encode_ordinary(block) == [ranks[block.encode()]] for block in blocks)
    return whole and not any(map(probe.encode_ordinary, _blocks(others)))


_HOLDS: dict[str, Callable[[str, str, str], bool]] = {
    "fancy-regex": _by_fancy,
    "oniguruma": _by_oniguruma,
    "regex": _by_regex,
}
