"""An engine whose ids differ is refused with the smallest text; an answer is kept, and no more."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
from tokpar_engines import compared_texts, comparison
from tokpar_engines.agreement import require_agreement
from tokpar_engines.compared_texts import short_texts
from tokpar_engines.engine import certified_slices

import tokpar
from tests.conftest import cases
from tokpar.arrays import IdArray
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.errors import EngineError
from tokpar.patterns.shipped_patterns import O200K, QWEN2
from tokpar.process import disk_cache
from tokpar.types import AddedToken, Facts

ADDED = "<|odd|>"
FOLDED = [
    (O200K, b" I'", " I'\u017f"),
    (QWEN2, b"\xbfa", "'\u017fa"),
    (O200K, b"\xbfa", "'\u017fa"),
]
FOLDED_BY_HAND = ("[sS]", "[tT]", "[rR][eE]", "[vV][eE]", "[mM]", "[lL][lL]", "[dD]")


def same(text: str) -> str:
    return text


@dataclass(frozen=True)
class Points:
    """Ids are code points, of the text as `change` leaves it."""

    change: Callable[[str], str] = same
    name: str = "points"

    def encode(self, text: str) -> IdArray:
        data = self.change(text).encode("utf-32-le", "surrogatepass")
        return np.frombuffer(data, dtype="<u4")

    def decode(self, ids: IdArray) -> str:
        return "".join(chr(int(id_)) for id_ in ids)

    @property
    def facts(self) -> Facts:
        tokens = (AddedToken(ADDED, 1), AddedToken("x", 2))
        return Facts("points", "none", added_tokens=tokens, unprovable="", tokens=lambda: [b"xy"])


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of its own for each test."""
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "agreement"


def agreement(
    adapter: TokenizerAdapter,
    reference: Callable[[], TokenizerAdapter] = Points,
    key: str = "key",
    engine: str = "engine 1",
    library: str = "library 2",
) -> str:
    return require_agreement(
        adapter,
        reference,
        key=[key],
        engine=engine,
        library=library,
        advice="Do without.",
        slices=certified_slices,
    )


def never() -> TokenizerAdapter:
    raise AssertionError("the reference was called")


# ------------------------------------------------------------------------------- the comparison


def test_an_engine_with_the_same_ids_is_told_on_how_many_texts() -> None:
    said = agreement(Points())
    found = re.fullmatch(r"same ids as library 2 on ([\d,]+) texts", said)
    assert found is not None
    assert int(found[1].replace(",", "")) > 500


def only(character: str, instead: str = "?") -> Callable[[str], str]:
    return lambda text: text.replace(character, instead)


def long(text: str) -> str:
    return text[:-1] if len(text) > 300_000 else text


def run(text: str) -> str:
    return "" if "\n" * 10_000 in text else text


@pytest.mark.parametrize(
    ("change", "smallest"),
    [
        pytest.param(only("e\u0301", "\xe9"), "'e\u0301' (2 code points)", id="normalizes"),
        pytest.param(only("\U0001f9e6"), "'🧦' (1 code points)", id="one code point"),
        pytest.param(only("\u05d01"), "'א1' (2 code points)", id="before a digit"),
        pytest.param(only(f"b{ADDED}"), f"'b{ADDED}' (8 code points)", id="added token"),
        pytest.param(only(ADDED + "\u0301"), f"'{ADDED}\u0301' (8 code points)", id="combining"),
        pytest.param(only("q", "p"), "'q' (1 code points)", id="letter"),
        pytest.param(run, "(10,000 code points)", id="run"),
        pytest.param(long, "(300,001 code points)", id="long text"),
    ],
)
def test_a_planted_difference_is_found_and_made_small(
    change: Callable[[str], str], smallest: str
) -> None:
    with pytest.raises(EngineError) as error:
        agreement(Points(change))
    told = str(error.value).split("\n")
    assert told[0] == "engine 1 does not give the ids of library 2 with this vocabulary"
    assert told[1].startswith("    text      ")
    assert told[1].endswith(smallest)
    if smallest[:3] == "'q'":
        assert told[2:4] == ["    expected  >113 'q'<", "    got       >112 'p'<"]
    assert told[-1] == "Do without."


@pytest.mark.parametrize(("pattern", "merged", "smallest"), cases(FOLDED, FOLDED[:1]))
def test_an_engine_that_folds_no_letters_but_those_of_ascii_is_found(
    pattern: str, merged: bytes, smallest: str
) -> None:
    """As fastokens 0.3.5 does: it took " I'\u017f" of o200k for two pre-tokens."""
    ranks = {bytes([byte]): byte for byte in range(256)} | {b" I": 256, merged: 257}

    def load(pat_str: str) -> TokenizerAdapter:
        encoding = tiktoken.Encoding(
            "drawn", pat_str=pat_str, mergeable_ranks=ranks, special_tokens={}
        )
        return tokpar.load(encoding)

    ascii_only = "(?:" + "|".join(f"'{one}" for one in FOLDED_BY_HAND) + ")"
    assert "(?i:'s|'t|'re|'ve|'m|'ll|'d)" in pattern
    other = load(pattern.replace("(?i:'s|'t|'re|'ve|'m|'ll|'d)", ascii_only))
    assert "same ids" in agreement(load(pattern), lambda: load(pattern), key="alike")
    with pytest.raises(EngineError) as error:
        agreement(other, lambda: load(pattern))
    assert smallest in str(error.value)


@dataclass(frozen=True)
class Divides:
    """The bundled tokenizer; leaves out the last id of texts of more than `most` code points, as a
    fault at the seam of an engine that divides long texts would."""

    most: int
    own_ids: Callable[[str], IdArray]

    @property
    def name(self) -> str:
        return "divides"

    @property
    def facts(self) -> Facts:
        return facts_of(Points())

    def encode(self, text: str) -> IdArray:
        return self.own_ids(text)[: -1 if len(text) > self.most else None]


def test_a_fault_of_an_engine_that_divides_very_long_texts_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compared_texts, "LONG", 40_000)
    monkeypatch.setattr(comparison, "DIVIDED", 55_000)
    monkeypatch.setattr(comparison, "SECONDS", 0.1)
    monkeypatch.setattr(comparison, "short_texts", lambda one: short_texts(one)[::4])
    monkeypatch.setattr(comparison, "unassigned_points", lambda: ())
    reference = partial(tokpar.load, "default")
    own_ids = lru_cache(maxsize=None)(tokpar.load("default").encode)
    adapter = Divides(48_000, own_ids)
    with pytest.raises(EngineError, match=r"\(\d+,\d+ code points\)"):
        agreement(adapter, reference)
    assert agreement(Divides(55_000, own_ids), reference, key="other").startswith("same ids")


def test_slices_have_alone_the_ids_of_the_whole_or_there_is_one() -> None:
    tokenizer = tokpar.load("default")
    text = "The dog and 12 foxes.\n" * 5_000
    slices = certified_slices(tokenizer, text)
    assert len(slices) > 5
    assert "".join(slices) == text
    ids = np.concatenate([tokenizer.encode(one) for one in slices])
    assert np.array_equal(ids, tokenizer.encode(text))
    for uncut in ("a" * 100_000, "ab" * 50_000, "\ud800 a" * 9_000):
        assert certified_slices(tokenizer, uncut) == [uncut]
    assert certified_slices(Points(), text) == [text], "nothing is proved about it"


def test_an_engine_that_raises_where_the_reference_does_not_is_refused() -> None:
    def fails(text: str) -> str:
        if "\0" in text:
            raise ValueError("no NUL, please")
        return text

    with pytest.raises(EngineError, match=r"got +ValueError: no NUL, please"):
        agreement(Points(fails))
    assert agreement(Points(), lambda: Points(fails)).startswith("same ids")


# ------------------------------------------------------------------------------- what is kept


def test_a_kept_answer_is_given_without_the_reference(cache: Path) -> None:
    first = agreement(Points())
    assert agreement(Points(only("a")), never) == first
    [file] = cache.iterdir()
    assert file.suffix == ".arrays"


@pytest.mark.parametrize(
    "arrays",
    [
        None,
        {},
        {"texts": np.array([5])},
        {"texts": np.array([5, 5]), "apart": np.array([0])},
        {"texts": np.array([5.0]), "apart": np.array([0])},
    ],
)
def test_a_corrupt_answer_is_as_none_and_is_replaced(
    cache: Path, arrays: dict[str, Any] | None
) -> None:
    said = agreement(Points())
    [file] = cache.iterdir()
    if arrays is None:
        file.write_bytes(b"")
    else:
        disk_cache.write("agreement", file.stem, arrays)
    assert agreement(Points()) == said
    assert agreement(Points(), never) == said
    assert [each.name for each in cache.iterdir()] == [file.name]


def test_a_difference_is_not_kept(cache: Path) -> None:
    for _ in range(2):
        with pytest.raises(EngineError):
            agreement(Points(only("a")))
    assert not cache.exists()
