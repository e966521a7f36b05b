"""One bad plugin is reported by name and owner; all others, and tokpar's own, still load."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import pytest

import tokpar
import tokpar.registry.tables as registry_module
from tests.conftest import cases
from tokpar.contract.interfaces import Merger, Splitter
from tokpar.errors import OptionError, PluginError, UnknownNameError
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.methods.cut import CutMerger
from tokpar.methods.serial import OneChunk
from tokpar.registry.hooks import (
    Command,
    ExecutorKind,
    MergerKind,
    SplitterKind,
    Strategy,
    TokenizerSource,
    hookimpl,
)
from tokpar.registry.tables import PluginRecord, Registry, build_strategy

OWN_STRATEGIES = {"auto", "cut", "lopt", "serial"}


def build(*, size: int = 3, acceptance: str = "certified") -> tuple[Splitter, Merger]:
    return OneChunk(), CutMerger()


def strategy(name: str) -> Strategy:
    return Strategy(name, True, "a paper", "none", build)


def executor(name: str) -> ExecutorKind:
    return ExecutorKind(name, lambda workers: SerialExecutor(), lambda tokenizer: True)


def offering(**hooks: Any) -> Any:
    """A plugin whose hooks return these, or call them."""
    body = {
        name: hookimpl(each if callable(each) else _returning(each)) for name, each in hooks.items()
    }
    return type("Plugin", (), body)()


def _returning(value: object) -> Any:
    def hook(self: object) -> object:
        return value

    return hook


def raising(self: object) -> list[Strategy]:
    raise RuntimeError("no licence file")


def with_argument(self: object, config: object) -> list[Strategy]:
    return []


class Forgetful:
    def tokpar_strategies(self) -> list[Strategy]:
        return [strategy("undecorated")]


PLUGINS = {
    "Good": offering(
        tokpar_strategies=[strategy("good")],
        tokpar_executors=[executor("good")],
        tokpar_splitters=[SplitterKind("good", OneChunk)],
        tokpar_mergers=[MergerKind("good", CutMerger)],
        tokpar_tokenizers=[TokenizerSource("a good one", lambda source: None)],
        tokpar_commands=[Command("good", object)],
    ),
    "Raising": offering(tokpar_strategies=raising),
    "Misspelt": offering(tokpar_strategies=[strategy("half")], tokpar_stratgies=[]),
    "WithArgument": offering(tokpar_strategies=with_argument),
    "NotAList": offering(tokpar_strategies=strategy("lonely")),
    "WrongShape": offering(tokpar_strategies=[SerialExecutor()]),
    "Numbered": offering(tokpar_commands=[Command(3, object)]),  # type: ignore[arg-type]
    "Forgetful": Forgetful(),
    "ShadowsCut": offering(tokpar_strategies=[strategy("cut"), strategy("besides")]),
    "ShadowsEncode": offering(
        tokpar_commands=[Command("encode", object), Command("besides", object)]
    ),
    "ClaimsX": offering(tokpar_executors=[executor("x")]),
    "ClaimsXToo": offering(tokpar_executors=[executor("x")]),
    "Twice": offering(tokpar_strategies=[strategy("same"), strategy("same")]),
    "Empty": offering(tokpar_strategies=[]),
}
PROBLEMS = [
    ("Raising", "RuntimeError: no licence file"),
    ("Misspelt", "unknown hook 'tokpar_stratgies'"),
    ("WithArgument", "config"),
    ("NotAList", "tokpar_strategies must return a list, got Strategy"),
    ("WrongShape", "tokpar_strategies must return Strategy objects, got SerialExecutor"),
    ("Numbered", "tokpar_commands: a name must be a str, got 3"),
    ("Forgetful", "it has no hooks; decorate"),
    ("ShadowsCut", "the strategy name 'cut' is claimed by plugin 'builtins' of tokpar and by "
     "plugin 'shadowscut' of owner-of-shadowscut"),
    ("ShadowsEncode", "the command name 'encode' is claimed by plugin 'builtins' of tokpar and by "
     "plugin 'shadowsencode' of owner-of-shadowsencode"),
    ("Twice", "the strategy name 'same' is claimed by plugin 'twice' of owner-of-twice and by"),
]  # fmt: skip


def point(name: str, value: str, owner: str | None = None) -> EntryPoint:
    found = EntryPoint(name, value, "tokpar")
    vars(found)["dist"] = SimpleNamespace(name=owner or f"owner-of-{name}", version="1.2")
    return found


@pytest.fixture(autouse=True)
def _no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOKPAR_PLUGINS", raising=False)


def loaded(*points: EntryPoint) -> Registry:
    return Registry.load(entry_points=points)


def of(kind: str) -> EntryPoint:
    """The entry point of one of the plugins above."""
    return point(kind.lower(), f"{__name__}:{kind.upper()}_PLUGIN")


globals().update({f"{name.upper()}_PLUGIN": plugin for name, plugin in PLUGINS.items()})


def record(found: Registry, name: str) -> PluginRecord:
    (only,) = [each for each in found.plugins() if each.name == name]
    return only


def test_a_good_plugin_adds_to_every_table() -> None:
    found = loaded(of("Good"))
    assert found.strategy("good").build is build
    assert found.executor_kind("good").name == "good"
    assert found.splitter_kind("good").build is OneChunk
    assert found.merger_kind("good").build is CutMerger
    assert found.command("good").load is object
    assert [each.name for each in found.tokenizer_sources()][-1] == "a good one"
    assert record(found, "good") == PluginRecord(
        "good",
        "owner-of-good",
        "1.2",
        (
            "command good",
            "executor good",
            "merger good",
            "splitter good",
            "strategy good",
            "tokenizer a good one",
        ),
        None,
    )


@pytest.mark.parametrize(("kind", "said"), PROBLEMS)
def test_a_bad_plugin_is_reported_and_the_rest_still_load(kind: str, said: str) -> None:
    found = loaded(of(kind), of("Good"))
    bad = record(found, kind.lower())
    assert bad.problem is not None
    assert said in bad.problem
    assert bad.owner == f"owner-of-{kind.lower()}"
    assert bad.provides == ()
    assert record(found, "good").problem is None
    assert {each.name for each in found.strategies()} == OWN_STRATEGIES | {"good"} | (
        {each.name for each in loaded().strategies()}
    )
    assert found.strategy("cut").build is not build


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("no_such_module_anywhere", "ModuleNotFoundError"),
        (f"{__name__}:NO_SUCH_OBJECT", "AttributeError"),
    ],
)
def test_a_plugin_that_cannot_be_imported_is_reported(value: str, said: str) -> None:
    found = loaded(point("broken", value), of("Good"))
    problem = record(found, "broken").problem
    assert problem is not None
    assert said in problem
    assert record(found, "good").problem is None


def test_a_name_that_two_third_parties_claim_belongs_to_neither() -> None:
    found = loaded(of("ClaimsX"), of("ClaimsXToo"), of("Good"))
    with pytest.raises(PluginError) as caught:
        found.executor_kind("x")
    assert "plugin 'claimsx' of owner-of-claimsx" in str(caught.value)
    assert "plugin 'claimsxtoo' of owner-of-claimsxtoo" in str(caught.value)
    assert record(found, "claimsx").problem == record(found, "claimsxtoo").problem
    assert record(found, "claimsx").problem == str(caught.value)


@pytest.mark.parametrize(
    ("limit", "names"),
    [("", set()), ("good", {"good"}), (" empty , good ,", {"empty", "good"}), ("empty", {"empty"})],
)
def test_tokpar_plugins_limits_third_parties(
    limit: str, names: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKPAR_PLUGINS", limit)
    found = loaded(of("Good"), of("Empty"), point("broken", "no_such_module_anywhere"))
    assert {each.name for each in found.plugins()} == names | {"builtins"}
    assert found.strategy("cut").name == "cut"


@pytest.mark.parametrize(("bad", "said"), PROBLEMS)
def test_an_unknown_name_lists_what_exists_and_which_plugins_are_not_loaded(
    bad: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name may be one that such a plugin was to provide."""
    told = rf"not loaded, `tokpar plugins` says why: {bad.lower()}$"
    found = loaded(of(bad), of("Good"))
    for kind in ("strategy", "executor", "splitter", "merger", "command"):
        find = getattr(found, kind if kind in ("strategy", "command") else f"{kind}_kind")
        with pytest.raises(UnknownNameError, match=f"unknown {kind} 'nope'; known: .*good.*{told}"):
            find("nope")
    monkeypatch.setattr(registry_module, "_registry", [found])
    for source, engine in (("no such/file", None), ("default", "nope")):
        with pytest.raises(UnknownNameError, match=told):
            tokpar.load(source, engine=engine)
    assert loaded(of("Good")).failed_plugins() == ""


def test_a_plugin_object_can_be_registered_by_a_program() -> None:
    found = loaded()
    found.register(PLUGINS["Good"])
    assert found.strategy("good").name == "good"
    assert found.plugins()[-1].owner == "this program"


def test_a_program_cannot_register_a_name_twice_nor_shadow_tokpar() -> None:
    found = loaded()
    found.register(PLUGINS["ClaimsX"])
    for kind in ("ClaimsXToo", "ShadowsCut", "ClaimsX"):
        with pytest.raises(PluginError, match="is claimed by plugin"):
            found.register(PLUGINS[kind])
    assert found.executor_kind("x").name == "x"


def test_unknown_options_are_refused_by_showing_the_allowed_ones() -> None:
    with pytest.raises(OptionError) as caught:
        build_strategy(strategy("good"), {"size": 1, "sise": 2})
    assert str(caught.value) == (
        "strategy 'good' has no option 'sise'; did you mean 'size'?; "
        "its options: size: int = 3, acceptance: str = 'certified'"
    )


AT_MODULE_LEVEL = {
    "encode": "import tokpar\ntokpar.encode('a b')",
    "load": "import tokpar\ntokpar.load()",
    "Encoder": "from tokpar import Encoder\nencoder = Encoder()",
    "strategies": "import tokpar\nknown = tokpar.strategies()",
    "registry": "from tokpar.plugin import registry\nregistry().plugins()",
    "in a hook": (
        "import tokpar\nfrom tokpar.plugin import hookimpl\n\n@hookimpl\ndef tokpar_executors():\n"
        "    tokpar.encode('a')\n    return []"
    ),
}
PANICS = {
    "BaseException": "raise BaseException('told')",
    "a panic": "class PanicException(BaseException): pass\nraise PanicException('told')",
    "GeneratorExit in a class": "class Stop(BaseException): pass\nraise Stop('told')",
    "SystemExit": "raise SystemExit('told')",
    "TimeoutError": "raise TimeoutError('told')",
    "a hook": (
        "from tokpar.plugin import hookimpl\nclass Panic(BaseException): pass\n\n@hookimpl\n"
        "def tokpar_executors():\n    raise Panic('told')"
    ),
}
LOADED = """
import json, sys
from importlib.metadata import EntryPoint
from tokpar.registry import hooks
from tokpar.registry import tables as module
from importlib import metadata
points = [EntryPoint("faulty", "faulty_plugin", "tokpar")]
metadata.entry_points = lambda **given: points
import tokpar
print(len(tokpar.encode("a b").ids) > 0)
print([each.problem for each in tokpar.plugins() if each.name == "faulty"][0])
"""


@pytest.mark.parametrize(
    "fault", cases([*AT_MODULE_LEVEL, *PANICS], [*AT_MODULE_LEVEL, *PANICS][::4])
)
def test_a_plugin_that_calls_tokpar_or_panics_while_it_is_loaded_is_named_and_skipped(
    fault: str, tmp_path: Any
) -> None:
    source = AT_MODULE_LEVEL.get(fault) or PANICS[fault]
    (tmp_path / "faulty_plugin.py").write_text(source + "\n")
    environment = {k: v for k, v in os.environ.items() if k != "TOKPAR_PLUGINS"}
    path = os.pathsep.join([str(tmp_path), environment.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        capture_output=True,
        text=True,
        check=True,
        timeout=240,
        env={**environment, "PYTHONPATH": path},
    )
    works, problem = done.stdout.splitlines()
    assert works == "True"
    said = "told" if fault in PANICS else "it calls tokpar while it is loaded; call tokpar in the"
    assert said in problem


def test_plugins_of_tokpar_itself_load_whatever_the_limit_says(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for limit in ("", "Good"):
        monkeypatch.setenv("TOKPAR_PLUGINS", limit)
        registry = Registry.load()
        assert {"blocks", "delimiter", "overlap", "recursive"} <= {
            record.name for record in registry.strategies()
        }
        assert registry.kinds_of("pure") == ["tokenizer"]


def test_a_plugin_of_tokpar_keeps_its_name_and_the_names_of_its_parts() -> None:
    own, others = f"{__name__}:GOOD_PLUGIN", f"{__name__}:RAISING_PLUGIN"
    found = loaded(point("good", others), point("good", own, owner="tokpar"))
    kept, refused = sorted(found.plugins(), key=lambda each: each.problem or "")[-2:]
    assert (kept.owner, kept.problem) != (refused.owner, refused.problem)
    assert "the plugin name 'good' is claimed by" in str(refused.problem)
    assert found.strategy("good").build is build
    claimed = offering(tokpar_strategies=[strategy("good")])
    with pytest.raises(PluginError, match="name 'good' is claimed by plugin 'good' of"):
        found.register(claimed, "claims_good")
    assert found.strategy("good").build is build
