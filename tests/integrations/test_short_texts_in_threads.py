"""Short texts of `as_hf`, for which the engine's own call is made: threads with other settings do
not disturb each other, as those of the original do."""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

import pytest
from hypothesis import example, given
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


def call(tokenizer: Any, given: tuple[Any, Any]) -> object:
    inputs, named = given
    if named == "tokenize":
        return outcome(lambda: tokenizer.tokenize(str(inputs[0])))
    return outcome(lambda: tokenizer(*inputs, **named))


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


@pytest.fixture
def copies_made(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The copies of engines that own calls have made."""
    from tokpar.integrations import hf_own_calls

    made: list[Any] = []
    copied = hf_own_calls.private_copy

    def count_copies(engine: Any) -> Any:
        found = copied(engine)
        made.append(found[0])
        return found

    monkeypatch.setattr(hf_own_calls, "private_copy", count_copies)
    return made


@pytest.mark.parametrize(("lengths", "expected"), [(2, 2), (8, 8), (9, 2 * 9)])
def test_calls_with_one_setting_share_one_copy_of_the_engine(
    copies_made: list[Any], lengths: int, expected: int
) -> None:
    """Each call meets a call with other settings. In turn, more settings than are kept find none
    of their copies."""
    from tokpar.integrations import hf_running_calls

    mine, own = tokpar.as_hf(fresh("left")), fresh("left")
    with_pairs = [
        ((TEXT, TEXT[::-1]), {"truncation": True, "max_length": k + 9}) for k in range(lengths)
    ]
    answers = [call(own, each) for each in with_pairs]
    hf_running_calls.begin_call(mine.backend_tokenizer, "other settings")
    try:
        for _ in range(2):
            assert [call(mine, each) for each in with_pairs] == answers
    finally:
        hf_running_calls.end_call(mine.backend_tokenizer)
    assert len(copies_made) == expected
    assert len(mine._tokpar_state().own_calls._copies[1]) == min(lengths, 8)


def test_a_copy_of_the_engine_is_not_used_after_the_tokenizer_was_changed(
    copies_made: list[Any],
) -> None:
    from tokpar.integrations import hf_running_calls

    mine, own = tokpar.as_hf(fresh("left")), fresh("left")
    hf_running_calls.begin_call(mine.backend_tokenizer, "other settings")
    for tokens in (["quick brown"], ["fox, 1"], []):
        mine.add_tokens(tokens)
        own.add_tokens(tokens)
        assert call(mine, ((TEXT, TEXT), {})) == call(own, ((TEXT, TEXT), {}))
    hf_running_calls.end_call(mine.backend_tokenizer)
    assert len(copies_made) == 2


@at_most(10)
@given(data=st.data())
def test_what_is_set_on_the_tokenizer_holds_on_a_copy_of_its_engine(data: st.DataObject) -> None:
    from tokpar.integrations import hf_running_calls

    mine, own = tokpar.as_hf(fresh("left")), fresh("left")
    sides = st.sampled_from(["left", "right"])
    drawn = {
        "truncation_side": sides,
        "padding_side": sides,
        "pad_token": st.sampled_from(["a", "b"]),
        "_pad_token_type_id": st.integers(0, 2),
        "split_special_tokens": st.booleans(),
        "model_input_names": st.sampled_from([["input_ids"], ["input_ids", "token_type_ids"]]),
    }
    hf_running_calls.begin_call(mine.backend_tokenizer, "other settings")
    try:
        for _ in range(4):
            name = data.draw(st.sampled_from(sorted(drawn)))
            value = data.draw(drawn[name])
            setattr(mine, name, value)
            setattr(own, name, value)
            options = data.draw(CALLS)
            pair = ((TEXT[: data.draw(st.integers(1, 30))], TEXT), options)
            assert call(mine, pair) == call(own, pair)
    finally:
        hf_running_calls.end_call(mine.backend_tokenizer)


def uncopied() -> Any:
    """A tokenizer that no copy reproduces."""
    from tokenizers import AddedToken

    own = fresh("left")
    for flags in ({"special": True}, {"lstrip": True}):
        own.backend_tokenizer.add_tokens([AddedToken("<x>", **flags)])
    return own


@at_most(20)
@given(
    one=st.tuples(INPUTS, CALLS),
    other=st.tuples(INPUTS, CALLS | st.just("tokenize")),
)
@example(one=((TEXT,), {"max_length": 5}), other=((TEXT,), {"truncation": True, "max_length": 4}))
def test_calls_on_an_engine_that_no_copy_reproduces_wait_for_each_other(
    one: tuple[Any, dict[str, Any]], other: tuple[Any, Any]
) -> None:
    """The other thread has 20 ms for its call, after this one has set up the engine."""
    mine = tokpar.as_hf(uncopied())
    assert mine._tokpar_state().own_calls._begin_on_copy(()) is None
    expected = [call(uncopied(), one), call(uncopied(), other)]
    base = type(mine._tokpar_original())
    set_up, found = base.set_truncation_and_padding, list[object]()
    thread = threading.Thread(target=lambda: found.append(call(mine, other)))

    def set_up_and_let_the_other_call(self: Any, *given: Any, **named: Any) -> None:
        set_up(self, *given, **named)
        if thread.ident is None:
            thread.start()
            thread.join(0.02)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "set_truncation_and_padding", set_up_and_let_the_other_call)
        mine_found = call(mine, one)
    if thread.ident is not None:
        thread.join(120)
        assert [mine_found, *found] == expected


def test_a_signal_handler_does_not_wait_for_the_call_that_it_interrupts() -> None:
    mine = tokpar.as_hf(uncopied())
    base, found = type(mine._tokpar_original()), []
    set_up = base.set_truncation_and_padding
    other = uncopied()(TEXT, truncation=True, max_length=4)["input_ids"]

    def set_up_and_interrupt(self: Any, *given: Any, **named: Any) -> None:
        set_up(self, *given, **named)
        if not found:
            found.append([])
            found.append(mine(TEXT, truncation=True, max_length=4)["input_ids"])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(base, "set_truncation_and_padding", set_up_and_interrupt)
        thread = threading.Thread(target=mine, args=(TEXT,), daemon=True)
        thread.start()
        thread.join(120)
    assert not thread.is_alive()
    assert found[1] == other
    assert mine(TEXT)["input_ids"] == uncopied()(TEXT)["input_ids"]


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


def test_a_call_that_waits_for_an_engine_goes_before_later_calls() -> None:
    from tokpar.integrations import hf_running_calls

    engine, begun = object(), threading.Event()

    def wait_and_call() -> None:
        hf_running_calls.begin_call_alone(engine)
        begun.set()
        hf_running_calls.end_call(engine)

    assert hf_running_calls.begin_call(engine, "settings")
    thread = threading.Thread(target=wait_and_call, daemon=True)
    thread.start()
    while id(engine) not in hf_running_calls._waiting:
        assert not begun.wait(0.001)
    assert not hf_running_calls.begin_call(engine, "settings")
    hf_running_calls.end_call(engine)
    assert begun.wait(120)
    thread.join(120)
    assert hf_running_calls.begin_call(engine, "settings")
    hf_running_calls.end_call(engine)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_child_forked_during_a_call_takes_another_engine_and_waits_for_no_lost_call() -> None:
    from tokpar.integrations import hf_running_calls

    mine = tokpar.as_hf(fresh("left"), smallest_text=1 << 20)
    engine = mine.backend_tokenizer
    lost = threading.Thread(target=hf_running_calls.begin_call, args=(engine, "other settings"))
    lost.start()
    lost.join()
    with hf_running_calls._lock:  # as another thread may hold it
        child = os.fork()
        if not child:
            free = hf_running_calls.begin_call(engine, "settings")
            signal.alarm(10)  # the default action ends the child
            hf_running_calls.begin_call_alone(engine)
            hf_running_calls.end_call(engine)
            os._exit(1 if free else 0)
    hf_running_calls._running.clear()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
