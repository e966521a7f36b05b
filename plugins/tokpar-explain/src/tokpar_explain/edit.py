"""Show one edit of a session: the text that was kept, the text that was encoded again, and the
patch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import tokpar
from tokpar.arrays import IdArray
from tokpar.contract.adapter import token_bytes_of
from tokpar.contract.interfaces import Decodes, TokenizerAdapter
from tokpar_explain.rows import DIFFERS_MARKS, EDGE, TOKENS_AROUND, describe_count, show_text

_KEPT_SIGN, _ENCODED_SIGN, _BAR_WIDTH = "█", "▒", 60
LEGEND = (
    f"{_KEPT_SIGN} kept   {_ENCODED_SIGN} encoded again   "
    f"{DIFFERS_MARKS[0]}ids of the patch{DIFFERS_MARKS[1]}"
)


@dataclass(frozen=True, eq=False)
class SessionEdit:
    """One `update` of a session, from one text to another.

    [start, stop): the code points of the new text that were encoded. `old`, `new`: the ids before
    special tokens. [first, last): the ids of `new` that the edit changed; `removed`: how many ids
    of `old` they replace. `equal`: the ids equal those of the tokenizer's own call."""

    tokenizer: TokenizerAdapter
    text: str
    start: int
    stop: int
    encoded: int
    old: IdArray
    new: IdArray
    first: int
    last: int
    removed: int
    equal: bool
    why: str


def make_edit(old_text: str, new_text: str, tokenizer: TokenizerAdapter) -> SessionEdit:
    """Make the edit in a session, and compare the ids with the ids of a full encode."""
    session = tokpar.Encoder(tokenizer).session(old_text)
    old = session.unprocessed_ids
    patch = session.update(new_text)
    new, first = session.unprocessed_ids, patch.replace_from
    most = min(len(old), len(new)) - first
    differ = np.flatnonzero(old[len(old) - most :][::-1] != new[len(new) - most :][::-1])
    same = int(differ[0]) if len(differ) else most
    equal = np.array_equal(new, serial_ids(tokenizer, new_text))
    last, removed = len(new) - same, len(old) - same - first
    told = patch.start, patch.stop, patch.encoded, old, new, first, last, removed, equal
    return SessionEdit(tokenizer, new_text, *told, patch.why)


def serial_ids(tokenizer: TokenizerAdapter, text: str) -> IdArray:
    """The ids of the tokenizer's own call, before special tokens; uint32, (n,)."""
    return np.asarray(tokenizer.encode(text), np.uint32)


def lines(edit: SessionEdit) -> Iterator[str]:
    """The edit as lines for a terminal."""
    size = len(edit.text)
    yield LEGEND
    yield ""
    yield f"  text  {bar(edit)}  {size:,} code points"
    if edit.start < edit.stop:
        yield f"        encoded again: [{edit.start:,}, {edit.stop:,})  {_text(edit)}"
    else:
        yield "        nothing is encoded again"
    put, behind = edit.last - edit.first, len(edit.new) - edit.last
    removed = describe_count(edit.removed)
    yield f"  ids   {edit.first:,} kept, {put:,} in the place of {removed}, {behind:,} kept behind"
    yield f"  old   {_row(edit, edit.old, edit.first + edit.removed)}"
    yield f"  new   {_row(edit, edit.new, edit.last)}"
    if edit.why:
        yield f"  why   {edit.why}"


def bar(edit: SessionEdit) -> str:
    """The new text as a bar. Each sign stands for a part of the text, and shows whether any of the
    part was encoded again."""
    size = max(1, len(edit.text))
    width = min(_BAR_WIDTH, size)
    edges = [k * size // width for k in range(width + 1)]
    signs = (
        _ENCODED_SIGN if a < edit.stop and edit.start < b else _KEPT_SIGN
        for a, b in pairwise(edges)
    )
    return "".join(signs)


def _text(edit: SessionEdit) -> str:
    text = edit.text[edit.start : edit.stop]
    if len(text) > _BAR_WIDTH:
        text = f"{text[: _BAR_WIDTH // 2]} … {text[-_BAR_WIDTH // 2 :]}"
    return show_text(text)


def _row(edit: SessionEdit, ids: IdArray, last: int) -> str:
    """The ids [first, last) as marked tokens, with three tokens on either side."""
    first = edit.first
    low, high = max(0, first - 3), min(len(ids), last + 3)
    before = [_token(edit.tokenizer, id_) for id_ in ids[low:first].tolist()]
    inner = [_token(edit.tokenizer, id_) for id_ in ids[first:last].tolist()]
    if len(inner) > TOKENS_AROUND:
        half = TOKENS_AROUND // 2
        inner = [*inner[:half], "…", *inner[-half:]]
    behind = [_token(edit.tokenizer, id_) for id_ in ids[last:high].tolist()]
    marked = f"{DIFFERS_MARKS[0]}{EDGE.join(inner)}{DIFFERS_MARKS[1]}"
    left, right = "… " if low else "", " …" if high < len(ids) else ""
    return f"{left}{EDGE.join([*before, marked, *behind])}{right}"


def _token(tokenizer: TokenizerAdapter, id_: int) -> str:
    """The token as it is shown, or its number if nothing spells it."""
    token_bytes = token_bytes_of(tokenizer)
    if token_bytes is not None and (data := token_bytes(id_)):
        return show_text(data.decode("utf-8", "surrogateescape"))
    if isinstance(tokenizer, Decodes):
        return show_text(tokenizer.decode([id_])) or f"#{id_}"
    return f"#{id_}"
