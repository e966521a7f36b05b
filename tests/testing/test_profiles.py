"""What the profiles change: how many examples are drawn, and in quick also how many cases."""

from __future__ import annotations

import pytest

from tests.conftest import EXAMPLES, cases, chosen_profile, drawn


@pytest.mark.parametrize("name", ["dev", "ci", "deep"])
def test_only_quick_leaves_anything_out(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_PROFILE", name)
    assert cases("abc", "c") == ["a", "b", "c"]
    assert drawn(15) == 15
    monkeypatch.setenv("TOKPAR_PROFILE", "quick")
    assert cases("abc", "c") == ["c"]
    assert drawn(15) == 3
    assert drawn(1) == 1


def test_the_cases_of_quick_are_among_all() -> None:
    with pytest.raises(AssertionError):
        cases("abc", "d")


def test_continuous_integration_draws_the_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKPAR_PROFILE", raising=False)
    monkeypatch.setenv("CI", "true")
    assert (chosen_profile(), EXAMPLES["ci"]) == ("ci", 300)
    monkeypatch.delenv("CI")
    assert chosen_profile() == "quick"
