"""What an engine says of its classes, what is kept of it, and what is refused in time."""

from __future__ import annotations

import contextlib
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import below_one, is_quick
from tests.recipes.engines import MEMBERS
from tokpar.patterns import charclass_cache as kept
from tokpar.patterns import charclass_members as asking
from tokpar.patterns.char_partition import alphabet
from tokpar.patterns.charclass_cache import cached_members
from tokpar.patterns.charclass_members import match_chars, members
from tokpar.patterns.class_tables import Ranges
from tokpar.patterns.pattern_parser import ENGINES
from tokpar.patterns.pattern_reader import UnsupportedPatternError, read_pattern
from tokpar.patterns.splits import SplitStage, decide_pairs
from tokpar.process import disk_cache

CLASSES = (
    *(r"\p{L}", r"\p{N}", r"\s", r"\S", r"[^\s\p{L}\p{N}]", "[\\r\\n]", "a", r"\.", "."),
    *("(?i:s)", r"\w", r"\P{Lu}", "[a-z一-龥]", r"\x41"),
)
SAMPLE = "".join(
    map(
        chr,
        [*range(0x400), *range(0x2000, 0x2100), *range(0x4DF0, 0x4E10), 0x1F600, 0x125C4, 0x16139],
    )
)


def inside(ranges: Ranges, char: str) -> bool:
    return any(low <= ord(char) <= high for low, high in ranges)


@pytest.mark.parametrize("engine", ENGINES)
def test_classes_hold_what_the_engine_says(engine: str) -> None:
    if engine == "oniguruma":
        below_one()
    classes = CLASSES[::2] if is_quick() else CLASSES
    found = members(classes, engine)
    assert set(found) == set(classes)
    for source in classes:
        own = MEMBERS[engine](source, SAMPLE)
        assert {char for char in SAMPLE if inside(found[source], char)} == own, source
        said = match_chars(source, engine, "".join(sorted(SAMPLE)))
        assert {c for c, yes in zip(sorted(SAMPLE), said, strict=True) if yes} == own


@given(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 40)), max_size=4))
def test_symbols_tell_apart_what_classes_do(spans: list[tuple[int, int]]) -> None:
    classes: dict[Any, Ranges] = {i: ((low, low + more),) for i, (low, more) in enumerate(spans)}
    found = alphabet(classes)
    for p in range(350):
        own = {i for i, ranges in classes.items() if inside(ranges, chr(p))}
        assert {i for i in classes if int(found.symbol_of[p]) in found.sets[i]} == own


def test_an_engine_is_asked_once_for_a_class_in_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, list[str]]] = []

    def answer(engine: str, sources: list[str]) -> dict[str, Ranges]:
        asked.append((engine, sources))
        return {source: ((ENGINES.index(engine), 99),) for source in sources}

    for engine in ENGINES:
        monkeypatch.setitem(asking.__dict__["_EVERYWHERE"], engine, partial(answer, engine))
    monkeypatch.setattr(asking, "_answers", {})
    monkeypatch.setattr(asking, "MOST_ANSWERS", 3)
    first, second, _ = ENGINES
    for engine, sources in (
        (first, [r"\p{N}"]),
        (second, [r"\p{N}"]),
        (first, [r"\p{N}", r"\s", "a"]),
        (first, [r"\s"]),
        (first, ["[ab]", "[bc]"]),
        (first, [r"\p{N}"]),  # there was no room for it
    ):
        found = members(sources, engine)
        own = (ENGINES.index(engine), 99)
        assert found == {s: ((97, 97),) if s == "a" else (own,) for s in sources}
    assert asked == [
        (first, [r"\p{N}"]),
        (second, [r"\p{N}"]),
        (first, [r"\s"]),
        (first, ["[ab]", "[bc]"]),
        (first, [r"\p{N}"]),
    ]
    for count, refused in ((64, False), (65, True)):
        with pytest.raises(UnsupportedPatternError) if refused else contextlib.nullcontext():
            members([f"[a{chr(0x4E00 + k)}]" for k in range(count)], first)


# ---------------------------------------------------------------------------------- on disk


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    return tmp_path / "classes"


@pytest.fixture
def asks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Engines that were asked for all code points."""
    calls: list[str] = []

    def counted(sources: Any, engine: str) -> dict[str, Ranges]:
        wanted = list(sources)
        if not all(map(asking.is_plain, wanted)):
            calls.append(engine)
        return members(wanted, engine)

    monkeypatch.setattr(kept, "members", counted)
    return calls


def test_the_engine_is_asked_once(folder: Path, asks: list[str]) -> None:
    first = cached_members([r"\p{N}", "a"], "regex")
    assert cached_members(["a", r"\p{N}"], "regex") == first == members([r"\p{N}", "a"], "regex")
    assert asks == ["regex"]
    [file] = folder.iterdir()
    assert file.suffix == ".arrays"


def test_another_version_of_the_engine_is_asked_again(
    folder: Path, asks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    cached_members([r"\s"], "regex")
    monkeypatch.setattr(kept, "version", lambda package: "another")
    cached_members([r"\s"], "regex")
    cached_members([r"\s"], "fancy-regex")
    assert asks == ["regex", "regex", "fancy-regex"]
    assert len(list(folder.iterdir())) == 3


SPOILT: dict[str, Any] = {
    "other members": [48, 58],
    "a member too many": None,
    "descending": [57, 48],
    "one end": [48, 57, 60],
    "a surrogate": [48, 57, 0xD700, 0xD900],
    "beyond Unicode": [48, 0x110000],
}


@pytest.mark.parametrize("change", [*SPOILT, "another type", "two classes"])
def test_a_spoilt_file_is_no_authority(folder: Path, asks: list[str], change: str) -> None:
    """The seal of the file is right: what it has is compared with the engine."""
    right = cached_members([r"\p{N}"], "regex")
    [file] = folder.iterdir()
    whole = file.read_bytes()
    stored = disk_cache.read("classes", file.stem)
    assert stored is not None
    own = stored["[0]"].tolist()
    arrays = {"[0]": np.array(SPOILT.get(change, own) or [*own, 0x10FFFF, 0x10FFFF], np.int64)}
    if change == "another type":
        arrays["[0]"] = np.array(own, np.int32)
    elif change == "two classes":
        arrays |= {"[1]": arrays["[0]"]}
    disk_cache.write("classes", file.stem, arrays)
    assert file.read_bytes() != whole
    assert cached_members([r"\p{N}"], "regex") == right
    assert asks == ["regex", "regex"]
    assert file.read_bytes() == whole
    assert list(folder.iterdir()) == [file]


# ---------------------------------------------------------------------------------- refused


REFUSED = {
    r"a*": "empty text",
    r"(?=a)": "empty text",
    r"(?<=a)b": "unsupported group",
    r"\bx": r"unsupported escape \\b",
    r"\Ax": r"unsupported escape \\A",
    r"^x": r"unsupported '\^'",
    r"(a)\1": "unsupported escape",
    r"a(?=bc)": "more than one character",
    r"(?>ab)": "atomic group",
    r"(?:ab)++": "possessive group",
    r"(?:a?)+b": "may be empty",
    r"(?i:ss)x": "fold to one",
    r"(?i:s+)x": "fold to one",
    r"(?i:s)(?i:t)": "fold to one",
    r"(?i:s)a?(?i:t)x|(?i:s)(?:b?)(?i:t)": "fold to one",
    r"(?i:é)": "case-insensitive class",
    r"(?i:\p{L})": "case-insensitive class",
    r"a{3,2}": "interval",
    r"a{0}b": "interval",
    r"a{99999}": r"unsupported '\{'",
    r"a**": "stacked",
    r"[a": "unsupported class",
    r"(a": "missing",
    r"a)": "unbalanced",
    r"[[:alpha:]]": "unsupported class",
    r"[]a]": "unsupported class",
    r"\pL": "unsupported escape",
    r"\x4": "unsupported escape",
    r"\xe9": "unsupported escape",
    r"\<a": "unsupported escape",
    r"a\x{41}\xff": "unsupported escape",
    r"(?#x)a": "unsupported group",
    r"(?s)a": "unsupported group",
    r"{2}": r"unsupported '\{2\}'",
    "(" * 100 + "a" + ")" * 100: "nested",
    "a|" * 20_000 + "a": "characters",
}


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda pattern: pattern[:20])
def test_a_pattern_that_cannot_be_read_is_refused_with_the_reason(pattern: str) -> None:
    with pytest.raises(UnsupportedPatternError, match=REFUSED[pattern]):
        read_pattern(pattern, "oniguruma")


def tree(pattern: str, engine: str) -> object:
    return read_pattern(pattern, engine).tree(lambda source: [0], 1)


def test_what_engines_read_differently() -> None:
    for engine in ("regex", "fancy-regex"):
        assert tree("a{1,3}+", engine) != tree("a{1,3}+", "oniguruma")
        read_pattern("a{2}?b", engine)
    with pytest.raises(UnsupportedPatternError, match="optional group"):
        read_pattern("a{2}?b", "oniguruma")
    with pytest.raises(UnsupportedPatternError, match="two characters"):
        read_pattern("a$", "regex")
    with pytest.raises(UnsupportedPatternError, match="engine must be"):
        read_pattern("a", "pcre")


def test_a_class_that_the_engine_refuses_is_refused() -> None:
    for engine in ENGINES:
        with pytest.raises(UnsupportedPatternError, match="refuses a class"):
            members([r"\p{Nonsense}"], engine)


PATHOLOGICAL = (
    "(?:" * 12 + "a{9}" + "){9}" * 12,
    "a{1000}",
    r"[\s\S]{1,1000}a",
    "|".join(rf"(?:[ab]{{{n}}}c|d{{{n},}})" for n in range(1, 60)),
    r"(?:a|b)*c" + "(?:a|b)" * 14 + r"|[\s\S]",
    "|".join(f"[{chr(0x4E00 + i)}-{chr(0x4E10 + i)}]" for i in range(100)),
    "".join(f"{chr(0x4E00 + i)}?" for i in range(300)) + "x",
    r"(?:[ab]?){0,1}" * 40 + "c",
)


@pytest.mark.parametrize("pattern", PATHOLOGICAL, ids=lambda pattern: pattern[:20])
def test_what_blows_up_is_refused_in_time(pattern: str) -> None:
    start = time.thread_time()
    with contextlib.suppress(UnsupportedPatternError):
        decide_pairs([SplitStage(pattern, "regex")] * 2, seconds=0.2)
    assert time.thread_time() - start < 5  # what asking takes, and a busy machine


def test_a_witness_is_found_long_after_the_decision() -> None:
    windows = decide_pairs([SplitStage(r"[ab]{1,30}c|\s+a|[\s\S]", "regex")], seconds=0.5)
    until = time.thread_time() + 0.6
    while time.thread_time() < until:
        pass
    assert windows.witness("a", "b") is not None
    assert windows.witness(" ", "b") is None
