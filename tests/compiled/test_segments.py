"""The cache of segments: its table in C, and the ids of real tokenizers."""

from __future__ import annotations

import os
import random
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.texts import texts
from tests.support.tokenizers_drawn import DATA
from tokpar.arrays import SPACES, offsets_of, spaces_behind_text
from tokpar.certificate.stage_rule import places as places_of
from tokpar.compiled.segment_cache import segment_cache_for
from tokpar.facts.space_stages import SpaceCut
from tokpar.process import kernel_modules
from tokpar.process.limits import LEAST_CACHE_BYTES
from tokpar.types import Rows, Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


ALL_SIDES = bytes([7]) * 256
LEAST_SLOTS = 1024


def segments_table(sides: bytes = ALL_SIDES) -> Any:
    return kernel_modules.CALL.Segments(sides, LEAST_SLOTS)  # type: ignore[union-attr]


def looked_up(table: Any, rows: Sequence[str]) -> tuple[list[int], list[int], Any, list[str]]:
    ids, lengths, places, missed, count = table.look_up(tuple(rows))
    assert count >= len(missed)
    places = np.frombuffer(places, np.int64).reshape(-1, 2)
    return np.frombuffer(ids, np.uint32).tolist(), np.frombuffer(lengths, np.int64), places, missed


def learn(table: Any, known: dict[str, list[int]]) -> None:
    ids = np.array([id_ for row in known.values() for id_ in row], dtype=np.uint32)
    table.learn([*known], ids, offsets_of(map(len, known.values())))


def segments_of(row: str) -> list[str]:
    """Cut before each space behind a character other than white space."""
    return re.split(f"(?<=[^{SPACES}])(?= )", row) if row else []


ROWS = st.lists(
    texts(max_size=40) | st.text(f" ab{SPACES}\x1c\u0085\u2007\u200b", max_size=60), max_size=6
).filter(lambda rows: not any(re.search("[\ud800-\udfff]", row) for row in rows))


NEAR_SPACES = "\x08\x0e\u0084\u00a1\u1681\u200b\u2014\u2027\u2030\u2060\u3001"


@needs_kernel
@given(rows=ROWS)
@example(rows=["a" * 2047 + " b" * 40, " ", "", "  ", "a \n", "\n \na"])
@example(rows=[f"x{space} y" for space in SPACES])
@example(rows=["\u0085 ", "\u00a0 a", "é a", "\u2029 b", "\u3000 b", "\u205f b", "\u1680 b"])
@example(rows=[f"{char} b" for char in NEAR_SPACES])
def test_segments_begin_at_spaces_after_other_characters(rows: list[str]) -> None:
    ids, lengths, places, missed = looked_up(segments_table(), rows)
    expected = [(each, k) for k, row in enumerate(rows) for each in segments_of(row)]
    assert missed == [each for each, _ in expected]
    assert places.tolist() == [[0, k] for _, k in expected]
    assert (ids, lengths.tolist()) == ([], [0] * len(rows))


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
    *_, missed = looked_up(segments_table(cut.sides[:128] + cut.sides[128:] * 128), rows)
    licence = Seam(
        0, "STAGE", "50", (("left", left), ("right", "space"), ("spared", cut.spared_ascii))
    )
    expected = []
    for row in rows:
        places = places_of(licence, row)
        assert spaces_behind_text(row, 0, len(row), cut.sides).tolist() == places
        expected += [row[a:b] for a, b in pairwise([0, *places, len(row)]) if a < b]
    assert missed == expected


WORDS = st.text("ab é中\U0001f600", min_size=1, max_size=24) | st.text("a", min_size=1, max_size=40)
IDS = st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 99), max_size=7)


@needs_kernel
@given(
    known=st.dictionaries(WORDS, IDS, max_size=20),
    rows=st.lists(st.lists(WORDS, max_size=6).map("".join), max_size=4),
    more=st.sampled_from([0, 500, 3000]),
)
def test_what_was_learnt_is_found_and_nothing_else(
    known: dict[str, list[int]], rows: list[str], more: int
) -> None:
    """Also after the table grew, and after it began anew: where the table is three quarters full, a
    segment may find no slot near its place, and is not kept."""
    table = segments_table()
    learn(table, {f"{k} {'x' * (k % 30)}": [k] * (k % 9) for k in range(more)})
    learn(table, known)
    rows = [*rows, *known]
    ids, lengths, places, missed = looked_up(table, rows)
    expected: list[int] = []
    left = list(zip(places.tolist(), missed, strict=True))
    for k, row in enumerate(rows):
        before = len(expected)
        for each in segments_of(row):
            if left and left[0] == ([len(expected), k], each):
                left.pop(0)
            else:
                expected += known[each]
        assert len(expected) - before == lengths[k]
    assert (ids, left) == (expected, [])
    assert more == 3000 or not {*missed} & {*known}


@needs_kernel
def test_a_table_that_is_full_begins_anew_and_long_segments_are_not_kept() -> None:
    table = segments_table()
    long, words = "x" * 1025, [f"{k}" for k in range(5000)]
    for first in range(0, 5000, 100):
        learn(table, {word: [int(word)] for word in words[first : first + 100]} | {long: [1]})
    found = [word for word in words if looked_up(table, [word])[0] == [int(word)]]
    assert words[-100:] == found[-100:]
    assert 100 <= len(found) < LEAST_SLOTS
    assert looked_up(table, [long])[3] == [long]


@needs_kernel
def test_a_text_with_a_lone_surrogate_has_no_row() -> None:
    table = segments_table()
    learn(table, {"a": [1], " b": [2, 3]})
    ids, lengths, _, missed = looked_up(table, ["a b", "a \ud800 b", " b"])
    assert (ids, lengths.tolist(), missed) == ([1, 2, 3, 2, 3], [3, -1, 2], [])


@needs_kernel
def test_a_table_refuses_what_does_not_fit() -> None:
    table, one = segments_table(), np.array([1], np.uint32)
    for edges in ([0], [0, 2], [1, 0], [-1, 1]):
        with pytest.raises(ValueError, match="do not fit"):
            table.learn(["a"], one, np.array(edges, np.int64))
    with pytest.raises(ValueError, match="256 bytes"):
        kernel_modules.CALL.Segments(b"", LEAST_SLOTS)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="power of two"):
        kernel_modules.CALL.Segments(ALL_SIDES, 1500)  # type: ignore[union-attr]
    with pytest.raises(TypeError):
        table.look_up(["a"])


# ------------------------------------------------------------------- the ids of real tokenizers


def small_cache(adapter: Any) -> Any:
    return segment_cache_for(adapter.facts, LEAST_CACHE_BYTES)


@needs_kernel
def test_texts_whose_new_segments_fail_have_no_rows_and_the_others_have() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    cache = small_cache(adapter)

    def fails(some: Sequence[str]) -> Rows:
        raise RuntimeError("no memory")

    def short(some: Sequence[str]) -> Rows:
        return Rows.of([])

    rows = ["one two", "three four", "two one"]
    cache.encode(rows[:1], lambda some: adapter.encode_many(some, False))
    for broken in (fails, short):
        found, flags = cache.encode(["one two", "three four", "\ud800 one", "one"], broken)
        assert flags.tolist() == [True, False, False, True]
        assert found[0].tolist() == adapter.encode("one two").tolist()
        assert (len(found[1]), len(found[2])) == (0, 0)
        assert found[3].tolist() == adapter.encode("one").tolist()


@needs_kernel
def test_many_threads_may_use_one_cache() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    small = small_cache(adapter)
    variants = [ENGLISH.replace("fox", f"fox{n}").replace(" o", f" o{n}o") for n in range(8)]
    expected = [adapter.encode(text).tolist() for text in variants]
    wrong: list[int] = []

    def work(n: int) -> None:
        for k in range(12):
            at = (n + k) % 8
            rows, flags = small.encode([variants[at]], lambda t: adapter.encode_many(t, False))
            if not flags[0] or rows[0].tolist() != expected[at]:
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert small.counters["looked"] > 0


@needs_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_has_the_ids_while_a_thread_of_its_parent_learns() -> None:
    code = """
import os, threading, warnings
warnings.simplefilter("ignore")
import tokpar
encoder = tokpar.Encoder("default", workers=1)
rows = [f"some words of text {k} and more" * 9 for k in range(200)]
own = [encoder.tokenizer.encode(row).tolist() for row in rows]
done = threading.Event()
def learn():
    k = 0
    while not done.is_set():
        encoder.encode_batch([f"new{k}x{n} words {n * k} here" * 5 for n in range(100)]); k += 1
thread = threading.Thread(target=learn); thread.start()
for _ in range(5):
    encoder.encode_batch(rows)
    child = os.fork()
    if child == 0:
        good = [e.ids.tolist() for e in encoder.encode_batch(rows)] == own
        os._exit(0 if good else 1)
    assert os.waitpid(child, 0)[1] == 0
done.set(); thread.join()
"""
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false"}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120, env=environment)


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


@needs_kernel
def test_threads_that_share_a_table_get_the_ids_of_their_own_texts() -> None:
    """With a GIL they never meet in it; compiled by tests/recipes/plain_c.py they do."""
    table, words = segments_table(), [f" w{k}" for k in range(400)]
    learn(table, {word: [k] * (k % 7) for k, word in enumerate(words)})
    orders = [[(first + 7 * k) % 400 for k in range(40 + first)] for first in range(0, 300, 9)]
    rows = [("".join(words[k] for k in order), order) for order in orders]
    wrong: list[str] = []

    def work(seed: int) -> None:
        draw = random.Random(seed)
        for number in range(60):
            text, order = draw.choice(rows)
            learn(table, {f" {seed}x{number}": [number]})
            ids, lengths, _, missed = looked_up(table, [text])
            if missed or ids != [k for k in order for _ in range(k % 7)] or lengths != [len(ids)]:
                wrong.append(text)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


@needs_kernel
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_child_does_not_wait_for_a_thread_of_its_parent_that_has_the_table() -> None:
    """It begins with an empty table, or has the whole one: with a GIL always, compiled by
    tests/recipes/plain_c.py by chance."""
    code = """
import os, signal, threading, warnings
import numpy as np
from tokpar.process import kernel_modules
warnings.simplefilter("ignore")
table, words = kernel_modules.CALL.Segments(bytes([7]) * 256, 1024), [f" w{k}" for k in range(300)]
ids, edges = np.arange(300, dtype=np.uint32), np.arange(301, dtype=np.int64)
done = threading.Event()
table.learn(words, ids, edges)
def work():
    while not done.is_set():
        table.learn(words, ids, edges)
        table.look_up(("".join(words),))
thread = threading.Thread(target=work); thread.start()
code = 0
for _ in range(20):
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that waits
        for _ in range(2):
            found, _, _, missed, _ = table.look_up(("".join(words),))
            assert len(found) // 4 + len(missed) == 300
            table.learn(words, ids, edges)
        os._exit(0 if found == ids.tobytes() else 1)
    code = os.waitpid(child, 0)[1]
    if code:
        break
done.set(); thread.join()
assert code == 0, code
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240)
