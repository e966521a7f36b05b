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
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, rule
from tokenizers import Tokenizer

import tokpar
from tests.conftest import at_most
from tests.support.hf_values import Raised, outcome
from tests.support.offsets_drawn import tokenizers
from tests.support.stages_drawn import TEXTS
from tests.support.tokenizers_changes import calls, changes, train
from tests.support.tokenizers_drawn import named_tokenizers, plain_copy
from tokpar.decoding import text_table
from tokpar.integrations import tokenizers_functions, tokenizers_state
from tokpar.integrations.tokenizers_state import EngineState

RANDOM = st.integers(0, (1 << 32) - 1).map(random.Random)
NAMES = ("default", "deepseek_part", "llama_style", "metaspace_unigram")
WAYS = {
    "pickle": lambda own: pickle.loads(pickle.dumps(own)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
IN_USE = "Already"
"""How the engine's error begins for an object that another thread uses: `Already borrowed`."""
CALLS = 6


def is_followed(own: Tokenizer) -> bool:
    state: EngineState = getattr(own, tokenizers_functions.KEY)
    return state._is_followed


def read(found: Any) -> object:
    """Returns all that a reader finds in the result of a call, or the error that reading raises."""
    return outcome(lambda: found)


class DropInMachine(RuleBasedStateMachine):
    """Objects with tokpar's functions, of one tokenizer."""

    objects: Bundle[Tokenizer] = Bundle("objects")

    def __init__(self) -> None:
        super().__init__()
        self.given: list[tuple[Tokenizer, Any, object]] = []
        self.patches = ExitStack()
        for module, values in (
            (tokenizers_functions, {"SHORTEST": 0, "SHORTEST_BATCH": 0, "FEWEST_IDS": 0}),
            (tokenizers_state, {"MOST_CALLS_TO_WAIT": 0}),
            (text_table, {"LEAST_IDS": 0, "IN_BACKGROUND": False}),
        ):
            self.patches.enter_context(mock.patch.multiple(module, **values))

    def teardown(self) -> None:
        self._read_given()
        self.patches.close()

    def _read_given(self) -> None:
        """Reads what earlier calls gave, and compares it with what it was then. Leaves out objects
        that have another model now: the engine may not know the older tokens any more."""
        for own, found, expected in self.given:
            if is_followed(own):
                assert read(found) == expected
        self.given.clear()

    @initialize(target=objects, drawn=tokenizers(), name=st.sampled_from((None, *NAMES)))
    def load(self, drawn: Tokenizer, name: str | None) -> Tokenizer:
        own = drawn if name is None else plain_copy(named_tokenizers()[name])
        assume(not isinstance(outcome(lambda: tokpar.as_tokenizers(own)), Raised))
        return own

    @rule(data=st.data(), own=objects, times=st.integers(1, 3))
    def call(self, data: st.DataObject, own: Tokenizer, times: int) -> None:
        for _ in range(times):
            self._compare(own, *data.draw(calls(own), label="call"))

    def _compare(
        self, own: Tokenizer, name: str, args: Any, kwargs: Any, reads_late: bool = False
    ) -> None:
        """`reads_late`: what the call gives is read only after later calls and changes."""
        expected = outcome(lambda: getattr(Tokenizer, name)(own, *args, **kwargs))
        found: list[Any] = []

        def call() -> Any:
            found.append(getattr(own, name)(*args, **kwargs))
            return None if reads_late else found[0]

        got = outcome(call)
        assert got == (None if reads_late and found else expected), (name, args, kwargs)
        if found:
            self.given.append((own, found[0], expected))

    def _compare_calls(self, own: Tokenizer, rng: random.Random) -> None:
        """Calls that tokpar answers, of texts with words that changes are about."""
        text = TEXTS.draw(rng) + " the quick [UNK] <new>\u00e9 A ab 12"
        texts, adds = [text, f" {text[::-1]}"], rng.random() < 0.5
        for name, given in (
            ("encode", text),
            ("encode_batch", texts),
            ("encode_batch_fast", texts),
        ):
            keywords = {"add_special_tokens": adds}
            self._compare(own, name, (given,), keywords, rng.random() < 0.5)
        ids = [rng.randrange(own.get_vocab_size()) for _ in range(24)]
        self._compare(own, "decode", (ids, rng.random() < 0.5), {})
        self._compare(own, "decode_batch", ([ids, ids[::-1]], rng.random() < 0.5), {})

    @rule(target=objects, data=st.data(), own=consumes(objects), rng=RANDOM)
    def change(self, data: st.DataObject, own: Tokenizer, rng: random.Random) -> Tokenizer:
        self._compare_calls(own, rng)
        change = data.draw(changes(), label="change")
        outcome(lambda: change(own))
        return self._compared(own, rng)

    @rule(target=objects, own=consumes(objects), rng=RANDOM)
    def train(self, own: Tokenizer, rng: random.Random) -> Tokenizer:
        self._read_given()
        outcome(lambda: train(own))
        return self._compared(own, rng)

    def _compared(self, own: Tokenizer, rng: random.Random) -> Tokenizer:
        """The object, or a copy: a trained object answers by its own methods from then on, and
        threads of the engine that encoded by the former model panic or not, call by call."""
        followed = own if is_followed(own) else copy.deepcopy(own)
        self._compare_calls(followed, rng)
        return followed

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
