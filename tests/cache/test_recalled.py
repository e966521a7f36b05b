"""Long texts that a memory divides as they are: their waves, the added tokens in them, and when an
engine is quick enough to do without."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken as NativeToken
from tokenizers import Tokenizer
from tokpar.cache.cache_policy import (
    FAST_ENGINE,
    MOST_BUDGET,
    USUAL,
    CachePolicy,
    CacheState,
    CallState,
)
from tokpar.cache.segments import unbatcher_for
from tokpar.cache.text_parts import next_cut

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import ALWAYS, DIVIDED, ENGLISH, encoded
from tests.support.drawn_runs import named, own_call
from tests.support.tokenizers_drawn import DATA, hf_tokenizers, texts_with
from tokpar import kernel_modules, pipeline
from tokpar.arrays import SPACES, utf8_bytes
from tokpar.cache.segment_cache import SegmentCache
from tokpar.cuts.added_token_guard import AddedTokenGuard
from tokpar.cuts.finder import finder_for
from tokpar.executors.native import CachedExecutor
from tokpar.methods import cut
from tokpar.plan import Plan
from tokpar.types import AddedToken, Rows

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@given(st.data(), hf_tokenizers(), st.sampled_from([None, CachePolicy(0.5, 20)]))
def test_whole_texts_have_the_serial_ids_and_each_seam_is_licensed(
    data: st.DataObject, tokenizer: Any, terms: CachePolicy | None
) -> None:
    adapter: Any = tokpar.load(tokenizer)
    contents = tuple(token.content for token in adapter.facts.added_tokens)
    texts = data.draw(st.lists(texts_with(contents[:5], 200), min_size=1, max_size=4))
    own = [own_call(tokenizer, text) for text in texts]  # sets aside what the engine fails on
    batch = encoded(texts, adapter, terms=terms)
    for text, expected, encoding in zip(texts, own, batch, strict=True):
        if len(texts) == 1 or tokenizer.padding is None:
            assert encoding.ids.tolist() == expected
            report = tokpar.check(encoding, text, adapter)
            assert report.ok, report.findings
        if encoding.report.plan == DIVIDED:
            cuts = [m.start() for m in re.finditer(f"(?<=[^{SPACES}])(?= )", text)]
            positions = encoding.seams.positions.tolist()
            if finder_for(adapter.facts).spaces:  # stages may not cut beside some characters
                assert {*positions} <= {*cuts}
            else:
                assert positions == cuts


@needs_kernel
@pytest.mark.each_value
@pytest.mark.parametrize("flag", ["", "lstrip", "rstrip", "single_word"])
@pytest.mark.parametrize("content", ["<s>", "|s", " <s>", "the lazy", "é x", "x "])
def test_a_text_is_not_divided_as_it_is_where_an_added_token_forbids_it(
    content: str, flag: str
) -> None:
    """One that has a cut inside, or swallows the space at one, or is a word that begins there."""
    inside, word = re.search(r"\S ", content), flag == "single_word" and content[0] == " "
    may = not (inside or word or flag == "rstrip")
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    flags: dict[str, Any] = {flag: True} if flag else {}
    tokenizer.add_tokens([NativeToken(content, normalized=False, **flags)])
    plain = ENGLISH.replace("the lazy", "a lazy").replace("x ", "y ")
    rows = [plain, f"{plain}a{content} b {plain}", plain.upper(), f"{content} b {plain} Z"]
    batch = encoded(rows, tokpar.load(tokenizer), wave=20_000)
    assert [each.ids.tolist() for each in batch] == [own_call(tokenizer, row) for row in rows]
    assert [each.report.plan == DIVIDED for each in batch] == [True, may, True, may]
    assert batch.report.plan.endswith(f"{4 if may else 2} divided at every space")
    for each, row in zip(batch, rows, strict=True):
        assert tokpar.check(each, row, tokenizer).ok
    adapter: Any = tokpar.load(tokenizer)
    with patch("tokpar.cache.learning.MOST_NEW", ALWAYS):
        found, flags = adapter.cached_rows(rows, 2)
    assert list(flags) == [True, may, True, may]
    assert [len(found[k]) > 0 for k in range(4)] == list(flags)
    assert len(found.ids) == found.offsets[-1]
    with tokpar.Encoder(tokenizer) as encoder:
        short = [row[:1000] for row in rows] + [content, "a b"] * 9
        both = [encoder.encode_batch(short) for _ in "12"]
    for each in both:
        assert [row.ids.tolist() for row in each] == [own_call(tokenizer, row) for row in short]


@pytest.mark.usefixtures("engine_only")
@needs_kernel
@pytest.mark.parametrize("name", ["bert_part", "default", "deepseek_part"])
def test_stretches_with_added_tokens_are_texts_of_their_own(name: str) -> None:
    """Also the one that stands between others where their ids could not be told apart else."""
    adapter: Any = tokpar.load(named(name), truncation=False, padding=False)
    contents = [token.content for token in adapter.facts.added_tokens][:6]
    words = [
        f"{ENGLISH[: 40 * (k + 1)].strip()} x{content}y {content}"
        for k, content in enumerate(contents)
    ]
    rows = [" ".join(words), words[0], contents[-1], f"{contents[0]} {ENGLISH}"]
    with (
        patch("tokpar.cache.learning.MOST_NEW", ALWAYS),
        patch.object(adapter, "encode_many", wraps=adapter.encode_many) as call,
    ):
        found, flags = adapter.cached_rows(rows, 2)
    assert list(flags) == [True] * 4
    assert [found[k].tolist() for k in range(4)] == [adapter.encode(row).tolist() for row in rows]
    [joined, alone] = [list(each.args[0]) for each in call.call_args_list]
    assert not any(content in text for text in joined for content in contents[1:])
    assert {f" x{content}y" for content in contents} <= set(alone)
    assert all(any(content in text for content in contents) for text in alone)


@needs_kernel
def test_long_texts_among_short_ones_keep_their_places() -> None:
    tokenizer = Tokenizer.from_file(str(DATA / "default.json"))
    long = ENGLISH * 40
    rows = ["a b", long, "", "c d e", long[::-1], long, "f"]
    with tokpar.Encoder(tokenizer) as encoder:
        for _ in "12":
            batch = encoder.encode_batch(rows)
            assert [each.ids.tolist() for each in batch] == [own_call(tokenizer, r) for r in rows]
        divided = {k for k, each in enumerate(batch) if each.report.plan == DIVIDED}
        assert {1, 4, 5} <= divided <= {0, 1, 3, 4, 5, 6}
    assert batch.report.plan == f"0 of 7 texts cut, {len(divided)} divided at every space"
    for each, row in zip(batch, rows, strict=True):
        assert tokpar.check(each, row, tokenizer).ok


@pytest.mark.usefixtures("engine_only")
@needs_kernel
def test_a_text_that_ends_in_what_never_comes_again_is_known_up_to_there() -> None:
    """As a whole it does not pay; its chunks are asked for one by one, and most of them known."""
    adapter = tokpar.load(str(DATA / "default.json"))
    noise = random.Random(3).randbytes(300_000)
    text = ENGLISH * 20 + " " + " ".join(noise[k : k + 9].hex() for k in range(0, len(noise), 9))
    with tokpar.Encoder(adapter) as encoder:
        encoding = encoder.encode(text)
    assert encoding.ids.tolist() == adapter.encode(text).tolist()
    assert encoding.report.plan.startswith("certified cuts")
    assert 0 < encoding.report.cache["straight"] <= len(text) - len(ENGLISH) * 20
    assert encoding.seams.everywhere is not None


@needs_kernel
def test_what_watches_a_text_sees_its_chunks() -> None:
    """`explain` shows how pieces were joined: nothing is, in a text that is divided as it is."""
    seen: list[Any] = []
    adapter = tokpar.load("default")
    splitter, merger = cut.build(chunk_chars=500)
    with CachedExecutor(1) as executor:
        plan = Plan(adapter, splitter, executor, merger, "auto", whole=True)
        pipeline.encode_batch([ENGLISH], plan, watch=seen.append)
    assert len(seen[0].chunks) > 5


@needs_kernel
def test_the_size_of_chunks_that_was_asked_for_is_kept() -> None:
    asked, usual = tokpar.encode(ENGLISH, chunk_chars=500), tokpar.encode(ENGLISH)
    assert asked.report.chunks > 5
    assert usual.report.plan == DIVIDED
    assert asked.ids.tolist() == usual.ids.tolist()


@given(st.text(f"ab{SPACES}é一😀", max_size=80), st.integers(1, 90))
def test_the_next_cut_is_one_that_a_lookup_makes(text: str, at: int) -> None:
    data = utf8_bytes(text)
    found = next_cut(data, at)
    cuts = [len(text[: m.start()].encode()) for m in re.finditer("(?<=[!-~])(?= )", text)]
    assert found == next((cut for cut in cuts if cut >= at), max(len(data), 0))


def test_the_bytes_of_a_text_are_its_own_and_outlive_the_name() -> None:
    text = "".join(["plain", " text"])
    for each in (text, text + "é一😀", ""):
        data = utf8_bytes(each)
        assert data.tobytes() == each.encode()
        assert not data.flags.writeable
    kept = utf8_bytes("".join(["a", "é" * 5000]))
    assert kept.tobytes() == ("a" + "é" * 5000).encode()
    with pytest.raises(UnicodeEncodeError):
        utf8_bytes("a \ud800")


CONTENTS = st.lists(st.text("<|s> ", min_size=1, max_size=4), max_size=5)


@given(CONTENTS, st.data())
def test_tokens_that_stand_over_no_cut_lie_in_one_stretch(
    contents: list[str], data: st.DataObject
) -> None:
    guard = AddedTokenGuard(tuple(AddedToken(each, k) for k, each in enumerate(contents)))
    text = data.draw(texts_with(tuple(contents), 60))
    stretches = re.split(f"(?<=[^{SPACES}])(?= )", text)
    if guard.between_spaces:
        apart = any(each in stretch for each in contents for stretch in stretches)
        assert apart == any(each in text for each in contents)


@given(CONTENTS, st.text("<|s>ab ", max_size=400))
def test_no_token_is_overlooked_in_a_long_text(contents: list[str], text: str) -> None:
    """Around each mark while these are rare, then at once."""
    guard = AddedTokenGuard(tuple(AddedToken(each, k) for k, each in enumerate(contents)))
    text += "b" * 5 * len(text)
    assert guard.absent(text, 0, len(text)) == (not any(each in text for each in contents))


@pytest.mark.parametrize("at", [0, 1, 500, 995, 996, 997])
@pytest.mark.parametrize("marks", [0, 3, 30])
def test_no_token_is_overlooked_at_the_ends(at: int, marks: int) -> None:
    guard = AddedTokenGuard((AddedToken("<s>", 0), AddedToken("/s>", 1), AddedToken("x/>", 2)))
    plain = ("b" * 30 + "<") * marks
    plain += "b" * (1000 - len(plain))
    for content in ("<s>", "/s>", "x/>"):
        text = plain[:at] + content + plain[at:]
        text = text[:1000]
        assert guard.absent(text, 0, len(text)) == (content not in text)
    assert guard.absent(plain, 0, len(plain))


@given(st.lists(st.sampled_from(["known", "new", "both"]), min_size=1, max_size=12), st.data())
def test_rows_of_a_memory_and_of_its_engine_are_put_in_order(
    kinds: list[str], data: st.DataObject
) -> None:
    """`known`: divided, of a memory; `new`: of the engine, not asked for; `both`: asked in vain."""
    rows = [data.draw(st.lists(st.integers(0, 9), max_size=3)) for _ in kinds]
    own = [k for k, kind in enumerate(kinds) if kind != "new"]
    others = [k for k, kind in enumerate(kinds) if kind != "known"]
    known = Rows.of(np.array(rows[k] if kinds[k] == "known" else [], np.uint32) for k in own)
    rest = Rows.of(np.array(rows[k], np.uint32) for k in others)
    found = Rows.scatter(len(rows), [(np.array(own), known), (others, rest)])
    assert [found[k].tolist() for k in range(len(rows))] == rows


def test_what_is_known_or_goes_straight_pays_for_what_is_learnt() -> None:
    seen = CacheState(budget=1000)
    call = partial(CallState, FAST_ENGINE, seen.budget, 1 << 12)
    assert seen.count_call(call(new=400), 0).budget == 600
    assert seen.count_call(call(known_bytes=2000, new=400), 0).budget == 700
    straight = replace(seen, budget=1100, straight=40_000)
    assert seen.count_call(call(), 40_000) == straight
    assert CacheState().count_call(call(known_bytes=10**9), 0).budget == MOST_BUDGET
    learnt = CallState(USUAL, seen.budget, 1 << 12, new=400)
    assert seen.count_call(learnt, 0).budget == 1000  # learning is free for other engines


@needs_kernel
def test_a_quick_engine_is_asked_first_and_a_text_that_comes_again_is_learnt() -> None:
    """A call looks up little of what is new, and four times as much as it knows."""
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))
    lengths = adapter._lengths
    small = SegmentCache(
        lambda: unbatcher_for(adapter.facts, lengths),
        adapter.facts.added_tokens,
        policy=FAST_ENGINE,
    )
    small.waves = (1 << 12,) * 2
    text = "".join(f" the word {k % 97} of all {k}" for k in range(20_000))
    expected = adapter.encode(text).tolist()
    engine = lambda rows: adapter.encode_many(rows, False)  # noqa: E731
    looked = [0]
    for _ in range(9):
        rows, flags = small.encode([text], engine, 2)
        looked.append(small.state.looked)
        if flags[0]:
            assert rows[0].tolist() == expected
    parts = np.diff(looked)
    assert FAST_ENGINE.first <= parts[0] <= 2 * FAST_ENGINE.first
    assert all(a < b or b >= len(text) for a, b in pairwise(parts.tolist()))
    assert parts[-1] == len(text)
    assert flags[0]
    small.state = replace(small.state, budget=0)
    rows, flags = small.encode([text], engine, 2)
    assert not flags[0]
    assert small.state.straight == len(text)
    assert small.state.budget > 0


def test_an_engine_that_is_not_quick_has_no_budget_to_keep() -> None:
    def goes_on(policy: CachePolicy, looked: int, known: int = 0, new: int = 0) -> bool:
        return CallState(policy, 1000, 0, looked_bytes=looked, known_bytes=known, new=new).goes_on

    assert goes_on(USUAL, 1 << 60, new=1 << 40)
    assert goes_on(FAST_ENGINE, FAST_ENGINE.first - 1)
    assert not goes_on(FAST_ENGINE, FAST_ENGINE.first)
    assert goes_on(FAST_ENGINE, (1 << 22) - 1, known=1 << 20)
    assert not goes_on(FAST_ENGINE, 1 << 22, known=1 << 20)
    assert not goes_on(FAST_ENGINE, 0, new=1000)


@needs_kernel
def test_a_part_that_fails_in_one_of_several_threads_is_raised() -> None:
    adapter: Any = tokpar.load(Tokenizer.from_file(str(DATA / "default.json")))

    class Failing:
        BLOCK = kernel_modules.SEGMENTS.BLOCK
        count_code_points = staticmethod(kernel_modules.SEGMENTS.count_code_points)
        write_utf8 = staticmethod(kernel_modules.SEGMENTS.write_utf8)

        def look_up(self, *arguments: Any) -> int:
            raise ZeroDivisionError

    broken = SegmentCache(
        lambda: unbatcher_for(adapter.facts, adapter._lengths), (), functions=Failing()
    )
    with pytest.raises(ZeroDivisionError), patch("tokpar.cache.lookup.LEAST_PART", 16):
        broken.encode([ENGLISH, ENGLISH], lambda rows: adapter.encode_many(rows, False), 4)
    assert broken._tables._own_state().readers == 0
