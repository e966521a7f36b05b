"""Draw one seam of each rule and strategy as an SVG, from what the strategy does to a short text.

    python docs/pictures/draw_seams.py

Above: the tokens of the left chunk. Below: those of the right chunk. Filled: kept. The line is the
seam, with the rule that licenses it, if any does.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers

import tokpar
from tokpar.arrays import code_point_spans
from tokpar.executors.serial_executor import SerialExecutor
from tokpar.registry.tables import build_strategy, registry
from tokpar.types import Chunk, Piece, Seam

TEXT = "The quick brown fox, 1234567 times over: the lazy dog naps."
STAGE_TEXT = "The quick brown fox jumped over it"
CELL, HIGH, LEFT, TOP = 11, 24, 70, 34


@dataclass(frozen=True)
class Picture:
    """A strategy with options on a text, shown from one code point to another."""

    name: str
    strategy: str
    text: str
    options: dict[str, Any]
    tokenizer: Tokenizer | str = "default"


def spaces_split() -> Tokenizer:
    """A tokenizer in the shape of T5: one of its stages splits at every space."""
    pieces = ["▁The", "▁quick", "▁brown", "▁fo", "x", "▁jump", "ed", "▁over", "▁it"]
    own = Tokenizer(models.Unigram([("<unk>", 0.0), *((piece, -1.0) for piece in pieces)], 0))
    stages = [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    own.pre_tokenizer = pre_tokenizers.Sequence(stages)
    return own


PICTURES = [
    Picture("cut", "cut", TEXT, {"chunk_chars": 24}),
    Picture("stage", "cut", STAGE_TEXT, {"chunk_chars": 19}, spaces_split()),
    Picture("edge", "cut", "The turn ends.<|endoftext|>  And the next.", {"chunk_chars": 20}),
    Picture("delimiter", "delimiter", TEXT, {"chunk_chars": 28, "delimiter": ","}),
    Picture("overlap", "overlap", TEXT, {"chunk_chars": 26, "overlap_chars": 14}),
    Picture("lopt", "lopt", TEXT, {"chunk_chars": 26, "overlap_chars": 14}),
    Picture("recursive", "recursive", TEXT, {"depth": 1}),
    Picture("blocks", "blocks", TEXT, {"chunk_chars": 24, "overlap_chars": 8}),
]


def main() -> None:
    for picture in PICTURES:
        svg = draw(picture)
        (Path(__file__).parent / f"{picture.name}.svg").write_text(svg, encoding="utf-8")


def draw(picture: Picture) -> str:
    tokenizer, text = tokpar.load(picture.tokenizer), picture.text
    splitter, merger = build_strategy(registry().strategy(picture.strategy), picture.options)
    chunks = splitter.split(text, tokenizer, 0).chunks
    rows = SerialExecutor().map([text[each.start : each.stop] for each in chunks], tokenizer, True)
    pieces = [rows.piece(k) for k in range(len(chunks))]
    joins = merger.merge(text, chunks, pieces, tokenizer)
    seams = [join.seam for join in joins if join is not None]
    assert len(seams) == len(joins), picture.name
    seam = seams[0]
    after = seams[1].position if len(seams) > 1 else len(text)
    stop = min(len(text), chunks[1].stop)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + stop * CELL + 20}" height="150" '
        'font-family="monospace" font-size="15">',
        '<rect width="100%" height="100%" fill="white"/>',
        _label(4, TOP + 17, "left"),
        _label(4, TOP + 2 * HIGH + 34, "right"),
        *(_character(k, char) for k, char in enumerate(text[:stop])),
        *_tokens(text, chunks[0], pieces[0], 0, seam.position, TOP),
        *_tokens(text, chunks[1], pieces[1], seam.position, after, TOP + 2 * HIGH + 16),
        _seam(seam),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _tokens(
    text: str, chunk: Chunk, piece: Piece, kept_from: int, kept_to: int, y: int
) -> list[str]:
    part = text[chunk.start : chunk.stop]
    assert piece.spans is not None
    boxes = []
    for start, stop in (code_point_spans(piece.spans, part) + chunk.start).tolist():
        kept = kept_from <= start and stop <= kept_to
        fill, line = ("#cfe3f7", "#29609a") if kept else ("#ffffff", "#b0b0b0")
        boxes.append(
            f'<rect x="{LEFT + start * CELL + 1}" y="{y}" width="{(stop - start) * CELL - 2}" '
            f'height="{HIGH}" rx="4" fill="{fill}" stroke="{line}"/>'
        )
    return boxes


def _character(k: int, char: str) -> str:
    shown = "␣" if char == " " else char
    return (
        f'<text x="{LEFT + k * CELL + 1}" y="{TOP + HIGH + 14}" fill="#222">{escape(shown)}</text>'
    )


def _seam(seam: Seam) -> str:
    x = LEFT + seam.position * CELL
    licensed = seam.rule is not None
    color = "#1a7f37" if licensed else "#c62828"
    says = f"{seam.rule}, theorem {seam.theorem}" if licensed else "no rule: uncertified"
    return (
        f'<line x1="{x}" y1="22" x2="{x}" y2="130" stroke="{color}" stroke-width="2.5"/>'
        f'<text x="{x}" y="16" fill="{color}" text-anchor="middle">{says}</text>'
    )


def _label(x: int, y: int, words: str) -> str:
    return f'<text x="{x}" y="{y}" fill="#555">{words}</text>'


if __name__ == "__main__":
    main()
