"""What the shipped tables are made of: the spellings of each pattern, and the pairs of classes that
theory states (section 4.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.recipes import known
from tests.recipes.known import SHARED, SINGLES
from tokpar.patterns import shipped_patterns

ALL = ("fancy-regex", "oniguruma", "regex")
POSSESSIVE = ("fancy-regex", "regex")
"""Engines in which `{1,3}+` is possessive; in Oniguruma it repeats the group."""
PROPERTIES = ("Lu", "Ll", "Lt", "Lm", "Lo", "M", "N", "P", "S")

SPELLINGS: Mapping[str, tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]] = {
    "gpt2": ((ALL, (shipped_patterns.GPT2,)), (ALL, (known.GPT2_BRACKETS,)), (ALL, (known.R50K,))),
    "cl100k": ((ALL, (shipped_patterns.CL100K,)), (ALL, (known.CL100K_MIDDLE,))),
    "cl100k_tiktoken": ((POSSESSIVE, (known.CL100K_TIKTOKEN,)), (ALL, (known.CL100K_SAVED,))),
    "qwen2": ((ALL, (shipped_patterns.QWEN2,)),),
    "o200k": ((ALL, (shipped_patterns.O200K,)),),
    "tekken": ((ALL, (shipped_patterns.TEKKEN,)),),
    "deepseek": tuple(
        (("oniguruma", "regex"), stages)
        for stages in (known.DEEPSEEK_STAGES, known.DEEPSEEK_RAW_NEWLINES)
    ),
}
"""For each shipped value: engines, and one pattern per Split as they run it."""


def sources_of(name: str) -> list[dict[str, Any]]:
    """The engines and patterns of a shipped value."""
    return [
        {"engine": engine, "patterns": list(patterns)}
        for engines, patterns in SPELLINGS[name]
        for engine in engines
    ]


@dataclass(frozen=True)
class Stated:
    """A pre-tokenizer that looks at two characters (section 4.8): safe pairs by theory."""

    name: str
    classes: Mapping[str, tuple[str, ...]]
    pairs: tuple[tuple[str, str], ...]


_BERT_SEPARATORS = ("space", "newline", "tab", "space_Z", "quote", "slash", "ascii_symbol", "cjk")
_PUNCT = ("ascii_punct", "P", "kana_P")


def _two_classes(name: str, separators: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {"other": tuple(a for a in (*SINGLES, *SHARED) if a not in separators), name: separators}


STATED = (
    Stated(
        "bert",
        _two_classes("separator", (*_BERT_SEPARATORS, *_PUNCT)),
        (("other", "separator"), ("separator", "other"), ("separator", "separator")),
    ),
    Stated(
        "metaspace",
        _two_classes("mark", ("space", "low_block")),
        (("other", "mark"), ("mark", "mark")),
    ),
)
