"""Every way to the ids of a text gives the ids of the tokenizer object's own call: chunks by each
boundary, `max_tokens`, `count`, `encode_iter`, streams and sessions."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.pipeline.doors import OwnCallFailedError, check_doors, own_ids, small_sizes
from tests.support.odd_tokenizers import odd_text, odd_tokenizer
from tests.support.profiles import drawn
from tests.support.tokenizers_drawn import contents

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@pytest.mark.parametrize("part", range(2))
def test_each_door_has_the_ids_of_the_own_call(part: int) -> None:
    """Tokenizers with odd vocabularies, normalizers, and added tokens of all flags."""
    seen: Counter[str] = Counter()
    rng = random.Random(f"doors {part}")
    for _ in range(drawn(50)):
        check_doors(rng, seen)
    assert seen["sessions"] > 3 * seen["tokenizers"]
    assert seen["tokenizers with a call"] > 0
    assert seen["chunks"] > 50 * seen["tokenizers"]


def test_the_seams_in_chunks_of_a_chosen_size_are_those_that_the_checker_derives() -> None:
    """No added token forbids a cut at one of them."""
    rng, seams = random.Random("seams in chunks"), 0
    for _ in range(drawn(100)):
        tokenizer = odd_tokenizer(rng)
        added = contents(tokenizer)
        with small_sizes(rng):
            encoder = tokpar.Encoder(tokenizer, chunk_chars=rng.choice((1, 3, 8)))
            for _ in range(10):
                text = odd_text(rng, added, rng.choice((8, 25, 60)))
                try:
                    own = own_ids(tokenizer, text)
                except OwnCallFailedError:
                    continue
                encoding = encoder.encode(text)
                assert encoding.ids.tolist() == own
                seams += len(encoding.seams)
                assert tokpar.check(encoding, text, encoder.tokenizer).ok, text
    assert seams > 100


def test_a_slice_is_searched_for_added_tokens_in_its_normalized_form() -> None:
    vocabulary = {"[UNK]": 0, "a": 1, "b": 2, "aa": 12, "1": 13, "##1": 16, "##a": 7, "k": 22}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_tokens([AddedToken("\xa0a", normalized=True)])
    for text in (". A", " AbA ", "   AA "):
        for chunk in tokpar.Encoder(tokenizer).chunks(text, 1):
            assert chunk.ids.tolist() == tokenizer.encode(text[chunk.start : chunk.stop]).ids
