"""What a part must be able to do: four interfaces of one method each, and an adapter's abilities.

An object fits by having the method; nothing needs to be subclassed. Abilities are looked for once,
when a tokenizer is loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, SpanArray
from tokpar.types import Chunk, Chunks, Facts, Joins, Pieces, Rows, Split


class TokenizerAdapter(Protocol):
    """A tokenizer, from text to ids."""

    @property
    def name(self) -> str: ...

    def encode(self, text: str) -> IdArray:
        """Serial ids of `text`, before special tokens, truncation and padding; uint32, (n,)."""


class Splitter(Protocol):
    """Where to cut a text."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        """Chunks in order, their cores tiling the text, and why they are what they are. `attempt`
        counts 0, 1, ...; some attempt must give one chunk, or the text would never be encoded."""


class Executor(Protocol):
    """Who runs the tokenizer on slices of texts, and where."""

    @property
    def name(self) -> str: ...

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """One row per text, in order. The first error is raised as an EngineError that names the
        row, pools intact."""


class Merger(Protocol):
    """Where neighbouring pieces meet."""

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        """One join for each neighbouring pair of chunks; None where nothing licenses a seam."""


@cache
def _members(protocol: type) -> list[tuple[str, bool]]:
    """Their names, and which are methods: these are missing, too, where they are None."""
    return [(name, callable(x)) for name, x in vars(protocol).items() if not name.startswith("_")]


class Ability(type(Protocol)):  # type: ignore[misc]  # the metaclass of protocols has no public name
    """Lets `isinstance` look for members in the object's class first: it costs a microsecond each
    time, where that of `typing` before Python 3.12 takes ten."""

    def __instancecheck__(cls, instance: object) -> bool:
        kind = type(instance)
        return all(
            getattr(kind, name, None) is not None
            or (getattr(instance, name, None) is not None if is_method else hasattr(instance, name))
            for name, is_method in _members(cls)
        )


@dataclass(frozen=True, slots=True)
class Strategy:
    """A registered way to split and merge; `build`'s keyword parameters are its options.

    `approximate_if`: (option, value) pairs that make an otherwise lossless strategy approximate."""

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


@runtime_checkable
class MatchesSpans(Protocol, metaclass=Ability):
    """A merger that compares where the tokens of overlapping chunks lie."""

    @property
    def matches_spans(self) -> bool: ...


@runtime_checkable
class DividesRows(Protocol, metaclass=Ability):
    """A splitter under which texts too short to be asked about may be divided where licensed."""

    @property
    def divides_rows(self) -> bool: ...


@runtime_checkable
class Mends(Protocol, metaclass=Ability):
    """A merger with a better idea than making one chunk of two that could not be joined."""

    def mended(
        self, text: str, chunks: Sequence[Chunk], failed: Sequence[int], tokenizer: TokenizerAdapter
    ) -> list[Chunk] | None:
        """Other chunks, without the seams in `failed` (i stands for the one between chunks i - 1
        and i); pieces of chunks that stay as they are will not be encoded again. None: start over
        with the splitter's next attempt."""


@runtime_checkable
class Divides(Protocol, metaclass=Ability):
    """An executor that may divide texts further, where the planner has licensed it."""

    @property
    def undivided(self) -> str:
        """The name of the executor that encodes what is not divided."""

    def divide(
        self, texts: Sequence[str], divisible: Flags, tokenizer: TokenizerAdapter
    ) -> Divided:
        """One row per text, and whether the text was cut before every space behind anything but
        white space; only those that are `divisible` may be. Raises as `map` does."""


@runtime_checkable
class Recalls(Protocol, metaclass=Ability):
    """An executor that may have the ids of texts from a cache, without encoding others."""

    def recall(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Divided:
        """The rows of texts all of which may be divided, and which of them were; an empty row for
        one that was not."""


Flags = Sequence[bool] | NDArray[np.bool_]
Divided = tuple[Rows, Flags]
"""Rows, and which of them were divided."""


@runtime_checkable
class HasFacts(Protocol, metaclass=Ability):
    """Tells what proofs need to know; without it a tokenizer is never split."""

    @property
    def facts(self) -> Facts: ...


@runtime_checkable
class EncodesMany(Protocol, metaclass=Ability):
    """A native batch call that releases the GIL."""

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """One row per text, in order, each as `encode` of that text alone."""


@runtime_checkable
class HasSegmentCache(Protocol, metaclass=Ability):
    """Has a cache for what lies between certified cuts, because encoding is slower than that."""

    @property
    def has_segment_cache(self) -> bool:
        """It can be used: nothing else stands between such segments."""

    @property
    def counters(self) -> Mapping[str, int]:
        """What the cache has seen so far, by name: `Report.cache`."""

    def remembered(self, texts: Sequence[str], workers: int) -> Divided:
        """The ids of texts each of which may be cut before every space behind anything but white
        space if no added token in it forbids that, and which of them were; an empty row for one
        that has one, or for which that does not pay."""

    def known(self, text: str) -> IdArray | None:
        """The same ids of a short text, sooner than `encode` would give them; None where the cache
        does not know all of it, or the caller has changed the tokenizer."""


@runtime_checkable
class Contends(Protocol, metaclass=Ability):
    """Its threads wait for each other in some texts, and gain nothing there."""

    def alone(self, texts: Sequence[str]) -> bool:
        """One thread encodes these texts as soon as several do. Asked for each call: for so many
        texts it may be worth to give each thread something of its own."""


@runtime_checkable
class EncodesWhole(Protocol, metaclass=Ability):
    """The engine's own serial call on the caller's own object, special tokens and all."""

    def encode_whole(self, text: str) -> IdArray: ...


@runtime_checkable
class Locates(Protocol, metaclass=Ability):
    """Tells where tokens lie."""

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        """UTF-8 byte spans, int64 (n, 2), of the ids that `encode(text)` gave."""


@runtime_checkable
class PostProcesses(Protocol, metaclass=Ability):
    """Adds what is applied once to the whole: special tokens, truncation, padding."""

    @property
    def around(self) -> tuple[IdArray, IdArray] | None:
        """Ids before and after every text; None where finishing may also cut, pad or look at it."""

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Final ids, as those of one batch: padded to its longest where the settings say so.
        Selects, inserts and pads only: the values of ids are never looked at. LookupError where
        that is not possible for ids other than those of `texts`."""


@runtime_checkable
class ChecksText(Protocol, metaclass=Ability):
    """Refuses texts that the engine's own call refuses, with the same error, before splitting.

    What is refused must be a single character, or one of the contents in `Facts.forbidden`: a
    stream is checked chunk by chunk. A text that is not cut is only checked for the latter, since
    `encode` refuses the rest."""

    def check_text(self, text: str) -> None: ...


@runtime_checkable
class Decodes(Protocol, metaclass=Ability):
    """The way back."""

    def decode(self, ids: Sequence[int]) -> str: ...


@runtime_checkable
class HasSpec(Protocol, metaclass=Ability):
    """Can be built again in another process."""

    def spec(self) -> tuple[Callable[..., TokenizerAdapter], Mapping[str, Any]]:
        """A picklable module-level function and its keyword arguments; calling it gives an adapter
        with the same `encode`."""


def facts_of(tokenizer: TokenizerAdapter) -> Facts:
    """The adapter's facts, or facts that allow nothing when it tells none."""
    facts: Facts | None = getattr(tokenizer, "facts", None)  # asked again and again
    said = "the tokenizer tells no facts about itself"
    return facts or Facts(engine="unknown", model="unknown", unprovable=said)
