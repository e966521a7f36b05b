"""A text that is edited again and again, with its ids (theorems 36 and 38)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

import numpy as np

from tokpar.arrays import IdArray, SpanArray, frozen_ids, has_surrogate
from tokpar.contract.adapter import inserted_ids
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter, facts_of
from tokpar.cuts.stable_cuts import stable_cuts_for
from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar.process.fork_locks import own_lock
from tokpar.process.limits import require_text
from tokpar.results.adding_up import EncodesParts, concatenate
from tokpar.results.encoding import Encoding
from tokpar.results.spans import postprocess_single
from tokpar.sessions.common_ends import common_prefix, common_suffix
from tokpar.sessions.editing import Edit, Editing, ids_of
from tokpar.sessions.pins import (
    NO_PINS,
    PinnedRows,
    Region,
    TranscriptRow,
    bytes_of_pin,
    context_of,
    ids_of_pin,
    regions_of,
    spans_of_rows,
)
from tokpar.sessions.placeholders import expand_placeholders
from tokpar.sessions.rope import Rope, Segment, first_ids, ids_after, join_ropes, slice_of
from tokpar.sessions.session_bytes import SessionParts, read_session, write_session
from tokpar.sessions.session_state import SessionState


class EncodesTexts(Protocol):
    """The methods of an `Encoder` that a session calls."""

    @property
    def tokenizer(self) -> TokenizerAdapter: ...

    def encode(self, text: str) -> Encoding: ...

    @property
    def rows_of_parts(self) -> EncodesParts: ...


@dataclass(frozen=True, eq=False)
class SessionPatch:
    """What one edit changed: ``old[:replace_from] + replacement_ids`` are the new ids.

    Old and new ids are ids before special tokens, truncation and padding. `revision`: the revision
    that the edit made. `encoded`: how many code points were encoded; they lie in [start, stop) of
    the new text. `why`: why the whole text was encoded again, or ""."""

    replace_from: int
    revision: int
    encoded: int
    start: int
    stop: int
    why: str
    _rope: Rope
    _ids_before: int

    @cached_property
    def replacement_ids(self) -> IdArray:
        """The ids that replace ``old[replace_from:]``; uint32, (n,), read-only."""
        return frozen_ids(ids_after(self._rope, self.replace_from - self._ids_before))


class Session:
    """A text and its ids; an edit encodes only the text near the change. Make it with
    `Encoder.session`.

    All positions are code points. A session is thread-safe: edits happen one after the other. Every
    edit takes `revision`, the last revision that the caller saw, and raises OptionError if another
    edit came in between. After an error the session is unchanged."""

    def __init__(self, encoder: EncodesTexts, text: str = "") -> None:
        self._encoder = encoder
        self._tokenizer = encoder.tokenizer
        self._editing = Editing(encoder.tokenizer, encoder.rows_of_parts)
        self._lock = own_lock(self)
        text = _check_text(text)
        self._state = SessionState(rope=self._editing.edit(None, 0, 0, text).rope, text=text)

    def __repr__(self) -> str:
        state = self._state
        size = f"{state.chars:,} code points, {state.count:,} ids"
        return f"<Session of {self._tokenizer.name!r}, revision {state.revision}: {size}>"

    def __len__(self) -> int:
        """The length of the text in code points."""
        return self._state.chars

    @property
    def count(self) -> int:
        """The number of `ids`, without making them unless truncation or padding changes it."""
        with self._lock:
            inserted = inserted_ids(self._tokenizer)
            if inserted is None:
                return len(self.ids)
            return self._state.count + sum(map(len, inserted))

    @property
    def revision(self) -> int:
        """The number of edits so far."""
        return self._state.revision

    @property
    def text(self) -> str:
        """The whole text. A byte of a pin that is no part of a character is a lone surrogate."""
        with self._lock:
            text = self._state.all_text
            if self._state.text is None:
                self._state = replace(self._state, text=text)
            return text

    @property
    def unprocessed_ids(self) -> IdArray:
        """The ids before special tokens, truncation and padding; uint32, (n,), read-only."""
        with self._lock:
            ids = self._state.all_ids
            if self._state.ids is not ids:
                self._state = replace(self._state, ids=ids, valid_count=len(ids))
            return ids

    @property
    def ids(self) -> IdArray:
        """The ids of the text, as `Encoder.encode` returns them; uint32, (n,), read-only."""
        with self._lock:
            own, text, tokenizer = self.unprocessed_ids, self.text, self._tokenizer
            pins = bool(self._state.pins.rows)
        if not isinstance(tokenizer, PostProcesses):
            return own
        try:
            return frozen_ids(postprocess_single(tokenizer, own, text))
        except LookupError:  # this text can be post-processed only by the tokenizer's own call
            if pins:
                raise
            return self._encoder.encode(text).ids

    def append(self, text: str | Session, *, revision: int | None = None) -> SessionPatch:
        """Add `text` at the end. Encodes `text` and the characters after the last stable cut.

        `text` may be another session: its ids are kept from its first co-stable cut on (theorem
        36), so only the characters near the seam are encoded. Raises OptionError for a session of
        another tokenizer, and for a session with pins."""
        if not isinstance(text, Session):
            with self._lock:
                return self._replace(len(self), len(self), text, revision)
        added = text._without_pins()
        with self._lock:
            self._require_same_tokenizer(added)
            return self._replace(len(self), len(self), "", revision, added._state.rope)

    def __add__(self, other: Session) -> Session:
        """A new session with the text of this session followed by the text of `other`."""
        if not isinstance(other, Session):
            return NotImplemented
        whole = self.fork()
        whole.append(other)
        return whole

    def replace(
        self, start: int, stop: int, text: str, *, revision: int | None = None
    ) -> SessionPatch:
        """Replace the code points [start, stop) by `text`."""
        with self._lock:
            return self._replace(start, stop, text, revision)

    def truncate(self, position: int, *, revision: int | None = None) -> SessionPatch:
        """Remove all text from code point `position` on."""
        with self._lock:
            return self._replace(position, len(self), "", revision)

    def update(self, text: str, *, revision: int | None = None) -> SessionPatch:
        """Make `text` the whole text. Encodes only the part that differs from the old text.

        The longest common prefix and suffix of the two texts count as unchanged."""
        with self._lock:
            old, pinned = self.text, self._state.pins.chars
            text = require_text(text)
            start = common_prefix(old, text)
            most = min(len(old), len(text)) - max(start, pinned)
            same = common_suffix(old, text, max(0, most))
            new = text[start : len(text) - same]
            return self._replace(start, max(start, len(old) - same), new, revision, whole=text)

    def pin(
        self, ids: Sequence[int] | IdArray, text: str | None = None, *, revision: int | None = None
    ) -> SessionPatch:
        """Add ids that a model produced. These ids stay unchanged, also where the tokenizer would
        give others.

        The text of a pin is the bytes of its tokens in place; special tokens stand as their
        content. A tokenizer whose tokens do not spell their text needs `text`. The next pin may
        complete half a character.

        The next text is encoded as the tokenizer would encode it after the pin, if that leaves the
        ids of the pin's end unchanged; else by itself (theorem 38, P2 and P1). No later edit
        changes the text up to the end of a pin. Raises OptionError."""
        with self._lock:
            self._require(len(self), len(self), revision)
            state, tokenizer, pinned_ids = self._state, self._tokenizer, ids_of_pin(ids)
            given = None if text is None else require_text(text)
            data, before = bytes_of_pin(tokenizer, pinned_ids, given), state.count
            new = Segment("", frozen_ids(pinned_ids))
            rows = state.all_rows
            # the last pin may end in half a character
            if rows and rows[-1].data is not None and not rows[-1].repeats:
                data = rows[-1].data + data
                pinned_ids, rows = concatenate([rows[-1].pinned_ids, pinned_ids]), rows[:-1]
            pin = TranscriptRow(data=data, pinned_ids=pinned_ids)
            context = context_of(stable_cuts_for(facts_of(tokenizer)), pin.text)
            rope = self._editing.edit(None, 0, 0, context).rope
            pins = _pinned_rows((*rows, pin), context, rope)
            state = self._state = state.edited(before, pins=pins, rope=rope)
            end = state.chars
            return SessionPatch(before, state.revision, len(context), end, end, "", new, before)

    def replace_ids(
        self, token: int | str, n: int | Sequence[int], *, revision: int | None = None
    ) -> SessionPatch:
        """Repeat the id of each placeholder, such as the one of an image; encodes no text.

        `token`: an added token, by its id or its content. `n`: how many ids stand in place of one,
        or one number for each placeholder in order. The text keeps one placeholder, at which all
        `n` ids lie (`char_spans`). The ids are those of the text with `n` placeholders in each
        place (corollary of theorem 29). Only the text after the last pin is searched, and each
        placeholder becomes a pin: no later edit changes the text up to it, and a second call
        repeats only later ones. Raises OptionError for a token beside which the ids may change."""
        with self._lock:
            self._require(len(self), len(self), revision)
            state = self._state
            *rows, last = expand_placeholders(state.last_row, self._tokenizer, token, n)
            if rows:
                context = slice_of(last.rope, 0, last.skipped_chars)
                pinned = [row for row in rows if row.count or row.text]
                known = Segment(context, first_ids(last.rope, last.skipped_ids))
                pins = _pinned_rows((*state.pins.rows, *pinned), context, known)
                kept = state.pins.count + rows[0].count
                state = state.edited(kept, pins=pins, rope=last.rope, text=state.text)
            else:
                kept = state.count
                state = replace(state, revision=state.revision + 1)
            self._state = state
            new, end = Segment("", state.all_ids[kept:]), state.chars
            return SessionPatch(kept, state.revision, 0, end, end, "", new, kept)

    @property
    def char_spans(self) -> SpanArray:
        """[start, stop) in `text`, code points, of each of `unprocessed_ids`; int64, (n, 2).

        All ids of a pin, and all copies of a placeholder, have the whole pin. Raises LookupError if
        the tokenizer cannot tell where its tokens lie."""
        with self._lock:
            return spans_of_rows(self._state.all_rows, self._tokenizer)

    @property
    def canonical(self) -> tuple[Region, ...]:
        """Whether the ids of each part are the ids of a full encode of the text (theorem 38).

        Without pins, all ids are."""
        with self._lock:
            tokenizer, state = self._tokenizer, self._state
            if not state.pins.rows:
                size = state.chars, state.count
                return (Region(0, size[0], 0, size[1], "canonical"),) if any(size) else ()
            cuts = stable_cuts_for(facts_of(tokenizer))
            return regions_of(state.all_rows, cuts, partial(ids_of, tokenizer))

    def to_bytes(self) -> bytes:
        """The session as bytes for `Encoder.session_from_bytes`: data, and the sha256 of the data.

        Raises OptionError for a tokenizer without a fingerprint."""
        with self._lock:
            state = self._state
            own = state.rope_by_itself, state.by_itself, state.revision
            parts = SessionParts(state.pins.rows, len(state.pins.context), state.rope, *own)
            return write_session(parts, self._tokenizer)

    @classmethod
    def from_bytes(cls, encoder: EncodesTexts, blob: bytes) -> Session:
        """The session that `to_bytes` wrote. Raises FileFormatError for a blob that was cut or
        changed, or that was written with another tokenizer."""
        session = cls(encoder)
        parts, pins = read_session(blob, session._tokenizer), NO_PINS
        if parts.rows:
            context = slice_of(parts.rope, 0, parts.context)
            before = session._editing.edit(None, 0, 0, context).rope
            pins = _pinned_rows(parts.rows, context, before)
        own = parts.rope_by_itself, parts.by_itself, parts.revision
        session._state = SessionState(pins, parts.rope, *own)
        return session

    def fork(self) -> Session:
        """A copy of this session. Edits of one do not change the other. The text and the ids are
        shared."""
        with self._lock:
            twin = object.__new__(Session)
            twin.__dict__ |= self.__dict__ | {"_lock": own_lock(twin)}
            return twin

    def _without_pins(self) -> Session:
        """A fork that no other thread edits. Raises OptionError if the text has pins."""
        twin = self.fork()
        if twin._state.pins.rows:
            raise OptionError(
                "a session with pinned ids cannot be appended, because its ids may not be those of "
                "its text; append its text instead: session.append(other.text)"
            )
        return twin

    def _require_same_tokenizer(self, other: Session) -> None:
        """Raise OptionError unless both sessions have the same tokenizer, or equal fingerprints."""
        mine, others = self._tokenizer, other._tokenizer
        fingerprint = getattr(mine, "fingerprint", None)
        same = fingerprint is not None and fingerprint == getattr(others, "fingerprint", None)
        if mine is others or same:
            return
        raise OptionError(
            f"a session of {_identity(others)} cannot be appended to a session of "
            f"{_identity(mine)}: the ids are those of another tokenizer; append its text instead: "
            "session.append(other.text)"
        )

    def _replace(
        self,
        start: int,
        stop: int,
        text: str,
        revision: int | None,
        added_rope: Rope = None,
        whole: str | None = None,
    ) -> SessionPatch:
        """Make one edit. `added_rope`: the rope of another session, to put after the text. `whole`:
        the text after the edit, if it is known."""
        self._require(start, stop, revision)
        state, text = self._state, _check_text(text)
        pinned = state.pins
        context, own, known = len(pinned.context), len(pinned.context_ids), state.last_row.count
        start, stop = start - pinned.chars, stop - pinned.chars
        rope = join_ropes(state.rope, added_rope)
        edit = self._editing.edit(rope, start + context, stop + context, text)
        edit_by_itself = None
        if own and not np.array_equal(first_ids(edit.rope, own), pinned.context_ids):
            edit_by_itself = self._edit_by_itself(edit.rope, start, stop, text, added_rope)
        chosen, repeated, shift = edit, own, pinned.chars - context
        if edit_by_itself is not None:
            chosen, repeated, shift = edit_by_itself, 0, pinned.chars
        # none where the rule changes between P1 and P2: the first ids differ, or all are new;
        # `known`: ids of `added_rope` that happen to be equal do not count
        kept = min(max(0, chosen.replace_from - repeated), known)
        state = self._state = state.edited(
            pinned.count + kept,
            rope=edit.rope,
            rope_by_itself=None if edit_by_itself is None else edit_by_itself.rope,
            by_itself=edit_by_itself is not None,
            text=whole,
        )
        row = state.last_row
        return SessionPatch(
            pinned.count + kept,
            state.revision,
            chosen.encoded_chars,
            max(pinned.chars, chosen.start + shift),
            chosen.stop + shift,
            edit.why,
            row.rope,
            pinned.count - row.skipped_ids,
        )

    def _edit_by_itself(
        self, rope: Rope, start: int, stop: int, text: str, added_rope: Rope
    ) -> Edit:
        """Encode the text after the last pin by itself (P1). `rope` holds this text after the
        context."""
        state = self._state
        if state.by_itself:
            return self._editing.edit(
                join_ropes(state.rope_by_itself, added_rope), start, stop, text
            )
        whole = slice_of(rope, len(state.pins.context), 0 if rope is None else rope.chars)
        return self._editing.edit(None, 0, 0, whole)

    def _require(self, start: int, stop: int, revision: int | None) -> None:
        """Raise OptionError for invalid positions, or if the session is at another revision."""
        if revision is not None and revision != self.revision:
            raise OptionError(
                f"the edit is for revision {revision} of the session, which is at revision "
                f"{self.revision}; look at the text again, then edit"
            )
        for name, place in (("start", start), ("stop", stop)):
            if isinstance(place, bool) or not isinstance(place, (int, np.integer)):
                raise OptionError(f"{name} must be an int, got {type(place).__name__}")
        if not 0 <= start <= stop <= len(self):
            raise OptionError(
                f"positions must be 0 <= start <= stop <= {len(self)}, the code points of the "
                f"text; got start {start} and stop {stop}"
            )
        pinned = self._state.pins.chars
        if start < pinned:
            raise OptionError(
                f"the text up to code point {pinned} ends with pinned ids, which no "
                f"edit changes; got start {start}: edit a fork that was made before the pin"
            )


def _pinned_rows(rows: tuple[TranscriptRow, ...], context: str, rope: Rope) -> PinnedRows:
    """The rows up to the end of a pin, with `context`. `rope` holds the ids of the context."""
    chars, count = sum(len(row.text) for row in rows), sum(row.count for row in rows)
    return PinnedRows(rows, chars, count, context, ids_after(rope, 0))


def _identity(tokenizer: TokenizerAdapter) -> str:
    """The name of a tokenizer and the beginning of its fingerprint: names may be equal."""
    fingerprint = getattr(tokenizer, "fingerprint", None)
    digest = "no fingerprint" if fingerprint is None else f"fingerprint {fingerprint[:12]}..."
    return f"{tokenizer.name} ({digest})"


def _check_text(text: str) -> str:
    text = require_text(text)
    if has_surrogate(text):
        place = next(k for k, char in enumerate(text) if "\ud800" <= char <= "\udfff")
        raise OptionError(
            f"the text of a session cannot hold a lone surrogate, got {text[place]!r} at code "
            f"point {place}; decode the text as UTF-8 with errors='replace'"
        )
    return text
