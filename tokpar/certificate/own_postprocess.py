"""What a file says is applied to the ids of a whole text: truncation, special tokens, padding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tokpar.arrays import IdArray
from tokpar.certificate.canonical_form import JsonForm
from tokpar.contract.adapter import inserted_ids
from tokpar.contract.interfaces import PostProcesses, TokenizerAdapter
from tokpar.types import Rows

_FIRST = 1 << 31
"""Ids from here on stand for the ids of a text: no vocabulary has them."""


@dataclass(frozen=True, slots=True)
class Postprocess:
    """`most`: how many ids of the text are kept, None for all; `from_end`: its last ids.

    `pad`: the id that fills up to `target` ids and to a multiple of `multiple`; None: no padding.
    `target` None: the length of the longest text of a batch."""

    ids_before: tuple[int, ...] = ()
    ids_after: tuple[int, ...] = ()
    most: int | None = None
    from_end: bool = False
    pad: int | None = None
    target: int | None = None
    multiple: int = 1
    pads_start: bool = False

    def apply(self, ids: IdArray) -> IdArray:
        """Returns the final ids of one text; uint32, (n,)."""
        if self.most is not None and len(ids) > self.most:
            ids = ids[len(ids) - self.most :] if self.from_end else ids[: self.most]
        whole = [*self.ids_before, *ids.tolist(), *self.ids_after]
        if self.pad is not None:
            target = len(whole) if self.target is None else self.target
            wanted = -(-target // self.multiple) * self.multiple
            filling = [self.pad] * (wanted - len(whole))
            whole = filling + whole if self.pads_start else whole + filling
        return np.array(whole, dtype=np.uint32)


def postprocess_of(form: JsonForm, settings: Mapping[str, object]) -> Postprocess | None:
    """Returns what the file says, as far as the caller's settings ask for it; None for a
    post-processor that this reader does not know."""
    around = _inserted_ids(form.post_processor)
    if around is None:
        return None
    if not settings.get("add_special_tokens", True):
        around = (), ()
    found = Postprocess(*around)
    if settings.get("truncation", True) and form.truncation is not None:
        found = _truncating(found, form.truncation, form.line_one)
    if settings.get("padding", True) and form.padding is not None:
        found = _padding(found, form.padding)
    return found


def _truncating(
    postprocess: Postprocess, settings: Mapping[str, Any], line_one: bool
) -> Postprocess:
    """Below 1.0 nothing is cut where special tokens leave no room; 1.x cuts the whole text."""
    most = settings["max_length"] - len(postprocess.ids_before) - len(postprocess.ids_after)
    if most < 0 and not line_one:
        return postprocess
    return replace(postprocess, most=max(0, most), from_end=_is_left(settings))


def _padding(postprocess: Postprocess, settings: Mapping[str, Any]) -> Postprocess:
    strategy = settings.get("strategy", {"Fixed": settings.get("length")})
    target = strategy["Fixed"] if isinstance(strategy, Mapping) else None
    multiple = settings.get("pad_to_multiple_of") or 1
    columns = {"pad": settings["pad_id"], "target": target, "multiple": multiple}
    return replace(postprocess, **columns, pads_start=_is_left(settings))


def _is_left(settings: Mapping[str, Any]) -> bool:
    return str(settings.get("direction", "right")).lower() == "left"


InsertedIds = tuple[tuple[int, ...], tuple[int, ...]]


def _inserted_ids(part: Any) -> InsertedIds | None:
    """The ids before and after a text, None if they are not known."""
    found = [stage for stage in _stages(part) if stage["type"] != "ByteLevel"]
    if not found:
        return (), ()
    if len(found) > 1:
        return None
    [stage] = found
    if stage["type"] in ("BertProcessing", "RobertaProcessing"):
        return (stage["cls"][1],), (stage["sep"][1],)
    return _of_template(stage) if stage["type"] == "TemplateProcessing" else None


def _stages(part: Any) -> Iterator[Mapping[str, Any]]:
    if part is not None and part["type"] == "Sequence":
        for each in part["processors"]:
            yield from _stages(each)
    elif part is not None:
        yield part


def _of_template(stage: Mapping[str, Any]) -> InsertedIds | None:
    """Format 1.0 names special tokens and lists their ids apart, format 2.0 lists ids only."""
    sides: list[list[int]] = [[]]
    for piece in stage["single"]:
        if piece.get("Sequence", {}).get("id") == "A" or piece.get("seq") == "A":
            sides.append([])
        elif "SpecialToken" in piece:
            sides[-1] += stage["special_tokens"][piece["SpecialToken"]["id"]]["ids"]
        elif "ids" in piece:
            sides[-1] += piece["ids"]
        else:
            return None
    return (tuple(sides[0]), tuple(sides[1])) if len(sides) == 2 else None


def postprocess_differences(
    own: Postprocess, tokenizer: TokenizerAdapter
) -> Iterator[tuple[str, object, object]]:
    """Yields (name, what the file says, what the adapter does) where they differ.

    An adapter that leaves post-processing to the caller's own call is not asked."""
    if not isinstance(tokenizer, PostProcesses) or tokenizer.special_tokens is None:
        return
    told = tuple(tuple(ids.tolist()) for ids in tokenizer.special_tokens)
    if told != (own.ids_before, own.ids_after):
        yield "special tokens", (own.ids_before, own.ids_after), told
    plain = own.most is None and own.pad is None
    inserts = inserted_ids(tokenizer) is not None
    if plain != inserts:
        yield "truncation and padding", not plain, not inserts
    for count in sorted({0, 1, 3, *(() if own.most is None else (own.most, own.most + 1))}):
        ids = np.arange(_FIRST, _FIRST + count, dtype=np.uint32)
        try:
            done = tokenizer.postprocess(Rows.of([ids]), [""])[0]
        except LookupError:  # only the true ids of a text are post-processed
            continue
        if not np.array_equal(done, own.apply(ids)):
            yield f"post-processing of {count} ids", own.apply(ids).tolist(), done.tolist()
            return
