"""Stable and co-stable cuts (theorems 34, 35), and for each condition the text that needs it."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any
from unittest import mock

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import drawn
from tests.sessions.traces import (
    check_costable,
    check_firm,
    check_stable,
    cuts_of,
    ids_of,
    small_segments,
)
from tests.support.adapters_drawn import drawn_adapter
from tests.support.seams import part
from tests.support.session_models import CL100K, byte_level, token
from tests.support.tokenizers_drawn import PATTERNS, is_panic
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.cuts.stable_cuts import Edge, StableCuts, Window
from tokpar.errors import EngineError, OptionError
from tokpar.sessions import editing
from tokpar.sessions.rope import edge_before as rope_edge_before

pytestmark = pytest.mark.ids


def gpt2() -> Tokenizer:
    return byte_level(PATTERNS["gpt2"][0], ("Ġ", "s"))


def llama3(*stages: Any) -> Tokenizer:
    tokenizer = byte_level(CL100K, ("Ċ", "Ġ"), ("3", "4"), ("5", "6"), (".", "Ġ"), ("Ġ", "."))
    if stages:
        tokenizer.normalizer = normalizers.Sequence(list(stages))
    return tokenizer


def metaspace() -> Tokenizer:
    tokens = ["<unk>", *"▁ab.<>s\n"]
    vocabulary = {token: id_ for id_, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never")
    return tokenizer


def bert() -> Tokenizer:
    vocabulary = {token: id_ for id_, token in enumerate(["[UNK]", *"ab<>"])}
    tokenizer = Tokenizer(models.WordPiece(vocab=vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@dataclass(frozen=True)
class Witness:
    """Between `left` and `right` a cut at `p` of the one judged text is undone by the other.

    `later`: the cut is judged in `left` and `right` comes after it; else the cut is judged in
    `right` and `left` stands before it."""

    name: str
    make: Callable[[], Tokenizer]
    left: str
    right: str
    p: int
    later: bool = True
    tokens: tuple[AddedToken, ...] = ()

    def adapter(self) -> TokenizerAdapter:
        tokenizer = self.make()
        tokenizer.add_tokens(list(self.tokens))
        return tokpar.load(tokenizer, add_special_tokens=False)

    @property
    def judged(self) -> str:
        return self.left if self.later else self.right

    def window(self, adapter: TokenizerAdapter) -> Window:
        return Window(cuts_of(adapter), self.judged, begins=self.later, ends=not self.later)


WITNESSES = (
    Witness("a", gpt2, "b s", ".", 1, tokens=(token("b s."),)),
    Witness("a of a chat", llama3, "see <|im e", "nd|>", 8, tokens=(token("<|im end|>"),)),
    Witness("b", llama3, "b>", "b", 1,
            tokens=(token(">b", single_word=True),)),
    Witness("d", metaspace, "  .", "< ", 1, tokens=(token(".< ", lstrip=True),)),
    Witness("N", lambda: llama3(normalizers.Replace("ab", " ")), "\na", "b\n", 1),
    Witness("co a", bert, ">", "<<<", 2, False, (token("><<<"),)),
    Witness("co b", bert, "<>", ">a", 1, False, (token("<>>", single_word=True),)),
    Witness("co c", metaspace, ">", "\n b", 1, False, (token(">", rstrip=True),)),
    Witness("co N", lambda: llama3(normalizers.Replace("ab", " ")), "a", "b.", 1, False),
)  # fmt: skip
BY_NAME = {witness.name: witness for witness in WITNESSES}


@pytest.mark.parametrize(
    "name", ["a", "a of a chat", "b", "d", "N", "co a", "co b", "co c", "co N"]
)
def test_a_certified_cut_that_other_text_undoes_is_refused(name: str) -> None:
    """The cut is right in the judged text and wrong in the whole: certified is not stable."""
    witness = BY_NAME[name]
    adapter = witness.adapter()
    text, p = witness.judged, witness.p
    assert cuts_of(adapter).finder.certify(text, p) is not None
    assert witness.window(adapter).seam(p) is None
    whole, at = witness.left + witness.right, p + (0 if witness.later else len(witness.left))
    assert ids_of(adapter, text[:p]) + ids_of(adapter, text[p:]) == ids_of(adapter, text)
    assert ids_of(adapter, whole[:at]) + ids_of(adapter, whole[at:]) != ids_of(adapter, whole)


def test_drawn_stable_and_costable_cuts_hold_beside_all_that_is_drawn() -> None:
    rng, seen = random.Random("stable"), Counter[str]()
    for _ in range(drawn(60)):
        try:
            adapter = drawn_adapter(rng)
            check_stable(rng, adapter, seen)
            check_costable(rng, adapter, seen)
            check_firm(rng, adapter, seen)
        except (EngineError, OptionError):
            continue
        except BaseException as error:
            if not is_panic(error):
                raise
    assert min(seen.values()) > drawn(60)


# ------------------------------------------------------------------ each condition is needed


def _no_single_word(edges: list[Edge]) -> list[Edge]:
    return [edge._replace(single_word=False) for edge in edges]


_STARTS, _ENDS = Window._open_starts.func, Window._open_ends.func  # type: ignore[attr-defined]


MUTANTS: dict[str, tuple[type, dict[str, Any]]] = {
    "a": (Window, {"_last_read": lambda self, seam: 0}),
    "b": (Window, {"_open_starts": property(lambda self: _no_single_word(_STARTS(self)))}),
    "d": (Window, {"_strips_nothing_before": lambda self, p: True}),
    "N": (StableCuts, {"_reads_image": lambda self, seam: False}),
    "co a": (Window, {"_first_read": lambda self, seam: len(self.text)}),
    "co b": (Window, {"_open_ends": property(lambda self: _no_single_word(_ENDS(self)))}),
    "co c": (Window, {"_strips_nothing_behind": lambda self, p: True}),
    "co N": (StableCuts, {"_reads_image": lambda self, seam: False}),
}
"""The code without one condition of lemma 35 each, by the name of the condition's witness."""


REACHES = (1, 2, 3)


def long_enough(witness: Witness, more: str) -> tuple[str, str]:
    """The two texts, the judged one with `more`: so long that it is kept in segments."""
    if witness.later:
        return more + witness.left, witness.right
    return witness.left, witness.right + more


def session_ids(left: str, right: str, later: bool, adapter: TokenizerAdapter) -> list[int]:
    """The ids of a session that begins with one text and gets the other one."""
    encoder = tokpar.Encoder(adapter)
    session = encoder.session(left if later else right)
    if later:
        session.append(right)
    else:
        session.replace(0, 0, left)
    assert session.text == left + right
    return session.unprocessed_ids.tolist()


def ids_of_sum(left: str, right: str, later: bool, adapter: TokenizerAdapter) -> list[int]:
    """The ids of the sum of two sessions that have one text each."""
    encoder = tokpar.Encoder(adapter)
    whole = encoder.session(left) + encoder.session(right)
    assert whole.text == left + right
    return whole.unprocessed_ids.tolist()


@pytest.mark.parametrize("name", ["a", "b", "d", "N", "co a", "co b", "co c", "co N"])
def test_without_a_condition_the_session_has_wrong_ids(name: str) -> None:
    witness, wrong = BY_NAME[name], Counter[Any]()
    owner, changes = MUTANTS[name]
    for more, way, reach in product(("a", "aaa"), (session_ids, ids_of_sum), REACHES):
        left, right = long_enough(witness, more)
        expected = ids_of(witness.adapter(), left + right)
        with small_segments(1, reach):
            assert way(left, right, witness.later, witness.adapter()) == expected
            with mock.patch.multiple(owner, **changes):
                wrong[way] += way(left, right, witness.later, witness.adapter()) != expected
    assert min(wrong.values()) > 0


def after_mark() -> TokenizerAdapter:
    """NFC, and an added token that is searched in the normalized text and ends with "e"."""
    tokenizer = byte_level(PATTERNS["gpt2"][0])
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.add_tokens([AddedToken("a e", normalized=True)])
    return tokpar.load(tokenizer, add_special_tokens=False)


def test_truncation_judges_the_cut_in_what_is_left() -> None:
    """With the mark, "é" is no end of the token "a e"; without the mark it is."""
    adapter = after_mark()
    whole, kept = "a e\u0301", "a e"
    assert ids_of(adapter, whole) == ids_of(adapter, "a") + ids_of(adapter, " e\u0301")
    assert ids_of(adapter, kept) != ids_of(adapter, "a") + ids_of(adapter, " e")
    session = tokpar.Encoder(adapter).session(whole)
    session.truncate(3)
    assert session.unprocessed_ids.tolist() == ids_of(adapter, kept)


def test_a_session_that_keeps_a_cut_whose_reach_is_edited_has_wrong_ids() -> None:
    """Llama 2, "xxab cdee": the space is absorbed only as long as "c" follows it."""
    adapter, found = tokpar.load(part("llama_style"), add_special_tokens=False), []
    near = lambda rope, place: rope_edge_before(rope, place + 3)  # noqa: E731
    for edge_before in (rope_edge_before, near):
        with small_segments(1, 3), mock.patch.object(editing, "edge_before", edge_before):
            session = tokpar.Encoder(adapter).session("xxab cdee")
            session.truncate(5)
        found.append(session.unprocessed_ids.tolist() == ids_of(adapter, "xxab "))
    assert found == [True, False]
