"""Which executor suits which tokenizer, the size of its chunks, and from which size on splitting
pays: measured on 2 cores with English text (docs/benchmarks.md)."""

from dataclasses import dataclass, replace

from tokpar.interfaces import EncodesMany, HasSegmentCache, HasSpec, TokenizerAdapter, facts_of

TOO_SHORT = "the text is too short for splitting to pay"


@dataclass(frozen=True)
class Fit:
    """All sizes in code points. Texts below `smallest_split` are encoded in one call; chunks are
    between `smallest_chunk` and `largest_chunk`, aiming at `parts` chunks. An engine whose results
    are bulky is given small chunks, a fast one large ones: each costs it a little."""

    executor: str
    smallest_split: int
    smallest_chunk: int
    largest_chunk: int
    parts: int


MEMORY = Fit("memo", smallest_split=4096, smallest_chunk=2048, largest_chunk=16384, parts=16)
FLAT_MEMORY = Fit("memo", smallest_split=16384, smallest_chunk=8192, largest_chunk=65536, parts=16)
NATIVE = Fit("native", smallest_split=4096, smallest_chunk=2048, largest_chunk=8192, parts=16)
FLAT = Fit("native", smallest_split=131072, smallest_chunk=32768, largest_chunk=131072, parts=16)
QUICK_MEMORY = replace(FLAT, executor="memo")
THREADS = Fit("threads", smallest_split=262144, smallest_chunk=32768, largest_chunk=65536, parts=16)
PROCESSES = Fit(
    "processes", smallest_split=262144, smallest_chunk=65536, largest_chunk=1048576, parts=8
)
SERIAL = Fit("serial", smallest_split=262144, smallest_chunk=65536, largest_chunk=1048576, parts=8)

SMALLEST_ROW = 131072
"""Code points below which a text of several is not cut, where a cache divides it as it is."""


def fit_for(tokenizer: TokenizerAdapter) -> Fit:
    """The row of the table that fits the tokenizer's abilities."""
    returns_objects = facts_of(tokenizer).returns_objects
    if isinstance(tokenizer, HasSegmentCache) and tokenizer.has_segment_cache:
        if facts_of(tokenizer).has_own_cache:
            return QUICK_MEMORY
        return MEMORY if returns_objects else FLAT_MEMORY
    if isinstance(tokenizer, EncodesMany):
        return NATIVE if returns_objects else FLAT
    if facts_of(tokenizer).releases_gil:
        return THREADS
    return PROCESSES if isinstance(tokenizer, HasSpec) else SERIAL


def fitting_executor(
    tokenizer: TokenizerAdapter, length: int, workers: int, long: int | None = None
) -> str:
    """The executor that `auto` takes for texts of `length` code points together, `long` of them in
    texts that may be cut (None: all)."""
    fit = fit_for(tokenizer)
    mostly_long = long is None or 2 * long >= length
    if fit is FLAT and mostly_long and facts_of(tokenizer).releases_gil:
        return THREADS.executor  # a call for each chunk is faster than one for all
    if fit is PROCESSES and length < fit.smallest_split:
        return SERIAL.executor
    return fit.executor


def smallest_row(tokenizer: TokenizerAdapter, smallest_split: int) -> int:
    """Code points from which on a text of several is cut, `smallest_split` a single one."""
    has_segment_cache = fit_for(tokenizer).executor == "memo" and smallest_split > 0
    return max(smallest_split, SMALLEST_ROW) if has_segment_cache else smallest_split


def chunk_chars_for(tokenizer: TokenizerAdapter, length: int) -> int:
    """Least chunk size, code points, for a text of `length` code points."""
    fit = fit_for(tokenizer)
    if length < fit.smallest_split:
        return length
    return min(fit.largest_chunk, max(fit.smallest_chunk, length // fit.parts))
