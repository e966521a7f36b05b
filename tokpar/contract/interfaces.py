"""The four interfaces of one method each, and the abilities that an adapter may have.

An object fits an interface if the object has the method. Nothing needs to be subclassed. The
docstring of an interface names the members that an object may have besides; a `Plan` looks them up
once. An object has an ability if `isinstance` says so, which asks the object for every member."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IdArray, SpanArray
from tokpar.types import Chunks, Facts, Joins, Pieces, Rows, Split

Flags = Sequence[bool] | NDArray[np.bool_]
CachedRows = tuple[Rows, Flags]
"""The rows of texts, and which of the texts a cache answered."""


class TokenizerAdapter(Protocol):
    """A tokenizer: turns a text into ids.

    It may also have `encode_whole(text)`, the ids of the engine's own serial call, after
    post-processing, which short texts take."""

    @property
    def name(self) -> str:
        """The name in reports and errors."""

    def encode(self, text: str) -> IdArray:
        """Returns the serial ids of `text` before special tokens, truncation and padding.

        uint32, (n,)."""


class Splitter(Protocol):
    """Decides where to cut a text.

    It may also have `licence(tokenizer)`, the seam by which a cache may cut whole texts of the
    tokenizer before the splitter is asked: before every space that follows a character other than
    white space. None if there is no such licence. The cache looks for added tokens that forbid a
    cut."""

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        """Returns the chunks in order, and why the text is cut this way.

        The cores of the chunks tile the text. `attempt` counts 0, 1, ...: a text whose pieces could
        not be joined is split again. Some attempt must return one chunk, or the text would never be
        encoded."""


class Executor(Protocol):
    """Runs the tokenizer on slices of texts: in this thread, in other threads, in processes.

    It may also have `used_name`, the name of the executor that it gave its last call to."""

    @property
    def name(self) -> str: ...

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        """Returns one row per text, in order.

        The first error is raised as an EngineError that names the row. Thread and process pools
        stay usable after an error."""


class Merger(Protocol):
    """Decides where neighbouring pieces meet.

    It may also have `matches_spans`, true if it compares where the tokens of overlapping chunks
    lie, and `mend(text, chunks, failed_seams, tokenizer)`: other chunks, without these seams (seam
    i is before chunk i), or None to start over with the splitter's next attempt. Chunks that do not
    change are not encoded again. Without `mend`, the two chunks at a failed seam become one."""

    def merge(
        self, text: str, chunks: Chunks, pieces: Pieces, tokenizer: TokenizerAdapter
    ) -> Joins:
        """Returns one join for each pair of neighbours; None where no rule licenses a seam."""


@runtime_checkable
class HasFacts(Protocol):
    """An adapter that has the facts that proofs need. Texts are never cut without facts.

    It may also have `origin`, see `origin_of`."""

    @property
    def facts(self) -> Facts: ...


@runtime_checkable
class EncodesMany(Protocol):
    """An adapter with a native batch call that releases the GIL."""

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text, in order. Each row equals `encode` of its text."""


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
class HasCompiledCall(Protocol):
    """An adapter that has a compiled call (`path_call`); None: it will have none.

    It may also have `why_not_compiled`, a str."""

    @property
    def later_call(self) -> Any: ...


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
