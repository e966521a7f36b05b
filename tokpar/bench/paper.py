"""What the LoPT paper publishes (arXiv 2511.04952), as far as it was read, to stand beside ours.

A figure that was not read is None, never a guess.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

NOT_READ = "not read"
TITLE = "LoPT (arXiv 2511.04952)"
DATASET = "L-Eval"


@dataclass(frozen=True)
class Published:
    """A method's figures in table 1: share of the texts that are equal, milliseconds a text."""

    accuracy: float | None = None
    milliseconds: float | None = None


TABLE_1: Mapping[str, Mapping[str, Published]] = MappingProxyType(
    {
        "DeepSeek-V3": {
            "delimiter-comma": Published(0.317),
            "delimiter-period": Published(0.564),
            "delimiter-space": Published(0.804),
            "overlap-longest": Published(0.801),
            "overlap-window": Published(0.998),
            "lopt-paper": Published(1.0),
        }
    }
)
"""Chunks of the paper have other sizes than ours, and its machine other cores."""

PAPER_METHODS = (
    "serial",
    "delimiter-comma",
    "delimiter-period",
    "delimiter-space",
    "overlap-longest",
    "overlap-window",
    "lopt-paper",
    "lopt",
    "auto",
)
"""Those of table 1, and ours."""

_NAMES = {"deepseek": "DeepSeek-V3", "bert": "BERT", "qwen": "Qwen"}


def published(tokenizer: str, method: str) -> Published:
    """Of a tokenizer by the name of its file: "deepseek" -> the figures of DeepSeek-V3."""
    known = next((paper for part, paper in _NAMES.items() if part in tokenizer.lower()), "")
    return TABLE_1.get(known, {}).get(method, Published())
