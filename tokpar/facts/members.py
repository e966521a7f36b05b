"""Asks the engine that will run a pattern which characters its classes hold.

All 1,112,064 code points that a text may hold are asked, so nothing is taken on trust.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from tokpar.facts.pattern import UnsupportedPatternError
from tokpar.facts.tables import Ranges

CODE_POINTS = 0x110000
SURROGATES = (0xD800, 0xDFFF)
EVERY: Ranges = ((0, SURROGATES[0] - 1), (SURROGATES[1] + 1, CODE_POINTS - 1))
"""What a text may hold: all code points but surrogates."""
_BLOCK = 1 << 15


def members(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
    """Code points that each one-character regex matches, by its spelling, as inclusive ranges."""
    wanted = sorted(set(sources))
    asked = [source for source in wanted if not _is_plain(source)]
    found: dict[str, Ranges] = {s: ((ord(s[-1]),) * 2,) for s in wanted if _is_plain(s)}
    try:
        found |= _ASK[engine](asked)
    except Exception as error:  # what a pattern that it refuses raises is the engine's own affair
        raise UnsupportedPatternError(f"{engine} refuses a class: {error}") from error
    return found


def _is_plain(source: str) -> bool:
    """A character that stands for itself, escaped or not."""
    if len(source) == 2 and source[0] == "\\":
        return source[1].isascii() and not source[1].isalnum()
    return len(source) == 1 and source not in ".^$\\[](){}|*+?"


@cache
def _blocks() -> tuple[tuple[int, str], ...]:
    """All code points but surrogates, in order: the first of each block, and the block."""
    return tuple(
        (start, "".join(map(chr, range(start, min(start + _BLOCK, high + 1)))))
        for low, high in EVERY
        for start in range(low, high + 1, _BLOCK)
    )


def _with_regex(sources: Sequence[str]) -> dict[str, Ranges]:
    import regex

    found: dict[str, Ranges] = {}
    for source in sources:
        pattern = regex.compile(f"(?:{source})+")
        found[source] = _joined(
            (low + match.start(), low + match.end() - 1)
            for low, text in _blocks()
            for match in pattern.finditer(text)
        )
    return found


def _with_fancy(sources: Sequence[str]) -> dict[str, Ranges]:
    """tiktoken drops unmatched text: the matched part is what it encodes, byte by byte."""
    import tiktoken

    found: dict[str, Ranges] = {}
    for source in sources:
        encoding = tiktoken.Encoding(
            "probe",
            pat_str=f"(?:{source})+",
            mergeable_ranks={bytes([i]): i for i in range(256)},
            special_tokens={},
        )
        spans: list[tuple[int, int]] = []
        for _, text in _blocks():
            matched = bytes(encoding.encode_ordinary(text)).decode()
            points = np.frombuffer(matched.encode("utf-32-le"), "<u4").astype(np.int64)
            spans += _runs(points)
        found[source] = _joined(spans)
    return found


def _with_oniguruma(sources: Sequence[str]) -> dict[str, Ranges]:
    """A row of Splits at the runs of each class cuts all code points into pieces that no class cuts
    in two, in one pass; then a character of each piece is asked for all of it."""
    from tokenizers import Regex, pre_tokenizers

    if not sources:
        return {}
    row = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(f"(?:{source})+"), "isolated") for source in sources]
    )
    pieces = [
        (low + start, low + stop - 1)
        for low, text in _blocks()
        for _, (start, stop) in row.pre_tokenize_str(text)
    ]
    sample = "".join(chr(start) for start, _ in pieces)
    found: dict[str, Ranges] = {}
    for source in sources:
        left = pre_tokenizers.Split(Regex(f"(?:{source})"), "removed").pre_tokenize_str(sample)
        inside = np.ones(len(pieces), dtype=np.bool_)
        for _, (start, stop) in left:
            inside[start:stop] = False
        found[source] = _joined(pieces[i] for i in np.flatnonzero(inside).tolist())
    return found


def _runs(points: np.ndarray[Any, np.dtype[np.int64]]) -> list[tuple[int, int]]:
    """Ascending code points as ranges: [48, 49, 65] -> [(48, 49), (65, 65)]."""
    if not len(points):
        return []
    ends = np.flatnonzero(np.diff(points) != 1)
    lows = points[np.concatenate(([0], ends + 1))]
    highs = points[np.concatenate((ends, [len(points) - 1]))]
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


def _joined(spans: Iterable[tuple[int, int]]) -> Ranges:
    """Ascending ranges, those that touch made one."""
    joined: list[tuple[int, int]] = []
    for low, high in spans:
        if joined and joined[-1][1] + 1 == low:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


_ASK: dict[str, Callable[[Sequence[str]], dict[str, Ranges]]] = {
    "fancy-regex": _with_fancy,
    "oniguruma": _with_oniguruma,
    "regex": _with_regex,
}
