"""A text that grows and shrinks at its end, with untrusted parts, and its ids.

Each edit names the control tokens of the last trusted run again, because a run goes over appends,
and updates a session of the text with names (theorem 36)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokpar.arrays import IdArray
from tokpar.errors import OptionError
from tokpar.process.fork_locks import own_lock
from tokpar.process.limits import require_text
from tokpar.sessions.session import Session
from tokpar.untrusted.named_text import has_private, named_text
from tokpar.untrusted.trusted_encoder import NamedEngine, TrustedEncoder
from tokpar.untrusted.trusted_search import Match, Span, require_spans


@dataclass(frozen=True, eq=False)
class TrustedPatch:
    """What one edit changed: ``old[:replace_from] + replacement_ids`` are the new ids, before
    special tokens, truncation and padding."""

    replace_from: int
    replacement_ids: IdArray
    revision: int


@dataclass(frozen=True, slots=True, eq=False)
class TrustedState:
    """What a session is at one revision. One assignment commits an edit, so that other threads and
    forked children see the state before or after it.

    `inner`: the session of the named text, which nobody edits; `engine` encodes it."""

    engine: NamedEngine
    inner: Session
    matches: Sequence[Match] = ()
    text: str = ""
    spans: tuple[Span, ...] = ()
    revision: int = 0


class TrustedSession:
    """A text with untrusted parts, and its ids; make it by `Encoder.trusted_session`.

    All positions are code points. Thread-safe. After an error the session is unchanged."""

    def __init__(self, encoder: TrustedEncoder, text: str, spans: Iterable[Span]) -> None:
        self._encoder = encoder
        self._lock = own_lock(self)
        engine, text = encoder.engine_for(text), require_text(text)
        self._state = TrustedState(engine, engine.encoder.session(), revision=-1)
        self._edit(text, require_spans(spans, text))

    def __len__(self) -> int:
        """The length of the text in code points."""
        return len(self._state.text)

    @property
    def text(self) -> str:
        """The whole text."""
        return self._state.text

    @property
    def untrusted(self) -> tuple[Span, ...]:
        """[start, stop) of the untrusted parts, ascending; neighbours are one part."""
        return self._state.spans

    @property
    def revision(self) -> int:
        """The number of edits so far."""
        return self._state.revision

    @property
    def unprocessed_ids(self) -> IdArray:
        """The ids before special tokens, truncation and padding; uint32, (n,), read-only."""
        state = self._state
        ids = state.inner.unprocessed_ids
        self._encoder.require_no_control(ids)
        return state.engine.tokenizer_ids(ids)

    @property
    def ids(self) -> IdArray:
        """The ids of the text, as ``Encoder.encode(text, untrusted=...)`` returns them; uint32,
        (n,), read-only. Raises ControlTokenError as `encode` does."""
        state = self._state
        self._encoder.require_no_control(state.inner.unprocessed_ids)
        return state.engine.tokenizer_ids(state.inner.ids)

    def append(self, text: str, *, trusted: bool = True) -> TrustedPatch:
        """Add `text` at the end. Encodes it and the characters after the last stable cut.

        Trusted texts that follow each other are one run: together they may spell a control token.
        With untrusted text between them they cannot."""
        if not isinstance(trusted, bool):
            raise OptionError(f"trusted must be True or False, got {trusted!r:.80}")
        with self._lock:
            old, added = self._state.text, require_text(text)
            length, spans = len(old), self._state.spans
            if added and not trusted:
                joins = bool(spans) and spans[-1][1] == length
                start = spans[-1][0] if joins else length
                spans = (*(spans[:-1] if joins else spans), (start, length + len(added)))
            return self._edit(old + added, spans)

    def truncate(self, position: int) -> TrustedPatch:
        """Remove all text from code point `position` on."""
        with self._lock:
            text = self._state.text
            if not isinstance(position, int) or not 0 <= position <= len(text):
                raise OptionError(f"position must be 0 to {len(text)}, got {position!r:.80}")
            spans = ((start, min(stop, position)) for start, stop in self._state.spans)
            left = tuple(span for span in spans if span[0] < span[1])
            return self._edit(text[:position], left)

    def fork(self) -> TrustedSession:
        """A copy of this session. Edits of one do not change the other."""
        twin = object.__new__(TrustedSession)
        twin.__dict__ |= self.__dict__ | {"_lock": own_lock(twin)}
        return twin

    def _edit(self, text: str, spans: tuple[Span, ...]) -> TrustedPatch:
        """Make `text` the text, which differs from the old one at its end only."""
        state = self._state
        shared, kept = min(len(text), len(state.text)), 0
        if not self._encoder.searches_twice:  # where the last trusted run starts that may change
            kept = max((stop for _, stop in state.spans if stop <= shared), default=0)
        matches = [match for match in state.matches if match[1] <= kept]
        matches += self._encoder.matches(text, spans, kept)
        engine, inner = state.engine, state.inner.fork()
        is_kept = not has_private(text, engine.first_name, len(engine.names))
        if not is_kept:
            engine = self._encoder.engine_for(text)
            inner = engine.encoder.session()
        patch = inner.update(named_text(text, matches, engine.names).text)
        first = patch.replace_from if is_kept else 0
        ids = engine.tokenizer_ids(inner.unprocessed_ids[first:])
        revision = state.revision + 1
        self._state = TrustedState(engine, inner, matches, text, spans, revision)
        return TrustedPatch(first, ids, revision)
