"""What a part must be able to do: four interfaces of one method each, and an adapter's abilities.

An object fits by having the method; nothing needs to be subclassed. Abilities are looked for once,
when a tokenizer is loaded.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from tokpar.kernels import IdArray, SpanArray
from tokpar.types import Chunk, Facts, Joined, Piece, Unjoined


class TokenizerAdapter(Protocol):
    """A tokenizer, from text to ids."""

    @property
    def name(self) -> str: ...

    def encode(self, text: str) -> IdArray:
        """Serial ids of `text`, before special tokens, truncation and padding; uint32, (n,)."""
        ...


class Splitter(Protocol):
    """Where to cut a text."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        """Chunks in order, their cores tiling the text. `attempt` counts 0, 1, ...; some attempt
        must give one chunk, or the text would never be encoded."""
        ...


class Executor(Protocol):
    """Who runs the tokenizer on the chunks, and where."""

    @property
    def name(self) -> str: ...

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        """One piece per chunk, same order. The first error is raised again, pools intact."""
        ...


class Merger(Protocol):
    """How pieces become the ids of the whole."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> Joined | Unjoined:
        """Ids and seams, or the seams that could not be certified."""
        ...


@dataclass(frozen=True, slots=True)
class Strategy:
    """A registered way to split and merge; `build`'s keyword parameters are its options.

    `approximate_if`: (option, value) pairs that make an otherwise lossless strategy approximate.
    """

    name: str
    lossless: bool
    source: str
    conditions: str
    build: Callable[..., tuple[Splitter, Merger]]
    approximate_if: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class TokenizerSource:
    """A registered way to get an adapter: `load(source, **settings)`, None if not its kind.

    Sources that are not `automatic` are asked only when named: ``tokpar.load(path, engine=name)``.
    """

    name: str
    load: Callable[..., TokenizerAdapter | None]
    automatic: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """A splitter's plan in words, for the report; `serial_regions`: [start, stop), code points."""

    plan: str
    why: str
    serial_regions: tuple[tuple[int, int], ...] = ()


@runtime_checkable
class Explains(Protocol):
    """A splitter that can say what it did and why."""

    def explain(self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter) -> Plan: ...


@runtime_checkable
class MatchesSpans(Protocol):
    """A merger that compares where the tokens of overlapping chunks lie."""

    @property
    def matches_spans(self) -> bool: ...


@runtime_checkable
class Repairs(Protocol):
    """A merger with a better idea than making one chunk of two that could not be joined."""

    def repaired(
        self,
        text: str,
        chunks: Sequence[Chunk],
        failed: Sequence[int],
        tokenizer: TokenizerAdapter,
    ) -> list[Chunk]:
        """Other chunks, without the seams in `failed` (as in Unjoined); the pieces of chunks that
        stay as they are will not be encoded again."""
        ...


@runtime_checkable
class HasFacts(Protocol):
    """Tells what proofs need to know; without it a tokenizer is never split."""

    @property
    def facts(self) -> Facts: ...


@runtime_checkable
class EncodesMany(Protocol):
    """A native batch call that releases the GIL."""

    def encode_many(self, texts: Sequence[str], spans: bool) -> list[Piece]:
        """One piece per text, in order, each as `encode` of that text alone."""
        ...


class SegmentMemory(Protocol):
    """Keeps the ids of short stretches of text, uint32 in the machine's byte order."""

    def recalled(self, segments: Sequence[str]) -> list[bytes | None]:
        """The ids of each, as `encode` of it alone; None for those it does not know."""
        ...

    def learned(self, segments: Sequence[str], texts: int) -> dict[str, bytes]:
        """The ids of distinct segments, none of them empty and none with an added token in it,
        encoded in at least `texts` native calls at a time."""
        ...


@runtime_checkable
class RemembersSegments(Protocol):
    """Has a memory for what lies between certified cuts, because encoding is slower than that."""

    @property
    def segments(self) -> SegmentMemory | None: ...


@runtime_checkable
class ReleasesGil(Protocol):
    """`encode` lets other Python threads run while it works, so threads make it faster."""

    @property
    def releases_gil(self) -> bool: ...


@runtime_checkable
class EncodesWhole(Protocol):
    """The engine's own serial call on the caller's own object, special tokens and all."""

    def encode_whole(self, text: str) -> IdArray: ...


@runtime_checkable
class Locates(Protocol):
    """Tells where tokens lie."""

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans, int64 (n, 2), of the ids that `encode(text)` gave."""
        ...


@runtime_checkable
class Finishes(Protocol):
    """Adds what is applied once to the whole: special tokens, truncation, padding."""

    def finish(self, ids: IdArray, text: str) -> IdArray:
        """Final ids. Selects, inserts and pads only: the values of `ids` are never looked at.
        LookupError where that is not possible for ids other than those of `text`."""
        ...


@runtime_checkable
class FinishesBatch(Protocol):
    """Finishing that depends on the other texts of a batch (padding to the longest)."""

    def finish_batch(self, ids: Sequence[IdArray], texts: Sequence[str]) -> list[IdArray]: ...


@runtime_checkable
class Surrounds(Protocol):
    """Tells when all that finishing does is to put the same ids around every text."""

    @property
    def around(self) -> tuple[IdArray, IdArray] | None:
        """Ids before and after a text; None where `finish` may also cut, pad or look at it."""
        ...


@runtime_checkable
class ChecksText(Protocol):
    """Refuses texts that the engine's own call refuses, with the same error, before splitting.

    A stream is checked chunk by chunk: what is refused must be a single character, or one of the
    contents that `Forbids` tells.
    """

    def check_text(self, text: str) -> None: ...


@runtime_checkable
class Forbids(Protocol):
    """Tells which contents `check_text` refuses wherever they stand."""

    @property
    def forbidden(self) -> Collection[str]: ...


class EagerModel(Protocol):
    """Turns one pre-token after the other into ids while its bytes arrive."""

    def feed(self, data: bytes) -> list[int]:
        """More bytes of the pre-token; the ids that are final now and were not before."""
        ...

    def finish(self) -> list[int]:
        """The pre-token ends here; its other ids."""
        ...


@runtime_checkable
class EncodesEagerly(Protocol):
    """Need not see the end of a pre-token to give the first of its ids."""

    def eager_model(self) -> EagerModel:
        """A new one, at the start of a pre-token. OptionError if the vocabulary is such that the
        first ids of a pre-token may depend on its end, however far that is."""
        ...


@runtime_checkable
class Decodes(Protocol):
    """The way back."""

    def decode(self, ids: Sequence[int]) -> str: ...


@runtime_checkable
class Refreshes(Protocol):
    """Notices that the caller changed the tokenizer since it was loaded."""

    def refreshed(self) -> TokenizerAdapter:
        """Itself while nothing changed, else an adapter of the tokenizer as it is now."""
        ...


@runtime_checkable
class Detaches(Protocol):
    """Lets what was learned of a tokenizer object be kept without keeping that object alive."""

    def detached(self) -> Detaches:
        """The same without its tokenizer object; good for `attached` only."""
        ...

    def attached(self, source: object) -> TokenizerAdapter:
        """An adapter again, of the object this was loaded from."""
        ...


@runtime_checkable
class Agrees(Protocol):
    """Was compared with another library when it was loaded."""

    @property
    def agreement(self) -> str:
        """With what outcome, for the report: "same ids as tokenizers 0.23.3 on 8,012 texts"."""
        ...


@runtime_checkable
class HasSpec(Protocol):
    """Can be built again in another process."""

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], Mapping[str, Any]]:
        """A picklable module-level function and its keyword arguments; calling it gives an adapter
        with the same `encode`."""
        ...


def facts_of(tokenizer: TokenizerAdapter) -> Facts:
    """The adapter's facts, or facts that allow nothing when it tells none."""
    if isinstance(tokenizer, HasFacts):
        return tokenizer.facts
    return Facts(engine="unknown", model="unknown", unprovable=_UNKNOWN)


def agreement_of(tokenizer: TokenizerAdapter) -> str:
    """What an adapter says of its ids and those of another library; nothing where it was not
    compared with any."""
    return tokenizer.agreement if isinstance(tokenizer, Agrees) else ""


_UNKNOWN = "the tokenizer tells no facts about itself"
