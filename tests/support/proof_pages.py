"""Which page of proofs/ states a theorem, by its number."""

from __future__ import annotations

from pathlib import Path

from tests.support.paths import ROOT

PROOFS = ROOT / "proofs"
# what is proved on a page with another name; 3.1 is LoPT's
INSIDE = {
    "1": "definitions.md",
    "2": "3-restriction.md",
    "5'": "5-two-common-boundaries.md",
    "6": "5-two-common-boundaries.md",
    "13": "definitions.md",
    "16": "definitions.md",
    "17": "14-clean-cuts.md",
    "26": "27-segment-cache.md",
    "34": "35-stable-cuts.md",
    "39": "40-windows.md",
    "3.1": "lopt-theorem-3.1.md",
    **dict.fromkeys(map(str, range(55, 62)), "compiled-call.md"),
    "62": "untrusted.md",
}
NAMES = {path.name.partition("-")[0]: path.name for path in PROOFS.glob("[0-9]*.md")}
"""Number of a theorem -> the page of that number."""


def page_of(theorem: str) -> Path:
    """The page of a theorem; no file if there is none."""
    return PROOFS / INSIDE.get(theorem, NAMES.get(theorem, f"{theorem}.md"))
