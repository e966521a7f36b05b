"""The pre-tokens of a text, by Python's `regex`, where that finds what the engine would find.

Engines do not tell their pre-tokens (tiktoken), or tell them slowly. On the frozen code points all
engines agree with `regex`, pattern by pattern (correction 0'.1), so it may stand in for them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from tokpar.facts.tables import family_named, load_atoms, load_pictographs, range_class
from tokpar.kernels import IntArray
from tokpar.types import Facts


@dataclass(frozen=True, eq=False)
class Scanner:
    """Pre-tokens of one tokenizer; build it with `scanner_for`."""

    facts: Facts

    @cached_property
    def refusal(self) -> str | None:
        """Why nothing is known of this tokenizer's pre-tokens, or None."""
        facts = self.facts
        if facts.unprovable is not None:
            return facts.unprovable
        if facts.normalizers or facts.prefix_space:
            return "its pre-tokens are those of a changed text"
        if facts.scheme == "regex" and family_named(str(facts.family)) is not None:
            return None
        return None if facts.scheme == "whole" else "its pre-tokens are not found by a known regex"

    def edges(self, text: str) -> IntArray | None:
        """Where the pre-tokens of `text`, which holds no added token, begin, and its length:
        "Hi you" -> [0, 2, 6]; int64, code points. None if a character is not surely classified."""
        if self.facts.scheme == "whole":
            return np.array([0, len(text)], dtype=np.int64)
        if not _certain().fullmatch(text):
            return None
        edges = {0, len(text)}
        for pattern in self._patterns:
            ordered = sorted(edges)
            for start, stop in pairwise(ordered):
                for match in pattern.finditer(text, start, stop):
                    edges.update(match.span())
        return np.array(sorted(edges), dtype=np.int64)

    @cached_property
    def _patterns(self) -> list[Any]:
        import regex

        # `$` is the end of the text in fancy-regex, but also the place before a last "\n" here
        sources = [p.replace(r"\s++$", r"\s++\Z") for p in self.facts.patterns]
        # VERSION0, here and everywhere: else any code may change `regex.DEFAULT_VERSION`
        return [regex.compile(source, regex.VERSION0) for source in sources]


def scanner_for(facts: Facts) -> Scanner:
    """The scanner for these facts, kept with them."""
    return facts.derived(Scanner)


@lru_cache(maxsize=1)
def _certain() -> re.Pattern[str]:
    """A text of characters on whose classes all engines agree."""
    frozen = [span for ranges in load_atoms().values() for span in ranges]
    return re.compile(range_class([*frozen, *load_pictographs()]) + "*")
