"""Coq's checker as a program of its own gives the verdicts of `tokpar check`."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest

from tests.support.certified import encoding_of
from tests.support.checked_worlds import (
    CheckedWorld,
    drawn_ids,
    drawn_seams,
    drawn_world,
    edge_rule,
    pair_rule,
    world_with_markup,
)
from tests.support.coq_worlds import FAMILIES, PanicError
from tests.support.extracted_checker import Claim, extract
from tests.support.profiles import cases, chosen_profile, drawn
from tokpar.certificate.added_token_rule import possibly_word
from tokpar.certificate.checker import check
from tokpar.formats.char_classes import single
from tokpar.types import Rule, Seam

if shutil.which("coqc") is None or shutil.which("ocamlopt") is None:
    pytest.skip("coqc or ocamlopt is not installed: no checker to run", allow_module_level=True)

TOKENIZERS_EACH, TEXTS_EACH = 6, 400 if chosen_profile() == "deep" else drawn(100)
BATCHES = 8 if chosen_profile() == "deep" else 1


def namings(world: CheckedWorld, claim: Claim) -> Iterator[tuple[Seam, ...]]:
    """The claim's seams, then the same with the other tokens that have an edge at these places:
    Coq's certificate does not name the token of an edge."""
    choices = [
        [seam, *others(world, claim.text, seam)] if seam.rule == Rule.EDGE else [seam]
        for seam in claim.seams
    ]
    return product(*choices)


def others(world: CheckedWorld, text: str, seam: Seam) -> list[Seam]:
    """The seam, as an edge of every token that has one at its place."""
    p = seam.position
    witnesses = [
        (("token", content), ("edge", edge))
        for content in world.tokens.contents
        for edge, start in (("start", p), ("end", p - len(content)))
        if start >= 0 and text.startswith(content, start)
    ]
    return [replace(seam, witness=witness) for witness in witnesses if witness != seam.witness]


def tokpar_accepts(world: CheckedWorld, claim: Claim) -> bool:
    """Whether `tokpar check` accepts the claim, whichever token an edge is said to be of."""
    for seams in namings(world, claim):
        encoding = encoding_of(np.array(claim.ids, np.uint32), seams)
        if check(encoding, claim.text, world.adapter, level="ids").ok:
            return True
    return False


def drawn_worlds(rng: random.Random, family: str) -> Iterator[CheckedWorld]:
    """Tokenizers for which both checkers have the same rules. Of three one skips special tokens.

    Where some token strips white space, tokpar certifies no edge of a token that begins or ends
    with white space; where a token that is skipped may overlap another one, it certifies no cut:
    Coq looks at the text."""
    while True:
        world = drawn_world(rng, family, bare=rng.random() < 0.3)
        world.tokens.engine.encode_special_tokens = rng.random() < 1 / 3
        tokens = world.tokens.tokens
        strips = any(token.lstrip or token.rstrip for token in tokens)
        if world.may_hide_tokens:
            continue
        if not strips or all(token.content.strip() == token.content for token in tokens):
            yield world


def drawn_claims(
    rng: random.Random, world: CheckedWorld, number: int
) -> Iterator[tuple[Claim, list[int]]]:
    """Claims that may be forged, each with the ids that the engine gives.

    Beside a token with `single_word` tokpar takes some characters for word characters that are
    none: the texts have none of them."""
    careful = any(token.single_word for token in world.tokens.tokens)
    for text in world.texts(rng, TEXTS_EACH):
        if careful and any(possibly_word(c) and not single("word").match(c) for c in text):
            continue
        with suppress(PanicError):
            right = world.engine_ids(text)
            seams = drawn_seams(rng, world, text)
            yield Claim(number, text, seams, drawn_ids(rng, right, world)), right


@pytest.mark.parametrize("batch", range(BATCHES))
@pytest.mark.parametrize("family", cases(FAMILIES, ("cl100k",)))
def test_the_extracted_checker_gives_the_verdicts_of_tokpar(
    compiled: tuple[Path, str], family: str, batch: int
) -> None:
    rng = random.Random(f"extracted {family} {batch}")
    worlds = [*islice(drawn_worlds(rng, family), TOKENIZERS_EACH)]
    program = extract(compiled[0], [world.coq() for world in worlds])
    asked = [each for k, world in enumerate(worlds) for each in drawn_claims(rng, world, k)]
    expected = [(tokpar_accepts(worlds[claim.tokenizer], claim), right) for claim, right in asked]
    answers = program.answers(claim for claim, _ in asked)
    wrong = [
        (worlds[claim.tokenizer].coq(), claim)
        for (claim, _), answer, verdict in zip(asked, answers, expected, strict=True)
        if answer != verdict
    ]
    assert wrong == []
    accepted = sum(verdict for verdict, _ in expected)
    assert 0.2 * len(asked) < accepted < 0.9 * len(asked)


MARKED = "ab b<s>ab. a1 b"
"""Pairs: before the spaces and "."; edges: 4 and 7."""
SURE = {2: "pair", 4: "start", 7: "end", 10: "pair", 13: "pair"}
PAIR, START, END = "pair", "start", "end"


def seam_at(world: CheckedWorld, place: int, kind: str) -> Seam:
    rule = pair_rule(world) if kind == PAIR else edge_rule("<s>", kind)
    return Seam(place, *rule, len(world.engine_ids(MARKED[:place])))


def seams_of(world: CheckedWorld, places: Mapping[int, str]) -> list[Seam]:
    return [seam_at(world, place, kind) for place, kind in sorted(places.items())]


WRONG_IDS: dict[str, Callable[[list[int]], list[int]]] = {
    "two ids swapped": lambda ids: [ids[1], ids[0], *ids[2:]],
    "an id left out": lambda ids: [*ids[:3], *ids[4:]],
    "an id twice": lambda ids: [*ids[:3], ids[2], *ids[3:]],
    "one id more": lambda ids: [*ids, 64],
    "another last id": lambda ids: [*ids[:-1], ids[-1] ^ 1],
    "no ids": lambda ids: [],
}
WRONG_SEAMS: dict[str, tuple[int, str]] = {
    "a pair that does not hold": (1, PAIR),
    "a pair inside an added token": (5, PAIR),
    "a pair said to be an edge": (10, START),
    "an edge inside an added token": (6, END),
    "a cut behind the text": (len(MARKED), PAIR),
}
"""What is wrong with a seam that is there beside the right ones, or in the place of one."""
MISTAKES = [*WRONG_IDS, *WRONG_SEAMS]
PLANTED = [(family, name) for family in FAMILIES if family != "tekken" for name in MISTAKES]


def planted(family: str, name: str | None, number: int) -> tuple[CheckedWorld, Claim]:
    """A claim with one mistake, or with none."""
    world = world_with_markup(random.Random(f"planted {family}"), family)
    ids, places = world.engine_ids(MARKED), SURE
    if name in WRONG_SEAMS:
        place, kind = WRONG_SEAMS[name]
        places = {**SURE, place: kind}
    elif name is not None:
        right, ids = ids, WRONG_IDS[name](ids)
        assert ids != right
    return world, Claim(number, MARKED, seams_of(world, places), ids)


def test_both_checkers_refuse_each_planted_mistake(compiled: tuple[Path, str]) -> None:
    families = [*dict.fromkeys(family for family, _ in PLANTED)]
    right = [planted(family, None, k) for k, family in enumerate(families)]
    wrong = [planted(family, name, families.index(family)) for family, name in PLANTED]
    program = extract(compiled[0], [world.coq() for world, _ in right])
    claims = [*right, *wrong]
    assert len(wrong) == 55
    by_coq = [accepted for accepted, _ in program.answers(claim for _, claim in claims)]
    assert by_coq == [True] * len(right) + [False] * len(wrong)
    assert [tokpar_accepts(world, claim) for world, claim in claims] == by_coq
