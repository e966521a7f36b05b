"""Tests of plugins and of the registry."""
