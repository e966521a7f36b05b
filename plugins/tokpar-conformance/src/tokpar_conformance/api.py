"""What `tokpar_conformance` gives the authors of plugins."""

from __future__ import annotations

from tokpar_conformance.adapter import check_tokenizer
from tokpar_conformance.checks import ConformanceError, Watch
from tokpar_conformance.differing import describe_ids, show_text, simplest
from tokpar_conformance.executor import check_executor
from tokpar_conformance.fixed_texts import added_contents, all_words, hostile_texts, texts_for
from tokpar_conformance.merger import check_merger
from tokpar_conformance.splitter import check_splitter
from tokpar_conformance.strategy import check_strategy

__all__ = [
    "ConformanceError",
    "Watch",
    "added_contents",
    "all_words",
    "check_executor",
    "check_merger",
    "check_splitter",
    "check_strategy",
    "check_tokenizer",
    "describe_ids",
    "hostile_texts",
    "show_text",
    "simplest",
    "texts_for",
]
