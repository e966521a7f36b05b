"""Theorem 51: the ids of a segment are those of its pre-tokens, and what it needs for that."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, normalizers, pre_tokenizers

from tests.support.merges_drawn import DrawnBPE, plain_bpe
from tests.support.pretoken_edges import own_edges
from tests.support.texts import texts
from tests.support.tokenizers_drawn import PATTERNS, build, byte_level_specs

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

LLAMA = PATTERNS["llama3"]


def tokenizer_of(drawn: DrawnBPE, patterns: Sequence[str]) -> Any:
    tokenizer = Tokenizer.from_str(json.dumps({"model": drawn.config}))
    row = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    last = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*row, last])
    return tokenizer


def ids_of_pieces(drawn: DrawnBPE, patterns: Sequence[str], text: str) -> list[int]:
    """M(x1) ... M(xk), x1 ... xk what the row of Splits makes of the text."""
    edges = own_edges(patterns, text)
    pieces = [text[a:b] for a, b in pairwise(edges)]
    return [id_ for piece in pieces for id_ in drawn.tokenize(piece.encode()).tolist()]


PLAIN = byte_level_specs(families=("llama3", "qwen2", "o200k", "deepseek"), plain=True)


@given(spec=PLAIN, text=texts(max_size=80))
def test_theorem_51_the_ids_of_a_segment_are_those_of_its_pre_tokens(spec: Any, text: str) -> None:
    tokenizer = build(spec)
    held = any(t.content in text for t in tokenizer.get_added_tokens_decoder().values())
    if held or any("\ud800" <= char <= "\udfff" for char in text):
        return
    model = json.loads(tokenizer.model.__getstate__())
    merges = [tuple(pair) for pair in model["merges"]]
    drawn = DrawnBPE(model["vocab"], merges, model["ignore_merges"])
    bare = Tokenizer.from_str(tokenizer.to_str())
    bare.no_truncation()
    bare.no_padding()
    own = bare.encode(text, add_special_tokens=False).ids
    assert own == ids_of_pieces(drawn, PATTERNS[spec.family], text)


# ------------------------------------------------------------------------------- each hypothesis


FOX = plain_bpe([("o", "x"), ("f", "ox"), ("Ġ", "fox"), ("Ġfox", "e"), ("Ġfoxe", "s")])
THE = plain_bpe([("t", "h"), ("th", "e"), ("Ġ", "the"), ("T", "H")])


def added_token() -> bool:
    """ " foxes" is one match of the pattern, but "ox" is taken out before."""
    tokenizer = tokenizer_of(FOX, LLAMA)
    tokenizer.add_tokens(["ox"])
    ids: list[int] = tokenizer.encode(" foxes").ids
    return ids == ids_of_pieces(FOX, LLAMA, " foxes")


def normalizer() -> bool:
    tokenizer = tokenizer_of(THE, LLAMA)
    tokenizer.normalizer = normalizers.Lowercase()
    ids: list[int] = tokenizer.encode(" THE").ids
    assert ids == ids_of_pieces(THE, LLAMA, " the")
    return ids == ids_of_pieces(THE, LLAMA, " THE")


def prefix() -> bool:
    """T("the") is M(" the"), not M("the")."""
    tokenizer = tokenizer_of(THE, LLAMA)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    ids: list[int] = tokenizer.encode("the").ids
    assert ids == THE.tokenize(b" the").tolist()
    return ids == ids_of_pieces(THE, LLAMA, "the")


DIGITS = plain_bpe([("1", "1"), ("11", "1"), ("5", "11")])


def model_s_input() -> bool:
    """ " §5111" is " §", "511", "1"; the map from pieces to ids is not asked for the segment."""
    tokenizer = tokenizer_of(DIGITS, LLAMA)
    text = " §5111"
    ids: list[int] = tokenizer.encode(text).ids
    assert ids == ids_of_pieces(DIGITS, LLAMA, text)
    whole: list[int] = DIGITS.tokenize(text.encode()).tolist()
    return ids == whole


ROW = (r"\d", r"a1b|bb|[ab1]")
BB = plain_bpe([("b", "b")])


def stage_by_stage() -> bool:
    """The second Split sees "a", "1", "bb"; in the whole text it matches "a1b" and "b"."""
    tokenizer = tokenizer_of(BB, ROW)
    text = "a1bb"
    ids: list[int] = tokenizer.encode(text).ids
    assert ids == ids_of_pieces(BB, ROW, text)
    edges = sorted({edge for pattern in ROW for edge in own_edges([pattern], text)})
    united = [text[a:b] for a, b in pairwise(edges)]
    return ids == [id_ for piece in united for id_ in BB.tokenize(piece.encode()).tolist()]


CUT = (r"[a-z]{1,2}|\s?.{2}[a-z]{1,2}|[\s\S]", r"[a1]{1,2}|[\s\S]")


def from_start_to_end() -> bool:
    """Clean cuts of a row, taken at once: a|A|1a|a|A, and the parts have a, A, 1, a, ..."""
    text = "aA1aaA"
    whole = own_edges(CUT, text)
    parts = {
        at + edge for at, part in ((0, "aA"), (2, "1a"), (4, "aA")) for edge in own_edges(CUT, part)
    }
    return sorted(parts) == whole


NEEDED: dict[str, Callable[[], bool]] = {
    "no added token": added_token,
    "the normalized text": normalizer,
    "no prefix": prefix,
    "keyed by the model's input": model_s_input,
    "stage by stage": stage_by_stage,
    "from the start to the end": from_start_to_end,
}


@pytest.mark.parametrize(
    "case",
    [
        "no added token",
        "the normalized text",
        "no prefix",
        "keyed by the model's input",
        "stage by stage",
        "from the start to the end",
    ],
)
def test_theorem_51_needs_each_condition(case: str) -> None:
    assert not NEEDED[case]()


@given(text=st.text("theox s", max_size=12))
def test_without_what_the_cases_add_the_pieces_have_the_ids(text: str) -> None:
    for drawn in (FOX, THE):
        own = tokenizer_of(drawn, LLAMA).encode(text).ids
        assert own == ids_of_pieces(drawn, LLAMA, text)
