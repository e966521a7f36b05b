"""docs/tokenizers.md is what the command makes of docs/tokenizers.json; the command measures."""

from __future__ import annotations

import json
import re

from tests.conftest import below_one

below_one()

from tests.benchmarks import tokenizers  # noqa: E402
from tests.benchmarks.tokenizers_page import page  # noqa: E402

RESULTS = json.loads(tokenizers.RESULTS.read_text(encoding="utf-8"))
ROWS = RESULTS["rows"]


def test_the_page_is_made_of_the_results() -> None:
    assert tokenizers.PAGE.read_text(encoding="utf-8") == page(RESULTS)


def test_there_are_enough_rows_and_each_is_whole() -> None:
    published = [name for name, row in ROWS.items() if row["origin"].startswith("published")]
    assert len(ROWS) >= 30
    assert len(published) >= 12
    for name, row in ROWS.items():
        assert set(row["cuts"]) == {"English", "Chinese", "code", "of"}, name
        assert row["ids"]["texts"] > RESULTS["texts"]["hostile"] > 100
        assert len(row["ids"]["strategies"]) >= 6
        assert row["ids"]["differ"] == []


def test_the_page_names_each_row_and_each_refusal() -> None:
    text = tokenizers.PAGE.read_text(encoding="utf-8")
    for name, row in ROWS.items():
        assert len(re.findall(rf"^\| {re.escape(name)} \|", text, re.MULTILINE)) == 2
        for language in ("English", "Chinese", "code"):
            assert row["cuts"][language]["why"] in text


# ------------------------------------------------------------------------------- the command
