"""Texts that begin as an earlier one: the ids up to a firm cut are kept, and all ids are those of
the tokenizer's own call."""

from __future__ import annotations

import copy
import random
import threading
from functools import cache
from typing import Any
from unittest import mock

import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import at_most, needs_kernel
from tests.support.model_files import SMALL, fresh
from tests.support.offsets_drawn import tokenizers
from tests.support.tokenizers_drawn import (
    contents,
    is_panic,
    named_tokenizers,
    plain_copy,
    texts_with,
)

pytest.importorskip("transformers", reason="transformers is missing")

from tokpar.cuts.firm_cuts import FirmCuts
from tokpar.integrations import grown_texts, hf_answers
from tokpar.integrations.grown_texts import GrownText, GrownTexts

pytestmark = [needs_kernel, pytest.mark.compiled_at_once]

TURN = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字 🫠! <s> it's <|im_end|>\n"
ENDS = (" the", "s", "'s it", "\n\n", "  x", "é", "字", " and a longer end of it", "<s> 12 34 56")
NAMES = ("default", "deepseek_part", "bert_part", "llama_style", "metaspace_unigram")


def grown(own: Tokenizer) -> GrownTexts | None:
    """What remembers the texts of a tokenizer that has a compiled call."""
    try:
        encoder = tokpar.Encoder(own)
    except BaseException as error:
        assume(not is_panic(error))
        raise
    encoder.prepare()
    front = encoder.front
    if front is None or front.call is None:
        return None
    return GrownTexts(encoder.tokenizer, front)


@cache
def grown_named(name: str) -> tuple[Tokenizer, GrownTexts]:
    own = plain_copy(named_tokenizers()[name])
    own.no_truncation()
    known = grown(own)
    if known is None:
        pytest.skip("objects of this release of tokenizers have no compiled call")
    return own, known


def next_texts(data: st.DataObject, pieces: st.SearchStrategy[str]) -> list[str]:
    """Texts, each of which begins as an earlier one does."""
    texts = [data.draw(pieces, label="first") * data.draw(st.integers(1, 4))]
    for _ in range(data.draw(st.integers(1, 4), label="turns")):
        old = data.draw(st.sampled_from(texts), label="begins as")
        same = data.draw(st.integers(3 * len(old) // 4, len(old)), label="same")
        texts.append(old[:same] + data.draw(pieces, label="more"))
    return texts


def check(own: Tokenizer, known: GrownTexts, text: str) -> None:
    found = known.find(text)
    if found is not None:
        expected = own.encode(text, add_special_tokens=False).ids
        assert found.ids.tolist() == expected
        assert found.as_list() == expected


@pytest.mark.ids
@given(own=tokenizers(), data=st.data())
def test_texts_of_any_tokenizer_that_grow_have_the_own_ids(
    own: Tokenizer, data: st.DataObject
) -> None:
    known, pieces = grown(own), texts_with(contents(own), 60)
    if known is None:
        reject()
    for text in next_texts(data, pieces):
        check(own, known, text)


@pytest.mark.ids
@at_most(10)
@given(name=st.sampled_from(NAMES), data=st.data())
def test_texts_of_real_vocabularies_that_grow_have_the_own_ids(
    name: str, data: st.DataObject
) -> None:
    own, known = grown_named(name)
    for text in next_texts(data, texts_with(contents(own), 200)):
        check(own, known, text)


@pytest.mark.ids
@pytest.mark.parametrize("name", NAMES)
def test_any_end_of_a_text_may_be_another(name: str) -> None:
    """The ends are words that merge with what stands before them, wherever they begin."""
    own, known = grown_named(name)
    base, rng = TURN * 9, random.Random(5)
    for same in range(len(base) - 2 * len(TURN), len(base)):
        known.find(base)
        check(own, known, base[:same] + rng.choice(ENDS))


def test_a_longer_text_is_encoded_from_its_last_cut_only(monkeypatch: pytest.MonkeyPatch) -> None:
    known = copy.copy(grown_named("deepseek_part")[1])
    known._known = ()
    base = TURN * 200
    known.find(base)
    encoded: list[str] = []
    front = known._front

    class Watched:
        def plain(self, text: str) -> Any:
            encoded.append(text)
            return front.plain(text)

    monkeypatch.setattr(known, "_front", Watched())
    known.find(base + "And a new turn.")
    assert max(map(len, encoded)) < 2 * len(TURN)
    assert [each.text for each in known._known] == [base + "And a new turn."]
    encoded.clear()
    known.find("another " + base)
    assert encoded == ["another " + base]


def test_what_is_remembered_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    known = GrownTexts(*(lambda each: (each._tokenizer, each._front))(grown_named("default")[1]))
    texts = [f"{k} is the number of this text. " * 50 for k in range(30)]
    for text in texts:
        known.find(text)
    assert [each.text for each in known._known] == texts[: -grown_texts.MOST_TEXTS - 1 : -1]
    monkeypatch.setattr(grown_texts, "MOST_CHARS", 4 * len(texts[-1]))
    known.find(texts[0])
    assert sum(len(each.text) for each in known._known) <= grown_texts.MOST_CHARS
    known.find("long " * grown_texts.MOST_CHARS)
    assert all(len(each.text) < grown_texts.MOST_CHARS for each in known._known)


def test_a_tokenizer_without_cuts_remembers_nothing() -> None:
    known = copy.copy(grown_named("default")[1])
    known._known, known._cuts = (), FirmCuts(known._firm_cuts.cuts, 1)
    with mock.patch.object(FirmCuts, "refusal", "no cut"):
        assert known.find(TURN * 9) is not None
        assert known._known == ()


@pytest.mark.ids
@pytest.mark.each_value
@pytest.mark.parametrize("arguments", [{}, {"return_tensors": "np"}, {"padding": "max_length"}])
@pytest.mark.parametrize("name", SMALL)
def test_a_chat_that_grows_has_the_own_ids(
    name: str, arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hf_answers, "SMALLEST_GROWN", 64)
    own, mine = fresh(name), tokpar.as_hf(fresh(name))
    for each in (own, mine):
        each.pad_token = each.pad_token or each.eos_token
    if "padding" in arguments:
        arguments = {**arguments, "max_length": 900, "truncation": False}
    chat = [{"role": "user", "content": TURN}]
    for k in range(6):
        for call in (_called, _encoded, _templated):
            expected, found = (call(each, chat, arguments) for each in (own, mine))
            assert found == expected
        chat += [{"role": ("assistant", "user")[k % 2], "content": f"{k} {TURN[k:]}"}]
    assert mine.tokpar_texts["engine"] == 0


def _text(tokenizer: Any, chat: Any) -> str:
    own: str = tokenizer.apply_chat_template(chat, tokenize=False, chat_template=CHAT)
    return own


CHAT = "{% for m in messages %}<s>{{ m.role }}\n{{ m.content }}\n{% endfor %}"


def _called(tokenizer: Any, chat: Any, arguments: dict[str, Any]) -> object:
    result = tokenizer(_text(tokenizer, chat), **arguments)
    own = result.encodings[0]
    columns = {name: repr(column) for name, column in result.items()}
    return columns, own.ids, own.tokens, own.offsets, own.attention_mask


def _encoded(tokenizer: Any, chat: Any, arguments: dict[str, Any]) -> object:
    return repr(tokenizer.encode(_text(tokenizer, chat), **arguments))


def _templated(tokenizer: Any, chat: Any, arguments: dict[str, Any]) -> object:
    del arguments
    return dict(tokenizer.apply_chat_template(chat, chat_template=CHAT, return_dict=True))


def test_a_caller_may_change_the_lists_that_it_got(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_answers, "SMALLEST_GROWN", 64)
    own, mine = fresh("qwen"), tokpar.as_hf(fresh("qwen"))
    for k in range(2, 6):
        text = TURN * k
        for call in (lambda each, t=text: each(t)["input_ids"], lambda e, t=text: e.encode(t)):
            assert call(mine) == call(own)
            call(mine)[3:] = [7]


def test_a_list_that_a_thread_took_is_made_again() -> None:
    own, known = grown_named("default")
    known.find(TURN * 9)
    found = known.find(TURN * 10)
    assert isinstance(found, GrownText)
    taken = found.take_list()
    taken[:] = [7]
    assert found.as_list() == own.encode(TURN * 10, add_special_tokens=False).ids


@pytest.mark.ids
def test_threads_that_continue_one_chat_have_the_own_ids() -> None:
    own, known = grown_named("deepseek_part")
    base, wrong = TURN * 60, list[str]()
    begun = threading.Barrier(4)

    def continued(name: int) -> None:
        begun.wait()
        text = base
        for k in range(40):
            text = (base if k % 5 == 0 else text) + f"{name} says {k}. "
            found = known.find(text)
            if found is None or found.as_list() != own.encode(text, add_special_tokens=False).ids:
                wrong.append(text[len(base) :])

    known.find(base)
    threads = [threading.Thread(target=continued, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_the_window_of_the_last_cut_lies_in_what_is_asked() -> None:
    firm: FirmCuts = grown_named("deepseek_part")[1]._firm_cuts
    text = TURN * 3
    for stop in range(len(text) + 1):
        places = [p for p in range(1, stop - firm.reach + 1) if firm.seam(text, p)]
        found = firm.last_before(text, stop)
        assert (found and found.position) == (places[-1] if places else None)
