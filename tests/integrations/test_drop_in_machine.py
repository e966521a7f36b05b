"""`as_tokenizers` as a state machine: objects and their copies that are changed by their own
methods between calls, and while threads call them. Each answer is that of the method of the class,
as the object is then; what was given before never changes."""

from __future__ import annotations

import copy
import pickle
import random
import threading
from contextlib import ExitStack
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, rule
from tokenizers import Tokenizer

import tokpar
from tests.conftest import at_most
from tests.support.hf_values import Raised, outcome, plain
from tests.support.offsets_drawn import tokenizers
from tests.support.stages_drawn import TEXTS
from tests.support.tokenizers_changes import calls, changes, train
from tests.support.tokenizers_drawn import named_tokenizers, plain_copy
from tokpar.decoding import text_table
from tokpar.integrations import tokenizers_functions, tokenizers_state

RANDOM = st.randoms(use_true_random=False)
NAMES = ("default", "deepseek_part", "llama_style", "metaspace_unigram")
WAYS = {
    "pickle": lambda own: pickle.loads(pickle.dumps(own)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
IN_USE = "Already"
"""How the engine's error begins for an object that another thread uses: `Already borrowed`."""
CALLS = 6


class DropInMachine(RuleBasedStateMachine):
    """Objects with tokpar's functions, of one tokenizer."""

    objects: Bundle[Tokenizer] = Bundle("objects")

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[Any, object]] = []
        self.patches = ExitStack()
        for module, values in (
            (tokenizers_functions, {"SHORTEST": 0, "SHORTEST_BATCH": 0, "FEWEST_IDS": 0}),
            (tokenizers_state, {"MOST_CALLS_TO_WAIT": 0}),
            (text_table, {"LEAST_IDS": 0, "IN_BACKGROUND": False}),
        ):
            self.patches.enter_context(mock.patch.multiple(module, **values))

    def teardown(self) -> None:
        self.patches.close()
        for found, expected in self.given:
            assert plain(found) == expected, "a change reached what was given before"

    @initialize(target=objects, drawn=tokenizers(), name=st.sampled_from((None, *NAMES)))
    def load(self, drawn: Tokenizer, name: str | None) -> Tokenizer:
        own = drawn if name is None else plain_copy(named_tokenizers()[name])
        assume(not isinstance(outcome(lambda: tokpar.as_tokenizers(own)), Raised))
        return own

    @rule(data=st.data(), own=objects, times=st.integers(1, 3))
    def call(self, data: st.DataObject, own: Tokenizer, times: int) -> None:
        for _ in range(times):
            self._compare(own, *data.draw(calls(own), label="call"))

    def _compare(self, own: Tokenizer, name: str, args: Any, kwargs: Any) -> None:
        expected = outcome(lambda: getattr(Tokenizer, name)(own, *args, **kwargs))
        found: list[Any] = []
        got = outcome(lambda: found.append(getattr(own, name)(*args, **kwargs)) or found[0])
        assert got == expected, (name, args, kwargs)
        if found:
            self.given.append((found[0], expected))

    @rule(data=st.data(), own=objects)
    def change(self, data: st.DataObject, own: Tokenizer) -> None:
        change = data.draw(changes(), label="change")
        outcome(lambda: change(own))

    @rule(own=objects)
    def train(self, own: Tokenizer) -> None:
        outcome(lambda: train(own))

    @rule(target=objects, own=objects, way=st.sampled_from([*WAYS]))
    def copy(self, own: Tokenizer, way: str) -> Tokenizer:
        made: Tokenizer = WAYS[way](own)
        assert "encode" in vars(made)
        return made

    @rule(data=st.data(), own=objects, rng=RANDOM)
    def change_beside_threads(
        self, data: st.DataObject, own: Tokenizer, rng: random.Random
    ) -> None:
        """Each answer is that of before or of after the change, or the engine's own refusal.

        After a training the engine has words in its cache that its model does not know any more,
        and panics; a thread that finds the cache locked does without it."""
        text = TEXTS.draw(rng) + " the quick 12"
        change = data.draw(changes(), label="change")
        expected = self._answers(own, text)
        found: list[object] = []
        begun = threading.Barrier(3)

        def encode() -> None:
            begun.wait()
            found.extend(outcome(lambda: own.encode(text)) for _ in range(CALLS))

        threads = [threading.Thread(target=encode) for _ in range(2)]
        for thread in threads:
            thread.start()
        begun.wait()
        outcome(lambda: change(own))
        for thread in threads:
            thread.join()
        expected += self._answers(own, text)
        assert len(found) == 2 * CALLS
        for got in found:
            is_refusal = isinstance(got, Raised) and got[1].startswith(IN_USE)
            assert got in expected or is_refusal, (text, got, expected)

    def _answers(self, own: Tokenizer, text: str) -> list[object]:
        """The engine's answers with and without what is in its cache."""
        return [outcome(lambda: Tokenizer.encode(own, text)), outcome(lambda: self._new(own, text))]

    def _new(self, own: Tokenizer, text: str) -> Any:
        return Tokenizer.encode(Tokenizer.from_str(own.to_str()), text)


TestDropIns = DropInMachine.TestCase
TestDropIns.settings = settings(at_most(40), stateful_step_count=12)
pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]
