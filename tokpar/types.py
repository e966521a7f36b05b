"""The values on the way from text to ids: Split -> Rows -> Join -> Seam, with Report and Facts.

Positions are code points of the text unless a name says bytes. Spans are UTF-8 bytes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal, TypeVar

import numpy as np

from tokpar.arrays import (
    IdArray,
    IntArray,
    SpanArray,
    concatenate_ids,
    copy_rows,
    offsets_of,
)

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
        return _RULE_OF[self]


_RULE_OF = {
    **dict.fromkeys(Theorem, Rule.PAIR),
    Theorem.ABSORBED_SPACE: Rule.STAGE,
    Theorem.STAGES_AT_SPACE: Rule.STAGE,
    Theorem.EDGE: Rule.EDGE,
}


CERTIFIED_CUTS = tuple(Rule)
"""Each rule certifies cuts: either side of such a seam may be encoded without the other side."""
Witness = tuple[tuple[str, str], ...]
"""(name, value) pairs that a checker needs to verify a seam."""


@dataclass(frozen=True, slots=True)
class Seam:
    """A place where two neighbouring pieces were joined, and the rule that licenses the place.

    `position`: code points. `rule`: the kind of seam (proofs/README.md), or None for an uncertified
    seam (approximate results only). `theorem`: the page in ``proofs/`` that proves the rule.
    `witness`: (name, value) pairs that a checker needs to verify the seam. `token`: how many ids of
    the text lie before the seam, without special tokens; -1 until the pieces are joined."""

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
    leaves out the first `absorbed` code points of the share (core_start + absorbed == start),
    because the tokenizer puts them back by itself (dummy prefix, theorem absorb). `cut`: what the
    planner proved about the left edge. A cut whose rule is None is a proposal of the planner, which
    the merger must certify. `divisible`: the cuts of the split's `licence` hold everywhere inside
    the chunk."""

    start: int
    stop: int
    core_start: int
    core_stop: int
    absorbed: int = 0
    cut: Seam | None = None
    divisible: bool = False


@dataclass(frozen=True, slots=True)
class Split:
    """The answer of a splitter for one text.

    `plan` and `why`: words for the report. `serial_regions`: [start, stop), code points, of the
    regions without a certified cut. `licence`: proves a cut in `divisible` chunks before every
    space that follows a character other than white space. An executor may divide such a chunk
    there."""

    chunks: Sequence[Chunk]
    plan: str = ""
    why: str = ""
    serial_regions: tuple[tuple[int, int], ...] = ()
    licence: Seam | None = None

    @classmethod
    def whole(cls, text: str, why: str) -> Split:
        """Returns a split of one chunk, with the reason `why`."""
        return cls((Chunk(0, len(text), 0, len(text)),), "serial", why)


def unite_chunks(left: Chunk, right: Chunk) -> Chunk:
    """Returns the one chunk that covers two neighbouring chunks."""
    return Chunk(
        left.start, right.stop, left.core_start, right.core_stop, left.absorbed, cut=left.cut
    )


def fuse_chunks(chunks: Sequence[Chunk], failed_seams: Sequence[int]) -> list[Chunk]:
    """Returns the chunks, the two chunks at each failed seam united. Seam i is before chunk i."""
    broken = set(failed_seams)
    whole: list[Chunk] = []
    for i, chunk in enumerate(chunks):
        if i in broken:
            whole[-1] = unite_chunks(whole[-1], chunk)
        else:
            whole.append(chunk)
    return whole


def stands_apart(chunks: Sequence[Chunk], i: int, length: int) -> bool:
    """True if both edges of chunk `i` are certified cuts or ends of the text, without overlap.

    Such a chunk has the same tokens as the whole text has there. `length`: code points of the
    text."""
    chunk = chunks[i]
    before = chunks[i - 1].stop if i else 0
    after = chunks[i + 1].start if i + 1 < len(chunks) else length
    return (before, chunk.stop) == (chunk.start, after) and all(
        _begins_apart(each, first=k == 0) for k, each in enumerate(chunks[i : i + 2], start=i)
    )


def _begins_apart(chunk: Chunk, *, first: bool) -> bool:
    """True if slice and core of `chunk` begin at one certified cut, or the chunk is the first."""
    if chunk.start != chunk.core_start:
        return False
    return first if chunk.cut is None else chunk.cut.rule in CERTIFIED_CUTS


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
Pieces = Sequence[Piece]
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
        lengths = [np.diff(part.offsets) for part in parts]
        spans = [part.spans for part in parts if part.spans is not None]
        return cls(
            concatenate_ids([part.ids[part.offsets[0] : part.offsets[-1]] for part in parts]),
            offsets_of(np.concatenate(lengths) if lengths else ()),
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
DIVIDED_SCHEMES = frozenset({"regex", "bert", "spaces", "dummy"})
"""The schemes whose texts may be cut at every space that follows another character."""


@dataclass(frozen=True, eq=False)
class Facts:
    """What proofs need to know of a tokenizer. A wrong fact gives wrong ids with a certificate.

    How the tokenizer likes to be run is in `EngineTraits`. Two `Facts` are equal only if they are
    the same object."""

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
    """A pattern for each Split stage. tokpar ships what is known of some patterns, and decides it
    for others as `engine` reads them (`patterns.known_pattern`, rule PAIR)."""
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
    """Why only the edges of added tokens can be licensed as seams (rule EDGE). None if other seams
    can be licensed too."""
    added_token_cuts_refused: str | None = "nothing is known of how it finds added tokens"
    """Why the edges of added tokens are not certified cuts (rule EDGE), or None if they are. They
    are when the engine matches added tokens first and runs the other stages on each segment between
    two added tokens."""
    first_prefix: bool = False
    """Only the segment that begins the text gets a prefix (Metaspace "first")."""
    tokens: Callable[[], Collection[bytes]] | None = None
    """Returns the bytes of all tokens of the model, if `tiles` is true or `sizes` is given. No
    proof reads them."""
    sizes: Callable[[IdArray], IntArray] | None = None
    """Returns the byte length of each id, int64, where only a normalizer keeps `tiles` false:
    tokens tile the segments that the normalizer does not change (theorem 45)."""
    pre_tokenizers: tuple[NormalizerStage, ...] = ()
    """The pre-tokenizer stages of the scheme "spaces"."""
    chars_before_mark: frozenset[str] | None = None
    """The characters that stand before "▁" in some token. None unless tokens are the only part of
    the model that reaches across a "▁" (theorem 24)."""
    adjacent: Callable[[], Collection[str]] | None = None
    """Returns the one-character tokens, and all pairs of neighbouring characters in a token. A cut
    between any other two characters is certified. None if that is not known."""

    proofs: dict[str, str] = field(default_factory=dict, init=False, repr=False)
    """The proofs that cut finders hand to checkers, by their sha256 (rule PAIR)."""
    _derived_values: dict[object, Any] = field(default_factory=dict, init=False, repr=False)

    def derive(self, make: Callable[[Facts], _Value]) -> _Value:
        """Returns `make(self)`. The result is made once and lives as long as these facts.

        A cache outside of this object could keep the facts and the tokenizer alive, because the
        result may refer to them."""
        if make not in self._derived_values:
            self._derived_values.setdefault(make, make(self))
        found: _Value = self._derived_values[make]
        return found


@dataclass(frozen=True, slots=True)
class EngineTraits:
    """How an engine likes to be run, and which texts it refuses. All fields are optional.

    No proof reads these fields. A wrong value costs time, or lets a text pass that the engine's own
    call refuses; the ids of all other texts stay right."""

    releases_gil: bool = False
    """`encode` releases the GIL, so other threads run."""
    returns_objects: bool = False
    """The batch call makes an object for each token, so small batches are faster."""
    wants_one_thread: Callable[[Sequence[str]], bool] | None = None
    """Returns True if these texts should run on one thread, because several threads would wait for
    each other. Asked again for each call."""
    check_text: Callable[[str], None] | None = None
    """Raises the error of the engine's own call for a text that the engine refuses.

    The engine may refuse a text for a single character, or for a string in `forbidden`. Nothing
    else: a stream is checked chunk by chunk. A text that is not cut is checked for `forbidden`
    only, because `encode` refuses the characters."""
    forbidden: frozenset[str] = frozenset()
    """Strings that `check_text` refuses anywhere in a text."""
    agreement: str = ""
    """The result of a comparison with another library, for reports: "same ids as tokenizers 0.23.3
    on 8,012 texts"."""


@dataclass(frozen=True, slots=True)
class Origin:
    """What the engine of an adapter runs, as the caller gave it. A checker reads it by itself.

    `source`: the tokenizer object of its library, the bytes of a ``tokenizer.json``, such a file
    parsed, or a `Vocabulary`. `settings`: the caller's settings that decide what is encoded;
    "no_file": why the ids may be others than those of the file."""

    source: object
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loader:
    """What made a tokenizer of a directory, or of a repository of the Hugging Face Hub.

    `name`: "AutoTokenizer" of transformers, or "tokenizer.json" if that file alone decides.
    `tokenizer_class`: the class that transformers chose, or None. `versions`: package -> version,
    of the packages that made the tokenizer."""

    name: str
    tokenizer_class: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        """For reports: "AutoTokenizer, class LlamaTokenizer, tokenizers 0.23.3"."""
        chosen = [] if self.tokenizer_class is None else [f"class {self.tokenizer_class}"]
        return ", ".join([self.name, *chosen, *map(" ".join, self.versions.items())])


@dataclass(frozen=True, slots=True)
class DecodingParts:
    """How a tokenizer decodes, part by part, for `Encoder.decode_stream`.

    `token_of`: the token of an id as `decoder` reads it; None for an id that `decode` leaves out;
    raises LookupError where `decode` raises. `in_bytes`: tokens are bytes, and the text is all
    bytes as UTF-8 with U+FFFD; else `decoder` is the "decoder" of a ``tokenizer.json``.
    `replacements`: what is replaced in the whole text afterwards, in order. `longest_token`: code
    points of the longest token. `decode`: the tokenizer's own call for all ids. `id_count`: ids
    from 0 on, of which most are tokens. `replace_regex`: (regex, content) -> what the engine's own
    Replace makes of one token; None: a Replace by a regex is refused. `state`: compared with ==;
    other parts have another."""

    token_of: Callable[[int], str | bytes | None]
    decode: Callable[[Sequence[int]], str]
    id_count: int
    in_bytes: bool = False
    decoder: Mapping[str, Any] | None = None
    replacements: tuple[tuple[str, str], ...] = ()
    longest_token: Callable[[], int] = lambda: 0
    replace_regex: Callable[[str, str], Callable[[str], str]] | None = None
    state: object = None


@dataclass(frozen=True, slots=True)
class Trust:
    """Which parts of a text could not spell a control token (docs/untrusted.md).

    `untrusted`: [start, stop) of each part, code points, ascending. `control`: the contents of the
    control tokens, ascending."""

    untrusted: tuple[tuple[int, int], ...]
    control: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TrustParts:
    """What an adapter knows about untrusted text (proofs/untrusted.md).

    `added_tokens`: all added tokens that the engine searches. `vocabulary`: all tokens in one
    string, of whose characters no name is made. `default`: the contents of the
    control tokens, if the caller names none. `why_refused`: content -> why it cannot be a control
    token. `given_ids`: the ids of these control tokens that ordinary text may get from the model
    -> their contents. `with_names`: content -> name; returns an adapter of named texts.
    `check_trusted`: raises the error of the own call for a trusted run that it refuses."""

    added_tokens: tuple[AddedToken, ...]
    vocabulary: Callable[[], str]
    default: frozenset[str]
    why_refused: Callable[[str], str | None]
    given_ids: Callable[[Collection[str]], Mapping[int, str]]
    with_names: Callable[[Mapping[str, str]], Any]
    check_trusted: Callable[[str], None] | None = None


@dataclass(frozen=True, slots=True)
class Report:
    """How an encoding was made.

    `plan` and `why`: in words. `chunks`: how many chunks the final plan had. `retries`: how many
    whole plans were thrown away. `repairs`: how many seams were repaired locally. `redundant`: how
    many code points were tokenized more than once. `seconds`: wall-clock seconds of each stage
    (split, tokenize, match, merge, convert). `serial_regions`: [start, stop), code points, of the
    regions without a certified cut. `agreement`: the result of a comparison of this engine's ids
    with the ids of the library that its vocabulary was made for, in words. `cache`: the counters of
    the segment cache over all texts so far (`SegmentCache.counters`); empty if the tokenizer has
    no cache, or if the text did not reach the cache. `trust`: the untrusted parts of the text and
    the control tokens, if the caller named parts."""

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
    trust: Trust | None = None
