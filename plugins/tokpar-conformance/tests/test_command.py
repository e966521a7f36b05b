"""The command `tokpar conform`."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib.metadata import EntryPoint
from itertools import islice
from pathlib import Path

import pytest
from tokpar_pure.adapter import PureTokenizer
from tokpar_pure.formats import read_tokenizer_json

import tokpar.registry.tables as registry_module
from tests.support.fakes import WordHash
from tests.support.paths import ROOT, VOCAB
from tokpar.cli import main
from tokpar.registry.hooks import TokenizerSource, hookimpl
from tokpar.registry.tables import Registry

pytestmark = pytest.mark.compiled_at_once

CONFORM = EntryPoint("conformance", "tokpar_conformance", "tokpar")
PARTS_OF_EXAMPLE = ("executor pool", "merger edges", "splitter lines", "strategy lines")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = main(["conform", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.usefixtures("few_texts")
def test_conform_checks_an_engine_on_the_bundled_file(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "pure", "--examples", 0)
    assert (code, err) == (0, "")
    assert out.startswith("pure:default conforms: ")
    assert out.endswith("ids compared with huggingface:BPE\n")


def unmerged(path: Path) -> PureTokenizer:
    """A tokenizer that breaks no rule, but has only half of the merges of its file."""
    vocabulary = read_tokenizer_json(path)
    half = dict(islice(vocabulary.merges.items(), len(vocabulary.merges) // 2))
    return PureTokenizer(replace(vocabulary, merges=half, whole_piece=False), "unmerged")


class OwnFiles:
    """The sources of three tokenizers: of one that needs no file, of one that does, and of one with
    other ids than those of its file."""

    @hookimpl
    def tokpar_tokenizers(self) -> list[TokenizerSource]:
        hashes = TokenizerSource(
            "hashes", lambda source: WordHash() if source == "hashes" else None
        )
        filed = TokenizerSource("filed", lambda source: None)
        return [hashes, filed, TokenizerSource("unmerged", unmerged, automatic=False)]


@pytest.fixture
def own_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry_module, "_registry", [Registry.load([CONFORM])])
    registry_module.registry().register(OwnFiles(), name="own files")


@pytest.mark.usefixtures("own_files")
def test_conform_exits_with_1_and_shows_what_failed(
    capsys: pytest.CaptureFixture[str], twelfths_but_for: Callable[[str], None]
) -> None:
    twelfths_but_for("reference")
    options = ("--examples", 0, "--fail-fast")
    code, out, _ = run(capsys, "unmerged", *options)
    assert code == 1
    assert "does not conform" in out
    assert "\nreference: the ids are those of huggingface:BPE" in out
    file = ("--tokenizer", VOCAB / "deepseek_part.json", "--json")
    code, out, _ = run(capsys, "unmerged", *options, *file)
    got = json.loads(out)
    assert (code, got["conforms"], got["failed"]) == (1, False, ["reference"])
    assert got["checks"][-1] == "reference"
    assert got["reference"] == "huggingface:BPE"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nonsense",), "unknown tokenizer 'nonsense'"),
        (("pure", "--engine", "pure"), "'pure' is an engine"),
        (("default", "--tokenizer", "default"), "--tokenizer goes with the name of a part"),
        (("cut", "--kind", "executor"), "'cut' is no executor and no plugin with one"),
        (("cut", "--option", "size=3"), "merger 'cut' has no option 'size'"),
        (("threads", "--option", "size=3"), "executor 'threads' has no option 'size'"),
        (("threads", "--tokenizer", "default", "--engine", "pure"), "'threads' does not suit pure"),
        (("pure", "--tokenizer", "gone.json"), "gone.json"),
        (("default", "--reference", "warp"), "unknown engine 'warp'"),
        (("default", "--examples", "-1"), "--examples must be at least 0, got -1"),
        (("default", "gone.txt"), "gone.txt"),
    ],
)
def test_conform_refuses(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err


def checked(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[str]:
    """What `tokpar conform` says has passed, up to the number of checks."""
    code, out, err = run(capsys, *arguments, "--examples", 0)
    assert (code, err) == (0, "")
    return [line.partition(":")[0] for line in out.splitlines()]


@pytest.mark.usefixtures("few_texts")
def test_conform_checks_all_parts_of_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    parts = ["merger cut", "splitter cut", "strategy cut"]
    assert checked(capsys, "cut") == [f"{part} conforms" for part in parts]
    assert checked(capsys, "cut", "--kind", "splitter") == ["splitter cut conforms"]
    assert checked(capsys, "native") == ["executor native conforms"]
    assert checked(capsys, "lopt", "--option", "chunk_chars=9", "--option", "overlap_chars=12") == [
        "splitter lopt conforms",
        "strategy lopt conforms",
    ]


@pytest.mark.usefixtures("few_texts")
def test_conform_checks_parts_with_the_tokenizer_that_is_named(
    capsys: pytest.CaptureFixture[str],
) -> None:
    tokenizer = str(VOCAB / "bert_part.json")
    code, out, _ = run(capsys, "cut", "--tokenizer", tokenizer, "--json", "--examples", 0)
    got = json.loads(out)
    assert code == 0
    assert [(part["kind"], part[part["kind"]]) for part in got] == [
        ("merger", "cut"),
        ("splitter", "cut"),
        ("strategy", "cut"),
    ]
    assert all(part["conforms"] and part["checks"] for part in got)


@pytest.fixture
def example(monkeypatch: pytest.MonkeyPatch) -> None:
    """tokpar-example, registered for one test, and there for other processes."""
    source = ROOT / "plugins" / "tokpar-example" / "src"
    monkeypatch.syspath_prepend(source)
    monkeypatch.setenv("PYTHONPATH", str(source))
    points = [CONFORM, EntryPoint("example", "tokpar_example", "tokpar")]
    monkeypatch.setattr(registry_module, "_registry", [Registry.load(points)])


@pytest.mark.usefixtures("example", "few_texts")
def test_conform_finds_a_plugin_and_each_of_its_parts_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    letters = tmp_path / "x.letters"
    letters.write_text("0\n", encoding="utf-8")
    for name in ("lines", "edges", "pool"):
        assert checked(capsys, name) == [
            f"{part} conforms" for part in PARTS_OF_EXAMPLE if part.endswith(name)
        ]
    found = checked(capsys, "example", "--tokenizer", letters)
    assert found == [f"{part} conforms" for part in (*PARTS_OF_EXAMPLE, "letters")]
