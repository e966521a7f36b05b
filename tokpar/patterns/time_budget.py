"""The processor time that the decision about a pattern may take before the pattern is refused."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tokpar.patterns.pattern_reader import UnsupportedPatternError

SECONDS = 2.0


@dataclass
class Budget:
    """The processor time, of one thread, for one decision. Every unbounded loop calls `spend`."""

    seconds: float = SECONDS
    _start: float = field(default_factory=time.thread_time)

    def renew(self) -> None:
        """Start the time again, for another decision."""
        self._start = time.thread_time()

    def spend(self, what: str, count: int = 0, limit: int = 1) -> None:
        """Raise `UnsupportedPatternError` if `count` exceeds `limit`, or the time is over."""
        if count > limit:
            raise UnsupportedPatternError(f"more than {limit} {what}")
        if time.thread_time() - self._start > self.seconds:
            raise UnsupportedPatternError(f"counting {what} takes more than {self.seconds:g} s")
