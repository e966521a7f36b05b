"""Special tokens that begin with one another."""

from __future__ import annotations

BOTH = {"<a>b": 300_001, "x": 300_002, "<a>": 300_000}
NAMED = r"special token '<a>b' begins with '<a>'"
