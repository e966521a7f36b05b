"""The findings and the report of a check."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One error that a check found.

    `kind`: one or two words. `message`: the expected and the actual value. `position`: code points.
    `seam`: index into the planned seams. Both are None for a finding about the whole encoding."""

    kind: str
    message: str
    position: int | None = None
    seam: int | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check.

    `seams`: how many seams were checked. `full`: the ids were compared with a serial encode.
    `notes`: sentences about parts that could not be checked; a note is not a finding."""

    findings: tuple[Finding, ...]
    seams: int
    full: bool
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if there is no finding."""
        return not self.findings
