"""What the normalizers before a Unigram make of each character, as call_charsmap.h reads it."""

from __future__ import annotations

import base64
import json
import struct
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from tokpar.compiled.call_tables import Arrays
from tokpar.compiled.merges import GateError
from tokpar.compiled.quick_check import CODE_POINTS, assigned_characters, quick_check
from tokpar.facts.charsmap import Charsmap

IS_CHANGED, JOINS_LEFT, IS_STRICT, IS_CONTEXT, FORM_BITS = 1, 2, 4, 7, 3
STRIPS_LEFT, STRIPS_RIGHT = 1, 2
_ALONE = frozenset({"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "StripAccents", "Nmt"})
_COMPOSING = frozenset({"NFC", "NFKC"})
_RUNS = {"Regex": " {2,}"}
_APART = "\ua000"  # a letter that no stage changes
_BLOCK = 1 << 11
_PAD = bytes(8)
_EMPTY = {
    "version": "1.0",
    "added_tokens": [],
    "model": {"type": "WordLevel", "vocab": {}, "unk_token": ""},
}
_PICTURES = "©®"
"""The characters of one or two bytes that stand in pictures of several characters."""


@dataclass(frozen=True, slots=True)
class NormalizerRow:
    """The normalizers before a Unigram, in their order.

    `strips_first`: the sides of the section that Strip takes white space off. `before`: stages that
    work on each character. `table`: of Precompiled, as base64, or None. `strips`: as
    `strips_first`, behind them. `joins_spaces`: spaces side by side are one."""

    strips_first: int = 0
    before: tuple[Any, ...] = ()
    table: str | None = None
    strips: int = 0
    joins_spaces: bool = False


def normalizer_row(normalizer: Any, splits_white: bool) -> NormalizerRow:
    """Returns the normalizers of a `tokenizer.json`. `splits_white`: WhitespaceSplit follows.
    Raises GateError for others than the call has."""
    rows = [] if normalizer is None else [*_flat(normalizer)]
    first = _strip(rows)
    before = []
    while rows and (rows[0]["type"] in _ALONE or _string_of(rows[0])):
        before.append(rows.pop(0))
    table = (
        rows.pop(0)["precompiled_charsmap"] if rows and rows[0]["type"] == "Precompiled" else None
    )
    strips = _strip(rows)
    joins = bool(rows) and rows[0]["type"] == "Replace" and rows[0]["pattern"] == _RUNS
    if joins and rows[0]["content"] in ((" ",) if splits_white else (" ", "\u2581")):
        rows.pop(0)
    if rows:
        raise GateError(f"its normalizer {rows[0]['type']} stands where the call has none")
    return NormalizerRow(first, tuple(before), table, strips, joins)


def _flat(stage: Any) -> Iterator[Any]:
    if stage["type"] != "Sequence":
        yield stage
    for each in stage.get("normalizers", ()) if stage["type"] == "Sequence" else ():
        yield from _flat(each)


def _strip(rows: list[Any]) -> int:
    """Takes a Strip off the beginning of the row. Returns its sides."""
    if not rows or rows[0]["type"] != "Strip":
        return 0
    stage = rows.pop(0)
    return bool(stage["strip_left"]) * STRIPS_LEFT | bool(stage["strip_right"]) * STRIPS_RIGHT


def _string_of(stage: Any) -> str:
    """Returns the string that a Replace looks for; empty for others."""
    pattern = stage.get("pattern") if stage["type"] == "Replace" else None
    return str(pattern.get("String", "")) if isinstance(pattern, dict) else ""


def normalizer_arrays(row: NormalizerRow) -> Arrays:
    """Returns the tables of the normalizers. Raises GateError."""
    units, replacements = Charsmap(row.table).parts if row.table is not None else ([], b"")
    if row.table is not None and not units:
        raise GateError("the table of its normalizer Precompiled cannot be read")
    arrays: Arrays = {
        "unigram_forms": np.zeros(0, dtype=np.uint32),
        "unigram_texts": np.zeros(8, dtype=np.uint8),
        "unigram_keys": np.array(units, dtype=np.uint32),
        "unigram_key_texts": np.frombuffer(replacements + _PAD, dtype=np.uint8),
        "unigram_patterns": np.frombuffer(_patterns(row.before) + b"\0", dtype=np.uint8),
    }
    if row.before or row.table is not None:
        forms, texts = _forms(row)
        arrays["unigram_forms"], arrays["unigram_texts"] = forms, texts
    return arrays


def _patterns(stages: Sequence[Any]) -> bytes:
    """Returns the strings that a Replace finds in more than one character, each with a zero.

    A part that has one is left to the engine. No other stage before it may make one."""
    found = b""
    for number, stage in enumerate(stages):
        string = _string_of(stage)
        if len(string) < 2:
            continue
        if not (string.isascii() and string.isprintable()) or not all(
            map(_string_of, stages[:number])
        ):
            raise GateError(f"its normalizer Replace looks for {string[:50]!r}")
        found += string.encode() + b"\0"
    return found


def _forms(row: NormalizerRow) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
    """Returns the arrays `forms` and `texts` of call_charsmap.h."""
    flags = cluster_flags() if row.table is not None else _assigned_flags()
    found = flags.astype(np.uint32)
    if row.before:  # what joins behind these stages is `_hanging`
        found[flags != IS_CONTEXT] = 0
    stages = [*row.before]
    if row.table is not None:
        stages.append({"type": "Precompiled", "precompiled_charsmap": row.table})
    whole, first = _normalizer(stages), _normalizer(row.before)
    places: dict[str, int] = {}
    texts = bytearray()
    for chars in _blocks():
        for char, form in _images(whole, chars):
            if form not in places:
                places[form] = len(texts)
                texts.extend(form.encode() + b"\0")
            if found[ord(char)] != IS_CONTEXT:
                found[ord(char)] |= places[form] << FORM_BITS | IS_CHANGED
        if row.before:
            hanging = _hanging(chars, dict(_images(first, chars)), flags, row.table is not None)
            unsure = _unsure(row.before, chars)
            found[[*map(ord, hanging), *map(ord, unsure)]] = IS_CONTEXT
    return found, np.frombuffer(bytes(texts) + _PAD, dtype=np.uint8)


def _hanging(
    chars: str, images: dict[str, str], flags: NDArray[np.uint8], has_table: bool
) -> Iterator[str]:
    """Yields the characters of which the stages before Precompiled make what hangs on neighbours:
    marks that are kept, which may change places and join a cluster; and with a table, line ends,
    which are a cluster only if they are kept."""
    for char in chars:
        form = images.get(char, char)
        joins = any(
            flags[ord(each)] & JOINS_LEFT or flags[ord(each)] == IS_CONTEXT for each in form
        )
        begins = char, form, unicodedata.normalize("NFD", char)  # U+0F73 alone has the class 0
        moves = form and any(unicodedata.combining(text[0]) for text in begins)
        if joins or moves or (has_table and char in "\r\n" and form != char):
            yield char


def _unsure(stages: Sequence[Any], chars: str) -> Iterator[str]:
    """Yields the characters of which NFC or NFKC makes something that may compose with neighbours,
    or change places: their forms are not sure."""
    for number, each in enumerate(stages):
        if each["type"] not in _COMPOSING:
            continue
        quick = quick_check((each["type"],))
        assert quick is not None
        numbers, images = quick.tobytes(), dict(_images(_normalizer(stages[: number + 1]), chars))
        for char in chars:
            if any(numbers[ord(made)] for made in images.get(char, char)):
                yield char


def _normalizer(stages: Sequence[Any]) -> Any:
    """Returns the engine's normalizer of these stages, or None."""
    if not stages:
        return None
    row = {"type": "Sequence", "normalizers": [*stages]}
    return Tokenizer.from_str(json.dumps(_EMPTY | {"normalizer": row})).normalizer


def _images(normalizer: Any, chars: str) -> Iterator[tuple[str, str]]:
    """Yields the characters that the normalizer changes, and what it makes of them."""
    if normalizer is None:
        return
    text = _APART.join(("", *chars.replace(_APART, "x"), ""))
    forms = normalizer.normalize_str(text).split(_APART)
    if len(forms) != len(chars) + 2:
        raise GateError("its normalizers change neighbours of characters")
    for char, form in zip(chars, forms[1:-1], strict=True):
        if char != form and char != _APART:
            yield char, form


@lru_cache(maxsize=1)
def _blocks() -> list[str]:
    """Returns the assigned characters, in blocks: nothing else runs while the engine normalizes."""
    chars, _ = assigned_characters()
    return ["".join(chars[k : k + _BLOCK]) for k in range(0, len(chars), _BLOCK)]


def _assigned_flags() -> NDArray[np.uint8]:
    """Returns IS_CONTEXT for each code point that is not assigned, else 0."""
    found = np.full(CODE_POINTS, IS_CONTEXT, dtype=np.uint8)
    for chars in _blocks():
        found[[*map(ord, chars)]] = 0
    return found


@lru_cache(maxsize=1)
def cluster_flags() -> NDArray[np.uint8]:
    """Returns the flags of each character but IS_CHANGED, as the engine divides clusters.

    The engine tells by itself: with a table whose only key is "a", which it deletes, "aX" leaves
    nothing if X joins the cluster before it, and "Xa", U+0301 leaves U+0301 if "a" joins X."""
    units = [0] * 768
    units[0], units[353], units[512] = 256 << 10, (353 ^ 512) << 10 | 1 << 8 | 97, 1 << 31
    blob = struct.pack("<I768I", 4 * 768, *units) + b"\0"
    stage = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(blob).decode()}
    probe = _normalizer([stage])
    found = _assigned_flags()
    for chars in _blocks():
        some = [char for char in chars if char > "\x7f"]
        left = probe.normalize_str("".join(f"a{char}a\u0301\n" for char in some)).split("\n")
        for char, rest in zip(some, left, strict=False):
            code = ord(char)
            found[code] = 0 if rest == char else IS_CONTEXT if rest else JOINS_LEFT
            if rest and _is_strict(char):
                found[code] |= IS_STRICT
    found[:32] = found[127] = IS_STRICT
    return found


def _is_strict(char: str) -> bool:
    """True if a mark may not join the character, or joins more."""
    return unicodedata.category(char) in ("Cc", "Cf", "Zl", "Zp") or char in _PICTURES
