"""A certificate comes from anywhere: no number in it is a traceback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.seams import part
from tokpar.certificate import checker
from tokpar.types import Seam

HUGE = [2**40, 2**63, 2**64, -(2**63), 10**30]


TEXT = "Some words, and 1234567 more.\n\nThen (x) {y} " * 60
ENCODING = tokpar.encode(TEXT, part("cl100k_part"), chunk_chars=20)


def with_witness(seam: Seam, **changes: int) -> Seam:
    return replace(seam, witness=tuple((n, changes.get(n, value)) for n, value in seam.witness))


@given(
    number=st.sampled_from([*HUGE, -1, 0, 1, len(TEXT)]) | st.integers(),
    name=st.sampled_from(["position", "token", "left", "right", "anchor"]),
    which=st.integers(0, 99),
)
def test_an_encoding_with_any_number_in_a_seam_is_reported_on(
    number: int, name: str, which: int
) -> None:
    """One that was made in memory passes no reader."""
    seams = list(ENCODING.seams)
    k = which % len(seams)
    if name in ("position", "token"):
        seams[k] = replace(seams[k], **{name: number})
    else:
        seams[k] = with_witness(seams[k], **{name: number})
    changed: Any = tokpar.Encoding.of(ENCODING.ids, tuple(seams), ENCODING.report)  # type: ignore[arg-type]
    report = tokpar.check(changed, TEXT, part("cl100k_part"))
    assert report.ok or report.findings


def test_inserted_ids_are_known_where_nothing_is_cut_or_padded() -> None:
    tokenizer: Any = tokpar.load(part("bert_part"), truncation=False, padding=False)
    assert tuple(map(len, tokenizer.special_tokens)) == (1, 1)
    text = "One two three four five"
    encoding = tokpar.encode(text, tokenizer)
    assert tokpar.check(encoding, text, tokenizer).ok
    for place in (0, len(encoding.ids) - 1):
        ids = encoding.ids.copy()
        ids[place] += 1
        changed = replace(encoding, ids=ids)
        [finding] = checker.check_seams(changed, text, tokenizer).findings
        assert finding.kind == "inserted"
        expected = f"id {place}: expected {encoding.ids[place]} to be inserted, got {ids[place]}"
        assert finding.message == expected
    [finding] = checker.check_seams(
        replace(encoding, ids=encoding.ids[:1]), text, tokenizer
    ).findings
    assert finding.message == "expected at least the 2 ids that are inserted, got 1"
