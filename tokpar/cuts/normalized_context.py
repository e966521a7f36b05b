"""What a normalizer makes of the characters around a cut (theorem 6.2), where that can be proved:
for printable ASCII, tab, line ends, and CJK ideographs and stops. Each is mapped by itself, has
combining class 0, and never composes with the one before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from tokpar.cuts.added_token_guard import AddedTokenGuard, maybe_space, run_around
from tokpar.types import AddedToken, NormalizerStage

_ALPHABET = re.compile("[\t\n\r -~\u3001\u3002\u4e00-\u9fa5]*")
_STRETCH = re.compile(_ALPHABET.pattern.replace("*", "{2,}"))  # of one character nothing is known
_UNKNOWN = re.compile(_ALPHABET.pattern[:-1].replace("[", "[^", 1))
_FORMS = frozenset({"NFC", "NFD", "NFKC", "NFKD"})
# Stages that leave a space a space and never turn the last character before it into white space.
_KEEP_UNIVERSAL = _FORMS | {"Lowercase"}
_ONE_BY_ONE = _KEEP_UNIVERSAL | {"StripAccents"}
_SUPPORTED = _KEEP_UNIVERSAL | {"StripAccents", "BertNormalizer", "Strip", "Replace"}


@dataclass(frozen=True)
class NormalizerGuard:
    """Images of the text around a cut under a sequence of stages, and of the tokens that are
    searched in the normalized text (``normalized=true``, correction 0'.5)."""

    stages: tuple[NormalizerStage, ...]
    tokens: tuple[AddedToken, ...]

    @cached_property
    def unsupported(self) -> str | None:
        """Name of the first stage that nothing is proved about, or None."""
        return next((s.kind for s in self.stages if s.kind not in _SUPPORTED), None)

    @cached_property
    def keeps_universal(self) -> bool:
        """A space after a character other than white space stays that, whatever they are."""
        return all(stage.kind in _KEEP_UNIVERSAL for stage in self.stages)

    def known_places(self, text: str, lo: int, hi: int) -> Iterator[tuple[int, int]]:
        """Disjoint [start, stop) with every p of [lo, hi) for which `context` has an answer."""
        for match in _STRETCH.finditer(text, max(0, lo - 1), min(len(text), hi + 1)):
            yield match.start() + 1, match.end()

    def context(self, text: str, p: int) -> tuple[str, str] | None:
        """Images of S[p-1] and S[p] if N(S) = N(S[:p]) N(S[p:]) is proved at `p`, else None."""
        if not self.stages:
            return text[p - 1], text[p]
        seen = self._image(text, p, 1 + self._margin)
        return None if seen is None else (seen[0][seen[1] - 1], seen[0][seen[1]])

    def tokens_safe(self, text: str, p: int) -> bool:
        """Tokens searched in the normalized text are matched the same way with a cut at `p`."""
        if self._guard is None or self._outside(text[p - 1], text[p]):
            return True
        reach = self._guard.reach + 1 + self._margin
        if maybe_space(text[p - 1]) and maybe_space(text[p]):
            run = run_around(text, p)
            if run is None:
                return False
            reach += run
        seen = self._image(text, p, reach)
        return seen is not None and seen[0].isascii() and self._guard.safe(*seen)

    def _outside(self, left: str, right: str) -> bool:
        """Between these two characters the text falls apart, and what the part before ends with is
        in none of the tokens: so none lies across (corollary of theorem 6.2)."""
        image = None if self.moves or self._map(right) is None else self._map(left)
        return image is not None and self._in_tokens is not None and image not in self._in_tokens

    @cached_property
    def _in_tokens(self) -> frozenset[str] | None:
        """All characters of the tokens, as written and normalized; None if one has a flag."""
        if any(token.lstrip or token.rstrip or token.single_word for token in self.tokens):
            return None
        images = (self._map(token.content) or "" for token in self.tokens)
        return frozenset("".join(chain(images, (token.content for token in self.tokens))))

    @cached_property
    def moves(self) -> str | None:
        """Name of the first stage that does not keep each character of the alphabet one character,
        whatever stands around it; None if all do."""
        return next((s.kind for s in self.stages if s.kind not in _ONE_BY_ONE), None)

    def around(self, text: str, p: int, left: int, right: int) -> tuple[str, int]:
        """The image of what is known around `p`, of at most so many characters on either side, and
        where `p` lies in it; none of `moves` may be there."""
        for first, image in self.stretches(text, p - left, p + right):
            if first <= p <= first + len(image):
                return image, p - first
        return "", 0

    def stretches(self, text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
        """Where the known stretches of a part of the text begin, and their images; one character
        behind each must be known, too."""
        if not self.stages:
            yield start, text[start:stop]
            return
        for known in _STRETCH.finditer(text, start, min(stop + 1, len(text))):
            end = known.end() if known.end() == len(text) else known.end() - 1
            image = self._map(text[known.start() : end])
            if image:
                yield known.start(), image

    def known_from(self, text: str, start: int, stop: int) -> int:
        """The least place from `start` on behind which all is known up to `stop`."""
        found = _UNKNOWN.search(text[start:stop][::-1]) if self.stages else None
        return start if found is None else stop - found.start()

    @cached_property
    def _margin(self) -> int:
        """Characters beside a window that a stage may change in ways that reach into it."""
        margin, replaced = 0, False
        for stage in self.stages:
            if stage.kind == "Replace":
                margin += len(replaced_string(stage) or "") - 1
            elif replaced:
                margin += 1  # what was put in may compose with, or reorder, its neighbour
            replaced = replaced or stage.kind == "Replace"
        return margin

    @cached_property
    def _guard(self) -> AddedTokenGuard | None:
        if not self.tokens:
            return None
        images = [(token, self._map(token.content)) for token in self.tokens]
        return AddedTokenGuard(
            tuple(replace(token, content=image) for token, image in images if image is not None)
        )

    @cached_property
    def tokens_followed(self) -> bool:
        """Every such token's own content can be followed through the stages."""
        return all(self._map(token.content) is not None for token in self.tokens)

    def _image(self, text: str, p: int, reach: int) -> tuple[str, int] | None:
        """Image of S[p-reach:p+reach] and where `p` lies in it; None if it cannot be proved."""
        lo, hi = max(0, p - reach), min(len(text), p + reach)
        image = self._map(text[lo:hi], p - lo) if _ALPHABET.fullmatch(text[hi : hi + 1]) else None
        return None if image is None else (image, p - lo)

    def _map(self, window: str, cut: int | None = None) -> str | None:
        """Image of a window of the alphabet, one character for each; None if it cannot be known."""
        image = window if _ALPHABET.fullmatch(window) else None
        for stage in self.stages:
            image = None if image is None else _mapped(stage, image, cut)
        return image


def replaced_string(stage: NormalizerStage) -> str | None:
    """The literal that a Replace stage looks for; None if it looks for a regex."""
    pattern = stage.setting("pattern")
    return pattern if isinstance(pattern, str) else None


def _mapped(stage: NormalizerStage, window: str, cut: int | None) -> str | None:
    """What one stage makes of a window of the alphabet, if that is as long; None if it may not be.
    `cut`: the place in it that is looked at, None if it is a whole text."""
    if stage.kind in _FORMS or stage.kind == "StripAccents":
        return window
    if stage.kind == "Lowercase":
        return window.lower()
    if stage.kind == "Replace":
        string = replaced_string(stage)
        return None if not string or string in window else window
    if stage.kind == "Strip":
        if cut is None:
            return window if window == window.strip() else None
        return None if any(map(maybe_space, window[max(0, cut - 1) : cut + 1])) else window
    if stage.kind == "BertNormalizer" and window.isascii():  # sets spaces around ideographs
        if stage.setting("clean_text"):
            window = re.sub("[\t\n\r]", " ", window)
        return window.lower() if stage.setting("lowercase") else window
    return None
