"""Segments that hold added tokens, parted at these: theorem 29 for each part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokpar.cache.added_token_parts import AddedParts, SegmentParts
from tokpar.cache.segments import SegmentIds

import tokpar
from tests.conftest import needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.kernel_edges import segments
from tests.support.tokenizers_drawn import hf_tokenizers, is_panic, texts_with
from tokpar import kernel_modules
from tokpar.arrays import IdArray, has_surrogate, offsets_of
from tokpar.types import AddedToken as Token
from tokpar.types import Facts

pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.compiled_at_once]


def parted_at(facts: Facts, texts: list[str]) -> tuple[list[bool], SegmentParts]:
    some = np.ones(len(texts), dtype=np.bool_)
    holding, parted = AddedParts(facts).find_parts(segments(texts), some, kernel_modules.SEGMENTS)
    return holding.tolist(), parted


def bytes_of(parted: SegmentParts) -> list[bytes]:
    texts = parted.texts
    ends = (texts.starts + texts.lengths).tolist()
    return [texts.data[a:b].tobytes() for a, b in zip(texts.starts.tolist(), ends, strict=True)]


def rows(parted: SegmentParts) -> list[list[str]]:
    """The parts of each parted segment."""
    found: list[list[str]] = [[] for _ in parted.segments]
    between = iter(bytes_of(parted))
    for owner, token in zip(parted.owners.tolist(), parted.tokens.tolist(), strict=True):
        found[owner].append(parted.contents[token] if token >= 0 else next(between).decode())
    return found


def with_tokens(*tokens: Token) -> Facts:
    return Facts("oniguruma", "BPE", added_tokens=tokens, added_token_cuts_refused=None)


@given(st.data(), hf_tokenizers(finishing=False))
def test_the_ids_of_the_parts_are_those_of_the_segment(
    data: st.DataObject, tokenizer: Tokenizer
) -> None:
    """Whatever normalizer, pre-tokenizer, model and added tokens there are."""
    adapter: Any = tokpar.load(tokenizer)
    contents = tuple(token.content for token in adapter.facts.added_tokens)
    texts = data.draw(st.lists(texts_with(contents, 24), min_size=1, max_size=4), label="texts")
    texts = [text for text in texts if text and not has_surrogate(text)]
    holding, parted = parted_at(adapter.facts, texts)
    assert holding == [any(content in text for content in contents) for text in texts]
    for number, parts in zip(parted.segments.tolist(), rows(parted), strict=True):
        assert "".join(parts) == texts[number]
        try:
            apart = [adapter.encode(part).tolist() for part in parts]
        except BaseException as error:
            if not is_panic(error):
                raise
            continue
        assert [id_ for row in apart for id_ in row] == adapter.encode(texts[number]).tolist()


def test_what_is_not_certain_of_a_token_leaves_the_segment_whole() -> None:
    plain = [Token("<a>", 1), Token("<ab>", 2), Token("ab>c", 3)]
    texts = ["x<a>y", "x<ab>", "x<ab>c", "é<a><a>é", "no", "<r> x", "<a>x<ab>c", "<r><a>"]
    _, parted = parted_at(with_tokens(*plain, Token("<r>", 4, rstrip=True)), texts)
    assert dict(zip(parted.segments.tolist(), rows(parted), strict=True)) == {
        0: ["x", "<a>", "y"],
        1: ["x", "<ab>"],
        3: ["é", "<a>", "<a>", "é"],
    }
    flagged = Token("a", 5, single_word=True)  # inside of the others
    _, parted = parted_at(with_tokens(*plain, flagged), texts)
    assert rows(parted) == []
    _, parted = parted_at(Facts("oniguruma", "BPE", added_tokens=tuple(plain)), texts)
    assert rows(parted) == []


def test_a_token_that_is_searched_later_is_certain_only_without_an_earlier_one_inside() -> None:
    later, earlier = Token("<abc>", 1, normalized=True), Token("b", 2)
    assert rows(parted_at(with_tokens(later), ["x<abc>y"])[1]) == [["x", "<abc>", "y"]]
    assert rows(parted_at(with_tokens(later, earlier), ["x<abc>y"])[1]) == []


def test_no_token_is_found_over_the_edge_of_two_segments() -> None:
    holding, parted = parted_at(with_tokens(Token("ab", 1)), ["xa", "bx", "ab"])
    assert holding == [False, False, True]
    assert rows(parted) == [["ab"]]


def test_parts_are_joined_in_order_and_one_without_ids_leaves_its_segment_without() -> None:
    _, parted = parted_at(with_tokens(Token("|", 9)), ["ab|c", "d|", "|e|f"])
    ids: list[IdArray] = [np.array(row, dtype=np.uint32) for row in ([1, 2], [3], [], [5], [6])]
    ends = offsets_of(map(len, ids))
    texts = SegmentIds(np.concatenate(ids), ends[:-1], ends[1:])
    token = [np.array([9], dtype=np.uint32)]
    found = parted.join(texts, token)
    spans = zip(found.firsts.tolist(), found.stops.tolist(), strict=True)
    assert [found.ids[a:b].tolist() for a, b in spans] == [[1, 2, 9, 3], [9], [9, 5, 9, 6]]
    stops = np.where(np.arange(5) == 3, -1, ends[1:])
    assert parted.join(SegmentIds(texts.ids, ends[:-1], stops), token).stops.tolist() == [4, 5, -1]


def chat(turns: int, tokens: tuple[str, str]) -> str:
    parts = (ENGLISH[k % 900 : k % 900 + 50 + k] for k in range(turns))
    return "".join(tokens[k % 2] + part for k, part in enumerate(parts))
