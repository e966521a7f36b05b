"""Regexes that mean the same to every engine, and what is done with their matches. They run on the
`regex` module, which knows a newer Unicode: matches are those of HF or tiktoken on code points
whose class all agree on. Where syntaxes give a pattern several meanings (`$`, `{1,3}+`, `\\w`,
look-behind ...) it is refused. Sets in sets, which `regex` reads in its own way, are written out:
`[^\\s[,.]]` is `[^\\s,.]`."""

import re
from collections.abc import Iterable, Iterator
from typing import Literal, TypeAlias, get_args

import regex

from tokpar.errors import EngineError, FileFormatError

Engine = Literal["oniguruma", "fancy-regex"]
AnyPattern: TypeAlias = re.Pattern[str] | regex.Pattern[str]
Slice = tuple[int, int]
"""Positions [start, stop)."""

Behavior = Literal["Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"]
BEHAVIORS: tuple[Behavior, ...] = get_args(Behavior)

LEAST_SECONDS = 10.0
LEAST_RATE = 10_000
"""All matches of a text may take ten seconds, and one more for so many code points, the work of the
caller between them included: a hundredth of the usual rate."""

_CHARACTER = r"\\[pP]\{(?:[LMNPSZ][a-z]?|Han)\}|\\[rntsS]|\\[!-/:-@\[-`{-~\ ]"
_MEMBER = rf"{_CHARACTER} | (?!&&|~~) [^\\\[\]^-] (?: -[^\\\[\]-] )? | \^"
_INNER = rf"\[ (?![\^:]) (?: {_MEMBER} )+ \] (?!-)"
"""A set in a set: no other one, no POSIX class, and no end of a range on either side."""
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
    """`pattern` with the meaning it has in `engine`; FileFormatError if that is not certain."""
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
    """A pattern of those that `compile_pattern` takes, with the members of inner sets in the outer
    one: "[^a[bc]]" -> "[^abc]"."""
    found: str = _SET_OR_CHARACTER.sub(lambda outer: _unite_sets(outer[0]), pattern)
    return found


def _unite_sets(outer: str) -> str:
    """One set, or something escaped, which stays as it is."""
    if not outer.startswith("["):
        return outer
    inside = _INNER_SET.sub(lambda inner: inner[1] or inner[0][1:-1], outer[1:-1])
    return f"[{inside}]"


def spans(pattern: AnyPattern, text: str) -> Iterator[Slice]:
    """All matches. EngineError at one of nothing: engines do not agree on where they go on; and for
    a pattern that backtracks without end, as `(a|aa)+b` does in a run of a: engines count their
    steps and fail, this one looks at the time."""
    stop = 0
    if isinstance(pattern, re.Pattern):  # `re` has no limit, and runs patterns of this package only
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
    """`text` with every match replaced by `content`, literally."""
    parts = _tile(spans(pattern, text), len(text), invert=False)
    return "".join([content if matched else text[a:b] for (a, b), matched in parts])


def divide(matches: Iterable[Slice], length: int, behavior: Behavior, invert: bool) -> list[Slice]:
    """What is left of a text of `length` characters that is split at `matches`.

    With matches (1, 2) and (2, 3) in a text of 4: "Removed" leaves (0, 1), (3, 4); "Isolated" each
    by itself; "Contiguous" (0, 1), (1, 3), (3, 4); the merged ones join a match to the gap before
    or after it, of several matches in a row only the nearest. `invert`: gaps are the matches."""
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
    """Matches and the gaps between them, and which of the two each is."""
    parts, end = [], 0
    for start, stop in matches:
        if start > end:
            parts.append(((end, start), invert))
        parts.append(((start, stop), not invert))
        end = stop
    if end < length:
        parts.append(((end, length), invert))
    return parts
