"""Draws tokenizers with added tokens that normalizers change, and that were added again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, normalizers

from tests.decoding.decoders_drawn import specs

NORMALIZERS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "Lowercase": normalizers.Lowercase,
    "BertNormalizer": normalizers.BertNormalizer,
    "NFKC": normalizers.NFKC,
    "NFD": normalizers.NFD,
    "StripAccents": lambda: normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents()]),
    "Prepend": lambda: normalizers.Prepend("▁"),
    "Replace": lambda: normalizers.Replace(" ", "▁"),
    "Strip": normalizers.Strip,
}
CONTENTS = (
    *("NewWord", "newword", "Ab", "ab", "a", "A", "É", "é", "ﬁ", "fi", " <x> ", "<S>", "<s>", "▁A"),
    *("##A", "##a", "A</w>", "<pad>", "<PAD>", "|", "中", "  ", "<0x41>", "Ġ", "'S", "N'T", "."),
)
"""Contents that normalizers change, into one another and into tokens in which decoders find
something to do."""


def add(own: Tokenizer, token: AddedToken) -> None:
    """Add by the verb that makes a token special, or not."""
    (own.add_special_tokens if token.special else own.add_tokens)([token])


@st.composite
def tokenizers(draw: Callable[..., Any]) -> Tokenizer:
    """Any decoder, and added tokens. Some are added again with other flags."""
    spec = draw(specs())
    own = spec.build()
    own.normalizer = NORMALIZERS[draw(st.sampled_from(sorted(NORMALIZERS)))]()
    few = st.sampled_from(draw(st.lists(st.sampled_from(CONTENTS), min_size=1, max_size=4)))
    for _ in range(draw(st.integers(1, 5))):
        flags = {name: draw(st.booleans()) for name in ("special", "normalized", "single_word")}
        add(own, AddedToken(draw(few), **flags))
    return own
