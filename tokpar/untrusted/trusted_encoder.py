"""Encodes texts with untrusted parts: the ids of the text with names (definition 62).

One call encodes the whole text, so prefixes, strips and neighbours are those of the whole text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol, Self

import numpy as np

from tokpar.arrays import IdArray, SpanArray, frozen_ids
from tokpar.contract.adapter import TrustParts, inserted_ids, trust_parts_of
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.errors import ControlTokenError, OptionError
from tokpar.process.fork_locks import own_lock
from tokpar.process.limits import require_text
from tokpar.results.encoding import Encoding, KnownRow
from tokpar.results.seams import Columns, Seams
from tokpar.types import Trust
from tokpar.untrusted.named_text import (
    ZONES,
    NamedText,
    first_free,
    has_private,
    named_text,
    names_from,
)
from tokpar.untrusted.trusted_search import (
    Match,
    Span,
    TrustedSearch,
    require_spans,
    trusted_runs,
)

if TYPE_CHECKING:
    from tokpar.chunks.boundaries import Boundary
    from tokpar.chunks.text_chunk import TextChunk
    from tokpar.sessions.session import Session

Control = Literal["default", "special"] | Collection[str]
"""Which added tokens only trusted text may spell, see `Encoder.encode`."""


class EncodesNames(Protocol):
    """The members of an `Encoder` that encode a text with names."""

    @property
    def tokenizer(self) -> TokenizerAdapter: ...

    def encode(self, text: str) -> Encoding: ...

    def with_tokenizer(self, tokenizer: TokenizerAdapter) -> Self: ...

    def session(self) -> Session: ...

    def chunks(
        self, text: str, max_tokens: int, overlap: int, boundary: Boundary
    ) -> Iterator[TextChunk]: ...

    def close(self) -> None: ...


def _require_parts(tokenizer: TokenizerAdapter) -> TrustParts:
    parts = trust_parts_of(tokenizer)
    if parts is None:
        raise OptionError(
            f"untrusted text needs a tokenizer of tokenizers 0.2x or tiktoken, got "
            f"{tokenizer.name}: its engine has no call that steps over control tokens"
        )
    return parts


def control_tokens(parts: TrustParts, control: Control) -> tuple[str, ...]:
    """Returns the contents of the control tokens, ascending. Raises OptionError for a `control`
    that is none, and for a token that cannot be one."""
    known = {token.content: token for token in parts.added_tokens}
    if isinstance(control, str):
        if control not in ("default", "special"):
            raise OptionError(
                f'control must be "default", "special" or a list of added tokens, got {control!r}'
            )
        special = {content for content, token in known.items() if token.special}
        chosen = parts.default if control == "default" else special
    else:
        chosen = frozenset(control)
    for content in sorted(chosen):
        why = parts.why_refused(content)
        if why is not None:
            raise OptionError(f"{content!r} cannot be a control token: {why}")
    return tuple(sorted(chosen))


@dataclass(frozen=True, eq=False)
class NamedEngine:
    """An encoder of named texts. `first_name`: the code point of the first name's own character.
    `ids`: the ids of the tokenizer for the encoder's ids from `first_id` on, uint32."""

    encoder: EncodesNames
    names: Mapping[str, str]
    first_name: int
    first_id: int
    ids: IdArray

    def tokenizer_ids(self, ids: IdArray) -> IdArray:
        """Returns the tokenizer's ids for the encoder's; read-only."""
        last_id = self.first_id + len(self.ids)  # behind a gap in the ids, tokens have higher ids
        places = np.flatnonzero((ids >= self.first_id) & (ids < last_id))
        if not len(places):
            return frozen_ids(ids)
        found = ids.copy()
        found[places] = self.ids[ids[places] - np.uint32(self.first_id)]
        return frozen_ids(found)


class TrustedEncoder:
    """Encodes texts with untrusted parts, for one `Encoder` and one choice of control tokens.

    The copy of the engine is made when a control token first occurs. Thread-safe."""

    def __init__(self, encoder: EncodesNames, control: Control) -> None:
        self._encoder = encoder
        self._parts = _require_parts(encoder.tokenizer)
        self.control = control_tokens(self._parts, control)
        self._search = TrustedSearch(self._parts.added_tokens, self.control)
        self.given_ids = self._parts.given_ids(self.control)
        """The ids of control tokens that ordinary text may get -> their contents."""
        self._given_array = np.array(sorted(self.given_ids), np.uint32)
        self._engines: dict[range, NamedEngine] = {}
        self._lock = own_lock(self)

    def encode(self, text: str, spans: object) -> Encoding:
        """Returns the ids of a text. `spans`: [start, stop) of its untrusted parts, code
        points. Raises OptionError, ControlTokenError."""
        text = require_text(text)
        trust = Trust(require_spans(spans, text), self.control)
        matches = self.matches(text, trust.untrusted)
        refuses = self._parts.check_trusted is not None  # the own call of untrusted text, too
        if not (matches or refuses or self._search.occurs_in(text)):
            plain = self._encoder.encode(text)
            self._require_own(plain, plain)
            return Encoding(plain.ids, partial(_same_row, plain, trust))
        engine = self.engine_for(text)
        named = named_text(text, matches, engine.names)
        inner = engine.encoder.encode(named.text)
        row = partial(_row, text, self._encoder.tokenizer, inner, engine, named, trust)
        final = Encoding(engine.tokenizer_ids(inner.ids), row)
        self._require_own(inner, final)
        return final

    def close(self) -> None:
        """End the worker processes of the copies."""
        for engine in self._engines.values():
            engine.encoder.close()

    @property
    def searches_twice(self) -> bool:
        """See `TrustedSearch.searches_twice`."""
        return self._search.searches_twice

    def matches(self, text: str, spans: Iterable[Span], start: int = 0) -> list[Match]:
        """Returns the control tokens that the trusted runs of the text spell, ascending.

        `start`: runs before this code point, at which a run begins, are left out. Raises the error
        of the own call for a trusted run that it refuses."""
        runs = [run for run in trusted_runs(spans, len(text)) if run[0] >= start]
        if self._parts.check_trusted is not None:
            for first, last in runs:
                self._parts.check_trusted(text[first:last])
        return self._search.matches(text, runs)

    def chunks(
        self, text: str, spans: object, max_tokens: int, overlap: int, boundary: Boundary
    ) -> Iterator[TextChunk]:
        """Returns an iterator of `Encoder.chunks` of a text with untrusted `spans`. The control
        tokens of a chunk are those of the whole text."""
        text = require_text(text)
        engine = self.engine_for(text)
        matches = self.matches(text, require_spans(spans, text))
        names = named_text(text, matches, engine.names)
        for chunk in engine.encoder.chunks(names.text, max_tokens, overlap, boundary):
            start, stop = names.original(np.array([chunk.start, chunk.stop])).tolist()
            if any(first < stop < last for first, last, _ in matches):  # inside a longer name
                raise OptionError(
                    f"no chunk of at most {max_tokens} tokens from code point {start} on ends "
                    "beside a control token: pass a greater max_tokens"
                )
            self.require_no_control(self._without_special(chunk.ids))
            ids = engine.tokenizer_ids(chunk.ids)
            yield replace(chunk, start=start, stop=stop, ids=ids)

    def engine_for(self, text: str) -> NamedEngine:
        """Returns an engine whose names do not stand in the text: one of three that are kept, or,
        for a text with names of each, a new one. Raises OptionError if all characters are used."""
        count = max(1, len(self.control))
        with self._lock:
            for zone in ZONES:
                engine = self._engines.get(zone)
                if engine is None:
                    first = first_free(count, zone, self._parts.vocabulary())
                    if first is None:
                        continue
                    self._engines[zone] = engine = self._made_engine(first)
                if not has_private(text, engine.first_name, count):
                    return engine
            first = first_free(count, ZONES[-1], text, self._parts.vocabulary())
            if first is None:
                raise OptionError(f"the text leaves no {count} characters in a row for names")
            return self._made_engine(first)

    def _made_engine(self, first: int) -> NamedEngine:
        names = names_from(first, self.control, self._parts.vocabulary())
        encoder = self._encoder.with_tokenizer(self._parts.with_names(names))
        ids = {t.content: t.id for t in facts_of(encoder.tokenizer).added_tokens}
        own = {token.content: token.id for token in self._parts.added_tokens}
        moved = {ids[name]: own[content] for content, name in names.items()}
        if all(id_ == own_id for id_, own_id in moved.items()):  # tiktoken lets us choose the ids
            return NamedEngine(encoder, names, first, 1 << 32, np.empty(0, np.uint32))
        table = np.arange(min(moved), max(moved) + 1, dtype=np.uint32)
        table[np.array([*moved]) - min(moved)] = [*moved.values()]
        return NamedEngine(encoder, names, first, min(moved), table)

    def _without_special(self, ids: IdArray) -> IdArray:
        before, after = inserted_ids(self._encoder.tokenizer) or ((), ())
        return ids[len(before) : len(ids) - len(after)]

    def require_no_control(self, ids: IdArray, place: Callable[[int], str] = str) -> None:
        """Raises ControlTokenError if the model gave a control token for ordinary text.

        `ids`: before post-processing, of a text whose names have ids of their own. `place(k)`:
        where id k is, in words."""
        if not len(self._given_array):
            return
        places = np.flatnonzero(np.isin(ids, self._given_array))
        if len(places):
            k = int(places[0])
            raise ControlTokenError(
                f"the model itself gives the control token {self.given_ids[int(ids[k])]!r} for "
                f"ordinary text ({place(k)}): replace that text, or leave the token out of control"
            )

    def _require_own(self, inner: Encoding, final: Encoding) -> None:
        """As `require_no_control`. `inner`: the encoding whose names have ids of their own."""
        if not len(self._given_array) or inner.origin is None:
            return
        around = inserted_ids(self._encoder.tokenizer)
        if around is not None:
            before = len(around[0])
            self.require_no_control(
                self._without_special(inner.ids), lambda k: _place_of(final, before + k)
            )
        else:
            self.require_no_control(inner.origin.before_postprocess(inner.ids), "token {}".format)


def _place_of(encoding: Encoding, k: int) -> str:
    try:
        start, stop = encoding.char_spans[k].tolist()
    except LookupError:  # a tokenizer that cannot locate its tokens
        return f"token {k}"
    return f"code points {start} to {stop}"


def _same_row(plain: Encoding, trust: Trust) -> KnownRow:
    return KnownRow(plain.seams, replace(plain.report, trust=trust), plain.origin)


def _row(
    text: str,
    tokenizer: TokenizerAdapter,
    inner: Encoding,
    engine: NamedEngine,
    names: NamedText,
    trust: Trust,
) -> KnownRow:
    origin = NamedOrigin(text, tokenizer, inner, engine, names)
    return KnownRow(origin.seams, replace(inner.report, trust=trust), origin)


@dataclass(frozen=True, slots=True, eq=False)
class NamedOrigin:
    """Where the ids of a text with untrusted parts came from: `inner`, the encoding of the text
    with names."""

    text: str
    tokenizer: TokenizerAdapter
    inner: Encoding
    engine: NamedEngine
    named_text: NamedText

    @property
    def seams(self) -> Seams:
        """The seams of the named text, at their places in the text. Witnesses name the tokens."""
        seams = self.inner.seams
        columns = Columns.of(seams)
        contents = {name: content for content, name in self.engine.names.items()}
        licences = tuple(
            (rule, theorem, tuple((key, contents.get(value, value)) for key, value in witness))
            for rule, theorem, witness in columns.licences
        )
        positions = self.named_text.original(columns.positions)
        return Seams(replace(columns, positions=positions, licences=licences), proofs=seams.proofs)

    def before_postprocess(self, final: IdArray) -> IdArray:
        """Returns the ids before special tokens, truncation and padding."""
        origin = self.inner.origin
        assert origin is not None
        return self.engine.tokenizer_ids(origin.before_postprocess(self.inner.ids))

    def is_truncated(self, final: IdArray) -> bool:
        """Returns True if post-processing dropped ids of the text."""
        return self.inner.truncated

    def spans(self, final: IdArray, seams: Seams, *, code_points: bool = False) -> SpanArray:
        """Returns the spans of the final ids in UTF-8 bytes, or in code points."""
        if code_points:
            return self.named_text.original(self.inner.char_spans)
        return self.named_text.in_bytes(self.text).original(self.inner.spans)
