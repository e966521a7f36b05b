"""Sessions as a state machine: after any row of edits, sums, forks and returns from bytes a session
has the ids of a full encode, and what is refused leaves it as it was (theorem 36)."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from unittest import mock

import pytest
from hypothesis import reject, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, rule

import tokpar
from tests.sessions.traces import check_edges, ids_of, small_segments
from tests.support.adapters_drawn import contents_of, drawn_adapter, drawn_text
from tests.support.tokenizers_drawn import named_tokenizers
from tokpar.errors import EngineError, OptionError
from tokpar.pipeline import short_texts
from tokpar.sessions.session import Session, SessionPatch

NAMES = sorted(named_tokenizers())
SIZES = [(1, 1, 8), (2, 2, 16), (4, 3, 64), (3, 8, 64), (256, 30, 1 << 13)]
"""Of segments, the reach of their edges, and short texts."""
MOST = 400
RANDOM = st.randoms(use_true_random=False)


class SessionMachine(RuleBasedStateMachine):
    """Sessions of one tokenizer, drawn or a part of a real one, of small segments."""

    sessions: Bundle[Session] = Bundle("sessions")

    @initialize(
        name=st.sampled_from([None, None, *NAMES]), rng=RANDOM, sizes=st.sampled_from(SIZES)
    )
    def load(self, name: str | None, rng: random.Random, sizes: tuple[int, ...]) -> None:
        try:
            adapter = drawn_adapter(rng)
        except OptionError:
            reject()
        if name is not None:
            tokenizer = named_tokenizers()[name]
            is_tiktoken = hasattr(tokenizer, "encode_ordinary")
            adapter = tokpar.load(tokenizer, **{"disallowed_special": ()} if is_tiktoken else {})
        self.adapter, self.tokens = adapter, contents_of(adapter)
        self.encoder, self.all = tokpar.Encoder(adapter), list[Session]()
        self.patches = ExitStack()
        self.patches.enter_context(small_segments(sizes[0], sizes[1]))
        self.patches.enter_context(mock.patch.multiple(short_texts, MOST_DIRECT_CHARS=sizes[-1]))

    def teardown(self) -> None:
        self.patches.close()

    @rule(target=sessions, rng=RANDOM)
    def begin(self, rng: random.Random) -> Session:
        return self._kept(self.encoder.session(self._text(rng, rng.choice((1, 60)))))

    @rule(target=sessions, session=sessions)
    def fork(self, session: Session) -> Session:
        return self._kept(session.fork())

    @rule(target=sessions, session=consumes(sessions))
    def come_back_from_bytes(self, session: Session) -> Session:
        return self._kept(self.encoder.session_from_bytes(session.to_bytes()))

    @rule(session=sessions, rng=RANDOM)
    def append(self, session: Session, rng: random.Random) -> None:
        more = self._text(rng)
        self._edit(session, session.text + more, lambda: session.append(more))

    @rule(session=sessions, other=sessions)
    def append_session(self, session: Session, other: Session) -> None:
        if len(session) + len(other) < MOST:
            self._edit(session, session.text + other.text, lambda: session.append(other))

    @rule(session=sessions, rng=RANDOM, is_update=st.booleans())
    def replace(self, session: Session, rng: random.Random, is_update: bool) -> None:
        text, more = session.text, rng.choice(("", self._text(rng)))
        start = rng.randint(0, len(text))
        stop = rng.randint(start, min(len(text), start + rng.choice((0, 1, 4))))
        wanted = text[:start] + more + text[stop:]
        update, replace = (
            partial(session.update, wanted),
            partial(session.replace, start, stop, more),
        )
        self._edit(session, wanted, update if is_update else replace)

    @rule(session=sessions, rng=RANDOM)
    def truncate(self, session: Session, rng: random.Random) -> None:
        place = rng.randint(len(session) // 2, len(session))
        self._edit(session, session.text[:place], lambda: session.truncate(place))

    @invariant()
    def all_have_the_ids_of_a_full_encode(self) -> None:
        for session in getattr(self, "all", ()):
            assert session.unprocessed_ids.tolist() == ids_of(self.adapter, session.text)
            check_edges(session)

    def _kept(self, session: Session) -> Session:
        self.all.append(session)
        return session

    def _text(self, rng: random.Random, most: int = 0) -> str:
        """A text that the tokenizer encodes."""
        text = drawn_text(rng, self.tokens, most or rng.choice((1, 2, 5, 30)))
        try:
            ids_of(self.adapter, text)
        except EngineError:
            return ""
        return text

    def _edit(self, session: Session, wanted: str, edit: Callable[[], SessionPatch]) -> None:
        """One edit. It may fail only where the engine refuses the whole text, and then nothing is
        edited. Its patch makes the new ids of the old ones, with little encoded."""
        text, old = session.text, session.unprocessed_ids.tolist()
        try:
            patch = edit()
        except EngineError:
            with pytest.raises(EngineError):
                ids_of(self.adapter, wanted)
            assert session.text == text
            return
        assert session.text == wanted
        assert 0 <= patch.start <= patch.stop <= len(wanted)
        assert patch.encoded <= patch.stop - patch.start
        new = old[: patch.replace_from] + patch.replacement_ids.tolist()
        assert new == session.unprocessed_ids.tolist()


TestSessions = SessionMachine.TestCase
TestSessions.settings = settings(stateful_step_count=15)
pytestmark = pytest.mark.ids
