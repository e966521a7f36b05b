"""Everything around the model of a `tokenizer.json`: patterns, normalizers, added tokens,
templates, truncation and padding."""

from __future__ import annotations

import base64
import random
from typing import Any

from tokpar_conformance.worlds.charsmaps import NMT_LIKE
from tokpar_conformance.worlds.models import MARK

Config = dict[str, Any]

_WORD_O200K = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
)
_ENDING = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_SPACE = r"\s*[\r\n]+|\s+(?!\S)|\s+"

PATTERNS: dict[str, tuple[str, ...]] = {
    "gpt2": (r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",),
    "r50k": (r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",),
    "llama3": (
        rf"{_ENDING}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACE}",
    ),
    "cl100k": (
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+"
        r"| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
    ),
    "qwen2": (
        rf"{_ENDING}|[^\r\n\p{{L}}\p{{N}}]?\p{{L}}+|\p{{N}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n]*|{_SPACE}",
    ),
    "o200k": (
        rf"{_WORD_O200K[0]}{_ENDING}?|{_WORD_O200K[1]}{_ENDING}?|\p{{N}}{{1,3}}"
        rf"| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACE}",
    ),
    "tekken": (
        rf"{_WORD_O200K[0]}|{_WORD_O200K[1]}|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{_SPACE}",
    ),
    "deepseek": (
        r"\p{N}{1,3}",
        "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+",
        "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+"
        "|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*"
        "|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
    ),
}
"""The regexes of each family, letter by letter as published; DeepSeek applies three in turn."""
ODD_PATTERNS = (
    *(r"\X", r"\R", r"\X|\R", r"(?<=\s)\S+", r"(?<![a-z])\d+|.", r"(?<=[a-b])(?=[A-B])", r"(?!a)b"),
    *(r"\w+|\W", r"[a-c]+|\s", r"\d{1,3}(?=(?:\d{3})*\b)", r"(?:ab)+|c", r"\s+", r" ?\p{L}+|\p{N}"),
    *(r"\p{Han}|\p{Latin}+", r"(?i:the)|.", r".", r"\b", r"(?m:.)", r"[^\s]+\s?", r"(a|b)\1"),
)
BEHAVIORS = (
    "Isolated",
    "Isolated",
    "Removed",
    "MergedWithPrevious",
    "MergedWithNext",
    "Contiguous",
)


def split(draw: random.Random, pattern: str) -> Config:
    is_published = any(pattern in patterns for patterns in PATTERNS.values())
    behavior = "Isolated" if is_published else draw.choice(BEHAVIORS)
    is_inverted = not is_published and draw.random() < 0.15
    found = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": behavior}
    return found | {"invert": is_inverted}


def draw_pre_tokenizer(draw: random.Random, model: str, is_bytes: bool) -> Config | None:
    if is_bytes:
        row = [split(draw, each) for each in draw.choice([*PATTERNS.values()])]
        if draw.random() < 0.35:
            row = [split(draw, draw.choice(ODD_PATTERNS)) for _ in range(draw.choice((1, 1, 2)))]
        if draw.random() < 0.2:
            row.insert(0, {"type": "Digits", "individual_digits": draw.random() < 0.5})
        use_regex = draw.random() < 0.1
        byte_level = {"type": "ByteLevel", "add_prefix_space": draw.random() < 0.1}
        row.append(byte_level | {"trim_offsets": True, "use_regex": use_regex})
        return {"type": "Sequence", "pretokenizers": row}
    if model == "WordPiece":
        return {"type": draw.choice(("BertPreTokenizer", "BertPreTokenizer", "Whitespace"))}
    scheme, is_split = draw.choice(("always", "first", "never")), draw.random() < 0.8
    metaspace = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": scheme}
    others: list[Config | None] = [
        *[metaspace | {"split": is_split}] * 3,
        {"type": "Whitespace"},
        {"type": "WhitespaceSplit"},
        split(draw, draw.choice(ODD_PATTERNS)),
    ]
    return draw.choice(others)


def draw_normalizer(draw: random.Random, is_bytes: bool) -> Config | None:
    replace = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    rows: list[list[Config]] = [
        *[[]] * 8,
        *([{"type": name}] for name in ("NFC", "NFC", "NFD", "NFKC", "Lowercase", "StripAccents")),
        [{"type": "NFD"}, {"type": "Lowercase"}, {"type": "StripAccents"}],
        [{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(NMT_LIKE).decode()}],
        [{"type": "Strip", "strip_left": draw.random() < 0.5, "strip_right": True}],
        [{"type": "Replace", "pattern": {"Regex": r" {2,}"}, "content": draw.choice((" ", MARK))}],
        [{"type": "Replace", "pattern": {"String": "ab"}, "content": draw.choice(("c", "", "ba"))}],
    ]
    if not is_bytes:
        rows += [[replace], [{"type": "Prepend", "prepend": MARK}, replace]] * 3
    row = draw.choice(rows)
    return {"type": "Sequence", "normalizers": row} if len(row) > 1 else next(iter(row), None)


def draw_added(draw: random.Random, model: Config) -> list[Config]:
    """Added tokens with any flags; now and then thousands that are parts of each other."""
    count = draw.choice((0, 0, 1, 2, 4, 4, 30, draw.choice((4, 2000))))
    letters = draw.choice(("ab", "ab<>", "ab <>.A1é中\n"))
    vocabulary = model["vocab"]
    known = vocabulary if isinstance(vocabulary, dict) else {}
    next_id = max(known.values(), default=len(vocabulary)) + draw.choice((1, 1, 7))
    found, last = dict[str, Config](), "<"
    for _ in range(count):
        nested = draw.random() < 0.5 and len(last) < 40
        last = last + draw.choice(letters) if nested else "".join(draw.choices(letters, k=3))
        if not last.strip() or last in found:
            continue
        flags = {name: draw.random() < 0.15 for name in ("single_word", "lstrip", "rstrip")}
        flags |= {"normalized": draw.random() < 0.2, "special": draw.random() < 0.4}
        id_ = known.get(last)
        if id_ is None:
            id_, next_id = next_id, next_id + draw.choice((1, 1, 1, 5))
        found[last] = {"id": id_, "content": last, **flags}
    return sorted(found.values(), key=lambda token: token["id"])


def draw_template(
    draw: random.Random, model: Config, added: list[Config]
) -> tuple[Config | None, str]:
    """Templates with any tokens, several at a place, of several ids, on both sides or none."""
    if draw.random() < 0.5:
        return None, ""
    vocabulary = model["vocab"]
    ids = [*vocabulary.values()] if isinstance(vocabulary, dict) else [*range(len(vocabulary))]
    ids += [token["id"] for token in added]
    names = [f"[{k}]" for k in range(3)]
    special = {
        name: {"id": name, "ids": draw.choices(ids, k=draw.choice((1, 1, 3)))} for name in names
    }
    for each in special.values():
        each["tokens"] = [f"t{k}" for k in range(len(each["ids"]))]

    def piece(name: str) -> Config:
        return {"SpecialToken": {"id": name, "type_id": draw.choice((0, 0, 1))}}

    def sides(sequences: str) -> list[Config]:
        row: list[Config] = []
        for name in sequences:
            row += [piece(each) for each in draw.choices(names, k=draw.choice((0, 1, 1, 2)))]
            row.append({"Sequence": {"id": name, "type_id": draw.choice((0, 1))}})
        return row + [piece(each) for each in draw.choices(names, k=draw.choice((0, 1, 2)))]

    template: Config = {"type": "TemplateProcessing", "single": sides("A"), "pair": sides("AB")}
    template |= {"special_tokens": special}
    if draw.random() < 0.3:
        stage: Config = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True}
        row = [stage | {"use_regex": True}, template]
        return {"type": "Sequence", "processors": row}, "template in a row"
    return template, "template"


def draw_truncation(draw: random.Random) -> Config | None:
    """Every stride, also one that leaves no room: the engine refuses it then."""
    if draw.random() < 0.75:
        return None
    length = draw.choice((0, 1, 2, 5, 9, 30))
    return {
        "max_length": length,
        "stride": draw.randint(0, max(0, length - 1)) if draw.random() < 0.7 else 0,
        "strategy": draw.choice(("LongestFirst", "OnlyFirst", "OnlySecond")),
        "direction": draw.choice(("Left", "Right")),
    }


def draw_padding(draw: random.Random) -> Config | None:
    if draw.random() < 0.85:
        return None
    return {
        "strategy": draw.choice(("BatchLongest", {"Fixed": draw.choice((0, 7, 40))})),
        "direction": draw.choice(("Left", "Right")),
        "pad_to_multiple_of": draw.choice((None, 1, 8)),
        "pad_id": draw.choice((0, 5)),
        "pad_type_id": 0,
        "pad_token": "<pad>",
    }
