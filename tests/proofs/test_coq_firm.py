"""Coq's `firm` and the firm cuts of sessions, streams and chunks are the same: both say which cuts
the characters of a window allow, whatever stands before and behind the window."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

import pytest

from tests.support.checked_worlds import CheckedWorld, engine_of
from tests.support.coq_runs import computed, definitions_only
from tests.support.coq_worlds import DEFINITIONS, FAMILIES, drawn_bytes, drawn_tokens, points
from tests.support.profiles import cases, drawn
from tokpar.certificate.added_token_rule import possibly_word
from tokpar.cuts import stable_cuts
from tokpar.cuts.firm_cuts import firm_cuts_for
from tokpar.cuts.stable_cuts import Window
from tokpar.formats.char_classes import single

TOKENIZERS_EACH, WINDOWS_EACH = drawn(150), 30
IMPORTS = "PatternPairs Tables Ids Pipeline EndToEnd Firm"
TELL = """From Coq Require Import Bool.
Definition firm_places (f : facts) (W : list N) : list (list N) :=
  [map N.of_nat
    (filter (fun k => firm f Between W k || firm f Edge W k) (seq 1 (length W - 1)))]."""


@dataclass(frozen=True)
class Windows:
    """A tokenizer, and texts that are windows of longer ones."""

    world: CheckedWorld
    texts: Sequence[str]

    def firm_places(self) -> list[list[int]]:
        """The places of each window where sessions find a firm cut."""
        cuts = firm_cuts_for(self.world.adapter.facts).cuts
        windows = [Window(cuts, text) for text in self.texts]
        return [
            [k for k in range(1, len(window.text)) if window.seam(k) is not None]
            for window in windows
        ]

    def open_cuts(self) -> int:
        """How many cuts of the windows are certified, and something around the window may undo
        them."""
        finder = firm_cuts_for(self.world.adapter.facts).cuts.finder
        certified = sum(
            finder.certify(text, k) is not None for text in self.texts for k in range(1, len(text))
        )
        return certified - sum(map(len, self.firm_places()))


def drawn_worlds(rng: random.Random, family: str) -> Iterator[CheckedWorld]:
    """Tokenizers with added tokens of all flags, for which both have the same rules, as in
    test_coq_extracted.py."""
    while True:
        model = drawn_bytes(rng)
        tokens = drawn_tokens(rng, engine_of(model, family), normalized=0, flagged=0.3)
        strips = any(token.lstrip or token.rstrip for token in tokens.tokens)
        world = CheckedWorld(family, model, tokens)
        if not tokens.tokens or world.may_hide_tokens:
            continue
        if not strips or all(content.strip() == content for content in tokens.contents):
            yield world


def drawn_windows(rng: random.Random, world: CheckedWorld) -> Iterator[str]:
    """A few characters between what may be the end of a token and what may be the beginning of one:
    at least as long as each token. Beside a token with `single_word` tokpar takes some characters
    for word characters that are none: then no window has them."""
    contents = world.tokens.contents
    careful = any(token.single_word for token in world.tokens.tokens)
    for _ in range(WINDOWS_EACH):
        (first, last), few = (
            rng.choices(contents, k=2),
            rng.choices("  .a\n\n1", k=rng.randint(0, 3)),
        )
        end, start = first[rng.randint(1, len(first)) :], last[: rng.randint(0, len(last))]
        window = end + "".join(few) + start
        if len(window) < max(2, *map(len, contents)):
            continue
        if not careful or all(single("word").match(c) or not possibly_word(c) for c in window):
            yield window


@cache
def drawn_cases(family: str, count: int) -> list[Windows]:
    rng = random.Random(f"firm {family}")
    worlds = islice(drawn_worlds(rng, family), count)
    return [Windows(world, [*drawn_windows(rng, world)]) for world in worlds]


def places_in_coq(compiled: Path, some: Sequence[Windows], firm: str = "") -> list[list[list[int]]]:
    """The places of each window of each tokenizer where Coq finds a firm cut. `firm`: the changed
    definitions of Firm.v, if they are changed."""
    facts = [f"Definition f_{k} : facts := {each.world.coq()}." for k, each in enumerate(some)]
    terms = [
        f"firm_places f_{k} {points(text)}" for k, each in enumerate(some) for text in each.texts
    ]
    definitions = "\n".join([DEFINITIONS, firm, TELL, *facts, "Open Scope N_scope."])
    values = iter(computed(compiled, IMPORTS, terms, definitions))
    return [[places for (places,) in islice(values, len(each.texts))] for each in some]


@pytest.mark.parametrize("family", cases(FAMILIES, ("cl100k",)))
def test_the_firm_cuts_in_coq_are_those_of_sessions(
    compiled: tuple[Path, str], family: str
) -> None:
    some = drawn_cases(family, TOKENIZERS_EACH)
    found = [each.firm_places() for each in some]
    assert places_in_coq(compiled[0], some) == found
    windows = sum(len(each.texts) for each in some)
    assert sum(len(places) for rows in found for places in rows) > 0.5 * windows
    assert sum(each.open_cuts() for each in some) > 0.1 * windows


OURS = {
    "the beginning of a token is forgotten": ("_open_starts", property(lambda window: [])),
    "the end of a token is forgotten": ("_open_ends", property(lambda window: [])),
    "white space before the window": ("_strips_nothing_behind", lambda window, p: True),
    "white space behind the window": ("_strips_nothing_before", lambda window, p: True),
    "what follows": ("_stays_before", lambda window, seam: True),
    "what stands before": ("_stays_behind", lambda window, seam: True),
}


@pytest.mark.parametrize("mistake", OURS)
def test_a_mistake_in_the_firm_cuts_of_sessions_is_found(
    compiled: tuple[Path, str], mistake: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = drawn_cases("cl100k", TOKENIZERS_EACH)
    expected = places_in_coq(compiled[0], some)
    monkeypatch.setattr(stable_cuts.Window, *OURS[mistake])
    assert [each.firm_places() for each in some] != expected


COQS = {
    "a token may not end behind the window": ("(1 + length W + size t)", "(1 + length W)"),
    "no token begins before the window": ("(skipn (size t - d) (content t))", "(content t)"),
    "single_word, begins at the cut": (
        "(d =? k + size t) && starts_in word",
        "false && starts_in word",
    ),
    "single_word, ends at the cut": ("(d =? k) && starts_in word", "false && starts_in word"),
    "rstrip": ("rstrip t && (d <=? k)", "rstrip t && (d <? k) && (0 <? d)"),
    "lstrip": ("lstrip t && (k + size t <=? d)", "false && (k + size t <=? d)"),
    "across": ("(d <? k + size t) && (k <? d)", "(d <? k + size t) && (k <? d) && (size t <=? d)"),
    "an edge of a token with flags": ("plain_ok tokens t &&", "true &&"),
}


@pytest.mark.parametrize("mistake", cases([*COQS], ("rstrip",)))
def test_a_mistake_in_firm_is_found(compiled: tuple[Path, str], mistake: str) -> None:
    some = drawn_cases("cl100k", TOKENIZERS_EACH)
    source = definitions_only("Firm")["Firm"]
    right, wrong = COQS[mistake]
    assert source.count(right) == 1
    planted = f"Module Planted.\n{source.replace(right, wrong)}\nEnd Planted.\nImport Planted."
    found = places_in_coq(compiled[0], some, planted)
    assert found != [each.firm_places() for each in some]
