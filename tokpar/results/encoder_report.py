"""What an encoder did so far, and the reasons why an engine encoded a text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tokpar.results.text_counts import ARGUMENTS, LEFT_OVER, MISMATCH, NO_CALL, STRATEGY, TABLES

REASONS = {
    NO_CALL: "its tokenizer has no compiled call, and the text was not cut",
    TABLES: "the tables of the compiled call were being made, and the text was not cut",
    MISMATCH: "the engine had other ids than the compiled call, which stopped (MismatchError)",
    LEFT_OVER: "the compiled call leaves this text to the engine",
    ARGUMENTS: "only the own call of the library takes these arguments, or has their error",
    STRATEGY: "the strategy, the executor or smallest_text does without the compiled call",
}
"""Why an engine encoded a text in one call."""


@dataclass(frozen=True)
class EncoderReport:
    """What an encoder did so far.

    `texts`: how many texts were encoded in each way: "compiled" by the compiled call, "cut" at
    certified cuts, "engine" by one call of the engine. `fallbacks`: how many texts of the way
    "engine" there are for each reason, see `REASONS`. `why_not_compiled`: why
    no compiled call answers now; empty if one does."""

    texts: Mapping[str, int]
    fallbacks: Mapping[str, int]
    why_not_compiled: str
