"""Tests of `tokpar explain`."""
