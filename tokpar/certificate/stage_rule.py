"""Check rule STAGE: some stage of the tokenizer always splits before the space (theorem 50), or a
prefix stands for it (theorem 6.4)."""

from __future__ import annotations

import base64
import itertools
import re
import struct
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from tokpar.certificate.canonical_form import Stages
from tokpar.certificate.check_context import (
    CheckContext,
    RefusedError,
    once,
    require,
    witness_values,
)
from tokpar.certificate.frozen_tables import MARK, SPACES, load_tables
from tokpar.certificate.own_classes import OwnPattern
from tokpar.certificate.own_division import DUMMY_PREFIX
from tokpar.process.cached_property import cached_property
from tokpar.types import Facts, NormalizerStage, Seam

_BEHIND = {"space": " ", "line end": "\n"}
_SIDES = ("any", "non-space", "sure", "unjoined")
_LETTERS = re.compile(
    r"[!-~\xa1-\xac\xae-\u02ff\u0391-\u03a1\u03a3-\u0482\u048a-\u052f\u05d0-\u05ea\u0621-\u064a]"
    r"|[\u0660-\u0669\u0671-\u06d3\u0904-\u0939\u0e01-\u0e30\u1e00-\u1eff\u2010-\u2027]"
    r"|[\u3001\u3002\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fa5\uac00-\ud7a3\uff01-\uff5e]"
)
"""Characters that are each one grapheme cluster next to one another, spaces and line ends, in every
version of Unicode."""
_CLASSES: dict[str, Callable[[str], bool | None]] = {
    " ": lambda kind: kind == "space",
    r"\s": lambda kind: kind in ("space", "line end"),
    r"\S": lambda kind: kind not in ("space", "line end"),
    **dict.fromkeys((r"\d", "[0-9]", *(rf"\p{{{c}}}" for c in "LNPSM")), lambda kind: kind == "?"),
}
_WHOLE_WORDS = ("WhitespaceSplit", "Whitespace", "BertPreTokenizer")
_OTHERS = ("Split", "ByteLevel", "Metaspace")
_ONE_BY_ONE = ("Punctuation", "Digits", "UnicodeScripts", "FixedLength", "CharDelimiterSplit")


def require_absorbed(ground: CheckContext, seam: Seam) -> None:
    """Refuse unless section 6.4 licenses the seam: the tokenizer adds the one space that the right
    chunk omits. Does not check added tokens that reach over the seam."""
    facts, stages, text, p = ground.facts, ground.facts.normalizers, ground.text, seam.position
    require(facts.scheme == "dummy", "scheme", f"the rule is for dummy, not {facts.scheme}")
    one = witness_values(seam, "absorbed") == ("1",)
    require(one, "witness", "exactly one space can be absorbed")
    bpe = "bpe" in facts.model.casefold()
    require(bpe, "scheme", f"absorbing needs BPE, not {facts.model}")
    across = f"a token has {text[p - 1]!r} before a sign of a space"
    require(text[p - 1] not in (facts.chars_before_mark or ()), "context", across)
    lonely = p + 2 <= len(text) and text[p] == " " and text[p - 1] not in (" ", MARK)
    require(lonely, "context", "expected a non-space, one ' ', and text after it")
    told = [(stage.kind, dict(stage.settings)) for stage in stages]
    prefix = told in ([], DUMMY_PREFIX)
    require(prefix, "normalizer", "absorbing needs Prepend '▁' and Replace ' ' -> '▁' alone")
    if any(token.normalized for token in facts.added_tokens):
        raise RefusedError("added token", "tokens searched in the prefixed text: not judged")
    content = ground.raw.touching(text, p - 1, p + 2)
    require(content is None, "added token", f"{content!r} occurs over its three characters")
    ground.require_added_safe(p + 1)


class Spaces:
    """Checks the seams of one text by theorem 50."""

    def __init__(self, ground: CheckContext) -> None:
        self._ground = ground
        self._verdicts: dict[tuple[str, str], _Row | RefusedError] = {}

    def require(self, seam: Seam) -> None:
        """Refuse unless theorem 50 licenses the seam. Does not check added tokens."""
        ground, text, p = self._ground, self._ground.text, seam.position
        scheme = ground.facts.scheme
        require(scheme == "spaces", "scheme", f"the rule goes by stages, the scheme is {scheme}")
        names = ("left", "right", "spared")[: max(2, len(seam.witness))]
        left, right = witness_values(seam, *names)[:2]
        if (left, right) == ("unjoined", "unjoined"):
            self._require_unjoined(text[p - 1 : p + 1])
            return
        row = self._row(left, right)
        found = f"expected a {right} right of the place, got {text[p]!r}"
        require(text[p] == _BEHIND[right], "context", found)
        around = text[max(0, p - 2) : p], text[p + 1 : p + 2]
        require(row.holds(*around), "context", f"{text[p]!r} between {around} is not {left}")

    def _row(self, left: str, right: str) -> _Row:
        known = left in _SIDES and right in _BEHIND
        require(known, "witness", f"no such sides: {left}|{right}")
        char = _BEHIND[right]
        return once(self._verdicts, (left, char), lambda: _Row(self._ground, left, char))

    def everywhere(self, licence: Seam, start: int, stop: int) -> None:
        """Refuse unless the licence holds at all its positions in [start, stop).

        Both ends must be certified cuts, or ends of the text. Only this part is read."""
        left, right, _ = witness_values(licence, "left", "right", "spared")
        require(right == "space", "witness", f"a cut at every space before a {right}")
        row = self._row(left, right)
        part = self._ground.text[start:stop]
        alike = {(part[max(0, p - 2) : p], part[p + 1 : p + 2]) for p in places(licence, part)}
        for before, behind in sorted(alike):
            among = f"a space between {before!r} and {behind!r} is not {left}"
            require(row.holds(before, behind), "context", among)

    def _require_unjoined(self, pair: str) -> None:
        """Refuse unless both characters are tokens, no token has the pair, and only merges can join
        them."""
        known = self._adjacent
        sign = "\u2581" if self._ground.facts.normalizers else " "
        before, behind = (sign if char == " " else char for char in pair)
        apart = before in known and behind in known and before + behind not in known
        require(apart, "context", f"{pair!r} may be joined, or not be known")

    @cached_property
    def _adjacent(self) -> Collection[str]:
        facts = self._ground.facts
        self._row("unjoined", "space")
        only_spaces = all(
            stage.kind == "Split" and dict(stage.settings).get("pattern") == " "
            for stage in facts.pre_tokenizers
        )
        whole = only_spaces if facts.normalizers else not facts.pre_tokenizers
        require(whole, "pre-tokenizer", "its stages may part a text")
        told = facts.adjacent is not None
        require(told, "facts", "they do not tell which characters tokens join")
        return facts.derive(_adjacent_of)


def sign_of_space(normalizers: Stages, pre_tokenizers: Stages) -> str:
    """What the model gets for a space: " " if no stage is one that writes other signs."""
    writing = ("Metaspace", "ByteLevel")
    changed = normalizers or any(stage.kind in writing for stage in pre_tokenizers)
    return MARK if changed else " "


def cuts_at_spaces(facts: Facts) -> bool:
    """True if theorem 50 licenses a cut before a space in some text of this tokenizer."""
    ground = CheckContext("", facts, load_tables())
    for left in _SIDES:
        try:
            _Row(ground, left, " ")
        except RefusedError:
            continue
        return True
    return False


def places(licence: Seam, part: str) -> list[int]:
    """The positions in a part of a text to which a licence for regions applies, code points.

    They are the spaces after a character that is neither white space nor spared. For "sure",
    visible ASCII stands on both sides of the space, visible ASCII or a blank stands before that,
    and none of these characters is spared."""
    left, _, spared = map(str, witness_values(licence, "left", "right", "spared"))
    return [match.start() for match in _boundary_pattern(left, spared).finditer(part)]


def _boundary_pattern(left_kind: str, spared_chars: str) -> re.Pattern[str]:
    if left_kind != "sure":
        return re.compile(f"(?<=[^{re.escape(spared_chars + ''.join(sorted(SPACES)))}]) ")
    visible = {chr(code) for code in range(0x21, 0x7F)} - set(spared_chars)
    further = visible | (set(" \t\n\r") - set(spared_chars))
    one, two = (f"[{re.escape(''.join(sorted(some)))}]" for some in (visible, further))
    return re.compile(rf"(?:(?<={two}{one})|(?<=\A{one})) (?={one}|\Z)" if visible else r"(?!)")


def _adjacent_of(facts: Facts) -> Collection[str]:
    return frozenset(facts.adjacent() if facts.adjacent is not None else ())


class _Row:
    """One tokenizer's stages, followed for one kind of neighbours of the cut.

    Raises RefusedError if no stage certainly cuts."""

    def __init__(self, ground: CheckContext, left_kind: str, char_behind: str) -> None:
        self._ground, self._left_kind = ground, left_kind
        self._chars_behind = {char_behind}
        self._no_space = left_kind in ("non-space", "sure")
        self._window = left_kind == "sure"
        self._narrow = False
        self._barred_chars: set[str] = set()
        self._tables: list[_ReplacementTable] = []
        for stage in ground.facts.normalizers:
            self._normalize(stage.kind, dict(stage.settings))
        cut = self._cut(ground.facts.pre_tokenizers)
        if left_kind == "unjoined":
            self._require_model()
        else:
            require(cut, "pre-tokenizer", "no stage is certain to cut before a space")

    def holds(self, chars_before: str, char_behind: str) -> bool:
        """True if the cut is certain between these neighbours.

        `chars_before`: the one or two characters before the space. `char_behind`: the character
        after the space, or ""."""
        last = chars_before[-1]
        if self._left_kind == "unjoined":
            return last not in {" ", MARK, *(self._ground.facts.chars_before_mark or ())}
        if self._left_kind == "non-space":
            return last not in SPACES
        if self._left_kind == "any":
            return True
        further = chars_before[:-1]
        blank = further in ("", " ", "\t", "\n", "\r") and further not in self._barred_chars
        return (
            self._is_sure(last)
            and all(map(self._is_sure, char_behind))
            and (blank or self._is_sure(further))
        )

    def _is_sure(self, char: str) -> bool:
        if char in self._barred_chars or (self._narrow and not char.isascii()):
            return False
        forms = {char} | ({char.lower()} if self._narrow else set())
        return _LETTERS.fullmatch(char) is not None and all(
            table.keeps(form) for table in self._tables for form in forms
        )

    def _normalize(self, kind: str, settings: Mapping[str, Any]) -> None:
        if kind == "Precompiled":
            require(self._window, "normalizer", "Precompiled needs characters that are known")
            self._tables.append(_ReplacementTable(str(settings.get("precompiled_charsmap"))))
            (behind,) = self._chars_behind
            self._chars_behind = {b for b in (" ", "\n") if self._tables[-1].makes(behind, b)}
            require(self._chars_behind, "normalizer", "the table changes a space")
            self._window = False
        elif kind == "Replace":
            self._replace(settings.get("pattern"), str(settings.get("content")))
        elif kind == "Strip":
            right = settings.get("strip_left") is False and self._no_space
            require(right, "normalizer", "Strip may take the space")
        else:
            composing = ("NFC", "NFKC")
            removing = ("StripAccents", "BertNormalizer", "Nmt")
            known = (*composing, *removing, "NFD", "NFKD", "Lowercase")
            require(kind in known, "normalizer", f"nothing is proved about {kind}")
            self._no_space = self._no_space and (kind not in removing or self._window)
            self._narrow = True
            self._window = self._window and kind not in composing
            cleaned = kind == "BertNormalizer" and settings.get("clean_text")
            if kind == "Nmt" or (cleaned and self._chars_behind == {"\n"}):
                self._chars_behind = {" "}

    def _replace(self, pattern: object, content: str) -> None:
        if pattern == " ":
            marks = content == MARK
            require(marks, "normalizer", f"a space becomes {content!r}")
            self._chars_behind = {MARK if char == " " else char for char in self._chars_behind}
            self._window = False
        elif isinstance(pattern, str):
            apart = pattern and not self._chars_behind.intersection(pattern)
            require(apart, "normalizer", f"Replace may find {pattern!r} across the place")
            self._barred_chars.update(pattern, pattern.lower(), pattern.upper())
            left_space = not content or content[-1] in SPACES
            self._no_space = self._no_space and (self._window or not left_space)
        else:
            source = pattern.get("Regex") if isinstance(pattern, Mapping) else None
            require(source, "normalizer", f"nothing is proved about Replace of {pattern!r}")
            self._replace_class(OwnPattern(str(source)), content)

    def _replace_class(self, pattern: OwnPattern, content: str) -> None:
        """Replace of a pattern that is one class: no match lies over the place."""
        count, one = pattern.count, len(self._chars_behind) == 1
        known = count is not None and one and self._chars_behind <= {" ", "\n"}
        if count is None or not known:
            raise RefusedError("normalizer", "Replace of more than one class, or an unknown place")
        least, most = count
        (behind,) = self._chars_behind
        if pattern.holds(behind):
            apart = most == 1 or (pattern.is_white and self._no_space)
            require(apart, "normalizer", "Replace may find characters across the place")
            begins = content[:1] in (" ", MARK) and content != ""
            require(begins, "normalizer", f"a space becomes {content!r}")
            alone = least > 1 and self._window
            stays = {behind} if least > 1 else set()
            self._chars_behind = stays if alone else stays | {content[0]}
        if not pattern.is_white:
            self._no_space = self._no_space and content != "" and content[-1] not in SPACES
        self._window = self._window and pattern.is_white and content == " "

    def _cut(self, stages: tuple[NormalizerStage, ...]) -> bool:
        """True if some stage certainly cuts, and all stages before it are split-closed."""
        done, kept = False, True
        for stage in stages:
            settings = dict(stage.settings)
            first = settings.get("prepend_scheme") == "first"
            placed = not first or (kept and not done)
            require(placed, "prefix", "Metaspace 'first' behind a stage that may take spaces out")
            if done:
                known = stage.kind in (*_WHOLE_WORDS, *_ONE_BY_ONE, *_OTHERS)
                require(known, "pre-tokenizer", f"nothing is proved about {stage.kind}")
            else:
                done = self._cuts(stage.kind, settings)
            kept = kept and stage.kind in ("Punctuation", "Digits")
        return done

    def _cuts(self, kind: str, settings: Mapping[str, Any]) -> bool:
        spaced = self._chars_behind == {" "}
        if kind in _WHOLE_WORDS:
            return self._chars_behind <= {" ", "\n"}
        if kind == "Metaspace":
            mark = settings.get("replacement")
            own = self._chars_behind <= {" ", mark}
            require(own, "prefix", f"Metaspace may put {mark!r} before the right part")
            self._chars_behind = {str(mark)}
            return bool(settings.get("split", True))
        if kind == "ByteLevel":
            whole = not settings.get("use_regex", True)
            sure = spaced and (whole or self._no_space)
            require(sure, "pre-tokenizer", "ByteLevel needs a non-space, then a space")
            self._chars_behind = {"\u0120"}
            return not whole
        if kind == "Split":
            return self._split_cuts(settings)
        if kind == "CharDelimiterSplit":
            return self._chars_behind == {settings.get("delimiter")}
        neutral = kind in ("Punctuation", "Digits")
        require(neutral, "pre-tokenizer", f"nothing is proved about {kind}")
        return False

    def _split_cuts(self, settings: Mapping[str, Any]) -> bool:
        pattern, behavior = settings.get("pattern"), str(settings.get("behavior"))
        inverted = bool(settings.get("invert"))
        if isinstance(pattern, str):
            apart = pattern and not self._chars_behind.intersection(pattern[1:])
            require(apart, "pre-tokenizer", f"Split may find {pattern!r} across the place")
            if self._chars_behind != {pattern}:
                return False
            spaced = pattern == " " and self._no_space
            before = (False,) if spaced else (False, True)
            return _parts(behavior, inverted, before, True, joins_matches=False)
        source = str(pattern.get("Regex")) if isinstance(pattern, Mapping) else ""
        unsure = f"nothing is proved about Split on {source!r}"
        (behind,) = self._chars_behind if len(self._chars_behind) == 1 else {""}
        require(behind in {" ", "\n"}, "pre-tokenizer", unsure)
        holds = _CLASSES.get(source.removesuffix("+"))
        if holds is not None:
            unlike = source.rstrip("+") in (" ", r"\s", r"\S") and self._no_space
            before = (bool(holds("other")),) if unlike else (False, True)
            after = bool(holds("space" if behind == " " else "line end"))
            joined = source.endswith("+")
            return _parts(behavior, inverted, before, after, joins_matches=joined)
        shipped = self._ground.tables.pattern_of("oniguruma", (source,))
        universal = shipped is not None and shipped.space_after_nonspace and behind == " "
        if universal and behavior == "Isolated" and not inverted and self._no_space:
            return True
        own = OwnPattern(source)
        between = not own.looks_ahead and not own.holds(behind)
        require(between, "pre-tokenizer", unsure)
        sides = False, True
        return all(_parts(behavior, inverted, sides, False, joins_matches=j) for j in sides)

    def _require_model(self) -> None:
        facts = self._ground.facts
        parted = "bpe" in facts.model.casefold() and facts.chars_before_mark is not None
        require(parted, "scheme", f"{facts.model} may join what is on both sides of a space")
        spaces = all(
            s.kind == "Replace" and dict(s.settings).get("pattern") == " "
            for s in facts.normalizers
        )
        sign = sign_of_space(facts.normalizers, facts.pre_tokenizers)
        told = self._chars_behind == {sign} and spaces
        require(told, "normalizer", f"expected every space to be {sign!r} to the model")


def _parts(
    behavior: str, is_inverted: bool, left: Iterable[bool], right: bool, *, joins_matches: bool
) -> bool:
    """True if a Split cuts between two characters in every context.

    `left`: whether the left character may match, and whether it may not. `right`: the right
    character matches. `joins_matches`: matching neighbours are one match. All contexts of four
    characters are tried."""
    around = itertools.product((False, True), repeat=4)
    return all(
        _is_edge(behavior, is_inverted, (a, b, left_matches, right, c, d), joins_matches)
        for a, b, c, d in around
        for left_matches in left
    )


def _is_edge(
    behavior: str, is_inverted: bool, six_matches: Sequence[bool], joins_matches: bool
) -> bool:
    """True if a Split of six characters has an edge in their middle, or removes a character
    there."""
    runs: list[tuple[bool, int, int]] = []
    for i, matches in enumerate(six_matches):
        if runs and runs[-1][0] == matches and (joins_matches or not matches):
            runs[-1] = (matches, runs[-1][1], i + 1)
        else:
            runs.append((matches, i, i + 1))
    place, before = len(six_matches) // 2, None
    for matches, start, stop in runs:
        found = matches != is_inverted
        if behavior == "Removed" and found and start <= place <= stop:
            return True
        if start == place:
            glued = {
                "Isolated": False,
                "Removed": False,
                "Contiguous": before == found,
                "MergedWithPrevious": found and before is False,
                "MergedWithNext": before is True and not found,
            }
            return not glued.get(behavior, True)
        before = found
    return False


class _ReplacementTable:
    """SentencePiece's replacement table, for single characters."""

    def __init__(self, encoded_map: str) -> None:
        self._raw = encoded_map

    @cached_property
    def _read(self) -> tuple[bytes, bytes]:
        try:
            blob = base64.b64decode(self._raw, validate=True)
            (size,) = struct.unpack_from("<I", blob)
        except (ValueError, struct.error) as error:
            raise RefusedError("normalizer", "a table that cannot be read") from error
        return blob[4 : 4 + size], blob[4 + size :]

    def keeps(self, char: str) -> bool:
        """True if the table replaces the character by itself, or has no key for it."""
        return self.makes(char, char)

    def makes(self, char: str, image: str) -> bool:
        """True if the table replaces a character, alone in its cluster, by exactly `image`."""
        units, texts = self._read
        at, wanted = 0, image.encode()
        try:
            (unit,) = struct.unpack_from("<I", units, 0)
            for byte in char.encode():
                at ^= _jump(unit) ^ byte
                (unit,) = struct.unpack_from("<I", units, 4 * at)
                if unit & 0xFF != byte or unit >> 31:
                    return char == image
                if unit & 0x100:
                    (leaf,) = struct.unpack_from("<I", units, 4 * (at ^ _jump(unit)))
                    return texts[leaf & 0x7FFFFFFF :].partition(b"\0")[0] == wanted
        except struct.error:
            return False
        return char == image


def _jump(unit: int) -> int:
    return (unit >> 10) << (8 if unit & 0x200 else 0)
