"""An example of each part: tokenizer, splitter, merger, executor, strategy and command.

Each is as small as it can be and still correct. docs/plugins.md explains them; copy from here."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import tokpar
from tokpar import FileFormatError, OptionError, Rows, Seam
from tokpar.plugin import Command, Strategy
from tokpar.plugin.merge import Join, MergerKind, join_at_cut
from tokpar.plugin.split import (
    Chunk,
    Split,
    SplitterKind,
    chunks_between,
    finder_for,
    require_count,
)
from tokpar.plugin.tokenizer import (
    ExecutorKind,
    IdArray,
    Piece,
    SpanArray,
    TokenizerAdapter,
    TokenizerSource,
    byte_starts,
    check_spans,
    encode_piece,
    facts_of,
    hookimpl,
)


@dataclass(frozen=True)
class Letters:
    """Ids are `first` plus the code point. It has no facts, so its texts are never cut."""

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
    """The tokenizer of a ``.letters`` file, which holds the first id; None for other sources."""
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
    """Cut at ends of lines where a rule licenses a cut, at least `chunk_chars` code points apart.

    Only the first attempt cuts; later attempts return one chunk."""

    chunk_chars: int = 8192

    def __post_init__(self) -> None:
        require_count("chunk_chars", self.chunk_chars)

    def split(self, text: str, tokenizer: TokenizerAdapter, attempt: int) -> Split:
        refused = finder_for(facts_of(tokenizer)).refusal_for(text)
        if attempt > 0 or refused is not None:
            return Split.whole(text, refused or "the merger asked for one chunk")
        seams = list(self._seams(text, tokenizer))
        return Split(chunks_between(text, seams), f"{len(seams)} cuts at ends of lines")

    def _seams(self, text: str, tokenizer: TokenizerAdapter) -> Iterator[Seam]:
        finder = finder_for(facts_of(tokenizer))
        place = text.find("\n", self.chunk_chars - 1) + 1
        while place:
            seam = finder.certify(text, place)
            if seam is not None:
                yield seam
            place = text.find("\n", place - 1 + (self.chunk_chars if seam else 1)) + 1


class EdgeMerger:
    """Join two chunks that meet at a cut with a rule; leave all other seams open."""

    def merge(
        self,
        text: str,
        chunks: Sequence[Chunk],
        pieces: Sequence[Piece],
        tokenizer: TokenizerAdapter,
    ) -> list[Join | None]:
        pairs = zip(pairwise(chunks), pieces, strict=False)
        return [join_at_cut(left, right, piece) for (left, right), piece in pairs]


@dataclass(frozen=True)
class PoolExecutor:
    """Run one thread per worker. The thread pool ends with the call."""

    workers: int | None = None
    name: str = "pool"

    def map(self, texts: Sequence[str], tokenizer: TokenizerAdapter, spans: bool) -> Rows:
        check_spans(tokenizer, spans)

        def encode(row: int) -> Piece:
            return encode_piece(texts[row], tokenizer, spans, row)

        with ThreadPoolExecutor(self.workers) as pool:
            return Rows.of_pieces(list(pool.map(encode, range(len(texts)))))


def build(*, chunk_chars: int = 8192) -> tuple[LineSplitter, EdgeMerger]:
    """Build the strategy. `chunk_chars`: the least size of a chunk in code points."""
    return LineSplitter(chunk_chars), EdgeMerger()


LINES = Strategy(
    name="lines",
    lossless=True,
    source="tokpar-example",
    conditions="cuts at ends of lines, as far as a rule licenses them; the rest in one call",
    build=build,
)


class Lines:
    """Count the ends of lines at which a text may be cut."""

    def declare(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def run(self, arguments: Namespace) -> int:
        text = arguments.file.read_text(encoding="utf-8")
        print(len(LineSplitter(1).split(text, tokpar.load("default"), 0).chunks) - 1)
        return 0


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


@hookimpl
def tokpar_commands() -> list[Command]:
    return [Command("lines", Lines)]
