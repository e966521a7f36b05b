"""What the tests of plugins share with those of tokpar: profiles of hypothesis, caches, fixtures of
the conformance kit. For `from ... import *` in plugins/conftest.py."""

from __future__ import annotations

from tests.conftest import (
    compiled_calls,
    few_texts,
    kept_by_files_before,
    pytest_collection_modifyitems,
    pytest_make_collect_report,
    tables_folder,
    twelfths_but_for,
    twelfths_in_quick,
)

__all__ = [
    "compiled_calls",
    "few_texts",
    "kept_by_files_before",
    "pytest_collection_modifyitems",
    "pytest_make_collect_report",
    "tables_folder",
    "twelfths_but_for",
    "twelfths_in_quick",
]
