"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    `kind`: one word or two. `message`: what was expected and what was got. `position`: code points,
    `seam`: index into the planned seams, those made one by one; None where a finding is about the
    whole."""

    kind: str
    message: str
    position: int | None = None
    seam: int | None = None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """Result of a check: `seams` were judged, `full` tells whether a serial encode was compared.

    `notes`: what could not be checked, in words; they are no findings."""

    findings: tuple[Finding, ...]
    seams: int
    full: bool
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """True if nothing was found."""
        return not self.findings
