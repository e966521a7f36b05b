"""Find the cuts that stay certified whatever text is added after or before (theorems 34, 35).

Streams and sessions ask here which cuts are final while text arrives.

A cut is *stable* in S if it is certified in SX for every X. A cut is *co-stable* in R if it is
certified in ZR for every Z. All positions are code points."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tokpar.cuts.added_token_guard import maybe_space, maybe_word
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.cuts.normalized_context import replaced_string
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken, Facts, Rule, Seam


class Edge(NamedTuple):
    """A position in a window where an added token may begin or end. The token's other end lies
    outside of the window.

    `single_word`: True if such a token has the flag single_word. `strips`: True if such a token has
    the flag, lstrip or rstrip, by which it strips white space inside the window."""

    position: int
    single_word: bool
    strips: bool


@dataclass(frozen=True, eq=False)
class TokenParts:
    """The proper prefixes and the proper suffixes of the contents of added tokens."""

    tokens: tuple[AddedToken, ...]

    @cached_property
    def longest(self) -> int:
        return max((len(token.content) for token in self.tokens), default=0)

    @cached_property
    def first_chars(self) -> frozenset[str]:
        return frozenset(token.content[:1] for token in self.tokens)

    @cached_property
    def last_chars(self) -> frozenset[str]:
        return frozenset(token.content[-1:] for token in self.tokens)

    @cached_property
    def lstrip(self) -> bool:
        """True if some token strips the white space before it."""
        return any(token.lstrip for token in self.tokens)

    @cached_property
    def rstrip(self) -> bool:
        """True if some token strips the white space after it."""
        return any(token.rstrip for token in self.tokens)

    @cached_property
    def beginnings(self) -> dict[str, tuple[bool, bool]]:
        """Each proper prefix, with (single_word, lstrip) of the tokens that begin with it."""
        parts = ((t.content[:k], t.single_word, t.lstrip) for t, k in self._cut())
        return _merge_flags(parts)

    @cached_property
    def endings(self) -> dict[str, tuple[bool, bool]]:
        """Each proper suffix, with (single_word, rstrip) of the tokens that end with it."""
        parts = ((t.content[k:], t.single_word, t.rstrip) for t, k in self._cut())
        return _merge_flags(parts)

    def _cut(self) -> Iterator[tuple[AddedToken, int]]:
        for token in self.tokens:
            yield from ((token, k) for k in range(1, len(token.content)))


def _merge_flags(parts: Iterable[tuple[str, bool, bool]]) -> dict[str, tuple[bool, bool]]:
    found: dict[str, tuple[bool, bool]] = {}
    for part, single, strips in parts:
        known = found.get(part, (False, False))
        found[part] = (known[0] or single, known[1] or strips)
    return found


@dataclass(frozen=True, eq=False)
class StableCuts:
    """Find the stable and co-stable cuts of one tokenizer. Build it with `stable_cuts_for`."""

    finder: CutFinder

    @cached_property
    def refusal(self) -> str | None:
        """Why no text of the tokenizer has a certified cut, or None."""
        return None if self.finder.edges.refusal is None else self.finder.refusal

    @cached_property
    def parts(self) -> TokenParts:
        return TokenParts(self.finder.facts.added_tokens)

    @cached_property
    def looks_ahead(self) -> int:
        """How many characters on either side of a cut the normalizer stages may read (N)."""
        normalized = self.finder.normalizer_guard
        if not normalized.stages:
            return 1
        changed = sum(
            1 + len(replaced_string(s) or "") for s in normalized.stages if s.kind == "Replace"
        )
        moved = max((len(token.content) for token in normalized.tokens), default=0)
        return 2 + len(normalized.stages) + changed + moved

    def final_chars(self, text: str) -> int:
        """How many positions at the start of `text` need no second search when more text follows.

        No token that text after `text` completes begins before them, and no rule reads over the
        end. A cut that only a long run of white space keeps open may be passed over."""
        return max(0, len(text) - 2 * self.parts.longest - self.looks_ahead - 3)

    def reach(self, seam: Seam) -> tuple[int, int]:
        """How many characters before and after a cut decide whether it is certified. Added tokens
        are not counted.

        With a normalizer, the characters whose normalized text decides the cut must be final
        (N)."""
        left, right = self._read_by_rule(seam)
        if self._reads_image(seam):
            left, right = max(left, self.looks_ahead), max(right + 1, self.looks_ahead)
        return left, right

    def _read_by_rule(self, seam: Seam) -> tuple[int, int]:
        """How many characters of the normalized text the rule of a cut reads before and after the
        cut."""
        if "absorbed" in dict(seam.witness):
            return 1, 2
        return (2, 2) if self.finder.facts.scheme == "spaces" else (1, 1)

    def _reads_image(self, seam: Seam) -> bool:
        """True if the certificate of the cut depends on the normalized text around it."""
        normalized = self.finder.normalizer_guard
        if normalized.tokens:
            return True
        at_space = dict(seam.witness).get("right") == "space" and normalized.keeps_universal
        by_raw_text = self.finder.facts.scheme in ("bert", "spaces") or at_space
        return bool(normalized.stages) and not by_raw_text


def stable_cuts_for(facts: Facts) -> StableCuts:
    """The `StableCuts` for these facts. The facts cache the object."""
    return facts.derive(_stable_cuts)


def _stable_cuts(facts: Facts) -> StableCuts:
    return StableCuts(finder_for(facts))


@dataclass(frozen=True, eq=False)
class Window:
    """A part of a text, and the cuts in it that are certified whatever the text outside is.

    `begins`: no text stands before the window; else its cuts must be co-stable. `ends`: no text
    follows the window; else its cuts must be stable."""

    cuts: StableCuts
    text: str
    begins: bool = False
    ends: bool = False

    def seam(self, p: int) -> Seam | None:
        """The seam before code point `p`, 0 < p < len(text), or None."""
        finder = self.cuts.finder
        if self.cuts.refusal is not None or not 0 < p < len(self.text):
            return None
        seam = finder.certify(self.text, p)
        if seam is not None and not self.holds(seam):
            at_edge = seam.rule == Rule.EDGE
            seam = None if at_edge else finder.edges.certify(self.text, p)
            seam = seam if seam is not None and self.holds(seam) else None
        return seam

    def last(self, lower_bound: int) -> Seam | None:
        """The last seam in (lower_bound, len(text)), or None."""
        if self.cuts.refusal is not None:
            return None
        likely = self.cuts.finder.likely(self.text, lower_bound + 1, len(self.text))
        return next(filter(None, map(self.seam, likely)), None)

    def holds(self, seam: Seam) -> bool:
        """True if a certified cut of the window's text stays certified whatever the text outside
        is."""
        p, text = seam.position, self.text
        left, right = self.cuts.reach(seam)
        if not (self.begins or self.ends) and len(text) < self.cuts.parts.longest:
            return False
        if not self.begins and (p < left or not self._stays_behind(seam)):
            return False
        if not self.ends and (p + right > len(text) or not self._stays_before(seam)):
            return False
        unclear = bool(self.cuts.finder.normalizer_guard.tokens)
        return not (unclear and maybe_space(text[p - 1]) and maybe_space(text[p]))

    @cached_property
    def _open_starts(self) -> list[Edge]:
        """Where an added token may begin that ends after the window, in ascending order (a)."""
        parts, text, size = self.cuts.parts, self.text, len(self.text)
        first, may_begin = max(0, size - parts.longest + 1), parts.first_chars
        if may_begin.isdisjoint(text[first:]):
            return []
        places = (s for s in range(first, size) if text[s] in may_begin)
        found = ((s, parts.beginnings.get(text[s:])) for s in places)
        return [Edge(s, *flags) for s, flags in found if flags is not None]

    @cached_property
    def _open_ends(self) -> list[Edge]:
        """Where an added token may end that begins before the window, in ascending order."""
        parts = self.cuts.parts
        last = min(len(self.text), parts.longest - 1)
        if parts.last_chars.isdisjoint(self.text[: max(0, last)]):
            return []
        found = ((e, parts.endings.get(self.text[:e])) for e in range(1, last + 1))
        return [Edge(e, *flags) for e, flags in found if flags is not None]

    def _stays_before(self, seam: Seam) -> bool:
        """True if no text after the window can make an added token that changes the cut.

        Conditions (a), (b) and (d) of lemma 35."""
        p, text = seam.position, self.text
        last = self._last_read(seam)
        if last > len(text) or any(edge.position < last for edge in self._open_starts):
            return False
        if not self._open_starts and not self.cuts.parts.lstrip:
            return True
        if any(e.position == p and e.single_word for e in self._open_starts) and maybe_word(
            text[p - 1]
        ):
            return False
        return all(self._strips_nothing_before(place) for place in _places(seam))

    def _stays_behind(self, seam: Seam) -> bool:
        """True if no text before the window can make an added token that changes the cut.

        The mirror images of (a) and (b), and condition (c), of lemma 35."""
        p, text = seam.position, self.text
        first = self._first_read(seam)
        if first < 0 or any(edge.position > first for edge in self._open_ends):
            return False
        if any(e.position == p and e.single_word for e in self._open_ends) and maybe_word(text[p]):
            return False
        return all(self._strips_nothing_behind(place) for place in _places(seam))

    def _strips_nothing_before(self, p: int) -> bool:
        """Condition (d) at `p`: no later `lstrip` token strips white space on both sides of `p`."""
        if not self.cuts.parts.lstrip or not maybe_space(self.text[p - 1]):
            return True
        stops = [edge.position for edge in self._open_starts if edge.strips]
        return not any(_blank(self.text[p:stop]) for stop in (*stops, len(self.text)))

    def _strips_nothing_behind(self, p: int) -> bool:
        """Condition (c) at `p`, the mirror image of (d): no earlier `rstrip` token strips white
        space on both sides."""
        if not self.cuts.parts.rstrip or not maybe_space(self.text[p]):
            return True
        starts = [edge.position for edge in self._open_ends if edge.strips]
        return not any(_blank(self.text[start:p]) for start in (0, *starts))

    def _last_read(self, seam: Seam) -> int:
        """The end of the characters that no later added token may contain or strip."""
        p = seam.position
        if seam.rule == Rule.EDGE:
            return p + len(_content(seam)) * (dict(seam.witness)["edge"] == "start")
        return p + 2 if "absorbed" in dict(seam.witness) else p

    def _first_read(self, seam: Seam) -> int:
        """The start of the characters that no earlier added token may contain or strip."""
        p = seam.position
        if seam.rule == Rule.EDGE:
            return p - len(_content(seam)) * (dict(seam.witness)["edge"] == "end")
        return p - 1 if "absorbed" in dict(seam.witness) else p


def _places(seam: Seam) -> tuple[int, ...]:
    """The positions that must be A-safe. A cut that absorbs a space needs two."""
    p = seam.position
    return (p, p + 1) if seam.absorbed else (p,)


def _content(seam: Seam) -> str:
    return str(dict(seam.witness)["token"])


def _blank(text: str) -> bool:
    return all(map(maybe_space, text))
