"""Tests of the cache: segments and their ids, compiled and not."""
