"""What the planner asks of added tokens and normalizers, each by itself."""

from __future__ import annotations

import random
import re
from types import SimpleNamespace
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import needs_kernel
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.added_token_contents import ROOT, Contents, build_automaton
from tokpar.cuts.finder import CutFinder, finder_for
from tokpar.process import kernel_modules


def test_matches_are_the_leftmost_and_of_these_the_longest() -> None:
    draw = random.Random(3)
    for _ in range(200):
        contents = {"".join(draw.choices("abc", k=draw.randint(1, 4))) for _ in range(5)}
        pattern = re.compile("|".join(sorted(contents, key=len, reverse=True)))
        for _ in range(20):
            text = "".join(draw.choices("abcx", k=12))
            expected = [match.span() for match in pattern.finditer(text)]
            assert [*Contents.of([*contents]).matches(text)] == expected, (contents, text)


@pytest.mark.parametrize(
    ("context", "holds"),
    [
        (None, False),
        (("a", " "), True),
        ((" ", " "), False),
        (("a", "b"), False),
        (("\n", " "), False),
    ],
)
def test_a_cut_before_a_space_holds_where_its_context_is_known(context: Any, holds: bool) -> None:
    guard = SimpleNamespace(keeps_universal=False, context=lambda text, place: context)
    finder: Any = SimpleNamespace(facts=SimpleNamespace(scheme="regex"), normalizer_guard=guard)
    assert CutFinder._universal_context(finder, "any text", 3) is holds


def test_characters_of_added_tokens_are_those_before_and_behind_the_normalizer() -> None:
    own = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    own.normalizer = normalizers.Lowercase()
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own.add_tokens([AddedToken("AX", normalized=True)])
    guard = finder_for(facts_of(tokpar.load(own))).normalizer_guard
    assert guard._in_tokens == {*"axAX"}


@needs_kernel
def test_automata_by_the_kernel_and_by_arrays_have_the_same_nodes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    draw = random.Random(4)
    for _ in range(60):
        contents = sorted({bytes(draw.choices(b"abc", k=draw.randint(1, 5))) for _ in range(6)})
        found = build_automaton(contents)
        with monkeypatch.context() as patched:
            patched.setattr(kernel_modules, "CONTENTS", None)
            other = build_automaton(contents)
        nodes, others = (each.table[ROOT:].reshape(-1, 4) for each in (found, other))
        assert nodes[:, 1:].tolist() == others[:, 1:].tolist()
        parents = nodes[:, 1] >> 8 > 0
        assert nodes[parents, 0].tolist() == others[parents, 0].tolist()
