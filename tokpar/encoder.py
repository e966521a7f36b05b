"""The reusable `Encoder`: turns names into objects for the pipeline."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tokpar.arrays import IdArray, frozen_ids, lengths_of
from tokpar.contract.adapter import (
    front_of,
    ids_for_own_call,
    later_call_of,
    own_call_of,
    why_not_compiled,
)
from tokpar.contract.interfaces import (
    CachedRows,
    Decodes,
    Executor,
    HasSpec,
    PostProcesses,
    TokenizerAdapter,
    facts_of,
)
from tokpar.contract.part_checks import require_methods
from tokpar.errors import OptionError
from tokpar.loading import DEFAULT_TOKENIZER, load
from tokpar.pipeline.plan import Plan, serial_report
from tokpar.pipeline.sizes import TOO_SHORT, ExecutorSizes, sizes_for, smallest_row
from tokpar.process.cached_property import cached_property
from tokpar.process.fork_locks import own_lock
from tokpar.process.limits import require_text, worker_count
from tokpar.registry.combining import StrategyName, build_parts
from tokpar.registry.tables import registry
from tokpar.results.encoding import Batch, Encoding
from tokpar.results.text_counts import COMPILED, ENGINE, STRATEGY, TextCounts, fallback_reason
from tokpar.types import Facts, Report, Rows

if TYPE_CHECKING:
    from tokpar.chunks.boundaries import Boundary
    from tokpar.chunks.budget import Keep, KeptTexts
    from tokpar.chunks.end_ids import Side
    from tokpar.chunks.text_chunk import TextChunk
    from tokpar.compiled.front import Front
    from tokpar.decoding.streams import DecodeStream, DecodeStreams
    from tokpar.decoding.tables import DecodeTable
    from tokpar.pipeline.compiled_texts import CallFacts, CompiledRow
    from tokpar.pipeline.short_texts import PartEncoder
    from tokpar.results.encoder_report import EncoderReport
    from tokpar.sessions.session import Session
    from tokpar.untrusted.trusted_encoder import Control, TrustedEncoder
    from tokpar.untrusted.trusted_session import TrustedSession

LONGEST_OWN = 1 << 18
"""Code points below which the tokenizer's own call encodes a text that the compiled call cannot
decide."""
FIRST_TEXT = "The first text that a process encodes waits for what is in no cache yet."
LEFT_OVER = "the compiled call leaves this text to the engine"
"""Why one call of the engine encoded a text of a tokenizer with a compiled call."""
BATCH_BYTES = 8 << 20
"""UTF-8 bytes of the texts that `Encoder.encode_iter` encodes together."""
MOST_DECODE_TABLES = 4
"""Ways to decode (`DecodingParts.state`) for which an encoder keeps a table."""
Spans = Sequence[tuple[int, int]]
"""[start, stop) of parts of a text, code points, ascending."""
Texts = Iterable[str] | Iterable[bytes] | Any
"""`str`, UTF-8 `bytes`, or a pyarrow.Array or pyarrow.ChunkedArray of strings."""


class Encoder:
    """A tokenizer, a strategy and an executor for many texts.

    An encoder is a snapshot: it encodes as the tokenizer does when the encoder is made, whatever
    the caller changes later. It shares the model with the caller's object, so it raises
    ChangedError after the model was changed (docs/long-text.md).

    An encoder is thread-safe and survives a fork. It is a context manager, because it may hold
    worker processes. `tokenizer`: anything that `load` takes. `strategy`: a registered name, or a
    splitter and a merger (names or objects). `options` belong to the strategy or to its two
    parts."""

    tokenizer: TokenizerAdapter
    """The adapter of the tokenizer."""

    def __init__(
        self,
        tokenizer: object = DEFAULT_TOKENIZER,
        *,
        strategy: StrategyName = "auto",
        executor: str | Executor = "auto",
        workers: int | None = None,
        allow_approximate: bool = False,
        **options: Any,
    ) -> None:
        self._arguments = {
            "strategy": strategy,
            "executor": executor,
            "workers": workers,
            "allow_approximate": allow_approximate,
            **options,
        }
        self._workers = worker_count(workers)
        parts = build_parts(strategy, options, allow_approximate)
        self._strategy, self._approximate = parts.name, parts.approximate
        self._splitter, self._merger = parts.splitter, parts.merger
        self._executors: dict[str, Executor] = {}
        self._plans: _Plans | None = None
        self._lock = own_lock(self)
        self._executor = _known_executor(executor)
        own = self.tokenizer = load(tokenizer)
        never = why_never_cut(own)
        self._smallest_split = 0
        if parts.tunable:
            self._smallest_split = sizes_for(own).smallest_split if never is None else sys.maxsize
        self._uncut = never or TOO_SHORT
        self._short = serial_report(parts.name, self._uncut, own)
        self._left_over = replace(self._short, why=LEFT_OVER)
        self._own_call = own_call_of(own)
        uses_call = strategy == "auto" and parts.tunable and executor in ("auto", "memo")
        self._front: Front | None = front_of(own, self._workers) if uses_call else None
        if self._front is not None and self._front.later.is_being_made:
            from tokpar.pipeline import call_result as results  # noqa: F401  # the first text does not wait for a module
        self._post = own if isinstance(own, PostProcesses) else None
        limit = None if self._post is None else self._post.truncates_to
        self._most_ids = sys.maxsize if limit is None else limit
        self._compiled_report = replace(
            self._short, plan="one compiled call", executor="memo", why_not_compiled=""
        )
        self._counts = TextCounts()
        self._decode_tables: tuple[tuple[object, DecodeTable], ...] = ()
        self._trusted_encoders: dict[object, TrustedEncoder] = {}

    def __repr__(self) -> str:
        given = self._arguments | {"executor": None, "workers": self._workers}
        arguments = ", ".join(f"{name}={value!r}" for name, value in given.items() if value)
        return f"<Encoder of {self.tokenizer.name!r}, {arguments}>"

    def encode(
        self,
        text: str,
        *,
        max_tokens: int | None = None,
        side: Side = "right",
        untrusted: Spans | None = None,
        control: Control = "default",
    ) -> Encoding:
        """Returns the ids of `text`, with the special tokens, truncation and padding of the
        tokenizer's own call.

        `max_tokens`: the most ids of the result, special tokens included, as `truncation=True,
        max_length=max_tokens` of transformers. `side`: where a longer text loses ids, as
        `truncation_side`: "right" keeps the first ids, "left" the last ids. Only as much of the
        text is encoded as these ids need, up to a certified cut (theorem 27). Truncation of the
        settings that keeps fewer ids holds, too; padding is not applied. The result knows no
        spans.

        `untrusted`: [start, stop) of parts of the text that may not spell control tokens, code
        points, ascending; a control token is matched only where trusted text spells all of it
        (docs/untrusted.md). `control`: "default", "special", or the contents of added tokens.
        Raises OptionError, and ControlTokenError if the model itself gives a control token for
        ordinary text."""
        if untrusted is not None:
            if max_tokens is not None:
                raise OptionError("max_tokens cannot be used with untrusted: count the ids instead")
            return self.trusted_encoder(control).encode(text, untrusted)
        if type(text) is not str:
            text = require_text(text)
        front, alone, short = self._front, self._smallest_split, self._short
        if front is not None and max_tokens is None:
            start = time.perf_counter()
            ids = front.one(text)
            if ids is not None:
                return self._compiled(text, ids, front, time.perf_counter() - start)
            if front.call is not None:
                if not front.call.asks_engine:
                    alone = LONGEST_OWN  # the engine takes less than planning would
                short = self._left_over
        if max_tokens is not None:
            from tokpar.chunks.end_ids import kept_ids  # importing tokpar does without it

            tokenizer = self.tokenizer
            return kept_ids(text, tokenizer, self.rows_of_parts, max_tokens, side)
        if self._own_call is not None and len(text) < alone:
            found = self._encode_by_own_call(text, self.tokenizer, self._own_call, short)
            self._counts.one_by_engine(self.fallback_reason)
            return found
        return self._counted(self._encode_batch([text], self.tokenizer))[0]

    @cached_property
    def _encode_by_own_call(self) -> Callable[[str, Any, Any, Report], Encoding]:
        from tokpar.pipeline.call_result import (
            encode_by_own_call,  # the compiled call does without it
        )

        return encode_by_own_call

    def encode_segments(
        self, segments: Iterable[tuple[str, bool]], *, control: Control = "default"
    ) -> Encoding:
        """Returns the ids of the text that the segments (text, trusted) make up, see `encode`."""
        from tokpar.untrusted.segments import joined_segments  # other texts do without it

        return self.trusted_encoder(control).encode(*joined_segments(segments))

    def trusted_encoder(self, control: Control = "default") -> TrustedEncoder:
        """Returns what encodes texts with untrusted parts. Raises OptionError."""
        from tokpar.untrusted.trusted_encoder import TrustedEncoder  # other texts do without it

        key = control if isinstance(control, str) else tuple(sorted({*control}))
        found = self._trusted_encoders.get(key)
        if found is None:
            found = self._trusted_encoders[key] = TrustedEncoder(self, control)
        return found

    def with_tokenizer(self, tokenizer: TokenizerAdapter) -> Encoder:
        """Returns an encoder of another tokenizer with the same arguments."""
        return Encoder(tokenizer, **self._arguments)

    def _compiled(self, text: str, ids: IdArray, front: Front, seconds: float) -> Encoding:
        """Returns the encoding of a text that has the `ids` of `Front.one`."""
        self._counts.one_compiled()
        call, final = front.call, ids
        assert call is not None
        if not call.is_final or len(ids) > self._most_ids:
            from tokpar.results.spans import postprocess_own  # most calls are final

            own, row = cast(PostProcesses, self.tokenizer), call.without_special(ids)
            final = frozen_ids(postprocess_own(own, Rows.of([row]), [text])[0])
        return Encoding(final, partial(self._compiled_row, text, ids, front, seconds))

    def _compiled_row(self, text: str, ids: IdArray, front: Front, seconds: float) -> CompiledRow:
        from tokpar.pipeline.compiled_texts import CompiledRow  # importing tokpar does without it

        assert front.call is not None
        return CompiledRow(text, front.call.without_special(ids), self._call_facts(front, seconds))

    def _call_facts(self, front: Front, seconds: float) -> CallFacts:
        from tokpar.pipeline.compiled_texts import CallFacts  # as above

        report = self._compiled_report
        return CallFacts(self.tokenizer, front, report, seconds, self._smallest_split)

    def prepare(self) -> None:
        """Wait for the tables of the compiled call, which are made in the background when a
        tokenizer is first loaded. Until then the tokenizer's own call answers. Then encode a short
        text, which the report does not count: the first prompt of a process takes half as long."""
        later = later_call_of(self.tokenizer)
        if later is not None:
            later.wait()
        call = None if self._front is None else self._front.call
        if call is not None and not call.asks_engine:
            Encoder(self.tokenizer, **self._arguments).encode(FIRST_TEXT)

    def encode_batch(self, texts: Texts) -> Batch:
        """Returns the ids of `texts`, padded as the tokenizer's own batch call pads them.

        `texts`: str, UTF-8 `bytes`, or a pyarrow.Array or ChunkedArray of strings, whose memory is
        read in place where the cache answers. OptionError for nulls and invalid UTF-8, which names
        the text and the byte."""
        if _are_plain(texts):
            some: Sequence[str] = [*texts]  # the caller may change the list
        else:
            from tokpar.compiled.utf8_texts import plain_texts, texts_of  # see `encode_segments`

            some = plain_texts(texts_of(texts))
        return self._counted(self._encode_batch(some, self.tokenizer))

    def _counted(self, batch: Batch) -> Batch:
        """Returns `batch`, after its texts were counted."""
        self._counts.add(batch.ways, self.fallback_reason if batch.ways.get(ENGINE) else "")
        return batch

    @property
    def fallback_reason(self) -> str:
        """Why the engine encodes a text in one call; see `REASONS` of `encoder_report`."""
        later = later_call_of(self.tokenizer)
        if self._front is None:
            return fallback_reason(None) if later is None else STRATEGY
        return fallback_reason(later)

    @property
    def report(self) -> EncoderReport:
        """What `encode`, `encode_batch` and `encode_iter` did so far, see `EncoderReport`."""
        from tokpar.results.encoder_report import EncoderReport  # few callers ask for it

        why = why_not_compiled(self.tokenizer)
        return EncoderReport(self._counts.by_way, self._counts.fallbacks, why)

    def encode_iter(self, texts: Texts, *, batch_bytes: int = BATCH_BYTES) -> Iterator[Encoding]:
        """Returns an iterator of the encodings of `texts`, in order, in bounded memory.

        Each encoding equals `encode(text)`: no text is padded to the length of others. `texts`: any
        iterable, see `encode_batch`. Texts are read when encodings are asked for, until
        `batch_bytes` of UTF-8 are there to be encoded together; a longer text is encoded alone. An
        encoding keeps its own text alive and no other. When the caller stops early, a generator
        that yields the texts is closed. Raises what `encode` raises, with the number of the text;
        encodings of the texts before it come first."""
        from tokpar.pipeline.text_batches import batches_of, each_encoding  # see `encode_batch`

        batches = batches_of(texts, batch_bytes)
        return each_encoding(batches, self._encodings_of)

    def _encodings_of(self, texts: Sequence[str]) -> Callable[[int], Encoding]:
        """Returns a function that returns the encoding of text k, as `encode` returns it."""
        start, front, tokenizer = time.perf_counter(), self._front, self.tokenizer
        known = None if front is None else front.many(texts)
        if front is not None and known is not None and all(known[1]):
            from tokpar.pipeline.compiled_texts import each_compiled  # see `encode_batch`

            self._counts.add({COMPILED: len(texts)}, "")
            facts = self._call_facts(front, time.perf_counter() - start)
            return each_compiled(texts, known[0], facts, self._post)
        if len(texts) == 1:
            return self._counted(self._by_pipeline(texts, tokenizer, True, known)).__getitem__
        from tokpar.pipeline.text_batches import postprocess_each  # as above

        batch = self._counted(self._by_pipeline(texts, tokenizer, False, known))
        return postprocess_each(batch, texts, self._post)

    async def aencode(self, text: str) -> Encoding:
        """Returns what `encode` returns, from a thread, so that the caller's event loop goes on.

        A cancelled call raises CancelledError at once, and its thread still encodes the text."""
        import asyncio  # importing tokpar does without it

        return await asyncio.to_thread(self.encode, text)

    async def aencode_batch(self, texts: Texts) -> Batch:
        """Returns what `encode_batch` returns, as `aencode` does."""
        import asyncio  # importing tokpar does without them

        from tokpar.compiled.utf8_texts import texts_of

        return await asyncio.to_thread(self.encode_batch, texts_of(texts))  # may change later

    @property
    def front(self) -> Front | None:
        """The door to the compiled call of the tokenizer; None if this encoder does without it, as
        with a named strategy, or if there will be no call."""
        return self._front

    @property
    def smallest_split(self) -> int:
        """Code points from which on a single text is encoded in parallel, or from the cache."""
        return self._smallest_split

    def unprocessed_batch(self, texts: Sequence[str], tokenizer: TokenizerAdapter) -> Batch:
        """Returns the ids of `texts` before special tokens, truncation and padding.

        `tokenizer`: the value of `Encoder.tokenizer` for this call."""
        if not _are_plain(texts):
            from tokpar.compiled.utf8_texts import plain_texts  # few texts are no plain str

            texts = plain_texts(texts)
        return self._encode_batch(texts, tokenizer, postprocess=False)

    def _encode_batch(
        self, texts: Sequence[str], tokenizer: TokenizerAdapter, postprocess: bool = True
    ) -> Batch:
        start, front = time.perf_counter(), self._front
        known = front.many(texts) if front is not None and tokenizer is self.tokenizer else None
        if front is not None and known is not None and texts and all(known[1]):
            from tokpar.pipeline.compiled_texts import compiled_batch  # as above

            facts = self._call_facts(front, time.perf_counter() - start)
            return compiled_batch(texts, known[0], facts, self._post if postprocess else None)
        return self._by_pipeline(texts, tokenizer, postprocess, known)

    def _by_pipeline(
        self,
        texts: Sequence[str],
        tokenizer: TokenizerAdapter,
        postprocess: bool,
        known: CachedRows | None,
    ) -> Batch:
        """Returns the batch of texts. `known`: the answers of the compiled call to some of them."""
        from tokpar.pipeline import steps as pipeline  # importing tokpar does without it

        lengths = lengths_of(texts)
        smallest = self._smallest_split
        if len(texts) > 1:
            smallest = smallest_row(self._plans_for(tokenizer).sizes, smallest)
        long = np.flatnonzero(lengths >= smallest)
        sizes = int(lengths.sum()), int(lengths[long].sum()) if len(texts) > 1 else None
        plan = self._plan_for(tokenizer, *sizes)
        if known is None and not isinstance(texts, list):
            texts = list(texts)  # only the compiled call reads UTF-8
        cut = long.tolist()
        return pipeline.encode_batch(texts, plan, long=cut, postprocess=postprocess, compiled=known)

    def stream(self, chunks: Iterable[str]) -> Iterator[IdArray]:
        """Returns an iterator of arrays of ids for the text that `chunks` make up.

        Each array comes as soon as its ids are final. All arrays together are the ids of `encode`.
        docs/streaming.md says which ids come how soon."""
        from tokpar.sessions import streaming

        tokenizer = self.tokenizer
        rows_of = self.rows_of_parts
        return streaming.stream(chunks, tokenizer, lambda text: self.encode(text).ids, rows_of)

    def chunks(
        self,
        text: str,
        max_tokens: int,
        overlap: int = 0,
        boundary: Boundary = "token",
        *,
        untrusted: Spans | None = None,
        control: Control = "default",
    ) -> Iterator[TextChunk]:
        """Returns an iterator of slices of `text` that have at most `max_tokens` ids each.

        The slices tile the text. Each slice fits when it is encoded alone by the tokenizer's own
        call, special tokens included. `boundary` says where a chunk may end: "token": between two
        tokens of the whole text that share no character; "cut": at a certified cut; "line": after
        a line end; "sentence": after a sentence or a line end. The end of the text is a place of
        each boundary.

        A chunk from `start` on ends at the last such place that meets two conditions: at most
        `max_tokens` tokens of the whole text, less the special tokens, overlap the slice; and the
        slice alone has at most `max_tokens` ids. If no place does, "line" and "sentence" fall back
        to "cut", and "cut" to "token". If no place of "token" does either, the chunk ends where it
        fits and one character more does not. A longer slice may have fewer ids than a shorter one,
        so a place beyond the first condition might fit, too; it is not looked for.

        `overlap`: the next chunk begins at the first place of the boundary, or of those it falls
        back to, at which at most `overlap` tokens of the whole text lie before the end of this
        chunk. It does not overlap where it would not reach further than this chunk.

        The whole text is encoded once, region by region, and each slice alone by the compiled call.
        Without a compiled call the ids of a slice between certified cuts are a slice of the ids of
        the whole text (theorem 27).

        `untrusted`, `control`: as in `encode`; the control tokens are those of the whole text.

        Raises OptionError for arguments that cannot be used, for a lone surrogate, for truncation
        below `max_tokens` in the tokenizer's settings, and, when the chunk is reached, for a
        character that has more than `max_tokens` ids alone."""
        if untrusted is not None:
            trusted = self.trusted_encoder(control)
            return trusted.chunks(text, untrusted, max_tokens, overlap, boundary)
        from tokpar.chunks.text_chunks import text_chunks  # importing tokpar does without it

        tokenizer = self.tokenizer
        encode = self.rows_of_parts
        return text_chunks(text, tokenizer, encode, max_tokens, overlap, boundary)

    def fit(
        self,
        texts: Sequence[str] | Sequence[Mapping[str, object]],
        budget: int,
        keep: Keep = "ends",
    ) -> KeptTexts:
        """Returns which part of `texts` has at most `budget` ids; the rest is left out.

        `texts`: a list of str, which are the parts of one text, or of messages, whose "content" is
        encoded by itself, because a chat template puts control tokens around it. `keep`: "first"
        keeps the beginning, "last" the end, "ends" half of the budget at the end and as much as
        fits at the beginning. Where texts are left out, the kept part ends at a certified cut, so
        its ids are those of the whole text; without such a cut between two tokens. The kept texts
        are encoded to count their ids. Special tokens do not count. Raises OptionError."""
        from tokpar.chunks.budget import fit_texts  # importing tokpar does without it

        return fit_texts(texts, self.tokenizer, self.rows_of_parts, budget, keep)

    @cached_property
    def rows_of_parts(self) -> PartEncoder:
        """The fastest exact encoder of parts of a text, see `PartEncoder`."""
        from tokpar.pipeline.short_texts import PartEncoder  # importing tokpar does without it

        def in_parallel(texts: Sequence[str]) -> Batch:
            return self.unprocessed_batch(texts, self.tokenizer)

        return PartEncoder(self.tokenizer, in_parallel if self.exact else None, self._workers)

    def session(self, text: str = "") -> Session:
        """Returns a session: a text that may be edited, and its ids.

        Each edit encodes only the text near it. See docs/sessions.md. Raises OptionError for a
        text with a lone surrogate."""
        from tokpar.sessions.session import Session  # importing tokpar does without it

        return Session(self, text)

    def trusted_session(
        self, text: str = "", *, untrusted: Spans = (), control: Control = "default"
    ) -> TrustedSession:
        """Returns a session whose `append` takes `trusted=False`: a text with untrusted parts, and
        its ids. `untrusted`, `control`: of `text`, as in `encode`. Raises OptionError."""
        from tokpar.untrusted.trusted_session import TrustedSession  # see `encode_segments`

        return TrustedSession(self.trusted_encoder(control), text, untrusted)

    def session_from_bytes(self, blob: bytes) -> Session:
        """Returns the session that `Session.to_bytes` wrote for the same tokenizer.

        Raises FileFormatError."""
        from tokpar.sessions.session import Session

        return Session.from_bytes(self, blob)

    @property
    def exact(self) -> bool:
        """True if a seam that no rule licenses is never joined."""
        return not self._arguments["allow_approximate"]

    def count(self, text: str, *, limit: int | None = None) -> int:
        """Returns the number of ids of `encode(text)`.

        With `limit`, counting stops as soon as there are more than `limit` ids, and returns
        `limit` + 1: ``encoder.count(text, limit=8192) > 8192`` encodes the beginning of the text
        only, up to a certified cut (theorem 27)."""
        if type(text) is not str:
            text = require_text(text)
        if limit is None:
            return self._count(text)
        from tokpar.chunks.end_ids import count_up_to  # importing tokpar does without it

        return count_up_to(text, self.tokenizer, self.rows_of_parts, limit, self._count, self.exact)

    def _count(self, text: str) -> int:
        """Returns the number of ids of `encode(text)`, without an `Encoding` where it can."""
        front = self._front
        ids = None if front is None else front.one(text)
        if front is None or ids is None or not front.is_final or len(ids) > self._most_ids:
            return len(self.encode(text).ids)
        self._counts.one_compiled()
        return len(ids)

    def count_batch(self, texts: Texts) -> list[int]:
        """Returns `count` of each text, in order, on all cores. `texts`: see `encode_batch`."""
        if self._post is not None and self._post.pads:  # a batch to its longest text
            return [len(encoding.ids) for encoding in self.encode_iter(texts)]
        return [*self.encode_batch(texts).lengths.tolist()]

    def decode(self, ids: Sequence[int] | IdArray) -> str:
        """Returns the text of `ids`. Raises LookupError if the tokenizer has no decoder, and the
        error of the tokenizer's own `decode` for what is no id."""
        [text] = _texts_by_table(tokenizer := self.tokenizer, [ids])
        if text is not None:
            return text
        if not isinstance(tokenizer, Decodes):
            raise LookupError(f"{tokenizer.name} cannot decode")
        return tokenizer.decode(ids_for_own_call(ids))

    def decode_batch(self, rows: Iterable[Sequence[int] | IdArray | Encoding]) -> list[str]:
        """Returns `decode` of each row of ids, in order; on all cores if the engine has a batch
        call. `rows`: lists, arrays, or a `Batch`. Raises LookupError as `decode` does."""
        tokenizer, given = self.tokenizer, list(rows)
        if not isinstance(tokenizer, Decodes):
            raise LookupError(f"{tokenizer.name} cannot decode")
        texts = _texts_by_table(tokenizer, given)
        left = [k for k, text in enumerate(texts) if text is None]
        lists = [ids_for_own_call(given[k]) for k in left]
        many = getattr(tokenizer, "decode_batch", None)
        own = map(tokenizer.decode, lists) if many is None or not left else many(lists)
        for k, text in zip(left, own, strict=True):
            texts[k] = text
        return cast("list[str]", texts)

    def decode_stream(
        self, prefill: Iterable[int] = (), *, skip_special_tokens: bool = False
    ) -> DecodeStream:
        """Returns a stream that takes ids one by one and returns text as soon as it is final.

        All texts of the stream together are the text of the tokenizer's own `decode` for all ids.
        `prefill`: ids before the stream, such as the prompt: `decode(prefill)` is not returned, but
        the text of the later ids is as it is after these. `skip_special_tokens`: as in `decode` of
        the tokenizer. A decoder whose shape is not known gives all text at the end. Raises
        OptionError for a tokenizer that cannot decode."""
        from tokpar.decoding.streams import DecodeStream

        return DecodeStream(self._decode_table(skip_special_tokens), prefill)

    def decode_streams(
        self, *, skip_special_tokens: bool = False, starts: bool = False
    ) -> DecodeStreams:
        """Returns many streams that share one table, for a server. `starts`: they also say where
        the text of each id begins (`DecodeStreams.starts`). Raises: see `decode_stream`."""
        from tokpar.decoding.streams import DecodeStreams

        return DecodeStreams(self._decode_table(skip_special_tokens), starts)

    def _decode_table(self, skip_special_tokens: bool) -> DecodeTable:
        from tokpar.decoding.tables import parts_of, table_of

        parts = parts_of(self.tokenizer, skip_special_tokens)
        known = next((table for state, table in self._decode_tables if state == parts.state), None)
        table = table_of(parts) if known is None else known
        if known is None:
            self._decode_tables = (*self._decode_tables, (parts.state, table))[-MOST_DECODE_TABLES:]
        return table

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the recipe of the tokenizer and the arguments, without pools.

        Raises TypeError if the tokenizer cannot be built again."""
        tokenizer = self.tokenizer
        if isinstance(tokenizer, HasSpec):
            try:
                build, settings = tokenizer.spec()
            except OptionError as error:
                raise TypeError(
                    f"an Encoder of {tokenizer.name} cannot be pickled: it {error}"
                ) from None
            return _rebuild, (build, dict(settings), self._arguments)
        try:
            pickle.dumps(tokenizer)
        except Exception as error:
            raise TypeError(
                f"an Encoder of {tokenizer.name} cannot be pickled: {error}; give the tokenizer a "
                "spec(), or pass on what it is loaded from and make the Encoder there"
            ) from error
        return partial(Encoder, **self._arguments), (tokenizer,)

    def __copy__(self) -> Encoder:
        """Returns an encoder with pools of its own that shares the adapter, which is a snapshot."""
        return Encoder(self.tokenizer, **self._arguments)

    def close(self) -> None:
        """End the worker processes of this encoder, which can be used again afterwards."""
        for trusted in self._trusted_encoders.values():
            trusted.close()
        for name, executor in [*self._executors.items()]:
            if hasattr(executor, "close"):
                executor.close()
                if not getattr(executor, "is_reusable", False):
                    self._executors.pop(name, None)
                    self._plans = None

    def __enter__(self) -> Encoder:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def _plan_for(self, tokenizer: TokenizerAdapter, length: int, long: int | None) -> Plan:
        plans = self._plans_for(tokenizer)
        executor = self._executor
        if executor == "auto":
            executor = plans.sizes.executor_for(length, long)
        name = executor if isinstance(executor, str) else ""
        plan = plans.by_executor.get(name)
        if plan is None:
            built = self._build_executor(executor) if isinstance(executor, str) else executor
            parts = self._splitter, built, self._merger
            whole = self._smallest_split > 0  # the caller set no chunk size
            plan = Plan(tokenizer, *parts, self._strategy, whole, self._uncut, self._approximate)
            plans.by_executor[name] = plan
        return plan

    def _plans_for(self, tokenizer: TokenizerAdapter) -> _Plans:
        plans = self._plans
        facts = getattr(tokenizer, "facts", None)
        if plans is None or plans.tokenizer is not tokenizer or plans.facts is not facts:
            plans = self._plans = _Plans(tokenizer, facts, sizes_for(tokenizer))
        return plans

    def _build_executor(self, name: str) -> Executor:
        with self._lock:
            if name not in self._executors:
                built = registry().executor_kind(name).build(self._workers)
                require_methods(built, "executor")
                self._executors[name] = built
            return self._executors[name]


@dataclass(frozen=True, slots=True)
class _Plans:
    """The plans of an encoder for one adapter with these facts, by the name of the executor."""

    tokenizer: TokenizerAdapter
    facts: Facts | None
    sizes: ExecutorSizes
    by_executor: dict[str, Plan] = field(default_factory=dict)


def _texts_by_table(tokenizer: TokenizerAdapter, rows: Sequence[object]) -> list[str | None]:
    """Returns the text of each row of ids; None where the tokenizer has no table that knows it."""
    by_table = getattr(tokenizer, "decode_by_table", None)
    return [None] * len(rows) if by_table is None else list(by_table(rows))


def _are_plain(texts: object) -> bool:
    """True for a list of str and of no subclass of str."""
    return type(texts) is list and {*map(type, texts)} <= {str}


def _known_executor(executor: str | Executor) -> str | Executor:
    if isinstance(executor, str):
        if executor != "auto":
            registry().executor_kind(executor)
    elif not callable(getattr(executor, "map", None)):
        raise OptionError(
            f"executor must be a name or an object with a map method, got {type(executor).__name__}"
        )
    else:
        require_methods(executor, "executor")
    return executor


def _rebuild(
    build: Callable[..., TokenizerAdapter],
    settings: Mapping[str, Any],
    arguments: Mapping[str, Any],
) -> Encoder:
    return Encoder(build(**settings), **arguments)


def why_never_cut(tokenizer: TokenizerAdapter) -> str | None:
    """Returns why no text of the tokenizer is ever cut, or None."""
    facts = facts_of(tokenizer)
    if facts.unprovable is None:
        return None
    from tokpar.cuts.finder import finder_for  # importing tokpar does without it

    return None if finder_for(facts).edges.refusal is None else facts.unprovable
