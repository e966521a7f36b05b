"""`CutFinder.likely` and `CutFinder.find` leave out no place that is a certified cut."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers

from tests.conftest import cases
from tests.support.drawn_runs import NAMES, adapter_of, any_tokenizer, drawn_text, named
from tokpar.contract.interfaces import facts_of
from tokpar.cuts import finder as finder_module
from tokpar.cuts.finder import finder_for

pytestmark = pytest.mark.ids


def assert_no_cut_is_left_out(tokenizer: Any, text: str) -> None:
    finder = finder_for(facts_of(adapter_of(tokenizer)))
    if finder.refusal_for(text) is not None:
        return
    likely = [*finder.likely(text, 1, len(text))]
    assert likely == sorted(set(likely), reverse=True)
    certified = [p for p in range(1, len(text)) if finder.certify(text, p)]
    assert {*certified} <= {*likely}
    found = [p for p in range(1, len(text)) if finder.find(text, p, p + 1)]
    assert found == certified


@pytest.mark.parametrize("first_block", [1, finder_module._FIRST_BLOCK])
@given(data=st.data(), tokenizer=any_tokenizer())
def test_of_drawn_tokenizers(first_block: int, data: st.DataObject, tokenizer: Any) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(finder_module, "_FIRST_BLOCK", first_block)
        assert_no_cut_is_left_out(tokenizer, drawn_text(data, tokenizer, 100))


@pytest.mark.parametrize("name", cases(NAMES, NAMES[::3]))
@given(data=st.data())
def test_of_real_vocabularies(name: str, data: st.DataObject) -> None:
    tokenizer = named(name)
    assert_no_cut_is_left_out(tokenizer, drawn_text(data, tokenizer, 200))


def test_before_line_ends_and_between_spaces() -> None:
    tokenizer = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    assert_no_cut_is_left_out(tokenizer, "a\nb  c")
    finder = finder_for(facts_of(adapter_of(tokenizer)))
    assert [p for p in range(1, 6) if finder.find("a\nb  c", p, p + 1)] == [1, 3, 4]
