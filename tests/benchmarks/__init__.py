"""Speed and memory, measured by hand from a checkout: `python -m tests.benchmarks.kinds --help`."""

from __future__ import annotations

import sys


def refuse_without_kernel() -> None:
    """End the program, unless it shows its help, where tokpar has no compiled kernel: its figures
    would be those of the engines."""
    from tokpar.process import kernel_modules  # after the environment was set

    if kernel_modules.CALL is None and {"-h", "--help"}.isdisjoint(sys.argv):
        sys.exit(f"error: no figures without the compiled kernel: {kernel_modules.WHY_NONE}")
