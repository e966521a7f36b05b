"""The values from text to ids: Split -> Rows -> Join -> Seam, with Report and Facts.

Positions are code points of the text unless a name says bytes; spans are UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

import numpy as np

from tokpar.arrays import IdArray, IntArray, SpanArray, concatenate_ids, offsets_of, together

_Made = TypeVar("_Made")
Rule = Literal["K1", "K2", "K3", "K4", "K5", "K6", "K8", "K9", "K10"]
"""The kinds of seams that a theorem licenses (proofs/README.md)."""
CERTIFIED_CUTS: tuple[Rule, ...] = ("K1", "K2", "K3", "K9", "K10")
"""Those at which either side may be encoded alone, whatever the other is."""
Witness = tuple[tuple[str, int | str], ...]
"""What a checker needs to verify a seam: (name, value) pairs."""


@dataclass(frozen=True, slots=True)
class Seam:
    """Where two neighbouring pieces were joined, and what licenses it.

    `position`: code points. `rule`: its kind (proofs/README.md), or None for an uncertified seam
    (approximate results only). `theorem`: the page in ``proofs/`` it rests on. `witness`: what a
    checker needs to verify it, as (name, value) pairs. `token`: how many ids of the text, special
    tokens not counted, lie before the seam; -1 until the pieces are joined."""

    position: int
    rule: Rule | None
    theorem: str
    witness: Witness = ()
    token: int = -1


@dataclass(frozen=True, slots=True)
class Chunk:
    """The slice [start, stop) of the text that is given to the tokenizer (code points).

    [core_start, core_stop) is its own share; the rest is overlap. `absorbed` code points in front
    (core_start + absorbed == start) are left out because the tokenizer puts them back by itself
    (dummy prefix, theorem absorb). `cut` is what the planner proved about the left edge; a cut
    whose rule is None is a place that the planner proposes, for the merger to certify.
    A chunk of kind "run" is never given to the tokenizer: theorem 11 gives its ids, `run` is
    (id, how many times). `divisible`: what the split's `licence` allows holds everywhere inside."""

    start: int
    stop: int
    core_start: int
    core_stop: int
    absorbed: int = 0
    kind: Literal["text", "run"] = "text"
    cut: Seam | None = None
    run: tuple[int, int] | None = None
    divisible: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """A splitter's whole answer for one text.

    `plan` and `why`: in words, for the report. `serial_regions`: [start, stop) in code points of
    what rule K7 keeps whole. `licence`: what proves a cut before every space, behind anything but
    white space, of a `divisible` chunk; whoever encodes such a chunk may divide it there."""

    chunks: Sequence[Chunk]
    plan: str = ""
    why: str = ""
    serial_regions: tuple[tuple[int, int], ...] = ()
    licence: Seam | None = None

    @classmethod
    def whole(cls, text: str, why: str) -> Split:
        """One chunk, and why."""
        return cls((Chunk(0, len(text), 0, len(text)),), "serial", why)


def tiles(chunks: Sequence[Chunk], length: int) -> bool:
    """Whether the shares of the chunks are the text, of `length` code points, end to end."""
    edges = [0] + [chunk.core_stop for chunk in chunks]
    return edges[-1] == length and all(
        chunk.core_start == edge for chunk, edge in zip(chunks, edges, strict=False)
    )


def united(left: Chunk, right: Chunk) -> Chunk:
    """One chunk of two neighbours."""
    return Chunk(
        left.start, right.stop, left.core_start, right.core_stop, left.absorbed, cut=left.cut
    )


def fused(chunks: Sequence[Chunk], failed: Sequence[int]) -> list[Chunk]:
    """One chunk of the two on either side of each failed seam; seam i is before chunk i."""
    broken = set(failed)
    whole: list[Chunk] = []
    for i, chunk in enumerate(chunks):
        if i in broken:
            whole[-1] = united(whole[-1], chunk)
        else:
            whole.append(chunk)
    return whole


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
    return first if chunk.cut is None else chunk.cut.rule in CERTIFIED_CUTS


@dataclass(frozen=True, slots=True)
class Piece:
    """What the tokenizer returned for a chunk.

    `ids`: uint32, shape (n,). `spans`: int64, shape (n, 2), UTF-8 bytes from the start of the
    chunk's text, or None when they were not asked for."""

    ids: IdArray
    spans: SpanArray | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """How two neighbouring pieces meet: of the left one the first `left` ids lie before the seam,
    of the right one the first `right`, which are left out."""

    seam: Seam
    left: int
    right: int


Chunks = Sequence[Chunk]
Pieces = Sequence[Piece]
Joins = list[Join | None]
"""One for each two neighbours; None where nothing licenses a seam between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The ids of many texts, one behind the other.

    `ids`: uint32, (n,). `offsets`: int64, (rows + 1,): the ids of text k are
    ids[offsets[k] : offsets[k + 1]]. `spans`: int64, (n, 2), UTF-8 bytes from the start of each
    text, or None when they were not asked for.

    >>> rows = Rows.of([[7, 8], [], [9]])
    >>> rows.offsets.tolist(), rows[0].tolist(), len(rows)
    ([0, 2, 2, 3], [7, 8], 3)
    """

    ids: IdArray
    offsets: IntArray
    spans: SpanArray | None = None

    @classmethod
    def of(cls, arrays: Iterable[Sequence[int] | IdArray]) -> Rows:
        """The rows of these arrays or lists of ids."""
        kept = [np.asarray(each, dtype=np.uint32) for each in arrays]
        return cls(concatenate_ids(kept), offsets_of(map(len, kept)))

    @classmethod
    def of_pieces(cls, pieces: Sequence[Piece]) -> Rows:
        """The rows of pieces, of which all or none have spans."""
        rows = cls.of(piece.ids for piece in pieces)
        spans = [piece.spans for piece in pieces if piece.spans is not None]
        return rows if not spans else replace(rows, spans=np.concatenate(spans))

    @classmethod
    def joined(cls, parts: Sequence[Rows]) -> Rows:
        """The rows of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        lengths = [np.diff(part.offsets) for part in parts]
        spans = [part.spans for part in parts if part.spans is not None]
        return cls(
            together([part.ids[part.offsets[0] : part.offsets[-1]] for part in parts]),
            offsets_of(np.concatenate(lengths) if lengths else ()),
            np.concatenate(spans) if spans else None,
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> IdArray:
        return self.ids[self.offsets[k] : self.offsets[k + 1]]

    def part(self, first: int, stop: int) -> Rows:
        """Rows [first, stop), their offsets from 0 on; no id is copied."""
        edges = self.offsets[first : stop + 1]
        own = slice(int(edges[0]), int(edges[-1]))
        spans = None if self.spans is None else self.spans[own]
        return Rows(self.ids[own], edges - edges[0], spans)

    def piece(self, k: int) -> Piece:
        """Row k."""
        own = slice(int(self.offsets[k]), int(self.offsets[k + 1]))
        return Piece(self.ids[own], None if self.spans is None else self.spans[own])


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


Scheme = Literal["regex", "whole", "bert", "metaspace", "dummy", "spaces", "none"]
"""How text falls apart before the model, see `Facts`."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What is known of a tokenizer: first what proofs need, then how it likes to be run. Compared
    by identity."""

    engine: str
    """Whose regexes run the patterns: "oniguruma", "fancy-regex", ..."""
    model: str
    """The kind of model: "BPE", "WordPiece", ..."""
    scheme: Scheme = "none"
    """How a text is split before the model: "regex" at the matches of `patterns`, one pattern after
    the other; "whole" not at all; "bert" by BERT's pairs of characters; "metaspace" with
    split=true; "dummy" with a dummy prefix and no pre-tokenizer; "spaces" by `pre_tokenizers`, of
    which only cuts before a space are known (theorem 50)."""
    family: str | None = None
    """The name of `patterns` in the tables of cuts; None: the windows of the patterns are decided
    at load, as `engine` reads them (rule K10)."""
    patterns: tuple[str, ...] = ()
    added_tokens: tuple[AddedToken, ...] = ()
    normalizers: tuple[NormalizerStage, ...] = ()
    prefix_space: bool = False
    """The engine puts a space before a text that begins with none."""
    byte_level: bool = False
    tiles: bool = False
    """The bytes of the tokens, in order, are the UTF-8 bytes of the text (byte level, no
    normalizer, no stripping), so token lengths give positions."""
    longest_token: int = 0
    """UTF-8 bytes."""
    unprovable: str | None = None
    """Why no seam can be licensed but at the edge of an added token (rule K9); None if it can."""
    added_token_cuts_refused: str | None = "nothing is known of how it finds added tokens"
    """Why the edges of added tokens are not certified cuts (rule K9); None if they are: the engine
    matches added tokens first and runs the other stages on each segment between two of them."""
    first_prefix: bool = False
    """Only the segment that begins the text gets a prefix (Metaspace "first")."""
    pretoken_cuts_refused: str | None = "it is no byte-level BPE whose tokens make up the text"
    """Why no seam inside a pre-token can be licensed (rules K4 to K6); None if it can."""
    tokens: Callable[[], Collection[bytes]] | None = None
    """Gives the bytes of all tokens of the model, where `pretoken_cuts_refused` is None."""
    token_count: int = 0
    """How many tokens that are; 0: not known."""
    sizes: Callable[[IdArray], IntArray] | None = None
    """Gives the bytes of each of some ids, int64, where `pretoken_cuts_refused` is None and `tiles`
    is false: tokens tile the segments that the normalizer leaves alone (theorem 45)."""
    longest_word: int = 0
    """Code points from which on WordPiece gives up on a word (rule K8); 0 for other models."""
    pre_tokenizers: tuple[NormalizerStage, ...] = ()
    """The stages of the scheme "spaces"."""
    chars_before_mark: frozenset[str] | None = None
    """The characters that stand before "▁" in some token, where nothing of the model but its
    tokens reaches across a "▁" (theorem 24); else None."""
    adjacent: Callable[[], Collection[str]] | None = None
    """Gives the tokens of one character, and all pairs of neighbouring characters in a token, where
    any other two characters may be cut apart; else None."""

    releases_gil: bool = False
    """`encode` lets other threads run."""
    returns_objects: bool = False
    """The batch call makes an object for each token, so it is best given little at a time."""
    has_own_cache: bool = False
    """The engine encodes new text sooner than a cache of ours learns it (`CachePolicy`)."""
    forbidden: frozenset[str] = frozenset()
    """Contents that `check_text` refuses wherever they stand."""
    agreement: str = ""
    """The result of a comparison with another library: "same ids as tokenizers 0.23.3 on 8,012
    texts"."""
    proofs: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """What finders hand to checkers, by its sha256 (rule K10)."""
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
    `cache`: what the cache of segments has seen up to then, of all texts: the fields
    of `CacheState`; empty where it has none, or the text did not come near it.
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
    cache: Mapping[str, int] = field(default_factory=dict)
