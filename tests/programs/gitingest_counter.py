"""gitingest: `ingest` of a folder, whose summary counts tokens by an encoding of tiktoken,
unchanged."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.programs.documents import documents
from tests.programs.turns import Row, compare

INSTALL = ("gitingest==0.3.1",)
VERSIONS = ("gitingest", "tiktoken")


def rows() -> Iterator[Row]:
    import tiktoken

    import tokpar

    own = tiktoken.get_encoding
    with tempfile.TemporaryDirectory() as folder, tokpar.patch_tiktoken():
        sides = (_ingested(Path(folder), each) for each in (own, tiktoken.get_encoding))
        yield compare("ingest of a folder", *sides, documents(40_000, 9))


def _ingested(folder: Path, get_encoding: Callable[[str], Any]) -> Callable[[str], Any]:
    """Returns what makes a digest of a folder with one file. gitingest gets its encoding at each
    call."""
    import tiktoken
    from gitingest import ingest

    def ingested(text: str) -> Any:
        (folder / "text.md").write_text(text, "utf-8")
        tiktoken.get_encoding = get_encoding
        found = ingest(str(folder))
        assert "Estimated tokens" in found[0], found[0]
        return found

    return ingested
