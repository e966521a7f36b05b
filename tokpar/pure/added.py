"""Added tokens: found in the text before anything else is done with it, as Hugging Face does."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tokpar.errors import EngineError, FileFormatError
from tokpar.pure.classes import runs, single, white
from tokpar.types import AddedToken

Found = tuple[int, int, int | None]
"""[start, stop) of a text and the id of the added token there, None between added tokens."""


class AddedTokens:
    """Finds added tokens, leftmost first and the longest of those that start there: those with
    ``normalized=False`` in the raw text, the others, normalized, in what is left when that is.
    `single_word`: not next to a word character; a match that is, still hides what begins inside it.
    `lstrip` and `rstrip`: the token takes the white space beside it too."""

    def __init__(
        self, tokens: Sequence[AddedToken], normalize: Callable[[str], str] | None = None
    ) -> None:
        raw = {token.content: token for token in tokens if not token.normalized}
        normalized: dict[str, AddedToken] = {}
        for token in tokens:
            if not token.normalized:
                continue
            content = normalize(token.content) if normalize else token.content
            if not content:  # which the engine finds everywhere
                what = f"added token {token.content!r}"
                raise FileFormatError(f"{what}: the normalizer leaves nothing of it")
            if content in normalized:  # of which the engine finds one at random
                both = f"{normalized[content].content!r} and {token.content!r}"
                raise FileFormatError(f"added tokens {both} are both {content!r} when normalized")
            normalized[content] = token
        self.raw = _finder(raw)
        self.normalized = _finder(normalized)

    def segments(self, text: str, normalize: Callable[[str], str] | None = None) -> list[str | int]:
        """Normalized text, and ids of the added tokens in it: "a<s>b" -> ["a", 1, "b"]."""
        segments: list[str | int] = []
        for start, stop, id_ in self.raw(text):
            if id_ is not None:
                segments.append(id_)
                continue
            part = normalize(text[start:stop]) if normalize else text[start:stop]
            segments += [
                part[left:right] if inner is None else inner
                for left, right, inner in self.normalized(part)
            ]
        return segments


def _finder(tokens: dict[str, AddedToken]) -> Callable[[str], list[Found]]:
    if not tokens:
        return lambda text: [(0, len(text), None)] if text else []
    contents = sorted(tokens, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, contents)))

    def find(text: str) -> list[Found]:
        found: list[Found] = []
        end = 0
        for match in pattern.finditer(text):
            token = tokens[match[0]]
            if token.single_word and _in_a_word(text, *match.span()):
                continue
            start, stop = _take_white_space(text, token, match.span(), end)
            if start > end:
                found.append((end, start, None))
            if start < stop:
                found.append((start, stop, token.id))
            end = stop
        if end < len(text):
            found.append((end, len(text), None))
        return found

    return find


def _in_a_word(text: str, start: int, stop: int) -> bool:
    """A word character stands next to [start, stop)."""
    word = single("word").match
    return bool((start and word(text[start - 1])) or (stop < len(text) and word(text[stop])))


def _take_white_space(
    text: str, token: AddedToken, span: tuple[int, int], end: int
) -> tuple[int, int]:
    """Returns `span` with the white space that the token takes, but nothing before `end`.

    The span is empty if the token before took all of it. Raises EngineError if that token took
    more: there the engine panics."""
    start, stop = span
    if token.lstrip:
        start = end + len(text[end:start].rstrip(white()))
    if token.rstrip and (after := runs("white").match(text, stop)):
        stop = after.end()
    if start > stop:
        raise EngineError(f"the added token {token.content!r} was stripped away", stop, start)
    return start, stop
