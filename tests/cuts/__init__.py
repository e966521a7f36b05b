"""Tests of the places where a text may be cut."""
