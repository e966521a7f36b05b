"""Machines of pre-tokenizers, and the edges that engines find."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import assume
from tokenizers import Regex, pre_tokenizers

from tests.support.windows_brute import ask, asked
from tokpar.cache.machine_tables import Machine, build_machine
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.patterns.splits import SplitStage, machines_of

WHOLE = [SplitStage(r"[\s\S]+", "oniguruma")]


def machine_of(splits: Sequence[SplitStage], atoms: str | None = None) -> Machine:
    """Of all code points, or of those of a few atoms; no example if it cannot be decided."""
    try:
        given_ = () if atoms is None else (ask(atoms), asked(atoms))
        alphabet, stages = machines_of(splits, *given_)
    except UnsupportedPatternError:
        assume(False)
        raise
    return build_machine(alphabet.symbol_of, alphabet.size, stages)


def own_edges(patterns: Sequence[str], text: str) -> list[int]:
    row = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    found = pre_tokenizers.Sequence(row).pre_tokenize_str(text) if text else []
    return [0, *(stop for _, (_, stop) in found)]
