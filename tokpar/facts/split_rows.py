"""The Splits whose pairs are cuts of any row of pre-tokenizers (theorem 42, corollary)."""

from __future__ import annotations

from collections.abc import Sequence

from tokpar.facts.space_stages import PRE_TOKENIZERS
from tokpar.types import NormalizerStage

_ASCII_PUNCTUATION = r"[!-\/:-@\[-`{-~]"
"""Characters that every version of Punctuation splits at."""
_ALONE = ("Isolated", "Removed")
_ESCAPED = frozenset("\\[](){}|^$*+?.#-&~")


def row_patterns(stages: Sequence[NormalizerStage]) -> tuple[str, ...]:
    """The patterns whose certified pairs are certified for the row of pre-tokenizers; () without
    any.

    First the patterns of Splits that are isolated. Behind them stages that look at two neighbours,
    each with characters that it surely splits at. The stages behind are not asked."""
    if not all(map(_is_piecewise, stages)):
        return ()
    patterns, rest = list[str](), list(stages)
    while rest and (pattern := _isolated(rest[0])) is not None:
        patterns += [pattern] if pattern else []
        del rest[0]
    for stage in rest:
        if not _looks_at_two(stage):
            break
        pattern = _single_class(stage)
        patterns += [] if pattern is None else [pattern]
    return tuple(patterns)


def _is_piecewise(stage: NormalizerStage) -> bool:
    """True if the stage does the same to a piece wherever in a text it stands."""
    settings = dict(stage.settings)
    moves = settings.get("prepend_scheme") == "first" or settings.get("add_prefix_space")
    return stage.kind in PRE_TOKENIZERS and not moves


def _isolated(stage: NormalizerStage) -> str | None:
    """The pattern of a Split of which each match and each gap is a piece; "" for one that splits
    nothing; None for other stages."""
    settings = dict(stage.settings)
    if stage.kind != "Split" or settings["behavior"] != "Isolated" or settings.get("invert"):
        return None
    pattern = settings["pattern"]
    if isinstance(pattern, str):
        return literal(pattern)
    source = pattern.get("Regex") if isinstance(pattern, dict) else None
    return str(source) if source else None


def literal(text: str) -> str:
    """A pattern that matches exactly the text."""
    return "".join(f"\\{char}" if char in _ESCAPED else char for char in text)


def _looks_at_two(stage: NormalizerStage) -> bool:
    """True if the stage splits between two characters, or not, whatever stands around them, and
    handles both sides in the same way."""
    if stage.kind in ("Digits", "Punctuation"):
        return True
    pattern = stage.setting("pattern") if stage.kind == "Split" else None
    return isinstance(pattern, str) and len(pattern) == 1


def _single_class(stage: NormalizerStage) -> str | None:
    """A pattern of characters between which and any neighbour the stage surely splits."""
    settings = dict(stage.settings)
    if stage.kind == "Digits":
        return "[0-9]" if settings.get("individual_digits") else None
    if settings.get("behavior") not in _ALONE or settings.get("invert"):
        return None
    return _ASCII_PUNCTUATION if stage.kind == "Punctuation" else literal(str(settings["pattern"]))
