"""`auto`: what `cut` does, under the name of the default strategy."""

from __future__ import annotations

from tokpar.interfaces import Strategy
from tokpar.methods.cut import build

STRATEGY = Strategy(
    name="auto",
    lossless=True,
    source="tokpar",
    conditions="none: what cannot be proved is encoded serially, and the report says why",
    build=build,
)
