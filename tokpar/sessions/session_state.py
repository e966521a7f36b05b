"""The text of a session and its ids at one revision: one value that is never changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tokpar.arrays import IdArray, frozen_ids
from tokpar.results.adding_up import concatenate
from tokpar.sessions.pins import NO_PINS, PinnedRows, TranscriptRow
from tokpar.sessions.rope import Rope, ids_after


@dataclass(frozen=True, slots=True, eq=False)
class SessionState:
    """What a session is at one revision. An edit makes another state, and one assignment commits
    it: other threads, and children that are forked meanwhile, see the state before or after it.

    `pins`: the rows up to the end of the last pin. `rope`: the text after them, behind the context
    of the last pin. `rope_by_itself`: the text after the last pin encoded by itself, if `by_itself`
    (theorem 38, P1). `text`: the whole text, or None if it is not known. `ids`: ids of an earlier
    state or None; the first `valid_count` of them are the ids of this one."""

    pins: PinnedRows = NO_PINS
    rope: Rope = None
    rope_by_itself: Rope = None
    by_itself: bool = False
    revision: int = 0
    text: str | None = None
    ids: IdArray | None = None
    valid_count: int = 0

    def edited(self, kept: int, **changes: Any) -> SessionState:
        """Returns the state of the next revision, with `changes`. The first `kept` ids stay.

        Without a change of them, the text after the last pin is not encoded by itself, and the
        whole text is not known."""
        usual = {"rope_by_itself": None, "by_itself": False, "text": None}
        valid = min(self.valid_count, kept)
        return replace(self, revision=self.revision + 1, valid_count=valid, **usual | changes)

    @property
    def chars(self) -> int:
        """The length of the text in code points."""
        own = 0 if self.rope is None else self.rope.chars
        return self.pins.chars + own - len(self.pins.context)

    @property
    def count(self) -> int:
        """The number of ids."""
        return self.pins.count + self.last_row.count

    @property
    def last_row(self) -> TranscriptRow:
        """The row of the text after the last pin."""
        if self.by_itself:
            return TranscriptRow(self.rope_by_itself)
        return TranscriptRow(self.rope, len(self.pins.context), len(self.pins.context_ids))

    @property
    def all_rows(self) -> tuple[TranscriptRow, ...]:
        last = self.last_row
        return (*self.pins.rows, last) if last.text or last.count else self.pins.rows

    @property
    def all_text(self) -> str:
        """The whole text."""
        return self.pins.text + self.last_row.text if self.text is None else self.text

    @property
    def all_ids(self) -> IdArray:
        """The ids of the text; uint32, (n,), read-only."""
        if self.ids is not None and self.valid_count >= max(len(self.ids), self.count):
            return self.ids
        known = concatenate([]) if self.ids is None else self.ids[: self.valid_count]
        pinned, row = self.pins, self.last_row
        own = max(0, len(known) - pinned.count) + row.skipped_ids
        rest = [pinned.ids[len(known) :], ids_after(row.rope, own)]
        return frozen_ids(concatenate([known, *rest]))
