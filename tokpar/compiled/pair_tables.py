"""Where pre-tokenizers that look at two neighbours at a time end their pre-tokens (theorem 4.8)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer, models

from tokpar.arrays import IntArray
from tokpar.compiled.call_tables import Arrays
from tokpar.compiled.form_tables import (
    LETTER,
    NormalForms,
    blocks_of_characters,
    forms_of,
    require_known,
)
from tokpar.compiled.merges import GateError
from tokpar.formats.json_parts import stage_names

GAP, OPEN, PASS, SYMBOLS = 61, 62, 63, 64
"""Symbols of call_pairs.h."""
SAME, CHANGED = 0, 1
"""Kinds of forms, see call_wordpiece.h."""
_CODE_POINTS = 0x110000
_WITHOUT_SETTINGS = "Whitespace", "WhitespaceSplit", "BertPreTokenizer"
_KINDS = (*_WITHOUT_SETTINGS, "Punctuation", "Digits", "CharDelimiterSplit", "Split")
_LONGEST_FORM = 31
"""Bytes of a form, which has 5 bits for its length."""
_TRIED = 4
"""Characters of a symbol that are tried beside those of another one."""
_Split = Callable[[str], list[tuple[str, tuple[int, int]]]]


@dataclass(frozen=True, slots=True, eq=False)
class PairTables:
    """`symbol_of`, `cuts`, `forms` and `form_bytes` of call_pairs.h and call_wordpiece.h.

    `is_local`: the normalizer looks at one character at a time."""

    arrays: Arrays
    is_local: bool


def pair_tables_of(normalizer: Any, pre_tokenizer: Any, falls_back: bool = False) -> PairTables:
    """Returns the tables of a normalizer and a pre-tokenizer.

    They are parts of a `tokenizer.json`. `falls_back`: the model may write each byte of a
    form, so no form has more bytes than its character. Raises GateError for other stages."""
    forms = forms_of(normalizer)
    return _pair_tables(forms, json.dumps(pre_tokenizer, sort_keys=True), falls_back)


def require_pairs(normalizer: Any, pre_tokenizer: Any) -> None:
    """Raises GateError for stages of which `pair_tables_of` makes no tables."""
    require_known(normalizer)
    for _ in _stages(pre_tokenizer):
        pass


@lru_cache(maxsize=8)
def _pair_tables(forms: NormalForms, written: str, falls_back: bool) -> PairTables:
    pre_tokenizer = json.loads(written)
    split = _split_of(pre_tokenizer)
    symbols, members = _own_symbols([*_stages(pre_tokenizer)], split, forms.codes)
    cuts = _cuts(split, members)
    symbol_of = np.full(_CODE_POINTS, OPEN, dtype=np.uint8)
    symbol_of[forms.codes] = symbols
    own, form_of = symbol_of.tobytes(), np.full(_CODE_POINTS, SAME, dtype=np.uint32)
    places: dict[str, int] = {}
    form_bytes = bytearray()
    isolated = []  # there are 98,000 Chinese ones
    for char, form in forms.changed.items():
        if form == f" {char} " and own[ord(" ")] == GAP:
            isolated.append(ord(char))
            continue
        symbol, kept = _symbol(form, own, cuts, len(members))
        data, most = kept.encode(), len(char.encode())
        if len(data) > min(_LONGEST_FORM, most * (1 if falls_back else 4)) or len(kept) > most:
            symbol = OPEN
        symbol_of[ord(char)] = symbol
        if symbol in (GAP, OPEN):
            continue
        if kept not in places:
            places[kept] = len(form_bytes)
            form_bytes.extend(data)
        form_of[ord(char)] = places[kept] << 8 | len(data) << 3 | CHANGED
    symbol_of[[code for code in isolated if own[code] < GAP]] = len(members)
    symbol_of[forms.codes[~forms.is_sure]] = OPEN
    if (symbol_of[:128] == OPEN).any():
        raise GateError("its normalizer makes several pre-tokens of an ASCII character")
    arrays: Arrays = {
        "symbol_of": symbol_of,
        "cuts": cuts,
        "forms": form_of,
        "form_bytes": np.frombuffer(bytes(form_bytes) or b"\0", dtype=np.uint8),
    }
    return PairTables(arrays, forms.is_local)


def _stages(pre_tokenizer: Any) -> Iterator[Any]:
    """Yields the stages of a pre-tokenizer. Raises GateError for one that looks at more than two
    neighbours."""
    if pre_tokenizer is None:
        raise GateError("it has no pre-tokenizer")
    rows = [pre_tokenizer]
    while rows:
        row = rows.pop(0)
        kind, pattern = row["type"], row.get("pattern", {})
        if kind == "Sequence":
            rows = [*row["pretokenizers"], *rows]
            continue
        is_known = kind != "Split" or (len(pattern.get("String", "")) == 1 and not row["invert"])
        if kind not in _KINDS or not is_known or LETTER in json.dumps(row, ensure_ascii=False):
            named = stage_names(pre_tokenizer, "pretokenizers")
            raise GateError(
                f"its pre-tokenizer, {named}, does not split at characters or between pairs of them"
            )
        yield row


def _split_of(pre_tokenizer: Any) -> _Split:
    """Returns the `pre_tokenize_str` of a pre-tokenizer, a part of a `tokenizer.json`."""
    parts = json.loads(Tokenizer(models.WordLevel({}, unk_token="")).to_str())
    made: Any = Tokenizer.from_str(json.dumps(parts | {"pre_tokenizer": pre_tokenizer}))
    split: _Split = made.pre_tokenizer.pre_tokenize_str
    return split


def _own_symbols(
    stages: Sequence[Any], split: _Split, codes: IntArray
) -> tuple[NDArray[np.uint8], list[str]]:
    """Returns the symbol of each character as the pre-tokenizer gets it, and some characters of
    each symbol below GAP.

    Each stage has two or three kinds of characters, which differ in what it does to one of them
    between two letters. Characters of one kind in each stage have one symbol."""
    kinds = np.zeros(len(codes), dtype=np.int64)
    for stage in stages:
        found = _kinds_of(json.dumps(stage, sort_keys=True))
        kinds = np.unique(8 * kinds + found, return_inverse=True)[1].reshape(-1)
    symbols, members = np.full(len(codes), GAP, dtype=np.uint8), list[str]()
    for kind in range(int(kinds.max()) + 1):
        places = np.flatnonzero(kinds == kind)
        some = "".join(map(chr, codes[[*places[:_TRIED], *places[-_TRIED:]]].tolist()))
        if split(some[0]):
            symbols[places] = len(members)
            members.append(some)
    if len(members) + 1 >= GAP:
        raise GateError(f"its pre-tokenizer has {len(members)} kinds of characters")
    return symbols, members


@lru_cache(maxsize=16)
def _kinds_of(written: str) -> IntArray:
    split = _split_of(json.loads(written))
    return np.concatenate([_kinds_between(split, chars) for chars in blocks_of_characters()])


def _kinds_between(split: _Split, chars: str) -> IntArray:
    """Returns for each character what a stage does to it between two letters: bit 0: it stays;
    bits 1 and 2: a pre-token ends before it, and behind it."""
    text = LETTER + LETTER.join(chars) + LETTER
    edges = np.array([edge for _, edge in split(text)], dtype=np.int64)
    stays, ends = np.zeros(len(text) + 1, np.int64), np.zeros(len(text) + 1, np.int64)
    stays[edges[:, 0]] = 1
    stays[edges[:, 1]] -= 1
    ends[edges] = 1
    places = 1 + 2 * np.arange(len(chars))
    kinds: IntArray = np.cumsum(stays)[places] | ends[places] << 1 | ends[places + 1] << 2
    return kinds


def _cuts(split: _Split, members: Sequence[str]) -> NDArray[np.uint64]:
    """Returns `cuts` of call_pairs.h: whether the pre-tokenizer cuts between two characters alone.

    Raises GateError if that depends on the characters of two symbols."""
    cuts = np.zeros((SYMBOLS, SYMBOLS), dtype=np.bool_)
    for a, b in product(range(len(members)), repeat=2):
        found = {len(split(left + right)) for left, right in product(members[a], members[b])}
        if len(found) > 1:
            raise GateError("its pre-tokenizer looks at more than the kinds of two neighbours")
        cuts[a, b] = found == {2}
    apart = len(members)
    cuts[apart, : apart + 1] = cuts[: apart + 1, apart] = True
    cuts[GAP, : apart + 1] = cuts[: apart + 1, GAP] = True
    return np.packbits(cuts, axis=1, bitorder="little").view("<u8").astype(np.uint64).reshape(-1)


def _symbol(form: str, own: bytes, cuts: NDArray[np.uint64], apart: int) -> tuple[int, str]:
    """Returns the symbol of a character with this form, and what the model gets of the form.

    OPEN if the form is no part of one pre-token; `apart` if it has gaps on both sides."""
    if not form:
        return PASS, ""
    symbols = [own[ord(char)] for char in form]
    if {*symbols} == {GAP}:
        return GAP, ""
    is_apart = len(form) > 2 and symbols[0] == symbols[-1] == GAP
    inner = symbols[1:-1] if is_apart else symbols
    first = inner[0]
    is_one = len({*inner}) == 1 and (len(inner) == 1 or not int(cuts[first]) >> first & 1)
    if not is_one or first >= GAP:
        return OPEN, ""
    return (apart, form[1:-1]) if is_apart else (first, form)
