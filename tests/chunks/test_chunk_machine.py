"""Chunks, budgets and counts as a state machine: the text and the messages are edited while chunks
of older versions are still asked for. Each result is that of the version that it was made of."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, rule
from tokenizers import Tokenizer, models

import tokpar
from tests.chunks.brute_force import called, own_tokenizer, truncates
from tests.chunks.promises import assert_chunks, check_kept
from tests.conftest import at_most
from tests.support.adapters_drawn import drawn_text
from tests.support.drawn_runs import adapter_of, any_tokenizer
from tests.support.tokenizers_drawn import contents, plain_copy
from tokpar.chunks import encoded_text, end_ids
from tokpar.chunks.budget import KeptTexts
from tokpar.chunks.text_chunk import TextChunk
from tokpar.contract.interfaces import PostProcesses
from tokpar.errors import OptionError

RANDOM = st.integers(0, (1 << 32) - 1).map(random.Random)
BOUNDARIES = st.sampled_from(("token", "cut", "line", "sentence"))
MOST = 120


@dataclass
class RunningChunks:
    """Chunks of one version of the text, as far as they were asked for."""

    text: str
    arguments: tuple[int, int, Any]
    chunks: Iterator[TextChunk]
    found: list[TextChunk] = field(default_factory=list)


class ChunkMachine(RuleBasedStateMachine):
    """One encoder, one text and one list of texts, which are edited."""

    running: Bundle[RunningChunks] = Bundle("running")
    budgets: Bundle[tuple[KeptTexts, list[str], int, Any]] = Bundle("budgets")

    @initialize(tokenizer=any_tokenizer(), region=st.sampled_from((1, 8, 1 << 17)), rng=RANDOM)
    def load(self, tokenizer: Any, region: int, rng: random.Random) -> None:
        self.tokenizer, self.adapter = tokenizer, adapter_of(tokenizer)
        is_known = not isinstance(self.adapter, PostProcesses)
        assume(is_known or self.adapter.special_tokens is not None)
        self.own, self.encoder = own_tokenizer(tokenizer), tokpar.Encoder(self.adapter)
        self.tokens = [*filter(str.strip, contents(tokenizer))]
        self.patches = ExitStack()
        both = {"REGION": region, "LOCATED": region}
        self.patches.enter_context(mock.patch.multiple(encoded_text, **both))
        short = {"_CHARS_PER_TOKEN": 1, "_LEAST_CHARS": 1}  # so that short texts are long ones
        self.patches.enter_context(mock.patch.multiple(end_ids, **short))
        self.text, self.texts = self._drawn(rng, 60), [self._drawn(rng, 30) for _ in range(2)]

    def teardown(self) -> None:
        if hasattr(self, "patches"):
            self.patches.close()

    def _drawn(self, rng: random.Random, most: int) -> str:
        """A text that the own calls encode, in the same way each."""
        text = drawn_text(rng, self.tokens, most)
        self._assume_encodes(text)
        return text

    def _assume_encodes(self, text: str) -> None:
        if isinstance(self.tokenizer, Tokenizer):
            ids = called(plain_copy(self.tokenizer), text, False).ids
            if isinstance(self.tokenizer.model, models.Unigram):  # a copy may divide ties otherwise
                assume(ids == self.adapter.encode(text).tolist())

    # ------------------------------------------------------------------------------- chunks

    @rule(rng=RANDOM)
    def edit_text(self, rng: random.Random) -> None:
        start = rng.randint(0, len(self.text))
        stop = rng.choice((start, min(len(self.text), start + rng.randint(0, 20))))
        self.text = self.text[:start] + self._drawn(rng, 40) + self.text[stop:]
        self.text = self.text[-MOST:]

    @rule(
        target=running,
        most=st.integers(1, 12) | st.integers(8, 64),
        overlap=st.just(0) | st.integers(0, 8),
        boundary=BOUNDARIES,
    )
    def begin_chunks(self, most: int, overlap: int, boundary: Any) -> RunningChunks:
        text, arguments = self.text, (most, overlap, boundary)
        is_refused = truncates(self.tokenizer, most) or overlap >= most - self.own.special
        if is_refused or any(len(self.own.ids(char)) > most for char in text):
            if is_refused:
                with pytest.raises(OptionError):
                    self.encoder.chunks(text, *arguments)
            text, arguments = "", (MOST, 0, boundary)
            if truncates(self.tokenizer, MOST):
                return RunningChunks(text, arguments, iter(()))
        self._assume_encodes(text)
        return RunningChunks(text, arguments, self.encoder.chunks(text, *arguments))

    @rule(rng=RANDOM)
    def chunk_at_once(self, rng: random.Random) -> None:
        """As many tokens as any character needs, and some more."""
        least = max((len(self.own.ids(char)) for char in self.text), default=1)
        for boundary in ("token", "cut", "line", "sentence"):
            most = least + rng.randint(0, 9)
            overlap = rng.randint(0, max(0, min(6, most - self.own.special - 1)))
            self.take_all_chunks(self.begin_chunks(most, overlap, boundary))

    @rule(running=running, times=st.integers(1, 4))
    def take_chunks(self, running: RunningChunks, times: int) -> None:
        for chunk in islice(running.chunks, times):
            running.found.append(chunk)
            self._assume_encodes(running.text[chunk.start : chunk.stop])

    @rule(running=consumes(running))
    def take_all_chunks(self, running: RunningChunks) -> None:
        self.take_chunks(running, len(running.text) + 1)
        assert_chunks(self.tokenizer, running.text, *running.arguments, running.found)

    @rule(limit=st.integers(0, 40))
    def count_up_to_a_limit(self, limit: int) -> None:
        self._assume_encodes(self.text)
        count = len(self.adapter_ids(self.text))
        assert self.encoder.count(self.text, limit=limit) == min(count, limit + 1)

    def adapter_ids(self, text: str) -> list[int]:
        """The ids of the tokenizer's own call, with its own truncation."""
        if isinstance(self.tokenizer, Tokenizer):
            return [*called(self.tokenizer, text, True).ids]
        return self.own.ids(text)

    # ------------------------------------------------------------------------------ budgets

    @rule(rng=RANDOM)
    def edit_texts(self, rng: random.Random) -> None:
        """Changes the list itself, which earlier results were made of."""
        at = rng.randrange(len(self.texts) + 1)
        kept_later = self.texts[at + rng.choice((0, 0, 1)) :]
        self.texts[at:] = [self._drawn(rng, 30), *kept_later][:4]

    @rule(target=budgets, most=st.integers(1, 60), keep=st.sampled_from(("ends", "first", "last")))
    def begin_budget(self, most: int, keep: Any) -> tuple[KeptTexts, list[str], int, Any]:
        self._assume_encodes("".join(self.texts))
        return self.encoder.fit(self.texts, most, keep), [*self.texts], most, keep

    @rule(budget=consumes(budgets), as_messages=st.booleans())
    def read_budget(self, budget: tuple[KeptTexts, list[str], int, Any], as_messages: bool) -> None:
        """What is read late is what is read at once, of the texts as they were."""
        kept, texts, most, keep = budget
        expected = check_kept(self.adapter, texts, most, keep, False)
        assert (kept, kept.counts) == (expected, expected.counts)
        check_kept(self.adapter, texts, most, keep, as_messages)

    @rule(rng=RANDOM)
    def fit_at_once(self, rng: random.Random) -> None:
        """A budget that is less than all ids, of texts that are changed before it is read."""
        self._assume_encodes("".join(self.texts))
        count = len(self.own.ids("".join(self.texts))) - self.own.special
        for keep in ("ends", "first", "last"):
            budget = self.begin_budget(rng.randint(1, max(1, count)), keep)
            self.texts.insert(0, self.texts.pop())
            self.texts[-1:] = []
            self.texts.append(self._drawn(rng, 30))
            self.read_budget(budget, False)
            self._assume_encodes("".join(self.texts))


TestChunks = ChunkMachine.TestCase
TestChunks.settings = settings(at_most(40), stateful_step_count=20)
pytestmark = pytest.mark.ids
