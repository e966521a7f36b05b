"""How many examples tests draw and which cases they look at: TOKPAR_PROFILE says so, to the tests
of plugins, too."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest
from hypothesis import settings

Case = TypeVar("Case")
EXAMPLES = {
    "quick": 12,
    "dev": 100,
    "ci": 300,
    "deep": int(os.environ.get("TOKPAR_DEEP_EXAMPLES", "20000")),
}


def chosen_profile() -> str:
    """The profile that the environment asks for."""
    default = "ci" if os.environ.get("CI", "").lower() == "true" else "quick"
    name = os.environ.get("TOKPAR_PROFILE") or default
    if name not in EXAMPLES:
        raise pytest.UsageError(f"TOKPAR_PROFILE must be one of {sorted(EXAMPLES)}, got {name!r}")
    return name


def drawn(count: int) -> int:
    """How many examples a test draws that asks for a number of its own: a fifth of them in quick.
    Many such tests count at the end what they have seen."""
    return -(-count // 5) if is_quick() else count


def at_most(count: int) -> settings:
    """Settings for a property whose one example costs as much as many examples of others: `count`
    examples in ci, a fifth of them in quick, but 5 to 12; `deep` draws all that it is asked
    for."""
    profile = chosen_profile()
    if profile == "deep":
        return settings(max_examples=EXAMPLES[profile])
    most = min(count, EXAMPLES[profile])
    return settings(max_examples=min(most, max(5, count // 5)) if is_quick() else most)


def divided(count: int) -> settings:
    """Settings for a property with `count` parametrisations: in quick they share three times the
    examples of one property, and each draws at least 5; the other profiles draw all for each."""
    examples = EXAMPLES[chosen_profile()]
    return settings(max_examples=max(5, 3 * examples // count) if is_quick() else examples)


def is_quick() -> bool:
    return chosen_profile() == "quick"


def cases(every: Iterable[Case], in_quick: Iterable[Case]) -> list[Case]:
    """All there are, or the few that the profile quick looks at."""
    everything, few = list(every), list(in_quick)
    same = set(map(id, everything))
    assert all(id(case) in same or case in everything for case in few)
    return few if is_quick() else everything
