"""Byte-level tokenizer.json files of all shapes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tokpar.formats.vocabulary import byte_alphabet, letters_of

Config = dict[str, Any]
LETTERS = [*byte_alphabet()]
HIDDEN = letters_of(bytes([0xF1]))
"""The byte that StarCoder lacks: characters from U+40000 to U+7FFFF begin with it."""
BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
PUNCTUATION = {"type": "Punctuation", "behavior": "Contiguous"}
DIGITS = {"type": "Digits", "individual_digits": False}
WORDS = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"


def split(pattern: str, behavior: str = "Isolated", invert: bool = False) -> Config:
    wanted = {"Regex": pattern}
    return {"type": "Split", "pattern": wanted, "behavior": behavior, "invert": invert}


def byte_level(use_regex: bool = True, space: bool = False) -> Config:
    return BYTE_LEVEL | {"use_regex": use_regex, "add_prefix_space": space}


def config_of(
    vocab: list[str], merges: list[list[str]], stages: list[Config], **more: Any
) -> Config:
    """A file; `more`: settings of its model, and its "normalizer"."""
    normalizer = more.pop("normalizer", None)
    model = {"type": "BPE", "unk_token": None, "fuse_unk": False, "byte_fallback": False, **more}
    model |= {"vocab": {token: i for i, token in enumerate(vocab)}, "merges": merges}
    return {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": stages},
        "post_processor": None,
        "decoder": byte_level(),
        "model": model,
    }


STAGES = st.sampled_from(
    [
        PUNCTUATION,
        {"type": "Punctuation", "behavior": "MergedWithNext"},
        DIGITS,
        {"type": "Digits", "individual_digits": True},
        split("[0-9][0-9][0-9]"),
        split("Ġ", "MergedWithNext"),
        split("[^Ġ]+", "Removed", True),
        {"type": "CharDelimiterSplit", "delimiter": "Ġ"},
        {"type": "FixedLength", "length": 3},
        byte_level(use_regex=False, space=True),
    ]
)
BEFORE = st.sampled_from([split(WORDS, "Removed", True), split(BLOOM), DIGITS, PUNCTUATION])


@st.composite
def configs(draw: st.DrawFn) -> Config:
    """Letters that are no tokens inside words or at their ends, any stages around ByteLevel."""
    suffix = draw(st.sampled_from(("", "", "</w>", "b")))
    some = st.sets(st.sampled_from([HIDDEN, *"abĠÃ©1"]), max_size=3)
    gone, gone_at_end = draw(st.just(set()) | some), draw(st.just(set()) | some)
    inner = [letter for letter in LETTERS if letter not in gone]
    ends = [letter + suffix for letter in LETTERS if letter not in gone_at_end] if suffix else []
    vocab = dict.fromkeys(["<unk>", *inner, *ends])
    inner = [token for token in inner if token in "abĠÃ©1Ģ²"]
    ends = [token for token in ends if token[0] in "abĠÃ©1Ģ²"]
    merges: dict[tuple[str, str], None] = {}
    for _ in range(draw(st.integers(0, 8))):
        left, right = draw(st.sampled_from(inner)), draw(st.sampled_from([*inner, *ends]))
        merges[left, right] = None
        vocab[left + right] = None
        (ends if right in ends else inner).append(left + right)
    stages = [*draw(st.lists(BEFORE, max_size=1)), byte_level(draw(st.booleans()))]
    return config_of(
        [*vocab],
        [[*pair] for pair in merges],
        [*stages, *draw(st.lists(STAGES, max_size=2))],
        end_of_word_suffix=suffix or None,
        unk_token=draw(st.sampled_from((None, None, "<unk>", "Ģ"))),
        fuse_unk=draw(st.booleans()),
        ignore_merges=draw(st.sampled_from((False, False, True))),
    )


def loaded(config: Config, engine: str) -> Any:
    with file_of(config) as path:
        return tokpar.load(path, engine=engine)


@contextmanager
def file_of(config: Config) -> Iterator[str]:
    with TemporaryDirectory() as directory:
        path = Path(directory, "drawn.json")
        path.write_text(json.dumps(config), encoding="utf-8")
        yield str(path)


BELOW_ONE = find_spec("tokenizers.models") is not None


def native_ids(config: Config, text: str) -> list[int] | None:
    """None for files that 1.x refuses, or of which it may make other ids than 0.23: marked ends."""
    if not BELOW_ONE and config["model"].get("end_of_word_suffix"):
        return None
    with file_of(config) as path:
        try:
            native = Tokenizer.from_file(path)
            return [*native.encode(text, add_special_tokens=False).ids]
        except ValueError:
            if BELOW_ONE:
                raise
            return None


def lacking(*gone: str, merges: tuple[str, ...] = ()) -> Config:
    """Bytes without some, and merges "a b"."""
    pairs = [pair.split(" ") for pair in merges]
    kept = [letter for letter in LETTERS if letter not in gone]
    vocab = dict.fromkeys([*kept, *("".join(pair) for pair in pairs)])
    return config_of([*vocab], pairs, [byte_level(use_regex=False)])


NEIGHBOURS = lacking(HIDDEN, merges=("a Ģ",))
"""A byte that is dropped stands between those that merge."""
