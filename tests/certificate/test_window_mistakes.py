"""Mistakes that one could make in cutting by windows: the checker refuses seams of each, and
accepts none that changes ids."""

from __future__ import annotations

import inspect
import random
import sys
import textwrap
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import pytest

from tests.conftest import below_one, drawn
from tests.support.adversarial_texts import AdversarialTexts
from tests.support.patterns_of_users import ADDED, ATOMS, IN_TWOS, by_hugging_face
from tokpar.certificate.checker import seam_findings
from tokpar.cuts import finder as finder_module
from tokpar.cuts.normalized_context import NormalizerGuard
from tokpar.cuts.pair_seams import PairSeams
from tokpar.interfaces import facts_of
from tokpar.loading import load
from tokpar.patterns.known_pattern import KnownPattern, PairTable
from tokpar.types import Seam, Theorem


@dataclass(frozen=True)
class Case:
    """A tokenizer, by its settings, and what its texts are made of."""

    patterns: tuple[str, ...] = (IN_TWOS,)
    normalizer: str = ""
    flags: tuple[str, ...] = ()
    prefix: bool = False
    atoms: tuple[str, ...] = (*ATOMS, *ADDED)


ROW = Case((r"\S{2,3}\p{N}*|\s+", r"\p{L}{1,2}|[\s\S]"), atoms=("a", "A", "1", " ", ".", "b"))
MISTAKES: dict[str, tuple[type, str, str, str, Case]] = {
    "a prefix": (
        PairSeams, "certify", 'self.facts.prefix_space and text[p] != " "', "False",
        Case(prefix=True),
    ),
    "tokens across": (PairSeams, "certify", "self.token_guard.safe(text, p)", "True", Case()),
    "the character after the image": (
        NormalizerGuard, "_image", "_ALPHABET.fullmatch(text[hi : hi + 1])", "True",
        Case((r"ea[^e]|[\s\S]",), "NFC", atoms=("ea", "e\u0301", "a", "\u0301", "o")),
    ),
    "the symbols the other way round": (
        PairTable, "is_sure",
        "symbol_of[ord(left)] + 256 * symbol_of[ord(right)]",
        "symbol_of[ord(right)] + 256 * symbol_of[ord(left)]",
        Case(),
    ),
}  # fmt: skip


@cache
def adapter_of(case: Case) -> Any:
    normalizers = below_one().normalizers
    made = {"NFC": normalizers.NFC(), "Replace": normalizers.Replace("ab", "1")}
    flags = dict.fromkeys(case.flags, True)
    chosen = made.get(case.normalizer)
    return load(by_hugging_face(case.patterns, chosen, flags, case.prefix))


def mistaken(owner: type, name: str, right: str, instead: str) -> Any:
    """The method or property with the mistake in it."""
    own = vars(owner)[name]
    source = textwrap.dedent(inspect.getsource(getattr(own, "func", own)))
    assert source.count(right) == 1
    scope = dict(vars(sys.modules[owner.__module__]))
    exec(source.replace(right, instead), scope)
    made = scope[name]
    if isinstance(made, cached_property):
        made.__set_name__(owner, name)
    return made


def judged(case: Case, texts: int = drawn(200)) -> tuple[int, int, list[Seam]]:
    """Of the PAIR seams of drawn texts: how many there are, how many the checker refuses, and those
    that it accepts though the ids of the parts are others."""
    adapter, source = adapter_of(case), random.Random(1)
    finding = finder_module._finder(facts_of(adapter))
    count = refused = 0
    wrong = []
    for _ in range(texts):
        text = AdversarialTexts((case.atoms,), most=16).draw(source)
        whole = adapter.encode(text).tolist()
        for p in range(1, len(text)):
            seam = finding.certify(text, p)
            if seam is None or seam.rule != "PAIR":
                continue
            count += 1
            if [*seam_findings([seam], text, facts_of(adapter))]:
                refused += 1
            elif adapter.encode(text[:p]).tolist() + adapter.encode(text[p:]).tolist() != whole:
                wrong.append(seam)
    return count, refused, wrong


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_the_finder_is_seen_by_the_checker(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    owner, method, right, instead, case = MISTAKES[name]
    count, refused, wrong = judged(case)
    assert (refused, wrong) == (0, [])
    assert count > 0
    monkeypatch.setattr(owner, method, mistaken(owner, method, right, instead))
    _, refused, wrong = judged(case)
    assert refused > 0
    assert wrong == []


@pytest.mark.parametrize(
    ("case", "wrong"),
    [
        (Case((r"a ?|[\s\S]",), atoms=("a", " ", "b", "1")), {"spaces": Theorem.PAIR}),
        (ROW, {"theorem": Theorem.PAIR}),
    ],
    ids=["every space", "another theorem"],
)
def test_a_wrong_value_of_a_pattern_is_seen_by_the_checker(
    case: Case, wrong: dict[str, Theorem], monkeypatch: pytest.MonkeyPatch
) -> None:
    known = finder_module.pattern_of(facts_of(adapter_of(case)))
    assert isinstance(known, KnownPattern)
    monkeypatch.setattr(finder_module, "pattern_of", lambda facts: replace(known, **wrong))
    _, refused, accepted = judged(case)
    assert refused > 0
    assert accepted == []
