"""Tests of executors."""
