"""Every form of a call of `as_tiktoken` has the ids and errors of tiktoken, and takes the compiled
call where that is licensed."""

from __future__ import annotations

import functools
import random
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import tiktoken

import tokpar
from tests.conftest import drawn, needs_kernel
from tests.support.outcomes import outcome
from tests.support.tiktoken_views import again, encoding
from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.compiled import compiled_build
from tokpar.integrations.tiktoken_path import MOST_ADAPTERS, USES

pytestmark = [pytest.mark.compiled_at_once, needs_kernel]

EOT = "<|endoftext|>"
SPECIALS: Mapping[str, tuple[str, ...]] = {
    "none": (),
    "one": (EOT,),
    "apart": (EOT, "<|start|>", "<|end|>"),
    "prefix": (EOT, EOT + "a", "<|start|>"),
    "inside": ("<|end|>", "x<|end|>y", "|"),
    "overlapping": ("aba", "bab", "b c"),
    "words": ("the", " fox", "é", "日本", "\n"),
    "odd": ("\ufffd", "🫠", " ", "e\u0301"),
}
"""Special tokens that are apart, contain each other, overlap, and are ordinary characters."""
PARTS = ("cl100k_part", "o200k_part")
PIECES = (
    "The quick",
    " fox",
    " 1234567",
    "é",
    "日本",
    "ab",
    "ab c",
    "\n\n",
    "  ",
    "<|",
    "|>",
    "x",
    "🫠",
)
SURROGATES = ("\ud83e\udee0", "\ud800", "a\udc00b")


@functools.cache
def pair(specials: str, part: str = "cl100k_part") -> tuple[tiktoken.Encoding, Any]:
    """An encoding with these special tokens, and `as_tiktoken` of it."""
    own = encoding(part)
    first = own.max_token_value + 1
    made = again(own, special_tokens={each: first + k for k, each in enumerate(SPECIALS[specials])})
    return made, tokpar.as_tiktoken(made)


def drawn_text(draw: random.Random, contents: tuple[str, ...]) -> Any:
    if draw.random() < 0.05:
        return draw.choice([None, 5, b"ab", ["a"], "", EOT])
    kinds = [PIECES, contents or PIECES, SURROGATES]
    weights = [4, draw.choice([0, 1, 3]), draw.choice([0, 0, 0, 1])]
    return "".join(draw.choice(draw.choices(kinds, weights)[0]) for _ in range(draw.randrange(12)))


def drawn_special(draw: random.Random, contents: tuple[str, ...]) -> Callable[[], Any]:
    """Makes an argument anew for each call: an iterator is used up by one."""
    if draw.random() < 0.35:
        value: Any = draw.choice(
            ["all", "all", "all", "", "the", None, 5, {1}, [[]], [3], {"\ud800"}]
        )
        return lambda: value
    some = draw.sample(contents, draw.randrange(len(contents) + 1))
    some += draw.choice([[], [], [], ["none"], ["the"], ["qu"], [""]])
    kind: Any = draw.choice([set, set, frozenset, list, tuple, tuple, iter, dict.fromkeys])
    return lambda: kind(some)


def drawn_arguments(draw: random.Random, contents: tuple[str, ...]) -> dict[str, Any]:
    names = ("allowed_special", "disallowed_special")
    return {name: drawn_special(draw, contents) for name in names if draw.random() < 0.7}


def in_one_order(found: Any) -> object:
    """A result; what `encode_with_unstable` returns has the order of a hash table."""
    if isinstance(found, tuple) and isinstance(found[0], list):
        return found[0], sorted(found[1])
    return found


def assert_same(
    specials: str, part: str, method: str, text: Any, given: Mapping[str, Callable[[], Any]]
) -> None:
    def call(target: Any) -> object:
        some = {name: make() for name, make in given.items()}
        found = outcome(lambda: getattr(target, method)(text, **some))
        return in_one_order(found)

    own, view = pair(specials, part)
    assert call(view) == call(own), (text, {name: make() for name, make in given.items()})


METHODS = ("encode", "encode_to_numpy", "encode_batch", "encode_with_unstable")


@pytest.mark.ids
@pytest.mark.parametrize("specials", SPECIALS)
@pytest.mark.parametrize("method", METHODS)
def test_drawn_arguments_have_the_ids_and_errors_of_the_own_call(
    method: str, specials: str
) -> None:
    draw = random.Random(f"{method} {specials}")
    for _ in range(drawn(600 if method != METHODS[-1] else 30)):
        text = drawn_text(draw, SPECIALS[specials])
        if method == "encode_batch":
            text = [text, *(drawn_text(draw, SPECIALS[specials]) for _ in range(draw.randrange(3)))]
        given = drawn_arguments(draw, SPECIALS[specials])

        assert_same(specials, draw.choice(PARTS), method, text, given)


@pytest.mark.ids
@pytest.mark.parametrize("specials", SPECIALS)
def test_special_tokens_are_ordinary_text_for_the_ordinary_methods(specials: str) -> None:
    draw = random.Random(specials)
    for _ in range(drawn(400)):
        rows = [drawn_text(draw, SPECIALS[specials]) for _ in range(2)]
        assert_same(specials, PARTS[0], "encode_ordinary", rows[0], {})
        assert_same(specials, PARTS[0], "encode_ordinary_batch", rows, {})


@pytest.mark.ids
def test_a_large_batch_has_the_ids_of_the_own_call() -> None:
    own, view = pair("apart")
    draw = random.Random(5)
    rows = [f"{k} {drawn_text(draw, ())}{'<|end|>' * (k % 7 == 0)} fox" for k in range(200)]
    for given in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        assert view.encode_batch(rows, **given) == own.encode_batch(rows, **given)
    assert outcome(lambda: view.encode_batch(rows)) == outcome(lambda: own.encode_batch(rows))


@pytest.mark.ids
@pytest.mark.parametrize("uses", [1, 1000])
@pytest.mark.parametrize("specials", ["apart", "prefix", "inside", "overlapping", "words", "odd"])
def test_a_text_with_many_special_tokens_has_the_ids_of_the_own_call(
    specials: str, uses: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a call that matches the tokens itself, and section by section."""
    monkeypatch.setattr("tokpar.integrations.tiktoken_path.USES", uses)
    pair.cache_clear()
    draw, contents = random.Random(specials), SPECIALS[specials]
    for _ in range(drawn(100)):
        kinds = draw.choice([contents, contents + PIECES])
        text = "".join(draw.choices(kinds, k=draw.randrange(17, 90)))
        given: dict[str, Callable[[], Any]] = {
            "allowed_special": lambda: "all",
            "disallowed_special": lambda: (),
        }
        if draw.random() < 0.5:
            some = {*draw.sample(contents, draw.randrange(len(contents)))}
            given["allowed_special"] = functools.partial(set, some)
        assert_same(specials, PARTS[0], draw.choice(["encode", "encode_to_numpy"]), text, given)
    assert bool(pair(specials, PARTS[0])[1]._tokpar._allowing) == (uses == 1)
    pair.cache_clear()


# ----------------------------------------------------------------------- which way is taken

Call = Callable[[Any, str], Any]
ANSWERED: dict[str, Call] = {
    "encode": lambda o, x: o.encode(x),
    "refusing nothing": lambda o, x: o.encode(x, disallowed_special=()),
    "allowing all": lambda o, x: o.encode(x, allowed_special="all"),
    "allowing none": lambda o, x: o.encode(x, allowed_special=set(), disallowed_special="all"),
    "allowing one": lambda o, x: o.encode(x, allowed_special={EOT}),
    "allowing all, refusing nothing": lambda o, x: o.encode(
        x, allowed_special="all", disallowed_special=()
    ),
    "refusing a list": lambda o, x: o.encode(x, disallowed_special=[EOT]),
    "encode_ordinary": lambda o, x: o.encode_ordinary(x),
    "encode_to_numpy": lambda o, x: o.encode_to_numpy(x).tolist(),
    "batch": lambda o, x: o.encode_batch([x] * 8),
    "ordinary batch": lambda o, x: o.encode_ordinary_batch([x] * 8),
}
MARKED: dict[str, Call] = {
    "allowed, at the end": lambda o, x: o.encode(x + EOT, allowed_special="all"),
    "allowed, between": lambda o, x: o.encode(
        f"{x}{EOT}{x}<|end|>", allowed_special={EOT, "<|end|>"}
    ),
    "allowed, as an array": lambda o, x: o.encode_to_numpy(EOT + x, allowed_special="all").tolist(),
    "ordinary": lambda o, x: o.encode(x + EOT, disallowed_special=()),
    "ordinary and allowed": lambda o, x: o.encode(
        f"<|end|>{x}{EOT}", allowed_special={"<|end|>"}, disallowed_special=()
    ),
    "in a batch": lambda o, x: o.encode_batch([x, x + EOT] * 4, allowed_special="all"),
}
HANDED: dict[str, Call] = {
    "a list of allowed tokens": lambda o, x: o.encode(x, allowed_special=[], disallowed_special=()),
    "unstable": lambda o, x: o.encode_with_unstable(x),
    "numbers": lambda o, x: o.encode(x, allowed_special={1}),
}
TEXT = "The quick brown fox, 1234567 times. Naïve café 中文字! " * 4


class Trip:
    """What a call ran: files and functions of tokpar, and how often tiktoken's own engine."""

    def __init__(self) -> None:
        self.files, self.functions, self.own_calls = set[str](), 0, 0

    @contextmanager
    def watched(self) -> Iterator[None]:
        def on_event(frame: FrameType, event: str, function: Any) -> None:
            name = frame.f_code.co_filename
            if event == "call" and name.startswith(_PACKAGE) and "<" not in frame.f_code.co_name:
                self.files.add(name)
                self.functions += 1
            elif event == "c_call" and type(getattr(function, "__self__", None)) is _ENGINE:
                self.own_calls += function.__name__ != "encode_single_piece"

        before = sys.getprofile()
        sys.setprofile(on_event)
        try:
            yield
        finally:
            sys.setprofile(before)


_PACKAGE = str(Path(tokpar.__file__).parent)
_ENGINE: Any = type(encoding("cl100k_part")._core_bpe)


def trip_of(call: Call, text: str) -> Trip:
    """The trip of a call after those that have made what is made once."""
    view, trip = pair("apart")[1], Trip()
    for _ in range(USES + 2):
        outcome(lambda: call(view, text))
    with trip.watched():
        outcome(lambda: call(view, text))
    return trip


@pytest.mark.ids
@pytest.mark.parametrize("form", [*ANSWERED, *MARKED])
@pytest.mark.parametrize("size", [0, 1, 5, 190, 200])
def test_the_compiled_call_answers_every_form_by_itself(form: str, size: int) -> None:
    call, text = (ANSWERED | MARKED)[form], TEXT[:size]
    own, view = pair("apart")
    before = view.tokpar_texts["engine"]
    assert call(view, text) == call(own, text)
    assert trip_of(call, text).own_calls == 0
    assert view.tokpar_texts["engine"] == before


@pytest.mark.parametrize("form", ANSWERED)
def test_an_answered_form_takes_a_short_trip(form: str) -> None:
    trip = trip_of(ANSWERED[form], TEXT)
    files, functions = (9, 60) if "batch" in form else (6, 7)
    assert len(trip.files) <= files
    assert trip.functions <= functions


@pytest.mark.parametrize("form", MARKED)
def test_a_form_with_special_tokens_takes_a_short_trip(form: str) -> None:
    trip = trip_of(MARKED[form], TEXT)
    assert len(trip.files) <= 10
    assert trip.functions <= (100 if form == "in a batch" else 36)


@pytest.mark.parametrize("form", HANDED)
def test_a_form_that_is_handed_over_is_not_looked_at_first(form: str) -> None:
    trip = trip_of(HANDED[form], "the fox")
    assert trip.own_calls <= 1
    assert trip.functions <= 12
    given = [outcome(lambda: HANDED[form](each, "the fox")) for each in pair("apart")]  # noqa: B023
    assert in_one_order(given[0]) == in_one_order(given[1])


def test_other_sets_of_allowed_tokens_make_no_engine_that_the_caller_waits_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_build, "IN_BACKGROUND", True)
    own = again(encoding("cl100k_part"), special_tokens={f"<{k}>": 200_000 + k for k in range(20)})
    view: Any = tokpar.as_tiktoken(own)
    view._tokpar.tokenizer.later_call.wait()
    calls_are_done, waits = threading.Event(), list[bool]()
    make = view._tokpar.adapter_for

    def make_late(allowed: frozenset[str]) -> TiktokenTokenizer:
        waits.append(calls_are_done.wait(120))
        made: TiktokenTokenizer = make(allowed)
        return made

    monkeypatch.setattr(view._tokpar._ordinary, "_make", lambda: make_late(frozenset()))
    monkeypatch.setattr(view._tokpar, "adapter_for", make_late)
    for k in range(20):
        text = f"a <{k}> b <{(k + 1) % 20}>"
        given: dict[str, Any] = {"allowed_special": {f"<{k}>"}, "disallowed_special": ()}
        assert view.encode(text, **given) == own.encode(text, **given)
    calls_are_done.set()
    view._tokpar._ordinary._job.wait()
    assert waits == [True], "one engine for all sets, made when the calls had returned"


def test_a_set_of_allowed_tokens_that_comes_again_gets_a_call_of_its_own() -> None:
    pair.cache_clear()
    own, view = pair("apart")
    text = f"the {EOT} fox <|start|> <|end|> x" * 3
    sets = ({EOT}, {EOT, "<|start|>"}, {"<|end|>"})
    for tokens in sets:
        given: dict[str, Any] = {"allowed_special": tokens, "disallowed_special": ()}
        for _ in range(USES + 1):
            view.encode(text, **given)
        trip = Trip()
        with trip.watched():
            view.encode(text, **given)
        assert trip.functions <= 24, "as many as a call without special tokens, and not per section"
        assert view.encode(text, **given) == own.encode(text, **given)
    assert {*view._tokpar._allowing} == {*map(frozenset, sets)}


def test_at_most_eight_sets_of_allowed_tokens_get_a_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar.integrations.tiktoken_path.USES", 1)
    own = again(encoding("cl100k_part"), special_tokens={f"<{k}>": 200_000 + k for k in range(20)})
    view: Any = tokpar.as_tiktoken(own)
    for k in range(20):
        for _ in range(3):
            given: dict[str, Any] = {"allowed_special": {f"<{k}>"}, "disallowed_special": ()}
            assert view.encode(f"a <{k}> b", **given) == own.encode(f"a <{k}> b", **given)
    assert len(view._tokpar._allowing) == MOST_ADAPTERS


def test_after_a_mismatch_no_other_call_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.SAMPLED", 1)
    monkeypatch.setattr("tokpar.integrations.tiktoken_path.USES", 1)
    own = again(encoding("cl100k_part"))
    view: Any = tokpar.as_tiktoken(own)
    for given in ({"disallowed_special": ()}, {"allowed_special": "all"}) * 2:
        assert view.encode(f"a{EOT}", **given) == own.encode(f"a{EOT}", **given)
    assert view._tokpar._allowing
    call: Any = view._tokpar.tokenizer.later_call.call
    monkeypatch.setattr(call, "_tokenize", lambda word: [1, 2, 3])
    view.encode("zqxjv kwvzq")
    before = view.tokpar_texts["compiled"]
    for given in ({"allowed_special": "all"}, {"disallowed_special": ()}):
        text = f"a zzq{EOT} xq"
        assert view.encode(text, **given) == own.encode(text, **given)
    assert view.tokpar_texts["compiled"] == before
