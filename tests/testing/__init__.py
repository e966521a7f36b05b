"""Tests of what the tests themselves draw."""
