"""Tests of the comparison of an engine with the library that it replaces."""
