"""The values on the way from text to ids: Split -> Rows -> Join -> Seam, with Report and Facts.

Positions are code points of the text unless a name says bytes. Spans are UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, TypeVar

import numpy as np

from tokpar.arrays import IdArray, IntArray, SpanArray, concatenate_ids, copy_rows, offsets_of

_Value = TypeVar("_Value")


class Rule(StrEnum):
    """The three kinds of cuts that a theorem licenses (docs/conditions.md). Equal to its name.

    `PAIR`: two characters whose cut holds whatever stands around them. `STAGE`: what all stages of
    the tokenizer do at a space, or between two tokens. `EDGE`: either end of an added token."""

    PAIR = "PAIR"
    STAGE = "STAGE"
    EDGE = "EDGE"

    __repr__ = str.__repr__


class Theorem(StrEnum):
    """The theorems that license seams: a page in ``proofs/`` each. Equal to its number, "20"."""

    LOCAL_PAIR = "4.8"
    ABSORBED_SPACE = "6.4"
    SPACE_AFTER_NONSPACE = "20"
    EDGE = "29"
    PAIR = "40"
    PAIR_OF_SPLITS = "42"
    STAGES_AT_SPACE = "50"

    __repr__ = str.__repr__

    @property
    def rule(self) -> Rule:
        """The kind of the seams that the theorem licenses."""
        if self in (Theorem.ABSORBED_SPACE, Theorem.STAGES_AT_SPACE):
            return Rule.STAGE
        return Rule.EDGE if self == Theorem.EDGE else Rule.PAIR


CERTIFIED_CUTS = tuple(Rule)
"""Each rule certifies cuts: either side of such a seam may be encoded without the other side."""
Witness = tuple[tuple[str, str], ...]
"""(name, value) pairs that a checker needs to verify a seam."""


@dataclass(frozen=True, slots=True)
class Seam:
    """A place where two neighbouring pieces were joined, and the rule that licenses the place.

    `position`: code points. `rule`: the kind of seam, or None for an uncertified seam (approximate
    results only). `theorem`: the page in ``proofs/`` that proves it. `witness`: what a checker
    needs to verify the seam. `token`: how many ids of the text lie before the seam, without special
    tokens; -1 until the pieces are joined."""

    position: int
    rule: Rule | None
    theorem: str
    witness: Witness = ()
    token: int = -1

    @classmethod
    def licensed_by(cls, theorem: Theorem, position: int, witness: Witness = ()) -> Seam:
        """Returns the seam at `position` that `theorem` licenses."""
        return cls(position, theorem.rule, theorem, witness)

    @property
    def absorbed(self) -> int:
        """How many code points after the cut the right side leaves out (theorem 6.4)."""
        return int(dict(self.witness).get("absorbed", 0))


@dataclass(frozen=True, slots=True)
class Chunk:
    """The slice [start, stop) of the text that the tokenizer encodes (code points).

    [core_start, core_stop) is the chunk's own share of the text; the rest is overlap. The slice
    leaves out the first `absorbed` code points of the share (core_start + absorbed == start): the
    tokenizer puts them back (theorem 6.4). `cut`: what the planner proved about the left edge, or
    proposes, if its rule is None; the merger must certify it then."""

    start: int
    stop: int
    core_start: int
    core_stop: int
    absorbed: int = 0
    cut: Seam | None = None


@dataclass(frozen=True, slots=True)
class Split:
    """The answer of a splitter for one text.

    `plan` and `why`: words for the report. `serial_regions`: [start, stop), code points, of the
    regions without a certified cut."""

    chunks: Sequence[Chunk]
    plan: str = ""
    why: str = ""
    serial_regions: tuple[tuple[int, int], ...] = ()

    @classmethod
    def whole(cls, text: str, why: str) -> Split:
        """Returns a split of one chunk, with the reason `why`."""
        return cls((Chunk(0, len(text), 0, len(text)),), "serial", why)


@dataclass(frozen=True, slots=True)
class Piece:
    """The ids that the tokenizer returned for a chunk.

    `ids`: uint32, shape (n,). `spans`: int64, shape (n, 2), UTF-8 bytes from the start of the
    chunk's text, or None when no spans were asked for."""

    ids: IdArray
    spans: SpanArray | None = None


@dataclass(frozen=True, slots=True)
class Join:
    """How two neighbouring pieces meet.

    The left piece keeps its first `left` ids. The right piece drops its first `right` ids."""

    seam: Seam
    left: int
    right: int


Chunks = Sequence[Chunk]
"""The chunks of a text, in order."""
Pieces = Sequence[Piece]
"""The ids of each chunk, in the order of the chunks."""
Joins = list[Join | None]
"""One join for each pair of neighbours; None where no rule licenses a seam between them."""


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The ids of many texts in one array.

    `ids`: uint32, (n,). `offsets`: int64, (rows + 1,). The ids of text k are
    ids[offsets[k] : offsets[k + 1]]. `spans`: int64, (n, 2), UTF-8 bytes from the start of each
    text, or None when no spans were asked for.

    >>> rows = Rows.of([[7, 8], [], [9]])
    >>> rows.offsets.tolist(), rows[0].tolist(), len(rows)
    ([0, 2, 2, 3], [7, 8], 3)
    """

    ids: IdArray
    offsets: IntArray
    spans: SpanArray | None = None

    @classmethod
    def of(cls, arrays: Iterable[Sequence[int] | IdArray]) -> Rows:
        """Returns rows with one row for each array or list of ids."""
        kept = [np.asarray(each, dtype=np.uint32) for each in arrays]
        return cls(concatenate_ids(kept), offsets_of(map(len, kept)))

    @classmethod
    def of_pieces(cls, pieces: Sequence[Piece]) -> Rows:
        """Returns rows with one row for each piece. Either all pieces have spans or none has."""
        rows = cls.of(piece.ids for piece in pieces)
        spans = [piece.spans for piece in pieces if piece.spans is not None]
        return rows if not spans else replace(rows, spans=np.concatenate(spans))

    @classmethod
    def concatenate(cls, parts: Sequence[Rows]) -> Rows:
        """Returns the rows of all parts, in order."""
        if len(parts) == 1:
            return parts[0]
        spans = [part.spans for part in parts if part.spans is not None]
        return cls(
            concatenate_ids([part.ids[part.offsets[0] : part.offsets[-1]] for part in parts]),
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts]) if parts else ()),
            np.concatenate(spans) if spans else None,
        )

    @classmethod
    def scatter(cls, count: int, groups: Iterable[tuple[Sequence[int] | IntArray, Rows]]) -> Rows:
        """Returns `count` rows from groups of rows without spans, each with its rows' places.

        `places`: ascending. A place may be in several groups if all its rows but one are empty."""
        known = [(np.asarray(places, dtype=np.int64), rows) for places, rows in groups]
        known = [(places, rows) for places, rows in known if len(places)]
        if len(known) == 1 and len(known[0][0]) == count:
            return known[0][1]
        lengths = np.zeros(count, dtype=np.int64)
        for places, rows in known:
            lengths[places] += np.diff(rows.offsets)
        offsets = offsets_of(lengths)
        ids = np.empty(offsets[-1], dtype=np.uint32)
        for places, rows in known:
            copy_rows(rows.ids, rows.offsets[:-1], np.diff(rows.offsets), ids, offsets[places])
        return cls(ids, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, k: int) -> IdArray:
        return self.ids[self.offsets[k] : self.offsets[k + 1]]

    def part(self, first: int, stop: int) -> Rows:
        """Returns the rows [first, stop) with offsets that begin at 0. No id is copied."""
        edges = self.offsets[first : stop + 1]
        own = slice(int(edges[0]), int(edges[-1]))
        spans = None if self.spans is None else self.spans[own]
        return Rows(self.ids[own], edges - edges[0], spans)

    def piece(self, k: int) -> Piece:
        """Returns row k as a `Piece`."""
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
    """One normalizer of a sequence: its kind, as Hugging Face names it, and its settings."""

    kind: str
    settings: tuple[tuple[str, object], ...] = ()

    def setting(self, name: str) -> object:
        """Returns the value of one setting. KeyError if the stage has no setting of that name."""
        return dict(self.settings)[name]


Scheme = Literal["regex", "whole", "bert", "metaspace", "dummy", "spaces", "none"]
"""How a text is split before the model; see `Facts`."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What proofs need to know of a tokenizer. A wrong fact gives wrong ids with a certificate.

    Two `Facts` are equal only if they are the same object."""

    engine: str
    """The regex engine that runs the patterns: "oniguruma", "fancy-regex", ..."""
    model: str
    """The kind of model: "BPE", "WordPiece", ..."""
    scheme: Scheme = "none"
    """How a text is split before the model.

    "regex": at the matches of `patterns`, one pattern after the other. "whole": not at all.
    "bert": by BERT's pairs of characters. "metaspace": Metaspace with split=true. "dummy": a dummy
    prefix and no pre-tokenizer. "spaces": by `pre_tokenizers`, whose cuts are known only before a
    space (theorem 50)."""
    patterns: tuple[str, ...] = ()
    """A pattern for each Split stage, as `engine` reads it (`patterns.known_pattern`)."""
    added_tokens: tuple[AddedToken, ...] = ()
    normalizers: tuple[NormalizerStage, ...] = ()
    prefix_space: bool = False
    """The engine puts a space before a text that does not begin with a space."""
    byte_level: bool = False
    tiles: bool = False
    """The bytes of the tokens, in order, are the UTF-8 bytes of the text (byte level, no
    normalizer, no stripping). Token lengths then give token positions."""
    longest_token: int = 0
    """The length of the longest token in UTF-8 bytes."""
    unprovable: str | None = None
    """Why only the edges of added tokens can be licensed as seams (rule EDGE), or None."""
    added_token_cuts_refused: str | None = "nothing is known of how it finds added tokens"
    """Why the edges of added tokens are not certified cuts (rule EDGE). None if the engine matches
    added tokens first and runs the other stages on each segment between two added tokens."""
    first_prefix: bool = False
    """Only the segment that begins the text gets a prefix (Metaspace "first")."""
    tokens: Callable[[], Collection[bytes]] | None = None
    """Returns the bytes of all tokens, if `tiles` or `sizes` is given. No proof reads them."""
    sizes: Callable[[IdArray], IntArray] | None = None
    """Returns the byte length of each id, int64, where only a normalizer keeps `tiles` false:
    tokens tile the segments that the normalizer does not change (theorem 45)."""
    pre_tokenizers: tuple[NormalizerStage, ...] = ()
    """The pre-tokenizer stages of the scheme "spaces"; and of "regex", if they do more than split
    at `patterns`, whose certified pairs are theirs, too."""
    chars_before_mark: frozenset[str] | None = None
    """The characters that stand before "▁" in some token, or before " " if no stage changes spaces.
    None unless tokens are the only part of the model that reaches across it (theorem 24)."""
    adjacent: Callable[[], Collection[str]] | None = None
    """Returns the one-character tokens, and all pairs of neighbouring characters in a token. A cut
    between any other two characters is certified. None if that is not known."""

    proofs: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """The proofs that cut finders hand to checkers, by their sha256 (rule PAIR)."""
    _derived_values: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def derive(self, make: Callable[[Facts], _Value]) -> _Value:
        """Returns `make(self)`, made once. The result lives as long as these facts: a cache outside
        of them could keep facts and tokenizer alive, because the result may refer to them."""
        if make not in self._derived_values:
            self._derived_values.setdefault(make, make(self))
        found: _Value = self._derived_values[make]
        return found


@dataclass(frozen=True, slots=True)
class Trust:
    """Which parts of a text could not spell a control token (docs/untrusted.md).

    `untrusted`: [start, stop) of each part, code points, ascending. `control`: the contents of the
    control tokens, ascending."""

    untrusted: tuple[tuple[int, int], ...]
    control: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """How an encoding was made; `plan` and `why` say it in words.

    `chunks`: how many the final plan had. `retries`: how many whole plans were thrown away.
    `repairs`: how many seams were repaired. `redundant`: how many code points were tokenized more
    than once. `seconds`: wall-clock seconds of each stage (split, tokenize, match, merge, convert).
    `serial_regions`: [start, stop), code points, of regions without a certified cut. `agreement`:
    see `EngineTraits`.
    `trust`: the untrusted parts and the control tokens, if the caller named parts.
    `why_not_compiled`: why the tokenizer had no compiled call; empty if it had one."""

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
    trust: Trust | None = None
    why_not_compiled: str = ""
