"""Drawn byte-level BPE vocabularies, odd ones too: as files have them, as the engine has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st
from tokenizers import Tokenizer

from tests.support.draws import BOOLEANS, between, bytes_of
from tests.support.kernel_twins import twin_kernel
from tests.support.tokenizers_drawn import byte_characters
from tokpar.adapters.hf_source import id_array
from tokpar.arrays import IdArray
from tokpar.compiled.merges import Merges, merges_of
from tokpar.process.cached_property import cached_property

LETTERS = byte_characters()
Pair = tuple[str, str]


def letters_of(piece: bytes) -> str:
    return "".join(LETTERS[byte] for byte in piece)


@dataclass(frozen=True)
class DrawnBPE:
    """A model as a `tokenizer.json` has it. `legacy`: its merges are written "a b"."""

    vocab: Mapping[str, int] = field(repr=False)
    merges: Sequence[Pair]
    ignore_merges: bool = False
    legacy: bool = False
    more: tuple[tuple[str, Any], ...] = ()

    @property
    def config(self) -> dict[str, Any]:
        merges = [" ".join(m) if self.legacy else list(m) for m in self.merges]
        settings = {"ignore_merges": self.ignore_merges, **dict(self.more)}
        return {"type": "BPE", **settings, "vocab": dict(self.vocab), "merges": merges}

    @property
    def state(self) -> bytes:
        return json.dumps(self.config).encode()

    @cached_property
    def engine(self) -> Any:
        return Tokenizer.from_str(json.dumps({"model": self.config})).model

    def tokenize(self, piece: bytes) -> IdArray:
        """The ids of the engine's model for one piece."""
        found = self.engine.tokenize(letters_of(piece))
        return id_array([token.id for token in found])

    def by_kernel(self, name: str) -> Merges:
        """As the twin of the kernel reads the file."""
        return merges_of(self.state, len(self.vocab), twin_kernel(name))


def plain_bpe(
    merges: Sequence[Pair] = (),
    more: Mapping[str, int] | None = None,
    without: str = "",
    **settings: Any,
) -> DrawnBPE:
    """All bytes but `without`, their ids in order, then what the merges make, then `more`."""
    tokens = [letter for letter in LETTERS if letter not in without]
    tokens += [left + right for left, right in merges]
    vocab = {token: k for k, token in enumerate(dict.fromkeys(tokens))}
    ignore, legacy = (settings.pop(name, False) for name in ("ignore_merges", "legacy"))
    return DrawnBPE({**vocab, **(more or {})}, merges, ignore, legacy, tuple(settings.items()))


OUTSIDE = ("", "中", "<s>", "a b", "中a", "\x00", "🙂")
"""Tokens that are not written in the byte alphabet."""


@st.composite
def vocabularies(draw: st.DrawFn, most_id: int = (1 << 31) - 1) -> DrawnBPE:
    """Merges of tokens that earlier merges made, or that none makes; some that make a token again,
    some repeated, some of tokens outside the alphabet; ids in any order, with holes."""
    atoms = draw(st.sampled_from(["ab", "abc", "ab" + letters_of("é ".encode())]))
    loose = draw(st.lists(st.text(atoms, min_size=2, max_size=6), max_size=4))
    tokens = [*atoms, *loose]
    outside = list(OUTSIDE[: draw(between(0, len(OUTSIDE)))])
    merges: list[Pair] = []
    for step in draw(bytes_of(draw(between(0, 16)))):
        if merges and step % 8 == 7:
            merges.append(merges[step // 8 % len(merges)])
            continue
        left, right = divmod(step * 7 % len(tokens) ** 2, len(tokens))
        pair = tokens[left], tokens[right]
        if len("".join(pair)) <= 12:
            merges.append(pair)
            tokens.append("".join(pair))
    if "中a" in outside:
        merges.insert(len(merges) // 2, ("中", "a"))
    merges = draw(st.permutations(merges)) if draw(BOOLEANS) else merges
    every = list(dict.fromkeys([*LETTERS, *tokens, *outside]))
    gap = draw(st.sampled_from([1, 3, most_id // 400]))
    numbers = draw(st.randoms(use_true_random=False)).sample(range(len(every)), len(every))
    vocab = {token: gap * number for token, number in zip(every, numbers, strict=True)}
    return DrawnBPE(vocab, merges, draw(BOOLEANS), draw(BOOLEANS))
