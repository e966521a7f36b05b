"""Streams decode added tokens as the tokenizer object does: normalized, added again with other
flags, skipped or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers

from tests.conftest import needs_below_one
from tests.decoding.added_drawn import add, tokenizers
from tests.support.decode_streams import check_stream, own_text
from tokpar import Encoder

pytestmark = [pytest.mark.ids, needs_below_one]


def all_divisions(ids: Sequence[int]) -> Iterator[list[list[int]]]:
    """The ids in runs, in every way."""
    for ends in product((True, False), repeat=max(0, len(ids) - 1)):
        runs: list[list[int]] = [[]]
        for id_, ends_here in zip(ids, (*ends, False), strict=False):
            runs[-1].append(id_)
            if ends_here:
                runs.append([])
        yield runs


def check_tokenizer(own: Tokenizer, prompt: list[int], ids: list[int], skip: bool) -> None:
    """One stream for each division of the ids, and several streams at once."""
    encoder = Encoder(own)

    def decode(some: list[int]) -> str:
        return str(own.decode(some, skip_special_tokens=skip))

    for runs in all_divisions(ids):
        check_stream(
            lambda given: encoder.decode_stream(given, skip_special_tokens=skip),
            decode,
            prompt,
            runs,
        )
    whole = own_text(decode, ids)
    if whole is None:
        return
    streams = encoder.decode_streams(skip_special_tokens=skip)
    numbers = [streams.open() for _ in "abc"]
    texts = [*zip(*(streams.push(numbers, [id_] * 3) for id_ in ids), strict=True)] or [()] * 3
    for number, parts in zip(numbers, texts, strict=True):
        assert "".join(parts) + streams.finish(number) == whole


@given(st.data(), tokenizers())
def test_streams_decode_added_tokens_as_the_tokenizer_does(
    data: st.DataObject, own: Tokenizer
) -> None:
    added = sorted(own.get_added_tokens_decoder())
    some = st.sampled_from(added) | st.integers(0, own.get_vocab_size())
    ids = data.draw(st.lists(some, max_size=5), label="ids")
    prompt = data.draw(st.just([]) | st.lists(some, max_size=3), label="prompt")
    for skip in (False, True):
        check_tokenizer(own, prompt, ids, skip)
        check_tokenizer(own, [], added[:5], skip)


def of_words(decoder: Any, *tokens: AddedToken, normalizer: Any = None) -> Tokenizer:
    words = ("[UNK]", "a", "here", "##s")
    own = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    own.normalizer, own.decoder = normalizer or normalizers.BertNormalizer(), decoder
    for token in tokens:
        add(own, token)
    return own


def special(content: str, *flags: bool, normalized: bool = False) -> list[AddedToken]:
    """The token, added once for each flag."""
    return [AddedToken(content, special=flag, normalized=normalized) for flag in flags]


BERT, CTC = decoders.WordPiece(), decoders.CTC(pad_token="<pad>")
LOWER = normalizers.Lowercase()
CASES: list[tuple[Tokenizer, list[int], bool, tuple[str, ...]]] = [
    # the engine writes a normalized token as it is in the normalized text, since 0.23
    (
        of_words(BERT, AddedToken("NewWord", normalized=True)),
        *([1, 4, 2], False, ("a newword here", "a NewWord here")),
    ),
    # and keeps a special token that the normalizer changes
    (
        of_words(BERT, *special("<Sep>", True, normalized=True)),
        *([1, 4, 2], True, ("a <sep> here", "a here")),
    ),
    # what was special once is skipped, also what is plain again, whose list of flags is as before
    (of_words(BERT, *special("a", True, False)), [2, 1, 2], True, ("here here",)),
    (of_words(BERT, *special("<sep>", True, False)), [2, 4, 2], True, ("here here",)),
    (of_words(BERT, *special("<sep>", False)), [1, 4, 2], True, ("a <sep> here",)),
    (of_words(BERT, *special("<sep>", False, True, False)), [1, 4, 2], True, ("a here",)),
    # CTC joins equal neighbours: a skipped token lets them meet, a kept one does not
    (of_words(CTC, *special("<pad>", True), normalizer=LOWER), [1, 4, 1], True, ("a",)),
    (
        of_words(CTC, *special("<PAD>", True, normalized=True), normalizer=LOWER),
        *([1, 4, 1], True, ("a", "aa")),
    ),
    # Strip panics for a token that it takes more from than there is
    (
        of_words(decoders.Strip(content="a", left=0, right=2), *special("a", True)),
        *([1, 2, 1], True, ("here",)),
    ),
]


@pytest.mark.parametrize(("own", "ids", "skip", "expected"), CASES)
def test_added_tokens_that_others_decoded_wrong(
    own: Tokenizer, ids: list[int], skip: bool, expected: tuple[str, ...]
) -> None:
    assert own.decode(ids, skip_special_tokens=skip) in expected
    check_tokenizer(own, [], ids, skip)


def test_an_added_token_of_which_the_normalizer_leaves_nothing_ends_a_run_of_bytes() -> None:
    words = {word: i for i, word in enumerate(("<0xE4>", "<0xB8>", "<0xAD>"))}
    own = Tokenizer(models.WordLevel(words, unk_token="<0xE4>"))
    own.normalizer = normalizers.Strip()
    own.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse()])
    add(own, AddedToken("  ", normalized=True))
    assert own.decode([0, 1, 2, 3, 0]) in ("中\ufffd", "中  \ufffd")  # the latter before 0.23
    check_tokenizer(own, [], [0, 1, 2, 3, 0], False)
