"""The compiled call as a state machine: whatever it was asked before, and however the tokenizer
changed since, its ids are the engine's own, and the checker agrees with each seam (theorem 27)."""

from __future__ import annotations

import random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from tokenizers import AddedToken, Tokenizer, normalizers

import tokpar
from tests.conftest import at_most, needs_kernel
from tests.support.drawn_runs import NAMES, named
from tests.support.stages_drawn import FLAGS, TEXTS, drawn_tokenizer
from tests.support.stages_shaped import SHAPES
from tests.support.tokenizers_drawn import (
    build,
    contents,
    hf_tokenizers,
    is_panic,
    llama_specs,
    may_never_end,
    texts_with,
    with_own_call_only,
)
from tokpar.adapters import hf_call

RANDOM = st.randoms(use_true_random=False)
TOKENIZERS = st.one_of(
    hf_tokenizers(),
    llama_specs().map(build),
    RANDOM.map(drawn_tokenizer),
    st.sampled_from([named(name) for name in NAMES if isinstance(named(name), Tokenizer)]),
    st.sampled_from([*SHAPES.values()]),
)
WORDS = ("a", "ab", "b", "aa", "a.", "1", "x'", "ba", "(a", "b)", "A", "the", "cat", "<s>", "中")


def words(rng: random.Random) -> str:
    """Many words; the call knows some, and odd texts stand instead of some."""
    known = rng.choice((1, 0.95, 0.8, 0.5))
    some = (rng.choice(WORDS) if rng.random() < known else TEXTS.draw(rng) for _ in range(40))
    first, last = rng.choice(("", "", " ", "\n")), rng.choice(("", "", " ", "\n", "é"))
    return first + " ".join(some) + last


class CacheMachine(RuleBasedStateMachine):
    """A tokenizer, its compiled call by the file or by the engine, and texts that come again."""

    @initialize(tokenizer=TOKENIZERS, by_engine=st.booleans())
    def load(self, tokenizer: Tokenizer, by_engine: bool) -> None:
        self.tokenizer = Tokenizer.from_str(tokenizer.to_str())  # rules change it
        self.seen, self.changes = ["a b", ""], 0
        models = () if by_engine else hf_call.MODELS  # and no tables are kept for others
        self.patched = patch.multiple(hf_call, MODELS=models, _identity_of=lambda *_: None)
        self.patched.start()
        self._make_encoder()

    def teardown(self) -> None:
        if hasattr(self, "patched"):
            self.patched.stop()

    def _make_encoder(self) -> None:
        self.adapter: Any = tokpar.load(with_own_call_only(self.tokenizer))
        self.encoder = tokpar.Encoder(self.adapter, workers=2)
        self.encoder.prepare()

    @rule(
        data=st.data(), rng=RANDOM, kinds=st.lists(st.sampled_from("dwws"), min_size=1, max_size=6)
    )
    def encode_batch(self, data: st.DataObject, rng: random.Random, kinds: list[str]) -> None:
        drawn = texts_with(contents(self.tokenizer)[:5], 100)
        new = {
            "d": lambda: data.draw(drawn),
            "w": lambda: words(rng),
            "s": lambda: rng.choice(self.seen),
        }
        rows = [row for row in (new[kind]() for kind in kinds) if self._own(row) is not None]
        expected = [native.ids for native in self.tokenizer.encode_batch(rows)]
        for _ in "12":
            batch = self.encoder.encode_batch(rows)
            assert [each.ids.tolist() for each in batch] == expected
        for row, encoding in zip(rows, batch, strict=True):
            if encoding.ids.tolist() == self._own(row):  # not padded to the longest of the batch
                report = tokpar.check(encoding, row, self.adapter)
                assert report.ok, (row, report.findings, self.tokenizer.to_str())
        self.seen += rows

    @precondition(lambda self: self.changes < 2)
    @rule(content=st.sampled_from(WORDS), flags=st.sets(st.sampled_from(FLAGS)))
    def add_token(self, content: str, flags: set[str]) -> None:
        token = AddedToken(content, **dict.fromkeys(flags, True))
        if not may_never_end(token, self.tokenizer):
            self.tokenizer.add_tokens([token])
        self.changes += 1
        self._make_encoder()

    @precondition(lambda self: self.changes < 2)
    @rule()
    def lowercase(self) -> None:
        self.tokenizer.normalizer = normalizers.Lowercase()
        self.changes += 1
        self._make_encoder()

    def _own(self, text: str) -> list[int] | None:
        """The ids of the own call, or None where it fails."""
        try:
            return list(self.tokenizer.encode(text).ids)
        except BaseException as error:  # a panic is no Exception
            if isinstance(error, Exception) or is_panic(error):
                return None
            raise


TestCache = CacheMachine.TestCase
TestCache.settings = settings(at_most(100), stateful_step_count=8)
pytestmark = [pytest.mark.ids, needs_kernel, pytest.mark.compiled_at_once]
