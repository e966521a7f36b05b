"""Ids of short stretches of text that recur, each encoded once. New ones go through the engine's
batch call many to a text, an added token between them, which keeps them apart (theorem 6.1)."""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

import numpy as np

from tokpar.errors import EngineError
from tokpar.facts.hf_facts import can_overlap
from tokpar.kernels import SPACES, IdArray
from tokpar.types import AddedToken

MOST_SEGMENTS = 1 << 18
"""Kept at a time, about 200 bytes each; 8 MB of English and Python sources have 108,000."""
LONGEST_KEPT = 64  # code points; longer segments hardly come again, and are 2 % of such a text
PER_TEXT = 64  # segments to a text of the batch call
WAVE_CHARS = 65536  # so that its words stay in the processor's cache; one wave after the other,
# because all but the engine's batch call holds the GIL
MOST_NEW = 0.7  # share of a wave's code points in new segments above which a memory does not pay

_SEGMENT = re.compile(r"\s*\S[^ ]*(?:(?<=\s) *[^ ]*)*")
_SEGMENT_EXACT = re.compile(rf"[{SPACES}]*[^{SPACES}][^ ]*(?:(?<=[{SPACES}]) *[^ ]*)*")
_SPACES_OF_PYTHON = "\x1c\x1d\x1e\x1f"
"""White space to Python's ``\\s``, which takes a third of the time, and to no engine."""
_PASSING = (KeyboardInterrupt, SystemExit, GeneratorExit)


class SegmentMemo:
    """`encode_many`: the engine's batch call. `separator`: see `separator_of`.

    May be used by several threads. The older half is forgotten when there are too many."""

    def __init__(
        self, encode_many: Callable[[Sequence[str]], Sequence[IdArray]], separator: AddedToken
    ) -> None:
        self._encode_many = encode_many
        self._separator = separator
        self._known: dict[str, bytes] = {}
        self._lock = threading.Lock()

    def encode(self, texts: Sequence[str], workers: int) -> list[IdArray | None]:
        """The ids of texts, each cut at every certified space; None for a text of a wave in which
        too much is new, or one segment fails."""
        found: list[IdArray | None] = []
        for wave in _waves(texts):
            divided = [segments_of(text) for text in wave]
            ids = self._of_segments(list(chain.from_iterable(divided)), workers)
            first = 0
            for segments in divided:
                last = first + len(segments)
                whole = None if ids is None else b"".join(ids[first:last])
                found.append(None if whole is None else np.frombuffer(whole, dtype=np.uint32))
                first = last
        return found

    def _of_segments(self, segments: Sequence[str], workers: int) -> Sequence[bytes] | None:
        known = self.recalled(segments)
        gaps = list(_gaps(known))
        if not gaps:
            return known  # type: ignore[return-value]
        new = {segments[k] for k in gaps}
        if sum(map(len, new)) > MOST_NEW * sum(map(len, segments)):
            return None
        try:
            fresh = self.learned(list(new), workers)
        except _PASSING:
            raise
        except BaseException:  # encoding the texts as they are tells which one it is
            return None
        for k in gaps:
            known[k] = fresh[segments[k]]
        return known  # type: ignore[return-value]

    def recalled(self, segments: Sequence[str]) -> list[bytes | None]:
        """The ids of each segment, uint32 in the machine's byte order; None if not known."""
        return list(map(self._known.get, segments))

    def learned(self, segments: Sequence[str], texts: int) -> dict[str, bytes]:
        """The ids of new segments, none of them empty, in at least `texts` texts for as many
        threads. Raises EngineError if the engine does not keep them apart."""
        size = max(1, -(-len(segments) // max(texts, len(segments) // PER_TEXT)))
        groups = [segments[k : k + size] for k in range(0, len(segments), size)]
        joined = [self._separator.content.join(group) for group in groups]
        found: dict[str, bytes] = {}
        for group, ids in zip(groups, self._encode_many(joined), strict=True):
            found.update(zip(group, self._apart(ids, len(group)), strict=True))
        kept = {segment: ids for segment, ids in found.items() if len(segment) <= LONGEST_KEPT}
        with self._lock:
            if len(self._known) + len(kept) > MOST_SEGMENTS:
                self._known = dict(list(self._known.items())[MOST_SEGMENTS // 2 :])
            self._known.update(kept)
        return found

    def _apart(self, ids: IdArray, count: int) -> list[bytes]:
        edges = np.flatnonzero(ids == self._separator.id)
        if len(edges) != count - 1:
            raise EngineError(
                f"expected {count - 1} separators {self._separator.content!r}, got {len(edges)}"
            )
        data, size = ids.tobytes(), ids.itemsize
        starts = [0, *((edges + 1) * size).tolist()]
        stops = [*(edges * size).tolist(), len(data)]
        return [data[start:stop] for start, stop in zip(starts, stops, strict=True)]


def segments_of(text: str) -> list[str]:
    """`text` cut before each space that follows a character other than white space."""
    body = text.rstrip(SPACES)
    odd = any(space in text for space in _SPACES_OF_PYTHON)
    segments: list[str] = (_SEGMENT_EXACT if odd else _SEGMENT).findall(body)
    rest = text[len(body) :]
    if rest.startswith(" ") or not segments:
        segments.append(rest)
    else:
        segments[-1] += rest
    return segments


def _waves(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    first = size = 0
    for k, text in enumerate(texts, start=1):
        size += len(text)
        if size >= WAVE_CHARS or k == len(texts):
            yield texts[first:k]
            first, size = k, 0


def _gaps(known: list[bytes | None]) -> Iterator[int]:
    """Where nothing is known; `index` passes over the rest ten times as fast as a loop would."""
    k = -1
    with suppress(ValueError):
        while True:
            k = known.index(None, k + 1)
            yield k


def separator_of(tokens: Sequence[AddedToken]) -> AddedToken | None:
    """An added token between texts that makes none over its edges appear, or disappear."""
    contents = [token.content for token in tokens if token.content]
    for token in tokens:
        flagged = token.lstrip or token.rstrip or token.single_word or token.normalized
        apart = not any(can_overlap(token.content, other) for other in contents)
        if token.content and not flagged and apart:
            return token
    return None
