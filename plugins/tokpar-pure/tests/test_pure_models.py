"""The models in Python against HF, tiktoken and naive definitions, on drawn tables."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st
from tokpar_pure.bpe import RankBPE
from tokpar_pure.merging import (
    SCAN_ATOMS,
)
from tokpar_pure.model import EncodesAll, read_model

from tests.conftest import below_one, needs_below_one
from tests.support.plain_bpe import merge_by_scanning, rank_rule
from tokpar.errors import EngineError
from tokpar.formats.vocabulary import byte_alphabet, letters_of

ALPHABET = byte_alphabet()
BYTES = {bytes([byte]): byte for byte in range(256)}
BYTE_LEVEL = {
    "type": "ByteLevel",
    "add_prefix_space": False,
    "trim_offsets": False,
    "use_regex": False,
}
Config = dict[str, Any]

short = st.text("abé", max_size=12) | st.text("abxé中😀", max_size=30)
long = st.text("ab", min_size=SCAN_ATOMS - 20, max_size=SCAN_ATOMS + 60)
pieces = st.one_of(short, short, short, long)
words = st.text("abé", min_size=1, max_size=3)


def native_of(config: Config, byte_level: bool = False) -> Any:
    """HF's model, given whole texts."""
    pre_tokenizer = BYTE_LEVEL if byte_level else None
    data = {"version": "1.0", "model": config, "pre_tokenizer": pre_tokenizer, "added_tokens": []}
    return below_one().Tokenizer.from_str(json.dumps(data))


def ids_or_error(call: Any) -> list[int] | None:
    """None where the engine refuses because its unknown token is no token."""
    try:
        return list(call())
    except EngineError:
        return None
    except Exception as error:
        if "unk" not in str(error).lower():
            raise
        return None


def check(config: Config, piece: str, byte_level: bool = False) -> EncodesAll:
    native, ours = native_of(config, byte_level), read_model(config, byte_level)
    theirs = ids_or_error(lambda: native.encode(piece).ids)
    assert ids_or_error(lambda: ours.encode(piece)) == theirs
    if theirs is not None:
        spans = ours.spans(piece)
        assert [span[0] for span in spans] == theirs
        assert all(0 <= start < stop <= len(piece) for _, start, stop in spans)
        if sure_offsets(config, piece, byte_level):
            assert [span[1:] for span in spans] == native.encode(piece).offsets
    return ours


def sure_offsets(config: Config, piece: str, byte_level: bool) -> bool:
    """False where HF's offsets, sums of lengths, may be wrong; see `PairBPE`."""
    if config["type"] != "BPE":
        return True
    if byte_level:
        before = ("", config["continuing_subword_prefix"] or "")
        behind = ("", config["end_of_word_suffix"] or "")
        atoms = itertools.product(before, letters_of(piece.encode()), behind)
        return all("".join(atom) in config["vocab"] for atom in atoms)
    known = all(character in config["vocab"] for character in piece)
    dressed = config["continuing_subword_prefix"] or config["end_of_word_suffix"]
    return (known and not dressed) or (
        config["unk_token"] is not None and not config["byte_fallback"]
    )


# ------------------------------------------------------------------------------- pairs


@st.composite
def pair_models(draw: st.DrawFn, byte_level: bool = False, proper: bool = False) -> Config:
    """Any model of HF's BPE. Proper: each merge joins what earlier ones make."""
    prefix = draw(st.sampled_from(("", "", "##", "é")))
    suffix = draw(st.sampled_from(("", "", "</w>", "b")))
    letters = list(draw(st.sampled_from(("abé", "ab", "a"))))
    if byte_level:
        gone = draw(st.sampled_from(("", "", "", "Ã", "a¸")))
        letters = [char for char in ALPHABET if char not in gone]
    dressed = {p + c + s for c in letters for p in ("", prefix) for s in ("", suffix)}
    vocab, merges = dict.fromkeys(sorted(dressed)), []
    base = [t for t in vocab if set(t) <= set("abé#</w>Ã©")]
    for _ in range(draw(st.integers(0, 8))):
        left = draw(st.sampled_from(base) if proper else st.sampled_from(base) | words)
        right = draw(st.sampled_from(base) if proper else st.sampled_from(base) | words)
        if not right.startswith(prefix):
            right = prefix + right
            if proper and right not in vocab:
                continue
        merges.append([left, right])
        made = left + right[len(prefix) :]
        vocab |= dict.fromkeys((left, right, made))
        base.append(made)
    unknown = draw(st.sampled_from((None, "<unk>", "a", "<none>")))
    fallback = draw(st.sampled_from(((), (), range(256), (0xC3, 0xA9, 0x78, 0x23))))
    extra = [*(f"<0x{byte:02X}>" for byte in fallback), *(["<unk>"] if unknown == "<unk>" else [])]
    ids = {token: i for i, token in enumerate([*extra, *vocab])}
    return {
        "type": "BPE",
        "vocab": ids,
        "merges": merges,
        "unk_token": unknown,
        "continuing_subword_prefix": prefix or None,
        "end_of_word_suffix": suffix or None,
        "byte_fallback": draw(st.booleans()),
        "fuse_unk": draw(st.booleans()),
        "ignore_merges": draw(st.sampled_from((False, False, True))),
        "dropout": draw(st.sampled_from((None, 0.0))),
    }


def plain(vocab: list[str], merges: list[list[str]], **settings: Any) -> Config:
    """A model without switches."""
    return {
        "type": "BPE",
        "vocab": {token: i for i, token in enumerate(vocab)},
        "merges": merges,
        "unk_token": None,
        "continuing_subword_prefix": None,
        "end_of_word_suffix": None,
        "byte_fallback": False,
        **settings,
    }


FALLBACK = plain(["<unk>", "a", "<0xC3>", "<0xA9>"], [], unk_token="<unk>", byte_fallback=True)


@needs_below_one
@pytest.mark.ids
@given(pair_models(), pieces)
@example(plain(["a", "b", "ab"], [["a", "b"]]), "axb")
@example(FALLBACK, "中éa中中éé中")
@example(FALLBACK | {"fuse_unk": True}, "中中éx中a")
def test_characters_by_pairs_give_the_ids_of_hf(config: Config, piece: str) -> None:
    check(config, piece)


@needs_below_one
@given(pair_models(proper=True), pieces)
def test_proper_tables_of_characters_give_the_ids_of_hf(config: Config, piece: str) -> None:
    check(config, piece)


@needs_below_one
@pytest.mark.ids
@given(pair_models(byte_level=True), pieces | st.text(max_size=8))
@example(plain([*ALPHABET], []), "é中")
def test_bytes_by_pairs_give_the_ids_of_hf(config: Config, piece: str) -> None:
    check(config, piece, byte_level=True)


# ------------------------------------------------------------------------------- ranks

rank_lists = st.lists(st.text("abé", min_size=2, max_size=5), unique=True, max_size=12)


def rank_table(tokens: list[str]) -> dict[bytes, int]:
    return BYTES | {t.encode(): 256 + i for i, t in enumerate(tokens)}


@pytest.mark.ids
@given(rank_lists, pieces)
@example(["abc"], "abc")
@example(["aa", "aaa"], "a" * 700)
def test_ranks_give_the_ids_of_tiktoken(tokens: list[str], piece: str) -> None:
    ranks = rank_table(tokens)
    native = tiktoken.Encoding("r", pat_str=r"[\s\S]+", mergeable_ranks=ranks, special_tokens={})
    ours = RankBPE(ranks)
    assert list(ours.encode(piece)) == native.encode_ordinary(piece)
    assert [span[0] for span in ours.spans(piece)] == native.encode_ordinary(piece)
    if piece not in tokens:
        assert list(ours.encode(piece)) == merge_by_scanning([*piece.encode()], rank_rule(ranks))


# ------------------------------------------------------------------------------- WordPiece

wordpieces = st.builds(
    lambda tokens, prefix, limit, unknown: {
        "type": "WordPiece",
        "vocab": {token: i for i, token in enumerate(tokens)},
        "unk_token": unknown,
        "continuing_subword_prefix": prefix,
        "max_input_chars_per_word": limit,
    },
    st.lists(
        st.text("abé#", min_size=1, max_size=5) | st.text("abé", max_size=3).map("##".__add__),
        unique=True,
        max_size=25,
    ).map(lambda tokens: list(dict.fromkeys(["[UNK]", "a", "##a", "##b", *tokens]))),
    st.sampled_from(("##", "##", "#", "", "é")),
    st.sampled_from((100, 100, 5, 1, 0)),
    st.sampled_from(("[UNK]", "[UNK]", "a", "[none]")),
)


@needs_below_one
@pytest.mark.ids
@given(wordpieces, st.text("abé#", max_size=14) | st.text("ab", min_size=95, max_size=105))
@example(
    {
        "type": "WordPiece",
        "vocab": {"[UNK]": 0, "ab": 1, "a": 2, "##bc": 3},
        "unk_token": "[UNK]",
        "continuing_subword_prefix": "##",
        "max_input_chars_per_word": 100,
    },
    "abc",
)
def test_wordpiece_gives_the_ids_of_hf(config: Config, word: str) -> None:
    check(config, word)


@needs_below_one
@given(st.lists(words, unique=True), words | st.just(""), st.sampled_from(("a", "<unk>")))
def test_wordlevel_gives_the_ids_of_hf(tokens: list[str], word: str, unknown: str) -> None:
    vocab = {token: i for i, token in enumerate(tokens)}
    check({"type": "WordLevel", "vocab": vocab, "unk_token": unknown}, word)


def test_bytes_that_utf8_does_not_have_may_be_missing() -> None:
    """As in the file of GPT-NeoX."""
    never = {0xC0, 0xC1, *range(0xF5, 0x100)}
    shown = [char for char in ALPHABET if ALPHABET[char] not in never]
    model = read_model(plain(shown, []), True)
    for char in ("a", "\u07ff", "\uffff", "\U0010ffff"):
        assert len(model.encode(char)) == len(char.encode())
