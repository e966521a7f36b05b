"""Check the rule of a seam, from the proofs alone. A check returns or refuses.

Rule PAIR is in pair_rule.py, STAGE in stage_rule.py, EDGE in edge_rule.py.
"""

from __future__ import annotations

from collections.abc import Callable

from tokpar.certificate.check_context import CheckContext, RefusedError
from tokpar.certificate.edge_rule import Edges
from tokpar.certificate.pair_rule import PairRule
from tokpar.certificate.stage_rule import Spaces, require_absorbed
from tokpar.types import Seam, Theorem


class RuleChecker:
    """Checks the seams of one text, one by one."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground
        pair = PairRule(ground).require
        self._edges = Edges(ground)
        self._by_characters: dict[tuple[str, str], Callable[[Seam], None]] = {
            (theorem.rule, theorem): check
            for theorem, check in {
                Theorem.SPACE_AFTER_NONSPACE: pair,
                Theorem.LOCAL_PAIR: pair,
                Theorem.PAIR: pair,
                Theorem.PAIR_OF_SPLITS: pair,
                Theorem.ABSORBED_SPACE: lambda seam: require_absorbed(ground, seam),
                Theorem.STAGES_AT_SPACE: Spaces(ground).require,
            }.items()
        }

    def require_licence(self, seam: Seam) -> None:
        """Refuse unless the seam's rule holds where the seam lies. RefusedError says why."""
        key = (str(seam.rule), seam.theorem)
        if key in self._by_characters:
            self.require_characters(seam)
            self._ground.require_added_safe(seam.position)
        elif key == (Theorem.EDGE.rule, Theorem.EDGE):
            self._edges.require(seam)
        else:
            listed = ", ".join(f"{rule} by theorem {theorem}" for rule, theorem in self.known_rules)
            raise RefusedError("theorem", f"{key[0]} by theorem {key[1]} is none of: {listed}")

    @property
    def known_rules(self) -> list[tuple[str, str]]:
        """Each (rule, theorem) that may license a seam."""
        return [*self._by_characters, (Theorem.EDGE.rule, Theorem.EDGE)]

    def require_characters(self, seam: Seam) -> None:
        """Refuse unless the seam's rule, PAIR or STAGE, holds. Does not check added tokens."""
        self._by_characters[str(seam.rule), seam.theorem](seam)
