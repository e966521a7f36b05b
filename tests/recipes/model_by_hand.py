"""Draws tokenizer.json files and forged ids, and compares level `model` with the engine.

    python -m tests.recipes.model_by_hand --seconds 900 --seed 1

Prints counts; a wrong verdict raises AssertionError with the file."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from typing import Any

from tokenizers import Tokenizer
from tokpar_model import file_findings

from tests.support.model_worlds import drawn_config, drawn_text, forged, proved, spelled


def one_world(rng: random.Random, counts: Counter[str], texts: int = 12) -> None:
    """Compare the verdicts on one drawn file."""
    config = drawn_config(rng)
    try:
        engine = Tokenizer.from_str(json.dumps(config))
    except BaseException as error:  # a panic is no Exception
        if isinstance(error, KeyboardInterrupt):
            raise
        counts["files that the engine refuses"] += 1
        proof = proved(config, "ab", [])
        assert not proof.ok, config
        return
    counts["files"] += 1
    tokens = spelled(config)
    for _ in range(texts):
        text = drawn_text(rng, config)
        try:
            ids = engine.encode(text, add_special_tokens=False).ids
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            continue
        proof = proved(config, text, ids)
        counts["right rows"] += 1
        if proof.refusal:
            counts[f"refused: {proof.refusal[0]}"] += 1
        else:
            assert proof.ok, (config, text, ids, proof)
            counts["right rows proved"] += 1
        for other in forged(rng, ids, tokens):
            if other != ids:
                counts["forged rows"] += 1
                assert not proved(config, text, other).ok, (config, text, ids, other)


VALUES: tuple[Any, ...] = (
    *(None, True, -1, 0, 1 << 33, 1.5, "", "a", "ab", "\ud800", [], {}, [[]], ["a", "b"], {"a": 0}),
    *(
        "\\p{L",
        "(" * 70,
        "[a-",
        "BPE",
        "WordPiece",
        "Unigram",
        [["a", "b"], ["a", "b"]],
        float("nan"),
    ),
)


def mutated_world(rng: random.Random) -> None:
    """Change a drawn file somewhere: no error, and no ids are proved that its engine does not give,
    if an engine reads the file at all."""
    config = json.loads(json.dumps(drawn_config(rng)))
    text = drawn_text(rng, config)
    for _ in range(rng.randint(1, 3)):
        mutate(rng, config)
    try:
        written = json.dumps(config)
    except (ValueError, RecursionError):
        return
    for ids in ([], [97, 98], [*range(rng.randrange(9))]):
        proof = file_findings(written, text, ids)
        assert proof.ok == (not proof.findings and proof.refusal is None)
        if proof.ok and text:
            try:
                engine = Tokenizer.from_str(written)
            except Exception:  # parts that decide no ids are changed, too
                return
            assert engine.encode(text, add_special_tokens=False).ids == ids


def mutate(rng: random.Random, node: Any) -> None:
    """Change, remove or repeat something in a tree of JSON, in place."""
    while True:
        keys = [*node] if isinstance(node, dict) else [*range(len(node))]
        if not keys:
            return
        key = rng.choice(keys)
        inner = node[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            node = inner
            continue
        change = rng.random()
        if change < 0.2:
            del node[key]
        elif change < 0.4 and isinstance(node, list):
            node.insert(rng.choice(keys), inner)
        elif change < 0.6 and isinstance(node, dict):
            node[rng.choice(["a", "type", "id", "content", "Ġ", "ab"])] = inner
        else:
            node[key] = rng.choice(VALUES)
        return


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng, counts = random.Random(arguments.seed), Counter[str]()
    stop = time.process_time() + arguments.seconds
    try:
        while time.process_time() < stop:
            one_world(rng, counts)
            for _ in range(10):
                mutated_world(rng)
                counts["mutated files"] += 1
    finally:  # also when it is interrupted
        for name, count in sorted(counts.items()):
            print(f"{count:10,} {name}", flush=True)


if __name__ == "__main__":
    main()
