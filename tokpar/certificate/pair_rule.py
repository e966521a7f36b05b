"""Check rule PAIR: two characters certify the cut between them (theorems 20, 40, 42 and 4.8)."""

from __future__ import annotations

import unicodedata

from tokpar.certificate.check_context import CheckContext, RefusedError, require
from tokpar.certificate.frozen_tables import SPACES, PairClasses, ShippedPattern
from tokpar.certificate.normalizer_rule import KEEP_ASCII_SPACES, KEEP_NON_SPACES
from tokpar.results.seams import Licence
from tokpar.types import Facts, Rule, Seam, Theorem, Witness

SPACE_MARKS = (" ", "▁")
NON_SPACE = (("left", "non-space"), ("right", "space"))
ANY = (("left", "any"), ("right", "space"))
_KEPT: dict[Witness, frozenset[str]] = {NON_SPACE: KEEP_NON_SPACES, ANY: KEEP_ASCII_SPACES}
"""For each licence of an ASCII space: the normalizers that change nothing that the licence reads.
"""


def at_spaces(licence: Licence) -> bool:
    """True if the licence is of rule PAIR, and holds at every ASCII space after a character other
    than white space if it holds at one."""
    rule, _, witness = licence
    return rule == Rule.PAIR and witness[1:] in _KEPT


def looks_at_two(licence: Licence, facts: Facts) -> bool:
    """True if the rule reads only two characters of the text, not counting added tokens.

    No normalizer changes the two characters. The rule then decides alike wherever the same two
    characters stand."""
    rule, theorem, witness = licence
    if rule != Rule.PAIR or theorem not in [*Theorem] or Theorem(theorem).rule != rule:
        return False
    kept = _KEPT.get(witness[1:], frozenset())
    return kept.issuperset(stage.kind for stage in facts.normalizers)


class PairRule:
    """Checks the PAIR seams of one text."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground

    def require(self, seam: Seam) -> None:
        """Refuse unless the two characters at the seam prove its cut. Does not check that the
        engine matches the same added tokens with the cut."""
        facts, witness = self._ground.facts, seam.witness
        known = f"expected a proof, and no sides or a space, got {witness!r}"
        require(witness and len(witness) in (1, 3), "witness", known)
        require(len(witness) == 1 or witness[1:] in _KEPT, "witness", known)
        if facts.scheme == "regex":
            self._require_by_pattern(seam)
        elif facts.scheme in ("bert", "metaspace"):
            self._require_by_classes(seam, facts.scheme)
        else:
            raise RefusedError("scheme", f"the rule is not for the scheme {facts.scheme}")

    def _require_by_pattern(self, seam: Seam) -> None:
        ground, facts, p = self._ground, self._ground.facts, seam.position
        (named, value), sides = seam.witness[0], seam.witness[1:]
        own = Theorem.PAIR if len(facts.patterns) == 1 else Theorem.PAIR_OF_SPLITS
        shipped = self._require_shipped(value) if named == "pattern" else None
        if shipped is not None and sides:
            own = Theorem.SPACE_AFTER_NONSPACE
        require(seam.theorem == own, "theorem", f"it is theorem {own}, not {seam.theorem}")
        if sides:
            require(sides == NON_SPACE, "witness", f"expected {NON_SPACE}, got {sides}")
            self._require_space_after_nonspace(p)
        else:
            ground.require_prefix_safe(ground.text[p])
        if shipped is not None and sides:
            claimed = f"no cut before every space is claimed for {shipped.name!r}"
            require(shipped.space_after_nonspace, "witness", claimed)
            return
        from tokpar.certificate.pattern_proof import proved_pattern  # spaces need no pairs

        proved = proved_pattern(ground, shipped, named, value)
        if sides:
            require(proved.spaces, "context", "not every non-space before a space is proved")
            return
        why = proved.refusal(*ground.neighbours(p))
        require(why is None, "context", f"the cut at {p} is not proved: {why}")

    def _require_shipped(self, name: str) -> ShippedPattern:
        """The shipped pattern of this name. Refused unless the tokenizer's engine runs it."""
        facts = self._ground.facts
        found = self._ground.tables.pattern_of(facts.engine, facts.patterns)
        own = None if found is None else found.name
        if found is None or own != name:
            raise RefusedError("pattern", f"the tokenizer has the pattern {own!r}, not {name!r}")
        return found

    def _require_space_after_nonspace(self, p: int) -> None:
        ground = self._ground
        before, after = ground.text[p - 1], ground.text[p]
        if not {stage.kind for stage in ground.facts.normalizers} <= KEEP_NON_SPACES:
            before, after = ground.neighbours(p)
        spaced = before not in SPACES and ground.text[p] == after == " "
        require(spaced, "context", f"{before!r}|{after!r} is no non-space, then ' '")

    def _require_by_classes(self, seam: Seam, scheme: str) -> None:
        """Section 4.8: BERT and Metaspace decide by two characters alone."""
        ground, p = self._ground, seam.position
        own = seam.witness[0] == ("pattern", scheme)
        require(own, "pattern", f"the tokenizer is of scheme {scheme!r}, not {seam.witness[0]}")
        wanted = Theorem.LOCAL_PAIR
        require(seam.theorem == wanted, "theorem", f"it is theorem {wanted}, not {seam.theorem}")
        if seam.witness[1:]:
            require(seam.witness[1:] == ANY, "witness", f"expected {ANY}, got {seam.witness[1:]}")
            self._require_kept_space(p)
            return
        classes = ground.tables.pair_classes.get(scheme)
        if classes is None:
            raise RefusedError("pattern", f"no frozen table for {scheme!r}")
        self._require_listed(classes, *self._sides(scheme, p))

    def _require_kept_space(self, position: int) -> None:
        found = self._ground.text[position]
        require(found == " ", "context", f"expected ' ' right of the place, got {found!r}")
        if not all(stage.kind in KEEP_ASCII_SPACES for stage in self._ground.facts.normalizers):
            image = self._ground.image(position, 1)
            kept = image.text[image.index] == " "
            require(kept, "normalizer", "the space right of the place is not kept")

    def _require_listed(self, classes: PairClasses, left_char: str, right_char: str) -> None:
        found = []
        for char in (left_char, right_char):
            label = classes.class_of_atom.get(self._ground.tables.atom_of(char) or "")
            if label is None:
                raise RefusedError("context", f"U+{ord(char):04X} has no class in {classes.name}")
            found.append(label)
        listed = (found[0], found[1]) in classes.pairs
        shown = f"{left_char!r}|{right_char!r}: {'|'.join(found)} is no pair of {classes.name}"
        require(listed, "context", shown)

    def _sides(self, scheme: str, position: int) -> tuple[str, str]:
        ground = self._ground
        before, after = ground.text[position - 1], ground.text[position]
        if scheme == "metaspace":
            before, after = ground.neighbours(position)
            prefixed = after not in SPACE_MARKS
            require(not prefixed, "prefix", f"a prefix would go before {after!r} (6.3)")
            return before, after
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
