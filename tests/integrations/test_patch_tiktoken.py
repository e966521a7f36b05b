"""`tokpar.patch_tiktoken`, and `python -m tokpar.run` of a program that uses tiktoken."""

from __future__ import annotations

import copy
import logging
import pickle
import subprocess
import sys
import textwrap
import types
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import tiktoken
import tiktoken.model
import tiktoken.registry

import tokpar
from tests.support.outcomes import outcome
from tests.support.paths import ROOT
from tests.support.tiktoken_views import LONG, again, encoding
from tokpar import OptionError
from tokpar.integrations import patch_tiktoken as patch

NAME = "cl100k_base"
Get = Callable[[], Any]


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> Iterator[tiktoken.Encoding]:
    """The registered encoding, a part of it, so that nothing is downloaded."""
    made = again(encoding("cl100k_part"), name=NAME)
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, NAME, made)
    yield made
    if patch._active is not None:
        patch._active.undo()


def is_accelerated(found: Any) -> bool:
    return hasattr(type(found), "tokpar_calls")


def test_every_way_to_get_an_encoding_returns_one_accelerated_object_until_undo(
    own: tiktoken.Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = types.ModuleType("taken_before")
    exec("from tiktoken import get_encoding, encoding_for_model as of_model", vars(taken))
    monkeypatch.setitem(sys.modules, "taken_before", taken)
    before = tiktoken.get_encoding
    ways: list[Get] = [
        lambda: tiktoken.get_encoding(NAME),
        lambda: tiktoken.get_encoding(encoding_name=NAME),
        lambda: tiktoken.encoding_for_model("gpt-4"),
        lambda: tiktoken.registry.get_encoding(NAME),
        lambda: tiktoken.model.encoding_for_model("gpt-4"),
        lambda: vars(taken)["get_encoding"](NAME),
        lambda: vars(taken)["of_model"]("gpt-4"),
    ]
    applied = tokpar.patch_tiktoken()
    assert applied.active
    found = [way() for way in ways]
    assert all(each is found[0] for each in found)
    assert is_accelerated(found[0])
    assert isinstance(found[0], tiktoken.Encoding)
    assert found[0].encode(LONG) == own.encode(LONG)
    during = types.ModuleType("taken_during")
    exec("from tiktoken import get_encoding\nfrom tiktoken import get_encoding as g", vars(during))
    monkeypatch.setitem(sys.modules, "taken_during", during)
    applied.undo()
    assert not applied.active
    assert all(way() is own for way in ways)
    assert tiktoken.get_encoding is tiktoken.registry.get_encoding is before
    assert vars(during)["get_encoding"] is before
    assert vars(during)["g"](NAME) is own
    assert found[0].encode(LONG) == own.encode(LONG)


@pytest.mark.parametrize(
    "call",
    [
        lambda: tiktoken.get_encoding("no such encoding"),
        lambda: tiktoken.get_encoding(3),
        lambda: tiktoken.get_encoding(),
        lambda: tiktoken.get_encoding(NAME, NAME),
        lambda: tiktoken.encoding_for_model("no such model"),
        lambda: tiktoken.encoding_for_model(None),
    ],
)
def test_errors_are_those_of_tiktoken(call: Get) -> None:
    expected = outcome(call)
    with tokpar.patch_tiktoken():
        assert outcome(call) == expected
    assert isinstance(expected, tuple)
    assert issubclass(expected[0], Exception)


def test_copies_and_pickles_are_made_as_tiktoken_makes_them(own: tiktoken.Encoding) -> None:
    with tokpar.patch_tiktoken():
        found = tiktoken.get_encoding(NAME)
        blob = pickle.dumps(found)
        assert len(blob) < 1000, "a registered encoding is pickled by its name"
        for twin in (copy.copy(found), copy.deepcopy(found), pickle.loads(blob)):
            assert type(twin) is type(found)
            assert twin.encode(LONG) == own.encode(LONG)
        assert type(pickle.loads(pickle.dumps(own))) is tiktoken.Encoding
    assert is_accelerated(pickle.loads(blob))


def test_an_encoding_that_is_registered_anew_is_returned_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tokpar.patch_tiktoken():
        tiktoken.get_encoding(NAME)
        other = again(encoding("o200k_part"), name=NAME)
        monkeypatch.setitem(tiktoken.registry.ENCODINGS, NAME, other)
        assert tiktoken.get_encoding(NAME).encode(LONG) == other.encode(LONG)


def test_a_second_patch_is_the_first_one_and_other_options_are_refused() -> None:
    applied = tokpar.patch_tiktoken(smallest_text=10)
    assert tokpar.patch_tiktoken(smallest_text=10) is applied
    with pytest.raises(OptionError, match=r"tiktoken is patched already, with .*: undo"):
        tokpar.patch_tiktoken()
    applied.undo()
    with pytest.raises(OptionError, match="this patch was undone before"):
        applied.undo()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"smallest_text": -1}, "smallest_text must be"),
        ({"smallest_text": "8"}, "smallest_text must be"),
        ({"workers": 0}, "workers must be at least 1"),
        ({"strategy": "no such"}, "no such"),
        ({"chunk": 3}, "patch_tiktoken has no option 'chunk'"),
    ],
)
def test_bad_options_are_refused_and_nothing_is_patched(options: Any, said: str) -> None:
    before = tiktoken.get_encoding
    with pytest.raises((OptionError, tokpar.UnknownNameError), match=said):
        tokpar.patch_tiktoken(**options)
    assert tiktoken.get_encoding is before


def test_a_change_over_the_patch_must_be_undone_first(monkeypatch: pytest.MonkeyPatch) -> None:
    applied = tokpar.patch_tiktoken()
    with monkeypatch.context() as patched:
        patched.setattr(tiktoken, "get_encoding", lambda name: None)
        with pytest.raises(OptionError, match="get_encoding was replaced again after this patch"):
            applied.undo()
        assert applied.active
    applied.undo()


def test_a_change_below_the_patch_is_kept(
    own: tiktoken.Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = list[str]()

    def counting(name: str) -> Any:
        asked.append(name)
        return tiktoken.registry.ENCODINGS[name]

    monkeypatch.setattr(tiktoken, "get_encoding", counting)
    with tokpar.patch_tiktoken():
        assert is_accelerated(tiktoken.get_encoding(NAME))
        assert is_accelerated(tiktoken.encoding_for_model("gpt-4"))
    assert asked == [NAME]
    assert tiktoken.get_encoding is counting
    assert tiktoken.encoding_for_model("gpt-4") is own


def test_an_encoding_that_cannot_be_followed_is_returned_as_it_is_with_one_line(
    own: tiktoken.Encoding, caplog: pytest.LogCaptureFixture
) -> None:
    own.encode = lambda text: [1]
    with caplog.at_level(logging.WARNING, "tokpar"), tokpar.patch_tiktoken():
        assert [tiktoken.get_encoding(NAME) for _ in range(3)] == [own] * 3
    said = [each.getMessage() for each in caplog.records if each.name == "tokpar"]
    assert len(said) == 1
    assert f"the encoding {NAME} is left as it is: as_tiktoken cannot follow" in said[0]


def test_an_object_of_tokpar_that_was_registered_is_returned_as_it_is(
    own: tiktoken.Encoding, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tokpar.as_tiktoken(own, smallest_text=5)
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, NAME, ours)
    with tokpar.patch_tiktoken():
        assert tiktoken.get_encoding(NAME) is ours


def test_threads_get_one_object_which_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made, own_call = list[object](), tokpar.as_tiktoken

    def counting(found: object, **options: Any) -> Any:
        made.append(found)
        return own_call(found, **options)

    monkeypatch.setattr("tokpar.integrations.patch_tiktoken.as_tiktoken", counting)
    with tokpar.patch_tiktoken(), ThreadPoolExecutor(8) as pool:
        found = {*map(id, pool.map(tiktoken.get_encoding, [NAME] * 64))}
    assert len(found) == len(made) == 1


def test_tokpar_loads_an_encoding_by_its_name_while_tiktoken_is_patched(
    own: tiktoken.Encoding,
) -> None:
    with tokpar.patch_tiktoken():
        assert tokpar.encode(LONG, NAME).ids.tolist() == own.encode(LONG)


def test_a_program_gets_accelerated_encodings_by_tokpar_run(tmp_path: Path) -> None:
    program = """
        import tiktoken.registry
        from tests.support.tiktoken_views import again, encoding
        part = again(encoding("cl100k_part"), name="cl100k_base")
        tiktoken.registry.ENCODINGS["cl100k_base"] = part
        found = tiktoken.encoding_for_model("gpt-4")
        print(type(found) is tiktoken.Encoding, found.encode("a b") == part.encode("a b"))
    """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(program), encoding="utf-8")
    code = "import sys; sys.path.append('.'); from tokpar.run import main; main(sys.argv[1:])"
    command = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=ROOT)
    assert done.stdout == "False True\n", done.stderr
