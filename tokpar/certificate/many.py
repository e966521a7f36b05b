"""Seams of rules K1 to K3 judged together, in columns.

A fast way to say yes: where a condition does not hold, or cannot be looked at in columns, the seam
is left to `rules`, which says why. Nothing is licensed here that `rules` would refuse.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tokpar.certificate.added import Occurrences
from tokpar.certificate.ground import Ground, RefusedError
from tokpar.certificate.normalizers import KEEP_ASCII_SPACES, KEEP_NON_SPACES
from tokpar.certificate.rules import digit_edged, digit_run, is_surely_no_digit
from tokpar.certificate.tables import SPACES, Family
from tokpar.kernels import IntArray
from tokpar.seams import Columns, Licence
from tokpar.types import Witness

Mask = NDArray[np.bool_]
Codes = NDArray[np.uint32]
MANY = 64
"""Seams from which on columns pay."""
_SPACE_CODES = np.array(sorted(map(ord, SPACES)), dtype=np.uint32)
_LINE_ENDS = np.array([ord("\r"), ord("\n")], dtype=np.uint32)
_SPACE_MARKS = np.array([ord(" "), ord("▁")], dtype=np.uint32)


def surely_licensed(columns: Columns, placed: Mask, ground: Ground) -> Mask:
    """Which of the seams that are `placed`, strictly inside the text, hold beyond doubt."""
    sure: Mask = np.zeros(len(columns), dtype=np.bool_)
    if np.count_nonzero(placed) < MANY or ground.follows_normalized_tokens:
        return sure
    together = Together(ground)
    order = np.argsort(columns.codes, kind="stable")
    edges = np.searchsorted(columns.codes[order], np.arange(len(columns.licences) + 1)).tolist()
    for licence, first, last in zip(columns.licences, edges[:-1], edges[1:], strict=True):
        rows = order[first:last]
        rows = rows[placed[rows]]
        if len(rows):
            sure[rows] = together.hold(licence, columns.positions[rows])
    kept = np.flatnonzero(sure)
    sure[kept] = together.clear_of_added(columns.positions[kept])
    return sure


class Together:
    """The conditions of a licence at many places strictly inside one text."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._text = ground.text
        self._stages = {stage.kind for stage in ground.facts.normalizers}

    @cached_property
    def _digits(self) -> re.Pattern[str]:
        return digit_run(self._ground.tables)

    @cached_property
    def _digits_apart(self) -> bool:
        """No added token may match inside a run of digits."""
        return digit_edged(self._ground.facts.added_tokens, self._ground.tables) is None

    def hold(self, licence: Licence, positions: IntArray) -> Mask:
        """Where the characters are those that the licence names; nowhere if that cannot be told in
        columns."""
        match licence:
            case ("K1", "20", (("family", name), ("left", "non-space"), ("right", "space"))):
                holds = self._universal(name, positions)
            case ("K2", "22", (("family", name), ("run", int(start)))) if type(start) is int:
                holds = self._in_phase(name, start, positions)
            case ("K3", "4.8", (("family", name), ("left", "any"), ("right", "space"))):
                holds = self._any_space(name, positions)
            case ("K1" | "K3" as rule, theorem, witness):
                holds = self._pair(rule, theorem, witness, positions)
            case _:
                holds = None
        return np.zeros(len(positions), dtype=np.bool_) if holds is None else holds

    def clear_of_added(self, positions: IntArray) -> Mask:
        """Theorem 6.1: tokens that occur nowhere in the text object to nothing."""
        ground, text = self._ground, self._text
        if not ground.occurring:
            return np.ones(len(positions), dtype=np.bool_)
        present = {*ground.occurring}
        near = Occurrences(token for token in ground.raw.tokens if token.content in present)
        return np.array([near.objection(text, p) is None for p in positions.tolist()], dtype=bool)

    def _universal(self, name: object, positions: IntArray) -> Mask | None:
        """Theorem 20; under a normalizer only an ASCII space is sure to stay white space."""
        family = self._family(name)
        if family is None or family.universal not in ("not_newline", "any"):
            return None
        if not self._stages <= KEEP_NON_SPACES:
            return None
        left, right = self._codes(positions - 1), self._codes(positions)
        holds = ~np.isin(left, _SPACE_CODES) & np.isin(right, _SPACE_CODES)
        if family.universal != "any":
            holds &= ~np.isin(right, _LINE_ENDS)
        if self._stages or self._ground.facts.prefix_space:
            holds &= right == ord(" ")
        return holds

    def _any_space(self, name: object, positions: IntArray) -> Mask | None:
        """Section 4.8, a space that is kept."""
        facts = self._ground.facts
        named = facts.scheme in ("bert", "metaspace") and name == facts.scheme
        if not named or facts.family not in (None, facts.scheme):
            return None
        if not self._stages <= KEEP_ASCII_SPACES:
            return None
        found: Mask = self._codes(positions) == ord(" ")
        return found

    def _pair(self, rule: str, theorem: str, witness: Witness, positions: IntArray) -> Mask | None:
        """Two classes that the table lists; BERT's own pairs look at more than two characters."""
        facts = self._ground.facts
        if rule == "K1":
            family = self._family(dict(witness).get("family"))
        elif facts.scheme == "metaspace" and facts.family in (None, "metaspace"):
            family = self._ground.tables.families.get("metaspace")
        else:
            family = None
        if family is None or self._stages:
            return None
        match witness:
            case (("family", family.name), ("left", str(left)), ("right", str(right))):
                if family.pairs.get((left, right)) != theorem:
                    return None
            case _:
                return None
        behind = self._codes(positions)
        holds = self._in_class(self._codes(positions - 1), left, family)
        holds &= self._in_class(behind, right, family)
        if rule == "K3":
            holds &= np.isin(behind, _SPACE_MARKS)
        elif facts.prefix_space:
            holds &= behind == ord(" ")
        return holds

    def _in_phase(self, name: object, start: int, positions: IntArray) -> Mask | None:
        """Theorem 22: so many threes of digits behind the start of a run."""
        family, text = self._family(name), self._text
        if family is None or family.digit_phase != 3 or self._stages or not self._digits_apart:
            return None
        if not 0 <= start < len(text):
            return None
        if start and not is_surely_no_digit(text[start - 1], self._ground.tables):
            return None
        match = self._digits.match(text, start, int(positions.max()))
        assert match is not None
        holds: Mask = (positions > start) & (positions <= match.end())
        holds &= (positions - start) % 3 == 0
        if self._ground.facts.prefix_space:
            holds &= self._codes(positions) == ord(" ")
        return holds

    def _family(self, name: object) -> Family | None:
        try:
            return self._ground.family(name) if self._ground.facts.scheme == "regex" else None
        except RefusedError:
            return None

    def _codes(self, positions: IntArray) -> Codes:
        text = self._text
        chars = "".join([text[p] for p in positions.tolist()])
        return np.frombuffer(chars.encode("utf-32-le"), dtype=np.uint32)

    def _in_class(self, codes: Codes, label: str, family: Family) -> Mask:
        tables = self._ground.tables
        names = np.array([family.class_of_atom.get(name) == label for name in tables.names])
        places = np.searchsorted(np.array(tables.lows), codes, side="right") - 1
        inside = (places >= 0) & (codes <= np.array(tables.highs)[places])
        found: Mask = inside & names[places]
        return found
