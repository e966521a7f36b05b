"""The memory of stretches: compiled, its uncompiled source, and the tokenizer's own serial call."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.drawn_runs import NAMES, named, own_call
from tests.support.kernel_caches import ALL, small_memory
from tests.support.kernel_twins import TWINS, twin
from tests.support.texts import texts
from tests.support.tokenizers_drawn import DATA, hf_tokenizers, texts_with
from tokpar import kernel_modules
from tokpar.arrays import SPACES, offsets_of, spaces_behind_text, utf8_bytes
from tokpar.cache.cache_policy import LEAST_BYTES
from tokpar.cache.generations import LONGEST_KEPT
from tokpar.cache.segment_cache import SegmentCache
from tokpar.cache.segments import Segments, Unbatcher, unbatcher_for
from tokpar.cache.text_parts import ANYTHING, neighbours_of, next_cut
from tokpar.certificate.stage_rule import places as places_of
from tokpar.cuts.finder import finder_for
from tokpar.errors import OptionError
from tokpar.facts.space_stages import SpaceCut
from tokpar.types import AddedToken, Facts, Rows, Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

ENGLISH = "The quick brown fox jumps over the lazy dog, and the dog over the fox. " * 90
OF_HUGGING_FACE = [name for name in NAMES if isinstance(named(name), Tokenizer)]


def seeds(counting: int = ALL) -> Any:
    return np.array([12345678901234567, 98765432109876543, counting], dtype=np.uint64)


def utf8(rows: list[str]) -> tuple[Any, Any]:
    data = np.frombuffer(bytearray("".join(rows).encode() + bytes(16)), dtype=np.uint8)
    return data, offsets_of(len(row.encode()) for row in rows)


Table = tuple[Any, Any, Any, Any]


def table(slots: int = 8) -> Table:
    return (
        np.zeros(4 * slots, dtype=np.uint64),
        np.zeros(4096, dtype=np.uint8),
        np.zeros(4096, dtype=np.uint32),
        np.zeros(3, dtype=np.int64),
    )


def looked_up(
    functions: Any, rows: list[str], newer: Table, older: Table, key: Any, beside: Any = ANYTHING
) -> Any:
    data, places = utf8(rows)
    size = len(data)
    out, misses = np.zeros(9 * size, dtype=np.uint32), np.zeros(3 * size, dtype=np.int64)
    ends, passed = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows) + 1, dtype=np.int64)
    scratch = np.zeros(4 * functions.BLOCK + 8, dtype=np.uint64)
    missed = functions.look_up(
        data, places, *newer[:3], *older[:3], key, scratch, out, ends, passed, misses, beside
    )
    assert missed >= 0
    spans = [
        (data[at : at + n].tobytes().decode(), before)
        for at, n, before in misses[: 3 * missed].reshape(-1, 3).tolist()
    ]
    return spans, out[: ends[-1] if len(ends) else 0].tolist(), ends.tolist(), passed.tolist()


def stretches_of(row: str) -> list[str]:
    """Cut before each space behind a character other than white space."""
    return re.split(f"(?<=[^{SPACES}])(?= )", row) if row else []


ROWS = st.lists(
    texts(max_size=40) | st.text(f" ab{SPACES}\x1c\u0085\u2007\u200b", max_size=60), max_size=6
).filter(lambda rows: not any(re.search("[\ud800-\udfff]", row) for row in rows))


@TWINS
@given(rows=ROWS)
@example(rows=["a" * 2047 + " b" * 40, " ", "", "  ", "a \n", "\n \na"])
@example(rows=[f"x{space} y" for space in SPACES])
@example(rows=["\u0085 ", "\u00a0 a", "é a", "\u2029 b", "\u3000 b", "\u205f b", "\u1680 b"])
def test_stretches_begin_at_spaces_behind_what_is_no_white_space(
    name: str, rows: list[str]
) -> None:
    spans, out, ends, passed = looked_up(twin(name), rows or [""], table(), table(), seeds())
    expected = [stretches_of(row) for row in rows or [""]]
    assert [span for span, _ in spans] == [each for row in expected for each in row]
    assert (out, set(ends)) == ([], {0})
    assert passed == [*np.cumsum([len(row) for row in expected]).tolist(), len(spans)]


SIDES = st.sampled_from(["any", "sure", "unjoined"])


@TWINS
@given(rows=ROWS, left=SIDES, spared=st.sampled_from(["", "a", "'b"]), at=st.integers(1, 40))
@example(
    rows=["a  b c \x01 d\t a \x0b a b ", " a", "a ", "b a b", "é a b", "a é c"],
    left="sure",
    spared="b",
    at=1,
)
@example(rows=["xba c ", "\x01a c", "a\x0bc a", "éa c"], left="sure", spared="b", at=1)
def test_stretches_begin_only_where_nothing_beside_the_space_is_barred(
    name: str, rows: list[str], left: Any, spared: str, at: int
) -> None:
    """The kernel, the array function of the seams, the checker's regex and `next_cut` agree."""
    cut = SpaceCut(left, spared_chars=frozenset(spared), joined_chars=frozenset(spared))
    spans, *_ = looked_up(twin(name), rows or [""], table(), table(), seeds(), neighbours_of(cut))
    licence = Seam(
        0, "STAGE", "50", (("left", left), ("right", "space"), ("spared", cut.spared_ascii))
    )
    expected = []
    for row in rows:
        places = places_of(licence, row)
        assert spaces_behind_text(row, 0, len(row), cut.sides).tolist() == places
        expected += [row[a:b] for a, b in pairwise([0, *places, len(row)]) if a < b]
        encoded = utf8_bytes(row)
        cuts = {len(row[:p].encode()) for p in places} | {len(encoded)}
        assert next_cut(encoded, min(at, len(encoded)), neighbours_of(cut)) in cuts
    assert [span for span, _ in spans] == expected


WORDS = st.text("ab é中\U0001f600", min_size=1, max_size=24) | st.text("a", min_size=1, max_size=40)


@TWINS
@given(
    known=st.dictionaries(WORDS, st.lists(st.integers(0, 2**32 - 1), max_size=5), max_size=20),
    late=st.sets(WORDS, max_size=5),
    rows=st.lists(st.lists(WORDS, max_size=6).map("".join), max_size=4),
    counting=st.sampled_from([ALL, 3, 1, 0]),
    size=st.sampled_from([8, 32, 128]),
)
def test_what_was_put_in_is_found_and_nothing_else(
    name: str,
    known: dict[str, list[int]],
    late: set[str],
    rows: list[str],
    counting: int,
    size: int,
) -> None:
    """Also where all hashes are equal, and where the table is too small for some."""
    functions, key = twin(name), seeds(counting)
    newer, older = table(size), table(8)
    for into, some in ((newer, set(known) - late), (older, set(known) & late)):
        words = sorted(some)
        put_in(functions, into, words, [known[word] for word in words], key)
    rows = [*rows, *known]
    spans, out, ends, _ = looked_up(functions, rows, newer, older, key)
    expected, missed = [], list(spans)
    for row, end in zip(rows, ends, strict=True):
        for stretch in stretches_of(row):
            if missed and missed[0] == (stretch, len(expected)):
                missed.pop(0)
            else:
                expected += known[stretch]
        assert len(expected) == end
    assert (out, missed) == (expected, [])
    if counting == ALL and size == 128 and not late:
        assert not {span for span, _ in spans} & set(known)


def put_in(
    functions: Any, into: Table, words: list[str], ids: list[list[int]], key: Any, doors: int = 1
) -> int:
    data, places = utf8(words)
    given_ids = np.array([i for row in ids for i in row], dtype=np.uint32)
    edges = offsets_of(map(len, ids))
    starts, stops = edges[:-1].copy(), edges[1:].copy()
    told = data, places[:-1].copy(), np.diff(places), given_ids, starts, stops
    rest = np.zeros(len(words), dtype=np.int64), np.zeros(doors, dtype=np.uint8)
    return int(functions.put(*into, key, *told, 0, LONGEST_KEPT, *rest))


@needs_kernel
@given(
    words=st.lists(WORDS, min_size=1, max_size=30),
    counting=st.sampled_from([ALL, 7, 0]),
    larger=st.sampled_from([16, 64]),
)
def test_both_twins_do_the_same(words: list[str], counting: int, larger: int) -> None:
    """Tables word for word, what is different among misses, where joined pieces go."""
    found = []
    ids = [[k] * (k % 4) for k in range(len(words))]
    for name in ("plain", "compiled"):
        functions, into = twin(name), table(16)
        done = put_in(functions, into, words, ids, seeds(counting))
        grown = np.zeros(4 * larger, dtype=np.uint64)
        moved = functions.copy_to_larger(into[0], into[1], grown, seeds(counting))
        data, places = utf8(words)
        count = len(words)
        misses = np.stack([places[:-1], np.diff(places), places[:-1]], axis=1).ravel()
        which, firsts = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        kinds = np.zeros(count, dtype=np.uint8)
        empty = np.full(1 << (2 * count).bit_length(), -1, dtype=np.int64)
        different = functions.distinct(
            data, misses, count, seeds(counting), empty, which, firsts, kinds
        )
        assert different == len(set(words))
        assert [words[firsts[w]] for w in which.tolist()] == words
        for k in range(different):
            word = words[firsts[k]]
            assert kinds[k] == (word[0] != " ") + 2 * (word[-1] in SPACES)
        arrays = [each.tolist() for each in (*into, grown, which, firsts, kinds)]
        found.append((done, moved, different, arrays))
    assert found[0] == found[1]


# ------------------------------------------------------------------- the ids of real tokenizers


@needs_kernel
@given(
    st.data(),
    st.one_of(hf_tokenizers(), st.sampled_from(OF_HUGGING_FACE).map(named)),
    st.sampled_from([ALL, ALL, 1, 0]),
)
def test_batches_have_the_serial_ids_and_each_seam_is_licensed(
    data: st.DataObject, tokenizer: Any, counting: int
) -> None:
    """With a tiny budget, waves of few texts, and hashes that are all equal."""
    adapter: Any = tokpar.load(tokenizer)
    contents = tuple(token.content for token in adapter.facts.added_tokens)
    rows = data.draw(st.lists(texts_with(contents[:5], 60), min_size=2, max_size=8), label="rows")
    own = [own_call(tokenizer, row) for row in rows]  # sets aside what the engine fails on
    expected = [native.ids for native in tokenizer.encode_batch(rows)]
    if adapter.has_segment_cache:
        adapter._segment_cache = small_memory(adapter, kernel_modules.SEGMENTS, counting, wave=60)
    with (
        patch("tokpar.cache.learning.MOST_NEW", 9.0),
        tokpar.Encoder(adapter, workers=2) as encoder,
    ):
        for _ in "12":
            batch = encoder.encode_batch(rows)
            assert [encoding.ids.tolist() for encoding in batch] == expected
    for row, alone, encoding in zip(rows, own, batch, strict=True):
        if encoding.report.plan == "divided at every space":
            assert encoding.seams.everywhere is not None
            cuts = np.cumsum([len(stretch) for stretch in stretches_of(row)])[:-1]
            places = [seam.position for seam in encoding.seams]
            if finder_for(adapter.facts).spaces:  # stages may not cut beside some characters
                assert {*places} <= {*cuts.tolist()}
            else:
                assert places == cuts.tolist()
            counts = [len(adapter.encode(row[:p])) for p in places]
            assert [seam.token for seam in encoding.seams] == counts
        if encoding.ids.tolist() == alone:  # not padded to the longest
            report = tokpar.check(encoding, row, adapter)
            assert report.ok, report.findings


@needs_kernel
@pytest.mark.parametrize("name", ["default", "bert_part", "deepseek_part"])
def test_many_small_texts_are_divided(name: str) -> None:
    tokenizer = named(name)
    rows = [ENGLISH[k : k + 200] for k in range(0, len(ENGLISH), 200)] * 9
    batch = tokpar.Encoder(tokenizer).encode_batch(rows)
    assert [encoding.ids.tolist() for encoding in batch] == [own_call(tokenizer, r) for r in rows]
    assert batch.report.executor == "memo"
    assert batch.report.plan.endswith(f"{len(rows):,} divided at every space")
    assert batch[3].report.plan == "divided at every space"
    assert tokpar.check(batch[3], rows[3], tokenizer).ok


@needs_kernel
def test_texts_that_may_not_be_divided_are_not() -> None:
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    tokenizer.add_tokens([NativeToken("lazy dog", lstrip=True, rstrip=True, normalized=False)])
    rows = [ENGLISH[:300], ENGLISH.replace("lazy", "old")[:300], ""] * 5
    batch = tokpar.Encoder(tokenizer).encode_batch(rows)
    assert [encoding.ids.tolist() for encoding in batch] == [own_call(tokenizer, r) for r in rows]
    divided = [encoding.seams.everywhere is not None for encoding in batch]
    assert divided == [False, True, False] * 5


@needs_kernel
def test_texts_with_lone_surrogates_and_their_neighbours_go_straight() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    pattern = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
    native = tiktoken.Encoding("x", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    rows = ["some words and some words"] * 30
    encoder = tokpar.Encoder(native)
    for each, divided in ((rows, True), ([*rows, "a \ud800 b"], False), (rows, True)):
        batch = encoder.encode_batch(each)
        assert [encoding.ids.tolist() for encoding in batch] == [native.encode(r) for r in each]
        assert all((e.seams.everywhere is not None) == divided for e in batch)


@needs_kernel
@pytest.mark.parametrize("strategy", ["serial", "overlap", "lopt", "delimiter"])
def test_other_strategies_divide_no_short_text(strategy: str) -> None:
    rows = [ENGLISH[:300]] * 50
    with tokpar.Encoder("default", strategy=strategy, allow_approximate=True) as encoder:
        batch = encoder.encode_batch(rows)
    assert all(encoding.seams.everywhere is None for encoding in batch)


@needs_kernel
def test_a_tokenizer_that_is_changed_never_answers_from_old_entries() -> None:
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    rows = [ENGLISH[:500]] * 40

    def agrees() -> bool:
        found = tokpar.encode_batch(rows, tokenizer)
        assert found.report.executor == "memo"
        return [each.ids.tolist() for each in found] == [own_call(tokenizer, row) for row in rows]

    assert agrees()
    assert agrees()
    tokenizer.add_tokens(["brown fox"])
    assert agrees()
    tokenizer.normalizer = normalizers.Lowercase()
    assert agrees()


@needs_kernel
def test_old_stretches_are_forgotten_and_long_ones_not_kept() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    small = small_memory(adapter, kernel_modules.SEGMENTS, ALL, wave=1 << 20)
    own = lambda rows: adapter.encode_many(rows, False)  # noqa: E731

    def missed(row: str) -> int:
        before = small.state.missed
        with patch("tokpar.cache.learning.MOST_NEW", 9.0):
            rows, flags = small.encode([row], own, 1)
        assert all(flags)
        assert rows[0].tolist() == adapter.encode(row).tolist()
        return small.state.missed - before

    first = "one two three"
    assert [missed(first), missed(first)] == [3, 0]
    long = "x" * (LONGEST_KEPT + 1)
    assert [missed(long), missed(long)] == [1, 1]
    for k in range(20):
        missed(" ".join(f"w{k}.{n}" for n in range(200)))
    assert missed(first) == 3
    state = small._tables._state
    assert state is not None
    for generation in (state.newer, state.older):
        assert sum(array.nbytes for array in generation.arrays) <= LEAST_BYTES // 2


@needs_kernel
def test_a_budget_below_the_least_says_so() -> None:
    with pytest.raises(OptionError, match="cache_bytes must be 0, or 65,536 or more, got 5"):
        SegmentCache(Unbatcher, (), 5)


@needs_kernel
def test_many_threads_may_use_one_memory() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    small = small_memory(adapter, kernel_modules.SEGMENTS, ALL, wave=1000)
    variants = [ENGLISH.replace("fox", f"fox{n}").replace(" o", f" o{n}o") for n in range(8)]
    expected = [adapter.encode(text).tolist() for text in variants]
    wrong: list[int] = []

    def work(n: int) -> None:
        for k in range(12):
            at = (n + k) % 8
            rows, flags = small.encode([variants[at]], lambda t: adapter.encode_many(t, False), 2)
            if flags[0] and rows[0].tolist() != expected[at]:
                wrong.append(at)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    with patch("tokpar.cache.learning.MOST_NEW", 9.0):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert wrong == []
    assert small.state.looked > 0
    state = small._tables._state
    assert state is not None
    assert state.readers == 0


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


# ------------------------------------------------------------------------- joining, deciding


@TWINS
@pytest.mark.parametrize("how", ["sizes", "separator", "alone"])
def test_ids_that_do_not_come_apart_are_not_believed(name: str, how: str) -> None:
    words = [" ab", " c", "first", " last \n"]
    data, places = utf8(words)
    kinds = np.array([0, 0, 1, 2], dtype=np.uint8)
    some = Segments(data, places[:-1].copy(), np.diff(places), kinds)
    apart = {
        "sizes": Unbatcher(sizes=lambda ids: np.ones(len(ids), dtype=np.int64)),
        "separator": Unbatcher(separator=AddedToken("|", ord("|"))),
        "alone": Unbatcher(),
    }[how]

    def honest(rows: Any) -> Rows:
        return Rows.of([list(row.encode()) for row in rows])

    fresh = some.encode(apart, honest, twin(name))
    assert fresh is not None
    for k, word in enumerate(words):
        assert fresh.ids[fresh.firsts[k] : fresh.stops[k]].tolist() == list(word.encode())
    short = {
        "sizes": lambda rows: Rows.of([list(row.encode())[1:] for row in rows]),
        "separator": lambda rows: Rows.of([list(row.replace("|", "").encode()) for row in rows]),
        "alone": lambda rows: Rows.of([list(row.encode()) for row in rows[1:]]),
    }[how]
    assert some.encode(apart, short, twin(name)) is None


def test_stretches_recombine_only_if_no_added_token_can_lie_across() -> None:
    """ "x<" and " s>" make "< s>" (theorem 28)."""
    from tokpar.facts.token_lengths import TokenLengths

    lengths = TokenLengths([0, 1], [1, 2])

    def facts(*tokens: AddedToken) -> Facts:
        return Facts(engine="e", model="BPE", scheme="regex", tiles=True, added_tokens=tokens)

    assert unbatcher_for(facts(AddedToken("<s>", 5)), lengths).sizes is not None
    assert unbatcher_for(facts(AddedToken(" s>", 5)), lengths).sizes is not None
    for token in (AddedToken("< s>", 5), AddedToken(" s>", 5, single_word=True)):
        apart = unbatcher_for(facts(token), lengths)
        assert apart.sizes is None


def test_ids_of_tokens_of_two_lengths_are_no_certain_ones() -> None:
    from tokpar.facts.token_lengths import TokenLengths

    lengths = TokenLengths([0, 1, 1, 2], [1, 2, 3, 4])
    ids = np.array([0, 1, 2, 7], dtype=np.uint32)
    assert lengths.certain(ids).tolist() == [1, 0, 4, 0]
    assert lengths.lengths_of(ids).tolist() == [1, 3, 4, 0]


@pytest.mark.parametrize(("value", "said"), [("none", "none"), ("fast", "TOKPAR_KERNEL must be")])
def test_the_kernel_is_chosen_by_a_variable(value: str, said: str) -> None:
    code = "import tokpar.kernel_modules as k; print(k.NAME)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "TOKPAR_KERNEL": value},
    )
    assert said in done.stdout + done.stderr
    assert (done.returncode == 0) == (value == "none")


def test_without_the_kernel_the_ids_are_the_same() -> None:
    code = (
        "import tokpar\n"
        f"rows = [{ENGLISH[:500]!r}] * 50\n"
        "with tokpar.Encoder('default') as encoder:\n"
        "    batch = encoder.encode_batch(rows)\n"
        "    print(batch.report.executor, *batch[1].ids.tolist())\n"
    )
    found = {
        value: subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "TOKPAR_KERNEL": value},
        ).stdout.split(maxsplit=1)
        for value in ("none", "" if kernel_modules.SEGMENTS is None else "compiled")
    }
    assert len({ids for _, ids in found.values()}) == 1
    assert found["none"][0] == "native"


# ------------------------------------------------------------- theorems 27 and 28: witnesses


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
    """No stretch holds "the end", and the text does."""
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


@pytest.mark.parametrize(
    ("added", "parts"),
    [
        pytest.param((), ["the", "re"], id="company"),
        pytest.param(("< s>",), ["x<", " s>"], id="across"),
        pytest.param((), ["a", "b"], id="first"),
        pytest.param((), ["a ", "  b"], id="last"),
    ],
)
def test_theorem_28_needs_each_condition(added: tuple[str, ...], parts: list[str]) -> None:
    vocabulary = ["the re", "th", "er", "ab", "x< s>", "  "]
    merges = [("t", "h"), ("e", "r"), ("a", "b"), (" ", " ")]
    tokenizer = bare(vocabulary, merges, WORDWISE)
    tokenizer.add_tokens([NativeToken(content, normalized=False) for content in added])
    assert ids_of(tokenizer, "".join(parts)) != ids_of(tokenizer, *parts)
