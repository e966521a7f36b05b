"""The values from text to ids: Chunk -> Piece -> Seam -> Encoding, with Report and Facts.

Positions are code points of the text unless a name says bytes; spans are UTF-8 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import eq
from typing import Any, Literal, TypeVar, overload

import numpy as np

from tokpar.kernels import IdArray, IntArray, SpanArray

_Made = TypeVar("_Made")
Rule = Literal["K1", "K2", "K3", "K4", "K5", "K6", "K8"]
"""The kinds of seams that a theorem licenses (proofs/README.md)."""
Witness = tuple[tuple[str, int | str], ...]
"""What a checker needs to verify a seam: (name, value) pairs."""


@dataclass(frozen=True, slots=True)
class Seam:
    """Where two neighbouring pieces were joined, and what licenses it.

    `position`: code points. `rule`: its kind (proofs/README.md), or None for an uncertified seam
    (approximate results only). `theorem`: the page in ``proofs/`` it rests on. `witness`: what a
    checker needs to verify it, as (name, value) pairs. `token`: how many ids of the text, special
    tokens not counted, lie before the seam; -1 until the pieces are joined.
    """

    position: int
    rule: Rule | None
    theorem: str
    witness: Witness = ()
    token: int = -1


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Many seams that one rule licenses by one witness; `seam` stands for all of them.

    `positions`: code points, int64, (n,), ascending. `tokens`: how many ids lie before each.
    """

    seam: Seam
    positions: IntArray
    tokens: IntArray

    def __len__(self) -> int:
        return len(self.positions)

    def seam_at(self, k: int) -> Seam:
        """The k-th of them."""
        return replace(self.seam, position=int(self.positions[k]), token=int(self.tokens[k]))


@dataclass(frozen=True, slots=True)
class Chunk:
    """The slice [start, stop) of the text that is given to the tokenizer (code points).

    [core_start, core_stop) is its own share; the rest is overlap. `absorbed` code points in front
    (core_start + absorbed == start) are left out because the tokenizer puts them back by itself
    (dummy prefix, theorem absorb). `cut` is what the planner proved about the left edge; a cut
    whose rule is None is a place that the planner proposes, for the merger to certify.
    A chunk of kind "run" is never given to the tokenizer: theorem 11 gives its ids, `run` is
    (id, how many times).
    """

    start: int
    stop: int
    core_start: int
    core_stop: int
    absorbed: int = 0
    kind: Literal["text", "run"] = "text"
    cut: Seam | None = None
    run: tuple[int, int] | None = None


def tiles(chunks: Sequence[Chunk], length: int) -> bool:
    """Whether the shares of the chunks are the text, of `length` code points, end to end."""
    edges = [0] + [chunk.core_stop for chunk in chunks]
    return edges[-1] == length and all(
        chunk.core_start == edge for chunk, edge in zip(chunks, edges, strict=False)
    )


def stands_apart(chunks: Sequence[Chunk], i: int, length: int) -> bool:
    """Whether chunk `i` ends on either side at a certified cut or an end of the text, of `length`
    code points, and touches no neighbour: then it has the tokens the whole text has there."""
    chunk = chunks[i]
    before = chunks[i - 1].stop if i else 0
    after = chunks[i + 1].start if i + 1 < len(chunks) else length
    return (before, chunk.stop) == (chunk.start, after) and all(
        _begins_apart(each, first=k == 0) for k, each in enumerate(chunks[i : i + 2], start=i)
    )


def _begins_apart(chunk: Chunk, *, first: bool) -> bool:
    """Its text and share begin at one place, a certified cut unless it is the first."""
    if chunk.start != chunk.core_start or chunk.run is not None:
        return False
    return first if chunk.cut is None else chunk.cut.rule in ("K1", "K2", "K3")


@dataclass(frozen=True, slots=True)
class Piece:
    """What the tokenizer returned for a chunk.

    `ids`: uint32, shape (n,). `spans`: int64, shape (n, 2), UTF-8 bytes from the start of the
    chunk's text, or None when they were not asked for. `inner`: certified cuts at which the
    executor divided the chunk further, code points and ids counted from its start.
    """

    ids: IdArray
    spans: SpanArray | None = None
    inner: Cuts | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """Ids of the whole text and the seams they were joined at."""

    ids: IdArray
    seams: tuple[Seam, ...]


@dataclass(frozen=True, slots=True)
class Unjoined:
    """Seams that no rule licenses: `failed[k] = i` stands for the seam between chunks i-1 and i.

    They are mended locally, or with `restart` the splitter is asked for its next attempt and
    everything is encoded again.
    """

    failed: tuple[int, ...]
    why: str
    restart: bool = False


@dataclass(frozen=True, slots=True)
class AddedToken:
    """A token matched in the text before normalization and pre-tokenization."""

    content: str
    id: int
    lstrip: bool = False
    rstrip: bool = False
    single_word: bool = False
    normalized: bool = False
    special: bool = True


@dataclass(frozen=True, slots=True)
class NormalizerStage:
    """One normalizer of a sequence: its kind as HF names it, and its settings."""

    kind: str
    settings: tuple[tuple[str, object], ...] = ()

    def setting(self, name: str) -> object:
        """Value of one setting; KeyError if the stage has none of that name."""
        return dict(self.settings)[name]


Scheme = Literal["regex", "whole", "bert", "metaspace", "dummy", "none"]
"""How text falls apart before the model, see `Facts`."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of a tokenizer, as far as proofs need it. Compared by identity.

    `scheme` says how text falls apart before the model: a regex `family` (a name of the cut
    tables), not at all ("whole"), BERT's pairs, Metaspace with split=true, or a dummy prefix and no
    pre-tokenizer.
    `unprovable` is the reason why no seam of this tokenizer can be licensed, or None.
    `tiles`: the tokens' bytes, in order, are the text's UTF-8 bytes (byte level, no normalizer, no
    stripping), so positions follow from token lengths. `longest_token`: UTF-8 bytes.
    `undivided` is the reason why no seam inside a pre-token can be licensed (rules K4-K6), or None.
    `tokens` gives the bytes of all tokens of the model; only where `undivided` is None.
    `longest_word`: code points from which on WordPiece gives up on a word (rule K8), 0 elsewhere.
    """

    engine: str
    model: str
    scheme: Scheme = "none"
    family: str | None = None
    patterns: tuple[str, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    normalizers: tuple[NormalizerStage, ...] = ()
    prefix_space: bool = False
    byte_level: bool = False
    tiles: bool = False
    longest_token: int = 0
    unprovable: str | None = None
    undivided: str | None = "it is no byte-level BPE whose tokens make up the text"
    tokens: Callable[[], Collection[bytes]] | None = None
    longest_word: int = 0
    _derived: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def derived(self, make: Callable[[Facts], _Made]) -> _Made:
        """What `make` makes of these facts, made once and kept as long as they live. A cache
        elsewhere would keep them, and the tokenizer, alive where the result knows them."""
        if make not in self._derived:
            self._derived.setdefault(make, make(self))
        found: _Made = self._derived[make]
        return found


@dataclass(frozen=True, slots=True)
class Report:
    """How an encoding was made.

    `plan` and `why`: in words. `chunks`: how many the tokenizer was given, at the end. `retries`:
    whole plans thrown away. `repairs`: seams mended locally. `redundant`: code points tokenized
    more than once. `seconds`: per stage (split, tokenize, match, merge, convert), wall clock.
    `serial_regions`: [start, stop) in code points of what rule K7 kept whole. `agreement`: what is
    known of this engine's ids and those of the library that its vocabulary was made for, in words.
    """

    strategy: str
    plan: str = "serial"
    why: str = ""
    executor: str = "serial"
    chunks: int = 1
    retries: int = 0
    repairs: int = 0
    redundant: int = 0
    seconds: Mapping[str, float] = field(default_factory=dict)
    serial_regions: tuple[tuple[int, int], ...] = ()
    agreement: str = ""


@dataclass(frozen=True, eq=False)
class SeamRow(Sequence[Seam]):
    """Seams in the order of their positions: the `planned` ones, and the certified cuts between
    them, of which there may be millions, each made when it is asked for."""

    planned: tuple[Seam, ...]
    cuts: Cuts

    @cached_property
    def _places(self) -> IntArray:
        """Where in the row each planned seam stands."""
        own = np.array([seam.position for seam in self.planned], dtype=np.int64)
        places: IntArray = np.searchsorted(self.cuts.positions, own) + np.arange(len(own))
        return places

    def __len__(self) -> int:
        return len(self.planned) + len(self.cuts)

    @overload
    def __getitem__(self, k: int) -> Seam: ...
    @overload
    def __getitem__(self, k: slice) -> tuple[Seam, ...]: ...
    def __getitem__(self, k: int | slice) -> Seam | tuple[Seam, ...]:
        if isinstance(k, slice):
            return tuple(self[i] for i in range(*k.indices(len(self))))
        at = range(len(self))[k]
        before = int(np.searchsorted(self._places, at))
        if before < len(self.planned) and self._places[before] == at:
            return self.planned[before]
        return self.cuts.seam_at(at - before)

    def __iter__(self) -> Iterator[Seam]:
        like, first = self.cuts.seam, 0
        positions, tokens = self.cuts.positions.tolist(), self.cuts.tokens.tolist()
        for k, last in enumerate((*(self._places - np.arange(len(self._places))), None)):
            for position, token in zip(positions[first:last], tokens[first:last], strict=True):
                yield Seam(position, like.rule, like.theorem, like.witness, token)
            if last is not None:
                yield self.planned[k]
                first = last

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    __hash__ = None  # type: ignore[assignment]  # equal to tuples of seams, but made otherwise

    def __repr__(self) -> str:
        return f"<{len(self):,} seams, {len(self.planned):,} of them planned>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Encoding:
    """Ids of one text, the seams they were joined at, and how that was done.

    `ids`: uint32, shape (n,), read-only, special tokens, truncation and padding applied.
    Two encodings are equal when their ids are; comparing with a list of ints works too.
    """

    ids: IdArray
    seams: Sequence[Seam]
    report: Report
    locate: Callable[[], SpanArray]
    _spans: list[SpanArray] = field(default_factory=list)

    @property
    def spans(self) -> SpanArray:
        """int64, shape (n, 2): [start, stop) of each id in UTF-8 bytes of the text; (0, 0) for
        inserted special and padding tokens. Computed on first use. Raises LookupError when the
        tokenizer cannot tell where its tokens lie."""
        if not self._spans:
            spans = self.locate()
            spans.flags.writeable = False
            self._spans.append(spans)
        return self._spans[0]

    @property
    def lossless(self) -> bool:
        """True if every seam is licensed by a rule, or there is no seam."""
        seams = self.seams.planned if isinstance(self.seams, SeamRow) else self.seams
        return all(seam.rule is not None for seam in seams)

    def __len__(self) -> int:
        return len(self.ids)

    def __iter__(self) -> Iterator[int]:
        return iter(self.ids.tolist())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Encoding):
            return np.array_equal(self.ids, other.ids)
        if isinstance(other, (list, tuple, np.ndarray)):
            return np.array_equal(self.ids, np.asarray(other))
        return NotImplemented

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have no hash either

    def __repr__(self) -> str:
        how = "lossless" if self.lossless else "approximate"
        return (
            f"<Encoding of {len(self.ids)} ids, {len(self.seams)} seams, {how}, "
            f"strategy {self.report.strategy!r}>"
        )
