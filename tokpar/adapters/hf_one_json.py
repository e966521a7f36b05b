"""What follows from the JSON of a tokenizer of tokenizers 1.x, learned once for each object."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from tokpar.adapters.hf_facts import facts_from_json, token_lengths
from tokpar.adapters.hf_finish import around_of
from tokpar.adapters.token_lengths import TokenLengths
from tokpar.pure.format_two import as_format_one
from tokpar.types import Facts

MOST_KEPT = 4
"""Tokenizer objects that are kept with what is known of them; weak references to them cannot be
made."""
# a million spaces: 2 ms, and 200 ms to find places inside them; random letters: as long either way
_FAST = "tokenizers 1.x encodes a long pre-token sooner than places inside it are found"


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What follows from the JSON of a tokenizer. `around`: see `around_of`. `lengths`: bytes of
    each token where tokens tile the text."""

    digest: str
    facts: Facts
    around: tuple[tuple[int, ...], tuple[int, ...]] | str
    lengths: TokenLengths | None


@lru_cache(maxsize=MOST_KEPT)
def known(own: Any) -> Known:
    """What is known of this object, found again by its identity: nothing else makes two of them
    equal, and what is learned here cannot change."""
    config = config_of(own)
    facts = facts_of_config(config)
    return Known(
        hashlib.sha256(written(own).encode()).hexdigest(),
        facts,
        around_of(config["post_processor"]),
        token_lengths(config) if facts.tiles else None,
    )


def written(own: Any) -> str:
    """The tokenizer as JSON, format 2.0: the first thing that it gives to be pickled."""
    text: str = own.__reduce__()[1][0]
    return text


def config_of(own: Any) -> dict[str, Any]:
    """The same as a parsed file, in format 1.0."""
    return as_format_one(json.loads(written(own)))


def facts_of_config(config: Mapping[str, Any]) -> Facts:
    """What proofs may use, of a file in format 1.0.

    The regexes of the known families are scanned by code of the library's own, which it has for no
    other regex; that it cuts as Oniguruma does where the tables go is tested code point by code
    point (tests/test_adapter_hf_one.py).
    """
    facts = facts_from_json(config)
    return replace(
        facts,
        unprovable=facts.unprovable or _added_reason(facts),
        undivided=facts.undivided or _FAST,
        releases_gil=True,
    )


def _added_reason(facts: Facts) -> str | None:
    """Why it is not certain where added tokens are found; None if it is. In several ways 1.0.0rc3
    does not find flagged tokens as 0.23 does (docs/findings.md), and no proof follows it there."""
    for token in facts.added_tokens:
        if token.lstrip or token.rstrip or token.single_word:
            return f"nothing is proved about tokenizers 1.x and the flags of {token.content!r}"
        if token.normalized and (facts.normalizers or facts.scheme in ("metaspace", "dummy")):
            return (
                f"nothing is proved about tokenizers 1.x and {token.content!r}, which it looks for "
                "in normalized text"
            )
    return None
