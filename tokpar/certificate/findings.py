"""The levels of a check, its findings and its report."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tokpar.errors import OptionError


class Level(StrEnum):
    """What a check proves. The first step of both levels is that each seam is licensed by its
    rule."""

    IDS = "ids"
    """The ids are those of the tokenizer's own serial call (theorem 31). The call is asked once for
    each distinct segment."""
    MODEL = "model"
    """The ids follow from the tokenizer's file (theorems 32 and 33). No call is asked. The package
    the plugin tokpar-model proves it."""

    @classmethod
    def of(cls, name: str) -> Level:
        """Returns the level with this name. Raises OptionError for another name."""
        try:
            return cls(name)
        except ValueError:
            known = ", ".join(cls)
            raise OptionError(f"unknown level {name!r}; expected one of {known}") from None


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
class ModelProof:
    """What level `model` found, by the plugin tokpar-model.

    `findings`: why the ids are wrong. `refusal`: why nothing is proved, or None: (kind, sentence).
    `assumptions`: sentences that the proof assumes, the digest of the class tables among them."""

    findings: tuple[Finding, ...] = ()
    assumptions: tuple[str, ...] = ()
    refusal: tuple[str, str] | None = None

    @property
    def ok(self) -> bool:
        """True if the ids are proved to be the ids of the text."""
        return not self.findings and self.refusal is None


@dataclass(frozen=True, slots=True)
class CheckReport:
    """The result of a check. True if everything that its level proves was proved.

    `seams`: how many seams were checked. `proved`, `not_proved`: sentences. `notes`: about
    parts that could not be checked; a note is not a finding. `refused`: why level `model` cannot
    judge this tokenizer or text; None if it can."""

    findings: tuple[Finding, ...]
    seams: int
    level: Level
    proved: tuple[str, ...] = ()
    not_proved: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    refused: str | None = None

    @property
    def ok(self) -> bool:
        """True if there is no finding and the level could judge the encoding."""
        return not self.findings and self.refused is None

    def __bool__(self) -> bool:
        return self.ok
