"""The context of all rules: one text, one tokenizer's facts, and checks that rules share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeVar

from tokpar.certificate.added_token_rule import Occurrences, run_around
from tokpar.certificate.content_index import occurring
from tokpar.certificate.frozen_tables import Tables
from tokpar.certificate.normalizer_rule import (
    ONE_BY_ONE,
    Image,
    UnsureError,
    content_image,
    image_around,
    is_fixed,
    longest_image,
)
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, Seam

NO_PROOFS: Mapping[str, str] = MappingProxyType({})
_LONGEST_WHITE_RUN = 4096
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class RefusedError(Exception):
    """A seam is not licensed. `kind`: one word; the message: why, in a sentence."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


def require(holds: object, kind: str, message: str) -> None:
    """Raise RefusedError unless `holds` is true."""
    if not holds:
        raise RefusedError(kind, message)


def once(
    results: dict[_Key, _Value | RefusedError], key: _Key, judge: Callable[[], _Value]
) -> _Value:
    """Return the result of `judge`, or raise its refusal; `results` caches both by `key`."""
    if key not in results:
        try:
            results[key] = judge()
        except RefusedError as refusal:
            results[key] = refusal
    found = results[key]
    if isinstance(found, RefusedError):
        raise RefusedError(found.kind, str(found))
    return found


class CheckContext:
    """One text and one tokenizer's facts, with all checks that rules may use."""

    def __init__(
        self, text: str, facts: Facts, tables: Tables, proofs: Mapping[str, str] = NO_PROOFS
    ) -> None:
        self.text = text
        self.facts = facts
        self.tables = tables
        self.proofs = {**facts.proofs, **proofs}
        # Added tokens that the engine searches in the normalized text.
        self.normalized_tokens = [
            t for t in facts.added_tokens if t.normalized and facts.normalizers
        ]

    @cached_property
    def raw(self) -> Occurrences:
        """The tokens that the engine searches in the original text and that occur in it."""
        plain = not self.facts.normalizers
        tokens = [t for t in self.facts.added_tokens if plain or not t.normalized]
        present = {*occurring((token.content for token in tokens), self.text)}
        return Occurrences(token for token in tokens if token.content in present)

    def require_added_safe(self, position: int) -> None:
        """Refuse unless theorem 6.1 (a)-(d) holds at `position`.

        The conditions must hold in the original text, and for normalized tokens in the normalized
        text."""
        objection = self.raw.objection(self.text, position)
        if objection is None and self.normalized_tokens:
            objection = self._objection_in_image(position)
        if objection is not None:
            raise RefusedError("added token", f"position {position}: {objection}")

    def image(self, position: int, reach: int, *, ascii_only: bool = False) -> Image:
        """The normalized characters around a position. Refused if they are unknown."""
        stages = self.facts.normalizers
        try:
            return image_around(self.text, position, reach, stages, ascii_only=ascii_only)
        except UnsureError as error:
            raise RefusedError("normalizer", f"position {position}: {error}") from error

    def neighbours(self, position: int) -> tuple[str, str]:
        """The characters left and right of a position, as the pre-tokenizer sees them."""
        if not self.facts.normalizers:
            return self.text[position - 1], self.text[position]
        image = self.image(position, 1)
        return image.text[image.index - 1], image.text[image.index]

    def require_prefix_safe(self, right: str) -> None:
        """Refuse a cut before a non-space for a tokenizer that adds a space before every text
        (theorem 6.3)."""
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
        return tokens.objection(image.text, image.index)

    def _outside_tokens(self, left: str, right: str) -> bool:
        """True if no token lies across a cut between these characters (corollary of theorem 6.2).

        The stages map both sides separately, no token contains the image of `left`, and no token
        has a flag."""
        if self._chars_in_tokens is None or not (is_fixed(left) and is_fixed(right)):
            return False
        if any(stage.kind == "Lowercase" for stage in self.facts.normalizers):
            left = left.lower()
        return self._chars_in_tokens.isdisjoint(left)

    @cached_property
    def _chars_in_tokens(self) -> frozenset[str] | None:
        """The characters of all normalized tokens, also in lower case for a Lowercase stage.

        None if a token has a flag, or if a normal form may have other characters."""
        flagged = any(t.lstrip or t.rstrip or t.single_word for t in self.normalized_tokens)
        kinds = {stage.kind for stage in self.facts.normalizers}
        contents = "".join(token.content for token in self.normalized_tokens)
        if flagged or not kinds <= ONE_BY_ONE or not all(map(is_fixed, {*contents})):
            return None
        return frozenset(contents + contents.lower() if "Lowercase" in kinds else contents)

    @cached_property
    def _tokens_in_image(self) -> tuple[Occurrences, int]:
        """(tokens to search in the normalized text, how far around a position they matter).

        A token is searched by its original and by its normalized content. The distance covers
        tokens with a non-ASCII form, too: such a token must not lie next to the window. Raises
        UnsureError if the normalized content is unknown or empty: the engine finds a token with
        empty content everywhere."""
        stages, forms, reach = self.facts.normalizers, [], 1
        for token in self.normalized_tokens:
            image = content_image(token.content, stages)
            if image == "":
                raise UnsureError(f"nothing is left of added token {token.content!r}")
            if image is not None:
                forms += [replace(token, content=form) for form in {token.content, image}]
            reach = max(reach, 1 + longest_image(token.content, stages))
        return Occurrences(forms), reach


def witness_values(seam: Seam, *names: str) -> tuple[str, ...]:
    """The values of the seam's witness. Refused unless the witness has exactly these names, in this
    order."""
    found = tuple(name for name, _ in seam.witness)
    require(found == names, "witness", f"expected {', '.join(names)}, got {seam.witness!r}")
    return tuple(value for _, value in seam.witness)
