"""`as_tiktoken`: each call on the object against the same call on the original encoding."""

from __future__ import annotations

import copy
import functools
import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tiktoken
import tiktoken.registry
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.conftest import divided
from tests.support.paths import ROOT
from tests.support.texts import texts
from tests.support.tiktoken_views import LONG, again, encoding
from tests.support.tokenizers_drawn import contents
from tokpar import EngineError, OptionError
from tokpar.integrations.tiktoken_subclass import TokparEncoding

pytestmark = pytest.mark.compiled_at_once

ENCODINGS = ("cl100k_part", "o200k_part", "odd specials")


@functools.cache
def views(name: str) -> tuple[TokparEncoding, TokparEncoding]:
    """One sends each whole text through tokpar, one cuts each text into small chunks."""
    cutting = tokpar.as_tiktoken(encoding(name), strategy="cut", chunk_chars=5, executor="serial")
    return tokpar.as_tiktoken(encoding(name), smallest_text=1), cutting  # type: ignore[return-value]


# ------------------------------------------------------------------------------ drawn calls

Made = Callable[[], Any]
"""Makes an argument anew for each call: an iterator is used up by one."""


def plain(value: Any) -> object:
    """What == compares in full: an array with its type."""
    if isinstance(value, np.ndarray):
        return str(value.dtype), value.shape, value.flags.writeable, value.tolist()
    return value


def outcome(call: Callable[[], Any]) -> object:
    """The result, or the error's type and text."""
    try:
        return plain(call())
    except Exception as error:
        return type(error), str(error)


def constant(value: Any) -> Made:
    return lambda: value


def specials(name: str) -> st.SearchStrategy[dict[str, Made]]:
    content = st.sampled_from([*contents(encoding(name)), "none", "a", ""])
    kinds = st.sampled_from([set, frozenset, list, tuple, iter, dict.fromkeys])
    several = st.builds(lambda kind, some: lambda: kind(some), kinds, st.lists(content, max_size=2))
    odd = st.sampled_from([None, 0, 3, "a", "", {3}, [3], [[]], b"a"]).map(constant)
    every = st.just(constant("all"))
    return st.fixed_dictionaries(
        {},
        optional={
            "allowed_special": every | several | odd,
            "disallowed_special": every | several | odd,
        },
    )


def some_text(name: str) -> st.SearchStrategy[Any]:
    odd = st.sampled_from([None, 3, b"a b", ["a b"]])
    return texts(added=contents(encoding(name)), surrogates=True, max_size=200) | odd


def some_batch(name: str) -> st.SearchStrategy[Made]:
    rows = st.lists(some_text(name), max_size=3)
    several = st.builds(lambda kind, some: lambda: kind(some), st.sampled_from([list, iter]), rows)
    return several | st.sampled_from([None, 3, "a b"]).map(constant)


def threads() -> st.SearchStrategy[dict[str, Made]]:
    return st.fixed_dictionaries(
        {}, optional={"num_threads": st.sampled_from([1, 2, 0, None, "a"]).map(constant)}
    )


def arguments(name: str, method: str) -> st.SearchStrategy[tuple[list[Made], dict[str, Made]]]:
    """Positional and named arguments for a method that encodes."""
    first = some_batch(name) if method.endswith("batch") else some_text(name).map(constant)
    named: st.SearchStrategy[dict[str, Made]] = st.just({})
    if method.endswith("batch"):
        named = threads()
    if "ordinary" not in method:
        named = st.builds(lambda one, two: one | two, named, specials(name))
    return st.tuples(first.map(lambda made: [made]), named)


ENCODES = ("encode", "encode_ordinary", "encode_to_numpy", "encode_batch", "encode_ordinary_batch")
METHODS = {
    name
    for name, value in vars(tiktoken.Encoding).items()
    if callable(value) and not name.startswith("_")
}


def test_all_other_methods_are_tiktokens() -> None:
    assert {*ENCODES} < METHODS
    for name in METHODS - {*ENCODES, "decode_with_offsets"}:
        assert getattr(TokparEncoding, name) is getattr(tiktoken.Encoding, name)


def assert_same(name: str, method: str, given_: list[Made], named: dict[str, Made]) -> None:
    def call(target: Any) -> object:
        some = {key: make() for key, make in named.items()}
        return outcome(lambda: getattr(target, method)(*[make() for make in given_], **some))

    expected = call(encoding(name))
    for view in views(name):
        before = view.tokpar_calls
        assert call(view) == expected
        allowed = named.get("allowed_special", constant(()))()
        is_left = isinstance(allowed, (set, frozenset)) and "" in allowed  # "" matches everywhere
        if isinstance(expected, list) and expected and not is_left:
            wanted = len(expected) if method.endswith("batch") else 1
            assert view.tokpar_calls - before == wanted, "tiktoken encoded a text"


@pytest.mark.ids
@pytest.mark.parametrize("method", ENCODES)
@divided(len(ENCODES))
@given(data=st.data(), name=st.sampled_from(ENCODINGS))
def test_a_public_method_gives_what_tiktoken_gives(
    method: str, data: st.DataObject, name: str
) -> None:
    assert_same(name, method, *data.draw(arguments(name, method)))


ODD, EOT = "odd specials", "<|endoftext|>"
ENDS = {"disallowed_special": lambda: iter([EOT])}
NOTHING = {"disallowed_special": lambda: iter([])}


@pytest.mark.ids
@pytest.mark.parametrize(
    ("name", "method", "text", "named"),
    [
        ("cl100k_part", "encode", "a \ud83d\ude00 b", {}),
        ("cl100k_part", "encode_to_numpy", "<|endoftext|>\ud800", {}),
        ("cl100k_part", "encode_to_numpy", "a b", {}),
        (ODD, "encode", "a\ud800", {"allowed_special": lambda: {"\ufffd"}}),
        (ODD, "encode", "a\ud83e\udee0", {"allowed_special": lambda: {"🫠"}}),
        (ODD, "encode", "a\ud800", {"disallowed_special": lambda: {"\ufffd"}}),
        ("cl100k_part", "encode", f"a{EOT}", ENDS),
        ("cl100k_part", "encode_to_numpy", f"a{EOT}", ENDS),
        ("cl100k_part", "encode_batch", [f"a{EOT}"], ENDS),
        ("cl100k_part", "encode", "a", NOTHING),
        ("cl100k_part", "encode", "", NOTHING),
        ("cl100k_part", "encode_batch", ["a", ""], NOTHING),
        ("cl100k_part", "encode_batch", ["a", None, f"a{EOT}"], {}),
        ("cl100k_part", "encode_ordinary_batch", ["a", b"a"], {}),
    ],
)
def test_a_call_that_is_easily_got_wrong_gives_what_tiktoken_gives(
    name: str, method: str, text: Any, named: dict[str, Made]
) -> None:
    assert_same(name, method, [constant(text)], named)


@pytest.mark.parametrize("name", ENCODINGS)
def test_what_can_be_read_is_what_the_original_has(name: str) -> None:
    own = encoding(name)
    names = {n for n in [*dir(own), *vars(own)] if not n.startswith("__")} - METHODS
    assert {"name", "n_vocab", "eot_token", "special_tokens_set", "_core_bpe"} <= names
    for view in views(name):
        for attribute in names:
            if not callable(getattr(own, attribute)):
                assert getattr(view, attribute) == getattr(own, attribute), attribute
        assert repr(view) == repr(own)
        assert view._core_bpe is own._core_bpe


# -------------------------------------------------------------------------- the object itself


def test_it_is_an_instance_of_the_class_of_the_original() -> None:
    class Named(tiktoken.Encoding):
        def decode(self, tokens: Any, errors: str = "replace") -> str:
            return super().decode(tokens, errors).upper()

    own, other = again(encoding("cl100k_part"), Named), again(encoding("o200k_part"), Named)
    view = tokpar.as_tiktoken(own, smallest_text=1)
    assert isinstance(view, Named)
    assert type(view) is type(tokpar.as_tiktoken(other)) is not Named
    assert type(view).__qualname__ == Named.__qualname__
    assert (type(view).__module__, type(view).__doc__) == (Named.__module__, Named.__doc__)
    assert view.decode(view.encode("a b")) == "A B"
    assert view.tokpar_calls == 1
    assert type(views("cl100k_part")[0]) is type(views("o200k_part")[0])
    assert type(views("cl100k_part")[0]).__name__ == "Encoding"


def test_copies_and_pickles_are_such_objects_again() -> None:
    own = again(encoding("cl100k_part"))
    cutting = tokpar.as_tiktoken(own, strategy="cut", chunk_chars=5, executor="serial")
    for view in (tokpar.as_tiktoken(own, smallest_text=7), cutting):
        for twin in (copy.copy(view), copy.deepcopy(view), pickle.loads(pickle.dumps(view))):
            assert type(twin) is type(view)
            assert twin.tokpar_calls == 0
            assert twin.encode(LONG) == own.encode(LONG)
            assert twin.encode("a b") == own.encode("a b")
            assert twin.tokpar_calls == (1 if view is not cutting else 2)
        assert vars(copy.copy(view)._tokpar_original()) is vars(own)
    assert "__reduce_ex__" not in {n for cls in type(cutting).__mro__[:-1] for n in vars(cls)}


# ----------------------------------------------------------------------- which way is taken


@pytest.mark.ids
@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part"])
def test_long_texts_are_encoded_in_parallel_and_short_ones_by_tiktoken(name: str) -> None:
    text, own = LONG * 40, encoding(name)
    with tokpar.Encoder(own) as encoder:
        assert encoder.encode(text).seams, "a text without seams shows nothing"
        view = tokpar.as_tiktoken(own, smallest_text=encoder.smallest_split)
        assert view.encode("short " * 99) == own.encode("short " * 99)
        assert view.tokpar_calls == 0
        assert view.encode(text) == own.encode(text)
        assert view.encode_ordinary(text) == own.encode_ordinary(text)
        assert view.encode_to_numpy(text).tolist() == own.encode(text)
        marked = text + "<|endoftext|>" + text
        allowed = {"<|endoftext|>"}
        assert view.encode(marked, allowed_special=allowed) == own.encode(
            marked, allowed_special=allowed
        )
        assert view.tokpar_calls == 4
        rows = ["a", text, "b" * 9, marked]
        assert view.encode_ordinary_batch(rows) == own.encode_ordinary_batch(rows)
        assert view.tokpar_calls == 8
        got, expected = (outcome(lambda o=o: o.encode_batch(rows)) for o in (view, own))
        assert got == expected
        assert "disallowed special token" in str(got)


def test_short_texts_of_a_batch_go_through_tokpar() -> None:
    own = again(encoding("cl100k_part"))
    view = tokpar.as_tiktoken(own)
    rows = [f"{LONG[:200]} {k}" for k in range(30)]
    for calls in (30, 60, 90):
        assert view.encode_batch(rows) == own.encode_batch(rows)
        assert view.tokpar_calls == calls
    assert view.encode_batch(rows[:2]) == own.encode_batch(rows[:2])
    assert view.tokpar_calls == 92
    assert view.encode_batch([]) == view.encode_ordinary_batch([]) == []


def test_what_tiktoken_fails_on_gets_tiktokens_error(monkeypatch: pytest.MonkeyPatch) -> None:
    view = tokpar.as_tiktoken(encoding("cl100k_part"), smallest_text=1)

    def failing(*_: object) -> Any:
        raise EngineError("planted", 0, 1)

    path = view._tokpar
    object.__setattr__(path, "encode_batch", failing)
    assert (
        view.encode("a b") == view.encode_ordinary("a b") == encoding("cl100k_part").encode("a b")
    )
    assert view.encode_to_numpy("a b").tolist() == encoding("cl100k_part").encode("a b")
    assert view.encode_batch(["a b"]) == view.encode_ordinary_batch(["a b"])
    assert view.tokpar_calls == 0


# -------------------------------------------------------------------- threads and processes


def test_several_threads_use_one_view_and_every_text_is_counted() -> None:
    own = again(encoding("cl100k_part"))
    view = tokpar.as_tiktoken(own, smallest_text=1)
    rows = [f"{LONG[k : k + 300]} <|endoftext|> {k}" for k in range(200)]
    settings: list[dict[str, Any]] = [{"allowed_special": "all"}, {"disallowed_special": ()}]

    def encode(k: int) -> bool:
        return view.encode(rows[k], **settings[k % 2]) == own.encode(rows[k], **settings[k % 2])

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(encode, range(200)))
    assert view.tokpar_calls == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_view_works_on_in_a_forked_child() -> None:
    code = """
        import os, sys, warnings
        warnings.simplefilter("ignore")
        import tokpar
        from tests.support.tiktoken_views import LONG, encoding
        own = encoding("cl100k_part")
        view = tokpar.as_tiktoken(own)
        text, rows = LONG * 10, [LONG[:500] + str(k) for k in range(50)]
        def right():
            return view.encode(text) == own.encode(text) and view.encode_batch(
                rows) == own.encode_batch(rows)
        assert right() and view.tokpar_calls == 51
        child = os.fork()
        if child == 0:
            os._exit(0 if right() and view.tokpar_calls == 102 else 1)
        assert os.waitpid(child, 0)[1] == 0
        assert right()
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], timeout=120, cwd=ROOT, check=False
    )
    assert done.returncode == 0


# --------------------------------------------------------------------------------- refusals


def test_an_encoding_with_an_encode_of_its_own_is_refused() -> None:
    class Own(tiktoken.Encoding):
        def encode(self, text: str, **options: Any) -> list[int]:
            return []

    made = again(encoding("cl100k_part"), Own)
    with pytest.raises(OptionError, match=r"Own has its own encode; use the encoding itself$"):
        tokpar.as_tiktoken(made)
    replaced = again(encoding("cl100k_part"))
    replaced.encode_batch = lambda *given_: []
    with pytest.raises(OptionError, match="encode_batch of this encoding object was replaced"):
        tokpar.as_tiktoken(replaced)
