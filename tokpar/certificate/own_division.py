"""How the stages before the model divide a text, as the checker reads them."""

from __future__ import annotations

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
