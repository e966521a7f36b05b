"""Tables are made while the caller trains the same model. The training locks the model and waits
for the engine's threads, so these may not wait for the model."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from tokenizers import Tokenizer, models, trainers

from tokpar.adapters.engine_batches import call_batch, pad_batch
from tokpar.adapters.hf_copy import bare_copy
from tokpar.process.thread_pool import submit

LETTERS = "abcdefghijklmnopqrstuvwxyz "
WORDS = ["".join(LETTERS[i * k % 26] for k in range(1, 9)) for i in range(3000)]


def test_a_thread_of_the_pool_hands_the_engine_batches_of_one() -> None:
    asked: list[list[int]] = []

    def call(items: Sequence[int]) -> list[int]:
        asked.append([*items])
        return [-item for item in items]

    assert submit(lambda: call_batch(call, [1, 2, 3])).result() == [-1, -2, -3]
    assert asked == [[1], [2], [3]]
    assert call_batch(call, [1, 2, 3]) == [-1, -2, -3]
    assert asked[3:] == [[1, 2, 3]]


def test_a_batch_of_a_thread_of_the_pool_is_padded_to_its_longest_text() -> None:
    own = Tokenizer(models.BPE({letter: id_ for id_, letter in enumerate(LETTERS)}, []))
    own.enable_padding(pad_id=7, pad_token="h")
    texts = ["a", "abc", "ab"]

    def rows() -> list[list[int]]:
        encodings = call_batch(own.encode_batch, texts)
        pad_batch(own, encodings)
        return [encoding.ids for encoding in encodings]

    expected = [encoding.ids for encoding in own.encode_batch(texts)]
    assert {*map(len, expected)} == {3}
    assert submit(rows).result() == rows() == expected


@pytest.mark.timeout(300)
def test_a_training_ends_beside_batches_of_the_model_that_it_trains() -> None:
    own = Tokenizer(models.BPE({letter: id_ for id_, letter in enumerate(LETTERS)}, []))
    copy, is_over = bare_copy(own), threading.Event()

    def encode() -> int:
        count = 0
        while not is_over.is_set() or not count:
            count += len(call_batch(copy.encode_batch_fast, ["some words and more"] * 100))
        return count

    encoded = submit(encode)
    for _ in range(20):
        trainer = trainers.BpeTrainer(vocab_size=200, show_progress=False)
        own.train_from_iterator(WORDS, trainer)
    is_over.set()
    assert encoded.result() >= 100
