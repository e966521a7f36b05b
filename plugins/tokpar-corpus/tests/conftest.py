"""Tests of corpora write many small files, and none of them loses power."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is synced, and when, lossy_disk.py knows without the real disk."""
    monkeypatch.setattr("os.fsync", lambda descriptor: None)
