"""Compiles regexes that mean the same in every engine, and splits texts at their matches.

The `regex` module runs them. It follows a newer Unicode than HF and tiktoken, so its matches equal
theirs on code points whose class has not changed. `compile_pattern` refuses a pattern that engines
read in different ways (`$`, `{1,3}+`, `\\w`, look-behind ...). It flattens a set inside a set,
which `regex` reads in its own way: `[^\\s[,.]]` becomes `[^\\s,.]`."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, get_args

import regex

from tokpar import EngineError, FileFormatError

Engine = Literal["oniguruma", "fancy-regex"]
AnyPattern: TypeAlias = re.Pattern[str] | regex.Pattern[str]
Slice = tuple[int, int]
"""Code points [start, stop) of a text."""

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)

LEAST_SECONDS = 10.0
LEAST_RATE = 10_000
"""The time limit for all matches of a text: `LEAST_SECONDS`, and one second more for every
`LEAST_RATE` code points. The time of the caller between two matches counts, too. The usual rate is
a hundred times higher."""

_CHARACTER = r"\\[pP]\{(?:[LMNPSZ][a-z]?|Han)\}|\\[rntsS]|\\[!-/:-@\[-`{-~\ ]"
_MEMBER = rf"{_CHARACTER} | (?!&&|~~) [^\\\[\]^-] (?: -[^\\\[\]-] )? | \^"
_INNER = rf"\[ (?![\^:]) (?: {_MEMBER} )+ \] (?!-)"
"""A set inside a set. Not matched: a set with a third one inside, a POSIX class, a set next to the
hyphen of a range."""
_SET = rf"\[ \^? (?: {_MEMBER} | {_INNER} | -(?=\]) )+ \]"
_SET_OR_CHARACTER = regex.compile(rf"{_CHARACTER} | {_SET}", regex.VERBOSE | regex.VERSION0)
_INNER_SET = regex.compile(rf"({_CHARACTER}) | {_INNER}", regex.VERBOSE | regex.VERSION0)
_AGREED = regex.compile(
    rf"""
    (?: {_CHARACTER}
      | {_SET}
      | \( (?: \?[:=!] | \?i: (?= [sdmtlver'|\[\]]+ \) ) | (?!\?) )
      | \)
      | (?: [?*+] | \{{\d+(?:,\d*)?\}} ) [?+]?+
      | [^\\\[\](){{}}?*+^$]
    )*+
    """,
    regex.VERBOSE | regex.VERSION0,
)
_DIFFERS_IN_ONIGURUMA = regex.compile(r"\{\d+(?:,\d*)?\}[+?]", regex.VERSION0)


def compile_pattern(pattern: str, engine: Engine) -> regex.Pattern[str]:
    """Returns `pattern`, compiled with the meaning that it has in `engine`. Raises FileFormatError
    for a pattern whose meaning is not certain to be the same."""
    agreed = pattern
    if engine == "fancy-regex":
        agreed = agreed.replace(r"|\s++$|", r"|\s++(?![\s\S])|")
    known = _AGREED.match(agreed).end()
    if engine == "oniguruma" and (differs := _DIFFERS_IN_ONIGURUMA.search(agreed)):
        known = min(known, differs.start())
    if known < len(agreed):
        raise FileFormatError(
            f"pattern {pattern!r}: {agreed[known : known + 12]!r} is not among what all regex "
            "engines are known to read in the same way"
        )
    try:
        return regex.compile(flatten_sets(agreed), regex.VERSION0)
    except regex.error as error:
        raise FileFormatError(f"pattern {pattern!r}: {error}") from error


def flatten_sets(pattern: str) -> str:
    """Returns the pattern with the members of each inner set moved to the outer set: "[^a[bc]]" ->
    "[^abc]". Takes only patterns that `compile_pattern` accepts."""
    found: str = _SET_OR_CHARACTER.sub(lambda outer: _unite_sets(outer[0]), pattern)
    return found


def _unite_sets(outer: str) -> str:
    """Returns one set without inner sets. An escaped character is returned unchanged."""
    if not outer.startswith("["):
        return outer
    inside = _INNER_SET.sub(lambda inner: inner[1] or inner[0][1:-1], outer[1:-1])
    return f"[{inside}]"


def spans(pattern: AnyPattern, text: str) -> Iterator[Slice]:
    """Yields the span of each match, in code points.

    Raises EngineError at an empty match, because engines do not agree where to continue after it.
    Also raises it if the matches exceed a time limit, for a pattern that backtracks without end, as
    `(a|aa)+b` does in a run of "a". Engines count their steps instead, and fail there, too."""
    stop = 0
    if isinstance(pattern, re.Pattern):  # written in this package, so it needs no time limit
        matches: Iterator[re.Match[str] | regex.Match[str]] = pattern.finditer(text)
    else:
        matches = pattern.finditer(text, timeout=LEAST_SECONDS + len(text) / LEAST_RATE)
    try:
        for match in matches:
            start, stop = match.span()
            if start == stop:
                raise EngineError(f"{pattern.pattern!r} matched nothing", 0, len(text))
            yield start, stop
    except TimeoutError:
        raise EngineError(
            f"{pattern.pattern!r} has too many ways to match after position {stop}", stop, len(text)
        ) from None


def replace_matches(pattern: AnyPattern, content: str, text: str) -> str:
    """Returns `text` with every match replaced by the string `content`, taken literally."""
    parts = _tile(spans(pattern, text), len(text), invert=False)
    return "".join([content if matched else text[a:b] for (a, b), matched in parts])


def divide(matches: Iterable[Slice], length: int, behavior: Behavior, invert: bool) -> list[Slice]:
    """Returns the parts of a text of `length` characters that is split at `matches`.

    For the matches (1, 2) and (2, 3) in a text of 4 characters, "Removed" returns (0, 1), (3, 4).
    "Isolated" returns every match and every gap: (0, 1), (1, 2), (2, 3), (3, 4).
    "Contiguous" joins neighbouring matches: (0, 1), (1, 3), (3, 4).
    "MergedWithPrevious" joins a match to the gap before it, "MergedWithNext" to the gap after it.
    Of several neighbouring matches, they join only the one next to the gap.
    `invert`: the gaps count as matches, and the matches as gaps."""
    parts = _tile(matches, length, invert)
    if behavior in ("Removed", "Isolated"):
        return [part for part, matched in parts if behavior == "Isolated" or not matched]
    found: list[Slice] = []
    before = False
    for part, matched in parts:
        if behavior == "Contiguous":
            joins = matched == before
        elif behavior == "MergedWithPrevious":
            joins = matched and not before
        else:
            joins = before and not matched
        if joins and found:
            found[-1] = (found[-1][0], part[1])
        else:
            found.append(part)
        before = matched
    return found


def _tile(matches: Iterable[Slice], length: int, invert: bool) -> list[tuple[Slice, bool]]:
    """Returns the matches and the gaps between them in order, each with True for a match. `invert`
    swaps True and False."""
    parts, end = [], 0
    for start, stop in matches:
        if start > end:
            parts.append(((end, start), invert))
        parts.append(((start, stop), not invert))
        end = stop
    if end < length:
        parts.append(((end, length), invert))
    return parts
