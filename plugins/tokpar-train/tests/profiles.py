"""How many examples are drawn: those of tokpar's own tests, chosen by the same TOKPAR_PROFILE."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

Case = TypeVar("Case")
EXAMPLES = {
    "quick": 20,
    "dev": 100,
    "ci": 300,
    "deep": int(os.environ.get("TOKPAR_DEEP_EXAMPLES", "20000")),
}


def chosen_profile() -> str:
    default = "ci" if os.environ.get("CI", "").lower() == "true" else "quick"
    name = os.environ.get("TOKPAR_PROFILE") or default
    if name not in EXAMPLES:
        raise pytest.UsageError(f"TOKPAR_PROFILE must be one of {sorted(EXAMPLES)}, got {name!r}")
    return name


def drawn(count: int) -> int:
    """How many examples a test draws that asks for a number of its own."""
    if chosen_profile() != "quick":
        return count
    return -(-count * EXAMPLES["quick"] // EXAMPLES["dev"])


def cases(every: Iterable[Case], in_quick: Iterable[Case]) -> list[Case]:
    """All there are, or the few that the profile quick looks at."""
    everything, few = list(every), list(in_quick)
    assert all(case in everything for case in few)
    return few if chosen_profile() == "quick" else everything
