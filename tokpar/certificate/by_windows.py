"""K10: a window of the text around a place certifies a cut, by the proof that came with it
(Theorems 40 to 44)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokpar.certificate.ground import Ground, RefusedError, require, witness_values
from tokpar.certificate.normalizers import KEEP_NON_SPACES, is_fixed
from tokpar.certificate.tables import SPACES
from tokpar.certificate.window_classes import POINTS, require_class
from tokpar.certificate.window_machine import RefusedProofError
from tokpar.certificate.window_pattern import PatternReader
from tokpar.certificate.window_rows import RowChecker
from tokpar.certificate.windows import WindowChecker
from tokpar.types import Seam

UNIVERSAL = ("non-space", "space")
_KEPT_ONE_BY_ONE = KEEP_NON_SPACES | {"StripAccents"}
_LONGEST = 1 << 15
_SURROGATES = slice(0xD800, 0xE000)


class Proved:
    """The windows of patterns, by a proof that holds for them; RefusedProofError for others."""

    def __init__(self, proof: str, engine: str, patterns: tuple[str, ...]) -> None:
        data = _read(proof)
        same = [data.get("engine"), data.get("patterns")] == [engine, list(patterns)]
        if not patterns or not same:
            raise RefusedProofError("it is about other patterns, or another engine")
        stages = data.get("stages")
        if not isinstance(stages, list) or len(stages) != len(patterns):
            raise RefusedProofError("there is not one stage for each pattern")
        written = [json.dumps(stage) for stage in stages]
        self.alone = len(written) == 1
        self._checker = WindowChecker(written[0]) if self.alone else RowChecker(written)
        self._symbol_of = _symbols(data, self._checker.size)
        self._classes = _classes(data, self._checker.size)
        self._asked: set[str] = set()
        for pattern, stage in zip(patterns, stages, strict=True):
            reader = PatternReader(pattern, engine)
            for source in reader.sources:
                self._require_class(source, engine)
            if reader.tree(self._classes.__getitem__, self._checker.size) != stage["tree"]:
                raise RefusedProofError("its tree is not that of the pattern")

    def _require_class(self, source: str, engine: str) -> None:
        """The engine says the same of a class, of every code point that a text may hold."""
        if source in self._asked:
            return
        if source not in self._classes:
            raise RefusedProofError(f"nothing is said of {source}")
        holds = np.isin(self._symbol_of, self._classes[source])
        texts = self._symbol_of < self._checker.size
        require_class(source, engine, np.flatnonzero(holds), np.flatnonzero(texts & ~holds))
        self._asked.add(source)

    def refusal(self, left: str, right: str, anchored: bool = False) -> str | None:
        """Why the cut between these texts is not proved, or None."""
        sides = [[int(self._symbol_of[ord(char)]) for char in side] for side in (left, right)]
        return self._checker.refusal(sides[0], sides[1], anchored)

    @cached_property
    def universal(self) -> bool:
        """A cut before an ASCII space is proved behind any character other than white space."""
        others = np.ones(POINTS, np.bool_)
        others[[ord(char) for char in SPACES]] = False
        found = set(self._symbol_of[others].tolist()) - {self._checker.size}
        space = int(self._symbol_of[ord(" ")])
        return all(self._checker.refusal([c], [space]) is None for c in found)


class ByWindows:
    """Judges the K10 seams of one text."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground

    def require(self, seam: Seam) -> None:
        """Return if the window of the seam proves its cut; RefusedError says why not. Whether added
        tokens are matched as without the cut is asked by others."""
        ground, p = self._ground, seam.position
        scheme = ground.facts.scheme
        require(scheme == "regex", "scheme", f"the rule is for regex, not {scheme}")
        ground.require_prefix_safe(ground.text[p])
        if seam.theorem == "44":
            digest, anchor, right = witness_values(seam, "windows", "anchor", "right")
            self._require_anchored(self._proved(digest), p, anchor, right)
            return
        digest, left, right = witness_values(seam, "windows", "left", "right")
        proved = self._proved(digest)
        own = "40" if proved.alone else "42"
        require(seam.theorem == own, "theorem", f"it is theorem {own}, not {seam.theorem}")
        if (left, right) == UNIVERSAL:
            self._require_universal(proved, p)
            return
        before, behind = _widths(left, right)
        whole = before <= p and p + behind <= len(ground.text) and before + behind <= _LONGEST
        require(whole, "context", f"no {before} and {behind} characters around {p}")
        # the pieces of a row are cut one by one, and what stands left of a place may be gone
        near = proved.alone or before == 1
        require(near, "context", "behind a row of Splits one character may be read on the left")
        if before + behind > 2:
            self._require_apart(p - before, p + behind)
        self._require_proved(proved, p, before, behind)

    def _require_anchored(
        self, proved: Proved, p: int, anchor: int | str, right: int | str
    ) -> None:
        require(proved.alone, "theorem", "theorem 44 is asked of one Split alone")
        place, width = _widths(anchor, right, least=0)
        text = self._ground.text
        whole = place < p and p - place <= _LONGEST and width <= _LONGEST and p + width <= len(text)
        require(whole, "context", f"no text from {place} to {p} and {width} characters behind")
        self._require_apart(max(0, place - 1), p + width)
        if place:
            self._require_proved(proved, place, 1, 1)
        else:
            prefixed = self._ground.facts.prefix_space
            require(not prefixed, "prefix", "the text may begin with a space that is put there")
        self._require_proved(proved, p, p - place, width, anchored=True)

    def _require_proved(
        self, proved: Proved, p: int, left: int, right: int, anchored: bool = False
    ) -> None:
        window = self._image(p - left, p + right)
        why = proved.refusal(window[:left], window[left:], anchored)
        require(why is None, "context", f"the cut at {p} is not proved: {why}")

    def _require_universal(self, proved: Proved, p: int) -> None:
        ground = self._ground
        before, after = ground.text[p - 1], ground.text[p]
        if not {stage.kind for stage in ground.facts.normalizers} <= KEEP_NON_SPACES:
            before, after = ground.neighbours(p)
        spaced = before not in SPACES and ground.text[p] == after == " "
        require(spaced, "context", f"{before!r}|{after!r} is no non-space, then ' '")
        require(proved.universal, "context", "not every non-space before a space is proved")

    def _image(self, start: int, stop: int) -> str:
        """What the normalizers make of a window, a character for each."""
        ground = self._ground
        window, stages = ground.text[start:stop], ground.facts.normalizers
        if not stages:
            return window
        kinds = {stage.kind for stage in stages}
        require(kinds <= _KEPT_ONE_BY_ONE, "normalizer", "windows are not judged behind these")
        known = all(map(is_fixed, ground.text[start : stop + 1]))
        require(known, "normalizer", f"the image of [{start}, {stop}) is not sure")
        return window.lower() if "Lowercase" in kinds else window

    def _require_apart(self, start: int, stop: int) -> None:
        """No added token has a share in the window, nor the white space that one may strip."""
        ground = self._ground
        require(not ground.normalized, "added token", "tokens of the normalized text: not judged")
        content = ground.raw.reaching(ground.text, start, stop)
        require(content is None, "added token", f"{content!r} may reach [{start}, {stop})")

    def _proved(self, digest: int | str) -> Proved:
        facts = self._ground.facts
        proof = self._ground.proofs.get(str(digest))
        if proof is None:
            raise RefusedError("proof", f"no proof of sha256 {digest} came with the seam")
        found = _known(str(digest), proof, facts.engine, facts.patterns)
        if isinstance(found, str):
            raise RefusedError("proof", f"the proof of the windows does not hold: {found}")
        return found


@lru_cache(maxsize=8)
def _known(digest: str, proof: str, engine: str, patterns: tuple[str, ...]) -> Proved | str:
    """What a proof proves, or why nothing."""
    if hashlib.sha256(proof.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        return "its sha256 is another"
    try:
        return Proved(proof, engine, patterns)
    except RefusedProofError as error:
        return str(error)


def _widths(left: int | str, right: int | str, least: int = 1) -> tuple[int, int]:
    if type(left) is not int or type(right) is not int or left < least or right < 1:
        raise RefusedError("witness", f"expected whole numbers, got {left!r} and {right!r}")
    return left, right


def _read(proof: str) -> Mapping[str, object]:
    try:
        data = json.loads(proof)
    except (ValueError, RecursionError) as error:
        raise RefusedProofError(f"no proof: {error}") from None
    if not isinstance(data, dict):
        raise RefusedProofError("no proof of windows")
    return data


def _symbols(data: Mapping[str, object], size: int) -> NDArray[np.uint8]:
    """The symbol of each code point, `size` for surrogates alone; (0x110000,)."""
    counts, symbols = _numbers(data.get("counts"), POINTS), _numbers(data.get("symbols"), size)
    if len(counts) != len(symbols) or sum(counts) != POINTS:
        raise RefusedProofError("not every code point has one symbol")
    found = np.repeat(np.array(symbols, np.uint8), counts)
    none = found == size
    if not none[_SURROGATES].all() or none.sum() != _SURROGATES.stop - _SURROGATES.start:
        raise RefusedProofError("a character has no symbol")
    return found


def _classes(data: Mapping[str, object], size: int) -> dict[str, list[int]]:
    found = data.get("classes")
    if not isinstance(found, dict):
        raise RefusedProofError("no classes")
    classes = {source: _numbers(symbols, size - 1) for source, symbols in found.items()}
    if any(x >= y for symbols in classes.values() for x, y in pairwise(symbols)):
        raise RefusedProofError("the symbols of a class do not ascend")
    return classes


def _numbers(data: object, most: int) -> list[int]:
    if isinstance(data, list) and len(data) <= POINTS:
        numbers = [number for number in data if type(number) is int and 0 <= number <= most]
        if len(numbers) == len(data):
            return numbers
    raise RefusedProofError("expected whole numbers")
