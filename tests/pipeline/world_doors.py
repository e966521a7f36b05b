"""Drawn tokenizers of the conformance kit through every way to ids, against the object's own call.

By hand: ``python -m tests.pipeline.world_doors SEED SECONDS [LARGEST VOCABULARY]``."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter

from tokenizers import Tokenizer
from tokpar_conformance.worlds import World, draw_world

import tokpar
from tests.pipeline.doors import (
    BOUNDARIES,
    OwnCallFailedError,
    check_bytes,
    check_chunks,
    check_ends,
    check_session,
    check_stream,
    own_ids,
    small_sizes,
)
from tests.support.tokenizers_drawn import is_panic, may_never_end
from tokpar.contract.adapter import later_call_of
from tokpar.contract.interfaces import facts_of
from tokpar.errors import OptionError


def load_world(world: World) -> Tokenizer | None:
    """The engine's tokenizer; None for a file that it refuses or that never ends on some text."""
    try:
        own = Tokenizer.from_str(world.file)
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            return None
        raise
    if own.normalizer is not None:
        tokens = own.get_added_tokens_decoder().values()
        if any(may_never_end(token, own) for token in tokens):
            return None
    return own


def drawn_texts(rng: random.Random, world: World) -> list[str]:
    return [world.text(rng, rng.choice((3, 8, 25, 60))) for _ in range(3)]


def check_world(rng: random.Random, seen: Counter[str], largest: int = 3000) -> None:
    """All ways to ids on one world, text after text, so that the cache is warm."""
    world = draw_world(rng, largest=largest)
    own = load_world(world)
    seen["worlds"] += 1
    if own is None:
        seen["refused by the engine"] += 1
        return
    is_plain = own.truncation is None and own.padding is None and own.post_processor is None
    with small_sizes(rng):
        try:
            encoder = tokpar.Encoder(own, workers=rng.choice((1, 2)))
        except BaseException as error:
            if isinstance(error, OptionError) or is_panic(error):
                seen[f"refused: {type(error).__name__}"] += 1
                return
            raise
        seen["with a compiled call"] += later_call_of(encoder.tokenizer) is not None
        for _ in range(4):
            texts = drawn_texts(rng, world)
            try:
                check_texts(rng, encoder, own, texts, seen)
                if is_plain:
                    check_plain(rng, encoder, own, texts, seen)
            except (OwnCallFailedError, OptionError) as error:
                seen[f"texts: {type(error).__name__}"] += 1
        seen.update(world.oddities)


def check_texts(
    rng: random.Random,
    encoder: tokpar.Encoder,
    own: Tokenizer,
    texts: list[str],
    seen: Counter[str],
) -> None:
    """What any template, truncation and padding allows."""
    owns = [own_ids(own, text) for text in texts]
    batch = [list(each.ids) for each in own.encode_batch(texts)]
    assert [each.ids.tolist() for each in encoder.encode_batch(texts)] == batch, texts
    for text, ids in zip(texts, owns, strict=True):
        found = encoder.encode(text)
        assert found.ids.tolist() == ids, text
        assert encoder.count(text) == len(ids), text
        check_stream(rng, encoder, ids, text)
        seen["texts"] += 1
    if batch == owns:
        assert [each.ids.tolist() for each in encoder.encode_iter(texts)] == owns, texts
        check_bytes(encoder, texts, owns)


def check_plain(
    rng: random.Random,
    encoder: tokpar.Encoder,
    own: Tokenizer,
    texts: list[str],
    seen: Counter[str],
) -> None:
    for text in texts:
        ids = own_ids(own, text)
        check_ends(rng, encoder, ids, text)
        check_chunks(rng, encoder, own, text[:60], rng.choice(BOUNDARIES))
        try:
            spans = [tuple(each) for each in encoder.encode(text).char_spans.tolist()]
        except LookupError as error:  # the engine may misplace tokens, or takes one at random
            unproved = facts_of(encoder.tokenizer).unprovable or ""
            if "wrong places" not in str(error) and "at random" not in unproved:
                raise
            seen["texts without places"] += 1
        else:
            assert spans == own.encode(text).offsets, text
    check_session(rng, encoder, own, texts)
    seen["sessions"] += 1


def main(seed: int, seconds: float, largest: int = 3000) -> int:
    """Draws worlds for so long. Prints counts, and the seed of each failure."""
    seen: Counter[str] = Counter()
    begun = printed = last = time.monotonic()
    while time.monotonic() - begun < seconds:
        name = f"{seed} {seen['worlds']}"
        try:
            check_world(random.Random(name), seen, largest)
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            seen["failures"] += 1
            print(f"seed {name}: {type(error).__name__}: {error}"[:600], flush=True)
        if time.monotonic() - last > 20:
            print(f"seed {name}: {time.monotonic() - last:.0f} seconds", flush=True)
        last = time.monotonic()
        if last - printed > 60:
            printed = time.monotonic()
            print(dict(seen), flush=True)
    print(dict(seen), flush=True)
    return 1 if seen["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2]), *map(int, sys.argv[3:])))
