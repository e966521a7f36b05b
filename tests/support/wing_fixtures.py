"""What the tests of wings share with those of tokpar: profiles of hypothesis, their own caches, and
the fixtures of the conformance kit. For `from ... import *` in a conftest.py."""

from __future__ import annotations

from tests.conftest import (
    compiled_calls,
    few_texts,
    kept_by_files_before,
    pytest_collection_modifyitems,
    tables_folder,
    twelfths_but_for,
    twelfths_in_quick,
)

__all__ = [
    "compiled_calls",
    "few_texts",
    "kept_by_files_before",
    "pytest_collection_modifyitems",
    "tables_folder",
    "twelfths_but_for",
    "twelfths_in_quick",
]
