"""Count the places where a text is cut. `plan` predicts them; `encode` and `explain` report
them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from tokpar.cli.screen import plural
from tokpar.results.seams import Everywhere, Seams

if TYPE_CHECKING:
    from tokpar.contract.interfaces import TokenizerAdapter
    from tokpar.registry.combining import BuiltStrategy
    from tokpar.types import Chunk, Split

UNCERTIFIED, WHEN_MERGED = "uncertified", "when merged"


@dataclass(frozen=True)
class Cuts:
    """How many places of a text are cut, by rule: {"PAIR": 7}.

    `at_spaces`: the cache cuts the text at every certified space, whatever the chunks are."""

    by_rule: Mapping[str, int]
    chunks: int
    at_spaces: bool = False

    @property
    def count(self) -> int:
        """The number of places, of all rules."""
        return sum(self.by_rule.values())

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {rule}" for rule, count in sorted(self.by_rule.items()))
        into = "at every certified space" if self.at_spaces else plural(self.chunks, "chunk")
        return f"cut at {plural(self.count, 'place')} ({counts}; {into})"


def rule_counts(seams: Seams, text: str) -> dict[str, int]:
    """The number of seams of `text` for each rule: {"PAIR": 7}."""
    rules = [rule or UNCERTIFIED for rule, _, _ in seams.planned.licences]
    counts: Counter[str] = Counter()
    for code, count in enumerate(np.bincount(seams.planned.codes, minlength=len(rules)).tolist()):
        counts[rules[code]] += count
    if seams.everywhere is not None:
        counts[seams.everywhere.licence.rule or UNCERTIFIED] += seams.everywhere.count(text)
    return {rule: count for rule, count in sorted(counts.items()) if count}


def foresee_cuts(
    text: str, tokenizer: TokenizerAdapter, strategy: BuiltStrategy
) -> tuple[Split, Cuts]:
    """The chunks of a text, and the places where `encode` will cut it. Nothing is tokenized.

    The prediction assumes the default executor of the tokenizer and a cache with free room."""
    from tokpar.encoder import why_never_cut
    from tokpar.pipeline.sizes import TOO_SHORT, sizes_for
    from tokpar.types import Split

    sizes = sizes_for(tokenizer)
    never = why_never_cut(tokenizer)
    if strategy.tunable and (never is not None or len(text) < sizes.smallest_split):
        return Split.whole(text, never or TOO_SHORT), Cuts({}, 1)
    split = strategy.splitter.split(text, tokenizer, 0)
    by_rule = Counter(rule_of(*pair) for pair in pairwise(split.chunks))
    everywhere = _cuts_of_whole(text, tokenizer) if strategy.tunable else None
    if everywhere is None:
        return split, Cuts(by_rule, len(split.chunks))
    whole = {everywhere.licence.rule or UNCERTIFIED: everywhere.count(text)}
    return split, Cuts(whole, len(split.chunks), at_spaces=True)


def _cuts_of_whole(text: str, tokenizer: TokenizerAdapter) -> Everywhere | None:
    """Where the text is cut if the compiled call encodes it; None if an added token in the text may
    forbid a cut, or if there is no call."""
    from tokpar.pipeline.chunks_at_cuts import licence_for

    licence = licence_for(tokenizer, text)
    if licence is None:
        return None
    return Everywhere(licence, np.array([(0, len(text))], dtype=np.int64))


def rule_of(left: Chunk, right: Chunk) -> str:
    """The rule of the cut between two chunks. "when merged": the rule is known only after merging.
    "uncertified": there is no rule."""
    if right.cut is not None and right.cut.rule is not None:
        return right.cut.rule
    return WHEN_MERGED if left.stop > right.start else UNCERTIFIED
