"""The four interfaces of one method each, and the eight abilities that an adapter may have.

An object fits an interface if the object has the method. Nothing needs to be subclassed. A member
of an interface that is marked `optional` may be missing. A `Plan` looks the optional members up
once. An object has an ability if `isinstance` says so, which asks the object for every member."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, SpanArray
from tokpar.types import (
    Chunk,
    Chunks,
    EngineTraits,
    Facts,
    Joins,
    Loader,
    Origin,
    Pieces,
    Rows,
    Seam,
    Split,
    TrustParts,
    fuse_chunks,
)

_Member = TypeVar("_Member", bound=Callable[..., Any])


Flags = Sequence[bool] | NDArray[np.bool_]
CachedRows = tuple[Rows, Flags]
"""The rows of texts, and which of the texts a cache answered."""


def optional(member: _Member) -> _Member:
    """Mark a member of an interface or ability that an object may lack."""
    member.is_optional = True  # type: ignore[attr-defined]
    return member


def is_optional(member: object) -> bool:
    """Returns whether a method or property of an interface is marked `optional`."""
    return hasattr(getattr(member, "fget", member), "is_optional")


class TokenizerAdapter(Protocol):
    """A tokenizer: turns a text into ids."""

    @property
    def name(self) -> str: ...

    def encode(self, text: str) -> IdArray:
        """Returns the serial ids of `text` before special tokens, truncation and padding.

        uint32, (n,)."""

    if not TYPE_CHECKING:  # a type checker would demand the optional member

        @optional
        def encode_whole(self, text: str) -> IdArray:
            """Returns the ids of the engine's own serial call, after post-processing.

            Short texts take this call."""


class Splitter(Protocol):
    """Decides where to cut a text."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        """Returns the chunks in order, and why the text is cut this way.

        The cores of the chunks tile the text. `attempt` counts 0, 1, ...: a text whose pieces could
        not be joined is split again. Some attempt must return one chunk, or the text would never be
        encoded."""

    if not TYPE_CHECKING:  # a type checker would demand the optional member

        @optional
        def licence(self, tokenizer: TokenizerAdapter) -> Seam | None:
            """Returns the seam by which a cache may cut whole texts, before the splitter is asked.

            The seam licenses a cut before every space that follows a character other than white
            space, in any text of the tokenizer. None if there is no such licence. An added token in
            a text may forbid a cut. The cache looks for such added tokens."""


class Executor(Protocol):
    """Runs the tokenizer on slices of texts: in this thread, in other threads, in processes."""

    @property
    def name(self) -> str: ...

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text, in order.

        The first error is raised as an EngineError that names the row. Thread and process pools
        stay usable after an error."""

    if not TYPE_CHECKING:  # a type checker would demand the optional members

        @property
        @optional
        def without_cache(self) -> str:
            """The name of the executor that encodes the texts that the cache does not answer.

            Without this member, `name`."""

        @optional
        def look_up(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> CachedRows:
            """Returns the rows of `texts` from a cache, and which texts the cache answered.

            Every text may be cut before each space that follows a character other than white space.
            A text that the cache does not answer has an empty row."""


class Merger(Protocol):
    """Decides where neighbouring pieces meet."""

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        """Returns one join for each pair of neighbours; None where no rule licenses a seam."""

    if not TYPE_CHECKING:  # a type checker would demand the optional members

        @property
        @optional
        def matches_spans(self) -> bool:
            """True if the merger compares where the tokens of overlapping chunks lie."""

        @optional
        def mend(
            self,
            text: str,
            chunks: Sequence[Chunk],
            failed_seams: Sequence[int],
            tokenizer: TokenizerAdapter,
        ) -> list[Chunk] | None:
            """Returns other chunks, without the seams in `failed_seams`.

            Seam i is the seam between chunks i - 1 and i. Chunks that do not change are not encoded
            again. None: start over with the splitter's next attempt. Without this member, the two
            chunks at a failed seam become one chunk."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A registered way to split and merge. The keyword parameters of `build` are its options.

    `approximate_if`: (option, value) pairs that make an otherwise lossless strategy approximate."""

    name: str
    lossless: bool
    source: str
    conditions: str
    build: Callable[..., tuple[Splitter, Merger]]
    approximate_if: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """A registered way to get an adapter.

    `load(source, **settings)` returns an adapter, or None for a kind of source that it does not
    load. A source that is not `automatic` is asked only by its name:
    ``tokpar.load(path, engine=name)``."""

    name: str
    load: Callable[..., TokenizerAdapter | None]
    automatic: bool = True


@runtime_checkable
class HasFacts(Protocol):
    """An adapter that has the facts that proofs need. Texts are never cut without facts.

    It may also have `origin`, see `origin_of`."""

    @property
    def facts(self) -> Facts: ...


@runtime_checkable
class HasTraits(Protocol):
    """An adapter that says how its engine likes to be run."""

    @property
    def traits(self) -> EngineTraits: ...


@runtime_checkable
class EncodesMany(Protocol):
    """An adapter with a native batch call that releases the GIL."""

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text, in order. Each row equals `encode` of its text."""


@runtime_checkable
class HasSegmentCache(Protocol):
    """An adapter with a cache of segments, because a lookup is faster than its engine."""

    @property
    def has_segment_cache(self) -> bool:
        """True if the cache can be used: no other ids stand between the ids of two segments."""

    @property
    def counters(self) -> Mapping[str, int]:
        """The counters of the cache so far, by name: `Report.cache`."""

    def cached_rows(self, texts: Sequence[str], workers: int) -> CachedRows:
        """Returns the ids of `texts` from the cache, and which texts the cache answered.

        Every text may be cut before each space that follows a character other than white space,
        unless an added token in the text forbids a cut. A text with such an added token, or a text
        for which the cache does not pay, has an empty row."""


@runtime_checkable
class Locates(Protocol):
    """An adapter that locates tokens in the text."""

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """Returns the UTF-8 byte spans, int64 (n, 2), of `ids`, the ids of `encode(text)`."""


@runtime_checkable
class PostProcesses(Protocol):
    """An adapter that post-processes the ids of a text: special tokens, truncation, padding."""

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Returns the final ids of one batch, padded to the longest text if the settings say so.

        Post-processing selects, inserts and pads ids. It never reads their values, so callers may
        pass numbers in place of ids. Raises LookupError if the adapter can post-process only the
        true ids of `texts`."""

    @property
    def special_tokens(self) -> tuple[IdArray, IdArray] | None:
        """The ids inserted before and after every text. None if they depend on the text.

        They do not depend on truncation and padding."""

    @property
    def truncates_to(self) -> int | None:
        """The most ids that post-processing keeps, special tokens included; None: it keeps all."""

    @property
    def pads(self) -> bool:
        """True if post-processing may pad."""


@runtime_checkable
class Decodes(Protocol):
    """An adapter that turns ids back into text.

    It may also have `decode_batch(rows)`, one call of the engine for many rows of ids;
    `decode_by_table(rows)`, the texts of `decode`, None for each row that only `decode` knows;
    `decoding_parts(skip_special_tokens)`, the `DecodingParts` of `decode` as the tokenizer is now,
    which raises OptionError if they are not known; and `token_bytes(id_)`, see `token_bytes_of`."""

    def decode(self, ids: Sequence[int]) -> str: ...


@runtime_checkable
class HasSpec(Protocol):
    """An adapter that can be built again in another process."""

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], Mapping[str, Any]]:
        """Returns a picklable module-level function and its keyword arguments.

        Calling the function with the arguments returns an adapter with the same `encode`."""


def facts_of(tokenizer: TokenizerAdapter) -> Facts:
    """Returns the facts of the adapter. An adapter without facts gets facts that allow no cut."""
    facts: Facts | None = getattr(tokenizer, "facts", None)  # called often, so not by isinstance
    said = "the tokenizer tells no facts about itself"
    return facts or Facts(engine="unknown", model="unknown", unprovable=said)


_NO_TRAITS = EngineTraits()


def traits_of(tokenizer: TokenizerAdapter) -> EngineTraits:
    """Returns how the engine of the adapter likes to be run. The defaults if the adapter says
    nothing."""
    traits: EngineTraits | None = getattr(tokenizer, "traits", None)  # see `facts_of`
    return traits or _NO_TRAITS


def origin_of(tokenizer: TokenizerAdapter) -> Origin | None:
    """Returns what the engine of the adapter runs, or None if no file tells that. A checker derives
    the facts from it again and compares them."""
    origin: Origin | None = getattr(tokenizer, "origin", None)
    return origin


def loader_of(tokenizer: TokenizerAdapter) -> Loader | None:
    """Returns what made the tokenizer of a directory or of a repository of the Hugging Face Hub.
    None for a tokenizer of an object or of a file."""
    loader: Loader | None = getattr(tokenizer, "loader", None)
    return loader


def trust_parts_of(tokenizer: TokenizerAdapter) -> TrustParts | None:
    """Returns the adapter's `trust_parts()`, or None if it has none: no part of a text can be
    untrusted. Raises OptionError as the method does."""
    call = _optional_method(tokenizer, "trust_parts")
    parts: TrustParts | None = None if call is None else call()
    return parts


def vocabulary_of(tokenizer: TokenizerAdapter) -> Any:
    """Returns what the adapter's `vocabulary()` returns, or None if no file can tell it.

    For a tokenizer of Hugging Face: its ``tokenizer.json`` in format 1.0, parsed. For tiktoken, and
    byte-level BPE in Python: a `tokpar.files.vocabulary.Vocabulary`."""
    call = _optional_method(tokenizer, "vocabulary")
    return None if call is None else call()


def special_ids_of(tokenizer: TokenizerAdapter) -> Mapping[str, int]:
    """Returns the ids of the special tokens that the caller's object names, as transformers names
    them: "bos_token", "eos_token". Empty if the object names none."""
    ids: Mapping[str, int] = getattr(tokenizer, "special_ids", {})
    return ids


def own_call_of(tokenizer: TokenizerAdapter) -> Callable[[str], IdArray] | None:
    """Returns the engine's own serial call, post-processing included, or None."""
    return _optional_method(tokenizer, "encode_whole")


def later_call_of(tokenizer: object) -> Any:
    """Returns the `LaterCall` of the adapter: its compiled call as soon as there is one. None if
    there will be none."""
    return getattr(tokenizer, "later_call", None)


def token_bytes_of(tokenizer: TokenizerAdapter) -> Callable[[int], bytes | None] | None:
    """Returns the adapter's `token_bytes`, or None.

    `token_bytes(id_)` returns the bytes that a token stands for in a text, an added token as its
    content. None for an unknown id, and for a token that does not stand for bytes of its own."""
    return _optional_method(tokenizer, "token_bytes")


LookUp = Callable[[Sequence[str], TokenizerAdapter], CachedRows]
MendChunks = Callable[[str, Sequence[Chunk], Sequence[int], TokenizerAdapter], "list[Chunk] | None"]


def licence_of(splitter: Splitter, tokenizer: TokenizerAdapter) -> Seam | None:
    """Returns the splitter's `licence` for the tokenizer, or None."""
    call = _optional_method(splitter, "licence")
    licence: Seam | None = None if call is None else call(tokenizer)
    return licence


def look_up_of(executor: Executor) -> LookUp | None:
    """Returns the executor's `look_up`, or None."""
    return _optional_method(executor, "look_up")


def without_cache_of(executor: Executor) -> str:
    """Returns the name of the executor that encodes the texts that no cache answers."""
    name: str | None = getattr(executor, "without_cache", None)
    return executor.name if name is None else name


def matches_spans(merger: Merger) -> bool:
    """Returns whether the merger compares where the tokens of overlapping chunks lie."""
    return bool(getattr(merger, "matches_spans", False))


def mend_of(merger: Merger) -> MendChunks:
    """Returns the merger's `mend`, or a function that fuses the chunks at each failed seam."""
    return _optional_method(merger, "mend") or _fuse_at_failed_seams


def _fuse_at_failed_seams(
    text: str, chunks: Sequence[Chunk], failed_seams: Sequence[int], tokenizer: TokenizerAdapter
) -> list[Chunk]:
    return fuse_chunks(chunks, failed_seams)


def _optional_method(part: object, name: str) -> Callable[..., Any] | None:
    """Returns a method of the part. None if the part lacks it, or inherits it from the interface
    without a body of its own."""
    method: Callable[..., Any] | None = getattr(part, name, None)
    return None if is_optional(method) else method


def inserted_ids(tokenizer: TokenizerAdapter) -> tuple[IdArray, IdArray] | None:
    """Returns the ids that post-processing inserts before and after every text.

    None if post-processing may do more: truncate, pad, or depend on the text. Two empty arrays for
    an adapter that does not post-process."""
    if not isinstance(tokenizer, PostProcesses):
        return _NO_IDS, _NO_IDS
    only_inserts = tokenizer.truncates_to is None and not tokenizer.pads
    return tokenizer.special_tokens if only_inserts else None


_NO_IDS: IdArray = np.empty(0, dtype=np.uint32)
