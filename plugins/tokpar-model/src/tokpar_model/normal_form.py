"""The normalized text, where every version of Unicode gives the same one (theorem 32, gate N)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

import numpy as np

from tokpar.certificate.canonical_form import Stages
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.class_check import POINTS
from tokpar.certificate.frozen_tables import load_tables
from tokpar_model.class_members import load_pictographs

Normalize = Callable[[str], str]
_FORMS = ("NFC", "NFD", "NFKC", "NFKD")


def normalizer_of(stages: Stages) -> tuple[Normalize, ...]:
    """Returns the stages of the normalizer. Refused if a stage is not known."""
    return tuple(_stage(stage.kind) for stage in stages)


def _stage(kind: str) -> Normalize:
    if kind in _FORMS:
        return lambda text: unicodedata.normalize(kind, text)  # type: ignore[arg-type]
    if kind == "Lowercase":
        return lambda text: "".join(map(str.lower, text))
    raise RefusedError("normalizer", f"normalizer {kind} is not known")


def normalize_text(text: str, stages: tuple[Normalize, ...]) -> str:
    """Returns the normalized form of a text. Refused for a character that is not frozen."""
    if not stages:
        return text
    if not text.isascii():
        _require_frozen(text)
    for stage in stages:
        text = stage(text)
    return text


def _require_frozen(text: str) -> None:
    present = np.zeros(POINTS, dtype=np.bool_)
    present[np.frombuffer(text.encode("utf-32-le"), "<u4")] = True
    ranges = [(low, high) for low, high, _ in load_tables().ranges] + [*load_pictographs()]
    present[:0x80] = False
    for low, high in ranges:
        present[low : high + 1] = False
    unknown = np.flatnonzero(present)
    if len(unknown):
        where = f"U+{unknown[0]:04X} may be normalized in several ways"
        raise RefusedError("normalizer", where)
