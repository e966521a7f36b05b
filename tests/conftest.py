"""Hypothesis profiles and the optional full vocabularies and corpora.

TOKPAR_PROFILE        quick (12 examples, default), dev (100), ci (300, default when CI=true),
                      deep (20000); only quick leaves out cases of exhaustive parametrisations
TOKPAR_DEEP_EXAMPLES  another number of examples for the profile deep
TOKPAR_VOCAB          directory with deepseek.json, bert.json, cl100k_base.tiktoken, ...
TOKPAR_CORPORA        directory with *.jsonl files whose rows have a "text"
"""

from __future__ import annotations

import gc
import importlib.util
import os
import random
import re
import signal
import sys
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from itertools import cycle
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal import entropy

from tests.support.optional_data import corpus as corpus
from tests.support.optional_data import full_vocabularies
from tests.support.profiles import EXAMPLES, chosen_profile, is_quick
from tests.support.profiles import at_most as at_most
from tests.support.profiles import cases as cases
from tests.support.profiles import divided as divided
from tests.support.profiles import drawn as drawn
from tokpar.process import kernel_modules
from tokpar.process.disk_cache import directory as directory_of_results

os.environ.pop("COLUMNS", None)  # of pytest-xdist: output that is captured has no width
for profile, count in EXAMPLES.items():
    settings.register_profile(
        profile,
        max_examples=count,
        deadline=None,
        print_blob=True,
        # tokenizers and long texts are slow to draw on a busy machine, and that is no finding
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
settings.load_profile(chosen_profile())

# before each example hypothesis seeds the generator of numpy that nobody draws from, and puts back
# its state afterwards, which takes as long as drawing a short text; unless it is known already
entropy.NP_RANDOM = random.Random()

# or the vocabularies that tests keep are gone through again and again, which takes a fifteenth
gc.set_threshold(50_000, 20, 20)

# tiktoken keeps the first file that it reads at a path, and would not see that a test wrote another
os.environ["TIKTOKEN_CACHE_DIR"] = ""

# or each of the many processes compiles all that it imports, and the tests with their assertions
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


FIRST = "tests/proofs/test_coq.py"
"""Begins with the longest test of all, which would be the last to end."""

_IS_CHOSEN = pytest.StashKey[bool]()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In quick, a test marked `each_value` runs for each value of each of its parametrisations;
    the other profiles run it for each combination of values."""
    items.sort(key=lambda item: not item.nodeid.startswith(FIRST))
    if config.stash.get(_IS_CHOSEN, False):  # tests and plugins have this hook, and it runs twice
        return
    config.stash[_IS_CHOSEN] = True
    if not is_quick():
        for item in items:
            item.add_marker(pytest.mark.timeout(0))  # deeper runs draw for hours
        return
    of_test: dict[str, list[pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("each_value"):
            of_test.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out = {id(item) for group in of_test.values() for item in not_needed(group)}
    config.hook.pytest_deselected(items=[item for item in items if id(item) in left_out])
    items[:] = [item for item in items if id(item) not in left_out]


def not_needed(items: list[pytest.Item]) -> list[pytest.Item]:
    """The items of a test without a few in which each value occurs, the rarest combined first."""
    values = [values_of(item) for item in items]
    missing, times = set[object]().union(*values), Counter[object]()
    kept = set[int]()
    while missing:
        best = max(
            range(len(items)),
            key=lambda k: (len(values[k] & missing), -sum(times[value] for value in values[k])),
        )
        missing -= values[best]
        times.update(values[best])
        kept.add(best)
    return [item for k, item in enumerate(items) if k not in kept]


def values_of(item: pytest.Item) -> set[object]:
    """One value for each parametrisation of the item; those with several names give a tuple."""
    callspec = getattr(item, "callspec", None)
    given: dict[str, object] = dict(callspec.params) if callspec else {}
    found: set[object] = set()
    for mark in item.iter_markers("parametrize"):
        names = mark.args[0].split(",") if isinstance(mark.args[0], str) else mark.args[0]
        names = tuple(name.strip() for name in names)
        found.add((names, *(id(given.pop(name, None)) for name in names)))
    return found | {(name, id(value)) for name, value in given.items()}


def pytest_collection_finish() -> None:
    freeze()


def freeze() -> None:
    """The collector no longer goes through what is there now: the tests themselves, modules,
    vocabularies that are kept. A `gc.collect` of a test took half a second for it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def kept_by_files_before(request: pytest.FixtureRequest) -> Iterator[None]:
    freeze()
    yield
    forget(request.module)


def forget(module: ModuleType) -> None:
    """Empties the caches of a file of tests, and of drawn tokenizers: one keeps 6 MB of tables
    or more, and what is frozen is not collected if it is in a cycle, as adapters are."""
    own = [each for each in vars(module).values() if is_of(module, each)]
    if "tests.support.tokenizers_drawn" in sys.modules:
        own.append(sys.modules["tests.support.tokenizers_drawn"].build)
    for each in own:
        if hasattr(each, "cache_clear"):
            each.cache_clear()


def is_of(module: ModuleType, each: object) -> bool:
    """True for a function that the module defines."""
    return getattr(each, "__module__", "") == module.__name__


needs_kernel = pytest.mark.skipif(kernel_modules.CALL is None, reason="the kernel is not compiled")
BELOW_ONE = "needs the package tokenizers below 1.0"
needs_below_one = pytest.mark.skipif(
    importlib.util.find_spec("tokenizers") is None
    or importlib.util.find_spec("tokenizers.models") is None,
    reason=BELOW_ONE,
)
"""For properties: one that skips while it draws prints a "Failing explicit example"."""

# a shell that starts the tests in the background ignores Ctrl-C for them and all their children
signal.signal(signal.SIGINT, signal.default_int_handler)


_LEFT_OUT = {
    r"cannot import name .* from 'tokenizers'|No module named 'tokenizers\.": "it builds "
    "tokenizers as the package tokenizers below 1.0 does",
    r"No module named '(tokpar_(engines|example|sentencepiece|vllm)|prometheus_client)'": "it is "
    "about a distribution of its own: pip install its folder in plugins/ with the extra [test]",
}
"""Errors of an import -> why the file of tests is skipped."""


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """A file of tests that builds tokenizers by the API of tokenizers below 1.0 is skipped beside
    1.x, which is another library under the same name. So is that of a plugin that is missing."""
    report = yield
    if report.failed:
        for error, why in _LEFT_OUT.items():
            if re.search(error, str(report.longrepr)):
                report.outcome = "skipped"
                report.longrepr = (str(collector.path), 0, f"Skipped: {why}")
    return report


def below_one() -> Any:
    """The package tokenizers, or the test is skipped if there is none, or 1.x."""
    pytest.importorskip("tokenizers.models", reason=BELOW_ONE)
    return pytest.importorskip("tokenizers")


@pytest.fixture
def few_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks of the conformance kit look at a twelfth of their texts: for tests of how it is called
    and what it says, with parts that other tests check with all of them."""
    from tokpar_conformance import checks

    failure_of = checks.failure_of
    monkeypatch.setattr(checks, "failure_of", lambda check, texts: failure_of(check, texts[::12]))


@pytest.fixture
def twelfths_but_for(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """A function that gets the beginning of the name of a check: in quick, each other check of the
    conformance kit looks at every twelfth text, the next check at the texts beside those."""
    from tokpar_conformance import checks

    failure_of, turn = checks.failure_of, cycle(range(12))

    def twelfths_but_for(name: str) -> None:
        def failure(check: Any, texts: Sequence[str]) -> Any:
            step = (
                slice(None) if name and check.name.startswith(name) else slice(next(turn), None, 12)
            )
            return failure_of(check, texts[step])

        if is_quick():
            monkeypatch.setattr(checks, "failure_of", failure)

    return twelfths_but_for


@pytest.fixture
def twelfths_in_quick(twelfths_but_for: Callable[[str], None]) -> None:
    """In quick each check of the conformance kit looks at every twelfth text."""
    twelfths_but_for("")


@pytest.fixture(autouse=True)
def compiled_calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the compiled call of a tokenizer when it is loaded, for the tests that say so.

    Without a mark a test runs as a program of a user does: the engine encodes until the tables are
    made in the background."""
    if request.node.get_closest_marker("compiled_at_once"):
        monkeypatch.setattr("tokpar.compiled.compiled_build.IN_BACKGROUND", False)


@pytest.fixture(scope="session", autouse=True)
def tables_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Results on disk lie in a folder of this process, unless a test or the environment names one:
    tables that another version of the source left are no test's."""
    folder = tmp_path_factory.mktemp("tables")

    def chosen(kind: str) -> Path | None:
        return directory_of_results(kind) if "TOKPAR_CACHE" in os.environ else folder / kind

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("tokpar.process.disk_cache.directory", chosen)
        yield


@pytest.fixture
def engine_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokenizers have no compiled call."""
    monkeypatch.setattr("tokpar.process.kernel_modules.CALL", None)


@pytest.fixture(scope="session")
def full_vocab() -> Callable[[str], Path]:
    """`full_vocab("bert.json")` is the path of a full vocabulary, or skips the test."""

    def find(name: str) -> Path:
        path = full_vocabularies().get(name)
        if path is None:
            pytest.skip(f"TOKPAR_VOCAB names no directory with {name}")
        return path

    return find
