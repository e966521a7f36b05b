"""Tests of the conformance kit, and of what the tests themselves draw."""
