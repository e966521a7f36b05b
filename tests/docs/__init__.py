"""Tests of the documentation, the workflows, and the rules of the repository."""
