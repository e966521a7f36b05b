"""Bugs that were found once, each as the smallest input that showed it."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import cases
from tests.support.seams import assert_lossless, finder, part, refused, wrong_in_fact
from tests.support.small_models import LLAMA3, byte_level
from tokpar.adapters.hf_copy import same_as
from tokpar.certificate.checker import seam_findings
from tokpar.contract.interfaces import facts_of
from tokpar.errors import EngineError

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def with_added(*tokens: AddedToken) -> Tokenizer:
    tokenizer = byte_level([("a", "b"), ("<", "a"), ("\u0120", "a"), ("b", ">")])
    tokenizer.add_tokens(list(tokens))
    return tokenizer


def normalized(form: normalizers.Normalizer) -> Tokenizer:
    tokenizer = byte_level([("e", "x")])
    tokenizer.normalizer = form
    return tokenizer


DIGITS = [("1", "2"), ("12", "3"), ("4", "5"), ("45", "6"), ("3", "4"), ("2", "3"), ("23", "4")]
NESTED = [AddedToken(each, normalized=False) for each in ("<a>", "<a><b>", "<b>", "a")]
WORD = "unbelievable" * 30
FLAGS = [{"lstrip"}, {"rstrip"}, {"single_word"}, {"lstrip", "rstrip", "single_word"}]
LOST_TOKENS: dict[str, tuple[list[Any], list[str]]] = {
    "newlines and digits": (
        ["cl100k_part", "o200k_part", "tekken_part", "deepseek_part", "default"],
        [
            *(" \n  \n", "a \n  \nb", ".\n/", "x.\n/y", "a.\n\n/b\n", "\r\n \r\n", "f(x)\n\n\n  y"),
            *("\t\n \n\t", "123456", "x 1234567 y", "12 345 6789", "3.14159265,271828"),
        ],
    ),
    "digits": ([byte_level(DIGITS, LLAMA3)], ["123456 1234562 x123456"]),
    "a token that holds others": (
        [with_added(*NESTED)],
        ["x<a><b>y", "<a><a><b><b>", "ab<a> <a><b> b", "<<a>><a", "a<a><"],
    ),
    "flags": (
        [with_added(AddedToken("<s>", **dict.fromkeys(flags, True))) for flags in FLAGS],
        ["x  <s>  y", "x<s>y", " <s> <s> ", "ab <s>\n  ab", "<s>  <s>b"],
    ),
    "words longer than BERT takes": (
        ["bert_part"],
        [f"a {WORD[:length]}, {WORD[:50]}" for length in (99, 100, 101, 102, 150, 201, 300)],
    ),
    "composition": (
        [normalized(form()) for form in (normalizers.NFC, normalizers.NFKC, normalizers.NFD)],
        ["e\u0301 e\u0301", "가\u11a8 x", "\u09c7\u09be \u09c7", "a\u0323\u0307b"],
    ),
}
"""Tokenizers, or parts of vocabularies, and texts on which fast paths of others lost tokens."""
ROWS = [(one, text) for ones, texts in LOST_TOKENS.values() for one in ones for text in texts]


@pytest.mark.parametrize(("tokenizer", "text"), cases(ROWS, ROWS[::2]))
def test_no_token_is_lost_at_a_place_where_others_lost_one(tokenizer: Any, text: str) -> None:
    own = part(tokenizer) if isinstance(tokenizer, str) else tokenizer
    assert_lossless(own, text, sizes=(1, 2, 3, 4, 40))


def spaced(normalizer: normalizers.Normalizer) -> Tokenizer:
    """GPT-2's pattern over every byte, and the pairs of spaces merged."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: i for i, token in enumerate([*alphabet, "ĠĠ"])}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "Ġ")]))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def test_a_space_after_a_deleted_accent_is_no_universal_cut() -> None:
    """What stands before the space is a mark, no white space; but the normalizer deletes it."""
    tokenizer, text = spaced(normalizers.StripAccents()), "a \u0301  b"
    assert wrong_in_fact(tokenizer, text, 3)
    assert refused(tokenizer, text, 3)
    assert_lossless(tokenizer, text)


@pytest.mark.parametrize("text", ["1<ae", "<a<a 1<a", "b1<aa'<a"])
def test_what_a_replacement_puts_in_may_compose_with_its_neighbour(text: str) -> None:
    stages = [normalizers.Replace("a", "\u0338"), normalizers.NFC()]
    assert_lossless(spaced(normalizers.Sequence(stages)), text)


@pytest.mark.parametrize("text", ["é a", "中文 b", "naïve café au lait", "e\u0301 x"])
def test_a_space_after_any_letter_is_a_cut_under_nfc(text: str) -> None:
    """The exception to the small alphabet; without it other scripts would stay serial."""
    tokenizer = spaced(normalizers.NFC())
    assert not refused(tokenizer, text, text.index(" "))
    assert_lossless(tokenizer, text)


@pytest.mark.parametrize("name", ["cl100k_part", "o200k_part", "deepseek_part"])
def test_no_place_of_a_run_of_digits_in_threes_is_certified(name: str) -> None:
    text = "a 1234567 b"
    assert [p for p in range(3, 9) if not refused(part(name), text, p)] == []
    assert wrong_in_fact(part(name), text, 4)


def tying() -> Tokenizer:
    """ "aaa" is divided two ways that score alike but for one unit in the last place."""
    scores = [("<unk>", -20.0), ("▁", -3.840655256070549), ("a", -5.375634857226844)]
    tokenizer = Tokenizer(models.Unigram([*scores, ("aa", -0.9653498226304249)], 0, False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(split=True)
    return tokenizer


def test_the_library_reads_scores_otherwise_than_it_wrote_them() -> None:
    """Without this the tests below would show nothing."""
    own = tying()
    assert Tokenizer.from_str(own.to_str()).encode("aaa").tokens == ["▁", "a", "aa"]
    assert own.encode("aaa").tokens == ["▁", "aa", "a"]


@pytest.mark.parametrize("executor", ["serial", "threads", "native", "memo", "processes"])
def test_no_executor_encodes_by_scores_that_were_written_and_read(executor: str) -> None:
    own, text = tying(), " aaa" * 20
    encoding = tokpar.encode(text, own, strategy="cut", chunk_chars=5, executor=executor, workers=2)
    assert encoding.report.chunks > 1
    assert encoding.ids.tolist() == own.encode(text).ids


@pytest.mark.parametrize("unknown", [0, None])
def test_a_unigram_model_in_another_process_is_the_same_to_the_last_digit(
    unknown: int | None,
) -> None:
    own = tying()
    own.model = models.Unigram(
        [tuple(row) for row in json.loads(own.to_str())["model"]["vocab"]], unknown, False
    )
    own.add_tokens(["<s>", "b"])
    assert same_as(own.to_str()).to_str() == own.to_str()
    wrong = json.loads(own.to_str())
    wrong["model"]["vocab"][2][1] = -5.37563485722684400001  # no float prints like this
    config = json.dumps(wrong).replace("-5.375634857226844", "-5.37563485722684400")
    with pytest.raises(EngineError, match="written and read"):
        same_as(config)


def test_an_adapter_is_not_pickled_by_way_of_such_a_file() -> None:
    for make in (pickle.dumps, copy.deepcopy, copy.copy):
        with pytest.raises(TypeError, match=r"huggingface:Unigram cannot be pickled: .* spec\(\)"):
            make(tokpar.load(tying()))  # type: ignore[operator]


def alike(most: int | None) -> Tokenizer:
    """ "a" and "A" are the same in the normalized text; cut behind `most` ids."""
    words = {"[UNK]": 0, "b": 1, "##b": 2}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))  # type: ignore[arg-type]
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_tokens([AddedToken("a", normalized=True), AddedToken("A", normalized=True)])
    if most is not None:
        tokenizer.enable_truncation(most)
    return tokenizer


@pytest.mark.parametrize("most", [None, 0, 1, 5])
def test_of_added_tokens_that_are_alike_the_object_s_own_is_taken(most: int | None) -> None:
    """Each object takes one of the two, as its hash map has it: a copy may take the other."""
    taken = set()
    for _ in range(20):
        own = alike(most)
        encoding = tokpar.encode("ab b a", own, strategy="cut", chunk_chars=1)
        assert encoding.ids.tolist() == own.encode("ab b a").ids
        assert "makes added tokens alike" in encoding.report.why
        taken.update(alike(None).encode("ab").ids)
    assert {3, 4} <= taken


def test_the_offsets_of_added_tokens_that_are_alike_say_why_they_are_unknown() -> None:
    """A copy that takes the other token cannot find the ids, one that takes the same token cannot
    post-process them."""
    said = set()
    for _ in range(20):
        encoding = tokpar.encode("ab b a", alike(None))
        for spans in ("char_spans", "spans"):
            with pytest.raises(LookupError, match="makes added tokens alike") as error:
                getattr(encoding, spans)
            said.add(str(error.value).partition(":")[0])
    assert len(said) == 2


@pytest.mark.each_value
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("most", [0, 1, 2, 3])
def test_added_tokens_are_compared_whatever_truncation_leaves(most: int, padded: bool) -> None:
    own = spaced(normalizers.Sequence([]))
    own.add_tokens([AddedToken("<s>", normalized=False)])
    own.enable_truncation(most)
    if padded:
        own.enable_padding(length=5)
    encoding = tokpar.encode("a b c d", own, strategy="cut", chunk_chars=1)
    assert encoding.ids.tolist() == own.encode("a b c d").ids
    assert encoding.report.chunks > 1


@pytest.mark.each_value
@pytest.mark.parametrize("direction", ["right", "left"])
@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, None])
def test_flags_of_a_token_that_was_added_again_are_noticed_in_what_truncation_leaves(
    most: int | None, direction: str
) -> None:
    own = spaced(normalizers.Sequence([]))
    own.add_tokens([AddedToken("<s>", normalized=False)])
    own.add_tokens([AddedToken("<s>", normalized=False, single_word=True)])
    if most is not None:
        own.enable_truncation(most, direction=direction)
    encoding = tokpar.encode("a<s>b <s> c", own, strategy="cut", chunk_chars=1)
    assert encoding.ids.tolist() == own.encode("a<s>b <s> c").ids


def test_a_line_end_that_the_normalizer_makes_a_space_gets_no_prefix() -> None:
    """The checker looked at the text as it is written, and refused what the planner had proved."""
    own = Tokenizer(models.WordLevel({"[UNK]": 0, "▁": 1, "▁a": 2}, unk_token="[UNK]"))
    own.normalizer = normalizers.BertNormalizer(lowercase=False)
    own.pre_tokenizer = pre_tokenizers.Metaspace()
    text = "a\r\na"
    assert not refused(own, text, 2)
    assert not wrong_in_fact(own, text, 2)
    facts = facts_of(tokpar.load(own))
    seam = finder(own).certify(text, 2)
    assert seam is not None
    assert not list(seam_findings([seam], text, facts))
    own.normalizer = normalizers.BertNormalizer(lowercase=False, clean_text=False)
    assert wrong_in_fact(own, text, 2)
    assert list(seam_findings([seam], text, facts_of(tokpar.load(own))))
