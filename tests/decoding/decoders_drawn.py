"""Draws tokenizers by their decoder: any row of stages of Hugging Face over tokens that disturb
each of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st
from tokenizers import Tokenizer

from tokpar.formats.vocabulary import letters_of

WORDS = (
    *("a", "b", "ab", "", " ", "  ", " a", "a ", "▁", "▁a", "a▁", "▁▁", "##", "##a", "##b", "###"),
    *("a</w>", "</w>", "a</w>b", "</w></w>", "<pad>", "|", "a|", "<pad>a", ".", "!", ",", " ."),
    *("'", "'s", " '", "n't", "do", " do", " not", "'m", "'ve", "not", "Ġ", "Ġa", "\ufffd", "中"),
    "?",
)
"""Tokens in which a decoder finds something to do."""
BYTES = tuple(f"<0x{byte:02X}>" for byte in b"A \xe4\xb8\xad\xc3\xa9\xf0\x9f\x98\x80\xff\xed\xa0")
NEARLY_BYTES = ("<0x", "<0x41", "41>", "<0x4", ">", "<0xGG>", "<0x+A>", "<0xé>")
_HALVES = (
    *(b"\xc3", b"\xa9", b"\xe4\xb8", b"\xad", b"\xff", b"\xf0", b"\xf0\x9f\x98", b"\x98\x80"),
    *(b"\xe0\x80", b"\xf4\x90", b"a\xe4"),
)
HALVES = tuple(map(letters_of, _HALVES))
"""Parts of é, 中 and 😀, and bytes that are no part of a character."""
TOKENS = tuple(dict.fromkeys((*WORDS, *BYTES, *NEARLY_BYTES, *HALVES)))
CONTENTS = ("<s>", "</s>", "<|end|>", " <x>", "Ab", "é", "[CLS]")
"""Of added tokens."""

_STRINGS = ("▁", "a", "ab", "aba", " ", "  ", "<pad>", ".", "\ufffd", "中")
_STAGES: tuple[st.SearchStrategy[dict[str, Any]], ...] = (
    st.just({"type": "ByteLevel"}),
    st.just({"type": "ByteFallback"}),
    st.just({"type": "Fuse"}),
    st.builds(
        lambda scheme: {"type": "Metaspace", "prepend_scheme": scheme},
        st.sampled_from(("always", "never", "first")),
    ),
    st.builds(
        lambda prefix, cleanup: {"type": "WordPiece", "prefix": prefix, "cleanup": cleanup},
        st.sampled_from(("##", "a", "")),
        st.booleans(),
    ),
    st.builds(
        lambda suffix: {"type": "BPEDecoder", "suffix": suffix},
        st.sampled_from(("</w>", "a", "ab")),
    ),
    st.builds(
        lambda pad, delimiter, cleanup: {
            "type": "CTC",
            "pad_token": pad,
            "word_delimiter_token": delimiter,
            "cleanup": cleanup,
        },
        st.sampled_from(("<pad>", "a")),
        st.sampled_from(("|", " ", "ab")),
        st.booleans(),
    ),
    st.builds(
        lambda char, start, stop: {"type": "Strip", "content": char, "start": start, "stop": stop},
        st.sampled_from((" ", "a")),
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    st.builds(
        lambda old, new: {"type": "Replace", "pattern": {"String": old}, "content": new},
        st.sampled_from(_STRINGS),
        st.sampled_from(("", " ", "a", "abab", "b")),
    ),
    st.builds(
        lambda pattern, new: {"type": "Replace", "pattern": {"Regex": pattern}, "content": new},
        st.sampled_from((r" +", r"[ab]", r"a$", r"^ ")),
        st.sampled_from(("", " ", "x")),
    ),
)
STAGES = st.one_of(_STAGES)
ROWS = st.lists(STAGES, max_size=4)
LLAMA = (
    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
    {"type": "ByteFallback"},
    {"type": "Fuse"},
    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
)
"""The decoder of Llama 2, Mistral and Gemma."""

_DEFAULTS: dict[str, dict[str, Any]] = {
    "ByteLevel": {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
    "Metaspace": {"replacement": "▁", "prepend_scheme": "always", "split": True},
    "WordPiece": {"prefix": "##", "cleanup": True},
    "BPEDecoder": {"suffix": "</w>"},
    "CTC": {"pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True},
}


@dataclass(frozen=True)
class DecoderSpec:
    """A tokenizer as its decoder sees it: tokens, added tokens (content, special), stages."""

    tokens: tuple[str, ...]
    added: tuple[tuple[str, bool], ...]
    stages: tuple[str, ...]

    @property
    def decoder(self) -> dict[str, Any] | None:
        stages = [json.loads(stage) for stage in self.stages]
        if len(stages) < 2:
            return stages[0] if stages else None
        return {"type": "Sequence", "decoders": stages}

    @property
    def config(self) -> dict[str, Any]:
        vocabulary = {token: id_ for id_, token in enumerate(self.tokens)}
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": len(self.tokens) + k, "content": content, "special": special, **flags}
                for k, (content, special) in enumerate(self.added)
            ],
            "normalizer": None,
            "pre_tokenizer": None,
            "post_processor": None,
            "decoder": self.decoder,
            "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": self.tokens[0]},
        }

    def build(self) -> Tokenizer:
        return Tokenizer.from_str(json.dumps(self.config))

    @property
    def id_count(self) -> int:
        """Two more than there are tokens, so that some ids are unknown."""
        return len(self.tokens) + len(self.added) + 2


def spec_of(
    stages: Sequence[dict[str, Any]],
    tokens: Sequence[str] = TOKENS,
    added: Sequence[tuple[str, bool]] = (),
) -> DecoderSpec:
    """The spec with these stages, which get the settings that they do not name."""
    full = [_DEFAULTS.get(stage["type"], {}) | stage for stage in stages]
    return DecoderSpec(tuple(tokens), tuple(added), tuple(map(json.dumps, full)))


ADDED = st.lists(
    st.tuples(st.sampled_from(CONTENTS), st.booleans()), max_size=3, unique_by=lambda pair: pair[0]
)


@st.composite
def specs(draw: Callable[..., Any], rows: st.SearchStrategy[Any] = ROWS) -> DecoderSpec:
    """A tokenizer of at least one token."""
    tokens = draw(st.lists(st.sampled_from(TOKENS), min_size=1, max_size=12, unique=True))
    return spec_of(draw(rows), tokens, draw(ADDED))


def ids_of(spec: DecoderSpec, most: int = 24) -> st.SearchStrategy[list[int]]:
    """Ids in any order, unknown ones among them; repeats are likely."""
    return st.lists(st.integers(0, spec.id_count - 1), max_size=most)


def divided(draw: Callable[..., Any], ids: Sequence[int]) -> list[list[int]]:
    """The ids in runs of any length, empty ones too."""
    if draw(st.booleans()):
        return [[id_] for id_ in ids]
    places = sorted(draw(st.lists(st.integers(0, len(ids)), max_size=6)))
    edges = [0, *places, len(ids)]
    return [list(ids[a:b]) for a, b in pairwise(edges)]
