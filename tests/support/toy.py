"""An honest byte-level BPE with every ability there is, to plant mistakes in: each step is a method
that a mutant can override, and the others call it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import pairwise, repeat
from typing import Any

import numpy as np
import regex
from tokenizers import Tokenizer
from tokpar_pure.added_tokens import AddedTokens

from tests.support.tokenizers_drawn import (
    PATTERNS,
    Added,
    ByteLevelSpec,
    Extras,
    build,
    byte_characters,
)
from tokpar.arrays import IdArray, SpanArray, has_surrogate, offsets_of, spans_from_lengths
from tokpar.contract.adapter import EngineTraits
from tokpar.errors import OptionError
from tokpar.process.cached_property import cached_property
from tokpar.results.spans import postprocess_single
from tokpar.types import AddedToken, Facts, Piece, Rows

GPT2 = PATTERNS["gpt2"][0]
PLAIN = (Added("<s>"), Added("zq", single_word=True), Added("a<s", normalized=True))
NEVER = (sys.maxsize, 0)
STRIPPING = (Added("<mask>", lstrip=True), Added("<e>", rstrip=True), Added("<s>"))


@cache
def twin(added: tuple[Added, ...]) -> Tokenizer:
    """The tokenizer of the `tokenizers` package with the same vocabulary."""
    spec = ByteLevelSpec("gpt2", seed=7, merges=60, extras=Extras(added=added))
    tokenizer: Tokenizer = build(spec)
    return tokenizer


class Twin:
    """That tokenizer's ids and nothing else."""

    name = "twin"

    def __init__(self, added: tuple[Added, ...]) -> None:
        self.tokenizer = twin(added)

    def encode(self, text: str) -> IdArray:
        return np.array(self.tokenizer.encode(text).ids, dtype=np.uint32)


class Toy:
    """Byte-level BPE behind GPT-2's pattern; 0 is put before every text, and 1 pads batches."""

    name = "toy"

    def __init__(self, added: tuple[Added, ...] = PLAIN) -> None:
        self.flags = added
        config = json.loads(twin(added).to_str())
        byte_of = {character: byte for byte, character in enumerate(byte_characters())}
        vocab = config["model"]["vocab"]
        self.tokens = {bytes(byte_of[c] for c in token): id_ for token, id_ in vocab.items()}
        pairs = [tuple(vocab[part] for part in pair) for pair in config["model"]["merges"]]
        spelled = {id_: token for token, id_ in self.tokens.items()}
        self.merges = {
            pair: (rank, self.tokens[spelled[pair[0]] + spelled[pair[1]]])
            for rank, pair in enumerate(pairs)
        }
        names = ("content", "id", "lstrip", "rstrip", "single_word", "normalized", "special")
        self.added = tuple(
            AddedToken(**{name: token[name] for name in names}) for token in config["added_tokens"]
        )
        self.finder = AddedTokens(self.added)
        self.memo: dict[str, list[int]] = {}
        self.spelled = spelled | {token.id: token.content.encode() for token in self.added}

    @cached_property
    def facts(self) -> Facts:
        tiles = not any(token.lstrip or token.rstrip for token in self.added)
        return Facts(
            engine="regex",
            model="BPE",
            scheme="regex",
            patterns=(GPT2,),
            added_tokens=self.added,
            byte_level=True,
            tiles=tiles,
            longest_token=max(map(len, self.spelled.values())),
            tokens=lambda: frozenset(self.tokens),
        )

    @property
    def traits(self) -> EngineTraits:
        return EngineTraits(check_text=self.check_text)

    def told(self, **others: Any) -> Facts:
        """The true facts but for these."""
        return replace(Toy.facts.func(self), **others)  # type: ignore[attr-defined]

    def pieces(self, text: str) -> list[str]:
        return regex.findall(GPT2, text)

    def best(self, ids: list[int]) -> int | None:
        """The place of the pair that is merged next."""
        found = [*map(self.merges.get, pairwise(ids), repeat(NEVER))]
        first = min(found, default=NEVER)
        return None if first is NEVER else found.index(first)

    def _pairs(self, ids: list[int]) -> list[tuple[int, tuple[int, int]]]:
        return [(i, (ids[i], ids[i + 1])) for i in range(len(ids) - 1)]

    def merged(self, piece: str) -> list[int]:
        if piece not in self.memo:
            self.memo[piece] = self.merged_anew(piece)
        return self.memo[piece]

    def merged_anew(self, piece: str) -> list[int]:
        ids = [self.tokens[bytes([byte])] for byte in piece.encode()]
        while (i := self.best(ids)) is not None:
            ids[i : i + 2] = [self.merges[ids[i], ids[i + 1]][1]]
        return ids

    def id_list(self, text: str) -> list[int]:
        ids: list[int] = []
        for segment in self.finder.segments(text):
            if isinstance(segment, int):
                ids.append(segment)
            else:
                ids += (id_ for piece in self.pieces(segment) for id_ in self.merged(piece))
        return ids

    def encode(self, text: str) -> IdArray:
        return np.array(self.id_list(text), dtype=np.uint32)

    def encode_many(self, texts: Sequence[str], spans: bool) -> Rows:
        found = [self.encode(text) for text in texts]
        return Rows.of_pieces(
            [
                Piece(ids, self.locate(ids, text) if spans else None)
                for ids, text in zip(found, texts, strict=True)
            ]
        )

    def encode_whole(self, text: str) -> IdArray:
        self.check_text(text)
        return postprocess_single(self, self.encode(text), text)

    special_tokens: Any = None
    truncates_to = None
    pads = True

    def postprocess(self, rows: Rows, texts: Sequence[str]) -> Rows:
        longest = int(np.diff(rows.offsets).max(initial=0)) + 1
        final = np.ones((len(rows), longest), dtype=np.uint32)
        for k, row in enumerate(final):
            row[0] = 0
            row[1 : 1 + len(rows[k])] = rows[k]
        return Rows(final.ravel(), offsets_of([longest] * len(rows)))

    def check_text(self, text: str) -> None:
        if has_surrogate(text):
            raise OptionError("the text has a lone surrogate")

    def locate(self, ids: IdArray, text: str) -> SpanArray:
        lengths = np.array([len(self.spelled[id_]) for id_ in ids.tolist()], dtype=np.int64)
        if any(token.lstrip or token.rstrip for token in self.added):
            assert self.finder.raw is not None
            taken = [
                len(text[start:stop].encode())
                for start, stop, id_ in self.finder.raw(text)
                if id_ is not None
            ]
            lengths[np.isin(ids, [token.id for token in self.added])] = taken
        if lengths.sum() != len(text.encode()):
            raise LookupError("these are not the ids of this text")
        return spans_from_lengths(lengths)

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self.spelled[int(id_)] for id_ in ids).decode("utf-8", "replace")


class Portable(Toy):
    """One that can be built again in another process."""

    def spec(self) -> tuple[Callable[..., Toy], dict[str, Any]]:
        return type(self), {"added": self.flags}
