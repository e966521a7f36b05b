"""`auto`: the ladder. Certified cuts where there are any, serial regions where there are none.

Rung 1 is `cut`; rung 3 is what `cut` leaves between two cuts that lie far apart, which is encoded
in one call (rule K7). Rung 2, cutting inside one giant pre-token, is not built yet.
"""

from __future__ import annotations

from tokpar.interfaces import Strategy
from tokpar.methods.cut import CutMerger, CutSplitter
from tokpar.methods.cut import build as build_cut


def build(*, chunk_chars: int | None = None) -> tuple[CutSplitter, CutMerger]:
    """`chunk_chars`: least size of a chunk in code points; tuned to tokenizer and text if None."""
    return build_cut(chunk_chars=chunk_chars)


STRATEGY = Strategy(
    name="auto",
    lossless=True,
    source="tokpar",
    conditions="none: what cannot be proved is encoded serially, and the report says why",
    build=build,
)
