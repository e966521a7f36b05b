"""Where the kernel cuts segments, and the conditions of theorem 27."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

from tests.conftest import needs_kernel
from tests.support.texts import texts
from tokpar.arrays import SPACES, spaces_behind_text
from tokpar.certificate.stage_rule import places as places_of
from tokpar.compiled.call_tables import call_of
from tokpar.compiled.segment_tables import arrays_without_words
from tokpar.facts.space_stages import SpaceCut
from tokpar.types import Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def segments_of(row: str) -> list[str]:
    """Cut before each space behind a character other than white space."""
    return re.split(f"(?<=[^{SPACES}])(?= )", row) if row else []


ROWS = st.lists(
    texts(max_size=40) | st.text(f" ab{SPACES}\x1c\u0085\u2007\u200b", max_size=60), max_size=6
).filter(lambda rows: not any(re.search("[\ud800-\udfff]", row) for row in rows))


NEAR_SPACES = "\x08\x0e\u0084\u00a1\u1681\u200b\u2014\u2027\u2030\u2060\u3001"


def call_with(sides: bytes) -> Any:
    """A call that knows no segment, and cuts where `sides` says."""
    arrays = arrays_without_words(0) | {"sides": np.frombuffer(sides, dtype=np.uint8)}
    return call_of(arrays, {}, ((), ()))


def listed_by(call: Any, rows: Sequence[str]) -> list[list[str]]:
    """Returns the segments of each row, as the holes name them."""
    found: list[list[str]] = [[] for _ in rows]
    ids, counts, _, listed = call.encode_rows(tuple(rows))
    assert (ids, np.frombuffer(counts, np.int64).tolist()) == (b"", [0] * len(rows))
    if listed:
        holes, segments, _ = listed
        for _, number, row in np.frombuffer(holes, np.int64).reshape(-1, 3).tolist():
            found[row].append(segments[number])
    return found


@needs_kernel
@given(rows=ROWS)
@example(rows=["a" * 2047 + " b" * 40, " ", "", "  ", "a \n", "\n \na"])
@example(rows=[f"x{space} y" for space in SPACES])
@example(rows=["\u0085 ", "\u00a0 a", "é a", "\u2029 b", "\u3000 b", "\u205f b", "\u1680 b"])
@example(rows=[f"{char} b" for char in NEAR_SPACES])
def test_segments_begin_at_spaces_after_other_characters(rows: list[str]) -> None:
    assert listed_by(call_with(bytes([7]) * 256), rows) == [*map(segments_of, rows)]


@needs_kernel
@given(
    rows=ROWS,
    left=st.sampled_from(["any", "sure", "unjoined"]),
    spared=st.sampled_from(["", "a", "'b"]),
)
@example(
    rows=["a  b c \x01 d\t a \x0b a b ", " a", "a ", "b a b", "é a b", "a é c"],
    left="sure",
    spared="b",
)
@example(rows=["xba c ", "\x01a c", "a\x0bc a", "éa c"], left="sure", spared="b")
def test_segments_begin_only_where_nothing_beside_the_space_is_barred(
    rows: list[str], left: Any, spared: str
) -> None:
    """The kernel, the array function of the seams and the checker's regex agree."""
    cut = SpaceCut(left, spared_chars=frozenset(spared), joined_chars=frozenset(spared))
    licence = Seam(
        0, "STAGE", "50", (("left", left), ("right", "space"), ("spared", cut.spared_ascii))
    )
    expected = []
    for row in rows:
        places = places_of(licence, row)
        assert spaces_behind_text(row, 0, len(row), cut.sides).tolist() == places
        pairs = pairwise([0, *places, len(row)])
        expected.append([row[a:b] for a, b in pairs if a < b])
    assert listed_by(call_with(cut.sides[:128] + cut.sides[128:] * 128), rows) == expected


@pytest.mark.parametrize(("value", "said"), [("none", "none"), ("fast", "TOKPAR_KERNEL must be")])
def test_the_kernel_is_chosen_by_a_variable(value: str, said: str) -> None:
    code = "import tokpar.process.kernel_modules as k; print(k.NAME)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "TOKPAR_KERNEL": value},
    )
    assert said in done.stdout + done.stderr
    assert (done.returncode == 0) == (value == "none")


LOADS_ANOTHER_KERNEL = """
import sys
import tokpar.compiled
tokpar.compiled.__path__.insert(0, sys.argv[1])
import tokpar.process.kernel_modules as kernel_modules
print(kernel_modules.NAME, kernel_modules.WHY_NONE, kernel_modules.MERGES is None)
print(tokpar.decode(tokpar.encode("Ids of the engine.").ids) == "Ids of the engine.")
"""


@pytest.mark.parametrize("value", ["", "compiled"])
def test_a_kernel_of_another_machine_counts_as_none_unless_it_is_asked_for(
    value: str, tmp_path: Path
) -> None:
    for name in ("_call", "_merges"):
        (tmp_path / f"{name}{EXTENSION_SUFFIXES[0]}").write_bytes(b"for another machine")
    done = subprocess.run(
        [sys.executable, "-c", LOADS_ANOTHER_KERNEL, str(tmp_path)],
        capture_output=True,
        text=True,
        env={**os.environ, "TOKPAR_KERNEL": value},
    )
    if value:
        assert done.returncode == 1
        assert "ImportError" in done.stderr
    else:
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("none it does not load: ")
        assert str(tmp_path) in done.stdout
        assert done.stdout.endswith(" True\nTrue\n")


# ------------------------------------------------------------------- theorem 27: witnesses


def bare(vocabulary: list[str], merges: list[tuple[str, str]], pattern: str = "") -> Tokenizer:
    """BPE over characters, each of them a token, behind a Split."""
    tokens = [*dict.fromkeys([*"".join(vocabulary), *vocabulary])]
    model = models.BPE(vocab={token: k for k, token in enumerate(tokens)}, merges=merges)
    tokenizer = Tokenizer(model)
    if pattern:
        tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(pattern), "isolated")
    return tokenizer


def ids_of(tokenizer: Tokenizer, *parts: str) -> list[int]:
    return [id_ for part in parts for id_ in tokenizer.encode(part).ids]


WORDWISE = r" ?\w+| ?[^\s\w]+|\s+(?!\S)|\s+"


def changed() -> tuple[list[int], list[int]]:
    tokenizer = bare([" the end"], [], WORDWISE)
    before = ids_of(tokenizer, " the")
    tokenizer.add_tokens(["the"])
    return before, ids_of(tokenizer, " the")


def normalized() -> tuple[list[int], list[int]]:
    tokenizer = bare(["x\u00e9"], [], WORDWISE)
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([NativeToken("x\u00e9\u00e9", normalized=False)])
    return ids_of(tokenizer, "x\u00e9\u00e9"), ids_of(tokenizer, "xe\u0301\u00e9")


def not_certified() -> tuple[list[int], list[int]]:
    tokenizer = bare(["abc", "ba"], [("b", "a")], ".[^a]")
    serial = ids_of(tokenizer, "bbac")
    assert ids_of(tokenizer, "b", "bac") == ids_of(tokenizer, "bba", "c") == serial
    return serial, ids_of(tokenizer, "b", "ba", "c")


def over_a_cut() -> tuple[list[int], list[int]]:
    """No segment holds "the end", and the text does."""
    tokenizer = bare([" the end"], [], WORDWISE)
    tokenizer.add_tokens([NativeToken("the end", normalized=False)])
    return ids_of(tokenizer, "the end"), ids_of(tokenizer, "the", " end")


def swallowed() -> tuple[list[int], list[int]]:
    tokenizer = bare(["a b", " b"], [(" ", "b")], WORDWISE)
    tokenizer.add_tokens([NativeToken("<s>", normalized=False, rstrip=True)])
    return ids_of(tokenizer, "a<s> b"), ids_of(tokenizer, "a<s>", " b")


def word_at_a_cut() -> tuple[list[int], list[int]]:
    tokenizer = bare(["a b"], [], WORDWISE)
    tokenizer.add_tokens([NativeToken(" b", normalized=False, single_word=True)])
    return ids_of(tokenizer, "a b"), ids_of(tokenizer, "a", " b")


def only_normalized() -> tuple[list[int], list[int]]:
    tokenizer = bare(["abc"], [], WORDWISE)
    tokenizer.normalizer = normalizers.Replace(" ", "")
    tokenizer.add_tokens([NativeToken("ab", normalized=True)])
    return ids_of(tokenizer, "a b"), ids_of(tokenizer, "a", " b")


@pytest.mark.parametrize(
    "witness",
    [
        pytest.param(over_a_cut, id="inside"),
        pytest.param(swallowed, id="swallows"),
        pytest.param(word_at_a_cut, id="word"),
        pytest.param(only_normalized, id="raw"),
        pytest.param(changed, id="same"),
        pytest.param(normalized, id="exact"),
        pytest.param(not_certified, id="certified"),
    ],
)
def test_theorem_27_needs_each_condition(witness: Callable[[], tuple[Any, Any]]) -> None:
    one, other = witness()
    assert one != other
