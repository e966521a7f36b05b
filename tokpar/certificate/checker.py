"""The independent checker: every seam must be licensed, and the ids must be those of the text.

The checker uses the text, the facts and the frozen tables. It never uses the planner or the joiner.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from tokpar.arrays import NO_INTS, IdArray, IntArray
from tokpar.certificate.certificate_file import StoredCertificate, text_digest
from tokpar.certificate.check_context import (
    CheckContext,
    RefusedError,
    require,
)
from tokpar.certificate.control_search import Span
from tokpar.certificate.fact_differences import CheckedFacts, checked_facts
from tokpar.certificate.findings import CheckReport, Finding, Level, ModelProof
from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.id_proof import Core, id_findings, prove_ids, text_ids, well_formed
from tokpar.certificate.own_names import OwnNamedText, agreed_trust, named_text
from tokpar.certificate.pair_rule import looks_at_two
from tokpar.certificate.region_check import everywhere_findings, is_by
from tokpar.certificate.rule_checker import RuleChecker
from tokpar.certificate.stage_rule import places as places_of
from tokpar.certificate.tokenizer_probe import Mask, TokenizerProbe, Utf8Text
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.results.seams import Columns, Seams
from tokpar.types import Facts, Rule, Seam, Theorem, Trust

_MOST = 1 << 62


class Checkable(Protocol):
    """An `Encoding` or a `StoredCertificate`."""

    @property
    def ids(self) -> IdArray: ...

    @property
    def seams(self) -> Sequence[Seam]: ...


@dataclass(frozen=True, slots=True)
class SeamStep:
    """The first step of a check: is each seam licensed, and does an id begin at it?

    `count`: how many seams. `are_licensed`: no finding is about a seam, a fact or the text.
    `seams`: in columns; `cuts`: the byte offsets of those of `everywhere`. `core`: the text's own
    ids."""

    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    count: int
    are_licensed: bool
    seams: Seams
    cuts: IntArray
    core: Core
    probe: TokenizerProbe
    reading: CheckedFacts


def check(
    encoding: Checkable,
    text: str,
    tokenizer: TokenizerAdapter,
    level: str = Level.IDS,
    untrusted: Iterable[Span] | None = None,
    control: Iterable[str] | None = None,
) -> CheckReport:
    """Check an encoding of `text`, and say what was proved.

    `level`: what is to be proved (`Level`), after the first step: each seam is licensed by its
    rule. No rule tokenizes.
    `ids`: the ids are those of the tokenizer's own serial call (theorem 31).
    `model`: the ids follow from the tokenizer's file (theorems 32, 33); by the package
    tokpar-model.
    `untrusted`: the untrusted spans of the text, as for `Encoder.encode`; `control`: the contents
    of the control tokens, None: those of the encoding. An encoding of other spans or tokens fails:
    whoever forges ids can leave out spans, too.
    Raises OptionError for an unknown level, for level `model` without its package, and for spans
    that are none."""
    wanted = Level.of(level)
    prove_by_file = _model_level() if wanted is Level.MODEL else None
    try:
        trust = agreed_trust(trust_of(encoding), untrusted, control, len(text))
        names = None if trust is None else named_text(text, tokenizer, trust)
        step = check_seams(encoding, text, tokenizer, names)
    except RefusedError as refusal:
        return CheckReport((Finding(refusal.kind, str(refusal)),), 0, wanted)
    if names is not None:
        text, tokenizer = names.text, names.engine.tokenizer
    licensed = f"each of {step.count:,} seams is licensed by its rule"
    if prove_by_file is not None:
        own = step.core.ids
        why = None if step.core.findings else ("ids", step.core.note or "they are hidden")
        shown = ModelProof(refusal=why) if own is None else prove_by_file(tokenizer, text, own)
        claims = [licensed, "the ids follow from the tokenizer's file (theorems 32, 33)"]
        notes = step.notes
    else:
        found, compared = prove_ids(
            encoding.ids,
            step.seams,
            step.cuts,
            step.probe,
            step.reading.facts,
            step.are_licensed,
            names,
        )
        shown = ModelProof(found)
        claims, notes = [licensed, f"the ids are the tokenizer's: {compared}"], step.reading.notes
    findings = (*step.findings, *shown.findings)
    if names is not None:
        claims.append(names.claim)
        notes = *notes, *names.notes
    refused = None if shown.refusal is None else ": ".join(shown.refusal)
    failed = len(claims) if findings or refused else 0
    not_proved = *claims[:failed], *shown.assumptions
    return CheckReport(
        findings, step.count, wanted, tuple(claims[failed:]), not_proved, notes, refused
    )


def _model_level() -> Callable[[TokenizerAdapter, str, IdArray], ModelProof]:
    from tokpar_model import model_findings  # a plugin; the other levels do without it

    return model_findings


def trust_of(encoding: Checkable) -> Trust | None:
    """Returns what an encoding says about its untrusted spans; None if there are none."""
    trust: Trust | None = getattr(getattr(encoding, "report", encoding), "trust", None)
    return trust


def check_seams(
    encoding: Checkable, text: str, tokenizer: TokenizerAdapter, names: OwnNamedText | None = None
) -> SeamStep:
    """Do the first step of a check. The tokenizer encodes nothing.

    `names`: the text with names, on which the seams are checked. RefusedError for a seam that no
    place of it is."""
    seams, findings = in_columns(encoding.seams), [*_other_text(encoding, text)]
    if names is not None:
        seams, text, tokenizer = names.seams(seams), names.text, names.engine.tokenizer
    reading = checked_facts(tokenizer)
    core = text_ids(encoding.ids, text, tokenizer)
    core = core if names is None else names.core(core)
    probe = TokenizerProbe(tokenizer, text, core.ids)
    findings += reading.findings
    found = [*seam_findings(seams, text, reading.facts, probe.utf8)]
    findings += found if names is None else map(names.at_original, found)
    licensed = not findings
    cuts = _cuts(seams, probe.utf8) if licensed else NO_INTS
    found, notes = id_findings(core, seams.planned, cuts, probe, reading.facts.tiles)
    count = len(seams.planned) + len(cuts)
    if names is not None:
        at_core = len(core.findings)
        found = [*core.findings, *map(names.at_original, found[at_core:])]
    notes = (*notes, *reading.notes)
    return SeamStep((*findings, *found), notes, count, licensed, seams, cuts, core, probe, reading)


def in_columns(seams: Sequence[Seam]) -> Seams:
    """Convert any seams to `Seams`. Clamps numbers beyond every text so that they fit a column."""
    if isinstance(seams, Seams):
        return seams

    def clamp(number: int) -> int:
        return max(-_MOST, min(_MOST, number))

    return Seams.of(
        replace(seam, position=clamp(seam.position), token=clamp(seam.token)) for seam in seams
    )


def seam_findings(
    seams: Sequence[Seam], text: str, facts: Facts, utf8: Utf8Text | None = None
) -> Iterator[Finding]:
    """Yield the findings about seams, at most one for each planned seam.

    The check uses the text and the facts. `utf8`: the text as UTF-8, if known."""
    columns = in_columns(seams)
    planned, everywhere = columns.planned, columns.everywhere
    dense = 0 if everywhere is None else len(everywhere.regions)
    if not len(planned) and not dense:
        return
    got = f"{len(planned)}" if not dense else f"{len(planned)} and {dense} regions full of them"
    others = dense or any(rule != Rule.EDGE for rule, _, _ in planned.licences)
    if facts.unprovable is not None and others:
        yield Finding("facts", f"expected no seam, got {got}: {facts.unprovable}")
        return
    if (Utf8Text(text) if utf8 is None else utf8).has_surrogates:
        yield Finding("surrogate", f"expected no seam in a text with surrogates, got {got}")
        return
    if not well_formed(planned):
        yield Finding("columns", "expected columns of one length, and licences for all codes")
        return
    ground = CheckContext(text, facts, load_tables(), columns.proofs)
    held = np.ones(len(planned), dtype=np.bool_)
    for finding in _planned_findings(planned, ground):
        held[finding.seam] = False
        yield finding
    if everywhere is not None:
        ends = planned.positions[held]
        yield from everywhere_findings(everywhere, np.sort(planned.positions), ends, ground)


def _planned_findings(planned_seams: Columns, ground: CheckContext) -> Iterator[Finding]:
    """Yield the findings about planned seams.

    The fast check accepts most seams. The rules check the remaining seams one by one."""
    length = len(ground.text)
    edges = np.concatenate(([0], planned_seams.positions, [length]))
    before = np.maximum.accumulate(edges)[:-2]
    placed = (planned_seams.positions > before) & (planned_seams.positions < length)
    rules = RuleChecker(ground)
    for k in np.flatnonzero(~surely_licensed(planned_seams, placed, ground, rules)).tolist():
        seam = planned_seams.seam(k)
        try:
            _require_place(seam, int(before[k]), length)
            rules.require_licence(seam)
        except RefusedError as refusal:
            yield Finding(refusal.kind, f"seam {k}: {refusal}", seam.position, k)


def surely_licensed(
    columns: Columns, inside_text: Mask, ground: CheckContext, rules: RuleChecker
) -> Mask:
    """True for each seam of `inside_text` that is certainly licensed; bool, (seams,). A fast check.

    `inside_text`: the seams strictly inside the text. One seam stands for all seams with the same
    licence between the same two characters."""
    sure: Mask = np.zeros(len(columns), dtype=np.bool_)
    local = np.array(
        [looks_at_two(each, ground.facts) for each in columns.licences], dtype=np.bool_
    )
    rows = np.flatnonzero(inside_text)
    rows = rows[local[columns.codes[rows]]] if len(rows) else rows
    at, codes = columns.positions[rows].tolist(), columns.codes[rows].tolist()
    alike = [(code, ground.text[p - 1 : p + 1]) for code, p in zip(codes, at, strict=True)]
    first = dict(zip(reversed(alike), rows[::-1].tolist(), strict=True))
    known = {key: _holds(rules.require_characters, columns.seam(k)) for key, k in first.items()}
    sure[rows] = [known[key] for key in alike]
    if ground.raw.contents.longest or ground.normalized_tokens:
        held = np.flatnonzero(sure)
        sure[held] = [
            _holds(ground.require_added_safe, p) for p in columns.positions[held].tolist()
        ]
    return sure


def _holds(condition: Callable[[Any], None], subject: object) -> bool:
    try:
        condition(subject)
    except RefusedError:
        return False
    return True


def _require_place(seam: Seam, last: int, length: int) -> None:
    at = seam.position
    inside = f"expected a position inside the {length} characters of the text"
    require(0 < at < length, "position", f"{inside}, got {at}")
    require(at > last, "order", f"expected a position above {last}, got {at}")
    require(seam.rule is not None, "uncertified", "no rule licenses it (approximate result)")
    known = f"expected one of {', '.join(Rule)}, got {seam.rule}"
    require(seam.rule in [*Rule], "unknown rule", known)


def _cuts(seams: Seams, utf8: Utf8Text) -> IntArray:
    """The byte offsets of the seams of `everywhere`. Assumes that the regions were checked."""
    if seams.everywhere is None or not len(seams.everywhere.regions):
        return NO_INTS
    if is_by(Theorem.STAGES_AT_SPACE, seams.everywhere.licence):
        licence, found = seams.everywhere.licence, list[int]()
        for start, stop in seams.everywhere.regions.tolist():
            found += [start + place for place in places_of(licence, utf8.text[start:stop])]
        return utf8.byte_offsets(np.array(found, dtype=np.int64))
    # Checked regions end at planned seams, or at ends of the text.
    edges = np.concatenate(([0], seams.planned.positions, [len(utf8.text)]))
    places = np.searchsorted(edges, seams.everywhere.regions)
    return utf8.spaces_inside(utf8.byte_offsets(edges)[places])


def _other_text(encoding: Checkable, text: str) -> Iterator[Finding]:
    if not isinstance(encoding, StoredCertificate):
        return
    if encoding.text_length != len(text):
        expected = f"expected a text of {encoding.text_length} characters"
        yield Finding("text", f"{expected}, got {len(text)}")
    elif encoding.text_sha256 != text_digest(text):
        yield Finding("text", f"expected a text of sha256 {encoding.text_sha256}, got another")
