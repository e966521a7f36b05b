"""The folders of the checkout that tests read."""

from __future__ import annotations

from pathlib import Path

import tokpar

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
VOCAB = TESTS / "vocab"
"""Parts of real vocabularies."""
DATA = Path(tokpar.__file__).parent / "data"
"""What the installed package brings: tables and the bundled tokenizer."""
DEFAULT = DATA / "default.json"
