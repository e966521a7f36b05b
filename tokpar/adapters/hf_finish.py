"""What Hugging Face applies once to a whole text: truncation, special tokens, padding.

Only lengths are looked at, never the values of ids. Overflowing parts are not offered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tokpar.kernels import LONG_ROW, IdArray, IntArray, copy_rows, offsets_of
from tokpar.types import Rows

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Json = Mapping[str, Any]


OTHER_IDS = "these ids are not those of the text"


class NativeRefusesError(Exception):
    """The native call fails on this text; ask it to get its own error."""


def _none() -> IdArray:
    return np.empty(0, dtype=np.uint32)


@dataclass(frozen=True, slots=True)
class Truncation:
    """`limit`: ids kept of the text itself, special tokens not counted."""

    limit: int
    strategy: str
    direction: str
    stride: int

    def kept(self, lengths: IntArray) -> IntArray:
        """How many ids are kept of texts of so many. Raises NativeRefusesError where the native
        call fails."""
        refuses = self.strategy == "only_second" or self.stride >= self.limit
        if self.limit and refuses and (lengths > self.limit).any():
            raise NativeRefusesError
        return np.minimum(lengths, self.limit)


@dataclass(frozen=True, slots=True)
class Padding:
    """`length`: pad to so many ids, None for the longest of a batch; never shortens."""

    length: int | None
    multiple: int
    direction: str
    pad_id: int

    def target(self, longest: int) -> int:
        """Ids to pad to when the longest text of the batch has `longest`."""
        wanted = longest if self.length is None else self.length
        return wanted + -wanted % self.multiple if self.multiple else wanted


@dataclass(frozen=True, slots=True)
class Finish:
    """Truncation, then `prefix` and `suffix` (uint32), then padding.

    `unknown` is the reason why this is not what the tokenizer does, or None.
    """

    prefix: IdArray = field(default_factory=_none)
    suffix: IdArray = field(default_factory=_none)
    truncation: Truncation | None = None
    padding: Padding | None = None
    unknown: str | None = None

    def rows(self, rows: Rows) -> Rows:
        """Final ids of texts that are encoded together. Raises NativeRefusesError."""
        if self.unknown is not None:
            raise NativeRefusesError
        if self.truncation is None and self.padding is None and not self._inserts:
            return rows
        if self.truncation is None and self.padding is None:
            return self._surrounded(rows)
        lengths = np.diff(rows.offsets)
        kept = lengths if self.truncation is None else self.truncation.kept(lengths)
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

    def _surrounded(self, rows: Rows) -> Rows:
        offsets = rows.offsets + self._inserts * np.arange(len(rows) + 1)
        final = np.empty(int(offsets[-1]), dtype=np.uint32)
        own = np.ones(len(final), dtype=np.bool_)
        places = [(offsets[:-1] + k, id_) for k, id_ in enumerate(self.prefix.tolist())]
        places += [(offsets[1:] - k, id_) for k, id_ in enumerate(self.suffix.tolist()[::-1], 1)]
        for place, id_ in places:
            final[place], own[place] = id_, False
        if len(rows) * LONG_ROW > len(final):
            final[own] = rows.ids
        else:
            start = offsets[:-1] + len(self.prefix)
            copy_rows(rows.ids, rows.offsets[:-1], np.diff(rows.offsets), final, start)
        return Rows(final, offsets)

    @property
    def _inserts(self) -> int:
        return len(self.prefix) + len(self.suffix)


class Native(Protocol):
    """What finishing falls back on: the engine's own calls."""

    def encode(self, text: str) -> IdArray: ...

    def encode_whole(self, text: str) -> IdArray: ...

    def whole_batch(self, texts: Sequence[str]) -> Rows: ...


def finished(finish: Finish, rows: Rows, texts: Sequence[str], native: Native) -> Rows:
    """As the batch call of the engine: cut, with special tokens, padded to the longest where the
    settings say so.

    Raises what the native call raises when it cannot cut. Where finishing is not understood the
    native call answers, and ids that are not those of the texts raise LookupError.
    """
    try:
        return finish.rows(rows)
    except NativeRefusesError:
        if not all(np.array_equal(native.encode(t), rows[k]) for k, t in enumerate(texts)):
            raise LookupError(OTHER_IDS) from None
    if len(texts) == 1:
        return Rows.of([native.encode_whole(texts[0])])
    return native.whole_batch(texts)


def finish_of(
    tokenizer: Tokenizer, *, add_special_tokens: bool, truncation: bool, padding: bool
) -> Finish:
    """How `tokenizer` finishes a text; without `truncation` or `padding` its own are left out."""
    post = tokenizer.post_processor
    found = around_of(None if post is None else json.loads(post.__getstate__()))
    if isinstance(found, str):
        return Finish(unknown=found)
    prefix, suffix = found if add_special_tokens else ((), ())
    added = tokenizer.num_special_tokens_to_add(False) if add_special_tokens else 0
    return Finish(
        np.array(prefix, dtype=np.uint32),
        np.array(suffix, dtype=np.uint32),
        _truncation(tokenizer.truncation if truncation else None, added),
        _padding(tokenizer.padding if padding else None),
    )


def _truncation(settings: Json | None, added: int) -> Truncation | None:
    """None also where `max_length` is below the number of special tokens: nothing is cut then."""
    if settings is None or settings["max_length"] < added:
        return None
    limit = settings["max_length"] - added
    return Truncation(limit, settings["strategy"], settings["direction"], settings["stride"])


def _padding(settings: Json | None) -> Padding | None:
    if settings is None:
        return None
    multiple = settings["pad_to_multiple_of"] or 0
    return Padding(settings["length"], multiple, settings["direction"], settings["pad_id"])


Around = tuple[tuple[int, ...], tuple[int, ...]]


def around_of(post: Json | None) -> Around | str:
    """Ids put before and after a text, or the reason why it is not that simple."""
    inserting = [stage for stage in stages(post) if stage["type"] != "ByteLevel"]
    if not inserting:
        return (), ()
    if len(inserting) > 1:
        return "several post-processors insert special tokens"
    (stage,) = inserting
    if stage["type"] in ("BertProcessing", "RobertaProcessing"):
        return (stage["cls"][1],), (stage["sep"][1],)
    if stage["type"] == "TemplateProcessing":
        return _template(stage)
    return f"nothing is known of the post-processor {stage['type']}"


def stages(post: Json | None) -> Iterator[Json]:
    if post is None:
        return
    if post["type"] != "Sequence":
        yield post
        return
    for child in post["processors"]:
        yield from stages(child)


def _template(stage: Json) -> Around | str:
    pieces: list[Json] = stage["single"]
    places = [i for i, piece in enumerate(pieces) if "Sequence" in piece]
    if len(places) != 1 or pieces[places[0]]["Sequence"]["id"] != "A":
        return "the post-processor's template does not hold the text exactly once"
    before, after = pieces[: places[0]], pieces[places[0] + 1 :]
    return _special_ids(before, stage), _special_ids(after, stage)


def _special_ids(pieces: Sequence[Json], stage: Json) -> tuple[int, ...]:
    return tuple(
        special_id
        for piece in pieces
        for special_id in stage["special_tokens"][piece["SpecialToken"]["id"]]["ids"]
    )
