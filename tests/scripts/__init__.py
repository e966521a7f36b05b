"""Tests of `tests.benchmarks` and `tests.recipes`."""
