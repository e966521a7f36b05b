"""Check rule K10: the proof of a window shows that the window certifies a cut.

Theorems 40 to 44."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tokpar.certificate.check_context import CheckContext, RefusedError, require, witness_values
from tokpar.certificate.frozen_tables import SPACES, load_tables, load_windows
from tokpar.certificate.normalizer_rule import KEEP_NON_SPACES, ONE_BY_ONE, is_fixed
from tokpar.certificate.window_classes import POINTS, require_class
from tokpar.certificate.window_machine import Machine, RefusedProofError
from tokpar.certificate.window_pattern import PatternReader, require_kept
from tokpar.certificate.window_proof_check import ANYWHERE, BEGINNING, WindowChecker
from tokpar.certificate.window_rows import RowWindows
from tokpar.types import Seam, Theorem

UNIVERSAL = ("non-space", "space")
_LONGEST = 1 << 15
_FEW = 64
"""Up to so many characters are read faster one by one than as an array."""
_MOST_SYMBOLS = 255
_WORK = 4
"""How many times the length of the text may be read from anchors."""
_SURROGATES = slice(0xD800, 0xE000)


class ProvedWindows:
    """The windows of patterns, by a proof that holds for them; RefusedProofError for others.

    `stages`: the proof of each pattern. `symbol_of`: of each code point, (0x110000,); one that is
    none of the checker's symbols is in no window. `classes`: the symbols of each class."""

    def __init__(
        self,
        readers: Sequence[PatternReader],
        stages: object,
        symbol_of: NDArray[np.uint8],
        classes: Mapping[str, list[int]],
    ) -> None:
        if not readers or not isinstance(stages, list) or len(stages) != len(readers):
            raise RefusedProofError("there is not one stage for each pattern")
        written = [json.dumps(stage) for stage in stages]
        self.is_single = len(written) == 1
        self._checker: WindowChecker | RowWindows = (
            WindowChecker(written[0]) if self.is_single else RowWindows([*map(Machine, written)])
        )
        self.size = self._checker.size
        self._symbol_of = symbol_of
        for reader, stage in zip(readers, stages, strict=True):
            if not classes.keys() >= reader.sources.keys():
                raise RefusedProofError(f"nothing is said of one of {[*reader.sources]}")
            if reader.tree(classes.__getitem__, self.size) != stage["tree"]:
                raise RefusedProofError("its tree is not that of the pattern")
            if reader.engine == "fancy-regex":
                require_kept(stage["tree"])

    def items_after(self, text: str, here: int = ANYWHERE) -> int | None:
        """The number of the items behind a text, from those of `here`; None if a character is in no
        window."""
        if len(text) <= _FEW:
            few = self._symbols(text)
            known = all(c < self.size for c in few)
            return self._checker.sets.set_after(here, few) if known else None
        points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        symbols = self._symbol_of[points]
        if (symbols >= self.size).any():
            return None
        starts = np.concatenate(([0], np.flatnonzero(np.diff(symbols)) + 1))
        sizes = np.diff(starts, append=len(symbols)).tolist()
        runs = zip(symbols[starts].tolist(), sizes, strict=True)
        return self._checker.sets.behind_runs(here, runs)

    def refusal(self, here: int | None, right: str) -> str | None:
        """Why the cut behind these items, before this text, is not proved, or None."""
        if here is None:
            return "no window"
        return self._checker.refusal_behind(here, self._symbols(right))

    def _symbols(self, text: str) -> list[int]:
        symbols: list[int] = self._symbol_of[[ord(char) for char in text]].tolist()
        return symbols

    @cached_property
    def universal(self) -> bool:
        """A cut before an ASCII space is proved behind any character other than white space."""
        others = np.ones(POINTS, np.bool_)
        others[[ord(char) for char in SPACES]] = False
        found = set(self._symbol_of[others].tolist()) - {self.size}
        behind = [self._checker.sets.set_after(ANYWHERE, [c]) for c in found]
        return all(self.refusal(here, " ") is None for here in behind)


class ByWindows:
    """Checks the K10 seams of one text."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground
        self._read: dict[tuple[ProvedWindows, int], tuple[int, int]] = {}
        self._work = _WORK * (len(ground.text) + 1)

    def require(self, seam: Seam) -> None:
        """Refuse unless the window of the seam proves its cut. Does not check that the engine
        matches the same added tokens with the cut."""
        ground, p = self._ground, seam.position
        scheme = ground.facts.scheme
        require(scheme == "regex", "scheme", f"the rule is for regex, not {scheme}")
        ground.require_prefix_safe(ground.text[p])
        stored = seam.witness[:1] == (("family", ground.facts.family),)
        named = "family" if stored else "windows"
        if seam.theorem == Theorem.ANCHORED_WINDOW:
            proof, anchor, right = witness_values(seam, named, "anchor", "right")
            self._require_anchored(self._windows_of(named, proof), p, anchor, right)
            return
        proof, left, right = witness_values(seam, named, "left", "right")
        proved = self._windows_of(named, proof)
        own = Theorem.WINDOW if proved.is_single else Theorem.WINDOW_OF_SPLITS
        require(seam.theorem == own, "theorem", f"it is theorem {own}, not {seam.theorem}")
        if (left, right) == UNIVERSAL and not stored:
            self._require_universal(proved, p)
            return
        before, behind = _widths(left, right)
        whole = before <= p and p + behind <= len(ground.text) and before + behind <= _LONGEST
        require(whole, "context", f"no {before} and {behind} characters around {p}")
        self._require_near(proved, behind)
        if before + behind == 2:
            self._require_pair(proved, p)
            return
        self._require_apart(p - before, p + behind)
        here = proved.items_after(self._image(p - before, p))
        self._require_certain(proved, here, p, behind)

    def _require_pair(self, windows: ProvedWindows, p: int) -> None:
        before, after = self._ground.neighbours(p)
        why = windows.refusal(windows.items_after(before), after)
        require(why is None, "context", f"the cut at {p} is not proved: {why}")

    def _require_near(self, windows: ProvedWindows, width: int) -> None:
        """Refuse a window with more than one character after its cut, for several Splits.

        The cuts are made one by one, the last cut first. So only one character may be left after a
        position."""
        near = windows.is_single or width == 1
        require(near, "context", "behind a row of Splits one character may be read on the right")

    def _require_anchored(
        self, windows: ProvedWindows, p: int, anchor: int | str, right: int | str
    ) -> None:
        """Refuse unless reading from the anchor proves the cut. Caches the last reading."""
        place, width = _widths(anchor, right, least=0)
        whole = place < p and width <= _LONGEST and p + width <= len(self._ground.text)
        require(whole, "context", f"no text from {place} to {p} and {width} characters behind")
        self._require_near(windows, width)
        done, here = self._read.get((windows, place), (place, BEGINNING))
        if done > p:
            done, here = place, BEGINNING
        self._work -= p + width - done
        require(self._work > 0, "work", "not looked at: too much was read before")
        self._require_apart(max(0, done - 1), p + width)
        if place and done == place:
            self._require_pair(windows, place)
        prefixed = not place and self._ground.facts.prefix_space
        require(not prefixed, "prefix", "the text may begin with a space that is put there")
        behind = windows.items_after(self._image(done, p), here)
        if behind is not None:
            self._read[windows, place] = p, behind
        self._require_certain(windows, behind, p, width)

    def _require_certain(
        self, windows: ProvedWindows, here: int | None, p: int, width: int
    ) -> None:
        why = windows.refusal(here, self._image(p, p + width))
        require(why is None, "context", f"the cut at {p} is not proved: {why}")

    def _require_universal(self, windows: ProvedWindows, p: int) -> None:
        ground = self._ground
        before, after = ground.text[p - 1], ground.text[p]
        if not {stage.kind for stage in ground.facts.normalizers} <= KEEP_NON_SPACES:
            before, after = ground.neighbours(p)
        spaced = before not in SPACES and ground.text[p] == after == " "
        require(spaced, "context", f"{before!r}|{after!r} is no non-space, then ' '")
        require(windows.universal, "context", "not every non-space before a space is proved")

    def _image(self, start: int, stop: int) -> str:
        """Returns the normalized window, one character for each character of the text."""
        ground = self._ground
        window, stages = ground.text[start:stop], ground.facts.normalizers
        if not stages:
            return window
        kinds = {stage.kind for stage in stages}
        require(kinds <= ONE_BY_ONE, "normalizer", "windows are not judged behind these")
        known = all(map(is_fixed, ground.text[start : stop + 1]))
        require(known, "normalizer", f"the image of [{start}, {stop}) is not sure")
        return window.lower() if "Lowercase" in kinds else window

    def _require_apart(self, start: int, stop: int) -> None:
        """Refuse if an added token, or the white space that it may strip, overlaps the window."""
        ground = self._ground
        require(
            not ground.normalized_tokens, "added token", "tokens of the normalized text: not judged"
        )
        content = ground.raw.reaching(ground.text, start, stop)
        require(content is None, "added token", f"{content!r} may reach [{start}, {stop})")

    def _windows_of(self, origin: str, proof: int | str) -> ProvedWindows:
        """Returns the windows of the table of the tokenizer's family, or of a proof that came with
        the seams."""
        ground, facts = self._ground, self._ground.facts
        if origin == "family":
            found = _stored_windows(ground.family(proof).name, facts.engine, facts.patterns)
        else:
            written = ground.proofs.get(str(proof))
            if written is None:
                raise RefusedError("proof", f"no proof of sha256 {proof} came with the seam")
            found = _handed_over(str(proof), written, facts.engine, facts.patterns)
        if isinstance(found, str):
            raise RefusedError("proof", f"the proof of the windows does not hold: {found}")
        return found


@lru_cache(maxsize=8)
def _handed_over(
    digest: str, proof: str, engine: str, patterns: tuple[str, ...]
) -> ProvedWindows | str:
    """Returns what a proof that came with the seams proves, or why it proves nothing. The engine is
    asked about every code point."""
    if hashlib.sha256(proof.encode("utf-8", "surrogatepass")).hexdigest() != digest:
        return "its sha256 is another"
    try:
        data = _parse_proof(proof)
        if [data.get("engine"), data.get("patterns")] != [engine, list(patterns)]:
            return "it is about other patterns, or another engine"
        readers = [PatternReader(pattern, engine) for pattern in patterns]
        size = _size(data)
        symbol_of, classes = _symbols(data, size), _classes(data, size)
        proved = ProvedWindows(readers, data.get("stages"), symbol_of, classes)
        for source in dict.fromkeys(source for reader in readers for source in reader.sources):
            holds = np.isin(symbol_of, classes[source])
            outside = np.flatnonzero((symbol_of < size) & ~holds)
            require_class(source, engine, np.flatnonzero(holds), outside)
    except RefusedProofError as error:
        return str(error)
    return proved


@lru_cache(maxsize=8)
def _stored_windows(family: str, engine: str, patterns: tuple[str, ...]) -> ProvedWindows | str:
    """Returns what the table of a family proves about the frozen code points, or why it proves
    nothing."""
    source = {"engine": engine, "patterns": list(patterns)}
    entry = next((e for e in load_windows(family) if source in e["sources"]), None)
    if entry is None:
        return f"no windows of {family!r} are stored for its patterns"
    symbol_of = np.full(POINTS, entry["size"], np.uint8)
    for low, high, atom in load_tables().ranges:
        symbol_of[low : high + 1] = entry["symbols"][atom]
    symbol_of[[*map(ord, entry["apart"])]] = [*entry["apart"].values()]
    proofs = entry["proofs"][entry["sources"].index(source)]
    try:
        readers = [PatternReader(pattern, engine) for pattern in patterns]
        trees = [reader.tree(entry["classes"].__getitem__, entry["size"]) for reader in readers]
        stages = [
            {**proof, "size": entry["size"], "tree": tree}
            for proof, tree in zip(proofs, trees, strict=True)
        ]
        return ProvedWindows(readers, stages, symbol_of, entry["classes"])
    except RefusedProofError as error:
        return str(error)


def _widths(left: int | str, right: int | str, least: int = 1) -> tuple[int, int]:
    if type(left) is not int or type(right) is not int or left < least or right < 1:
        raise RefusedError("witness", f"expected whole numbers, got {left!r} and {right!r}")
    return left, right


def _parse_proof(proof: str) -> Mapping[str, object]:
    try:
        data = json.loads(proof)
    except (ValueError, RecursionError) as error:
        raise RefusedProofError(f"no proof: {error}") from None
    if not isinstance(data, dict):
        raise RefusedProofError("no proof of windows")
    return data


def _size(data: Mapping[str, object]) -> int:
    """Returns the number of symbols that the first stage names."""
    stages = data.get("stages")
    first = stages[0] if isinstance(stages, list) and stages else None
    size = first.get("size") if isinstance(first, dict) else None
    if type(size) is not int or not 0 < size <= _MOST_SYMBOLS:
        raise RefusedProofError("there is not one stage for each pattern")
    return size


def _symbols(data: Mapping[str, object], size: int) -> NDArray[np.uint8]:
    """Returns the symbol of each code point, `size` only for surrogates; (0x110000,)."""
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
