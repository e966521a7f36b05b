"""Rule PAIR: seams and proofs that are planted, and what the checker says of them."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import random
from collections.abc import Callable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from tokenizers import normalizers

from tests.conftest import drawn
from tests.support.adversarial_texts import AdversarialTexts
from tests.support.patterns_of_users import ADDED, ATOMS, by_hugging_face, by_regex
from tokpar.certificate.checker import seam_findings
from tokpar.certificate.pair_rule import NON_SPACE
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for
from tokpar.loading import load
from tokpar.patterns.shipped_patterns import CL100K
from tokpar.types import Seam, Theorem

WORDS_IN_TWOS = r" ?\p{L}+|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s"
TEXT = "ab 12345 cd\n1234567890123 x\n\n yy z's  zz 1"


@cache
def honest() -> Any:
    """An adapter with a decided pattern."""
    adapter = load(by_regex((WORDS_IN_TWOS,)))
    assert finder_for(facts_of(adapter)).pairs is not None
    return adapter


def found_in(text: str) -> list[Seam]:
    finding = finder_for(honest().facts)
    return [seam for p in range(1, len(text)) if (seam := finding.certify(text, p)) is not None]


def planted(change: Any, proof: str | None = None) -> list[str]:
    """What the checker says of seams that were changed, with this proof or the honest one."""
    facts = dataclasses.replace(honest().facts)
    known = proof or next(iter(honest().facts.proofs.values()))
    digest = hashlib.sha256(known.encode()).hexdigest()
    facts.proofs[digest] = known
    seams = [change(with_proof(seam, digest)) for seam in found_in(TEXT)]
    return [f"{finding.kind}: {finding}" for finding in seam_findings(seams, TEXT, facts)]


def with_proof(seam: Seam, digest: str) -> Seam:
    return dataclasses.replace(seam, witness=(("proof", digest), *seam.witness[1:]))


def changed(seam: Seam, **values: Any) -> Seam:
    witness = tuple((name, values.get(name, value)) for name, value in seam.witness)
    return dataclasses.replace(seam, witness=witness)


def proof_with(**values: Any) -> str:
    known = json.loads(next(iter(honest().facts.proofs.values())))
    return json.dumps({name: values.get(name, value) for name, value in known.items()})


def test_honest_seams_are_accepted() -> None:
    seams = found_in(TEXT)
    assert {seam.theorem for seam in seams} == {"40"}
    assert {dict(seam.witness).get("left") for seam in seams} == {None, "non-space"}
    assert planted(lambda seam: seam) == []
    assert planted(lambda seam: seam, proof_with()) == []


def anchored(seam: Seam) -> Seam:
    """A seam of the rule that reads the text from an earlier cut, which is not accepted."""
    witness = (seam.witness[0], ("anchor", "0"), ("right", "1"))
    return dataclasses.replace(seam, theorem="44", witness=witness)


def wider(seam: Seam) -> Seam:
    sides = (("left", "2"), ("right", "1"))
    return dataclasses.replace(seam, witness=(seam.witness[0], *sides))


def decided(pattern: str, *others: str, **settings: Any) -> Any:
    return load(by_hugging_face((pattern, *others), **settings))


WORDS, ROW = r"a ?|[\s\S]", (r"\S{2,3}\p{N}*|\s+", r"\p{L}{1,2}|[\s\S]")
TOKENIZERS: dict[str, tuple[Callable[[], Any], Sequence[str]]] = {
    "added tokens": (honest, (*ATOMS, *ADDED)),
    "not every space": (lambda: decided(WORDS), ("a", " ", "b", "1")),
    "a prefix": (lambda: decided(WORDS, prefix=True), ("a", " ", "b", *ADDED)),
    "NFC": (
        lambda: decided(r"ea[^e]|[\s\S]", normalizer=normalizers.NFC()),
        ("ea", "e\u0301", "a", "\u0301", "o"),
    ),
    "a row": (lambda: decided(*ROW), ("a", "A", "1", " ", ".", "b")),
}


@pytest.mark.parametrize("name", TOKENIZERS)
def test_no_place_of_a_text_that_is_accepted_changes_ids(name: str) -> None:
    """Whatever a planner takes for a cut: each place of drawn texts is claimed."""
    make, atoms = TOKENIZERS[name]
    adapter = make()
    assert finder_for(adapter.facts).pairs is not None
    proof = ("proof", next(iter(adapter.facts.proofs)))
    theorem = Theorem.PAIR if len(adapter.facts.patterns) == 1 else Theorem.PAIR_OF_SPLITS
    accepted, rng = 0, random.Random(1)
    for _ in range(drawn(60)):
        text = AdversarialTexts((atoms,), most=12).draw(rng)
        whole = adapter.encode(text).tolist()
        for p, sides in product(range(1, len(text)), ((), NON_SPACE)):
            seam = Seam(p, theorem.rule, theorem, (proof, *sides))
            if not [*seam_findings([seam], text, adapter.facts)]:
                parts = adapter.encode(text[:p]), adapter.encode(text[p:])
                assert np.concatenate(parts).tolist() == whole, (seam, text)
                accepted += 1
    assert accepted


SPACE = ("right", "space")
SEAMS = {
    "no such proof": (lambda s: changed(s, proof="0" * 64), "proof"),
    "sides that are no space": (wider, "witness"),
    "no proof": (lambda s: dataclasses.replace(s, witness=()), "witness"),
    "any character before a space": (
        lambda s: dataclasses.replace(s, witness=(s.witness[0], ("left", "any"), SPACE)),
        "witness",
    ),
    "a pattern that is not its own": (
        lambda s: dataclasses.replace(s, witness=(("pattern", "cl100k"), *s.witness[1:])),
        "pattern",
    ),
    "an anchor": (anchored, "theorem"),
    "another theorem": (lambda s: dataclasses.replace(s, theorem="42"), "theorem"),
    "the place behind": (lambda s: dataclasses.replace(s, position=s.position + 1), ""),
    "another rule": (lambda s: dataclasses.replace(s, rule="STAGE"), ""),
}


@pytest.mark.parametrize("name", SEAMS)
def test_planted_seams_are_refused(name: str) -> None:
    change, kind = SEAMS[name]
    said = planted(change)
    assert any(each.startswith(kind) for each in said)


def known_proof() -> dict[str, Any]:
    found_in(TEXT)
    proof: dict[str, Any] = json.loads(next(iter(honest().facts.proofs.values())))
    return proof


def stage_with(**values: Any) -> list[Any]:
    return [{**known_proof()["stages"][0], **values}]


def moved(counts: list[int]) -> list[int]:
    """One character more of one symbol, one less of the next."""
    k = next(i for i, count in enumerate(counts) if count > 2 and counts[i + 1] > 2)
    return [*counts[:k], counts[k] + 1, counts[k + 1] - 1, *counts[k + 2 :]]


def proofs() -> dict[str, str]:
    proof = known_proof()
    stage = proof["stages"][0]
    words, dead = stage["words"], stage["dead"]
    classes = proof["classes"]
    swapped = {**classes, r"\p{L}": classes[r"\p{N}"], r"\p{N}": classes[r"\p{L}"]}
    return {
        "another pattern": proof_with(patterns=[CL100K]),
        "another engine": proof_with(engine="oniguruma"),
        "classes swapped": proof_with(classes=swapped),
        "a class left out": proof_with(classes={**classes, r"\p{N}": []}),
        "a character in another class": proof_with(counts=moved(proof["counts"])),
        "a symbol too many": proof_with(symbols=[*proof["symbols"][:-1], 254]),
        "code points left out": proof_with(counts=proof["counts"][:-1]),
        "a state left out": proof_with(stages=stage_with(words=words[:-1])),
        "a live state called dead": proof_with(
            stages=stage_with(dead=sorted({*range(len(words))} - {*dead}))
        ),
        "every state sure": proof_with(stages=stage_with(sure=[*range(len(words))])),
        "another tree": proof_with(stages=stage_with(tree=stage["tree"][1][0])),
        "a branch less": proof_with(stages=stage_with(tree=["choice", stage["tree"][1][1:]])),
        "no stage": proof_with(stages=[]),
        "two stages": proof_with(stages=[stage, stage]),
        "no JSON": "{",
        "no object": "[1]",
    }


@pytest.mark.parametrize("number", range(16))
def test_planted_proofs_are_refused(number: int) -> None:
    name, proof = [*proofs().items()][number]
    said = planted(lambda seam: seam, proof)
    assert len(said) == len(found_in(TEXT)), name
    assert all(each.startswith("proof: ") for each in said)


def test_a_proof_of_another_hash_is_refused() -> None:
    digest = hashlib.sha256(b"").hexdigest()
    facts = dataclasses.replace(honest().facts)
    facts.proofs[digest] = known = next(iter(honest().facts.proofs.values()))
    assert known
    seams = [with_proof(seam, digest) for seam in found_in(TEXT)]
    assert {finding.kind for finding in seam_findings(seams, TEXT, facts)} == {"proof"}
