"""Where the finished ids of a text lie: computed only when somebody asks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokpar.interfaces import Finishes, Locates, TokenizerAdapter, facts_of
from tokpar.kernels import IdArray, SpanArray, byte_length
from tokpar.types import Seam

_FIRST = 1 << 31


def locate_whole(text: str, tokenizer: TokenizerAdapter, final: IdArray) -> SpanArray:
    """Spans for ids that came out of the engine's own call."""
    ids = tokenizer.encode(text)
    finisher = tokenizer if isinstance(tokenizer, Finishes) else None
    finished = ids if finisher is None else finisher.finish(ids, text)
    if not np.array_equal(finished, final):
        raise LookupError(f"{tokenizer.name} cannot tell where the tokens of its own call lie")
    return locate_final(text, tokenizer, ids, (), finisher)


def locate_final(
    text: str,
    tokenizer: TokenizerAdapter,
    ids: IdArray,
    seams: Sequence[Seam],
    finisher: Finishes | None,
) -> SpanArray:
    """UTF-8 byte spans of the finished ids, (0, 0) for what finishing inserted."""
    if not isinstance(tokenizer, Locates):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")
    if facts_of(tokenizer).tiles or not seams:
        spans = tokenizer.locate(ids, text)
    else:
        spans = _locate_each(text, tokenizer, ids, seams)
    if finisher is None:
        return spans
    return finished_spans(spans, finisher.finish(numbered(len(ids)), text))


def numbered(length: int) -> IdArray:
    """Stand-ins for ids that tell, once finished, where each final id came from: finishing never
    looks at values."""
    return np.arange(_FIRST, _FIRST + length, dtype=np.uint32)


def finished_spans(spans: SpanArray, origin: IdArray) -> SpanArray:
    """`spans` laid out as finishing laid out `numbered`; (0, 0) for what it inserted."""
    final = np.zeros((len(origin), 2), dtype=np.int64)
    core = origin >= _FIRST
    final[core] = spans[origin[core] - _FIRST]
    return final


def _locate_each(text: str, tokenizer: Locates, ids: IdArray, seams: Sequence[Seam]) -> SpanArray:
    """Part by part, so that an engine that must encode again never holds the whole text. Parts end
    at certified cuts; seams of other kinds lie within words, and the engine must see both sides."""
    cuts = [seam for seam in seams if seam.rule in ("K1", "K2", "K3")]
    places = [0, *(seam.position for seam in cuts), len(text)]
    edges = [0, *(seam.token for seam in cuts), len(ids)]
    absorbed = [0, *(int(dict(seam.witness).get("absorbed", 0)) for seam in cuts)]
    located = []
    base = 0
    for k, left_out in enumerate(absorbed):
        part = text[places[k] + left_out : places[k + 1]]
        spans = tokenizer.locate(ids[edges[k] : edges[k + 1]], part)
        shifted = spans + (base + left_out)
        if left_out and len(spans):
            # The dummy prefix stands for the absorbed space. Engines place it on the character
            # after it, which tells a prefix that is a token of its own.
            shifted[0, 0] = base
            if len(spans) > 1 and spans[1, 0] == spans[0, 0]:
                shifted[0, 1] = base + left_out
        located.append(shifted)
        base += byte_length(part) + left_out
    return np.concatenate(located)
