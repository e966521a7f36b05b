"""What an audit of shards found: faults by check, the first of each with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SHOWN = 10
"""Instances of each fault that a report shows."""
CHECKS = {
    "readable": "each shard can be read",
    "index": "index and data agree",
    "dtype": "the dtype can hold the vocabulary",
    "range": "every id is a token of the tokenizer",
    "bos": "documents begin as the tokenizer begins a text",
    "eos": "documents end as the tokenizer ends a text",
    "utf8": "documents are whole UTF-8",
    "ids": "the tokenizer gives these ids for the text that they spell",
    "runs": "no run of one id",
    "missing": "every text of the input is there",
    "extra": "every document is a text of the input",
    "truncated": "no document ends before its text does",
    "changed": "no document has other ids than its text",
    "doubled": "no text of the input is there twice",
    "order": "documents are in the order of the input",
}
"""All checks, and what holds of a clean shard."""
AGAINST = ("missing", "extra", "truncated", "changed", "doubled", "order")
"""The checks that need the input."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One fault. `shard`: the file. `document`: its number in the shard from 0, or None for a fault
    of the file, or of the input. `place`: which id of the document, from 0, or None."""

    check: str
    shard: str
    document: int | None
    place: int | None
    found: str
    expected: str


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check: how many faults, in which shards, and the first of them."""

    check: str
    count: int = 0
    by_shard: Mapping[str, int] = field(default_factory=dict)
    shown: tuple[Fault, ...] = ()


class CheckedReport:
    """A report with the results of checks; true if no check found a fault."""

    __slots__ = ()
    results: tuple[CheckResult, ...]

    def __bool__(self) -> bool:
        return not self.faults

    @property
    def faults(self) -> int:
        """The number of faults of all checks."""
        return sum(result.count for result in self.results)

    def of(self, check: str) -> CheckResult:
        """Returns the result of one check. Raises KeyError for a check that did not run."""
        return {result.check: result for result in self.results}[check]


@dataclass(frozen=True, slots=True)
class ShardSummary:
    """A shard that was read. `documents`, `tokens`: as many as were read whole."""

    name: str
    format: str
    dtype: str
    documents: int
    tokens: int


@dataclass(frozen=True, slots=True)
class AuditReport(CheckedReport):
    """The result of `tokpar_corpus.audit`; true if no check found a fault.

    `results`: one for each check that ran. `text_bytes`: UTF-8 bytes of the text that was encoded
    again. `notes`: facts that are worth knowing but are no faults. `not_checked`: what this audit
    could not check, and why."""

    tokenizer: str
    shards: tuple[ShardSummary, ...]
    results: tuple[CheckResult, ...]
    text_bytes: int
    notes: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()

    @property
    def documents(self) -> int:
        return sum(shard.documents for shard in self.shards)

    @property
    def tokens(self) -> int:
        return sum(shard.tokens for shard in self.shards)


class FaultLog:
    """Collects faults: counts all, keeps the first `SHOWN` of each check."""

    def __init__(self) -> None:
        self._counts: dict[str, dict[str, int]] = {}
        self._examples: dict[str, list[Fault]] = {}

    def add(
        self,
        check: str,
        shard: str,
        document: int | None,
        found: str,
        expected: str,
        place: int | None = None,
    ) -> None:
        """One more fault."""
        counts = self._counts.setdefault(check, {})
        counts[shard] = counts.get(shard, 0) + 1
        shown = self._examples.setdefault(check, [])
        if len(shown) < SHOWN:
            shown.append(Fault(check, shard, document, place, found, expected))

    def total(self, check: str) -> int:
        """The faults of one check so far."""
        return sum(self._counts.get(check, {}).values())

    def room(self, check: str) -> bool:
        """True if one more fault of this check would be shown."""
        return len(self._examples.get(check, ())) < SHOWN

    def results(self, checks: tuple[str, ...]) -> tuple[CheckResult, ...]:
        """The results of these checks, in this order."""
        return tuple(
            CheckResult(
                check,
                self.total(check),
                dict(self._counts.get(check, {})),
                tuple(self._examples.get(check, ())),
            )
            for check in checks
        )
