"""How long deciding a pattern may take before it is refused."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from tokpar.patterns.expression import UnsupportedPatternError

SECONDS = 2.0


@dataclass
class Budget:
    """Processor time of one thread for a decision; `spend` is called in all loops that may grow."""

    seconds: float = SECONDS
    _start: float = field(default_factory=time.thread_time)

    def renew(self) -> None:
        """The same time again, for another question."""
        self._start = time.thread_time()

    def spend(self, what: str, count: int = 0, limit: int = 1) -> None:
        """Raise `UnsupportedPatternError` if there are more than `limit`, or it is late."""
        if count > limit:
            raise UnsupportedPatternError(f"more than {limit} {what}")
        if time.thread_time() - self._start > self.seconds:
            raise UnsupportedPatternError(f"counting {what} takes more than {self.seconds:g} s")
