"""Which part of some texts fits into a number of ids (`Encoder.fit`). Positions are code points."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Literal

import numpy as np

from tokpar.chunks.boundaries import CutPlaces, places_of
from tokpar.chunks.encoded_text import EncodedText
from tokpar.chunks.text_chunks import require_no_surrogate
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar.process.limits import require_choice, require_count, require_text
from tokpar.results.adding_up import EncodesParts

Keep = Literal["ends", "first", "last"]
Range = tuple[int, int]
_MOST_TRIES = 64
"""Places of one kind that are tried; each try may encode the kept text."""
_SHORT = 1 << 14
"""Code points up to which a text is counted before its tokens are located: most prompts fit."""


@dataclass(frozen=True, slots=True)
class KeptTexts:
    """What `Encoder.fit` keeps of some texts. Ids are before special tokens, truncation, padding.

    `texts`: what is kept of each text, in order. `ranges`: its [start, stop), code points of the
    given text, at most two. `counts`: the ids of each; an id counts for the text in which its token
    begins; each use locates the tokens. `count`: their sum. `whole_count`: the ids of the given
    texts. `is_certified`: the kept ids are the first and the last ids of the given texts."""

    texts: tuple[str, ...]
    ranges: tuple[tuple[Range, ...], ...]
    _counts: Callable[[], tuple[int, ...]] | tuple[int, ...] = field(repr=False, compare=False)
    count: int
    whole_count: int
    is_certified: bool

    @property
    def counts(self) -> tuple[int, ...]:
        found = self._counts
        return found if isinstance(found, tuple) else found()

    def __reduce__(self) -> tuple[object, ...]:
        fields = self.count, self.whole_count, self.is_certified
        return type(self), (self.texts, self.ranges, self.counts, *fields)


def fit_texts(
    texts: Sequence[str] | Sequence[Mapping[str, object]],
    tokenizer: TokenizerAdapter,
    encode: EncodesParts,
    budget: int,
    keep: Keep,
) -> KeptTexts:
    """Returns what fits, see `Encoder.fit`. `encode`: the rows of texts before post-processing."""
    require_count("budget", budget)
    require_choice("keep", keep, ("ends", "first", "last"))
    sections = [_Section(parts, tokenizer, encode) for parts in _sections(texts)]
    if sum(section.count for section in sections) <= budget:
        for section in sections:
            section.keep_all()
    else:
        _keep_ends(sections, budget, keep)
    ranges = tuple(some for section in sections for some in section.ranges())
    parts = [part for section in sections for part in section.parts]
    kept = [
        "".join(part[start:stop] for start, stop in some)
        for part, some in zip(parts, ranges, strict=True)
    ]
    return KeptTexts(
        tuple(kept),
        ranges,
        lambda: tuple(count for section in sections for count in section.counts()),
        sum(section.kept_count for section in sections),
        sum(section.count for section in sections),
        all(section.is_certified for section in sections),
    )


def _keep_ends(sections: Sequence[_Section], budget: int, keep: Keep) -> None:
    """Keep the first and the last ids of all sections together, which have more than the budget."""
    room = budget if keep == "last" else budget // 2
    for section in reversed(sections) if keep != "first" else ():
        section.keep_last(room)
        room -= section.kept_count
        if section.start:
            break
    spare = budget - sum(section.kept_count for section in sections)
    for section in sections if keep != "last" else ():
        before = section.kept_count
        section.keep_first(before + spare)
        spare -= section.kept_count - before
        if section.start:
            break


def _sections(texts: object) -> list[list[str]]:
    """Returns the texts of each section: all in one, or each content of a message alone."""
    if not isinstance(texts, (list, tuple)):
        raise OptionError(f"texts must be a list of str or of messages, got {type(texts).__name__}")
    are_messages = [isinstance(each, Mapping) for each in texts]
    if len({*are_messages}) > 1:
        raise OptionError("texts must be all str or all messages, got some of each")
    found = []
    for number, each in enumerate(texts):
        label = f"text {number}" if not are_messages[0] else f'"content" of message {number}'
        text = require_text(each.get("content") if are_messages[0] else each, label)
        require_no_surrogate(text)
        found.append(text)
    return [[text] for text in found] if texts and are_messages[0] else [found]


class _Section:
    """Neighbouring texts that are encoded as one. [0, `stop`) and all from `start` on are kept:
    `kept_count` ids of `count`."""

    def __init__(self, parts: list[str], tokenizer: TokenizerAdapter, encode: EncodesParts) -> None:
        self.parts = parts
        self._text = parts[0] if len(parts) == 1 else "".join(parts)
        self._tokenizer, self._encode = tokenizer, encode
        is_short = 0 < len(self._text) <= _SHORT
        self.count = len(encode.one(self._text) if is_short else self._whole.ids)
        self.kept_count = 0
        self.stop, self.start, self.is_certified = 0, len(self._text), True

    @cached_property
    def _whole(self) -> EncodedText:
        """The ids of the whole section, and where its tokens are."""
        return self._loaded(self._text)

    def keep_all(self) -> None:
        self.start, self.kept_count = 0, self.count

    def keep_last(self, room: int) -> None:
        """Keep the last ids of the section, at most `room`."""
        self._search(room, max(1, self._start_of(self.count - room)), 1)

    def keep_first(self, room: int) -> None:
        """Keep the first ids, too: the section then has at most `room` ids."""
        self._search(room, min(self.start, self._start_of(room - self.kept_count)), -1)

    def _start_of(self, token: int) -> int:
        """Where a token starts; a guess if the tokenizer cannot locate its tokens."""
        found = self._whole.token_start(max(0, token))
        return found or len(self._text) * token // max(1, self.count)

    def _search(self, room: int, place: int, step: Literal[1, -1]) -> None:
        """Keep all, or what fits from the first fitting place on: at or behind `place` for step 1,
        before it for -1."""
        if self.count <= room:
            self.keep_all()
            return
        for places in places_of("cut", self._whole):
            at, is_certified = place, isinstance(places, CutPlaces)
            keeps_end = step > 0 or self.start < len(self._text)
            if is_certified and keeps_end and self._whole.absorbs_each_cut:
                continue
            for _ in range(_MOST_TRIES):
                if step > 0:
                    found = places.first(at, len(self._text)) if at < len(self._text) else None
                else:
                    found = next(places.descend(0, at), None)
                if found is None:
                    break
                ends = (0, found) if step > 0 else (found, self.start)
                text, excess = self._ends_of(*ends), 0
                if not is_certified or self._keeps_ids(text, *ends):
                    count = len(self._encode.one(text))
                    if count <= room:
                        (self.stop, self.start), self.kept_count = ends, count
                        self.is_certified &= is_certified
                        return
                    excess = len(text) * (count - room) // (2 * count)
                at = found + step * (1 + excess)

    def _ends_of(self, stop: int, start: int) -> str:
        return self._text[:stop] + self._text[start:]

    def _keeps_ids(self, text: str, stop: int, start: int) -> bool:
        """True if both ends have the ids of the whole text when they stand side by side."""
        if stop == 0:
            return self._whole.begins_alone(start)
        return stop == len(text) or self._encoded_text(text).begins_alone(stop)

    def ranges(self) -> Iterator[tuple[Range, ...]]:
        """Yield the kept ranges of each text."""
        ends = (0, self.stop), (self.start, len(self._text))
        for first, last in pairwise([0, *accumulate(map(len, self.parts))]):
            found = ((max(first, start), min(last, stop)) for start, stop in ends)
            yield tuple((start - first, stop - first) for start, stop in found if start < stop)

    def counts(self) -> list[int]:
        """The ids of each text that are kept."""
        is_whole = self.start == 0
        if is_whole and len(self.parts) == 1:
            return [self.count]
        kept = self._whole if is_whole else self._loaded(self._ends_of(self.stop, self.start))
        sizes = (sum(stop - start for start, stop in some) for some in self.ranges())
        edges = [0, *accumulate(sizes)]
        edges[-1] += 1  # a token without text may lie at the end
        counts: list[int] = np.diff(kept.starts.searchsorted(edges)).tolist()
        return counts

    def _loaded(self, text: str) -> EncodedText:
        """A text, encoded up to its end."""
        encoded = self._encoded_text(text)
        encoded.tokens_before(len(text))
        return encoded

    def _encoded_text(self, text: str) -> EncodedText:
        return EncodedText(text, self._tokenizer, self._encode, 0)
