"""The independent check: is every seam licensed, and are the ids those of the text?

It sees the text, the tokenizer's facts and the frozen tables, never a planner or a merger.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from tokpar.certificate.answers import Answers
from tokpar.certificate.ground import Between, Ground, RefusedError
from tokpar.certificate.ids import (
    Core,
    parts_decode,
    parts_encode,
    places,
    serial_difference,
    text_ids,
    token_counts,
)
from tokpar.certificate.report import CheckReport, Finding
from tokpar.certificate.rules import Judge
from tokpar.certificate.stored import StoredCertificate, text_digest
from tokpar.certificate.tables import load_tables
from tokpar.interfaces import TokenizerAdapter, facts_of
from tokpar.kernels import IdArray, has_surrogate
from tokpar.types import Facts, Seam

_RULES = ("K1", "K2", "K3", "K4", "K5", "K6", "K8")


class Checkable(Protocol):
    """An `Encoding` or a `StoredCertificate`."""

    @property
    def ids(self) -> IdArray: ...

    @property
    def seams(self) -> Sequence[Seam]: ...


def check(
    encoding: Checkable, text: str, tokenizer: TokenizerAdapter, full: bool = False
) -> CheckReport:
    """Derive again that every seam of `encoding` is licensed and that its ids are those of `text`.

    Tokens that tile the text are compared with its characters, others only counted. Without `full`
    only what a rule needs is tokenized: a few tokens around each K5 seam (where truncation or
    padding hides the ids, its two parts), for K6 as many short runs as the token has bytes, for K8
    both windows. With `full` the serial encode of the whole is compared, id by id.
    """
    facts, seams = facts_of(tokenizer), tuple(encoding.seams)
    core = text_ids(encoding.ids, text, tokenizer)
    answers = Answers(tokenizer, text, core.ids, len(seams))
    findings = [*_other_text(encoding, text), *seam_findings(seams, text, facts, answers)]
    licensed = not findings
    ids_found, notes = _id_findings(core, seams, text, tokenizer, facts, full and licensed)
    findings += ids_found
    if full:
        difference = serial_difference(encoding.ids, text, seams, tokenizer)
        findings += [] if difference is None else [difference]
    return CheckReport(tuple(findings), len(seams), full, notes)


def seam_findings(
    seams: Sequence[Seam], text: str, facts: Facts, answers: Answers | None = None
) -> Iterator[Finding]:
    """What is wrong with seams; at most one finding for each. From text and facts alone, but for
    `answers`, without which K5, K6 and K8 license nothing."""
    if not seams:
        return
    if facts.unprovable is not None:
        yield Finding("facts", f"expected no seam, got {len(seams)}: {facts.unprovable}")
        return
    if has_surrogate(text):
        yield Finding("surrogate", f"expected no seam in a text with surrogates, got {len(seams)}")
        return
    judge = Judge(Ground(text, facts, load_tables()), answers)
    last = 0
    for k, seam in enumerate(seams):
        try:
            _require_place(seam, last, len(text))
            judge.require_licence(_between(seams, k, len(text)))
        except RefusedError as refusal:
            yield Finding(refusal.kind, f"seam {k}: {refusal}", seam.position, k)
        last = max(last, seam.position)


def _between(seams: Sequence[Seam], k: int, length: int) -> Between:
    previous = seams[k - 1] if k > 0 else None
    following = seams[k + 1] if k + 1 < len(seams) else None
    return Between(
        seams[k],
        previous,
        start=0 if previous is None else previous.position,
        stop=length if following is None else following.position,
    )


def _require_place(seam: Seam, last: int, length: int) -> None:
    if not 0 < seam.position < length:
        inside = f"expected a position inside the {length} characters of the text"
        raise RefusedError("position", f"{inside}, got {seam.position}")
    if seam.position <= last:
        raise RefusedError("order", f"expected a position above {last}, got {seam.position}")
    if seam.rule is None:
        raise RefusedError("uncertified", "no rule licenses it (approximate result)")
    if seam.rule not in _RULES:
        raise RefusedError("unknown rule", f"expected one of {', '.join(_RULES)}, got {seam.rule}")


def _other_text(encoding: Checkable, text: str) -> Iterator[Finding]:
    if not isinstance(encoding, StoredCertificate):
        return
    if encoding.text_length != len(text):
        expected = f"expected a text of {encoding.text_length} characters"
        yield Finding("text", f"{expected}, got {len(text)}")
    elif encoding.text_sha256 != text_digest(text):
        yield Finding("text", f"expected a text of sha256 {encoding.text_sha256}, got another")


def _id_findings(
    core: Core,
    seams: tuple[Seam, ...],
    text: str,
    tokenizer: TokenizerAdapter,
    facts: Facts,
    again: bool,
) -> tuple[list[Finding], tuple[str, ...]]:
    """Findings about ids, and notes on what could not be looked at."""
    findings = list(core.findings)
    counts = list(token_counts(seams, None if core.ids is None else len(core.ids)))
    findings += counts
    if core.note is not None or core.ids is None:
        return findings, () if core.note is None else (f"limited: {core.note}",)
    if counts or any(not 0 < seam.position < len(text) for seam in seams):
        return findings, ("limited: ids not looked at, the seams do not lie in them",)
    if facts.tiles and not has_surrogate(text):
        findings += places(core.ids, text, seams, tokenizer)
        findings += parts_decode(core.ids, text, seams, tokenizer)
        return findings, ()
    if again and seams:
        findings += parts_encode(core.ids, text, seams, tokenizer)
        return findings, ()
    return findings, ("limited: tokens do not tile the text, ids are compared under full=True",)
