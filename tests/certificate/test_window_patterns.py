"""The one parser of patterns, and the second one of tests/support: both read the same way."""

from __future__ import annotations

import pytest

from tokpar.regexes.pattern_parser import PatternReader, RefusedProofError

DOUBLE = ("(?i:ss)", "(?i:s)(?i:t)", "(?i:s)+", "(?i:f+i)", "(?i:(?:s|a)t)", "(?i:fl|x)", "(?i)s+t")


@pytest.mark.parametrize("pattern", DOUBLE)
def test_folds_to_one_character_are_refused(pattern: str) -> None:
    with pytest.raises(RefusedProofError, match="fold to one"):
        PatternReader(pattern, "oniguruma")
