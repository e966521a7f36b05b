"""Chooses the executor and the chunk sizes for a tokenizer, and the text size where splitting pays.

The numbers were measured on 2 cores with English text (docs/benchmarks.md)."""

from dataclasses import dataclass

from tokpar.contract.adapter import later_call_of, traits_of
from tokpar.contract.interfaces import EncodesMany, HasSpec, TokenizerAdapter

TOO_SHORT = "the text is too short for splitting to pay"

PARTS = 16
"""A long text is cut into about so many chunks."""
SMALLEST_ROW = 131072
"""Code points below which a text of a batch is not cut, where a compiled call encodes it."""


@dataclass(frozen=True)
class ExecutorSizes:
    """The executor and the sizes for one kind of tokenizer.

    `executor_of_long`: the executor for a call whose texts are mostly long. `smallest_split`: texts
    with fewer code points are encoded in one call."""

    executor: str
    executor_of_long: str
    smallest_split: int

    def executor_for(self, length: int, long: int | None = None) -> str:
        """Returns the name of the executor that `auto` takes for the texts of one call.

        `length`: code points of all texts. `long`: code points of the texts that may be cut; None:
        all texts may be cut."""
        if self.executor == "processes" and length < self.smallest_split:
            return "serial"
        is_long = long is None or 2 * long >= length
        return self.executor_of_long if is_long else self.executor


def sizes_for(tokenizer: TokenizerAdapter) -> ExecutorSizes:
    """Returns the `ExecutorSizes` for the abilities of the tokenizer.

    An engine that makes an object per token is slow, so that short texts pay. A compiled call pays
    sooner than a fast engine. Where the calls of a fast engine release the GIL, one call per chunk
    is faster than one call for all chunks."""
    traits = traits_of(tokenizer)
    is_cached = later_call_of(tokenizer) is not None
    if is_cached:
        executor = "memo"
    elif isinstance(tokenizer, EncodesMany):
        executor = "native"
    elif traits.releases_gil:
        executor = "threads"
    else:
        executor = "processes" if isinstance(tokenizer, HasSpec) else "serial"
    calls_each = executor == "native" and traits.releases_gil and not traits.returns_objects
    of_long = "threads" if calls_each else executor
    if traits.returns_objects and executor in ("memo", "native"):
        return ExecutorSizes(executor, of_long, 4096)
    return ExecutorSizes(executor, of_long, 16384 if is_cached else 131072)


def smallest_row(sizes: ExecutorSizes, smallest_split: int) -> int:
    """Returns the code points from which on a text of a batch is cut.

    `smallest_split`: the code points from which on a single text is cut."""
    cached = sizes.executor == "memo" and smallest_split > 0
    return max(smallest_split, SMALLEST_ROW) if cached else smallest_split


def chunk_chars_for(tokenizer: TokenizerAdapter, length: int) -> int:
    """Returns the least chunk size, in code points, for a text of `length` code points."""
    sizes = sizes_for(tokenizer)
    least = sizes.smallest_split
    most = (2 if sizes.executor == "native" else 4) * least
    return length if length < least else min(most, max(least // 2, length // PARTS))
