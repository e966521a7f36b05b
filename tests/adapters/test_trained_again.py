"""A model that is trained again in place is noticed, whatever tokens it has then."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

import tokpar
from tests.conftest import at_most, needs_kernel
from tokpar.adapters import hf_source

pytestmark = [pytest.mark.ids, pytest.mark.tables_at_once]

QUIET = {"special_tokens": ["[U]"], "show_progress": False}
KINDS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "WordLevel": (
        lambda: models.WordLevel(unk_token="[U]"),
        lambda: trainers.WordLevelTrainer(vocab_size=400, **QUIET),
    ),
    "WordPiece": (
        lambda: models.WordPiece(unk_token="[U]"),
        lambda: trainers.WordPieceTrainer(vocab_size=160, **QUIET),
    ),
    "BPE": (
        lambda: models.BPE(unk_token="[U]"),
        lambda: trainers.BpeTrainer(vocab_size=160, **QUIET),
    ),
    "Unigram": (
        models.Unigram,
        lambda: trainers.UnigramTrainer(vocab_size=90, unk_token="[U]", **QUIET),
    ),
}
WORDS = [f"{one}{two}{three}" for one in "abcd" for two in "efgh" for three in "ijklmnop"]
TEXT = " ".join(WORDS) + " "


class Trained:
    """A tokenizer of one kind of model, trained in place as often as wanted."""

    def __init__(self, kind: str) -> None:
        make, self._trainer = KINDS[kind]
        self.own = Tokenizer(make())
        self.own.pre_tokenizer = pre_tokenizers.Whitespace()

    def train(self, order: Sequence[str]) -> None:
        """Train it on words of which the first is the most frequent."""
        lines = [f"{word} " * (len(order) - k) for k, word in enumerate(order)]
        self.own.train_from_iterator(lines, self._trainer())
        if hasattr(self.own.model, "_clear_cache"):  # the library forgets to
            self.own.model._clear_cache()


def swapped(first: int, second: int) -> list[str]:
    """`WORDS` with two of them in each other's place."""
    order = [*WORDS]
    order[first], order[second] = order[second], order[first]
    return order


def assert_followed(own: Tokenizer, encoders: Sequence[tokpar.Encoder], text: str) -> None:
    """Kept and fresh encoders give the ids of the own call, for one text and for a batch."""
    expected = own.encode(text).ids
    for encoder in encoders:
        assert encoder.encode(text).ids.tolist() == expected
        assert encoder.encode_batch([text, "aei"])[0].ids.tolist() == expected
    assert tokpar.encode(text, own).ids.tolist() == expected


@pytest.mark.parametrize("seen", [True, False])
def test_two_words_that_change_places_among_many_are_noticed(
    seen: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """48 tokens were compared, and these two were none of them."""
    if not seen:
        monkeypatch.setattr(hf_source, "_telling_words", lambda kind: [])
    trained = Trained("WordLevel")
    trained.train(WORDS)
    with tokpar.Encoder(trained.own) as encoder:
        assert_followed(trained.own, [encoder], TEXT * 8)
        before = trained.own.encode(TEXT).ids
        trained.train(swapped(4, 5))
        assert trained.own.encode(TEXT).ids != before
        assert_followed(trained.own, [encoder], TEXT * 8)


@at_most(60)
@given(
    st.sampled_from(sorted(KINDS)),
    st.lists(
        st.tuples(st.integers(0, len(WORDS) - 1), st.integers(0, len(WORDS) - 1)),
        min_size=2,
        max_size=4,
    ),
    st.booleans(),
)
def test_however_often_a_model_is_trained_the_ids_are_its_own(
    kind: str, swaps: list[tuple[int, int]], seen: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if not seen:
            patch.setattr(hf_source, "_telling_words", lambda kind: [])
        trained = Trained(kind)
        trained.train(WORDS)
        with (
            tokpar.Encoder(trained.own) as one,
            tokpar.Encoder(trained.own, strategy="cut", chunk_chars=8, executor="serial") as other,
        ):
            assert_followed(trained.own, [one, other], TEXT * 4)
            for swap in swaps:
                trained.train(swapped(*swap))
                assert_followed(trained.own, [one, other], TEXT * 4)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_training_changes_the_words_that_are_read_and_encoding_does_not(kind: str) -> None:
    """The self-check that `_READABLE` stands for: a new release of tokenizers has to pass it."""
    assert tokenizers.__version__.startswith(hf_source._READABLE)
    trained, read = Trained(kind), list[object]()
    words = hf_source._telling_words(kind)
    assert len(words) > 1
    for _ in range(30):
        trained.train(WORDS)
        model = trained.own.model
        read.append(hf_source.training(model, 0))
        for text in (TEXT, TEXT[::-1], *WORDS):
            trained.own.encode(text)
        trained.own.encode_batch([TEXT, *WORDS] * 3)
        assert hf_source.training(trained.own.model, 0) == read[-1]
    assert all(one != other for k, one in enumerate(read) for other in read[:k])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_threads_that_encode_do_not_make_a_model_look_trained(kind: str) -> None:
    trained = Trained(kind)
    trained.train(WORDS)
    adapter = tokpar.load(trained.own)
    refreshed = adapter.refresh  # type: ignore[attr-defined]
    texts = [f"{word}{k}{word}" for k in range(20) for word in WORDS]
    with ThreadPoolExecutor(3) as pool:
        encodings = [pool.submit(trained.own.encode_batch, texts) for _ in range(6)]
        while not all(each.done() for each in encodings):
            assert refreshed() is adapter
    assert refreshed() is adapter


def test_of_a_great_vocabulary_that_cannot_be_read_48_tokens_are_compared() -> None:
    size = hf_source._MOST_COMPARED + 1
    model = models.WordLevel({f"{i}": i for i in range(size)}, unk_token="0")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hf_source, "_telling_words", lambda kind: [])
        sampled = hf_source.training(model, size)
        assert isinstance(hf_source.training(model, size - 1), bytes)
    assert isinstance(sampled, list)
    assert len(sampled) == 48
    assert None not in sampled


# without the kernel the engine gets its texts on threads, which may pass by its own cache
@needs_kernel
def test_words_that_the_engine_remembers_from_before_its_training_keep_their_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its cache outlives training: what it encoded before has the ids of then, the rest those of
    now. Merges tell only the latter, so the engine encodes everything from then on."""
    # the comparison when tables are made finds most of that, too
    monkeypatch.setattr("tokpar.cache.new_segments.Pieces.difference", lambda pieces, seed: None)
    own = Tokenizer(models.BPE(unk_token="[U]"))
    own.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, initial_alphabet=letters, **QUIET)
    text = " ".join(WORDS)
    own.train_from_iterator(
        [f"{word} " * (len(WORDS) - k) for k, word in enumerate(WORDS)], trainer
    )
    with tokpar.Encoder(own) as encoder:
        known = own.encode(text).ids
        assert encoder.encode(text * 40).ids.tolist() == own.encode(text * 40).ids
        own.train_from_iterator([f"{word} " * (k + 1) for k, word in enumerate(WORDS)], trainer)
        fresh = Tokenizer.from_str(own.to_str())
        assert own.encode(text).ids != fresh.encode(text).ids or known == own.encode(text).ids
        for each in (text * 40, f"x{text}" * 40, text[::-1] * 40):
            assert encoder.encode(each).ids.tolist() == own.encode(each).ids
        assert tokpar.load(own).made_pieces(encoder.tokenizer._segment_cache.seeds) is None  # type: ignore[attr-defined]


DOORS: dict[str, Callable[[tokpar.Encoder, list[str]], list[list[int]]]] = {
    "encode_batch": lambda encoder, texts: [e.ids.tolist() for e in encoder.encode_batch(texts)],
    "encode": lambda encoder, texts: [encoder.encode(text).ids.tolist() for text in texts],
    "encode_iter": lambda encoder, texts: [
        each.ids.tolist() for each in encoder.encode_iter(iter(texts))
    ],
}


@at_most(60)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    door=st.sampled_from(sorted(DOORS)),
    options=st.sampled_from(
        [{}, {"executor": "serial"}, {"strategy": "cut", "chunk_chars": 8, "executor": "serial"}]
    ),
    calls=st.integers(1, 4),
    swap=st.tuples(st.integers(0, 3), st.integers(4, len(WORDS) - 1)),
    repeats=st.integers(1, 5),
)
def test_training_during_a_call_gives_the_own_ids_or_an_error_that_says_so(
    kind: str,
    door: str,
    options: dict[str, Any],
    calls: int,
    swap: tuple[int, int],
    repeats: int,
) -> None:
    """Its post-processor doubles a text, so that only the own call can post-process."""
    trained = Trained(kind)
    trained.train(WORDS)
    trained.own.post_processor = processors.TemplateProcessing(
        single="[U] $A $A", special_tokens=[("[U]", 0)]
    )
    texts = [TEXT * repeats, WORDS[0], WORDS[1]]
    with pytest.MonkeyPatch.context() as patch, tokpar.Encoder(trained.own, **options) as encoder:
        adapter: Any = type(encoder.tokenizer)
        left = [calls]

        def then_train(own: Any) -> Any:
            def counted(self: Any, *given: Any) -> Any:
                found = own(self, *given)
                left[0] -= 1
                if left[0] == 0:
                    trained.train(swapped(*swap))
                return found

            return counted

        for name in ("encode", "encode_many"):
            patch.setattr(adapter, name, then_train(getattr(adapter, name)))
        said = ""
        try:
            found = DOORS[door](encoder, texts)
        except tokpar.EngineError as error:
            said = str(error)
        if said:
            assert "trained in place" in said
        elif door == "encode_batch" or left[0] > 0:
            assert found == [trained.own.encode(text).ids for text in texts]
        assert DOORS[door](encoder, texts) == [trained.own.encode(text).ids for text in texts]
