"""The post-processing of Hugging Face, once for a whole text: truncation, special tokens, padding.

Post-processing depends on the number of ids only, never on their values. Overflowing tokens
(`return_overflowing_tokens`) are not supported."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tokpar.adapters.cached_rows import CachedAdapter
from tokpar.adapters.settings import Settings
from tokpar.arrays import IdArray, IntArray, copy_rows, has_surrogate, offsets_of
from tokpar.errors import FileFormatError
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.formats.json_parts import InsertedIds, Json, read_around
from tokpar.process.cached_property import cached_property
from tokpar.results.adding_up import concatenate
from tokpar.results.spans import spans_of
from tokpar.types import Facts, Rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from tokpar.compiled.compiled_build import LaterCall


OTHER_IDS = "these ids are not those of the text"
OWN_CALL = "only the tokenizer's own call can post-process its ids"


class NativeRefusesError(Exception):
    """The engine's own call fails on this text. Call it to get its error."""


@dataclass(frozen=True, slots=True)
class Truncation:
    """The truncation of a tokenizer. `limit`: the most ids that are kept of the text itself;
    special tokens are not counted."""

    limit: int
    strategy: str
    direction: str
    stride: int

    def kept_lengths(self, lengths: IntArray) -> IntArray:
        """Returns how many ids are kept of each text. Raises NativeRefusesError.

        `lengths`: the number of ids of each text."""
        refuses = self.strategy == "only_second" or self.stride >= self.limit
        if self.limit and refuses and (lengths > self.limit).any():
            raise NativeRefusesError
        return np.minimum(lengths, self.limit)


@dataclass(frozen=True, slots=True)
class Padding:
    """The padding of a tokenizer. `length`: pad to so many ids; None: to the longest text of a
    batch. Padding never shortens a text."""

    length: int | None
    multiple: int
    direction: str
    pad_id: int

    def target(self, longest: int) -> int:
        """Returns the number of ids to pad to, if the batch's longest text has `longest` ids."""
        wanted = longest if self.length is None else self.length
        return wanted + -wanted % self.multiple if self.multiple else wanted


@dataclass(frozen=True, slots=True)
class PostProcess:
    """Truncation, then `prefix` and `suffix` (uint32), then padding.

    `unknown`: why the tokenizer's own post-processing is something else, or None."""

    prefix: IdArray = field(default_factory=lambda: np.empty(0, np.uint32))
    suffix: IdArray = field(default_factory=lambda: np.empty(0, np.uint32))
    truncation: Truncation | None = None
    padding: Padding | None = None
    unknown: str | None = None

    @property
    def special_tokens(self) -> tuple[IdArray, IdArray] | None:
        """The ids before and after every text, truncated and padded or not; None if unknown."""
        return None if self.unknown else (self.prefix, self.suffix)

    @property
    def final_special_tokens(self) -> tuple[list[int], list[int]] | None:
        """The ids around a text encoded alone and not truncated; None if more is done to it."""
        pads = self.padding is not None and (
            self.padding.length is not None or self.padding.multiple
        )
        return None if self.unknown or pads else (self.prefix.tolist(), self.suffix.tolist())

    @property
    def truncates_to(self) -> int | None:
        """The most ids that truncation leaves, special tokens included; None without truncation."""
        return None if self.truncation is None else self.truncation.limit + self._inserts

    @property
    def pads(self) -> bool:
        """True if it pads."""
        return self.padding is not None

    def rows(self, rows: Rows) -> Rows:
        """Returns the final ids of texts that are encoded together. Raises NativeRefusesError."""
        if self.unknown is not None:
            raise NativeRefusesError
        if len(rows.offsets) == 2:
            return Rows.of([self._row(rows.ids)])
        if self.truncation is None and self.padding is None and not self._inserts:
            return rows
        lengths = np.diff(rows.offsets)
        kept = lengths if self.truncation is None else self.truncation.kept_lengths(lengths)
        from_end = self.truncation is not None and self.truncation.direction == "left"
        first = rows.offsets[:-1] + (lengths - kept if from_end else 0)
        whole = kept + self._inserts
        target = whole
        if self.padding is not None:
            longest = self.padding.target(int(whole.max(initial=0)))
            target = np.maximum(whole, longest)
        offsets = offsets_of(target)
        filling = 0 if self.padding is None else self.padding.pad_id
        final = np.full(int(offsets[-1]), filling, dtype=np.uint32)
        pad_left = self.padding is not None and self.padding.direction == "left"
        start = offsets[:-1] + (target - whole if pad_left else 0)
        for k, id_ in enumerate(self.prefix.tolist()):
            final[start + k] = id_
        for k, id_ in enumerate(self.suffix.tolist()):
            final[start + len(self.prefix) + kept + k] = id_
        copy_rows(rows.ids, first, kept, final, start + len(self.prefix))
        return Rows(final, offsets)

    def _row(self, ids: IdArray) -> IdArray:
        """Returns the final ids of a text that is encoded alone."""
        cut = self.truncation
        if cut is not None and len(ids) > cut.limit:
            [kept] = cut.kept_lengths(np.array([len(ids)]))
            ids = ids[:kept] if cut.direction == "right" else ids[len(ids) - kept :]
        parts = [self.prefix, ids, self.suffix]
        if self.padding is not None:
            whole = len(ids) + self._inserts
            missing = max(0, self.padding.target(whole) - whole)
            filling = np.full(missing, self.padding.pad_id, dtype=np.uint32)
            parts.insert(0 if self.padding.direction == "left" else 3, filling)
        return concatenate(parts)

    @property
    def _inserts(self) -> int:
        return len(self.prefix) + len(self.suffix)


class PostProcessingAdapter(CachedAdapter):
    """An adapter that applies `_postprocess` to the ids of whole texts."""

    facts: Facts
    settings: Settings
    later_call: LaterCall | None = None
    """The compiled call of the tokenizer, as soon as its tables are there; None if it has none."""
    _postprocess: PostProcess

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @abstractmethod
    def encode(self, text: str) -> IdArray:
        """Returns ids before special tokens, truncation and padding. Raises EngineError on a
        panic."""

    @abstractmethod
    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        """Returns one row per text, on all cores, GIL released. Raises EngineError on a panic."""

    @cached_property
    def _contents(self) -> dict[int, str]:
        """The contents of the added tokens by id."""
        return {token.id: token.content for token in self.facts.added_tokens}

    def token_bytes(self, id_: int) -> bytes | None:
        """The bytes of a token of byte-level BPE, or of an added token; None for other tokens."""
        content, token = self._contents.get(id_), self._token(id_)
        if content is not None:
            return content.encode("utf-8")
        return bytes_of_token(token) if self.facts.byte_level and token is not None else None

    @abstractmethod
    def _token(self, id_: int) -> str | None:
        """Returns the token of an id as the vocabulary spells it, or None."""

    def _with_spans(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Returns the rows of texts with their spans. Raises LookupError, see `locate`."""
        return replace(rows, spans=spans_of(self, texts, rows, code_points=False))

    @abstractmethod
    def encode_whole(self, text: str) -> IdArray:
        """Returns the ids of the caller's own call. Raises its errors, and EngineError on a
        panic."""

    @abstractmethod
    def whole_batch(self, texts: Sequence[str]) -> Rows:
        """Returns `encode_whole` of several texts, by one call. Raises the same errors."""

    @property
    def name(self) -> str:
        """ "huggingface:" and the kind of model."""
        return f"huggingface:{self.facts.model}"

    @property
    def special_tokens(self) -> tuple[IdArray, IdArray] | None:
        """Ids that `postprocess` inserts before and after a text, if that is all it inserts."""
        return self._postprocess.special_tokens

    @property
    def truncates_to(self) -> int | None:
        """The most ids that `postprocess` leaves; None if it truncates nothing."""
        return self._postprocess.truncates_to

    @property
    def pads(self) -> bool:
        """True if `postprocess` may pad."""
        return self._postprocess.pads

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        """Returns the ids of whole texts after truncation, special tokens and padding, as the
        engine's batch call returns them.

        If post-processing is unknown (`facts.unprovable`) or refuses the texts, the native call
        answers, or raises. Raises LookupError if `rows` are not the ids of the texts."""
        try:
            return self._postprocess.rows(rows)
        except NativeRefusesError:
            if not all(np.array_equal(self.encode(t), rows[k]) for k, t in enumerate(texts)):
                why = self._postprocess.unknown
                raise LookupError(OTHER_IDS if why is None else f"{OWN_CALL}: {why}") from None
        if len(texts) == 1:
            return Rows.of([self.encode_whole(texts[0])])
        return self.whole_batch(texts)

    def check_text(self, text: str) -> None:
        """Raises the error of the caller's own call for a text that is not valid Unicode."""
        if has_surrogate(text):
            self.encode_whole(text)


def parse_component(component: Any) -> Json | None:
    """Returns a component as ``tokenizer.json`` writes it. Raises Exception for a component written
    in Python."""
    return None if component is None else dict(json.loads(component.__getstate__()))


def postprocess_of(own: Tokenizer, add_special_tokens: bool) -> PostProcess:
    """Returns the post-processing of `own`, a tokenizer below 1.0."""
    around = around_of(parse_component(own.post_processor))
    return postprocess_from(around, add_special_tokens, own.truncation, own.padding)


def postprocess_from(
    inserted_ids: InsertedIds | str,
    add_special_tokens: bool,
    truncation: Json | None,
    padding: Json | None,
) -> PostProcess:
    """Returns the post-processing for settings as tokenizers below 1.0 give them.

    `inserted_ids`: see `around_of`. If `max_length` is less than the number of special tokens,
    nothing is truncated."""
    if isinstance(inserted_ids, str):
        return PostProcess(unknown=inserted_ids)
    prefix, suffix = inserted_ids if add_special_tokens else ((), ())
    added = len(prefix) + len(suffix)
    cut = pad = None
    if truncation is not None and truncation["max_length"] >= added:
        limit, stride = truncation["max_length"] - added, truncation["stride"]
        cut = Truncation(limit, truncation["strategy"], truncation["direction"], stride)
    if padding is not None:
        multiple = padding["pad_to_multiple_of"] or 0
        pad = Padding(padding["length"], multiple, padding["direction"], padding["pad_id"])
    return PostProcess(np.array(prefix, np.uint32), np.array(suffix, np.uint32), cut, pad)


def around_of(post: Json | None) -> InsertedIds | str:
    """Returns the ids that a post-processor adds before and after a text. If the post-processor
    does more than that, returns why."""
    try:
        return read_around(post)
    except FileFormatError as error:
        return str(error)
