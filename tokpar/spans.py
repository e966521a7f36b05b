"""Where the finished ids of a text lie: computed only when somebody asks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from tokpar.arrays import IdArray, SpanArray, byte_length, byte_starts, code_point_spans
from tokpar.interfaces import Ability, Locates, PostProcesses, TokenizerAdapter, facts_of
from tokpar.seams import NO_SEAMS, Seams
from tokpar.types import CERTIFIED_CUTS, Rows

_FIRST = 1 << 31


@runtime_checkable
class HasOffsets(Protocol, metaclass=Ability):
    """Tells the offsets of the tokens of many texts, in code points, sooner than `locate` does."""

    def char_offsets(self, texts: Sequence[str], rows: Rows) -> SpanArray:
        """[start, stop) of each token, code points of its text, int64 (n, 2), text by text. `rows`:
        the ids of the texts before special tokens, truncation and padding. LookupError where the
        offsets are not known, or for ids that are not those of the texts."""


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """What ids were made of: enough to tell where they lie.

    `own`: the ids before special tokens, truncation and padding; None if the engine's own call gave
    the final ones. `layout` gives `numbered(n)`, finished: where each final id came from; None if
    they were finished as those of a text of its own."""

    text: str
    tokenizer: TokenizerAdapter
    own: IdArray | None
    layout: Callable[[int], IdArray] | None = None

    def before_postprocess(self, final: IdArray) -> IdArray:
        """The ids before finishing. LookupError if the engine's own call hides them."""
        if self.own is not None:
            return self.own
        own = self.tokenizer.encode(self.text)
        if not np.array_equal(alone(self.tokenizer, own, self.text), final):
            name = self.tokenizer.name
            raise LookupError(f"{name} cannot tell where the tokens of its own call lie")
        return own

    def origin(self, count: int) -> IdArray:
        """Where each final id of `count` ones came from, see `numbered`."""
        if self.layout is not None:
            return self.layout(count)
        return alone(self.tokenizer, numbered(count), self.text)

    def spans(self, final: IdArray, seams: Seams, *, code_points: bool = False) -> SpanArray:
        """Spans of the final ids, (0, 0) for what finishing inserted; UTF-8 bytes, or code
        points."""
        own = Rows.of([self.before_postprocess(final)])
        spans = spans_of(self.tokenizer, [self.text], own, [seams], code_points=code_points)
        return finished_spans(spans, self.origin(len(own.ids)))

    def truncated(self, final: IdArray) -> bool:
        """Finishing left out ids of the text."""
        if not isinstance(self.tokenizer, PostProcesses) or self.tokenizer.around is not None:
            return False
        own = self.before_postprocess(final)
        return int(np.count_nonzero(self.origin(len(own)) >= _FIRST)) < len(own)


def alone(tokenizer: TokenizerAdapter, ids: IdArray, text: str) -> IdArray:
    """`ids` finished as those of a text of its own."""
    if not isinstance(tokenizer, PostProcesses):
        return ids
    return tokenizer.postprocess(Rows.of([ids]), [text])[0]


def numbered(length: int) -> IdArray:
    """Stand-ins for ids: finishing never looks at values, so they tell where each came from."""
    return np.arange(_FIRST, _FIRST + length, dtype=np.uint32)


def finished_spans(spans: SpanArray, origin: IdArray) -> SpanArray:
    """Spans of final ids by where these came from, see `numbered`; (0, 0) for inserted ids."""
    finished = np.zeros((len(origin), 2), dtype=np.int64)
    core = origin >= _FIRST
    finished[core] = spans[origin[core] - _FIRST]
    return finished


def spans_of(
    tokenizer: TokenizerAdapter,
    texts: Sequence[str],
    rows: Rows,
    seams: Sequence[Seams] | None = None,
    *,
    code_points: bool,
) -> SpanArray:
    """Spans of the tokens of texts, text by text, in code points or UTF-8 bytes of each text.

    `rows`: ids before finishing; `seams`: where those of each text were joined. LookupError if the
    tokenizer cannot tell."""
    seams = [NO_SEAMS] * len(texts) if seams is None else seams
    if not facts_of(tokenizer).tiles and isinstance(tokenizer, HasOffsets):
        spans = tokenizer.char_offsets(texts, rows)
        return spans if code_points else _in_bytes(spans, texts, rows)
    if not isinstance(tokenizer, Locates):
        raise LookupError(f"{tokenizer.name} cannot tell where its tokens lie")
    located = [np.empty((0, 2), dtype=np.int64)]
    for k, text in enumerate(texts):
        if facts_of(tokenizer).tiles or not len(seams[k].planned):
            spans = tokenizer.locate(rows[k], text)
        else:
            spans = _locate_each(text, tokenizer, rows[k], seams[k])
        located.append(code_point_spans(spans, text) if code_points else spans)
    return np.concatenate(located)


def _in_bytes(spans: SpanArray, texts: Sequence[str], rows: Rows) -> SpanArray:
    """Code point spans as UTF-8 byte spans."""
    found = spans.copy()
    for k, text in enumerate(texts):
        if not text.isascii():
            own = slice(rows.offsets[k], rows.offsets[k + 1])
            found[own] = byte_starts(text)[spans[own]]
    return found


def _locate_each(text: str, tokenizer: Locates, ids: IdArray, seams: Seams) -> SpanArray:
    """Part by part, so that an engine that must encode again never holds the whole text. Parts end
    at certified cuts; seams of other kinds lie within words, and the engine must see both sides."""
    planned = map(seams.planned.seam, range(len(seams.planned)))
    cuts = [seam for seam in planned if seam.rule in CERTIFIED_CUTS]
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
