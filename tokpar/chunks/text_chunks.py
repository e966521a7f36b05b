"""Divides a text into chunks, each as long as a number of tokens allows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

from tokpar.arrays import frozen_ids, has_surrogate
from tokpar.chunks.boundaries import BOUNDARIES, Boundary, places_of
from tokpar.chunks.encoded_text import EncodedText
from tokpar.chunks.special_tokens import SliceFrame, special_tokens_of
from tokpar.chunks.text_chunk import TextChunk
from tokpar.contract.adapter import require_accepted
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import OptionError
from tokpar.process.limits import require_choice, require_count, require_text
from tokpar.results.adding_up import EncodesParts, Part

_CHARS_PER_TOKEN = 6
"""A text of at most so many code points for each id of a chunk may be one chunk."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def text_chunks(
    text: str,
    tokenizer: TokenizerAdapter,
    encode: EncodesParts,
    max_tokens: int,
    overlap: int = 0,
    boundary: Boundary = "token",
) -> Iterator[TextChunk]:
    """Returns an iterator of the chunks of `text`, see `Encoder.chunks`.

    `encode` returns the rows of texts before post-processing. Arguments are checked at once."""
    text = require_text(text)
    require_count("max_tokens", max_tokens)
    require_count("overlap", overlap, 0)
    require_choice("boundary", boundary, BOUNDARIES)
    special = special_tokens_of(tokenizer)
    special.require(max_tokens, overlap)
    require_no_surrogate(text)
    require_accepted(text, tokenizer)
    whole = EncodedText(text, tokenizer, encode, 8 * max_tokens)
    return _Chunker(whole, special, max_tokens, overlap, boundary).chunks()


def require_no_surrogate(text: str) -> None:
    """Raises OptionError for a lone surrogate."""
    if has_surrogate(text):
        found = _SURROGATE.search(text)
        place = 0 if found is None else found.start()
        raise OptionError(
            f"the text has a lone surrogate at code point {place:,}, and no slice with it has ids "
            'of its own; replace it: text.encode("utf-16", "surrogatepass").decode("utf-16", '
            '"replace")'
        )


class _Chunker:
    """Finds the chunks of one text from left to right."""

    def __init__(
        self,
        whole: EncodedText,
        special: SliceFrame,
        max_tokens: int,
        overlap: int,
        boundary: Boundary,
    ) -> None:
        self._whole, self._special = whole, special
        self._places = places_of(boundary, whole)
        self._most, self._overlap = max_tokens, overlap
        self._budget = max_tokens - special.count
        self._frames = special.around is None or special.count > 0

    def chunks(self) -> Iterator[TextChunk]:
        start, end, length = 0, 0, len(self._whole.text)
        if 0 < length <= _CHARS_PER_TOKEN * self._budget:
            whole = self._slice(0, length)
            if whole is not None:  # no places of tokens are needed
                yield whole
                return
        while end < length:
            chunk = self._search(start)
            if chunk.stop <= end:  # the overlap leaves no room for anything new
                chunk = self._search(end)
            yield chunk
            end = chunk.stop
            start = self._next_start(chunk.start, end) if self._overlap else end

    def _search(self, start: int) -> TextChunk:
        """Returns the chunk from `start` on, by a look at one place after the other."""
        last = self._whole.start_behind(start, self._budget)
        for places in self._places:
            for stop in places.descend(start, last):
                chunk = self._slice(start, stop)
                if chunk is not None:
                    return chunk
        return self._cut_by_characters(start)

    def _slice(self, start: int, stop: int) -> TextChunk | None:
        """Returns the chunk [start, stop), or None if it has too many ids alone."""
        whole = self._whole
        ids = whole.ids_alone(start, stop)
        if self._frames:
            final = self._special.add_to_slice(ids, whole.text, start, stop)
            if final is None:
                return None
            ids = final
        if len(ids) > self._most:
            return None
        return TextChunk(start, stop, frozen_ids(ids), partial(whole.is_certified, start, stop))

    def _cut_by_characters(self, start: int) -> TextChunk:
        """Returns a chunk that fits, while the chunk with one character more does not.

        No place of any boundary gave a chunk that fits. Raises OptionError if one character alone
        does not fit."""
        best = self._slice(start, start + 1)
        if best is None:
            raise self._too_small(start)
        size, length = 1, len(self._whole.text) - start
        while size < length:
            longer = self._slice(start, start + min(2 * size, length))
            if longer is None:
                break
            best, size = longer, longer.stop - start
        least, most = size, min(2 * size, length)
        while most - least > 1:
            middle = (least + most) // 2
            longer = self._slice(start, start + middle)
            least, most = (least, middle) if longer is None else (middle, most)
            best = best if longer is None else longer
        return best

    def _too_small(self, start: int) -> OptionError:
        char = self._whole.text[start]
        needed = len(self._whole.encode(Part(start, start + 1))) + self._special.count
        also = f", {self._special.count} of them special tokens" if self._special.count else ""
        return OptionError(
            f"max_tokens={self._most} is too small for the character {char!r} "
            f"(U+{ord(char):04X}) at code point {start:,}: alone it has {needed} ids{also}; "
            f"pass max_tokens={needed} or more"
        )

    def _next_start(self, start: int, stop: int) -> int:
        """Returns where the chunk after [start, stop) begins: the first place at which at most
        `overlap` tokens of the whole text lie before `stop`."""
        whole = self._whole
        first = whole.tokens_before(stop) - self._overlap
        low = max(start + 1, whole.token_start(first) if first > 0 else 0)
        for places in self._places:
            found = places.first(low, stop) if low < stop else None
            if found is not None:
                return found
        return stop
