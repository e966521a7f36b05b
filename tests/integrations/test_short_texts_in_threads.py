"""Short texts of `as_hf`, for which the engine's own call is made: threads with other settings do
not disturb each other, as those of the original do."""

from __future__ import annotations

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import at_most
from tests.support.hf_sources import SOURCES, fresh
from tests.support.hf_values import outcome

pytest.importorskip("transformers", reason="transformers is missing")

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

TEXT = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! <s> " * 2
CALLS = st.fixed_dictionaries(
    {},
    optional={
        "truncation": st.sampled_from([True, "only_first", "longest_first"]),
        "max_length": st.integers(4, 40),
        "padding": st.sampled_from([True, "max_length"]),
        "padding_side": st.sampled_from(["left", "right"]),
        "pad_to_multiple_of": st.sampled_from([7, 8]),
        "stride": st.integers(0, 1),
        "return_overflowing_tokens": st.just(True),
        "add_special_tokens": st.just(False),
        "return_offsets_mapping": st.just(True),
        "split_special_tokens": st.booleans(),
    },
)
INPUTS = st.one_of(
    st.integers(0, len(TEXT)).map(lambda stop: (TEXT[:stop],)),
    st.lists(st.integers(0, len(TEXT)).map(lambda stop: TEXT[:stop]), min_size=1, max_size=3).map(
        lambda texts: (texts,)
    ),
    st.integers(0, len(TEXT)).map(lambda stop: (TEXT[:stop], TEXT[stop:])),
)


@cache
def view(name: str) -> Any:
    return tokpar.as_hf(fresh(name), smallest_text=1 << 20)  # so the engine's own call is made


@cache
def reference(name: str) -> Any:
    return fresh(name)


@at_most(60)
@given(
    name=st.sampled_from(SOURCES),
    one=st.tuples(INPUTS, CALLS),
    other=st.tuples(INPUTS, CALLS | st.just("tokenize")),
)
def test_a_call_of_another_thread_between_settings_and_ids_changes_nothing(
    name: str, one: tuple[Any, dict[str, Any]], other: tuple[Any, Any]
) -> None:
    """The other thread's call runs from begin to end after this one has set up the engine."""
    mine = view(name)

    def call(tokenizer: Any, given: tuple[Any, Any]) -> object:
        inputs, named = given
        if named == "tokenize":
            return outcome(lambda: tokenizer.tokenize(str(inputs[0])))
        return outcome(lambda: tokenizer(*inputs, **named))

    expected = [call(reference(name), one), call(reference(name), other)]
    base = type(mine._tokpar_original())
    set_up, found = base.set_truncation_and_padding, list[object]()
    started = threading.Event()

    def set_up_and_let_the_other_call(self: Any, *given: Any, **named: Any) -> None:
        set_up(self, *given, **named)
        if not started.is_set():
            started.set()
            thread = threading.Thread(target=lambda: found.append(call(mine, other)))
            thread.start()
            thread.join()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "set_truncation_and_padding", set_up_and_let_the_other_call)
        found.insert(0, call(mine, one))
    if started.is_set():
        assert found == expected


@pytest.mark.parametrize("through_tokpar", [False, True])
def test_eight_threads_that_truncate_differently_get_the_own_ids(through_tokpar: bool) -> None:
    least = 1 if through_tokpar else 1 << 20
    mine, own = tokpar.as_hf(fresh("left"), smallest_text=least), fresh("left")
    calls = [
        (TEXT[: 20 + 9 * k], {"truncation": True, "max_length": 4 + 3 * k} if k % 3 else {})
        for k in range(8)
    ]
    expected = [own(text, **named)["input_ids"] for text, named in calls]

    def work(k: int) -> list[object]:
        text, named = calls[k]
        return [mine(text, **named)["input_ids"] for _ in range(40)]

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(work, range(8)))
    finally:
        sys.setswitchinterval(before)
    assert found == [[ids] * 40 for ids in expected]
    assert mine.tokpar_calls == 320 * through_tokpar


def test_calls_are_counted_of_an_engine_without_weak_references() -> None:
    from tokpar.integrations import hf_running_calls

    engine, other = object(), object()
    assert hf_running_calls.begin_call(engine, "settings")
    assert hf_running_calls.begin_call(engine, "settings")
    assert not hf_running_calls.begin_call(engine, "other settings")
    hf_running_calls.end_call(engine)
    assert not hf_running_calls.begin_call(engine, "other settings")
    assert hf_running_calls.begin_call(other, "other settings")
    hf_running_calls.end_call(other)
    hf_running_calls.end_call(engine)
    assert hf_running_calls.begin_call(engine, "other settings")
    hf_running_calls.end_call(engine)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_during_a_call_calls_the_shared_engine() -> None:
    from tokpar.integrations import hf_running_calls

    mine = tokpar.as_hf(fresh("left"), smallest_text=1 << 20)
    engine = mine.backend_tokenizer
    assert hf_running_calls.begin_call(engine, "other settings")
    with hf_running_calls._lock:  # as another thread may hold it
        child = os.fork()
        if not child:
            free = hf_running_calls.begin_call(engine, "settings")
            os._exit(0 if free else 1)
    hf_running_calls.end_call(engine)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
