"""Draws tokenizer.json files and forged ids, and compares level `model` with the engine.

    python -m tests.recipes.model_by_hand --seconds 900 --seed 1

Prints counts; a wrong verdict raises AssertionError with the file."""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter

from tokenizers import Tokenizer

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
        if proof.refused:
            counts[f"refused: {proof.refused[0]}"] += 1
        else:
            assert proof.ok, (config, text, ids, proof)
            counts["right rows proved"] += 1
        for other in forged(rng, ids, tokens):
            if other != ids:
                counts["forged rows"] += 1
                assert not proved(config, text, other).ok, (config, text, ids, other)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng, counts = random.Random(arguments.seed), Counter[str]()
    stop = time.process_time() + arguments.seconds
    while time.process_time() < stop:
        one_world(rng, counts)
    for name, count in sorted(counts.items()):
        print(f"{count:10,} {name}")


if __name__ == "__main__":
    main()
