"""`tokpar.patch_transformers` and `python -m tokpar.run`."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tokpar
from tests.support.hf_sources import fresh, original
from tokpar.integrations import patch

pytestmark = pytest.mark.compiled_at_once

LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字! " * 90


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    fresh("left").save_pretrained(tmp_path / "saved")
    return tmp_path / "saved"


@pytest.fixture(autouse=True)
def _undone() -> Iterator[None]:
    pytest.importorskip("transformers", reason="transformers is missing")
    yield
    if patch._active is not None:
        patch._active.undo()


def is_accelerated(tokenizer: Any) -> bool:
    return hasattr(type(tokenizer), "tokpar_calls")


def test_from_pretrained_returns_accelerated_tokenizers_until_it_is_undone(saved: Path) -> None:
    from transformers import AutoTokenizer, PreTrainedTokenizerFast

    before = vars(AutoTokenizer)["from_pretrained"]
    applied = tokpar.patch_transformers(smallest_text=10)
    for kind in (AutoTokenizer, PreTrainedTokenizerFast):
        tokenizer = kind.from_pretrained(saved)
        assert is_accelerated(tokenizer)
        assert isinstance(tokenizer, PreTrainedTokenizerFast)
        assert tokenizer(LONG)["input_ids"] == original("left")(LONG)["input_ids"]
        assert tokenizer("short")["input_ids"] == original("left")("short")["input_ids"]
        assert tokenizer.tokpar_calls == 1
    applied.undo()
    assert vars(AutoTokenizer)["from_pretrained"] is before
    assert "from_pretrained" not in vars(PreTrainedTokenizerFast)
    for kind in (AutoTokenizer, PreTrainedTokenizerFast):
        assert not is_accelerated(kind.from_pretrained(saved))
    assert tokenizer(LONG)["input_ids"] == original("left")(LONG)["input_ids"]


def test_a_tokenizer_that_cannot_be_followed_is_returned_as_it_is_with_one_line(
    saved: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from transformers import PreTrainedTokenizerFast

    class Own(PreTrainedTokenizerFast):
        def _encode_plus(self, *given: Any, **named: Any) -> Any:
            return "own"

    patch._log_once.cache_clear()
    with caplog.at_level(logging.WARNING, "tokpar"), tokpar.patch_transformers():
        for _ in range(2):
            tokenizer = Own.from_pretrained(saved)
    assert type(tokenizer) is Own
    assert tokenizer("a") == "own"
    assert ["Own is left as it is" in said for said in of_tokpar(caplog)] == [True]


def of_tokpar(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What tokpar logged; transformers logs, too."""
    return [each.getMessage() for each in caplog.records if each.name == "tokpar"]


# --------------------------------------------------------------------------------- tokpar.run


PROGRAM = """
import sys
from transformers import AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
ids = tokenizer(sys.argv[2] * 150)["input_ids"]
print(len(ids), getattr(tokenizer, "tokpar_calls", "own"), __name__, sys.argv[0])
"""


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-m", "tokpar.run", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_a_program_runs_unchanged_with_accelerated_tokenizers(saved: Path, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM, encoding="utf-8")
    text = "The quick brown fox, again. "
    count = len(original("left")(text * 150)["input_ids"])
    done = run(str(program), str(saved), text)
    assert done.stdout.split() == [str(count), "1", "__main__", str(program)], done.stderr


def run_beside(transformers: str, program: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run a program by `tokpar.run` where `import transformers` executes this code."""
    (tmp_path / "transformers.py").write_text(transformers, encoding="utf-8")
    if not transformers:
        hides = "import sys; sys.modules['transformers'] = None"
        (tmp_path / "sitecustomize.py").write_text(hides, encoding="utf-8")
    (tmp_path / "program.py").write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "tokpar.run", str(tmp_path / "program.py"), "an argument"]
    path = os.pathsep.join([str(tmp_path), *sys.path])
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": path}
    )


@pytest.mark.parametrize(
    ("transformers", "said"),
    [
        ("", "pip install 'transformers>=4.46'"),
        ("def :", "SyntaxError"),
        ("__version__ = '4.45.2'\nclass PreTrainedTokenizerFast: pass", "4.46 or later, 4.45.2"),
        ("__version__ = '9.0.0'", "cannot import name 'PreTrainedTokenizerFast'"),
        ("raise RuntimeError('torn')", "RuntimeError: torn"),
    ],
)
def test_a_program_runs_where_transformers_is_missing_or_too_old_and_one_line_says_so(
    transformers: str, said: str, tmp_path: Path
) -> None:
    program = "import sys; print(sys.argv[1:], __name__)"
    done = run_beside(transformers, program, tmp_path)
    assert done.stdout == "['an argument'] __main__\n", done.stderr
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


def test_without_transformers_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['transformers'] = None\nimport tokpar\n"
        "for call in (lambda: tokpar.as_hf(3), tokpar.patch_transformers):\n"
        "    try:\n        call()\n"
        "    except ImportError as error:\n        print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=240)
    assert done.stdout.count("pip install 'transformers>=4.46'") == 2, done.stderr


# --------------------------------------------------------------------------------- faults of ours

FAULTS = (ImportError("no name 'X'"), KeyError("k"), AttributeError("_x"))


FAULTY = ("require_release", "_rebuild_view", "Acceleration")


@pytest.mark.parametrize(("name", "fault"), [*zip(FAULTY, FAULTS, strict=True)], ids=str)
def test_a_fault_of_ours_leaves_the_tokenizer_as_transformers_made_it(
    name: str, fault: Exception, saved: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from transformers import AutoTokenizer

    from tokpar.integrations import hf, hf_release

    def fail(*given: Any, **named: Any) -> None:
        raise fault

    patch._log_once.cache_clear()
    with caplog.at_level(logging.WARNING, "tokpar"), tokpar.patch_transformers():
        with pytest.MonkeyPatch.context() as planted:
            planted.setattr(hf_release if name == "require_release" else hf, name, fail)
            tokenizer = AutoTokenizer.from_pretrained(saved)
        assert is_accelerated(AutoTokenizer.from_pretrained(saved))
    assert not is_accelerated(tokenizer)
    assert tokenizer(LONG)["input_ids"] == original("left")(LONG)["input_ids"]
    told = [said for said in caplog.messages if "is left as it is: " in said]
    assert len(told) == 1, "AutoTokenizer calls the method of a class, and both are patched"
    assert str(fault) in told[0]


def test_a_transformers_that_cannot_be_patched_is_left_as_it_is(
    saved: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The second method is not what tokpar expects."""
    from transformers import AutoTokenizer

    own, seen = patch._wrap_from_pretrained, list[int]()

    def fail(*given: Any) -> Any:
        seen.append(1)
        if len(seen) == 2:
            raise AttributeError("_x")
        return own(*given)

    with caplog.at_level(logging.WARNING, "tokpar"), pytest.MonkeyPatch.context() as planted:
        planted.setattr(patch, "_wrap_from_pretrained", fail)
        with tokpar.patch_transformers() as applied:
            assert not applied.active
            assert not is_accelerated(AutoTokenizer.from_pretrained(saved))
    assert ["transformers is left as it is" in said for said in caplog.messages] == [True]
    with tokpar.patch_transformers():
        assert is_accelerated(AutoTokenizer.from_pretrained(saved))
