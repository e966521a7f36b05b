"""`python -m tests.recipes.trace_of_encode`: what one call passes through."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import needs_below_one, needs_kernel
from tests.recipes.trace_of_encode import documentation, main, table, trace, traces
from tests.support.paths import DEFAULT

MOST_FILES, MOST_FUNCTIONS = 14, 50
ONE = """
def planted(other, count):
    return [other(k) for k in range(count)]

def not_called():
    return 0
"""
TWO = """
class Planted:
    def method(self, k):
        return sorted([3, 1, 2], key=self.key)[0] + k

    def key(self, k):
        return k
"""


def module_of(source: str, path: Path) -> ModuleType:
    path.write_text(source, encoding="utf-8")
    module = ModuleType(path.stem)
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


@pytest.fixture
def planted(tmp_path: Path) -> Callable[[], object]:
    one, two = module_of(ONE, tmp_path / "one.py"), module_of(TWO, tmp_path / "two.py")
    return lambda: one.planted(two.Planted().method, 5)


def test_a_trace_counts_planted_functions_and_the_switches_between_their_files(
    planted: Callable[[], object], tmp_path: Path
) -> None:
    found = trace(planted, tmp_path)
    assert found.files == {"one.py": ["planted"], "two.py": ["Planted.method", "Planted.key"]}
    assert found.calls == {
        ("one.py", "planted"): 1,
        ("two.py", "Planted.method"): 5,
        ("two.py", "Planted.key"): 15,
    }
    assert found.switches == 5  # the first call comes from no file of the package
    assert "| `planted` | 2 | 3 | 5 | 21 |" in table({"planted": found})


def test_a_trace_counts_functions_in_threads_that_the_call_starts(
    planted: Callable[[], object], tmp_path: Path
) -> None:
    def in_a_thread() -> None:
        thread = threading.Thread(target=planted)
        thread.start()
        thread.join()

    assert trace(in_a_thread, tmp_path) == trace(planted, tmp_path)


def test_a_trace_leaves_no_profiler_behind(tmp_path: Path) -> None:
    before = sys.getprofile()
    with pytest.raises(ZeroDivisionError):
        trace(lambda: 1 // 0, tmp_path)
    assert sys.getprofile() is before


def test_the_three_calls_of_an_encoder_are_traced() -> None:
    whole, chunked, batch, _ = traces("default", documentation()).values()
    for each in (chunked, batch):
        assert "encode_batch" in each.files["pipeline.py"]
    assert "Encoder.encode" in whole.files["encoder.py"]
    assert "Encoder.encode_batch" in batch.files["encoder.py"]
    assert len(chunked.files) > len(whole.files)


@needs_below_one
@needs_kernel
def test_a_warm_call_passes_through_few_files_and_functions() -> None:
    text = "A text of some words. " * 20_000  # the cache knows all of it after few calls
    whole = traces("default", text)["encode(text)"]
    assert len(whole.files) <= MOST_FILES
    assert len(whole.calls) <= MOST_FUNCTIONS


def test_the_command_prints_a_table_and_the_functions(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("A text of some words. " * 3000, encoding="utf-8")
    main(["--text", str(path), "--list"])
    printed = capsys.readouterr().out
    assert printed.startswith("| call, warm | files | functions | switches | calls |")
    assert "  encoder.py: Encoder.encode," in printed


@needs_below_one
@needs_kernel
@pytest.mark.parametrize("kind", ["file", "object"])
def test_a_warm_call_with_a_tokenizer_passes_through_few_files_and_functions(kind: str) -> None:
    from tokenizers import Tokenizer

    source = Tokenizer.from_file(str(DEFAULT)) if kind == "object" else str(DEFAULT)
    kept, _, _, call = traces(source, documentation()[:90_000]).values()
    assert len(kept.files) <= MOST_FILES
    assert len(kept.calls) <= MOST_FUNCTIONS
    assert len(call.files) <= 18
    assert len(call.calls) <= 60
