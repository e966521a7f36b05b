"""Streams as a state machine: texts that arrive and ids that arrive, several of one encoder in any
order, with forks, refused ids, sources that fail and streams that are closed. The ids are those of
the own encode of the whole text, the texts those of the own decode of all ids."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
import tiktoken
from hypothesis import assume, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, rule

import tokpar
from tests.conftest import at_most
from tests.support.adapters_drawn import drawn_text
from tests.support.decode_streams import KINDS, encoder_of, own_text, rest_of
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
    """Ids that arrive: streams of their own, and the streams of a server."""

    decoded: Bundle[ArrivingIds] = Bundle("decoded")
    numbers: Bundle[int] = Bundle("numbers")

    @initialize(kind=st.sampled_from([*KINDS]))
    def load(self, kind: str) -> None:
        self.encoder, self.own = encoder_of(kind)
        self.some_ids = [*range(len(KINDS[kind].tokens))]
        self.many = self.encoder.decode_streams(starts=True)
        self.open: dict[int, ArrivingIds] = {}

    def _own_text(self, ids: list[int], skips: bool) -> str | None:
        return own_text(lambda some: str(self.own.decode(some, skip_special_tokens=skips)), ids)

    def _ids(self, rng: random.Random, most: int = 6) -> list[int]:
        return [rng.choice(self.some_ids) for _ in range(rng.randint(0, most))]

    @rule(target=decoded, rng=RANDOM, skips=st.booleans())
    def begin_ids(self, rng: random.Random, skips: bool) -> ArrivingIds:
        prompt = self._ids(rng) if rng.random() < 0.7 else []
        stream = self.encoder.decode_stream(prompt, skip_special_tokens=skips)
        return ArrivingIds(stream, prompt, skips)

    @rule(running=decoded, rng=RANDOM, at_once=st.booleans())
    def give_ids(self, running: ArrivingIds, rng: random.Random, at_once: bool) -> None:
        ids = self._ids(rng)
        steps = running.stream.step
        running.said += running.stream.push(ids) if at_once else "".join(map(steps, ids))
        running.ids += ids

    @rule(target=decoded, running=decoded)
    def fork(self, running: ArrivingIds) -> ArrivingIds:
        twin = running.stream.fork()
        return ArrivingIds(twin, running.prompt, running.skips, [*running.ids], running.said)

    @rule(running=decoded, wrong=st.sampled_from(NO_IDS), rng=RANDOM)
    def refuse_ids(self, running: ArrivingIds, wrong: Any, rng: random.Random) -> None:
        stream = running.stream
        held = rest_of(stream.fork())
        for call in (
            lambda: stream.step(wrong),
            lambda: stream.push([*self._ids(rng), wrong]),
        ):
            with pytest.raises((TypeError, ValueError, LookupError)):
                call()
            assert rest_of(stream.fork()) == held

    @rule(running=consumes(decoded))
    def finish_ids(self, running: ArrivingIds) -> None:
        self._check_finish(running, running.stream.finish)
        with pytest.raises((OptionError, LookupError)):
            running.stream.step(self.some_ids[0])

    def _check_finish(self, running: ArrivingIds, finish: Any) -> None:
        whole = self._own_text(running.prompt + running.ids, running.skips)
        if whole is None:
            with pytest.raises(EngineError):
                finish()
            return
        before = self._own_text(running.prompt, running.skips) or ""
        assert running.said + finish() == whole[common_start(before, whole) :]

    @rule(target=numbers, rng=RANDOM)
    def open_number(self, rng: random.Random) -> int:
        prompt = self._ids(rng) if rng.random() < 0.7 else []
        number = self.many.open(prompt)
        assert number not in self.open
        self.open[number] = ArrivingIds(self.encoder.decode_stream(), prompt, False)
        assert len(self.many) == len(self.open)
        return number

    @rule(rng=RANDOM, wrong=st.sampled_from((None, None, None, -1, 99, *NO_IDS)))
    def push_to_many(self, rng: random.Random, wrong: Any) -> None:
        chosen = [rng.choice([*self.open]) for _ in range(rng.randint(1, 6)) if self.open]
        ids = [rng.choice(self.some_ids) for _ in chosen]
        if wrong is not None and chosen:
            at = rng.randrange(len(chosen))
            wrong_ids, wrong_numbers = [*ids], [*chosen]
            (wrong_numbers if wrong in (-1, 99) else wrong_ids)[at] = wrong
            with pytest.raises((TypeError, ValueError, LookupError)):
                self.many.push(wrong_numbers, wrong_ids)
        said = self.many.push(chosen, ids)
        for number, id_, text, start in zip(chosen, ids, said, self.many.starts, strict=True):
            running = self.open[number]
            assert start == len(running.said)
            running.ids.append(id_)
            running.said += text

    @rule(number=consumes(numbers))
    def finish_number(self, number: int) -> None:
        running = self.open.pop(number)
        self._check_finish(running, lambda: self.many.finish(number))

    def teardown(self) -> None:
        for number in [*getattr(self, "open", ())]:
            self.finish_number(number)


TestTexts, TestIds = TextMachine.TestCase, IdMachine.TestCase
TestTexts.settings = settings(at_most(60), stateful_step_count=15)
TestIds.settings = settings(stateful_step_count=30)
pytestmark = pytest.mark.ids
