"""Read a tokenizer once for each of its states, and compare the facts that the planner was told
with the facts that the checker reads itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from tokpar.certificate.canonical_form import JsonForm, RankForm
from tokpar.certificate.check_context import RefusedError
from tokpar.certificate.findings import Finding
from tokpar.certificate.origin_reader import CustomPartError, read_origin, state_of
from tokpar.certificate.own_facts import facts_of_form
from tokpar.certificate.own_postprocess import postprocess_differences, postprocess_of
from tokpar.certificate.own_vocabulary import OwnVocabulary
from tokpar.contract.adapter import Origin, origin_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.errors import FileFormatError
from tokpar.types import Facts, NormalizerStage

AS_TOLD = "facts as the adapter tells them: no file is known to read them from again"
_ALWAYS = ("engine", "model", "added_tokens")
_FOR_EDGES = ("first_prefix",)
_FOR_CUTS = (
    *("scheme", "patterns", "normalizers", "pre_tokenizers"),
    *("prefix_space", "first_prefix", "chars_before_mark", "tiles"),
)
_REFUSALS = ("unprovable", "added_token_cuts_refused")
_SHOWN = 160
_MOST_KEPT = 4


@dataclass(frozen=True, eq=False)
class CheckedFacts:
    """What the checker knows of a tokenizer: the facts that decide in a check, the findings about
    them, and notes.

    `facts`: the facts that the checker read itself, where there is a file. They refuse what the
    planner refuses, too: an adapter may know more of its object than a file shows. `form`: the
    canonical form that the facts are made of; None if there is none, `unread` says why."""

    facts: Facts
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    form: JsonForm | RankForm | None = None
    unread: str | None = None


def checked_facts(tokenizer: TokenizerAdapter) -> CheckedFacts:
    """Returns the facts of a tokenizer as the checker reads them, and how the planner's differ, as
    far as a seam may rest on them.

    The file is read once for each state of the tokenizer."""
    told = facts_of(tokenizer)
    origin = origin_of(tokenizer)
    if origin is None:
        return CheckedFacts(told, notes=(AS_TOLD,))
    readings, state = told.derive(_readings), state_of(origin)
    found = next((each for before, each in readings if before == state), None)
    if found is None:
        found = _read(told, origin, tokenizer)
        readings[:] = [(state, found), *readings[: _MOST_KEPT - 1]]
    found.facts.proofs.update(told.proofs)
    return found


def _readings(_: Facts) -> list[tuple[object, CheckedFacts]]:
    """The last readings of a tokenizer, by its state. Copies of it share the planner's facts, and
    the readings die with these facts."""
    return []


def _read(told_facts: Facts, origin: Origin, tokenizer: TokenizerAdapter) -> CheckedFacts:
    findings, form, unread = list[Finding](), None, None
    try:
        form = read_origin(origin)
        own = facts_of_form(form)
    except (CustomPartError, RefusedError) as error:
        unread = str(error)
        own = Facts("unknown", "unknown", unprovable=unread, added_token_cuts_refused=unread)
    except FileFormatError:
        return CheckedFacts(told_facts, notes=(AS_TOLD,))
    if isinstance(form, JsonForm):
        findings += _postprocess_findings(form, origin, tokenizer)
    if told_facts.unprovable is None or told_facts.added_token_cuts_refused is None:
        findings += differences(told_facts, own)
        findings += _size_differences(told_facts, own, form)
    decided = replace(
        own,
        unprovable=own.unprovable or told_facts.unprovable,
        added_token_cuts_refused=own.added_token_cuts_refused
        or told_facts.added_token_cuts_refused,
    )
    return CheckedFacts(decided, tuple(findings), (), form, unread)


def _postprocess_findings(
    form: JsonForm, origin: Origin, tokenizer: TokenizerAdapter
) -> Iterator[Finding]:
    own = postprocess_of(form, origin.settings)
    if own is not None:
        for name, read, done in postprocess_differences(own, tokenizer):
            yield _finding(name, done, read)


def differences(told_facts: Facts, own: Facts) -> Iterator[Finding]:
    """Yields a finding for each fact that the planner was told otherwise, as far as a seam may rest
    on the fact. A refusal that only the planner makes costs cuts, and no id."""
    names = [*_ALWAYS]
    if told_facts.added_token_cuts_refused is None:
        names += _FOR_EDGES
    if told_facts.unprovable is None:
        names += _FOR_CUTS
    for name in dict.fromkeys(names):
        given, read = getattr(told_facts, name), getattr(own, name)
        if _comparable(given) != _comparable(read):
            yield _finding(name, given, read)
    for name in _REFUSALS:
        reason = getattr(own, name)
        if getattr(told_facts, name) is None and reason is not None:
            yield _finding(name, None, reason)
    if told_facts.unprovable is None and told_facts.adjacent is not None:
        told = frozenset(told_facts.adjacent())
        pairs = frozenset(() if own.adjacent is None else own.adjacent())
        for some in sorted(told ^ pairs)[:1]:
            yield _finding(f"adjacent: {some!r}", some in told, some in pairs)


def _size_differences(
    told_facts: Facts, own: Facts, form: JsonForm | RankForm | None
) -> Iterator[Finding]:
    """Yields a finding for the first id whose bytes the planner was told otherwise."""
    if told_facts.sizes is None:
        return
    if own.sizes is None or not isinstance(form, JsonForm):
        yield _finding("sizes", "the bytes of each id", None)
        return
    added_ids = {token.id for token in own.added_tokens}
    ids = np.array(sorted({*OwnVocabulary(form).ids.values(), *added_ids}))
    given, read = told_facts.sizes(ids), own.sizes(ids)
    for k in np.flatnonzero(given != read)[:1].tolist():
        yield _finding(f"sizes of id {ids[k]}", given[k], read[k])


def _comparable(value: object) -> object:
    """Settings of stages by name, without one that decides offsets only."""
    if isinstance(value, tuple) and value and isinstance(value[0], NormalizerStage):
        return [(stage.kind, {**dict(stage.settings), "trim_offsets": None}) for stage in value]
    return value


def _finding(name: str, told_value: object, own: object) -> Finding:
    read, given = _where_unlike(repr(own), repr(told_value))
    return Finding("facts", f"{name}: the file says {read}, the planner was told {given}")


def _where_unlike(one: str, other: str) -> tuple[str, str]:
    """Both texts; long ones only around the place where they begin to differ."""
    unlike = (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    start = max(0, next(unlike, 0) - _SHOWN // 2)
    shown = slice(start, start + _SHOWN)
    first, second = (t if len(t) <= _SHOWN else f"...{t[shown]}..." for t in (one, other))
    return first, second
