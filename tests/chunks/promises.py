"""All that is promised of the chunks of a text, and of the texts that fit a budget."""

from __future__ import annotations

from itertools import chain
from typing import Any

import tokpar
from tests.chunks.brute_force import BruteForce, own_tokenizer
from tests.support.drawn_runs import adapter_of
from tokpar.chunks.budget import KeptTexts
from tokpar.chunks.text_chunk import TextChunk


def assert_chunks(
    tokenizer: Any, text: str, max_tokens: int, overlap: int, boundary: str, chunks: list[TextChunk]
) -> None:
    """Compares the chunks of one text with a search through all places."""
    own, adapter = own_tokenizer(tokenizer), adapter_of(tokenizer)
    brute = BruteForce(text, own, adapter)
    whole = tokpar.Encoder(adapter).unprocessed_batch([text], adapter).ids.tolist()
    reached = 0
    for k, chunk in enumerate(chunks):
        before = chunks[k - 1].start if k else -1
        assert before < chunk.start <= reached < chunk.stop
        assert chunk.start == reached or overlap
        reached = chunk.stop
        part = text[chunk.start : chunk.stop]
        assert chunk.ids.tolist() == own.ids(part)
        assert len(chunk.ids) <= max_tokens
        if chunk.certified and not own.special:
            size = len(chunk.ids)
            slices = (whole[i : i + size] for i in range(len(whole) - size + 1))
            assert chunk.ids.tolist() in slices
        expected = brute.stop(chunk.start, max_tokens, boundary)
        if expected is None:
            assert chunk.stop == len(text) or not brute.fits(
                chunk.start, chunk.stop + 1, max_tokens
            )
        else:
            assert chunk.stop == expected
    assert reached == len(text)


def check_kept(
    adapter: Any, texts: list[str], most: int, keep: Any, as_messages: bool
) -> KeptTexts:
    """What was kept, after all that the result says was compared with encodes of its texts."""
    messages = [{"role": "user", "content": text} for text in texts]
    kept = tokpar.Encoder(adapter).fit(messages if as_messages else texts, most, keep)

    def ids(some: list[str]) -> list[list[int]]:
        joined = some if as_messages else ["".join(some)]
        return [adapter.encode(text).tolist() if text else [] for text in joined]

    found, whole = ids([*kept.texts]), ids(texts)
    assert len(kept.texts) == len(kept.ranges) == len(kept.counts) == len(texts)
    assert sum(kept.counts) == kept.count == sum(map(len, found)) <= most
    assert kept.whole_count == sum(map(len, whole))
    assert (kept.count == kept.whole_count) or kept.whole_count > most
    for text, some, own in zip(texts, kept.ranges, kept.texts, strict=True):
        assert "".join(text[start:stop] for start, stop in some) == own
        assert all(start < stop for start, stop in some)
    if as_messages:
        assert [*kept.counts] == [*map(len, found)]
    if kept.is_certified:
        for own, given_ids in zip(found, whole, strict=True):
            counts = {"first": [len(own)], "last": [0]}.get(keep, range(len(own) + 1))
            ends = [given_ids[:k] + given_ids[len(given_ids) - len(own) + k :] for k in counts]
            assert own in ends
    check_places(texts, kept, keep)
    return kept


def check_places(texts: list[str], kept: KeptTexts, keep: str) -> None:
    """One range of all texts is left out: at the end, at the beginning, or between."""
    firsts = [sum(map(len, texts[:k])) for k in range(len(texts))]
    placed = [[(a + first, b + first) for a, b in some]
              for first, some in zip(firsts, kept.ranges, strict=True)]  # fmt: skip
    size = sum(map(len, texts))
    edges = [0, *chain(*chain(*placed)), size]
    gaps = [(a, b) for a, b in zip(edges[::2], edges[1::2], strict=True) if a < b]
    assert len(gaps) <= 1
    assert keep != "first" or all(b == size for _, b in gaps)
    assert keep != "last" or all(a == 0 for a, _ in gaps)
