"""What all rules stand on: one text, one tokenizer's facts, and the questions asked of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from tokpar.certificate.added_token_rule import Occurrences, occurring, run_around
from tokpar.certificate.frozen_tables import Family, Tables
from tokpar.certificate.normalizer_rule import (
    ONE_BY_ONE,
    Image,
    UnsureError,
    content_image,
    image_around,
    is_fixed,
    longest_image,
)
from tokpar.types import Facts, Seam

NO_PROOFS: Mapping[str, str] = MappingProxyType({})
_LONGEST_WHITE_RUN = 4096
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class RefusedError(Exception):
    """A seam is not licensed: `kind` in a word, and why in a sentence."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def require(holds: object, kind: str, message: str) -> None:
    """A refusal unless something holds."""
    if not holds:
        raise RefusedError(kind, message)


def once(
    known: dict[_Key, _Value | RefusedError], key: _Key, judge: Callable[[], _Value]
) -> _Value:
    """What `judge` returns, or refuses, when it is first asked about a key."""
    if key not in known:
        try:
            known[key] = judge()
        except RefusedError as refusal:
            known[key] = refusal
    found = known[key]
    if isinstance(found, RefusedError):
        raise RefusedError(found.kind, str(found))
    return found


@dataclass(frozen=True, slots=True)
class SeamContext:
    """A seam and the one before it. Its left part is [start, its position), its right part
    [its position, stop), code points; both end at the next seam or at the text's end."""

    seam: Seam
    previous: Seam | None
    start: int
    stop: int


class CheckContext:
    """One text and one tokenizer's facts; everything a rule may ask of them."""

    def __init__(
        self, text: str, facts: Facts, tables: Tables, proofs: Mapping[str, str] = NO_PROOFS
    ) -> None:
        self.text = text
        self.facts = facts
        self.tables = tables
        self.proofs = {**facts.proofs, **proofs}
        # added tokens that are searched in the normalized text
        self.normalized = [t for t in facts.added_tokens if t.normalized and facts.normalizers]

    @cached_property
    def raw(self) -> Occurrences:
        """The tokens searched in the text as it is, of those that occur in it."""
        plain = not self.facts.normalizers
        tokens = [t for t in self.facts.added_tokens if plain or not t.normalized]
        present = {*occurring((token.content for token in tokens), self.text)}
        return Occurrences(token for token in tokens if token.content in present)

    def family(self, name: object) -> Family:
        """The tables' family, which must be the tokenizer's own."""
        own = self.facts.family
        require(name == own, "family", f"the tokenizer is of family {own!r}, not {name!r}")
        family = self.tables.families.get(str(name))
        if family is None:
            raise RefusedError("family", f"no frozen table for family {name!r}")
        source = self.facts.engine, self.facts.patterns
        unlike = f"the tokenizer's engine and regexes are not those of family {name!r}"
        require(source in family.sources, "family", unlike)
        return family

    def class_of(self, char: str, family: Family) -> str:
        """Class of one (normalized) character; refused outside the frozen set."""
        label = self.tables.class_of(char, family)
        if label is None:
            raise RefusedError("context", f"U+{ord(char):04X} has no class in {family.name}")
        return label

    def require_added_safe(self, position: int) -> None:
        """Theorem 6.1 (a)-(d), in the text and, for normalized tokens, in its normalized form."""
        objection = self.raw.objection(self.text, position)
        if objection is None and self.normalized:
            objection = self._objection_in_image(position)
        if objection is not None:
            raise RefusedError("added token", f"position {position}: {objection}")

    def image(self, position: int, reach: int, *, ascii_only: bool = False) -> Image:
        """The normalized characters around a place, or a refusal."""
        stages = self.facts.normalizers
        try:
            return image_around(self.text, position, reach, stages, ascii_only=ascii_only)
        except UnsureError as error:
            raise RefusedError("normalizer", f"position {position}: {error}") from error

    def neighbours(self, position: int) -> tuple[str, str]:
        """The characters left and right of a place, as the pre-tokenizer sees them."""
        if not self.facts.normalizers:
            return self.text[position - 1], self.text[position]
        image = self.image(position, 1)
        return image.text[image.at - 1], image.text[image.at]

    def require_prefix_safe(self, right: str) -> None:
        """Theorem 6.3: a tokenizer that puts a space before every text must find one there."""
        holds = right == " " or not self.facts.prefix_space
        require(holds, "prefix", f"a space would be put before {right!r} (6.3)")

    def _objection_in_image(self, position: int) -> str | None:
        try:
            tokens, reach = self._tokens_in_image
            if self._outside_tokens(*self.text[position - 1 : position + 1]):
                return None
        except UnsureError as error:
            return str(error)
        if self.text[position - 1].isspace() and self.text[position].isspace():
            start, stop = run_around(self.text, position)
            if stop - start > _LONGEST_WHITE_RUN:
                return "a long run of white space beside normalized added tokens is not judged"
            reach += stop - start
        image = self.image(position, reach, ascii_only=True)
        return tokens.objection(image.text, image.at)

    def _outside_tokens(self, left: str, right: str) -> bool:
        """Between these characters the text falls apart, no token holds what the left one becomes,
        and none looks at what is beside it (corollary of theorem 6.2)."""
        flagged = any(t.lstrip or t.rstrip or t.single_word for t in self.normalized)
        kinds = {stage.kind for stage in self.facts.normalizers}
        if flagged or not kinds <= ONE_BY_ONE or not (is_fixed(left) and is_fixed(right)):
            return False
        contents = "".join(token.content for token in self.normalized)
        if not all(map(is_fixed, contents)):  # its normal form may hold other characters
            return False
        if "Lowercase" in kinds:
            return left.lower() not in contents + contents.lower()
        return left not in contents

    @cached_property
    def _tokens_in_image(self) -> tuple[Occurrences, int]:
        """The tokens to look for in the normalized text, under every content they may be searched
        by, as written and normalized, and how far around a place they matter: one whose form holds
        other than ASCII matters too, it must not lie beside the window. UnsureError where that
        cannot be told, or nothing is left: the engine then finds the token everywhere."""
        stages, forms, reach = self.facts.normalizers, [], 1
        for token in self.normalized:
            image = content_image(token.content, stages)
            if image == "":
                raise UnsureError(f"nothing is left of added token {token.content!r}")
            if image is not None:
                forms += [replace(token, content=form) for form in {token.content, image}]
            reach = max(reach, 1 + longest_image(token.content, stages))
        return Occurrences(forms), reach


def witness_values(seam: Seam, *names: str) -> tuple[int | str, ...]:
    """The witness's values; refused unless it has exactly these names, in this order."""
    found = tuple(name for name, _ in seam.witness)
    require(found == names, "witness", f"expected {', '.join(names)}, got {seam.witness!r}")
    return tuple(value for _, value in seam.witness)


def witness_numbers(seam: Seam, *names: str) -> tuple[int, ...]:
    """As `witness_values`, for witnesses of whole numbers that are not negative."""
    numbers = tuple(v for v in witness_values(seam, *names) if type(v) is int and v >= 0)
    whole = len(numbers) == len(names)
    require(whole, "witness", f"expected whole numbers, got {seam.witness!r}")
    return numbers
