"""Drawn tokenizers, ids and seams for which both checkers answer: tokpar's and Coq's."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from tokenizers import AddedToken, Regex, Tokenizer, pre_tokenizers

import tokpar
from tests.recipes.coq_tables import decided_tables
from tests.support.certified import oniguruma_patterns
from tests.support.coq_worlds import (
    KNOWN,
    LETTERS,
    AddedTokens,
    Facts,
    Model,
    drawn_bytes,
    drawn_tokens,
    ids_or_panic,
    listed,
)
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.patterns.known_pattern import PairTable, shipped_pattern
from tokpar.process.cached_property import cached_property
from tokpar.types import Rule, Seam


@dataclass(frozen=True)
class CheckedWorld:
    """A byte-level BPE tokenizer with the patterns of a known family, and added tokens."""

    family: str
    model: Model
    tokens: AddedTokens

    @cached_property
    def adapter(self) -> TokenizerAdapter:
        return tokpar.load(self.tokens.engine)

    @property
    def may_hide_tokens(self) -> bool:
        """True if a special token that the engine skips may overlap another token: tokpar certifies
        no cut there, and Coq looks at the text."""
        return self.adapter.facts.added_token_cuts_refused is not None

    @cached_property
    def table(self) -> PairTable:
        found = shipped_pattern("oniguruma", oniguruma_patterns(self.family))
        assert found is not None
        return found.table

    @cached_property
    def symbols(self) -> dict[str, int]:
        """The symbols of the characters that are the same in every version of Unicode."""
        symbols = {char: int(self.table.symbol_of[ord(char)]) for char in KNOWN}
        return {char: symbol for char, symbol in symbols.items() if symbol < self.table.size}

    def engine_ids(self, text: str) -> list[int]:
        return ids_or_panic(self.tokens.engine)(text)

    def texts(self, rng: random.Random, count: int) -> list[str]:
        chars = [char for char in LETTERS if char in self.symbols]
        parts = [*chars, *self.model.texts, *self.tokens.contents * 4]
        return ["".join(rng.choices(parts, k=rng.randint(1, 9))) for _ in range(count)]

    def coq(self) -> str:
        """The facts of EndToEnd.v."""
        table = table_of(self.family)
        splits = f"map Pattern (snd (fst {table}))"
        raw, _ = self.tokens.facts
        tokenizer = Facts(self.model.coq, splits=splits, symbols=self.symbols, raw_tokens=raw)
        return (
            f"{{| tokenizer_of := {tokenizer.coq()}; size := fst (fst {table}); "
            f"pairs := snd {table} |}}"
        )


def table_of(family: str) -> str:
    """The name of the table in Tables.v that this test uses."""
    patterns = [*oniguruma_patterns(family)]
    source = {"engine": "oniguruma", "patterns": patterns}
    (number,) = (
        n for name, n, entry in decided_tables() if name == family and source in entry["sources"]
    )
    return f"{family}_{number}"


def drawn_world(rng: random.Random, family: str, bare: bool) -> CheckedWorld:
    """`bare`: without added tokens."""
    model = drawn_bytes(rng)
    engine = engine_of(model, family)
    return CheckedWorld(
        family, model, drawn_tokens(rng, engine, most=0 if bare else 3, normalized=0, flagged=0.1)
    )


def world_with_markup(rng: random.Random, family: str) -> CheckedWorld:
    """A drawn model and one added token, "<s>"."""
    model = drawn_bytes(rng)
    engine, token = engine_of(model, family), AddedToken("<s>", normalized=False)
    engine.add_tokens([token])
    return CheckedWorld(family, model, AddedTokens(engine, [token]))


def engine_of(model: Model, family: str) -> Tokenizer:
    engine = Tokenizer(model.engine)
    engine.pre_tokenizer = pre_tokenizers.Sequence(
        [
            *(pre_tokenizers.Split(Regex(p), "isolated") for p in oniguruma_patterns(family)),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    return engine


def drawn_ids(rng: random.Random, right: list[int], world: CheckedWorld) -> list[int]:
    """The ids of a text, or forged ones: two swapped, one dropped, split or other."""
    row, k = [*right], rng.randrange(len(right) or 1)
    match rng.randrange(9):
        case 0:
            letters = world.tokens.engine.id_to_token(row[k]) or "" if row else ""
            row[k : k + 1] = [world.tokens.engine.token_to_id(c) or 0 for c in letters]
        case 1:
            row[k : k + 2] = row[k : k + 2][::-1]
        case 2:
            del row[k:]
        case 3:
            row.insert(rng.choice([k, len(row)]), rng.randrange(260))
    return row


def pair_rule(world: CheckedWorld) -> tuple[Rule, str, Any]:
    """What a seam between two characters says."""
    theorem = "40" if len(oniguruma_patterns(world.family)) == 1 else "42"
    return Rule.PAIR, theorem, (("pattern", world.family),)


def edge_rule(content: str, edge: str) -> tuple[Rule, str, Any]:
    """What a seam at an edge of an added token says."""
    return Rule.EDGE, "29", (("token", content), ("edge", edge))


def drawn_seams(rng: random.Random, world: CheckedWorld, text: str) -> list[Seam]:
    """Seams at some places: of a pair of characters that holds, of an edge of a token, or, rarely,
    of any two characters."""
    seams = dict[int, tuple[Rule, str, Any]]()
    for p in range(1, len(text)):
        certain = world.table.is_sure(text[p - 1], text[p])
        if (certain and rng.random() < 0.6) or rng.random() < 0.03:
            seams[p] = pair_rule(world)
        for content in world.tokens.contents:
            for edge, start in (("start", p), ("end", p - len(content))):
                if start >= 0 and text.startswith(content, start) and rng.random() < 0.3:
                    seams[p] = edge_rule(content, edge)
    return [Seam(p, *seam, len(world.engine_ids(text[:p]))) for p, seam in sorted(seams.items())]


def certificate_of(seams: Sequence[Seam]) -> str:
    """The certificate of EndToEnd.v."""
    places = [0, *(seam.position for seam in seams)]
    return listed(
        f"({b - a}%nat, {'Between' if seam.rule == Rule.PAIR else 'Edge'})"
        for seam, (a, b) in zip(seams, pairwise(places), strict=True)
    )
