"""Streams as a state machine: texts that arrive and ids that arrive, several of one encoder in any
order, with forks, refused ids, sources that fail and streams that are closed. The ids are those of
the own encode of the whole text, the texts those of the own decode of all ids."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import tiktoken
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)

import tokpar
from tests.conftest import at_most
from tests.support.adapters_drawn import drawn_text
from tests.support.decode_streams import KINDS, encoder_of, own_text
from tests.support.drawn_runs import adapter_of, any_tokenizer, own_call
from tests.support.tokenizers_drawn import contents
from tokpar.decoding.streams import DecodeStream, common_start
from tokpar.errors import EngineError, OptionError

RANDOM = st.randoms(use_true_random=False)
NO_IDS: tuple[Any, ...] = (-1, 1 << 32, 1 << 70, 0.0, "0", None, "\ud800")


class BrokenSourceError(Exception):
    """Of a source of chunks."""


@dataclass
class ArrivingText:
    """A text whose chunks are drawn when the stream asks for them."""

    draw: random.Random
    tokens: list[str]
    chunks_left: int
    is_broken: bool = False
    chunks: list[str] = field(default_factory=list)
    ids: list[int] = field(default_factory=list)
    said: str = ""

    def source(self) -> Iterator[str]:
        while self.chunks_left:
            if self.is_broken:
                raise BrokenSourceError
            self.chunks_left -= 1
            most = self.draw.choice((1, 3, 40))
            chunk = drawn_text(self.draw, self.tokens, most)
            self.chunks.append(self.draw.choice(("", chunk, chunk, chunk)))
            yield self.chunks[-1]


@dataclass
class ArrivingIds:
    """Ids that a stream got after a prompt, and the text that it has given for them."""

    stream: DecodeStream
    prompt: list[int]
    skips: bool
    ids: list[int] = field(default_factory=list)
    said: str = ""


class TextMachine(RuleBasedStateMachine):
    """Texts that arrive, each with a stream that decodes its ids."""

    texts: Bundle[tuple[ArrivingText, Any, DecodeStream]] = Bundle("texts")

    @initialize(own=any_tokenizer())
    def load(self, own: Any) -> None:
        self.own, self.encoder = own, tokpar.Encoder(adapter_of(own))
        self.tokens = [*filter(str.strip, contents(own))]

    @rule(target=texts, rng=RANDOM)
    def begin_text(self, rng: random.Random) -> tuple[ArrivingText, Any, DecodeStream]:
        text = ArrivingText(random.Random(rng.randrange(1 << 32)), self.tokens, rng.randint(0, 30))
        return text, self.encoder.stream(text.source()), self.encoder.decode_stream()

    @rule(running=texts, times=st.integers(1, 5))
    def take_ids(self, running: tuple[ArrivingText, Any, DecodeStream], times: int) -> None:
        for _ in range(times):
            self._take(*running)

    @rule(running=consumes(texts))
    def take_all_ids(self, running: tuple[ArrivingText, Any, DecodeStream]) -> None:
        text, arrays, back = running
        while self._take(text, arrays, back):
            pass
        if not text.is_broken:
            said = self._own_text(text.ids)
            if said is not None:
                assert text.said + back.fork().finish() == said

    def _take(self, text: ArrivingText, arrays: Any, back: DecodeStream) -> bool:
        """Takes the next ids. False at the end, when they are those of the own encode."""
        try:
            found = next(arrays, None)
        except EngineError:
            assume(False)  # the own call panics for this text
        if found is None:
            if not text.is_broken:
                assert text.ids == own_call(self.own, "".join(text.chunks))
            return False
        assert len(found)
        text.ids += found.tolist()
        text.said += back.push(found)
        return True

    @rule(running=texts)
    def the_source_breaks(self, running: tuple[ArrivingText, Any, DecodeStream]) -> None:
        text, arrays, _ = running
        if text.chunks_left and not text.is_broken:
            text.is_broken = True
            with pytest.raises(BrokenSourceError):
                text.ids.extend(id_ for found in arrays for id_ in found.tolist())
            assert next(arrays, None) is None
            try:
                expected = own_call(self.own, "".join(text.chunks))
            except ValueError:
                return
            common = [a == b for a, b in zip(text.ids, expected, strict=False)]
            assert all(common), "ids were given that more text changes"

    @rule(running=consumes(texts))
    def close_text(self, running: tuple[ArrivingText, Any, DecodeStream]) -> None:
        running[1].close()
        assert next(running[1], None) is None

    def _own_text(self, ids: list[int]) -> str | None:
        if isinstance(self.own, tiktoken.Encoding):
            return own_text(self.own.decode, ids)
        return own_text(lambda some: str(self.own.decode(some, skip_special_tokens=False)), ids)


class IdMachine(RuleBasedStateMachine):
    """Ids that arrive for streams of their own."""

    decoded: Bundle[ArrivingIds] = Bundle("decoded")

    @initialize(kind=st.sampled_from([*KINDS]))
    def load(self, kind: str) -> None:
        self.encoder, self.own = encoder_of(kind)
        self.known_ids = [*range(len(KINDS[kind].tokens))]
        self.all = list[ArrivingIds]()

    def _ids(self, rng: random.Random) -> list[int]:
        return [rng.choice(self.known_ids) for _ in range(rng.randint(0, 6))]

    def _kept(self, running: ArrivingIds) -> ArrivingIds:
        self.all.append(running)
        return running

    @rule(target=decoded, rng=RANDOM, skips=st.booleans(), has_prompt=st.booleans())
    def begin(self, rng: random.Random, skips: bool, has_prompt: bool) -> ArrivingIds:
        prompt = self._ids(rng) if has_prompt else []
        stream = self.encoder.decode_stream(prompt, skip_special_tokens=skips)
        return self._kept(ArrivingIds(stream, prompt, skips))

    @rule(running=decoded, rng=RANDOM, at_once=st.booleans())
    def give_ids(self, running: ArrivingIds, rng: random.Random, at_once: bool) -> None:
        ids, stream = self._ids(rng), running.stream
        running.said += stream.push(ids) if at_once else "".join(map(stream.step, ids))
        running.ids += ids

    @rule(target=decoded, running=decoded)
    def fork(self, running: ArrivingIds) -> ArrivingIds:
        twin = running.stream.fork()
        return self._kept(replace(running, stream=twin, ids=[*running.ids]))

    @rule(running=decoded, wrong=st.sampled_from(NO_IDS), rng=RANDOM, at_once=st.booleans())
    def refuse_ids(
        self, running: ArrivingIds, wrong: Any, rng: random.Random, at_once: bool
    ) -> None:
        stream = running.stream
        with pytest.raises((TypeError, ValueError, LookupError)):
            stream.push([*self._ids(rng), wrong]) if at_once else stream.step(wrong)

    @rule(running=consumes(decoded))
    def finish(self, running: ArrivingIds) -> None:
        check_finish(self.own, running, running.stream.finish)
        with pytest.raises((OptionError, LookupError)):
            running.stream.step(self.known_ids[0])
        self.all.remove(running)

    @invariant()
    def each_stream_would_end_with_the_text_of_the_own_decode(self) -> None:
        for running in getattr(self, "all", ()):
            check_finish(self.own, running, running.stream.fork().finish)


class ServerMachine(RuleBasedStateMachine):
    """Ids that arrive for the streams of a server, in one call for several of them."""

    @initialize(kind=st.sampled_from([*KINDS]))
    def load(self, kind: str) -> None:
        self.encoder, self.own = encoder_of(kind)
        self.known_ids = [*range(len(KINDS[kind].tokens))]
        self.streams = self.encoder.decode_streams(starts=True)
        self.open: dict[int, ArrivingIds] = {}

    @rule(rng=RANDOM, size=st.integers(0, 5))
    def begin(self, rng: random.Random, size: int) -> None:
        prompt = rng.choices(self.known_ids, k=size)
        number = self.streams.open(prompt)
        assert number not in self.open
        self.open[number] = ArrivingIds(self.encoder.decode_stream(), prompt, False)
        assert len(self.streams) == len(self.open)

    @precondition(lambda self: self.open)
    @rule(rng=RANDOM, size=st.integers(0, 6))
    def push(self, rng: random.Random, size: int) -> None:
        chosen, ids = rng.choices([*self.open], k=size), rng.choices(self.known_ids, k=size)
        texts = self.streams.push(chosen, ids)
        for number, id_, text, start in zip(chosen, ids, texts, self.streams.starts, strict=True):
            running = self.open[number]
            assert start == len(running.said)
            running.ids.append(id_)
            running.said += text

    @precondition(lambda self: self.open)
    @rule(rng=RANDOM, size=st.integers(0, 6), wrong=st.sampled_from(NO_IDS), is_id=st.booleans())
    def refuse(self, rng: random.Random, size: int, wrong: Any, is_id: bool) -> None:
        """A wrong id or number at the end, when others were looked at."""
        chosen, ids = rng.choices([*self.open], k=size), rng.choices(self.known_ids, k=size)
        last = (rng.choice([*self.open]), wrong) if is_id else (wrong, self.known_ids[0])
        if not is_id and wrong == 0:  # 0.0 is a key of 0, too
            return
        with pytest.raises((TypeError, ValueError, LookupError)):
            self.streams.push([*chosen, last[0]], [*ids, last[1]])

    @precondition(lambda self: self.open)
    @rule(rng=RANDOM)
    def finish(self, rng: random.Random) -> None:
        number = rng.choice([*self.open])
        running = self.open.pop(number)
        check_finish(self.own, running, lambda: self.streams.finish(number))
        with pytest.raises(OptionError):
            self.streams.finish(-1)

    def teardown(self) -> None:
        while getattr(self, "open", ()):
            self.finish(random.Random(0))


def check_finish(own: Any, running: ArrivingIds, finish: Callable[[], str]) -> None:
    """The text of a stream is what the own decode of all ids adds to that of the prompt."""

    def decoded(ids: list[int]) -> str | None:
        return own_text(lambda some: str(own.decode(some, skip_special_tokens=running.skips)), ids)

    whole = decoded(running.prompt + running.ids)
    if whole is None:
        with pytest.raises(EngineError):
            finish()
        return
    before = decoded(running.prompt) or ""
    assert running.said + finish() == whole[common_start(before, whole) :]


TestTexts, TestIds = TextMachine.TestCase, IdMachine.TestCase
TestServers = ServerMachine.TestCase
TestTexts.settings = settings(at_most(40), stateful_step_count=15)
TestIds.settings = TestServers.settings = settings(stateful_step_count=30)
pytestmark = pytest.mark.ids
