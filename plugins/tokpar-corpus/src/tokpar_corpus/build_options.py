"""The choices and limits of a build, its memory budget, and the notation of sizes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tokpar.errors import OptionError

FORMATS = ("megatron", "parquet", "arrow", "numpy")
ERRORS = ("stop", "skip")
BACKENDS = ("local", "ray")
SHARD_BYTES = 1 << 30
BUDGET = 2 << 30
TIMES_LONGEST = 16
"""The memory budget must be at least this many times the longest document, as stored in a line."""
LEAST_BUDGET = 64 << 20
LEAST_SHARD = 1000
"""Bytes. A smaller --shard-size is a number whose unit was forgotten."""
_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Memory:
    """Divides the memory budget. All values are bytes of stored text.

    `longest`: a longer document is an error. `block`: about how much is read and encoded at a time.
    `in_flight`: how much is read ahead at most; a longer document is read ahead alone.
    `block_bytes`: the size of `block`, if it is not a part of the budget."""

    budget: int
    block_bytes: int | None = None

    @property
    def longest(self) -> int:
        return self.budget // TIMES_LONGEST

    @property
    def block(self) -> int:
        return self.block_bytes or self.budget // (4 * TIMES_LONGEST)

    @property
    def in_flight(self) -> int:
        return self.budget // TIMES_LONGEST


def size_of(text: str | int, what: str) -> int:
    """Returns the number of bytes of a size: "2GB" -> 2000000000, "64MiB" -> 67108864. Raises
    OptionError, which quotes `what`."""
    match = _SIZE.fullmatch(str(text).strip())
    if match is None:
        raise OptionError(f"{what}: expected a size such as 500MB or 2GiB, got {text!r}")
    number, unit, binary = match[1], match[2].lower(), match[3]
    factor = 1 << 10 * "bkmgt".index(unit or "b") if binary else _UNITS[unit]
    return int(float(number) * factor)
