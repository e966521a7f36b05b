"""What the profiles change: how many examples are drawn, and in quick also how many cases."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.conftest import EXAMPLES, cases, chosen_profile, drawn
from tests.support.fakes import WordHash
from tokpar.testing.pools import EXAMPLES as MOST
from tokpar.testing.pools import pools


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


@pytest.mark.parametrize(("examples", "texts"), [(3, 3), (MOST + 1, MOST)])
def test_the_kit_draws_no_more_texts_than_the_profile_has_examples(
    examples: int, texts: int
) -> None:
    settings.register_profile("some", max_examples=examples)
    settings.load_profile("some")
    try:
        found = pools(WordHash(), ())
    finally:
        settings.load_profile(chosen_profile())
    assert found == pools(WordHash(), (), texts)
    assert found != pools(WordHash(), (), texts - 1)
