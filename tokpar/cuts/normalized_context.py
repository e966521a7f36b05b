"""Compute the normalized characters around a cut, where theorem 6.2 proves them.

The theorem covers printable ASCII, tab, line ends, and CJK ideographs and stops. A normalizer maps
each of these characters by itself. Each has combining class 0, and never composes with the
character before it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from tokpar.cuts.added_token_guard import AddedTokenGuard, maybe_space, run_around
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken, NormalizerStage

_ALPHABET = re.compile("[\t\n\r -~\u3001\u3002\u4e00-\u9fa5]*")
_KNOWN_TEXT = re.compile(_ALPHABET.pattern.replace("*", "{2,}"))  # one character proves nothing
_ASCII_CHARS = "\t\n\r" + "".join(map(chr, range(ord(" "), ord("~") + 1)))
_IDEOGRAPHS = "\u3001\u3002" + "".join(map(chr, range(0x4E00, 0x9FA5 + 1)))
_FORMS = frozenset({"NFC", "NFD", "NFKC", "NFKD"})
# Stages that leave a space a space and never turn the last character before it into white space.
_KEEP_UNIVERSAL = _FORMS | {"Lowercase"}
_ONE_BY_ONE = _KEEP_UNIVERSAL | {"StripAccents"}
_SUPPORTED = _KEEP_UNIVERSAL | {"StripAccents", "BertNormalizer", "Strip", "Replace"}


@dataclass(frozen=True)
class NormalizerGuard:
    """Computes the image of the text around a cut under a sequence of normalizer stages.

    `tokens` are the added tokens that the engine searches in the normalized text
    (``normalized=true``)."""

    stages: tuple[NormalizerStage, ...]
    tokens: tuple[AddedToken, ...]

    @cached_property
    def unsupported_stage(self) -> str | None:
        """Name of the first stage that the theorem does not cover, or None."""
        return next((s.kind for s in self.stages if s.kind not in _SUPPORTED), None)

    @cached_property
    def keeps_universal(self) -> bool:
        """True if no stage changes a space after a character other than white space.

        The space stays a space, and the normalized character before it is not white space."""
        return all(stage.kind in _KEEP_UNIVERSAL for stage in self.stages)

    def context(self, text: str, p: int) -> tuple[str, str] | None:
        """Images of S[p-1] and S[p] if N(S) = N(S[:p]) N(S[p:]) is proved at `p`, else None."""
        if not self.stages:
            return text[p - 1], text[p]
        seen = self._image(text, p, 1 + self._margin)
        return None if seen is None else (seen[0][seen[1] - 1], seen[0][seen[1]])

    def tokens_safe(self, text: str, p: int) -> bool:
        """True if the engine matches the same tokens in the normalized text with a cut at `p`."""
        if self._guard is None or self._is_outside_tokens(text[p - 1], text[p]):
            return True
        reach = self._guard.reach + 1 + self._margin
        if maybe_space(text[p - 1]) and maybe_space(text[p]):
            run = run_around(text, p)
            if run is None:
                return False
            reach += run
        seen = self._image(text, p, reach)
        return seen is not None and seen[0].isascii() and self._guard.safe(*seen)

    def crossed_positions(self, text: str, start: int, stop: int) -> NDArray[np.bool_] | None:
        """For each p in [start, stop), True if a token in the normalized text surely reaches over
        p; None if none does. `tokens_safe` is False there."""
        if self._guard is None or self.moves is not None:
            return None
        found, reach = None, self._guard.reach
        known = self.known_images(text, max(0, start - reach), min(len(text), stop + reach))
        for first, image in known:
            low, high = max(start, first), min(stop, first + len(image))
            part = (
                self._guard.crossed_positions(image, low - first, high - first)
                if low < high
                else None
            )
            if part is not None:
                found = np.zeros(stop - start, np.bool_) if found is None else found
                found[low - start : high - start] = part
        return found

    def _is_outside_tokens(self, left: str, right: str) -> bool:
        """True if no token lies across a cut between these two characters (corollary of theorem
        6.2).

        The stages map both sides of the cut separately, and the image of `left` occurs in no token.
        """
        image = None if self.moves or self._map(right) is None else self._map(left)
        return image is not None and self._in_tokens is not None and image not in self._in_tokens

    @cached_property
    def _in_tokens(self) -> frozenset[str] | None:
        """All characters of the tokens, original and normalized; None if some token has a flag."""
        if any(token.lstrip or token.rstrip or token.single_word for token in self.tokens):
            return None
        images = (self._map(token.content) or "" for token in self.tokens)
        return frozenset("".join(chain(images, (token.content for token in self.tokens))))

    @cached_property
    def moves(self) -> str | None:
        """Name of the first stage that may change the number of characters, or None.

        With None, every stage maps each character of the alphabet to one character in every
        context."""
        return next((s.kind for s in self.stages if s.kind not in _ONE_BY_ONE), None)

    def known_images(self, text: str, start: int, stop: int) -> Iterator[tuple[int, str]]:
        """Yield (start, image) of each part of text[start:stop] whose image is known.

        The image of a part is known only if the character after the part is in the alphabet, too.
        """
        if not self.stages:
            yield start, text[start:stop]
            return
        for known in _KNOWN_TEXT.finditer(text, start, min(stop + 1, len(text))):
            end = known.end() if known.end() == len(text) else known.end() - 1
            image = self._map(text[known.start() : end])
            if image:
                yield known.start(), image

    @cached_property
    def char_images(self) -> tuple[str, str]:
        """The characters of the alphabet, and the image of each between other such characters.

        One character each. A Replace or a Strip may change more: `context` looks."""
        chars = _ASCII_CHARS + ("" if self._is_bert else _IDEOGRAPHS)
        images = chars
        for stage in self.stages:
            if stage.kind in ("Lowercase", "BertNormalizer"):
                images = _apply_stage(stage, images, None) or images
        return chars, images

    @cached_property
    def _is_bert(self) -> bool:
        return any(stage.kind == "BertNormalizer" for stage in self.stages)

    @cached_property
    def _margin(self) -> int:
        """How many characters next to a window may affect the window's image."""
        margin, replaced = 0, False
        for stage in self.stages:
            if stage.kind == "Replace":
                margin += len(replaced_string(stage) or "") - 1
            elif replaced:
                margin += 1  # the replacement may compose with, or reorder, its neighbour
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
        """True if the normalized content of every token in `tokens` is known."""
        return all(self._map(token.content) is not None for token in self.tokens)

    def _image(self, text: str, p: int, reach: int) -> tuple[str, int] | None:
        """The image of text[p-reach:p+reach] and the position of `p` in it; None if unproved."""
        lo, hi = max(0, p - reach), min(len(text), p + reach)
        image = self._map(text[lo:hi], p - lo) if _ALPHABET.fullmatch(text[hi : hi + 1]) else None
        return None if image is None else (image, p - lo)

    def _map(self, window: str, cut: int | None = None) -> str | None:
        """The image of a window, one character for each character; None if the image is unknown.

        `cut`: the position in the window of the cut, None if the window is a whole text."""
        image = window if _ALPHABET.fullmatch(window) else None
        for stage in self.stages:
            image = None if image is None else _apply_stage(stage, image, cut)
        return image


def crossed_positions(
    raw: AddedTokenGuard, normalizer_guard: NormalizerGuard, text: str, start: int, stop: int
) -> NDArray[np.bool_] | None:
    """For each p in [start, stop), True if an added token surely reaches over p; None if none does.

    No cut is certified there, so one search for all positions saves a search at each of them."""
    found = raw.crossed_positions(text, start, stop)
    other = normalizer_guard.crossed_positions(text, start, stop)
    return found if other is None else other if found is None else found | other


def replaced_string(stage: NormalizerStage) -> str | None:
    """The literal that a Replace stage searches for; None if the stage searches for a regex."""
    pattern = stage.setting("pattern")
    return pattern if isinstance(pattern, str) else None


def _apply_stage(stage: NormalizerStage, window: str, cut: int | None) -> str | None:
    """The image of a window under one stage; None if the image may have another length.

    `cut`: the position in the window of the cut, None if the window is a whole text."""
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
    if stage.kind == "BertNormalizer" and window.isascii():  # adds spaces around ideographs
        if stage.setting("clean_text"):
            window = re.sub("[\t\n\r]", " ", window)
        return window.lower() if stage.setting("lowercase") else window
    return None
