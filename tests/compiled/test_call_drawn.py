"""The compiled call against the engine's own call: drawn tokenizers, every door to it, faults."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import at_most, needs_below_one, needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.call_answers import call_of, own_ids
from tests.support.calls_drawn import DRAWN, draw_added, draw_text
from tests.support.tokenizers_drawn import DATA, named_tokenizers
from tokpar.compiled import call_tables, compiled_build, compiled_call
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.errors import MismatchError
from tokpar.formats.vocabulary import letters_of
from tokpar.process import disk_cache

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
SEEDS = st.integers(0, 1 << 60)


def drawn(kind: str, seed: int) -> tuple[Any, list[str], random.Random]:
    draw = random.Random(seed)
    tokenizer = DRAWN[kind](draw)
    contents = draw_added(draw, tokenizer)
    tokenizer.encode_special_tokens = draw.random() < 0.2
    return tokenizer, contents, draw


@pytest.mark.parametrize("kind", DRAWN)
@at_most(60)
@given(seed=SEEDS)
def test_drawn_tokenizers_have_the_engine_s_ids(kind: str, seed: int) -> None:
    """One by one, as a batch, again, and in parts."""
    tokenizer, contents, draw = drawn(kind, seed)
    with pytest.MonkeyPatch.context() as patched:  # the comparison at load would hide a fault
        patched.setattr(call_tables, "LONGEST_FROM", draw.choice([1, 6, 25]))
        patched.setattr(call_tables, "USES_AVX2", draw.random() < 0.5)
        patched.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
        adapter: Any = tokpar.load(tokenizer)
    call = adapter.later_call and adapter.later_call.call
    if call is None:
        return
    texts = [draw_text(draw, contents) for _ in range(20)]
    expected = [own_ids(tokenizer, text, special=True) for text in texts]
    for _ in range(2):
        rows, flags = call.rows(texts, 2)
        for k, (text, ids) in enumerate(zip(texts, expected, strict=True)):
            found = call.encode(text)
            assert found is None or found.tolist() == ids, text
            assert not flags[k] or rows[k].tolist() == ids, text


@pytest.mark.parametrize("kind", DRAWN)
@at_most(30)
@given(seed=SEEDS)
def test_runs_that_are_known_have_the_engine_s_ids(kind: str, seed: int) -> None:
    """Long texts of the same few parts, side by side in other orders, again and again."""
    tokenizer, contents, draw = drawn(kind, seed)
    call = call_of(tokenizer)
    if call is None:
        return
    parts = [draw_text(draw, contents) for _ in range(8)]
    parts += [(part + draw.choice(["\n", " "])) * draw.randrange(2, 20) for part in parts]
    for _ in range(6):
        text = "".join(draw.choices(parts, k=12))
        expected = own_ids(tokenizer, text, special=True)
        for _ in range(3):
            found = call.encode(text)
            assert found is None or found.tolist() == expected, text


@pytest.mark.parametrize("kind", DRAWN)
@at_most(2)
@given(seed=SEEDS)
def test_a_long_new_text_has_the_engine_s_ids_again_and_again(kind: str, seed: int) -> None:
    """The first call looks up some of its runs. Later calls look up all, also beside new text."""
    draw = random.Random(seed)
    tokenizer = DRAWN[kind](draw)
    call = call_of(tokenizer)
    if call is None:
        return
    parts = [draw_text(draw, []) for _ in range(40)]
    first = new_text(draw, parts)
    new = new_text(draw, parts)[: LONG // 2]
    second = first[: draw.randrange(LONG)] + new + first[-LONG // 2 :]
    for text in (first, second):
        expected = own_ids(tokenizer, text, special=True)
        for _ in range(4):
            found = call.encode(text)
            assert found is None or found.tolist() == expected


LONG = 200_000
"""Characters: several stretches behind the runs after which some are looked up (call_runs.h)."""


def new_text(draw: random.Random, parts: list[str]) -> str:
    """No two of its runs are alike."""
    text, size = [], 0
    while size < LONG:
        text.append(draw.choice(parts)[:200] + draw.choice([" ", "\n", ""]) + str(draw.random()))
        size += len(text[-1])
    return "".join(text)


@pytest.mark.parametrize("name", ["default", "deepseek_part", "llama_style", "cl100k_part"])
def test_eight_threads_have_the_serial_ids(name: str) -> None:
    adapter: Any = tokpar.load(named_tokenizers()[name])
    call = adapter.later_call.wait()
    texts = [ENGLISH[k : k + 40 * k % 3000] for k in range(400)]
    expected = [adapter.encode(text).tolist() for text in texts]
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(call.encode_plain, texts * 4)]
    assert [ids.tolist() for ids in found] == expected * 4


@pytest.mark.parametrize("keeps_utf8", [True, False])
@pytest.mark.parametrize("more", ["", "naïve 中文 \U0001f600 "])
def test_long_texts_are_encoded_in_parts(
    more: str, keeps_utf8: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_call, "LEAST_PART", 50)
    monkeypatch.setattr(compiled_call, "LONGEST_SHARED", 1 << 25 if keeps_utf8 else 0)
    encoder = tokpar.Encoder()
    encoder.prepare()
    text = (more + ENGLISH) * 3
    call = encoder.tokenizer.later_call.call  # type: ignore[attr-defined]
    expected = encoder.tokenizer.encode(text).tolist()
    ids, seams = call.encode_long(text, 5)
    assert ids.tolist() == expected
    assert len(seams) == 4
    for seam in seams:
        assert len(encoder.tokenizer.encode(text[: seam.position])) == seam.token
    rows, flags = call.rows([text, "", text[:99]], 7)
    assert [row.tolist() for row in (rows[0], rows[1])] == [expected, []]
    assert all(flags)


def test_a_part_begins_behind_what_its_cut_absorbs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The prefix that the tokenizer puts before every text stands for that space (theorem 6.4)."""
    monkeypatch.setattr(compiled_call, "LEAST_PART", 50)
    adapter: Any = tokpar.load(named_tokenizers()["llama_style"])
    call = adapter.later_call.wait()
    ids, seams = call.encode_long(ENGLISH, 5)
    assert [seam.absorbed for seam in seams] == [1] * 4
    assert call.without_special(ids).tolist() == adapter.encode(ENGLISH).tolist()


def test_a_call_that_the_engine_contradicts_at_load_is_not_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = CompiledCall.encode_plain

    def mistaken(self: CompiledCall, text: str) -> Any:
        found = honest(self, text)
        return found if found is None else found + 1

    monkeypatch.setattr(CompiledCall, "encode_plain", mistaken)
    adapter: Any = tokpar.load(DRAWN["characters"](random.Random(1)))
    assert adapter.later_call.call is None


def at_the_first_hit(arrays: Any) -> Any:
    moves = arrays["moves"].copy()
    moves[moves >> 31 > 0] |= np.uint32(1 << 30)
    return arrays | {"moves": moves}


def with_another_id(arrays: Any) -> Any:
    words = arrays["words"].view(np.uint32).reshape(-1, 8).copy()
    words[words[:, 3] > 0, 4] ^= 1
    return arrays | {"words": words.reshape(-1).view(np.uint64)}


MISTAKES = {"the first hit": at_the_first_hit, "another id": with_another_id}


@pytest.mark.parametrize("name", ["the first hit", "another id"])
def test_tables_with_a_mistake_are_not_used(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", "")
    made = call_tables.byte_arrays
    monkeypatch.setattr(call_tables, "byte_arrays", lambda *given: MISTAKES[name](made(*given)))
    path = str(DATA / "default.json")
    assert tokpar.load(Tokenizer.from_file(path)).later_call.call is None  # type: ignore[attr-defined]


def test_the_engine_s_ids_of_parts_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    tokenizer.normalizer = normalizers.NFC()
    adapter: Any = tokpar.load(tokenizer)
    call: CompiledCall = adapter.later_call.call
    asked: list[list[str]] = []
    engine = call._encode_many
    monkeypatch.setattr(call, "_encode_many", lambda texts: asked.append([*texts]) or engine(texts))
    monkeypatch.setattr(compiled_call, "MOST_HOLES", 3)
    texts = [f"plain text here, e{mark} there e{mark}" for mark in "\u0301\u0300\u0308\u0302\u030a"]
    for text in [texts[0], texts[0], *texts, texts[0], " e\u0301" * 999 + " abcd" * 9999]:
        found = call.encode(text)
        assert found is None or found.tolist() == tokenizer.encode(text).ids
    parts = [[*dict.fromkeys(each)] for each in asked]
    assert parts == asked
    assert len(asked) == 7
    assert asked[0] == asked[5]


@pytest.mark.parametrize("ignore_merges", [True, False])
def test_a_token_is_looked_up_as_a_whole_word_where_the_file_says_so(ignore_merges: bool) -> None:
    vocab = {letters_of(bytes([byte])): byte for byte in range(256)}
    vocab |= {"ab": 256, "aa": 257, "aab": 258, "bb": 259}
    merges = [("a", "b"), ("a", "a"), ("aa", "b")]
    own = Tokenizer(models.BPE(vocab, merges, ignore_merges=ignore_merges))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    call = tokpar.load(own).later_call.call  # type: ignore[attr-defined]
    for text, whole, parts in (("aab", [258], [97, 256]), ("bb", [259], [98, 98])):
        assert own.encode(text).ids == (whole if ignore_merges else parts)
        assert call.encode(text).tolist() == own.encode(text).ids


def test_a_word_with_other_ids_is_an_error_and_then_the_engine_s(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.SAMPLED", 1)  # each new word is compared
    tokenizer = DRAWN["bytes"](random.Random(1))
    adapter: Any = tokpar.load(tokenizer)
    call: CompiledCall = adapter.later_call.call
    assert call.encode("ordinary words").tolist() == tokenizer.encode("ordinary words").ids
    monkeypatch.setattr(call, "_tokenize", lambda word: [1, 2, 3, 4])
    with pytest.raises(MismatchError, match="please report this"):
        call.encode("something else")
    assert call.encode("ordinary words") is call.encode_plain("a") is None
    assert not call.rows(["a", "b"], 1)[1].any()


def test_tables_are_stored_once_and_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setattr("tokpar.adapters.hf_call.LEAST_KEPT", 0)
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    first: Any = tokpar.load(tokenizer)
    [path] = (tmp_path / compiled_build.KIND).iterdir()
    expected = first.later_call.call.encode("ab 12").tolist()
    made: list[object] = []
    monkeypatch.setattr(call_tables, "byte_arrays", lambda *given: made.append(given))
    again: Any = tokpar.load(type(tokenizer).from_str(tokenizer.to_str()))
    assert again.later_call.call.encode("ab 12").tolist() == expected
    assert not made
    content = path.read_bytes()
    for damaged in (b"", content[:100], content[:-64], b"x" + content[1:]):
        path.write_bytes(damaged)
        assert disk_cache.read(compiled_build.KIND, path.stem) is None


def _loaded_anew(tokenizer: Tokenizer) -> CompiledCall:
    adapter: Any = tokpar.load(Tokenizer.from_str(tokenizer.to_str()))
    call: CompiledCall = adapter.later_call.call
    return call


@pytest.mark.parametrize("place", ["call_of", "drawn_texts", "encode_many", "memmap"])
def test_no_memory_is_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    """The file stays, the load raises MemoryError, and the next load uses the file."""
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path))
    monkeypatch.setattr("tokpar.adapters.hf_call.LEAST_KEPT", 0)
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    load = partial(_loaded_anew, tokenizer)
    load()
    [path] = (tmp_path / compiled_build.KIND).iterdir()
    content, made = path.read_bytes(), path.stat().st_ino

    def fail(*given: object, **options: object) -> None:
        raise MemoryError

    where = {
        "call_of": "tokpar.compiled.call_tables.call_of",
        "drawn_texts": "tokpar.compiled.compiled_call.CompiledCall.encode_plain",
        "encode_many": "tokpar.adapters.hf_call._encode_many",
        "memmap": "tokpar.process.disk_cache._mapped",
    }
    with monkeypatch.context() as patched:
        patched.setattr(where[place], fail)
        with pytest.raises(MemoryError):
            load()
    assert path.read_bytes() == content
    assert load().encode("ab 12").tolist() == tokenizer.encode("ab 12").ids
    assert path.stat().st_ino == made


def test_no_memory_for_a_comparison_is_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar.compiled.call_tables.SAMPLED", 1)  # each new word is compared
    tokenizer = DRAWN["bytes"](random.Random(1))
    adapter: Any = tokpar.load(tokenizer)
    call: CompiledCall = adapter.later_call.call

    def fail(word: bytes) -> list[int]:
        raise MemoryError

    with monkeypatch.context() as patched:
        patched.setattr(call, "_tokenize", fail)
        with pytest.raises(MemoryError):
            call.encode("ordinary words")
    assert call.encode("ordinary words").tolist() == tokenizer.encode("ordinary words").ids


def test_arrays_that_do_not_fit_are_refused() -> None:
    from tokpar.process import kernel_modules

    make: Any = kernel_modules.CALL
    for arrays in ({}, {"settings": np.zeros(10, np.int64)}, {"settings": b"short"}):
        with pytest.raises(ValueError, match="array"):
            make.Call(arrays)
    adapter: Any = tokpar.load(DRAWN["characters"](random.Random(1)))
    call = adapter.later_call.call._call
    with pytest.raises(TypeError, match="must be tuple"):
        call.encode_rows(["a"])
    edges = np.array([0, 9], dtype=np.int64)
    with pytest.raises(ValueError, match="edges"):
        call.encode_utf8(b"short", edges)
    assert call.encode(7) is call.encode("\ud800") is None
