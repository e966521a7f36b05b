"""One of each: a tokenizer, a splitter, a merger, an executor and a strategy, as small as they can
be and still be right. docs/plugins.md builds them up; copy from here."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from tokpar.cuts.finder import finder_for
from tokpar.errors import FileFormatError, OptionError
from tokpar.executors.serial import check_spans, encode_part
from tokpar.hooks import ExecutorKind, MergerKind, SplitterKind, hookimpl
from tokpar.interfaces import Strategy, TokenizerAdapter, TokenizerSource, facts_of
from tokpar.kernels import IdArray, SpanArray, byte_starts
from tokpar.methods.cut import chunks_between, meet_at_cut
from tokpar.types import Chunk, Joined, Piece, Unjoined


@dataclass(frozen=True)
class Letters:
    """Ids are code points, from `first` on. It tells no facts, so it is never split."""

    first: int = 0
    name: str = "letters"

    def encode(self, text: str) -> IdArray:
        return np.array([self.first + ord(letter) for letter in text], dtype=np.uint32)

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(chr(int(id_) - self.first) for id_ in ids)

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        starts = byte_starts(text)
        return np.stack([starts[:-1], starts[1:]], axis=1)

    def spec(self) -> tuple[type[Letters], dict[str, Any]]:
        return Letters, {"first": self.first}


def load(source: object, **settings: Any) -> Letters | None:
    """The tokenizer of a ``.letters`` file, which holds the first id; None for anything else."""
    if not isinstance(source, (str, Path)) or not str(source).endswith(".letters"):
        return None
    if settings:
        raise OptionError(f"a .letters file takes no settings, got {settings}")
    said = Path(source).read_text(encoding="utf-8").strip()
    if not said.isdecimal():
        raise FileFormatError(f"{source} must hold the first id, a number, got {said[:20]!r}")
    return Letters(int(said))


@dataclass(frozen=True)
class LineSplitter:
    """Cuts at the first end of a line, `chunk_chars` code points or more behind the last cut, at
    which a rule licenses a cut. Attempt 1 and later: one chunk."""

    chunk_chars: int = 8192

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> list[Chunk]:
        finder = finder_for(facts_of(tokenizer))
        seams = []
        if attempt == 0 and finder.refusal_for(text) is None:
            place = text.find("\n", self.chunk_chars - 1) + 1
            while place:
                seam = finder.certify(text, place)
                if seam is not None:
                    seams.append(seam)
                place = text.find("\n", place - 1 + (self.chunk_chars if seam else 1)) + 1
        return chunks_between(text, seams)


@dataclass(frozen=True)
class EdgeMerger:
    """Concatenates where the splitter named a rule; the other seams are left for repair."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> Joined | Unjoined:
        open_ = [i for i in range(1, len(chunks)) if not meet_at_cut(chunks[i - 1], chunks[i])]
        if open_:
            return Unjoined(tuple(open_), "no rule licenses the seam")
        before = np.cumsum([len(piece.ids) for piece in pieces])
        cuts = [chunk.cut for chunk in chunks if chunk.cut is not None]
        seams = [replace(cut, token=int(n)) for cut, n in zip(cuts, before, strict=False)]
        return Joined(np.concatenate([piece.ids for piece in pieces]), tuple(seams))


@dataclass(frozen=True)
class PoolExecutor:
    """A thread for each worker, and no pool that outlives the call."""

    workers: int | None = None
    name: str = "pool"

    def map(
        self, text: str, chunks: Sequence[Chunk], tokenizer: TokenizerAdapter, spans: bool
    ) -> list[Piece]:
        check_spans(tokenizer, spans)

        def encode(chunk: Chunk) -> Piece:
            return encode_part(text[chunk.start : chunk.stop], chunk.start, tokenizer, spans)

        with ThreadPoolExecutor(self.workers) as pool:
            return list(pool.map(encode, chunks))


def build(*, chunk_chars: int = 8192) -> tuple[LineSplitter, EdgeMerger]:
    """`chunk_chars`: least size of a chunk in code points."""
    if chunk_chars < 1:
        raise OptionError(f"chunk_chars must be at least 1, got {chunk_chars}")
    return LineSplitter(chunk_chars), EdgeMerger()


LINES = Strategy(
    name="lines",
    lossless=True,
    source="tokpar-example",
    conditions="cuts at ends of lines, as far as a rule licenses them; the rest in one call",
    build=build,
)


@hookimpl
def tokpar_tokenizers() -> list[TokenizerSource]:
    return [TokenizerSource("letters", load)]


@hookimpl
def tokpar_executors() -> list[ExecutorKind]:
    return [ExecutorKind("pool", PoolExecutor, lambda tokenizer: True)]


@hookimpl
def tokpar_splitters() -> list[SplitterKind]:
    return [SplitterKind("lines", LineSplitter)]


@hookimpl
def tokpar_mergers() -> list[MergerKind]:
    return [MergerKind("edges", EdgeMerger)]


@hookimpl
def tokpar_strategies() -> list[Strategy]:
    return [LINES]
