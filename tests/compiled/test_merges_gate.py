"""The gate of theorem 52: which vocabularies are refused, and that each condition has a vocabulary
outside of it for which greedy merging has other ids than the engine."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from tokenizers import Tokenizer, models

import tokpar
from tests.conftest import needs_kernel
from tests.support.kernel_twins import TWINS, twin_kernel
from tests.support.merges_drawn import LETTERS, DrawnBPE, letters_of, plain_bpe
from tests.support.plain_bpe import merge_by_scanning
from tests.support.shared_ids import LONG, sharing, tokenizer_of
from tokpar.compiled.merges import NO_BYTE, GateError, merges_of, ranks_of
from tokpar.process import kernel_modules

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

BYTES = plain_bpe()
AB = [("a", "b")]
NO_TOKEN = -1


def greedy(drawn: DrawnBPE, piece: bytes) -> list[int]:
    """Greedy merging: the merges of the file by ids, nothing else of the file."""
    ranks = {
        (drawn.vocab[left], drawn.vocab[right]): (rank, drawn.vocab[left + right])
        for rank, (left, right) in enumerate(drawn.merges)
        if left + right in drawn.vocab
    }
    ids = [drawn.vocab.get(letter, NO_TOKEN) for letter in letters_of(piece)]
    merged = merge_by_scanning(ids, lambda *pair: ranks.get(pair))
    return [id_ for id_ in merged if id_ != NO_TOKEN]


SHARED = DrawnBPE(
    {**BYTES.vocab, "ca": 300, "cacca": 301, "cca": 302, "cc": 303, "ccac": 303},
    [("c", "a"), ("c", "ca"), ("c", "c"), ("cca", "c"), ("cc", "a"), ("ca", "cca")],
)
MISSING = plain_bpe(AB, without="x")
REFUSED: dict[str, tuple[DrawnBPE, str, bytes]] = {
    "two tokens of one id": (SHARED, "two of its tokens have one id", b"ccacc"),
    "dropout": (plain_bpe(AB, dropout=1.0), "its BPE has dropout 1.0", b"ab"),
    "a prefix": (
        plain_bpe([("a", "##b")], {"##b": 400, "ab": 401}, continuing_subword_prefix="##"),
        "its BPE has continuing_subword_prefix '##'",
        b"ab",
    ),
    "a long prefix": (
        plain_bpe([], {"#" * 2000 + "b": 400}, continuing_subword_prefix="#" * 2000),
        "its BPE has continuing_subword_prefix '##",
        b"ab",
    ),
    "a suffix": (
        plain_bpe([("a", "b</w>")], {"b</w>": 400, "ab</w>": 401}, end_of_word_suffix="</w>"),
        "its BPE has end_of_word_suffix '</w>'",
        b"ab",
    ),
    "a merge that the engine passes over": (
        plain_bpe([("#version", "a")], {"#version": 400}, legacy=True),
        "a merge of what is no token, or one that looks like a comment",
        b"",
    ),
}


@TWINS
@pytest.mark.parametrize("case", REFUSED)
def test_what_lies_outside_the_gate_is_refused_with_its_reason(name: str, case: str) -> None:
    drawn, reason, _ = REFUSED[case]
    with pytest.raises(GateError, match=reason):
        drawn.by_kernel(name)


@pytest.mark.parametrize(
    "case",
    [
        "two tokens of one id",
        "dropout",
        "a prefix",
        "a long prefix",
        "a suffix",
    ],
)
def test_theorem_52_needs_each_condition(case: str) -> None:
    drawn, _, piece = REFUSED[case]
    assert drawn.tokenize(piece).tolist() != greedy(drawn, piece)
    plain = plain_bpe(AB)
    assert plain.tokenize(b"xaab").tolist() == greedy(plain, b"xaab") == [120, 97, 256]


def test_theorem_52_needs_each_byte_of_the_piece() -> None:
    """The engine leaves a byte out that is no token, and merges over the place."""
    assert MISSING.tokenize(b"axb").tolist() == [MISSING.vocab["ab"]] != greedy(MISSING, b"axb")
    assert MISSING.tokenize(b"cab").tolist() == greedy(MISSING, b"cab")


@TWINS
def test_a_byte_that_is_no_token_has_no_id(name: str) -> None:
    byte_ids = MISSING.by_kernel(name).byte_ids
    assert [byte for byte in range(256) if byte_ids[byte] == NO_BYTE] == [ord("x")]


def test_ranks_without_a_byte_of_utf8_are_refused() -> None:
    """There is nothing that encodes such a byte. The 13 other bytes are in no text."""
    in_utf8 = [byte for byte in range(0xF5) if byte not in (0xC0, 0xC1)]
    ranks = {bytes([byte]): rank for rank, byte in enumerate(in_utf8)}
    assert (ranks_of(ranks).byte_ids == NO_BYTE).sum() == 13
    del ranks[b"x"]
    with pytest.raises(GateError, match="no token for the byte 120"):
        ranks_of(ranks)


def test_theorem_52_needs_the_engine_s_own_reading_of_merges() -> None:
    """A merge that looks like a comment is none, if it is written "a b"; of equal ones the last
    counts."""
    passed_over = REFUSED["a merge that the engine passes over"][0]
    assert json.loads(passed_over.engine.__getstate__())["merges"] == []
    pairs = DrawnBPE(passed_over.vocab, passed_over.merges)
    assert json.loads(pairs.engine.__getstate__())["merges"] == [["#version", "a"]]
    again = plain_bpe([("a", "b"), ("b", "c"), ("a", "b")])
    a_bc = [again.vocab["a"], again.vocab["bc"]]
    assert again.tokenize(b"abc").tolist() == greedy(again, b"abc") == a_bc


@TWINS
def test_ids_that_tokens_share_are_refused_in_a_long_text(name: str) -> None:
    state = json.dumps(sharing()["model"]).encode()
    with pytest.raises(GateError, match="one id"):
        merges_of(state, 259, twin_kernel(name))
    tokenizer = tokenizer_of(sharing())
    encoder = tokpar.Encoder(tokenizer)
    for text in (LONG, "xyc abc xy " * 90):
        assert encoder.encode(text).ids.tolist() == tokenizer.encode(text).ids
        assert encoder.encode(text).ids.tolist() == tokenizer.encode(text).ids


# ------------------------------------------------------------------------------- files


def written(drawn: DrawnBPE = BYTES, **more: Any) -> str:
    return json.dumps({**drawn.config, **more})


BAD_FILES = {
    "a name twice": (written()[:-1] + ', "merges": []}', "its file has 'merges' twice"),
    "the vocabulary twice": ('{"vocab": {"a": 1}, ' + written()[1:], "'vocab' twice"),
    "a name twice, once escaped": (
        written()[:-1] + ', "\\u0069gnore_merges": true}',
        "its file has 'ignore_merges' twice",
    ),
    "a token twice": (
        written(plain_bpe(AB)).replace('"ab": 256', '"ab": 256, "ab": 257'),
        "it has a token twice",
    ),
    "no merges": ('{"vocab": {}}', "its model has no merges"),
    "no vocabulary": ('{"merges": []}', "its model has no vocab"),
    "another model": (written(type="WordPiece"), "its model is WordPiece, not BPE"),
    "an id that is no number": (written().replace('"!": 33', '"!": 33.0'), "not written as JSON"),
    "a merge of what is no token": (written(merges=[["a", "b"]]), "a merge of what is no token"),
    "a merge of three": (written(merges=[["a", "b", "c"]]), "a merge of what is no token"),
    "an id that is too great": (
        written(DrawnBPE({**BYTES.vocab, "ab": 1 << 31}, [])),
        "ids that are too great",
    ),
    "a very long token": (
        written(DrawnBPE({**BYTES.vocab, "a" * 32768: 300}, [])),
        "a token of more than 32,767 bytes",
    ),
    "cut off": (written()[:-200], "not written as JSON"),
    "empty": ("", "its model has no vocab"),
}


def size_of(text: str) -> int:
    """How many tokens a model has that reads this file as JSON is read."""
    try:
        return len(json.loads(text).get("vocab", ()))
    except ValueError:
        return 0


@TWINS
@pytest.mark.parametrize("case", BAD_FILES)
def test_a_file_that_is_read_in_two_ways_or_in_none_is_refused(name: str, case: str) -> None:
    text, reason = BAD_FILES[case]
    with pytest.raises(GateError, match=reason):
        merges_of(text.encode(), size_of(text), twin_kernel(name))


@needs_kernel
@pytest.mark.each_value
@pytest.mark.parametrize("ignore_merges", [True, False])
@pytest.mark.parametrize("merges", [[], [("a", "b")], [("a", "b"), ("x", "y"), ("ab", "c")]])
def test_a_token_that_the_engine_does_not_write_is_not_overlooked(
    merges: list[tuple[str, str]], ignore_merges: bool
) -> None:
    """Of two tokens of one id the object writes one: the other was a word of its letters, with
    other ids than the engine's."""
    shared = {"ab": 300, "xy": 300, "abc": 301}
    drawn = DrawnBPE({**BYTES.vocab, **shared}, merges, ignore_merges)
    tokenizer = tokenizer_of({**sharing(), "model": drawn.config})
    state = tokenizer.model.__getstate__()
    kept = json.loads(state)["vocab"]
    assert len(kept) == len(drawn.vocab) - 1
    with pytest.raises(GateError, match=r"one id|what is no token"):
        merges_of(state, tokenizer.get_vocab_size(with_added_tokens=False))
    text = "ab xy abc xyc axyb\n\nab\n\nxy\nxyc " * 400
    with tokpar.Encoder(tokenizer) as encoder:
        for _ in range(3):
            assert encoder.encode(text).ids.tolist() == tokenizer.encode(text).ids


@TWINS
def test_a_token_of_as_many_bytes_as_is_allowed_is_found(name: str) -> None:
    drawn = DrawnBPE({**BYTES.vocab, "a" * 32767: 300}, [], ignore_merges=True)
    merges = drawn.by_kernel(name)
    assert merges.tokens.lengths.max() == 32767


def test_what_the_file_has_twice_counts_once_for_the_engine() -> None:
    """Which one is not for the gate to know: it refuses such a file."""
    twice = written(plain_bpe(AB))[:-1] + ', "merges": []}'
    model = Tokenizer.from_str(f'{{"model": {twice}}}').model
    assert len(model.tokenize("ab")) == 2
    assert len(plain_bpe(AB).tokenize(b"ab")) == 1


@needs_kernel
def test_a_refused_tokenizer_is_encoded_by_its_engine() -> None:
    """A tokenizer inside the gate has a compiled call that reads its merges; outside of it, the
    call asks the engine for words."""
    draw = random.Random(5)
    text = " ".join("".join(draw.choices("abx", k=5)) for _ in range(2000))
    for drawn, inside in (
        (plain_bpe(AB), True),
        (plain_bpe(AB, without="z"), True),
        (DrawnBPE({**BYTES.vocab, "ab": 300, "ba": 300}, [("a", "b"), ("b", "a")]), False),
    ):
        tokenizer = tokenizer_of({**sharing(), "model": drawn.config})
        adapter: Any = tokpar.load(tokenizer)
        encoder = tokpar.Encoder(adapter)
        for _ in range(2):
            assert encoder.encode(text).ids.tolist() == tokenizer.encode(text).ids
        assert adapter.later_call.wait().asks_engine != inside


@needs_kernel
def test_a_changed_model_in_memory_is_read_and_not_the_file() -> None:
    tokenizer = tokenizer_of({**sharing(), "model": plain_bpe(AB).config})
    text = "ab abab ba " * 900
    assert tokpar.encode(text, tokenizer).ids.tolist() == tokenizer.encode(text).ids
    other = plain_bpe([("b", "a"), ("a", "b")])
    tokenizer.model = models.BPE(vocab=dict(other.vocab), merges=list(other.merges))
    for _ in range(2):
        assert tokpar.encode(text, tokenizer).ids.tolist() == tokenizer.encode(text).ids
    assert kernel_modules.MERGES is None or len(LETTERS) == 256
