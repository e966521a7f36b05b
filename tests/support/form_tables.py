"""The tables of characters of the normal forms of Unicode, and how Forms.v writes them."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from tokpar.compiled.quick_check import Form

L, V, T, FIRST = range(0x1100, 0x1113), range(0x1161, 0x1176), range(0x11A8, 0x11C3), 0xAC00
"""Letters of Hangul, and the first of their syllables."""


@dataclass(frozen=True)
class FormTables:
    """Full decompositions of characters, their classes that are not 0, and composites of two."""

    decompositions: Mapping[str, str]
    classes: Mapping[str, int]
    composites: Mapping[tuple[str, str], str]

    def closure(self, chars: Iterable[str]) -> set[str]:
        """The characters, and all that the form makes of texts of them."""
        found, before = set(chars), 0
        while len(found) > before:
            before = len(found)
            found.update(*(self.decompositions.get(char, "") for char in [*found]))
            found.update(x for (a, b), x in self.composites.items() if a in found and b in found)
        return found

    def coq(self, chars: Iterable[str]) -> str:
        """The tables of these characters as a value of Forms.v; NFD and NFKD have no composites."""
        inside = self.closure(chars)
        return FormTables(
            {c: parts for c, parts in self.decompositions.items() if c in inside},
            {c: number for c, number in self.classes.items() if c in inside},
            {pair: x for pair, x in self.composites.items() if inside.issuperset(pair)},
        ).all_coq()

    def all_coq(self) -> str:
        """The tables as a value of Forms.v."""
        parts = (
            f"({ord(c)}%N, [{'; '.join(f'{ord(d)}%N' for d in parts)}])"
            for c, parts in self.decompositions.items()
        )
        classes = (f"({ord(c)}%N, {k})" for c, k in self.classes.items())
        pairs = (f"({ord(a)}%N, {ord(b)}%N, {ord(x)}%N)" for (a, b), x in self.composites.items())
        return (
            f"{{| decompositions := [{'; '.join(parts)}]; classes := [{'; '.join(classes)}]; "
            f"composites := [{'; '.join(pairs)}] |}}"
        )


@lru_cache(maxsize=4)
def form_tables(form: Form) -> FormTables:
    """The tables of a form, of all characters that Python knows."""
    chars = [chr(c) for c in range(sys.maxunicode + 1) if not 0xD800 <= c < 0xE000]
    full = "NFKD" if "K" in form else "NFD"
    decomposed = {c: unicodedata.normalize(full, c) for c in chars}
    return FormTables(
        {c: parts for c, parts in decomposed.items() if parts != c},
        {c: unicodedata.combining(c) for c in chars if unicodedata.combining(c)},
        {} if form.endswith("D") else _composites(chars),
    )


def _composites(chars: Iterable[str]) -> dict[tuple[str, str], str]:
    """The primary composites: what has a canonical decomposition into two, and NFC leaves alone."""
    found = dict[tuple[str, str], str]()
    for char in chars:
        mapping = unicodedata.decomposition(char).split()
        if len(mapping) == 2 and mapping[0][0] != "<" and unicodedata.is_normalized("NFC", char):
            first, second = (chr(int(code, 16)) for code in mapping)
            found[first, second] = char
    for i, lead in enumerate(L):
        for j, vowel in enumerate(V):
            syllable = FIRST + (i * len(V) + j) * (len(T) + 1)
            found[chr(lead), chr(vowel)] = chr(syllable)
            found.update({(chr(syllable), chr(t)): chr(syllable + k) for k, t in enumerate(T, 1)})
    return found
