"""Bugs that were found once, each as the smallest input that showed it."""

from __future__ import annotations

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from tests.seams import assert_lossless, part, refused, wrong_in_fact


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
def test_only_every_third_place_of_a_run_of_digits_is_certified(name: str) -> None:
    """The search steps by threes on its own; this asks each place, as a caller of certify may."""
    text = "a 1234567 b"
    certified = [p for p in range(3, 9) if not refused(part(name), text, p)]
    assert certified == [5, 8]
    assert wrong_in_fact(part(name), text, 4)
