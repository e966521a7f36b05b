"""How the stages before the model divide a text, as the checker reads them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from tokpar.certificate.canonical_form import Stages, regex_of, setting
from tokpar.certificate.frozen_tables import MARK, load_tables
from tokpar.certificate.own_vocabulary import OwnVocabulary
from tokpar.types import NormalizerStage, Scheme

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of a ByteLevel stage with `use_regex`."""
DUMMY_PREFIX = [("Prepend", {"prepend": MARK}), ("Replace", {"pattern": " ", "content": MARK})]
"""The normalizers of Llama 2: "▁" before the text, and for each space."""


@dataclass(frozen=True, slots=True)
class Division:
    """How a text is divided before the model. `unknown`: no rule is known for it."""

    scheme: Scheme = "none"
    patterns: tuple[str, ...] = ()
    unknown: str | None = None


def is_shipped(engine: str, patterns: tuple[str, ...]) -> bool:
    """True if tokpar ships what is known of these patterns."""
    return load_tables().pattern_of(engine, patterns) is not None


def covers(engine: str, patterns: tuple[str, ...]) -> bool:
    """True if the matches of these patterns are known to leave no gap."""
    known = load_tables().pattern_of(engine, patterns)
    return known is not None and known.covers


def kept_whole(piece: NormalizerStage) -> NormalizerStage:
    """A Split that drops what no match holds as an Isolated one, where matches hold every
    character: those of each known family do."""
    drops = (setting(piece, "behavior"), setting(piece, "invert")) == ("Removed", True)
    if piece.kind != "Split" or not drops:
        return piece
    source = regex_of(piece)
    if source is None or not covers("oniguruma", (source,)):
        return piece
    kept = dict(piece.settings) | {"behavior": "Isolated", "invert": False}
    return replace(piece, settings=tuple(kept.items()))


def division_of(pieces: Stages, normalizers: Stages, model: OwnVocabulary) -> Division:
    kinds = [piece.kind for piece in pieces]
    if not kinds and [(each.kind, dict(each.settings)) for each in normalizers] == DUMMY_PREFIX:
        joined = model.before_marks is None
        return Division("dummy", unknown="merges may cross a mark" if joined else None)
    if kinds == ["BertPreTokenizer"] and _cleans_as_bert(normalizers):
        return Division("bert")
    if kinds == ["Metaspace"]:
        usual = setting(pieces[0], "replacement") == MARK and setting(pieces[0], "split", True)
        return Division("metaspace") if usual else Division(unknown="an unusual Metaspace")
    if not kinds or kinds[-1] != "ByteLevel":
        return Division(unknown="a pre-tokenizer without a rule of its own")
    by_regex = setting(pieces[-1], "use_regex", True)
    if len(pieces) == 1:
        return Division("regex", (GPT2_PATTERN,)) if by_regex else Division("whole")
    patterns = tuple(map(_isolated_regex, pieces[:-1]))
    if by_regex or None in patterns:
        return Division(unknown="a row of stages without a rule of its own")
    return Division("regex", tuple(pattern for pattern in patterns if pattern is not None))


def patterns_in_front(pieces: Stages) -> tuple[str, ...]:
    """The patterns whose pairs are cuts of the whole row: of the isolated Splits in front, then of
    stages that look at two characters, for characters that they surely split at. ()  for a row with
    a stage that depends on the place of a piece."""
    known = {"Split", "Digits", "Punctuation", "ByteLevel", "CharDelimiterSplit", "FixedLength"}
    known |= {"Whitespace", "WhitespaceSplit", "BertPreTokenizer", "UnicodeScripts", "Metaspace"}
    for piece in pieces:
        prefixed = setting(piece, "prepend_scheme") == "first" or setting(piece, "add_prefix_space")
        if piece.kind not in known or prefixed:
            return ()
    found, are_in_front = list[str](), True
    for piece in pieces:
        pattern, behavior = setting(piece, "pattern"), setting(piece, "behavior")
        text = pattern if isinstance(pattern, str) else None
        is_split = piece.kind == "Split" and (text is not None or regex_of(piece) is not None)
        alone = behavior == "Isolated" and not setting(piece, "invert")
        if are_in_front and is_split and alone:
            found.append(regex_of(piece) or _spelled(text or ""))
            continue
        are_in_front = False
        if piece.kind == "Digits":
            found.append("[0-9]" if setting(piece, "individual_digits") else "")
        elif piece.kind == "Punctuation" or (piece.kind == "Split" and len(text or "") == 1):
            alone = behavior in ("Isolated", "Removed") and not setting(piece, "invert")
            found.append((_spelled(text) if text else r"[!-\/:-@\[-`{-~]") if alone else "")
        else:
            break
    return tuple(pattern for pattern in found if pattern)


def _spelled(text: str) -> str:
    return re.sub(r"[\\\[\](){}|^$*+?.#\-&~]", lambda sign: f"\\{sign[0]}", text)


def _isolated_regex(piece: NormalizerStage) -> str | None:
    """The regex of a Split whose matches and gaps are pieces, each by itself."""
    if piece.kind != "Split" or setting(piece, "behavior") != "Isolated":
        return None
    return None if setting(piece, "invert") else regex_of(piece)


def _cleans_as_bert(normalizers: Stages) -> bool:
    if [stage.kind for stage in normalizers] != ["BertNormalizer"]:
        return False
    wanted = ("clean_text", "handle_chinese_chars")
    return all(setting(normalizers[0], name) is True for name in wanted)


def as_read(engine: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(without_inner_sets, patterns)) if engine == "regex" else patterns


def without_inner_sets(pattern: str) -> str:
    """Returns a pattern with the members of a set in a set in the outer set: "[^a[bc]]" ->
    "[^abc]", as the `regex` module gets it."""
    kept, depth, place = list[str](), 0, 0
    while place < len(pattern):
        char = pattern[place]
        width = 2 if char == "\\" else 1
        opens, closes = char == "[", char == "]" and depth > 0
        depth += opens - closes
        if not (opens and depth > 1) and not (closes and depth > 0):
            kept.append(pattern[place : place + width])
        place += width
    return "".join(kept)
