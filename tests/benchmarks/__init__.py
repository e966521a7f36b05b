"""Speed and memory, measured by hand from a checkout: `python -m tests.benchmarks.kinds --help`."""
