"""Added tokens: searched in the text before all other stages run, as Hugging Face does it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from tokpar import EngineError, FileFormatError
from tokpar.arrays import SPACES
from tokpar.formats.char_classes import runs, single
from tokpar.plugin.tokenizer import AddedToken

TextPart = tuple[int, int, int | None]
"""(start, stop, id): [start, stop) in code points, and the id of the added token there. The id is
None for the text between two added tokens."""


class AddedTokens:
    """Finds added tokens in two passes. Of several matches the leftmost wins; of several matches at
    one position the longest.

    The first pass searches the raw text for the tokens with ``normalized=False``. The second pass
    searches the normalized text between their matches for all other tokens, whose contents are
    normalized, too.
    `single_word`: a match next to a word character does not count, but it still hides every match
    that begins inside it. `lstrip`, `rstrip`: the token includes the white space before (after) it.
    Raises FileFormatError if the normalizer leaves nothing of a token, or makes two tokens equal.
    """

    def __init__(
        self, tokens: Sequence[AddedToken], normalize: Callable[[str], str] | None = None
    ) -> None:
        raw = {token.content: token for token in tokens if not token.normalized}
        normalized: dict[str, AddedToken] = {}
        for token in tokens:
            if not token.normalized:
                continue
            content = normalize(token.content) if normalize else token.content
            if not content:  # the engine finds an empty token everywhere
                what = f"added token {token.content!r}"
                raise FileFormatError(f"{what}: the normalizer leaves nothing of it")
            if content in normalized:  # the engine finds one of the two tokens at random
                both = f"{normalized[content].content!r} and {token.content!r}"
                raise FileFormatError(f"added tokens {both} are both {content!r} when normalized")
            normalized[content] = token
        self.raw = _finder(raw)
        self.normalized = _finder(normalized)

    def segments(self, text: str, normalize: Callable[[str], str] | None = None) -> list[str | int]:
        """Returns the normalized text between added tokens, and the ids of the added tokens, in
        order: "a<s>b" -> ["a", 1, "b"]."""
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


def _finder(tokens: dict[str, AddedToken]) -> Callable[[str], list[TextPart]]:
    if not tokens:
        return lambda text: [(0, len(text), None)] if text else []
    contents = sorted(tokens, key=len, reverse=True)
    pattern = re.compile("|".join(map(re.escape, contents)))

    def find(text: str) -> list[TextPart]:
        found: list[TextPart] = []
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
    """True if a word character stands directly before or after [start, stop)."""
    word = single("word").match
    return bool((start and word(text[start - 1])) or (stop < len(text) and word(text[stop])))


def _take_white_space(
    text: str, token: AddedToken, span: tuple[int, int], end: int
) -> tuple[int, int]:
    """Returns `span` extended by the white space that `token` includes, but never to before `end`,
    the end of the match before.

    The span is empty if the match before already took exactly this token's text. Raises EngineError
    if it took more: the engine panics there."""
    start, stop = span
    if token.lstrip:
        start = end + len(text[end:start].rstrip(SPACES))
    if token.rstrip and (after := runs("white").match(text, stop)):
        stop = after.end()
    if start > stop:
        raise EngineError(f"the added token {token.content!r} was stripped away", stop, start)
    return start, stop
