"""`Encoder.fit`: what is kept has the ids that are said, and at most the budget."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, models

import tokpar
from tests.chunks.brute_force import BruteForce, called, own_tokenizer
from tests.chunks.promises import check_kept
from tests.conftest import drawn
from tests.support.drawn_runs import NAMES, adapter_of, any_tokenizer, drawn_text, named
from tests.support.fakes import WordHash
from tokpar.arrays import IdArray, IntArray
from tokpar.chunks.budget import KeptTexts
from tokpar.chunks.encoded_text import EncodedText
from tokpar.errors import OptionError
from tokpar.results.adding_up import Part

pytestmark = pytest.mark.ids

KEEPS = st.sampled_from(("ends", "first", "last"))


@given(
    data=st.data(),
    tokenizer=any_tokenizer(),
    most=st.integers(1, 60),
    keep=KEEPS,
    as_messages=st.booleans(),
    times=st.sampled_from((1, 1, 20)),
)
def test_what_is_kept_is_what_it_says(
    data: st.DataObject, tokenizer: Any, most: int, keep: Any, as_messages: bool, times: int
) -> None:
    count = data.draw(st.integers(0, 4))
    texts = [drawn_text(data, tokenizer, 60) * times for _ in range(count)]
    if isinstance(tokenizer, Tokenizer):  # its own call may panic: not such texts
        called(tokenizer, "".join(texts), False)
    check_kept(adapter_of(tokenizer), texts, most, keep, as_messages)


@pytest.mark.parametrize("name", NAMES)
def test_lines_for_each_budget(name: str) -> None:
    """Ends whose characters would make one token side by side: "e" before "\n", and "T" behind."""
    texts = ["One line.\nTwo ", "lines, x\n\ny", " and some words. " * 3, "one\ntwo three\nfour"]
    certified = 0
    for most in range(1, 40, 3):
        for keep in ("ends", "first", "last"):
            for as_messages in (False, True):
                kept = check_kept(adapter_of(named(name)), texts, most, keep, as_messages)
                certified += kept.is_certified and 0 < kept.count < kept.whole_count
    assert certified > 10 or name == "metaspace_unigram"


def test_what_fits_whole_is_counted_and_not_located(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, texts = tokpar.Encoder(), ["One two.", " Three", " four five."]
    located: list[str] = []
    own = EncodedText.load
    monkeypatch.setattr(EncodedText, "load", lambda self: (located.append(self.text), own(self))[1])
    kept = encoder.fit(texts, 100)
    assert (kept.count, located) == (encoder.count("".join(texts)), [])
    copy = pickle.loads(pickle.dumps(kept))
    assert located
    assert copy == kept
    assert copy.counts == kept.counts
    assert sum(kept.counts) == kept.count


def test_texts_that_just_fit_are_kept_whole_and_certified() -> None:
    """Also where no cut is known beside which an end could be kept."""
    adapter = adapter_of(named("cl100k_part"))
    for texts in (["一二三四五六七八九十"], ["一二三", "四五六 x"], [""], ["one two", "", "three"]):
        whole = len(adapter.encode("".join(texts)))
        for keep in ("ends", "first", "last"):
            for spare in (0, 1):
                kept = check_kept(adapter, texts, whole + spare or 1, keep, False)
                assert (kept.texts, kept.is_certified) == (tuple(texts), True)
            if whole:
                assert check_kept(adapter, texts, whole - 1 or 1, keep, False).count < whole


@pytest.mark.parametrize("name", ["cl100k_part", "deepseek_part"])
@settings(max_examples=drawn(40))
@given(data=st.data(), most=st.integers(1, 60))
def test_the_beginning_ends_at_the_last_cut_that_fits(
    name: str, data: st.DataObject, most: int
) -> None:
    text, adapter = drawn_text(data, named(name), 200), adapter_of(named(name))
    kept = check_kept(adapter, [text], most, "first", False)
    own = own_tokenizer(named(name))
    wanted = BruteForce(text, own, adapter).stop(0, most + own.special, "cut") if text else 0
    assert len(kept.texts[0]) == (wanted or 0)


def test_counts_of_parts_add_up_to_the_count_of_the_prompt() -> None:
    """A token over the end of a part counts where it begins; counts alone do not add up."""
    parts = ["The limit ", "holds", " for", " all."]
    kept = tokpar.fit(parts, 100)
    assert kept.count == kept.whole_count == tokpar.count("".join(parts))
    assert sum(map(tokpar.count, parts)) != kept.count
    assert (kept.texts, kept.is_certified) == (tuple(parts), True)


def test_a_text_without_cuts_ends_between_tokens() -> None:
    """Chinese without a sign, and a tokenizer that tells no facts."""
    text = "".join(map(chr, range(0x4E00, 0x4E00 + 500)))
    kept = check_kept(adapter_of(named("cl100k_part")), [text], 100, "ends", False)
    assert 90 < kept.count <= 100
    assert check_kept(WordHash(), ["one two three"], 2, "first", False).texts == ("",)


def test_arguments_that_cannot_be_used() -> None:
    wrong: list[tuple[str, Any, dict[str, Any]]] = [
        ("budget must be an int of at least 1, got 0", ["a"], {"budget": 0}),
        ("budget must be an int of at least 1, got 1.5", ["a"], {"budget": 1.5}),
        ("keep must be one of 'ends', 'first', 'last', got 'middle'", ["a"], {"keep": "middle"}),
        ("texts must be a list of str or of messages, got str", "a text", {}),
        ("texts must be a list of str or of messages, got dict", {"content": "a"}, {}),
        ("texts must be all str or all messages, got some of each", ["a", {"content": "a"}], {}),
        ("text 1 must be a str, got bytes", ["a", b"a"], {}),
        ('"content" of message 0 must be a str, got list', [{"content": [{"type": "text"}]}], {}),
        ('"content" of message 0 must be a str, got NoneType', [{"role": "user"}], {}),
        ("text has a lone surrogate at code point 1", ["a\ud800"], {}),
    ]
    for why, texts, more in wrong:
        with pytest.raises(OptionError, match=why):
            tokpar.fit(texts, **{"budget": 5, **more})
    assert tokpar.fit([], 1) == KeptTexts((), (), (), 0, 0, True)


def test_the_ends_share_the_budget_and_the_last_part_is_kept() -> None:
    """Words of one token each and nothing between them to lose: so the counts are exact."""
    encoder, text = tokpar.Encoder(), " the" * 400
    assert encoder.count(text) == 400
    for keep, first, last in (("first", 100, 0), ("last", 0, 100), ("ends", 50, 50)):
        for texts in ([text], [{"content": text}], [" the" * 30, text[120:]]):
            kept = encoder.fit(texts, 100, keep=keep)  # type: ignore[arg-type]
            assert (kept.count, kept.whole_count) == (100, 400)
            whole = "".join(kept.texts)
            assert whole == text[: 4 * first] + text[len(text) - 4 * last :]
    messages = [{"content": " the" * 90}, {"content": " the" * 30}]
    kept = encoder.fit(messages, 100, keep="last")
    assert [*kept.counts] == [70, 30]
    kept = encoder.fit(messages, 100, keep="first")
    assert [*kept.counts] == [90, 10]


def test_a_guess_that_keeps_too_much_is_mended_in_small_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tokens that cannot be located, and a part with short ones before a part with longer ones:
    as many ids as are too many stand in fewer characters than on average."""

    def unknown(
        self: EncodedText, part: Part, text: str, ids: IdArray
    ) -> tuple[IntArray, IntArray]:
        return np.full(len(ids), part.start), np.full(len(ids), part.stop)

    monkeypatch.setattr(EncodedText, "_locate", unknown)
    text = " information" * 50 + " a" * 200 + " the" * 100
    assert tokpar.count(text) == 350
    assert tokpar.fit([text], 200, keep="last").texts == (text[-600:],)


def test_a_budget_that_is_used_up_keeps_no_more_of_a_beginning() -> None:
    """ "a" and "b" side by side would be one id: the rest of the message has "b" alone."""
    vocab = {"a": 0, "b": 1, "c": 2, "ab": 3}
    own = Tokenizer(models.BPE(vocab, [("a", "b")]))
    messages = [{"role": "user", "content": "c"}, {"role": "user", "content": "acb"}]
    kept = tokpar.Encoder(own).fit(messages, 2)
    assert kept.texts == ("c", "b")
    assert kept.count == 2
