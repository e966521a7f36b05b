"""Read a pattern for the planner."""

from __future__ import annotations

from typing import Any

from tokpar.errors import OptionError
from tokpar.patterns.pattern_parser import PatternReader, RefusedProofError, require_kept

Tree = list[Any]
"""["set", symbols], ["look", symbols], ["row", trees], ["choice", trees] or
["repeat", tree, low, high or None, mode]. The symbol `size` is the end of the text."""


class UnsupportedPatternError(ValueError):
    """The decision procedure does not support this pattern."""


def read_pattern(pattern: str, engine: str) -> PatternReader:
    """Parse the pattern as `engine` ("fancy-regex", "oniguruma", "regex") reads it.

    Raises UnsupportedPatternError."""
    try:
        return PatternReader(pattern, engine)
    except RefusedProofError as error:
        raise UnsupportedPatternError(str(error)) from None


def refuse_rewritten(tree: Tree) -> None:
    """Raise UnsupportedPatternError for a tree that fancy-regex 0.19 (tiktoken 0.14) may rewrite to
    a different pattern."""
    try:
        require_kept(tree)
    except RefusedProofError as error:
        raise UnsupportedPatternError(str(error)) from None


def require_unchanged(pattern: str) -> None:
    """Raise OptionError for a pattern that tiktoken may rewrite.

    Another engine may then give other ids than tiktoken. Accepts every pattern that the parser
    does not support."""
    try:
        reader = read_pattern(pattern, "fancy-regex")
    except UnsupportedPatternError:
        return
    numbers = {source: [k] for k, source in enumerate(reader.sources)}
    try:
        refuse_rewritten(reader.tree(numbers.__getitem__, len(numbers)))
    except UnsupportedPatternError as error:
        raise OptionError(f"pat_str {pattern!r}: {error}; load it with engine='tiktoken'") from None
