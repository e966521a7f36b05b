"""The arguments `allowed_special` and `disallowed_special` of tiktoken's methods."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

from tiktoken.core import _special_token_regex, raise_disallowed_special_token

from tokpar.adapters.tiktoken import shadowed_reason
from tokpar.arrays import has_surrogate

AllowedSpecial = Literal["all"] | AbstractSet[str]
DisallowedSpecial = Literal["all"] | Collection[str]
NOTHING: frozenset[str] = frozenset()
ALL: Literal["all"] = "all"
MOST_CHOICES = 64
"""Pairs of arguments of which the meaning is kept."""
_STR = frozenset([str])
_SIMPLE = frozenset([type(None), str, int, tuple])
_COLLECTIONS = frozenset([set, frozenset, tuple, list, dict])


@dataclass(frozen=True, slots=True)
class Choice:
    """The special tokens that count in a text, and the strings that raise an error.

    `refuses_others`: some of these strings are no special tokens. `is_certain`: where a special
    token counts, nothing else decides which token tiktoken matches."""

    allowed: frozenset[str]
    refused: frozenset[str]
    refuses_others: bool
    is_certain: bool
    find_refused: re.Pattern[str] | None
    find_allowed: re.Pattern[str] | None

    def check(self, text: str) -> None:
        """Raises tiktoken's error if a text holds a string that is refused."""
        if self.find_refused is not None and self.find_refused.search(text):
            # tiktoken's own search: which string the error names depends on its cached pattern
            match = _special_token_regex(self.refused).search(text)
            assert match is not None
            raise_disallowed_special_token(match.group())

    def pieces(self, text: str) -> list[str] | None:
        """Returns the sections of a text and, between each two, a special token that counts. None
        if it is not certain which token tiktoken matches.

        tiktoken matches the leftmost special token that is allowed, and goes on behind it."""
        if self.find_allowed is None:
            return [text]
        pieces: list[str] = self.find_allowed.split(text)
        return pieces if self.is_certain or len(pieces) == 1 else None


class SpecialTokens:
    """The special tokens of one encoding, by content, and what arguments make of them."""

    def __init__(self, ids: Mapping[str, int]) -> None:
        self.ids = ids
        self.contents = frozenset(ids)
        self._choices: dict[tuple[frozenset[str], object], Choice] = {}

    def are_neutral(self, allowed: object, refused: object) -> bool:
        """True if a text without special tokens has the ids of `encode_ordinary` under these
        arguments, and raises no error. False may mean that nobody has looked closely."""
        if type(allowed) is set or type(allowed) is frozenset:
            if not allowed <= self.contents:
                return False
        elif type(allowed) is not str or allowed != "all":
            return False
        if type(refused) is str:
            return refused == "all"
        if type(refused) is set or type(refused) is frozenset:
            return refused <= self.contents
        if type(refused) is tuple or type(refused) is list:
            return not refused or (_are_words(refused) and self.contents.issuperset(refused))
        return False

    def choice(self, allowed: Any, refused: Any) -> Choice | None:
        """Returns what the arguments mean. None for arguments that tiktoken's own call reads in
        another way, or refuses."""
        if is_all(allowed):
            counting = self.contents
        elif type(allowed) is set or type(allowed) is frozenset:
            if not allowed <= self.contents and not _have_no_effect(allowed - self.contents):
                return None  # tiktoken may raise
            counting = self.contents & allowed
        else:
            return None
        others: object = refused if is_all(refused) else _words_of(refused)
        if others is None:
            return None
        known = self._choices.get((counting, others))
        return known or self._new_choice(counting, others)

    def _new_choice(self, allowed: frozenset[str], others: Any) -> Choice:
        refused: frozenset[str] = self.contents - allowed if is_all(others) else others
        found = Choice(
            allowed,
            refused,
            not refused <= self.contents,
            "" not in allowed and shadowed_reason(self.ids, allowed) is None,
            find_any(refused) if refused else None,
            find_any(allowed) if allowed else None,
        )
        if len(self._choices) >= MOST_CHOICES:
            self._choices = {}
        self._choices[allowed, others] = found
        return found


def is_all(special: object) -> bool:
    """True for the argument "all"."""
    return isinstance(special, str) and special == "all"


def reusable(special: Any) -> Any:
    """Returns a set in place of an iterator, which one look would use up. An empty iterator stays:
    it is true, so that tiktoken looks for no token at all and finds that everywhere."""
    if type(special) is str or type(special) in _COLLECTIONS or not special:
        return special
    return frozenset(special) or special


def find_any(contents: frozenset[str]) -> re.Pattern[str]:
    """Returns a pattern that finds each of these strings, as one group.

    Sorted, and by `re`, which tries all strings only where the prefix that they share stands."""
    return re.compile(f"({'|'.join(map(re.escape, sorted(contents)))})")


def _words_of(refused: Any) -> frozenset[str] | None:
    """Returns the strings of a collection as a set; None for what is no collection of strings."""
    if not refused and type(refused) in _SIMPLE:
        return NOTHING
    if type(refused) not in _COLLECTIONS or (refused and not _are_words(refused)):
        return None
    return frozenset(refused)


def _are_words(values: Collection[object]) -> bool:
    """True for a collection of str and nothing else."""
    return {*map(type, values)} <= _STR


def _have_no_effect(others: AbstractSet[object]) -> bool:
    """True if tiktoken takes these values, which are no special tokens, and finds none of them."""
    return _are_words(others) and "" not in others and not any(map(has_surrogate, others))  # type: ignore[arg-type]
