"""What tokpar knows of one `tokenizers.Tokenizer` with its functions, as the object is now."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from threading import get_ident
from typing import TYPE_CHECKING, Any

from tokenizers import Tokenizer

from tokpar.adapters.engine_batches import call_batch, pad_batch
from tokpar.adapters.hf_kept import kept_of
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.arrays import IdArray, has_surrogate
from tokpar.decoding.text_table import LaterTable
from tokpar.encoder import Encoder
from tokpar.errors import TokparError
from tokpar.integrations.hf_encodings import OWN_ANSWERS
from tokpar.integrations.row_columns import Frame, frame_of
from tokpar.integrations.tokenizers_look import decoding_reader, encoding_reader
from tokpar.integrations.tokenizers_results import FollowedCall, columns_of
from tokpar.loading import load
from tokpar.process.fork_locks import own_lock
from tokpar.process.interrupts import raise_foreign
from tokpar.results.text_counts import COMPILED, OF_DROP_INS, TextCounts
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokpar.compiled.front import Front

SMALLEST_TEXT = 4096
"""Code points below which the engine encodes for a tokenizer without a compiled call."""
MOST_CALLS_TO_WAIT = 256
"""Calls that an object answers by its own methods before it is learnt once more."""


def rows_of(
    encoder: Encoder, front: Front | None, texts: Sequence[str]
) -> tuple[Sequence[IdArray], Mapping[str, int] | None] | None:
    """Returns the ids of texts before post-processing, and how many were encoded in each way, None
    if all by the compiled call; None where only the engine's own call is exact, or is as fast."""
    if front is not None and len(texts) == 1:
        ids = front.plain(texts[0])
        if ids is not None:
            return (ids,), None
    elif front is not None:
        found = front.many([*texts])
        if found is not None and all(found[1]):
            return _split(found[0]), None
    if sum(map(len, texts)) < SMALLEST_TEXT or any(map(has_surrogate, texts)):
        return None  # the engine has its own error for lone surrogates
    rows, ways = encoder.rows_of_parts.rows_and_ways(texts)
    return _split(rows), ways


def _split(rows: Rows) -> list[IdArray]:
    return [rows.ids[start:stop] for start, stop in pairwise(rows.offsets.tolist())]


@dataclass(frozen=True, eq=False)
class KnownEngine:
    """What was learnt of an engine, and what it was then.

    `changes`: `EngineState.changes`. `read`, `read_decoder`: see `tokenizers_look`. `look`,
    `decoder_look`: what they returned."""

    encoder: Encoder
    front: Front | None
    adapter: HuggingFaceTokenizer
    changes: int
    read: Callable[[], Any]
    look: object
    read_decoder: Callable[[], object]
    decoder_look: object
    may_answer: bool = field(init=False)
    """False where each text goes to the caller's own object."""
    frames: dict[bool, Frame | None] = field(default_factory=dict)
    tables: dict[bool, LaterTable] = field(default_factory=dict)

    def __post_init__(self) -> None:
        refused = self.adapter.why_live is not None or self.adapter.postprocess_refused is not None
        object.__setattr__(self, "may_answer", not refused)

    def takes(self, texts: Sequence[str]) -> bool:
        """True unless these texts go to the object's own method."""
        if not self.may_answer:
            return False
        has_call = self.front is not None and self.front.call is not None
        return has_call or sum(map(len, texts)) >= SMALLEST_TEXT

    def frame(self, add_special_tokens: bool) -> Frame | None:
        """Returns what is put around each text."""
        if add_special_tokens not in self.frames:
            self.frames[add_special_tokens] = frame_of(self.adapter, add_special_tokens)
        return self.frames[add_special_tokens]

    def table(self, skip_special_tokens: bool) -> LaterTable:
        """Returns the table that decodes."""
        if skip_special_tokens not in self.tables:
            parts = partial(self.adapter.decoding_parts, skip_special_tokens)
            self.tables[skip_special_tokens] = LaterTable(parts)
        return self.tables[skip_special_tokens]


class EngineState:
    """Answers the calls of one object. Thread-safe; survives a fork.

    After a change, the object is learnt again. Objects that are changed again and again are learnt
    more and more rarely, and answer by their own methods meanwhile."""

    def __init__(self, own: Tokenizer, options: Mapping[str, Any]) -> None:
        self.own, self._options = own, options
        self.counts = TextCounts(OF_DROP_INS)
        self.changes = 0
        """How often tokens were added, or a normalizer was set."""
        self._lock = own_lock(self)
        self._known: KnownEngine | None = None
        self._learning_thread: int | None = None
        self._is_followed = True
        self._calls_to_wait, self._next_wait = 0, 0

    def note_new_tokens(self) -> None:
        """Tokens were added, or the normalizer that they are searched by was set."""
        self.changes += 1
        kept_of(self.own).snapshots.clear()

    def note_new_model(self) -> None:
        """The model was set or trained: the engine may return ids of words that it has kept, so
        only the object itself answers from now on."""
        self._is_followed = False
        kept = kept_of(self.own)
        kept.was_trained = True
        kept.snapshots.clear()

    def encodings(
        self, texts: tuple[str, ...], add_special_tokens: object, kind: type[FollowedCall]
    ) -> FollowedCall | None:
        """Returns the encodings of texts; None where the object's own method answers."""
        if type(add_special_tokens) is not bool:
            return None
        found = self._as_it_is(texts)
        if found is None:
            return None
        known, cut, pad = found
        frame = known.frame(add_special_tokens)
        columns = columns_of(cut, pad)
        if frame is None or columns is None or not columns.fits(frame):
            return None
        try:
            answer = rows_of(known.encoder, known.front, texts)
        except OWN_ANSWERS:
            return None
        if answer is None:
            return None
        rows, ways = answer
        if ways is not None:
            self.counts.add(ways, known.encoder.fallback_reason)
        elif len(rows) == 1:
            self.counts.one_compiled()
        else:
            self.counts.add({COMPILED: len(rows)}, "")
        call = kind(known.adapter, texts, rows, frame, columns, add_special_tokens)
        call.own_batch = partial(self._own_batch, known)
        return call

    def _as_it_is(self, texts: Sequence[str]) -> tuple[KnownEngine, Any, Any] | None:
        """Returns what is known of the object, its truncation and its padding as they are; None
        where its own method answers."""
        known = self._known
        if known is None or not self._is_followed:
            known = self.learn()
        if known is None or not known.takes(texts):
            return None
        try:
            cut, pad, look = known.read()
        except Exception as error:  # a component in Python
            raise_foreign(error)
            return None
        if look != known.look or known.changes != self.changes:
            known = self.learn()
            return None if known is None else self._as_it_is(texts)
        return known, cut, pad

    def texts(self, rows: tuple[list[int], ...], skip_special_tokens: object) -> list[str] | None:
        """Returns the text of each row of ids; None where the object's own method answers."""
        known = self._known
        if type(skip_special_tokens) is not bool or known is None or not known.may_answer:
            return None
        texts = known.table(skip_special_tokens).texts(rows)
        if None in texts or not self._is_followed:
            return None
        try:
            is_current = known.read_decoder() == known.decoder_look
        except Exception as error:  # a component in Python
            raise_foreign(error)
            return None
        if not is_current or known.changes != self.changes:
            self.learn()
            return None
        return texts  # type: ignore[return-value]  # no None is in it

    def learn(self) -> KnownEngine | None:
        """Learn the object as it is now, and return what is known of it; None if it changes too
        often, or if another thread is learning it."""
        lock = self._lock  # a forked child gets another one
        if not self._is_followed or self._learning_thread == get_ident():
            return None
        if self._calls_to_wait:
            self._calls_to_wait -= 1
            return None
        if not lock.acquire(blocking=False):
            return None
        try:
            self._learning_thread = get_ident()
            self._calls_to_wait = self._next_wait
            self._next_wait = min(max(1, 4 * self._next_wait), MOST_CALLS_TO_WAIT)
            self._known = self._learnt()
        finally:
            self._learning_thread = None
            lock.release()
        return self._known

    def _learnt(self) -> KnownEngine | None:
        changes = self.changes
        try:
            adapter = load(self.own, truncation=False, padding=False)
        except TokparError:  # such as of an object that only its own call can truncate
            self._is_followed = False
            return None
        assert isinstance(adapter, HuggingFaceTokenizer)
        read = encoding_reader(self.own, adapter.look)
        read_decoder = decoding_reader(self.own, adapter.look)
        try:
            looks = read()[2], read_decoder()
        except Exception as error:  # a component in Python
            raise_foreign(error)
            self._is_followed = False
            return None
        if adapter.why_live is None and not adapter.is_current(self.own):
            return None
        encoder = Encoder(adapter, **self._options)
        readers = read, looks[0], read_decoder, looks[1]
        return KnownEngine(encoder, encoder.front, adapter, changes, *readers)

    def _own_batch(self, known: KnownEngine, call: FollowedCall) -> Sequence[Any] | None:
        """Returns what the object itself gives for the texts of a call; None if it was changed
        after the call."""
        found = self._as_it_is(call.texts)
        columns = call.columns
        if found is None or found != (known, columns.truncation, columns.padding):
            return None
        method = getattr(Tokenizer, call.engine_method)
        add = call.add_special_tokens
        encodings = call_batch(partial(method, self.own), call.texts, add_special_tokens=add)
        pad_batch(self.own, encodings)
        return encodings
