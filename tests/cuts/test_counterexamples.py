"""Strings that refute the shortcuts of the literature, on parts of the real vocabularies.

Each says three things: the naive cut or merge is wrong in fact, the planner refuses it, and the
text is encoded losslessly all the same. See the pages in proofs/.
"""

from __future__ import annotations

import pytest

from tests.support.seams import assert_lossless, part, refused, serial, wrong_in_fact

pytestmark = pytest.mark.ids

TIKTOKEN = ["cl100k_part", "o200k_part"]
# (text, cut): a delimiter stands at the cut, and cutting there is wrong: 20-universal-cut.md.
WRONG_AT_DELIMITERS = [
    ("google.com", 7),
    ("end.\n\nNext", 4),
    ("a \n b", 2),
    ("f(x)", 2),
    ("a the", 2),
    ("..", 1),
]


@pytest.mark.each_value
@pytest.mark.parametrize("name", TIKTOKEN)
@pytest.mark.parametrize(("text", "p"), WRONG_AT_DELIMITERS)
def test_a_delimiter_is_no_token_boundary(name: str, text: str, p: int) -> None:
    tokenizer = part(name)
    assert wrong_in_fact(tokenizer, text, p)
    assert refused(tokenizer, text, p)
    assert_lossless(tokenizer, text)


@pytest.mark.parametrize(("text", "p"), [("I'm", 1), ("don't", 3)])
def test_a_contraction_is_part_of_an_o200k_word(text: str, p: int) -> None:
    tokenizer = part("o200k_part")
    assert wrong_in_fact(tokenizer, text, p)
    assert refused(tokenizer, text, p)
    assert_lossless(tokenizer, text)


def test_the_midpoint_filter_loses_a_byte_of_400_ones() -> None:
    """Overlap of l_max = 128 on both sides, left keeps what starts before the middle."""
    tokenizer, text, middle, overlap = part("cl100k_part"), "1" * 400, 201, 128
    left = serial(tokenizer, text[: middle + overlap])
    right = serial(tokenizer, text[middle - overlap :])
    kept, position = [], 0
    for token in left:
        if position < middle:
            kept.append(token)
        position += len(tokenizer.decode_single_token_bytes(token))
    position = middle - overlap
    for token in right:
        if position >= middle:
            kept.append(token)
        position += len(tokenizer.decode_single_token_bytes(token))
    assert tokenizer.decode(kept) == "1" * 399
    assert_lossless(tokenizer, text)


@pytest.mark.parametrize(
    ("text", "left", "right"), [("1" * 40, 25, 13), ("-" * 200, 150, 50), ("ha " * 60, 100, 80)]
)
def test_a_common_run_of_ids_is_no_proof(text: str, left: int, right: int) -> None:
    """Joining at the longest common run of ids gives another text."""
    tokenizer = part("cl100k_part")
    a, b = serial(tokenizer, text[:left]), serial(tokenizer, text[right:])
    _, i, j = max((_common(a[i:], b[j:]), -i, -j) for i in range(len(a)) for j in range(len(b)))
    assert tokenizer.decode(a[:-i] + b[-j:]) != text
    assert_lossless(tokenizer, text)


def _common(a: list[int], b: list[int]) -> int:
    length = 0
    while length < min(len(a), len(b)) and a[length] == b[length]:
        length += 1
    return length


@pytest.mark.parametrize(
    ("name", "text", "stop", "start"),
    [
        ("cl100k_part", "３" * 600 + "１０" + "３" * 4, 400, 100),
        ("o200k_part", "７" * 600 + "२०" + "७" * 4, 400, 100),
        ("o200k_part", "a" + "中" * 600 + "亚洲AVx", 603, 100),
    ],
)
def test_agreement_over_a_long_span_is_no_proof_across_pre_tokens(
    name: str, text: str, stop: int, start: int
) -> None:
    """Both chunks are lossless on their own and share hundreds of tokens; THE text is encoded
    right only because nothing here is joined by agreement."""
    tokenizer = part(name)
    left, right = serial(tokenizer, text[:stop]), serial(tokenizer, text[start:])
    whole = serial(tokenizer, text)
    assert right != whole[-len(right) :] or left != whole[: len(left)]
    assert_lossless(tokenizer, text)


@pytest.mark.parametrize("word", ["unbelievable" * 10, "the" * 50, "abcd" * 30])
def test_bert_words_over_the_limit_are_one_unknown_token(word: str) -> None:
    tokenizer = part("bert_part")
    unknown = tokenizer.token_to_id("[UNK]")
    assert serial(tokenizer, word) == [unknown]
    assert wrong_in_fact(tokenizer, word, 60)
    assert refused(tokenizer, word, 60)
    assert_lossless(tokenizer, word)


@pytest.mark.parametrize("separator", ["\x0b", "\x0c", "\x85", "\u200b", "\u00ad", "\0", "\ufffd"])
def test_what_bert_deletes_does_not_separate(separator: str) -> None:
    tokenizer, text = part("bert_part"), f"foo{separator}bar"
    assert refused(tokenizer, text, 3)
    assert refused(tokenizer, text, 4)
    assert_lossless(tokenizer, text)


@pytest.mark.parametrize(
    ("name", "text", "p"), [("cl100k_part", "a\n \nb", 2), ("o200k_part", "亚洲AVx", 2)]
)
def test_a_common_boundary_without_right_stability_is_no_boundary(
    name: str, text: str, p: int
) -> None:
    tokenizer = part(name)
    assert wrong_in_fact(tokenizer, text, p)
    assert refused(tokenizer, text, p)
    assert_lossless(tokenizer, text)


def test_one_common_token_boundary_is_not_enough() -> None:
    """Tekken's " contin": both chunks have a boundary at 5, the whole has none."""
    tokenizer, text = part("tekken_part"), " contin"
    left = [tokenizer.decode([i]) for i in serial(tokenizer, " conti")]
    right = [tokenizer.decode([i]) for i in serial(tokenizer, "ntin")]
    assert (left, right) == ([" cont", "i"], ["nt", "in"])
    assert [tokenizer.decode([i]) for i in serial(tokenizer, text)] == [" contin"]
    assert_lossless(tokenizer, text)


def test_code_point_offsets_do_not_tell_byte_tokens_apart() -> None:
    tokenizer, text = part("deepseek_part"), "글 🫠中"
    offsets = tokenizer.encode(text, add_special_tokens=False).offsets
    assert len(set(offsets)) < len(offsets)
    assert_lossless(tokenizer, text)
