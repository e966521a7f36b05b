"""Chooses the executor and the chunk sizes for a tokenizer, and the text size where splitting pays.

The numbers were measured on 2 cores with English text (docs/benchmarks.md)."""

from dataclasses import dataclass, replace

from tokpar.interfaces import EncodesMany, HasSegmentCache, HasSpec, TokenizerAdapter, traits_of

TOO_SHORT = "the text is too short for splitting to pay"


@dataclass(frozen=True)
class Fit:
    """The executor and the sizes for one kind of tokenizer. All sizes are in code points.

    Texts below `smallest_split` are encoded in one call. Longer texts are cut into about `parts`
    chunks, of `smallest_chunk` to `largest_chunk` code points. An engine that makes an object per
    token gets small chunks. A fast engine gets large chunks, because each chunk costs a little.
    `executor_of_long`: the executor for a call whose texts are mostly long; `executor` if None."""

    executor: str
    smallest_split: int
    smallest_chunk: int
    largest_chunk: int
    parts: int
    executor_of_long: str | None = None

    def executor_for(self, length: int, long: int | None = None) -> str:
        """Returns the name of the executor that `auto` takes for the texts of one call.

        `length`: code points of all texts. `long`: code points of the texts that may be cut; None:
        all texts may be cut."""
        if self.executor_of_long is not None and (long is None or 2 * long >= length):
            return self.executor_of_long
        if self.executor == PROCESSES.executor and length < self.smallest_split:
            return SERIAL.executor
        return self.executor


CACHE = Fit("memo", smallest_split=4096, smallest_chunk=2048, largest_chunk=16384, parts=16)
FLAT_CACHE = Fit("memo", smallest_split=16384, smallest_chunk=8192, largest_chunk=65536, parts=16)
NATIVE = Fit("native", smallest_split=4096, smallest_chunk=2048, largest_chunk=8192, parts=16)
FLAT = Fit("native", smallest_split=131072, smallest_chunk=32768, largest_chunk=131072, parts=16)
FLAT_THREADS = replace(FLAT, executor_of_long="threads")
"""One call per chunk is faster than one call for all chunks, where the calls release the GIL."""
OWN_CACHE = replace(FLAT, executor="memo")
THREADS = Fit("threads", smallest_split=262144, smallest_chunk=32768, largest_chunk=65536, parts=16)
PROCESSES = Fit(
    "processes", smallest_split=262144, smallest_chunk=65536, largest_chunk=1048576, parts=8
)
SERIAL = Fit("serial", smallest_split=262144, smallest_chunk=65536, largest_chunk=1048576, parts=8)

SMALLEST_ROW = 131072
"""Code points below which a text of a batch is not cut, where a cache divides the text instead."""


def fit_for(tokenizer: TokenizerAdapter) -> Fit:
    """Returns the `Fit` for the abilities of the tokenizer."""
    returns_objects = traits_of(tokenizer).returns_objects
    if isinstance(tokenizer, HasSegmentCache) and tokenizer.has_segment_cache:
        if traits_of(tokenizer).has_own_cache:
            return OWN_CACHE
        return CACHE if returns_objects else FLAT_CACHE
    if isinstance(tokenizer, EncodesMany):
        if returns_objects:
            return NATIVE
        return FLAT_THREADS if traits_of(tokenizer).releases_gil else FLAT
    if traits_of(tokenizer).releases_gil:
        return THREADS
    return PROCESSES if isinstance(tokenizer, HasSpec) else SERIAL


def smallest_row(fit: Fit, smallest_split: int) -> int:
    """Returns the code points from which on a text of a batch is cut.

    `smallest_split`: the code points from which on a single text is cut."""
    cached = fit.executor == "memo" and smallest_split > 0
    return max(smallest_split, SMALLEST_ROW) if cached else smallest_split


def chunk_chars_for(tokenizer: TokenizerAdapter, length: int) -> int:
    """Returns the least chunk size, in code points, for a text of `length` code points."""
    fit = fit_for(tokenizer)
    if length < fit.smallest_split:
        return length
    return min(fit.largest_chunk, max(fit.smallest_chunk, length // fit.parts))
