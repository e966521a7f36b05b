"""`tokpar.patch_tokenizers`, and `python -m tokpar.run` of a program that loads a tokenizer."""

from __future__ import annotations

import logging
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from tokenizers import Tokenizer

import tokpar
from tests.support.hf_values import outcome
from tests.support.paths import ROOT, VOCAB
from tokpar import OptionError
from tokpar.integrations import patch_tokenizers as patch

FILE = VOCAB / "llama_style.json"
TEXT = "The quick brown fox jumps over the lazy dog."
WAYS: dict[str, Callable[[], Tokenizer]] = {
    "from_file": lambda: Tokenizer.from_file(str(FILE)),
    "from_str": lambda: Tokenizer.from_str(FILE.read_text(encoding="utf-8")),
    "from_buffer": lambda: Tokenizer.from_buffer(FILE.read_bytes()),
}


@pytest.fixture(autouse=True)
def _undone() -> Iterator[None]:
    yield
    if patch._active is not None:
        patch._active.undo()


def is_accelerated(found: Any) -> bool:
    return "tokpar_texts" in vars(found)


def test_every_way_to_load_returns_an_accelerated_object_until_undo() -> None:
    before = {name: vars(Tokenizer)[name] for name in patch.NAMES}
    with tokpar.patch_tokenizers() as patched:
        assert patched.active
        found = {name: make() for name, make in WAYS.items()}
        kept = Tokenizer.from_file
    assert not patched.active
    assert [name for name in found if not is_accelerated(found[name])] == []
    assert not is_accelerated(kept(str(FILE))), "a function that was kept ends with the patch"
    assert not any(is_accelerated(make()) for make in WAYS.values())
    assert {name: vars(Tokenizer)[name] for name in patch.NAMES} == before
    assert type(found["from_str"]) is Tokenizer
    assert found["from_str"].encode(TEXT).ids == WAYS["from_str"]().encode(TEXT).ids


def test_repositories_are_loaded_by_the_own_method_with_its_arguments() -> None:
    made, asked = WAYS["from_file"](), []

    def from_pretrained(*args: Any, **kwargs: Any) -> Tokenizer:
        asked.append((args, kwargs))
        return made

    with mock.patch.object(Tokenizer, "from_pretrained", staticmethod(from_pretrained)):
        with tokpar.patch_tokenizers():
            assert Tokenizer.from_pretrained("some/model", revision="main") is made
        assert is_accelerated(made)
        assert asked == [(("some/model",), {"revision": "main"})]


@pytest.mark.parametrize("package", ["transformers.models.x", "tokpar.adapters.y", "tokpar_pure"])
def test_transformers_and_tokpar_get_plain_objects(package: str) -> None:
    module = types.ModuleType(package)
    exec("def load(cls, path): return cls.from_file(path)", vars(module))
    with tokpar.patch_tokenizers():
        assert not is_accelerated(vars(module)["load"](Tokenizer, str(FILE)))
        loaded = tokpar.load(FILE)
    assert not is_accelerated(loaded.engine)  # type: ignore[attr-defined]


def test_errors_of_loading_are_those_of_the_class() -> None:
    wrong: list[Callable[[], object]] = [
        Tokenizer.from_file,
        lambda: Tokenizer.from_file("no such file"),
        lambda: Tokenizer.from_str("{}"),
        lambda: Tokenizer.from_str(3),
        lambda: Tokenizer.from_buffer(b"[]", None),
    ]
    expected = [outcome(call) for call in wrong]
    with tokpar.patch_tokenizers():
        wrong[0] = Tokenizer.from_file
        assert [outcome(call) for call in wrong] == expected


def test_what_tokpar_fails_on_is_returned_plain_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    failing = mock.patch.object(patch, "as_tokenizers", side_effect=ValueError("a fault"))
    with failing, caplog.at_level(logging.WARNING, "tokpar"), tokpar.patch_tokenizers():
        found = WAYS["from_file"]()
    assert not is_accelerated(found)
    assert caplog.messages == ["a tokenizer of tokenizers is left as it is: ValueError: a fault"]


def test_a_second_patch_is_the_first_one_or_an_error() -> None:
    first = tokpar.patch_tokenizers(workers=1)
    assert tokpar.patch_tokenizers(workers=1) is first
    with pytest.raises(OptionError, match="patched already, with"):
        tokpar.patch_tokenizers()
    ours = vars(Tokenizer)["from_str"]
    Tokenizer.from_str = staticmethod(print)  # type: ignore[method-assign, assignment]
    with pytest.raises(OptionError, match="from_str was replaced again"):
        first.undo()
    Tokenizer.from_str = ours  # type: ignore[method-assign]
    first.undo()
    with pytest.raises(OptionError, match="undone before"):
        first.undo()
    with pytest.raises(OptionError, match="no_such_option"):
        tokpar.patch_tokenizers(no_such_option=1)


def test_a_program_that_loads_its_tokenizer_is_run_with_the_patch(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from tokenizers import Tokenizer\n"
        f"found = Tokenizer.from_file({str(FILE)!r})\n"
        "print(sorted(vars(found))[:2], len(found.encode('The quick brown fox').ids))\n"
    )
    command = [sys.executable, "-m", "tokpar.run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    count = len(WAYS["from_file"]().encode("The quick brown fox").ids)
    assert done.stdout == f"['__reduce_ex__', '_tokpar'] {count}\n", done.stderr
