"""Find certified cuts of a text that is still arriving (proofs/stream.md).

A cut is final when no later character can change anything that the cut's rule reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from tokpar.cuts.added_token_guard import LONGEST_STRIPPED_RUN, maybe_space, maybe_spaces
from tokpar.cuts.finder import CutFinder
from tokpar.cuts.normalized_context import replaced_string
from tokpar.types import Seam

_NEAR, _BLOCK = 64, 4096
"""How many positions are checked one by one, and the block size of the array search after that."""


@dataclass(frozen=True, eq=False)
class UnfinishedText:
    """Finds the final cuts of texts whose end has not arrived, for one tokenizer."""

    finder: CutFinder

    def horizon(self, text: str) -> int:
        """The last position whose certification cannot change, whatever text follows."""
        rule_lookahead = self._rule_lookahead
        most = len(text) - self.looks_ahead - rule_lookahead
        if self._plain:
            return max(
                0,
                min(most, self.finder.token_guard.contents.unfinished_start(text) - rule_lookahead),
            )
        last = min(most, len(text) - self.finder.token_guard.reach)
        return max(0, _last_solid(text, last) - rule_lookahead)

    def last_cut(self, text: str, start: int, horizon: int) -> Seam | None:
        """The last certified cut in (start, horizon], code points, or None."""
        certify, pairs = self.finder.certify_context, self.finder.pairs
        near = start if pairs is None else max(start, horizon - _NEAR)
        seam = self._last(text, near, horizon, certify)
        if seam is not None or pairs is None:
            return seam
        for stop in range(near + 1, start + 1, -_BLOCK):
            likely = pairs.likely(text, max(start + 1, stop - _BLOCK), stop)
            found = (self._last(text, p - 1, p, certify) for p in sorted(likely, reverse=True))
            seam = next(filter(None, found), None)
            if seam is not None:
                return seam
        return None

    def _last(
        self, text: str, start: int, last: int, certify: Callable[[str, int], Seam | None]
    ) -> Seam | None:
        # Between two spaces, later text may change how tokens of the normalized text match.
        unclear = bool(self.finder.normalizer_guard.tokens)
        reached_over = self.finder.crossed_positions(text, start + 1, max(start, last) + 1)
        for place in range(last, start, -1):
            if reached_over is not None and reached_over[place - start - 1]:
                continue
            if unclear and maybe_space(text[place]) and maybe_space(text[place - 1]):
                continue
            seam = certify(text, place)
            if seam is not None:
                return seam
        return None

    @cached_property
    def looks_ahead(self) -> int:
        """A rule reads the text at position p only before p + `looks_ahead` + `_rule_lookahead`.

        Code points. The bound does not count runs of white space."""
        stages = self.finder.normalizer_guard.stages
        if not stages:
            return 1
        changed = sum(1 + len(replaced_string(s) or "") for s in stages if s.kind == "Replace")
        moved = max(
            (len(token.content) for token in self.finder.normalizer_guard.tokens), default=0
        )
        return 2 + len(stages) + changed + moved

    @cached_property
    def _rule_lookahead(self) -> int:
        """How many more characters a rule reads after its position.

        The absorb rule reads two characters and their tokens, and theorem 50 reads one."""
        return {"dummy": 2, "spaces": 1}.get(self.finder.facts.scheme, 0)

    @cached_property
    def _plain(self) -> bool:
        """True if no added token has `lstrip`, `rstrip` or `single_word`."""
        tokens = self.finder.token_guard.tokens
        return not any(token.lstrip or token.rstrip or token.single_word for token in tokens)


def _last_solid(text: str, last: int) -> int:
    """The last position up to `last` with a character that is certainly not white space.

    If the last `LONGEST_STRIPPED_RUN` characters have none, the position before them."""
    if last <= 0:
        return 0
    first = max(0, last - LONGEST_STRIPPED_RUN)
    return max(0, first + len(text[first : last + 1].rstrip(maybe_spaces())) - 1)
