"""The kit checks a certificate once, and any that differs in anything again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tokpar_conformance.certificates import Certificates, digest

import tokpar
from tokpar.certificate import checker
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Columns, Everywhere, Seams

TEXT = "one two  three, four's 5678 five " * 6


def encoded(text: str = TEXT) -> Encoding:
    with tokpar.Encoder(strategy="cut", executor="serial", chunk_chars=7) as encoder:
        return encoder.encode(text)


def with_columns(encoding: Encoding, **changes: Any) -> Encoding:
    assert isinstance(encoding.seams, Seams)
    planned = replace(encoding.seams.planned, **changes)
    seams = replace(encoding.seams, planned=planned)
    return Encoding.of(encoding.ids, seams, encoding.report, encoding.origin)


def columns(encoding: Encoding) -> Columns:
    assert isinstance(encoding.seams, Seams)
    return encoding.seams.planned


def no_such_theorem(encoding: Encoding) -> tuple[Any, ...]:
    return tuple(("PAIR", "no such theorem", each[2]) for each in columns(encoding).licences)


CHANGES: dict[str, Callable[[Encoding], Encoding]] = {
    "an id": lambda e: replace(e, ids=np.concatenate([e.ids[:-1], e.ids[-1:] + 1])),
    "an id less": lambda e: replace(e, ids=e.ids[:-1]),
    "a position": lambda e: with_columns(e, positions=columns(e).positions + 1),
    "a token": lambda e: with_columns(e, tokens=columns(e).tokens + 1),
    "a licence": lambda e: with_columns(e, licences=no_such_theorem(e)),
    "a code less": lambda e: with_columns(e, codes=columns(e).codes[:-1]),
    "a region": lambda e: Encoding.of(
        e.ids,
        replace(e.seams, everywhere=Everywhere(columns(e).seam(0), np.array([[1, 3]]))),
        e.report,
        e.origin,
    ),
}


def test_what_passed_is_not_checked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    check = checker.check
    monkeypatch.setattr(checker, "check", lambda *a, **b: calls.append(a) or check(*a, **b))
    certificates = Certificates(tokpar.load())
    for _ in range(3):
        assert certificates.complaint(encoded(), TEXT) is None
    assert len(calls) == 1
    assert certificates.complaint(encoded(TEXT + "six"), TEXT + "six") is None
    assert len(calls) == 2


@pytest.mark.parametrize("change", CHANGES)
def test_a_wrong_certificate_is_caught_after_a_right_one(change: str) -> None:
    certificates, right = Certificates(tokpar.load()), encoded()
    assert certificates.complaint(right, TEXT) is None
    wrong = CHANGES[change](right)
    assert digest(wrong, TEXT) != digest(right, TEXT)
    for _ in range(2):
        assert certificates.complaint(wrong, TEXT) is not None


def test_of_another_text_is_caught_after_the_right_one() -> None:
    certificates = Certificates(tokpar.load())
    assert certificates.complaint(encoded(), TEXT) is None
    assert certificates.complaint(encoded(), TEXT.replace("one", "two")) is not None
