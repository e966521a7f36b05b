"""`overlap`, ParallelTokenizer's join at the longest common run of ids: what it does, and where it
is wrong."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import Any

import numpy as np
import pytest
from honest_encodings import assert_honest
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_strategies.overlap import RunMerger, build, longest_common_run

import tokpar
from tests.support.delimiter_sizes import plain, sizes
from tests.support.drawn_runs import any_tokenizer, drawn_text
from tests.support.seams import part, serial
from tokpar.types import Chunk, Piece

MATCHES = ("longest", "window")


def encoded(text: str, tokenizer: Any, **options: Any) -> tokpar.Encoding:
    return tokpar.encode(
        text, tokenizer, strategy="overlap", allow_approximate=True, workers=2, **options
    )


# the kernel


rows = st.integers(1, 4).flatmap(lambda most: st.lists(st.integers(0, most), max_size=40))


@given(left=rows, right=rows)
@example(left=[1, 2, 3, 9], right=[5, 2, 3])
@example(left=[], right=[1])
@example(left=[7] * 33, right=[7] * 31)
@example(left=[0, 2**32 - 1], right=[2**32 - 1])
def test_the_run_is_the_one_that_the_published_search_finds(
    left: list[int], right: list[int]
) -> None:
    """difflib on both rows backwards, as ParallelTokenizer's `match`."""
    back = SequenceMatcher(None, left[::-1], right[::-1], autojunk=False)
    match = back.find_longest_match(0, len(left), 0, len(right))
    i, j, length = longest_common_run(np.array(left, np.uint32), np.array(right, np.uint32))
    assert length == match.size
    ends = (len(left) - match.a, len(right) - match.b) if length else (len(left), 0)
    assert (i + length, j + length) == ends


# what is cut and joined


def test_chunks_are_those_of_the_published_code() -> None:
    splitter, _ = build(chunk_chars=3, overlap_chars=2)
    text = "abcdefgh"
    chunks = splitter.split(text, tokpar.load(), 0).chunks
    assert [text[chunk.start : chunk.stop] for chunk in chunks] == ["abcde", "defgh", "gh"]
    assert [(chunk.core_start, chunk.core_stop) for chunk in chunks] == [(0, 3), (3, 6), (6, 8)]
    assert len(splitter.split(text, tokpar.load(), 1).chunks) == 1


class Silent:
    """Tells nothing of itself."""

    name = "silent"

    def encode(self, text: str) -> Any:
        raise AssertionError("nothing needs to be encoded to merge")


def test_runs_in_the_wrong_order_leave_nothing_of_a_piece() -> None:
    chunks = [Chunk(0, 15, 0, 10), Chunk(10, 25, 10, 20), Chunk(20, 30, 20, 30)]
    rows = [1, 5, 6, 7], [2, 3, 4, 5, 6, 9], [8, 2, 3, 4, 1]
    pieces = [Piece(np.array(ids, np.uint32)) for ids in rows]
    joins = RunMerger("longest").merge("x" * 30, chunks, pieces, Silent())
    firsts = [0, *(join.right for join in joins if join is not None)]
    lasts = [*(join.left for join in joins if join is not None), len(rows[-1])]
    kept = [ids[a:b] for ids, a, b in zip(rows, firsts, lasts, strict=True)]
    assert kept == [[1, 5, 6], [], [1]]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"match": "longer"}, "match must be one of 'longest', 'window', got 'longer'"),
        ({"match": None}, "got None"),
        ({"chunk_chars": 0}, "chunk_chars must be an int of at least 1, got 0"),
        ({"chunk_chars": None}, "got None"),
        ({"overlap_chars": 0}, "overlap_chars must be an int of at least 1, got 0"),
        ({"overlap_chars": 2.0}, "got 2.0"),
        ({"overlap": 2}, "overlap_chars: int = 512"),
    ],
)
def test_options_that_overlap_cannot_use_are_refused(options: dict[str, Any], says: str) -> None:
    with pytest.raises(tokpar.OptionError, match=says):
        encoded("a b", tokpar.load(), **options)


# when it is exact


@pytest.mark.ids
@pytest.mark.parametrize("match", MATCHES)
@given(data=st.data(), tokenizer=any_tokenizer(), overlap=st.integers(1, 40))
def test_what_it_calls_lossless_is(
    match: str, data: st.DataObject, tokenizer: Any, overlap: int
) -> None:
    text = drawn_text(data, tokenizer)
    options = {"chunk_chars": data.draw(sizes(text), label="size"), "overlap_chars": overlap}
    assert_honest(tokenizer, text, strategy="overlap", match=match, **options)


PROSE = "The cat sat. A dog ran, and they met at the gate; nobody saw more of it than I did. "


# where it is wrong: fails as soon as one of these is no counterexample any more


def joined_in_two(tokenizer: Any, text: str, stop: int, start: int, match: str) -> list[int]:
    """The ids that the merger makes of the chunks text[:stop] and text[start:]."""
    adapter = plain(tokenizer)
    chunks = [Chunk(0, stop, 0, start), Chunk(start, len(text), start, len(text))]
    slices = [text[chunk.start : chunk.stop] for chunk in chunks]
    if isinstance(adapter, tokpar.contract.interfaces.EncodesMany):
        rows = adapter.encode_many(slices, spans=True)
        pieces = [rows.piece(k) for k in range(len(rows))]
    else:
        pieces = [Piece(adapter.encode(each)) for each in slices]
    (join,) = RunMerger(match).merge(text, chunks, pieces, adapter)  # type: ignore[arg-type]
    assert join is not None
    assert join.seam.rule is None
    return [*pieces[0].ids[: join.left].tolist(), *pieces[1].ids[join.right :].tolist()]


IN_TWO = [
    ("cl100k_part", "1" * 40, 25, 13),
    ("cl100k_part", "-" * 200, 150, 50),
    ("cl100k_part", "ha " * 60, 100, 80),
    ("o200k_part", "1" * 40, 25, 13),
    ("o200k_part", "ha " * 60, 100, 80),
    ("deepseek_part", "1" * 40, 25, 13),
    ("bert_part", "the " * 30, 62, 38),
    ("llama_style", "the " * 30, 60, 38),
]


@pytest.mark.parametrize("match", MATCHES)
@pytest.mark.parametrize(("name", "text", "stop", "start"), IN_TWO)
def test_a_repeated_id_gives_a_wrong_merge(
    name: str, text: str, stop: int, start: int, match: str
) -> None:
    tokenizer = part(name)
    found, expected = joined_in_two(tokenizer, text, stop, start, match), serial(tokenizer, text)
    print(f"{name} {match}: {text!r}[:{stop}] and [{start}:]: {found}, serial: {expected}")
    assert found != expected


WHOLE = [
    ("cl100k_part", "1" * 40, 13, 12),
    ("cl100k_part", "-" * 200, 50, 100),
    ("cl100k_part", "ha " * 60, 80, 20),
]


@pytest.mark.parametrize("match", MATCHES)
@pytest.mark.parametrize(("name", "text", "size", "overlap"), WHOLE)
def test_the_strategy_is_wrong_on_repetitions(
    name: str, text: str, size: int, overlap: int, match: str
) -> None:
    tokenizer = part(name)
    encoding = encoded(text, plain(tokenizer), chunk_chars=size, overlap_chars=overlap, match=match)
    expected = serial(tokenizer, text)
    print(f"{name} {match}: {text!r} by {size} + {overlap}: {encoding.ids.tolist()}, {expected}")
    assert encoding.ids.tolist() != expected
    assert not encoding.lossless


def test_a_run_outside_the_overlap_deceives_only_the_published_search() -> None:
    tokenizer, again = part("cl100k_part"), "and they met at the gate. "
    text = again + "The cat sat here now; " + "A dog ran. " + again + "It was over."
    shares = {"chunk_chars": 48, "overlap_chars": 10}
    published = encoded(text, plain(tokenizer), **shares, match="longest")
    window = encoded(text, plain(tokenizer), **shares, match="window")
    expected = serial(tokenizer, text)
    print(repr(text), published.ids.tolist(), expected)
    assert published.ids.tolist() != expected
    assert window.ids.tolist() == expected


def test_a_last_chunk_within_the_overlap_is_there_twice_as_published() -> None:
    tokenizer, text = part("cl100k_part"), PROSE[:65]
    shares = {"chunk_chars": 30, "overlap_chars": 20}
    published = encoded(text, plain(tokenizer), **shares)
    found = tokenizer.decode(published.ids.tolist())
    print(repr(text), repr(found))
    assert found == text + text[60:]
    window = encoded(text, plain(tokenizer), **shares, match="window")
    assert window.ids.tolist() == serial(tokenizer, text)
