"""Offsets.v speaks of the engine: places of tokens, truncation, special tokens and padding."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from string import ascii_uppercase
from typing import Any

import pytest
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

from tests.support.checked_worlds import drawn_world
from tests.support.coq_runs import computed
from tests.support.coq_worlds import (
    DEFINITIONS,
    PanicError,
    listed,
    points,
    replacing,
    truth,
    written,
)
from tests.support.profiles import cases, drawn

PLACES = """Definition size_of (V : vocabulary) (i : N) : nat :=
  match find (fun e => N.eqb (snd e) i) V with Some (w, _) => length w | None => 0 end.
Definition told_places (t : tokenizer) (m : bpe) (S : text) : list (list N) :=
  map (fun '(i, a, b) => [i; N.of_nat a; N.of_nat b])
    (places (inside (spaces t)) (inside (words t)) (raw_tokens t)
      (section_places (row_pieces (symbol_of t) (splits t))
        (fun w => map (fun i => (i, size_of (vocabulary_of m) i)) (bpe_ids m w))) true S)."""
ALIGNED = PLACES.replace("told_places (t", "told_aligned tables (t").replace(
    "(section_places (", "(aligned_places (row_aligned tables) ("
)
"""The same behind stages that replace characters one by one."""
IMPORTS = "PatternPairs Tables Ids Pipeline EndToEnd Offsets Aligned"


@pytest.mark.parametrize("family", cases(("gpt2", "cl100k", "deepseek"), ("gpt2",)))
def test_the_places_in_coq_are_the_engines(compiled: tuple[Path, str], family: str) -> None:
    """ASCII, so that the bytes of a token are characters."""
    rng = random.Random(f"places {family}")
    definitions, terms, expected = [DEFINITIONS, PLACES], [], []
    for number in range(4):
        world = drawn_world(rng, family, bare=number == 0)
        definitions.append(f"Definition f_{number} : facts := {world.coq()}.")
        definitions.append(f"Definition m_{number} : bpe := {world.model.coq[len('Merges ') :]}.")
        for text in filter(str.isascii, world.texts(rng, drawn(200))):
            with suppress(PanicError):
                world.engine_ids(text)
                row = world.tokens.engine.encode(text, add_special_tokens=False)
                terms.append(f"told_places (tokenizer_of f_{number}) m_{number} {points(text)}")
                pairs = zip(row.ids, row.offsets, strict=True)
                expected.append([[id_, *places] for id_, places in pairs])
    definitions.append("Open Scope N_scope.")
    assert computed(compiled[0], IMPORTS, terms, "\n".join(definitions)) == expected
    assert sum(map(len, expected)) > 3 * len(expected) > 50


def drawn_replacements(rng: random.Random) -> tuple[Any, list[str]]:
    """Stages of a normalizer that replace characters one by one, and their tables in Coq."""
    stages, tables = [], []
    for _ in range(rng.randint(1, 3)):
        table = {rng.choice("ab1. A<"): rng.choice(["", "a", "ab", " ", "b1.", "A"])}
        stages.append(normalizers.Replace(*next(iter(table.items()))))
        if rng.random() < 0.3:
            stages[-1], table = normalizers.Lowercase(), {c: c.lower() for c in ascii_uppercase}
        tables.append(replacing(table).removeprefix("Each "))
    return normalizers.Sequence(stages), tables


def test_the_places_behind_a_normalizer_in_coq_are_the_engines(
    compiled: tuple[Path, str],
) -> None:
    """Of texts with a character that is changed: ASCII."""
    rng = random.Random("aligned")
    definitions, terms, expected, changed = [DEFINITIONS, ALIGNED], [], [], 0
    for number in range(6):
        world = drawn_world(rng, "gpt2", bare=number == 0)
        engine = world.tokens.engine
        engine.normalizer, tables = drawn_replacements(rng)
        definitions.append(f"Definition f_{number} : facts := {world.coq()}.")
        definitions.append(f"Definition m_{number} : bpe := {world.model.coq[len('Merges ') :]}.")
        told = f"told_aligned {listed(tables)} (tokenizer_of f_{number}) m_{number}"
        for text in filter(str.isascii, world.texts(rng, drawn(200))):
            with suppress(PanicError):
                world.engine_ids(text)
                row = engine.encode(text, add_special_tokens=False)
                terms.append(f"{told} {points(text)}")
                pairs = zip(row.ids, row.offsets, strict=True)
                expected.append([[id_, *places] for id_, places in pairs])
                changed += engine.normalizer.normalize_str(text) != text
    definitions.append("Open Scope N_scope.")
    assert computed(compiled[0], IMPORTS, terms, "\n".join(definitions)) == expected
    assert changed > 0.3 * len(terms) > 20


def drawn_processing(rng: random.Random, engine: Tokenizer) -> str:
    """The post-processing that the engine gets, as Offsets.v writes it."""
    special = [8, 9]
    items = ["$A", *(f"<{rng.choice(special)}>" for _ in range(rng.randint(0, 3)))]
    rng.shuffle(items)
    named = [(f"<{id_}>", id_) for id_ in special]
    engine.post_processor = processors.TemplateProcessing(single=items, special_tokens=named)
    added, limit = len(items) - 1, None
    ends, left = rng.random() < 0.5, rng.random() < 0.5
    engine.no_truncation()
    engine.no_padding()
    if rng.random() < 0.7:
        limit = rng.randint(1, 6)
        engine.enable_truncation(limit + added, direction="left" if ends else "right")
    fixed, multiple = rng.choice([0, 0, 3, 7]), rng.choice([0, 0, 2, 4])
    if fixed or multiple:
        engine.enable_padding(
            direction="left" if left else "right",
            pad_id=7,
            length=fixed or None,
            pad_to_multiple_of=multiple or None,
        )
    written_items = ("Text" if item == "$A" else f"Special {item[1:-1]}%N" for item in items)
    fields = {
        "limit": "None" if limit is None else f"Some {limit}%nat",
        "keeps_end": truth(ends),
        "template": listed(written_items),
        "fixed": f"Some {fixed}%nat" if fixed else "None",
        "multiple": f"{multiple}%nat",
        "pad": "7%N",
        "pads_left": truth(left),
    }
    return f"{{| {'; '.join(f'{name} := {value}' for name, value in fields.items())} |}}"


def test_the_post_processing_in_coq_is_the_engines(compiled: tuple[Path, str]) -> None:
    rng = random.Random("processing")
    words = {str(k): k for k in range(7)}
    engine = Tokenizer(models.WordLevel({**words, "<8>": 8, "<9>": 9}, unk_token="0"))
    engine.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    terms, expected = [], []
    for _ in range(drawn(1000)):
        settings, row = drawn_processing(rng, engine), rng.choices(range(7), k=rng.randint(0, 9))
        terms.append(f"[finished {settings} {written(row)}%N]")
        expected.append([engine.encode(" ".join(map(str, row))).ids])
    assert computed(compiled[0], "Offsets", terms, "Open Scope N_scope.") == expected
    assert len({len(row) for (row,) in expected}) > 5
