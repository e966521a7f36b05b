"""From text to pre-tokens: added tokens are cut out first, then patterns split what is left.

The patterns run on the `regex` module, which knows a newer Unicode than the engines the
vocabularies were made for: a character assigned recently may be a letter here and nothing there.
Pre-tokens are those of HF or tiktoken on code points whose class all of them agree on: ASCII,
Latin, Greek, Cyrillic, Hebrew, Arabic, Indic scripts, Thai, Chinese, Japanese, Korean, emoji and
everything else that has been in Unicode for long; nothing is promised on the others.

Where the engines' syntaxes give one pattern several meanings (`$`, `{1,3}+`, `\\w`, look-behind,
sets in sets ...) it is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import regex

from tokpar.errors import EngineError, FileFormatError
from tokpar.types import AddedToken

Engine = Literal["oniguruma", "fancy-regex"]

_CHARACTER = r"\\[pP]\{(?:[LMNPSZ][a-z]?|Han)\}|\\[rntsS]|\\[!-/:-@\[-`{-~\ ]"
_AGREED = regex.compile(
    rf"""
    (?: {_CHARACTER}
      | \[ \^? (?: {_CHARACTER} | (?!&&|~~) [^\\\[\]^-] (?: -[^\\\[\]-] )? | \^ | -(?=\]) )+ \]
      | \( (?: \?[:=!] | \?i: (?= [sdmtlver'|\[\]]+ \) ) | (?!\?) )
      | \)
      | (?: [?*+] | \{{\d+(?:,\d*)?\}} ) [?+]?+
      | [^\\\[\](){{}}?*+^$]
    )*+
    """,
    regex.VERBOSE,
)
_DIFFERS_IN_ONIGURUMA = regex.compile(r"\{\d+(?:,\d*)?\}[+?]")


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
        return regex.compile(agreed, regex.V0)
    except regex.error as error:
        raise FileFormatError(f"pattern {pattern!r}: {error}") from error


class PreTokenizer:
    """Splits by each pattern in turn; a later pattern sees one piece of the earlier ones at a time.

    `keep_gaps`: text between matches is a piece too, else it is dropped.
    """

    def __init__(self, patterns: Iterable[str], engine: Engine, keep_gaps: bool) -> None:
        self._patterns = [compile_pattern(pattern, engine) for pattern in patterns]
        self._keep_gaps = keep_gaps

    def split(self, text: str) -> list[str]:
        """Pre-tokens of a text without added tokens: "Hi you" -> ["Hi", " you"]."""
        pieces = [text] if text else []
        for pattern in self._patterns:
            pieces = [part for piece in pieces for part in self._isolate(pattern, piece)]
        return pieces

    def _isolate(self, pattern: regex.Pattern[str], text: str) -> Iterator[str]:
        end = 0
        for match in pattern.finditer(text):
            start, stop = match.span()
            if start == stop:
                raise EngineError(f"{pattern.pattern!r} matched nothing", 0, len(text))
            if start > end and self._keep_gaps:
                yield text[end:start]
            yield text[start:stop]
            end = stop
        if end < len(text) and self._keep_gaps:
            yield text[end:]


class AddedTokens:
    """Finds added tokens, leftmost first and the longest of those that start there.

    Tokens with ``normalized=False`` have the first go at the whole text, as in HF.
    """

    def __init__(self, tokens: Sequence[AddedToken]) -> None:
        self._ids = {token.content: token.id for token in tokens}
        passes = ([t for t in tokens if t.normalized is flag] for flag in (False, True))
        self._passes = [_longest_first(group) for group in passes if group]

    def segments(self, text: str) -> list[str | int]:
        """`text` with its added tokens replaced by their ids: "a<s>b" -> ["a", 1, "b"]."""
        segments: list[str | int] = [text] if text else []
        for pattern in self._passes:
            segments = [
                part
                for segment in segments
                for part in ([segment] if isinstance(segment, int) else self._cut(pattern, segment))
            ]
        return segments

    def _cut(self, pattern: re.Pattern[str], text: str) -> Iterator[str | int]:
        for i, part in enumerate(pattern.split(text)):
            if i % 2:
                yield self._ids[part]
            elif part:
                yield part


def _longest_first(tokens: Sequence[AddedToken]) -> re.Pattern[str]:
    contents = sorted((token.content for token in tokens), key=len, reverse=True)
    return re.compile("(" + "|".join(map(re.escape, contents)) + ")")
