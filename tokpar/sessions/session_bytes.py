"""Write a session as bytes, and read it back. The bytes are data only, and are checked when read.

The blob is a line that names the format, one line of JSON, the texts as UTF-8, the ids as
little-endian uint32, and the sha256 of everything before. Reading a blob runs no code of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokpar.arrays import IdArray
from tokpar.contract.interfaces import TokenizerAdapter, facts_of
from tokpar.cuts.firm_cuts import FirmCuts, firm_cuts_for
from tokpar.errors import FileFormatError, OptionError
from tokpar.results.adding_up import concatenate
from tokpar.sessions.pins import TranscriptRow
from tokpar.sessions.rope import Rope, Segment, join_segments, rope_of, segments_after

MAGIC = b"tokpar session 1\n"
_DIGEST = 32


@dataclass(frozen=True, slots=True)
class SessionParts:
    """The parts of a session that a blob holds.

    `rope`: the last `context` code points of the pinned text, then the text after the last pin.
    `rope_by_itself`: the text after the last pin, encoded by itself (P1); used if `by_itself`."""

    rows: tuple[TranscriptRow, ...]
    context: int
    rope: Rope
    rope_by_itself: Rope
    by_itself: bool
    revision: int


def fingerprint_for(tokenizer: TokenizerAdapter) -> str:
    """The digest of everything that decides the ids. Raises OptionError for a tokenizer without
    one."""
    found = getattr(tokenizer, "fingerprint", None)
    if not isinstance(found, str):
        raise OptionError(
            f"a session of {tokenizer.name} cannot be saved: the tokenizer has no fingerprint by "
            "which the session would find it again"
        )
    return found


def write_session(parts: SessionParts, tokenizer: TokenizerAdapter) -> bytes:
    """The blob of a session."""
    writer = _Writer()
    rows: list[dict[str, Any]] = []
    for row in parts.rows:
        if row.data is not None:
            sizes = writer.add(row.data, row.pinned_ids)
            rows.append({"pin": sizes, "repeats": row.repeats})
        else:
            rows.append(
                {"text": writer.rope(row.rope), "skipped": [row.skipped_chars, row.skipped_ids]}
            )
    head = {
        "fingerprint": fingerprint_for(tokenizer),
        "revision": parts.revision,
        "rows": rows,
        "context": parts.context,
        "rope": writer.rope(parts.rope),
        "alone": writer.rope(parts.rope_by_itself),
        "by_itself": parts.by_itself,
    }
    body = MAGIC + json.dumps(head).encode() + b"\n" + writer.content()
    return body + hashlib.sha256(body).digest()


class _Writer:
    """Collect bytes and ids, and return how many each part has."""

    def __init__(self) -> None:
        self._data: list[bytes] = []
        self._ids: list[IdArray] = []

    def add(self, data: bytes, ids: IdArray) -> list[int]:
        self._data.append(data)
        self._ids.append(ids)
        return [len(data), len(ids)]

    def rope(self, rope: Rope) -> list[list[int]]:
        """[bytes, ids, absorbed] of each segment."""
        segments = (segment for _, segment in segments_after(rope, -1))
        return [[*self.add(s.text.encode(), s.ids), s.absorbed_chars] for s in segments]

    def content(self) -> bytes:
        """All bytes, then all ids."""
        return b"".join(self._data) + concatenate(self._ids).astype("<u4").tobytes()


def read_session(blob: bytes, tokenizer: TokenizerAdapter) -> SessionParts:
    """The session of a blob.

    Raises FileFormatError for a blob that is cut, changed, or made for another tokenizer."""
    body, digest = blob[:-_DIGEST], blob[-_DIGEST:]
    if not body.startswith(MAGIC):
        raise FileFormatError(f"this is no saved session: it begins with {bytes(blob[:20])!r}")
    if hashlib.sha256(body).digest() != digest:
        raise FileFormatError("the saved session was cut or changed: its sha256 is another one")
    line, _, content = body[len(MAGIC) :].partition(b"\n")
    head = json.loads(line)
    if head.get("fingerprint") != fingerprint_for(tokenizer):
        raise FileFormatError(
            f"the session was saved with another tokenizer than {tokenizer.name}: fingerprint "
            f"{str(head.get('fingerprint'))[:12]}..., not {fingerprint_for(tokenizer)[:12]}..."
        )
    try:
        reader = _Reader(content, _sizes(head), firm_cuts_for(facts_of(tokenizer)))
        rows = tuple(reader.row(row) for row in head["rows"])
        rope, rope_by_itself = reader.rope(head["rope"]), reader.rope(head["alone"])
        told = (
            int(head["context"]),
            rope,
            rope_by_itself,
            bool(head["by_itself"]),
            int(head["revision"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"the saved session does not say what it holds: {error!r}") from error
    return SessionParts(rows, *told)


def _sizes(head: dict[str, Any]) -> int:
    """The number of bytes of text in the blob."""
    parts = [[row["pin"]] if "pin" in row else row["text"] for row in head["rows"]]
    return sum(part[0] for some in (*parts, head["rope"], head["alone"]) for part in some)


class _Reader:
    """Read the parts of a blob in the order in which `_Writer` added them."""

    def __init__(self, content: bytes, size: int, cuts: FirmCuts) -> None:
        self._cuts = cuts
        self._data, self._next_byte = content[:size], 0
        self._ids, self._next_id = np.frombuffer(content[size:], "<u4").astype(np.uint32), 0

    def take(self, size: int, count: int) -> tuple[bytes, IdArray]:
        data = self._data[self._next_byte : self._next_byte + size]
        ids = self._ids[self._next_id : self._next_id + count]
        self._next_byte, self._next_id = self._next_byte + size, self._next_id + count
        return data, ids

    def rope(self, parts: Sequence[Sequence[int]]) -> Rope:
        """The rope of segments, joined where the cut between them is not firm, as is possible in
        a blob of an earlier release."""
        found, groups = list[Segment](), list[list[Segment]]()
        for size, count, absorbed in parts:
            data, ids = self.take(size, count)
            found.append(Segment(data.decode(), ids, absorbed))
        text = "".join(segment.text for segment in found)
        place = 0
        for segment in found:
            seam = self._cuts.seam(text, place)
            is_firm = seam is not None and seam.absorbed == segment.absorbed_chars
            if is_firm or not groups:
                groups.append([])
            groups[-1].append(segment)
            place += segment.chars
        return rope_of([join_segments(group) for group in groups])

    def row(self, row: dict[str, Any]) -> TranscriptRow:
        if "pin" in row:
            data, ids = self.take(*row["pin"])
            return TranscriptRow(data=data, pinned_ids=ids, repeats=bool(row["repeats"]))
        return TranscriptRow(self.rope(row["text"]), *row["skipped"])
