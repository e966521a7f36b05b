"""Find pipelines in which some Hugging Face stage always splits before a space (theorem 50).

The module follows a position before a space through every stage. At first only the space is known.
If a stage's effect cannot be proved, the module assumes more about the characters at the position,
and starts again."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal

from tokpar.arrays import SPACES, sides_of_spaces
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, NormalizerStage

if TYPE_CHECKING:
    from tokpar.facts.charsmap import Charsmap

LeftCondition = Literal["any", "non-space", "sure", "unjoined"]
"""The condition on the character before the space: see the page of theorem 50."""

MARK = "▁"
ASCII_SURE = "!-~"
SURE = (
    ASCII_SURE
    + "\u00a1-\u00ac\u00ae-\u02ff\u0391-\u03a1\u03a3-\u03ff\u0400-\u0482\u048a-\u052f\u05d0-\u05ea"
    "\u0621-\u064a\u0660-\u0669\u0671-\u06d3\u0904-\u0939\u0e01-\u0e30\u1e00-\u1eff\u2010-\u2027"
    "\u3001\u3002\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3\uff01-\uff5e"
)
"""A regex class, without brackets, of characters that are always a grapheme cluster by themselves.
"""

_FORMS = ("NFC", "NFD", "NFKC", "NFKD")
_BEHAVIORS = ("Isolated", "Removed", "Contiguous", "MergedWithPrevious", "MergedWithNext")
_ONE_CLASS = re.compile(r"(\\s|\\S|\\d|\\p\{[LNPSM]\}|\[0-9\]| )(\+?)")
_HOLD_SOLID = {"\\s": False, " ": False, "\\S": True}


class _UnprovedError(Exception):
    """The known facts about the position do not prove what a stage does."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The known facts about a position in the input of a stage.

    `solid`: a character stands before the position and is not white space. `window`: the characters
    of the original window are unchanged, see `SpaceCut`. `ascii`: the window must be ASCII.
    `right`: the characters that may stand after the position."""

    solid: bool = False
    window: bool = False
    ascii: bool = False
    right: frozenset[str] = frozenset(" ")
    spared_chars: frozenset[str] = frozenset()
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class SpaceCut:
    """The certain cuts of a pipeline: before a space, after a character that meets `left`.

    "sure": the two characters before the space, and the one after it, must be `SURE` characters."""

    left: LeftCondition
    space_char: str = " "
    joined_chars: frozenset[str] = frozenset()
    ascii: bool = False
    spared_chars: frozenset[str] = frozenset()
    tables: tuple[str, ...] = ()

    def holds(self, text: str, p: int) -> bool:
        """True if the characters around code point `p`, 0 < p < len(text), meet the conditions."""
        before = text[p - 1]
        if text[p] != self.space_char or (self.left == "unjoined" and before in self.joined_chars):
            return False
        if self.left == "non-space":
            return _SPACE.match(before) is None
        if self.left == "sure":
            behind = p + 1 == len(text) or self._sure(text[p + 1])
            further = p == 1 or text[p - 2] in self._blank or self._sure(text[p - 2])
            return behind and further and self._sure(before)
        return True

    @cached_property
    def spared_ascii(self) -> str:
        """ASCII characters that must not be next to the space, in addition to `left`."""
        some = self.joined_chars - {" "} if self.left == "unjoined" else self.spared_chars
        if self.left == "sure":
            some |= {char for char in map(chr, range(33, 127)) if not self._sure(char)}
        return "".join(sorted(filter(str.isascii, some)))

    def ends(self, segment: str) -> bool:
        """True if a segment of a text cut by `sides` may end with `segment`, before a space."""
        return segment[-1:] not in self._joined_others

    @property
    def joins_others(self) -> bool:
        """True if `ends` may be False: `sides` cannot express all conditions."""
        return bool(self._joined_others)

    def everywhere(self, text: str, start: int, stop: int) -> bool:
        """True if `holds` is True at all positions in [start, stop) that `sides` selects."""
        return all(text.find(f"{char} ", start, stop) < 0 for char in self._joined_others)

    @cached_property
    def _joined_others(self) -> frozenset[str]:
        """The characters that tokens join with a space and that `sides` cannot express."""
        some = self.joined_chars if self.left == "unjoined" else ()
        return frozenset(char for char in some if not char.isascii())

    @cached_property
    def sides(self) -> bytes:
        """The conditions on the neighbours of a space, in the form of `spaces_behind_text`."""
        return sides_of_spaces(self.left, self.spared_ascii)

    @cached_property
    def _blank(self) -> frozenset[str]:
        return frozenset(" \t\n\r") - self.spared_chars

    @cached_property
    def _class(self) -> re.Pattern[str]:
        return re.compile(f"[{ASCII_SURE if self.ascii else SURE}]")

    @cached_property
    def _maps(self) -> list[Charsmap]:
        from tokpar.facts.charsmap import Charsmap  # only Precompiled needs it

        return [Charsmap(table) for table in self.tables]

    @cached_property
    def _sure(self) -> Callable[[str], bool]:
        return cache(self._is_sure)

    def _is_sure(self, char: str) -> bool:
        ordinary = self._class.match(char) is not None and char not in self.spared_chars
        forms = {char, char.lower()} if self.ascii else {char}
        return ordinary and all(m.keeps(c) for m in self._maps for c in forms)


_SPACE = re.compile(f"[{re.escape(SPACES)}]")


def space_cuts(facts: Facts) -> tuple[SpaceCut, ...]:
    """The certain cuts of a tokenizer with the scheme "spaces": before spaces, then before line
    ends if these are certain, too."""
    at_spaces = find_space_cut(facts.normalizers, facts.pre_tokenizers, facts.chars_before_mark)
    at_lines = find_space_cut(facts.normalizers, facts.pre_tokenizers, None, "\n")
    return tuple(found for found in (at_spaces, at_lines) if isinstance(found, SpaceCut))


def find_space_cut(
    normalizers: Sequence[NormalizerStage],
    pre_tokenizers: Sequence[NormalizerStage],
    chars_before_mark: frozenset[str] | None,
    space_char: str = " ",
) -> SpaceCut | str:
    """The largest set of certain cuts before `space_char`, or the stage that prevents all of them.

    `chars_before_mark`: the characters that some token has before `space_in_model`. None: the model
    may join any two characters."""
    why = ""
    for left, place in _LEVELS:
        place = replace(place, right=frozenset(space_char))
        found = _find_cut(left, place, normalizers, pre_tokenizers)
        if isinstance(found, SpaceCut):
            return replace(found, space_char=space_char)
        why = found
    if chars_before_mark is not None and only_joins(normalizers, pre_tokenizers):
        return SpaceCut("unjoined", joined_chars=chars_before_mark | {" ", MARK})
    return why


def _find_cut(
    left: LeftCondition,
    place: _Place,
    normalizers: Sequence[NormalizerStage],
    pre_tokenizers: Sequence[NormalizerStage],
) -> SpaceCut | str:
    try:
        for stage in normalizers:
            place = _follow_normalizer(stage, place)
        if _is_cut(pre_tokenizers, place):
            return SpaceCut(
                left, ascii=place.ascii, spared_chars=place.spared_chars, tables=place.tables
            )
    except _UnprovedError as unproved:
        return f"nothing is proved about {unproved}"
    return _uncut(pre_tokenizers)


_LEVELS: tuple[tuple[LeftCondition, _Place], ...] = (
    ("any", _Place()),
    ("non-space", _Place(solid=True)),
    ("sure", _Place(solid=True, window=True)),
)


def _uncut(pre_tokenizers: Sequence[NormalizerStage]) -> str:
    if not pre_tokenizers:
        return "there is no pre-tokenizer: no place is certain to end a piece"
    row = " + ".join(stage.kind for stage in pre_tokenizers)
    return f"nothing is proved about the pre-tokenizer {row}: no stage is certain to cut at spaces"


def _follow_normalizer(stage: NormalizerStage, place: _Place) -> _Place:
    kind = stage.kind
    lasting = replace(place, ascii=True, solid=place.solid and place.window)
    if kind in ("NFD", "NFKD", "Lowercase"):
        return replace(place, ascii=True)
    if kind in ("NFC", "NFKC"):
        return replace(place, ascii=True, window=False)
    if kind in ("StripAccents", "BertNormalizer"):
        cleaned = place.right == {"\n"} and dict(stage.settings).get("clean_text", False)
        return replace(lasting, right=frozenset(" ")) if cleaned else lasting
    if kind == "Nmt":
        return replace(lasting, right=frozenset(" "))
    if kind == "Strip":
        if stage.setting("strip_left") or not place.solid:
            raise _UnprovedError("the normalizer Strip, which takes white space off the left")
        return place
    if kind == "Replace":
        return _follow_replace(stage, place)
    if kind == "Precompiled":
        return _by_table(stage, place)
    raise _UnprovedError(f"the normalizer {kind}")


def _follow_replace(stage: NormalizerStage, place: _Place) -> _Place:
    pattern, content = stage.setting("pattern"), str(stage.setting("content"))
    if not isinstance(pattern, str) or not pattern:
        return _follow_class(pattern, content, place)
    if pattern == " " and content == MARK:
        marked = frozenset(MARK if char == " " else char for char in place.right)
        return replace(place, window=False, right=marked)
    if place.right & set(pattern):
        raise _UnprovedError(f"the normalizer Replace of {pattern!r}, which may lie across a space")
    kept = place.window or (content != "" and _SPACE.match(content[-1]) is None)
    spared_chars = place.spared_chars.union(*((c, c.lower(), c.upper()) for c in pattern))
    return replace(place, solid=place.solid and kept, spared_chars=spared_chars)


def _follow_class(pattern: object, content: str, place: _Place) -> _Place:
    """Replace of a regex that is one class, single or repeated (theorem 50)."""
    from tokpar.facts.space_patterns import class_pattern  # only a regex needs the parser

    source = pattern.get("Regex") if isinstance(pattern, dict) else None
    found = class_pattern(str(source)) if source else None
    (char,) = place.right if len(place.right) == 1 else ("",)
    held = found.holds(char) if found is not None and char in (" ", "\n") else None
    if found is None or held is None:
        raise _UnprovedError("the normalizer Replace with a regex")
    window = place.window and found.is_white and content == " "
    kept = found.is_white or (content != "" and _SPACE.match(content[-1]) is None)
    solid = place.solid and kept
    if not held:
        return replace(place, solid=solid, window=window)
    if found.joins and not (found.is_white and place.solid):
        raise _UnprovedError(f"the normalizer Replace of {source!r}, which may lie across a space")
    if content[:1] not in (" ", MARK) or not content:
        raise _UnprovedError(f"the normalizer Replace of {source!r} by {content!r}")
    single = found.least > 1 and place.window  # no white space stands behind it
    right = {char} if single else {char, content[0]} if found.least > 1 else {content[0]}
    return replace(place, solid=solid, window=window, right=frozenset(right))


def _by_table(stage: NormalizerStage, place: _Place) -> _Place:
    table = str(stage.setting("precompiled_charsmap"))
    if not place.window:
        raise _UnprovedError(
            "the normalizer Precompiled behind a stage that may compose characters"
        )
    from tokpar.facts.charsmap import Charsmap  # only this stage needs it

    image = Charsmap(table).image("".join(place.right))
    if image not in (" ", "\n"):
        raise _UnprovedError("the normalizer Precompiled with a table that changes spaces")
    return replace(place, window=False, tables=(*place.tables, table), right=frozenset(image))


def _is_cut(stages: Sequence[NormalizerStage], place: _Place) -> bool:
    """True if one of the stages certainly cuts at the position.

    Each stage before this one must be split-closed: it cuts at the position, or only fails
    to cut there. Each stage after it handles the pieces of one side, so any stage is
    allowed."""
    for number, stage in enumerate(stages):
        if _moves(stage) and any(s.kind not in _KEEP_SPACES for s in stages[:number]):
            raise _UnprovedError('the pre-tokenizer Metaspace "first" behind another stage')
        cuts, place = _step(stage, place)
        if cuts:
            _require_piecewise(stages[number + 1 :])
            return True
    return False


_KEEP_SPACES = frozenset({"Punctuation", "Digits"})
PRE_TOKENIZERS = frozenset(
    {"BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace"}
    | {"Punctuation", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"}
)
"""All pre-tokenizers of Hugging Face. The engine calls each for one piece at a time. Only
Metaspace with "first" depends on the position of the piece in the text."""


def _require_piecewise(stages: Sequence[NormalizerStage]) -> None:
    for stage in stages:
        if stage.kind not in PRE_TOKENIZERS:
            raise _UnprovedError(f"the pre-tokenizer {stage.kind}")
        if _moves(stage):
            raise _UnprovedError('the pre-tokenizer Metaspace "first" behind another stage')


def _moves(stage: NormalizerStage) -> bool:
    """True if the stage depends on the position of a piece in the text."""
    return dict(stage.settings).get("prepend_scheme") == "first"


def _step(stage: NormalizerStage, place: _Place) -> tuple[bool, _Place]:
    """(True if the stage certainly cuts at the position, else the known facts after the stage)."""
    kind, spaced = stage.kind, place.right <= {" ", "\n"}
    if kind in ("WhitespaceSplit", "Whitespace", "BertPreTokenizer"):
        return spaced, place
    if kind in ("Punctuation", "Digits"):
        return False, place
    if kind == "CharDelimiterSplit":
        return place.right == {stage.setting("delimiter")}, place
    if kind == "Metaspace":
        mark = str(stage.setting("replacement"))
        if not place.right <= {" ", mark}:
            raise _UnprovedError(f"the pre-tokenizer Metaspace with {mark!r} behind {MARK!r}")
        split = dict(stage.settings).get("split", True) is not False
        return split, replace(place, right=frozenset(mark))
    if kind == "ByteLevel":
        return _byte_level(stage, place)
    if kind == "Split":
        return _split(stage, place), place
    raise _UnprovedError(f"the pre-tokenizer {kind}")


def _byte_level(stage: NormalizerStage, place: _Place) -> tuple[bool, _Place]:
    settings = dict(stage.settings)
    if place.right != {" "}:
        raise _UnprovedError("the pre-tokenizer ByteLevel behind a stage that changes spaces")
    if not settings.get("use_regex", True):
        return False, replace(place, right=frozenset("\u0120"))
    if not place.solid:
        raise _UnprovedError("the pre-tokenizer ByteLevel between two spaces")
    return True, place


def _split(stage: NormalizerStage, place: _Place) -> bool:
    behavior, invert = str(stage.setting("behavior")), bool(stage.setting("invert"))
    pattern = stage.setting("pattern")
    if behavior not in _BEHAVIORS:
        raise _UnprovedError(f"the pre-tokenizer Split with {behavior}")
    how = f"{behavior}, invert={invert}"
    if isinstance(pattern, str) and pattern:
        if place.right & set(pattern[1:]):
            raise _UnprovedError(
                f"the pre-tokenizer Split on {pattern!r}, which may lie across a space"
            )
        if place.right != {pattern}:
            return False
        left = (False,) if place.solid and pattern == " " else (False, True)
        return all(_edge(behavior, invert, x, True) for x in left)
    source = pattern.get("Regex") if isinstance(pattern, dict) else None
    one = _ONE_CLASS.fullmatch(str(source)) if source else None
    if one is not None and place.right in ({" "}, {"\n"}):
        holds = one[1] == r"\s" or place.right == {one[1]}
        member = _HOLD_SOLID.get(one[1]) if place.solid else None
        sides = (False, True) if member is None else (member,)
        return all(_edge(behavior, invert, x, holds, run=bool(one[2])) for x in sides)
    plain = source and behavior == "Isolated" and not invert
    known = shipped_pattern("oniguruma", (str(source),)) if plain else None
    if known is not None and known.spaces and place.solid and place.right == {" "}:
        return True
    from tokpar.facts.space_patterns import never_holds  # as above

    (char,) = place.right if len(place.right) == 1 else ("",)
    if source and char in (" ", "\n") and never_holds(str(source), char):
        return all(_edge(behavior, invert, x, False) for x in (False, True))
    raise _UnprovedError(f"the pre-tokenizer Split on {pattern!r} ({how})")


def _edge(
    behavior: str, invert: bool, left_matches: bool, right_matches: bool, *, run: bool = False
) -> bool:
    """True if a Split certainly cuts between two characters.

    `left_matches`, `right_matches`: the left and the right character matches. `run`: matching
    neighbours are one match."""
    if left_matches == right_matches and (run or not left_matches):  # one match, or one gap
        return behavior == "Removed" and left_matches != invert
    one, other = left_matches != invert, right_matches != invert
    if behavior == "Contiguous":
        return one != other
    if behavior == "MergedWithPrevious":
        return one or not other
    if behavior == "MergedWithNext":
        return other or not one
    return True


def space_in_model(
    normalizers: Sequence[NormalizerStage], pre_tokenizers: Sequence[NormalizerStage]
) -> str:
    """What a space is to the model: " " where no stage may change it, else "▁"."""
    kept = not normalizers and all(s.kind not in ("Metaspace", "ByteLevel") for s in pre_tokenizers)
    return " " if kept else MARK


def only_joins(
    normalizers: Sequence[NormalizerStage], pre_tokenizers: Sequence[NormalizerStage]
) -> bool:
    """True if the stages only replace spaces with "▁", or leave them, and every cut of a stage
    removes nothing."""
    place = _Place()
    try:
        for stage in normalizers:
            if stage.kind != "Replace" or stage.setting("pattern") != " ":
                return False
            place = _follow_normalizer(stage, place)
        if _is_cut(pre_tokenizers, place):
            return False  # otherwise nothing asks whether tokens join
        for stage in pre_tokenizers:
            _, place = _step(stage, place)
    except _UnprovedError:
        return False
    return place.right == {space_in_model(normalizers, pre_tokenizers)}


def bare(normalizers: Sequence[NormalizerStage], pre_tokenizers: Sequence[NormalizerStage]) -> bool:
    """True if the stages split nothing: there is none, or Splits on a space where there is none."""
    at_spaces = (s.kind == "Split" and s.setting("pattern") == " " for s in pre_tokenizers)
    return all(at_spaces) if normalizers else not pre_tokenizers
