"""What a row of normalizers makes of a character, where that is the same in every text."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import normalizers

from tokpar.arrays import IntArray
from tokpar.compiled.merges import GateError
from tokpar.compiled.quick_check import FORMS, assigned_characters, quick_check
from tokpar.formats.json_parts import stage_names

LETTER = "\ua000"
"""A letter that no normalizer changes, and no pre-tokenizer takes for anything else."""
_LOCAL = "Lowercase", "StripAccents"
_DECOMPOSING = "NFD", "NFKD"
_BERT_FLAGS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
_BLOCK = 1 << 11


@dataclass(frozen=True, slots=True, eq=False)
class NormalForms:
    """What the normalizer makes of characters that have a form.

    `codes`: the assigned characters, rising. `is_sure`: whether each has the same form in every
    text of characters for which this is so. `changed`: the forms that are not the character itself.
    `is_local`: each stage looks at one character at a time, so all forms are sure."""

    codes: IntArray
    is_sure: NDArray[np.bool_]
    changed: dict[str, str]
    is_local: bool


@dataclass(frozen=True, slots=True)
class _Stage:
    """One normalizer. `form`: its normal form, empty for others. `strips`: it decomposes, and takes
    nonspacing marks away."""

    normalize: Callable[[str], str]
    form: str
    strips: bool


def forms_of(normalizer: Any) -> NormalForms:
    """Returns the forms behind a normalizer, a part of a `tokenizer.json`, or None.

    Raises GateError for one whose stages are not known."""
    return _forms_of(json.dumps(normalizer, sort_keys=True))


def require_known(normalizer: Any) -> None:
    """Raises GateError for a normalizer of which `forms_of` knows nothing."""
    _stages(normalizer)


@lru_cache(maxsize=8)
def _forms_of(written: str) -> NormalForms:
    stages = _stages(json.loads(written))
    codes = assigned_codes()
    is_sure, changed = np.ones(len(codes), dtype=np.bool_), dict[str, str]()
    for k, stage in enumerate(stages):
        before, changed = changed, dict(changed)
        for chars in blocks_of_characters():
            changed |= _changes(stage.normalize, chars, before)
        if stage.form or stage.strips:
            is_sure &= _sure(stage, stages[k + 1 :], codes, before, changed)
    return NormalForms(codes, is_sure, changed, not any(s.form or s.strips for s in stages))


@lru_cache(maxsize=1)
def assigned_codes() -> IntArray:
    """Returns the characters that are assigned, but for private ones, rising."""
    chars = (char for char, kind in zip(*assigned_characters(), strict=True) if kind != "Co")
    return np.fromiter(map(ord, chars), dtype=np.int64)


@lru_cache(maxsize=1)
def blocks_of_characters() -> list[str]:
    """Returns the same characters as texts: no other thread runs while the engine has one."""
    chars = "".join(map(chr, assigned_codes().tolist()))
    return [chars[k : k + _BLOCK] for k in range(0, len(chars), _BLOCK)]


def _stages(normalizer: Any) -> list[_Stage]:
    """Returns the stages of a normalizer. Raises GateError for others."""
    if normalizer is None:
        return []
    rows, found = [normalizer], []
    while rows:
        row = rows.pop(0)
        kind = row["type"]
        if kind == "Sequence":
            rows = [*row["normalizers"], *rows]
        elif kind == "BertNormalizer":
            flags = [row.get(flag) for flag in _BERT_FLAGS]
            strips = bool(flags[3] if flags[2] is None else flags[2])
            found.append(_Stage(normalizers.BertNormalizer(*flags).normalize_str, "", strips))
        elif kind in (*_LOCAL, *FORMS):
            made = getattr(normalizers, kind)()
            found.append(_Stage(made.normalize_str, kind if kind in FORMS else "", False))
        else:
            named = stage_names(normalizer, "normalizers")
            raise GateError(f"its normalizer is {named}: {kind} looks at several characters")
    return found


def _changes(
    normalize: Callable[[str], str], chars: str, before: Mapping[str, str]
) -> dict[str, str]:
    """Returns the forms that a stage changes, by one call. `before`: the forms that it gets."""
    texts = [before.get(char, char) for char in chars] if before else chars
    joined = LETTER.join(texts)
    image = normalize(joined)
    if image == joined:
        return {}
    forms = image.split(LETTER)
    if len(forms) != joined.count(LETTER) + 1:
        raise GateError("its normalizer changes neighbours of characters")
    if LETTER in chars:  # it stays, with an empty text on each side
        at = chars.index(LETTER)
        forms[at : at + 2] = [LETTER]
    return {c: b for c, a, b in zip(chars, texts, forms, strict=True) if a != b}


def _sure(
    stage: _Stage,
    later: Sequence[_Stage],
    codes: IntArray,
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> NDArray[np.bool_]:
    """Returns for each character whether a normal form makes the same of it whatever stands around:
    NFC and NFKC, if they leave what they make of it alone, by the quick check; the others, if the
    later stages take all characters away that are reordered. `before`, `after`: forms that are not
    the character itself, as the stage gets and makes them."""
    composes = bool(stage.form) and stage.form not in _DECOMPOSING
    quick = quick_check((stage.form or "NFD",))
    assert quick is not None
    changes = quick.tobytes()
    is_sure: NDArray[np.bool_] = quick[codes] == 0
    for char in {*map(chr, codes[~is_sure].tolist()), *before}:
        form = after.get(char, char)
        is_left = composes and not any(changes[ord(each)] for each in form)
        is_one = is_left or (not composes and _vanish(form, later))
        is_sure[np.searchsorted(codes, ord(char))] = is_one
    return is_sure


def _vanish(text: str, later: Sequence[_Stage]) -> bool:
    """True if a text has no character whose combining class is not 0, or only such as the later
    stages take away, which then look at one character at a time."""
    marks = [char for char in text if unicodedata.combining(char)]
    is_last = not any(stage.form or stage.strips for stage in later)
    return not marks or (is_last and not any(_behind(char, later) for char in marks))


def _behind(text: str, stages: Sequence[_Stage]) -> str:
    for stage in stages:
        text = stage.normalize(text)
    return text
