"""The tests of the segment cache, which encodes what no compiled call does."""

from __future__ import annotations

import pytest

from tokpar import loading


@pytest.fixture(autouse=True)
def no_compiled_call(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tokenizers have no compiled call, but for the tests of it."""
    if not request.node.path.name.startswith(("test_call", "test_read_models", "test_merges")):
        for adapter in ("hf_call", "tiktoken"):
            monkeypatch.setattr(f"tokpar.adapters.{adapter}.call_parts_of", lambda *_: "a test")
        monkeypatch.setattr(loading, "_defaults", {})
