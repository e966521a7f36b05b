"""Check the conditions of rules PAIR and STAGE, from the proofs alone. A check returns or refuses.

Rule EDGE is in token_edge_rule.py, rule PAIR in window_rule.py, theorem 50 in space_rule.py.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from tokpar.certificate.check_context import (
    CheckContext,
    RefusedError,
    require,
    witness_values,
)
from tokpar.certificate.frozen_tables import SPACES, Family
from tokpar.certificate.normalizer_rule import KEEP_ASCII_SPACES, KEEP_NON_SPACES
from tokpar.certificate.space_rule import Spaces
from tokpar.certificate.token_edge_rule import Edges
from tokpar.seams import Licence
from tokpar.types import Facts, NormalizerStage, Seam, Theorem

if TYPE_CHECKING:
    from tokpar.certificate.window_rule import ByWindows

_UNIVERSAL, _ANY_SPACE = ("non-space", "space"), ("any", "space")
_BY_TWO = (
    Theorem.SPACE_AFTER_NONSPACE,
    Theorem.LOCAL_PAIR,
    Theorem.PAIR,
    Theorem.PAIR_OF_SPLITS,
)
"""The theorems that may license a cut by the two characters beside it."""
_KEPT: dict[tuple[object, ...], frozenset[str]] = {
    (Theorem.SPACE_AFTER_NONSPACE, _UNIVERSAL): KEEP_NON_SPACES,
    (Theorem.PAIR, _UNIVERSAL): KEEP_NON_SPACES,
    (Theorem.PAIR_OF_SPLITS, _UNIVERSAL): KEEP_NON_SPACES,
    (Theorem.LOCAL_PAIR, _ANY_SPACE): KEEP_ASCII_SPACES,
}
"""For each licence of an ASCII space: the normalizers that change nothing that the licence reads.
"""
_EDGE = (Theorem.EDGE.rule, Theorem.EDGE)
_SPACE_MARKS = (" ", "▁")
_AS_STORED = {"prepend": "▁", "pattern": {"String": " "}, "content": "▁"}


class RuleChecker:
    """Checks the seams of one text, one by one."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground
        by_characters: dict[Theorem, Callable[[Seam], None]] = {
            Theorem.SPACE_AFTER_NONSPACE: self._universal,
            Theorem.LOCAL_PAIR: self._pair_local,
            Theorem.ABSORBED_SPACE: self._absorb,
            Theorem.PAIR: self._window,
            Theorem.PAIR_OF_SPLITS: self._window,
            Theorem.STAGES_AT_SPACE: Spaces(ground).require,
        }
        self._rules: dict[tuple[str, str], Callable[[Seam], None]] = {
            (theorem.rule, theorem): check for theorem, check in by_characters.items()
        }
        self._edges = Edges(ground)

    def require_licence(self, seam: Seam) -> None:
        """Refuse unless the seam's rule holds where the seam lies. RefusedError says why."""
        key = (str(seam.rule), seam.theorem)
        if key in self._rules:
            self.require_characters(seam)
            self._ground.require_added_safe(seam.position)
        elif key == _EDGE:
            self._edges.require(seam)
        else:
            listed = ", ".join(f"{rule} by theorem {theorem}" for rule, theorem in self.known_rules)
            raise RefusedError("theorem", f"{key[0]} by theorem {key[1]} is none of: {listed}")

    @property
    def known_rules(self) -> list[tuple[str, str]]:
        """Each (rule, theorem) that may license a seam."""
        return [*self._rules, _EDGE]

    def require_characters(self, seam: Seam) -> None:
        """Refuse unless the seam's rule, PAIR or STAGE, holds. Does not check added tokens."""
        self._rules[str(seam.rule), seam.theorem](seam)

    def _universal(self, seam: Seam) -> None:
        """Theorem 20: a character that is not a space, then a space that is no line end."""
        ground = self._ground
        self._require_scheme("regex")
        name, left, right = witness_values(seam, "family", "left", "right")
        family = ground.family(name)
        sides = f"expected {'|'.join(_UNIVERSAL)}, got {left}|{right}"
        require((left, right) == _UNIVERSAL, "witness", sides)
        claimed = family.universal in ("not_newline", "any")
        require(claimed, "witness", f"no universal cut is claimed for {name!r}")
        before, after = self._sides_of_universal(seam.position)
        line_end = after in "\r\n" and family.universal != "any"
        holds = before not in SPACES and after in SPACES and not line_end
        require(holds, "context", f"{before!r}|{after!r} is no non-space, then space")
        ground.require_prefix_safe(after)

    def _sides_of_universal(self, position: int) -> tuple[str, str]:
        before, after = self._ground.text[position - 1], self._ground.text[position]
        stages = {stage.kind for stage in self._ground.facts.normalizers}
        sure = not stages or after == " "
        require(sure, "normalizer", f"beside a normalizer only ' ' is sure, not {after!r}")
        return (before, after) if stages <= KEEP_NON_SPACES else self._ground.neighbours(position)

    def _require_listed(self, seam: Seam, family: Family, left_char: str, right_char: str) -> None:
        _, *named = witness_values(seam, "family", "left", "right")
        left, right = (
            self._ground.class_of(left_char, family),
            self._ground.class_of(right_char, family),
        )
        other = f"{left_char!r}|{right_char!r} is {left}|{right}, not {'|'.join(map(str, named))}"
        require([left, right] == named, "witness", other)
        listed = family.pairs.get((left, right))
        under = f"{left}|{right} in {family.name} is listed under {listed}"
        require(listed == seam.theorem, "theorem", under)

    def _pair_local(self, seam: Seam) -> None:
        """Section 4.8: BERT and Metaspace decide by two characters alone."""
        ground, facts, position = self._ground, self._ground.facts, seam.position
        scheme, after = str(facts.scheme), ground.text[position]
        self._require_scheme("bert", "metaspace")
        name, *sides = witness_values(seam, "family", "left", "right")
        own = name == scheme and facts.family in (None, scheme)
        require(own, "family", f"the tokenizer is of scheme {scheme!r}, not {name!r}")
        if scheme == "metaspace" and after not in _SPACE_MARKS:
            after = ground.neighbours(position)[1]
        prefixed = scheme == "metaspace" and after not in _SPACE_MARKS
        require(not prefixed, "prefix", f"a prefix would go before {after!r} (6.3)")
        if (*sides,) == _ANY_SPACE:
            self._require_kept_space(position)
            return
        family = ground.tables.families.get(scheme)
        if family is None:
            raise RefusedError("family", f"no frozen table for {scheme!r}")
        self._require_listed(seam, family, *self._sides_of_pair_local(position))

    def _require_kept_space(self, position: int) -> None:
        found = self._ground.text[position]
        require(found == " ", "context", f"expected ' ' right of the place, got {found!r}")
        if not all(stage.kind in KEEP_ASCII_SPACES for stage in self._ground.facts.normalizers):
            image = self._ground.image(position, 1)
            kept = image.text[image.index] == " "
            require(kept, "normalizer", "the space right of the place is not kept")

    def _sides_of_pair_local(self, position: int) -> tuple[str, str]:
        ground = self._ground
        if ground.facts.scheme == "metaspace":
            return ground.neighbours(position)
        before, after = ground.text[position - 1], ground.text[position]
        stages = ground.facts.normalizers
        settings = dict(stages[0].settings) if len(stages) == 1 else {}
        wanted = settings.get("clean_text") is True and settings.get("handle_chinese_chars") is True
        if not wanted or stages[0].kind != "BertNormalizer":
            raise RefusedError(
                "normalizer", "BERT's pairs need BertNormalizer with clean_text, chinese chars"
            )
        stripping = settings.get("strip_accents")
        active = settings.get("lowercase", True) if stripping is None else stripping
        last = unicodedata.normalize("NFD", before)[-1]
        if active and unicodedata.combining(last) and unicodedata.category(after)[0] == "M":
            raise RefusedError("normalizer", f"U+{ord(after):04X} may move across the place")
        return before, after

    def _absorb(self, seam: Seam) -> None:
        """Section 6.4: the tokenizer adds the one space that the right chunk omits."""
        ground, text, p = self._ground, self._ground.text, seam.position
        self._require_scheme("dummy")
        one = witness_values(seam, "absorbed") == (1,)
        require(one, "witness", "exactly one space can be absorbed")
        facts, stages = ground.facts, ground.facts.normalizers
        bpe = "bpe" in facts.model.casefold()
        require(bpe, "scheme", f"absorbing needs BPE, not {facts.model}")
        across = f"a token has {text[p - 1]!r} before a sign of a space"
        require(text[p - 1] not in (facts.chars_before_mark or ()), "context", across)
        lonely = p + 2 <= len(text) and text[p] == " " and text[p - 1] not in _SPACE_MARKS
        require(lonely, "context", "expected a non-space, one ' ', and text after it")
        prefix = not stages or _is_dummy_prefix(stages)
        require(prefix, "normalizer", "absorbing needs Prepend '▁' and Replace ' ' -> '▁' alone")
        if any(token.normalized for token in ground.facts.added_tokens):
            raise RefusedError("added token", "tokens searched in the prefixed text: not judged")
        content = ground.raw.touching(text, p - 1, p + 2)
        require(content is None, "added token", f"{content!r} occurs over its three characters")
        ground.require_added_safe(p + 1)

    def _window(self, seam: Seam) -> None:
        """Theorems 40 and 42: the two characters at the position."""
        self._by_windows.require(seam)

    @cached_property
    def _by_windows(self) -> ByWindows:
        from tokpar.certificate.window_rule import ByWindows  # few certificates need this module

        return ByWindows(self._ground)

    def _require_scheme(self, *schemes: str) -> None:
        own = self._ground.facts.scheme
        require(own in schemes, "scheme", f"the rule is for {' or '.join(schemes)}, not {own}")


def looks_at_two(licence: Licence, facts: Facts) -> bool:
    """True if the rule reads only two characters of the text, not counting added tokens.

    No normalizer changes the two characters. The rule then decides alike wherever the same two
    characters stand."""
    rule, theorem, witness = licence
    sides = tuple(value for _, value in witness[1:])
    if theorem not in _BY_TWO or rule != Theorem(theorem).rule:
        return False
    if theorem in (Theorem.PAIR, Theorem.PAIR_OF_SPLITS) and sides not in ((1, 1), _UNIVERSAL):
        return False
    kept = _KEPT.get((theorem, sides), frozenset())
    return kept.issuperset(s.kind for s in facts.normalizers)


def _is_dummy_prefix(stages: tuple[NormalizerStage, ...]) -> bool:
    """True if the stages are exactly the two that add the dummy prefix."""
    settings = {name: value for stage in stages for name, value in stage.settings}
    wanted = {"prepend": "▁", "pattern": " ", "content": "▁"}
    kinds = [stage.kind for stage in stages]
    return kinds == ["Prepend", "Replace"] and settings in (wanted, _AS_STORED)
