"""Ask the engine that runs a pattern for the members of its character classes.

The engine classifies all 1,112,064 code points that a text may contain. No class is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tokpar.patterns.class_tables import Ranges, merge_ranges
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.process.interrupts import raise_foreign

CODE_POINTS = 0x110000
SURROGATES = (0xD800, 0xDFFF)
EVERY: Ranges = ((0, SURROGATES[0] - 1), (SURROGATES[1] + 1, CODE_POINTS - 1))
"""The code points that a text may contain: all code points except surrogates."""
MAX_CLASSES, MOST_ANSWERS = 64, 256
_BLOCK = 1 << 13

BoolArray = npt.NDArray[np.bool_]
PointArray = npt.NDArray[np.int64]
_answers: dict[tuple[str, str], Ranges] = {}
"""(engine, class) -> what the engine answered in this process. Patterns have classes in common."""


def members(sources: Iterable[str], engine: str) -> dict[str, Ranges]:
    """Map each one-character regex to the code points that it matches, as inclusive ranges."""
    wanted = {*sources}
    classes = sorted(source for source in wanted if not is_plain(source))
    if len(classes) > MAX_CLASSES:
        raise UnsupportedPatternError(f"more than {MAX_CLASSES} classes")
    known = {s: ranges for s in classes if (ranges := _answers.get((engine, s))) is not None}
    asked = [source for source in classes if source not in known]
    try:
        answers = _EVERYWHERE[engine](asked) if asked else {}
    except BaseException as error:  # engines have own error types; a panic is no Exception
        raise_foreign(error)
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise UnsupportedPatternError(f"{engine} refuses a class: {error}") from error
    if len(_answers) + len(answers) > MOST_ANSWERS:
        _answers.clear()
    _answers.update({(engine, source): ranges for source, ranges in answers.items()})
    return known | answers | {s: ((ord(s[-1]),) * 2,) for s in wanted if is_plain(s)}


def is_plain(source: str) -> bool:
    """True if `source` is a literal character, escaped or not."""
    if len(source) == 2 and source[0] == "\\":
        return source[1].isascii() and not source[1].isalnum()
    return len(source) == 1 and source not in ".^$\\[](){}|*+?"


def match_chars(source: str, engine: str, text: str) -> BoolArray:
    """True for each character of the text that a one-character regex matches; (characters,).

    The characters of the text must be ascending and distinct."""
    return _MATCHERS[engine](source, text)


def _points(text: str) -> PointArray:
    return np.frombuffer(text.encode("utf-32-le"), "<u4").astype(np.int64)


def _match_by_regex(source: str, text: str) -> BoolArray:
    import regex

    inside = np.zeros(len(text), np.bool_)
    for match in regex.finditer(source, text, regex.VERSION0):
        inside[match.start() : match.end()] = True
    return inside


def _match_by_fancy(source: str, text: str) -> BoolArray:
    """As `match_chars`, by tiktoken. tiktoken encodes only the matched characters, byte by byte."""
    found = bytes(_encoding(source).encode_ordinary(text)).decode()
    return np.isin(_points(text), _points(found))


def _match_by_oniguruma(source: str, text: str) -> BoolArray:
    from tokenizers import Regex, pre_tokenizers

    inside = np.ones(len(text), np.bool_)
    for _, (start, stop) in pre_tokenizers.Split(Regex(source), "removed").pre_tokenize_str(text):
        inside[start:stop] = False
    return inside


_MATCHERS: dict[str, Callable[[str, str], BoolArray]] = {
    "fancy-regex": _match_by_fancy,
    "oniguruma": _match_by_oniguruma,
    "regex": _match_by_regex,
}


@cache
def _blocks() -> tuple[tuple[int, str], ...]:
    """All code points except surrogates, in order, as blocks (first code point, text)."""
    return tuple(
        (start, "".join(map(chr, range(start, min(start + _BLOCK, high + 1)))))
        for low, high in EVERY
        for start in range(low, high + 1, _BLOCK)
    )


def _with_regex(sources: Sequence[str]) -> dict[str, Ranges]:
    import regex

    found: dict[str, Ranges] = {}
    for source in sources:
        pattern = regex.compile(f"(?:{source})+", regex.VERSION0)
        found[source] = merge_ranges(
            (low + match.start(), low + match.end() - 1)
            for low, text in _blocks()
            for match in pattern.finditer(text)
        )
    return found


def _with_fancy(sources: Sequence[str]) -> dict[str, Ranges]:
    """As `members`, by tiktoken. Each block is one token: a single id means that the whole block is
    in the class."""
    blocks = {text.encode(): 256 + i for i, (_, text) in enumerate(_blocks())}
    found: dict[str, Ranges] = {}
    for source in sources:
        encoding = _encoding(f"(?:{source})+", blocks)
        spans: list[tuple[int, int]] = []
        for i, (low, text) in enumerate(_blocks()):
            ids = encoding.encode_ordinary(text)
            if ids == [256 + i]:
                spans.append((low, low + len(text) - 1))
            elif ids:
                spans += _runs(_points(bytes(ids).decode()))
        found[source] = merge_ranges(spans)
    return found


def _encoding(pattern: str, more: dict[bytes, int] | None = None) -> Any:
    import tiktoken

    ranks = {bytes([i]): i for i in range(256)} | (more or {})
    return tiktoken.Encoding("probe", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})


def _with_oniguruma(sources: Sequence[str]) -> dict[str, Ranges]:
    """As `members`, by Oniguruma, in one pass over all code points.

    A sequence of Splits, one at the runs of each class, cuts the code points into pieces. Each
    class contains all of a piece or nothing. One character then decides for the whole piece."""
    from tokenizers import PreTokenizedString, Regex, pre_tokenizers

    if not sources:
        return {}
    row = pre_tokenizers.Sequence(
        [pre_tokenizers.Split(Regex(f"(?:{source})+"), "isolated") for source in sources]
    )
    pieces: list[tuple[int, int]] = []
    for low, text in _blocks():
        block = PreTokenizedString(text)
        row.pre_tokenize(block)
        # Byte offsets are much faster than code point offsets. The pieces cover the whole text.
        for piece, _, _ in block.get_splits("original", "byte"):
            pieces.append((low, low + len(piece) - 1))
            low += len(piece)
    sample = "".join(chr(start) for start, _ in pieces)
    found: dict[str, Ranges] = {}
    for source in sources:
        inside = _match_by_oniguruma(source, sample)
        found[source] = merge_ranges(pieces[i] for i in np.flatnonzero(inside).tolist())
    return found


def _runs(points: PointArray) -> list[tuple[int, int]]:
    """Join ascending code points to inclusive ranges: [48, 49, 65] -> [(48, 49), (65, 65)]."""
    ends = np.flatnonzero(np.diff(points) != 1)
    lows = points[np.concatenate(([0], ends + 1))]
    highs = points[np.concatenate((ends, [len(points) - 1]))]
    return list(zip(lows.tolist(), highs.tolist(), strict=True))


_EVERYWHERE: dict[str, Callable[[Sequence[str]], dict[str, Ranges]]] = {
    "fancy-regex": _with_fancy,
    "oniguruma": _with_oniguruma,
    "regex": _with_regex,
}
