"""Pre-tokens of a corpus and how often each occurs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable
from dataclasses import dataclass

from tokpar.training.corpus import Job


@dataclass(frozen=True, slots=True)
class PreTokens:
    """How text falls into pre-tokens: special tokens are left out and divide it, then `patterns`
    split as in a vocabulary, text between matches is a pre-token too."""

    patterns: tuple[str, ...]
    special_tokens: tuple[str, ...]


class PreTokenCounter:
    """Counts the pre-tokens of one job after the other."""

    def __init__(self, pre_tokens: PreTokens) -> None:
        from tokpar.pure.added import AddedTokens
        from tokpar.pure.pretokenize import PreTokenizer
        from tokpar.types import AddedToken

        added = [AddedToken(token, id_) for id_, token in enumerate(pre_tokens.special_tokens)]
        self._segments = AddedTokens(added).segments
        self._split = PreTokenizer(pre_tokens.patterns, "oniguruma", keep_gaps=True).split
        self.counts: Counter[str] = Counter()

    def count(self, job: Job) -> None:
        """Raises FileFormatError for bytes that are not UTF-8, OSError."""
        for part in job.slices:
            for segment in self._segments(part.text()):
                if isinstance(segment, str):
                    self.counts.update(self._split(segment))


def count_here(
    jobs: Iterable[Job], pre_tokens: PreTokens, counts: dict[str, int]
) -> Generator[int, None, None]:
    """Add the pre-tokens of all jobs to `counts`; yields the size of each job as it is done."""
    counter = PreTokenCounter(pre_tokens)
    for job in jobs:
        counter.count(job)
        yield job.size
    counts.update(counter.counts)
