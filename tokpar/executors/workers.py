"""How many workers there are."""

from __future__ import annotations

import os

from tokpar.errors import OptionError

# What Hugging Face tokenizers reads as "no" in TOKENIZERS_PARALLELISM.
_OFF = {"", "off", "false", "f", "no", "n", "0"}


def worker_count(workers: int | None) -> int:
    """`workers` if given, else how many CPUs this process may use; 1 if TOKENIZERS_PARALLELISM
    says no. Raises OptionError for anything that is not an int of at least 1."""
    if workers is None:
        return 1 if os.environ.get("TOKENIZERS_PARALLELISM", "yes").lower() in _OFF else cpu_count()
    if not isinstance(workers, int) or isinstance(workers, bool):
        raise OptionError(f"workers must be an int of at least 1 or None, got {workers!r}")
    if workers < 1:
        raise OptionError(f"workers must be at least 1, got {workers}")
    return workers


def cpu_count() -> int:
    """CPUs this process may use."""
    if hasattr(os, "process_cpu_count"):
        count: int | None = os.process_cpu_count()
    elif hasattr(os, "sched_getaffinity"):
        count = len(os.sched_getaffinity(0))
    else:
        count = os.cpu_count()
    return count or 1
