"""The drawn tokenizers of the conformance kit: every way to ids gives those of the object's own
call, and what is drawn is as odd as it says."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise

import pytest
from tokpar_conformance.worlds import draw_world

from tests.pipeline.world_doors import check_world
from tests.support.profiles import drawn

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


def test_each_way_has_the_ids_of_the_own_call() -> None:
    seen: Counter[str] = Counter()
    for number in range(drawn(90)):
        check_world(random.Random(f"worlds {number}"), seen, 1000)
    assert seen["refused by the engine"] < seen["worlds"] / 10
    assert seen["with a compiled call"] > seen["worlds"] / 5
    assert seen["texts"] > 6 * seen["worlds"]


def test_worlds_are_as_odd_as_they_say() -> None:
    seen: Counter[str] = Counter()
    for seed in range(100):
        world = draw_world(random.Random(seed), largest=300)
        seen.update(world.oddities)
        config = json.loads(world.file)
        vocabulary, added = config["model"]["vocab"], config["added_tokens"]
        if isinstance(vocabulary, dict):
            ids = sorted(vocabulary.values())
            assert len({*ids}) == len(ids)
            seen["ids from a million on"] += ids[-1] > 1 << 20
            seen["several gaps"] += sum(b - a > 1 for a, b in pairwise(ids)) > 2
            seen["tokens of 1,000"] += max(map(len, vocabulary)) > 1000
        contents = [token["content"] for token in added[:40]]
        pairs = ((a, b) for a in contents for b in contents if a != b)
        seen["nested added tokens"] += any(a in b for a, b in pairs)
        seen["strides"] += bool(config["truncation"] and config["truncation"]["stride"])
    wanted = ["template", "template in a row", "truncation", "padding", "normalizer", "strides"]
    wanted += ["ids: atoms last", "ids: powers", "ids: far", "ids: gaps", "several gaps"]
    wanted += ["ids from a million on", "tokens of 1,000", "nested added tokens"]
    assert not {name for name in wanted if seen[name] < 2}, seen


def test_a_large_vocabulary_has_the_ids_of_the_own_call() -> None:
    seed = next(seed for seed in range(300) if size_of(seed) > 30_000)
    seen: Counter[str] = Counter()
    check_world(random.Random(seed), seen, 40_000)
    assert seen["texts"]


def size_of(seed: int) -> int:
    return len(json.loads(draw_world(random.Random(seed), largest=40_000).file)["model"]["vocab"])
