"""Streams decode added tokens as the tokenizer object does: normalized, added again with other
flags, skipped or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

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


def bert_with(*tokens: AddedToken) -> Tokenizer:
    words = ("[UNK]", "a", "here", "##s")
    own = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, unk_token="[UNK]"))
    own.normalizer, own.decoder = normalizers.BertNormalizer(), decoders.WordPiece()
    for token in tokens:
        add(own, token)
    return own


def test_a_normalized_token_is_decoded_as_the_engine_writes_it() -> None:
    own = bert_with(AddedToken("NewWord", normalized=True))
    assert own.decode([1, 4, 2]) in ("a newword here", "a NewWord here")  # the latter before 0.23
    check_tokenizer(own, [], [1, 4, 2], False)


def test_a_special_token_that_the_normalizer_changes_is_kept() -> None:
    own = bert_with(AddedToken("<Sep>", special=True, normalized=True))
    assert own.decode([1, 4, 2], skip_special_tokens=True) in ("a <sep> here", "a here")
    check_tokenizer(own, [], [1, 4, 2], True)


@pytest.mark.parametrize("in_vocabulary", [True, False])
def test_a_token_that_was_special_once_is_skipped(in_vocabulary: bool) -> None:
    content, id_ = ("a", 1) if in_vocabulary else ("<sep>", 4)
    tokens = [AddedToken(content, special=flag, normalized=False) for flag in (True, False)]
    own = bert_with(*tokens)
    assert own.decode([2, id_, 2], skip_special_tokens=True) == "here here"
    check_tokenizer(own, [], [2, id_, 2], True)


def test_a_token_that_was_added_again_is_skipped_as_the_own_call_does() -> None:
    """Its flags are as before, so the list of added tokens is equal."""
    plain, special = (AddedToken("<sep>", special=flag, normalized=False) for flag in (False, True))
    for tokens, expected in (([plain], "a <sep> here"), ([plain, special, plain], "a here")):
        own = bert_with(*tokens)
        assert own.decode([1, 4, 2], skip_special_tokens=True) == expected
        stream = Encoder(own).decode_stream(skip_special_tokens=True)
        assert stream.push([1, 4, 2]) + stream.finish() == expected


def test_a_special_token_of_which_the_decoder_leaves_nothing_divides_what_is_beside_it() -> None:
    """CTC joins equal neighbours: a skipped token lets them meet, a kept one does not."""
    for normalized in (True, False):
        own = Tokenizer(models.WordLevel({"a": 0, "[UNK]": 1}, unk_token="[UNK]"))
        own.normalizer, own.decoder = normalizers.Lowercase(), decoders.CTC(pad_token="<pad>")
        add(
            own, AddedToken("<PAD>" if normalized else "<pad>", special=True, normalized=normalized)
        )
        whole = own.decode([0, 2, 0], skip_special_tokens=True)
        assert whole == "a" or (normalized and whole == "aa")
        check_tokenizer(own, [], [0, 2, 0], True)


def test_a_skipped_token_for_which_the_decoder_fails_is_skipped() -> None:
    """Strip panics for a token that it takes more from than there is."""
    own = Tokenizer(models.WordLevel({"a": 0, "b": 1}, unk_token="b"))
    own.decoder = decoders.Strip(content="a", left=0, right=2)
    add(own, AddedToken("a", special=True, normalized=False))
    assert own.decode([0, 1], skip_special_tokens=True) == "b"
    check_tokenizer(own, [], [0, 1, 0], True)
