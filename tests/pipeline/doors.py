"""Each way to the ids of a text against the tokenizer object's own call, on odd tokenizers.

By hand: ``python -m tests.pipeline.doors SEED SECONDS``."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import chain, pairwise
from unittest import mock

from tokenizers import Tokenizer

import tokpar
from tests.support.odd_tokenizers import odd_text, odd_tokenizer
from tests.support.tokenizers_drawn import contents, is_panic
from tokpar.chunks import encoded_text, end_ids
from tokpar.compiled import compiled_build, compiled_call, front
from tokpar.contract.adapter import inserted_ids, later_call_of
from tokpar.cuts import firm_cuts
from tokpar.errors import OptionError
from tokpar.pipeline import short_texts
from tokpar.sessions import editing

BOUNDARIES = ("token", "cut", "line", "sentence")


class OwnCallFailedError(Exception):
    """The tokenizer's own call panics or raises for a text."""


def own_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    """The ids of the object's own call. Raises OwnCallFailedError."""
    try:
        return list(tokenizer.encode(text).ids)
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise OwnCallFailedError from error
        raise


@contextmanager
def small_sizes(rng: random.Random) -> Iterator[None]:
    """Each way of a text begins at small sizes: regions, segments of sessions. Compiled calls are
    made at once."""
    direct = rng.choice((0, 1 << 13))
    with ExitStack() as stack:
        for module, values in (
            (encoded_text, dict.fromkeys(("REGION", "LOCATED"), rng.choice((1, 9, 1 << 20)))),
            (end_ids, {"_LEAST_CHARS": 1, "_CHARS_PER_TOKEN": 1}),
            (editing, dict.fromkeys(("SEGMENT", "COMPILED_SEGMENT"), rng.choice((2, 9)))),
            (firm_cuts, {"_LEAST_REACH": rng.choice((1, 8))}),
            (
                front,
                {"LONGEST_ALONE": rng.choice((1, 9, 1 << 16)), "FEW_TEXTS": rng.choice((1, 64))},
            ),
            (compiled_call, {"LEAST_PART": rng.choice((2, 1 << 15))}),
            (compiled_build, {"IN_BACKGROUND": False}),
            (short_texts, {"MOST_DIRECT_CHARS": direct}),
        ):
            stack.enter_context(mock.patch.multiple(module, **values))
        yield


def check_chunks(
    rng: random.Random, encoder: tokpar.Encoder, tokenizer: Tokenizer, text: str, boundary: str
) -> int:
    """Each chunk has the ids of its slice. Returns how many chunks were compared."""
    max_tokens, count = rng.choice((1, 2, 3, 5, 12)), 0
    overlap = rng.choice((0, 0, max_tokens // 2))
    try:
        for chunk in encoder.chunks(text, max_tokens, overlap, boundary):  # type: ignore[arg-type]
            part = text[chunk.start : chunk.stop]
            assert chunk.ids.tolist() == own_ids(tokenizer, part), (text, part, boundary)
            count += 1
    except OptionError:  # a character with more ids
        assert max(len(own_ids(tokenizer, char)) for char in text) > max_tokens
    return count


def check_ends(rng: random.Random, encoder: tokpar.Encoder, own: Sequence[int], text: str) -> None:
    """`encode(max_tokens=)` has the first or last ids, `count` the number of ids."""
    assert encoder.count(text) == len(own), text
    most = rng.randint(1, len(own) + 2)
    assert encoder.count(text, limit=most) == min(len(own), most + 1), (text, most)
    if inserted_ids(encoder.tokenizer) is None:  # then max_tokens is refused
        return
    for size in (1, most):
        right = encoder.encode(text, max_tokens=size).ids.tolist()
        assert right == own[:size], (text, size)
        left = encoder.encode(text, max_tokens=size, side="left").ids.tolist()
        assert left == own[max(0, len(own) - size) :], (text, size)


def check_stream(
    rng: random.Random, encoder: tokpar.Encoder, own: Sequence[int], text: str
) -> None:
    edges = sorted({0, len(text), *(rng.randint(0, len(text)) for _ in range(3))})
    parts = [text[a:b] for a, b in pairwise(edges)]
    assert [*chain(*(ids.tolist() for ids in encoder.stream(parts)))] == own, (text, parts)


def check_session(
    rng: random.Random, encoder: tokpar.Encoder, tokenizer: Tokenizer, texts: Sequence[str]
) -> None:
    """A session after append, replace and update."""
    session = encoder.session(texts[0])
    assert session.ids.tolist() == own_ids(tokenizer, texts[0]), texts[0]
    for more in texts[1:]:
        text = session.text
        start = rng.randint(0, len(text))
        stop = rng.randint(start, min(len(text), start + 4))
        edited = text[:start] + more + text[stop:]
        for whole in (text + more, edited, rng.choice(texts)):
            own_ids(tokenizer, whole)  # a text that the own call refuses ends the check
        session.append(more)
        assert session.ids.tolist() == own_ids(tokenizer, text + more), (text, more)
        session.truncate(len(text))
        session.replace(start, stop, more)
        assert session.count == len(own_ids(tokenizer, edited)), edited
        assert session.ids.tolist() == own_ids(tokenizer, edited), (text, start, stop, more)
        session.update(text[:stop] + more)
        assert session.ids.tolist() == own_ids(tokenizer, session.text), (edited, session.text)


def check_bytes(
    encoder: tokpar.Encoder, texts: Sequence[str], owns: Sequence[Sequence[int]]
) -> int:
    """A batch of UTF-8 bytes has the ids of its texts. Returns 0 for a lone surrogate, else 1."""
    try:
        given = [text.encode() for text in texts]
    except UnicodeEncodeError:
        return 0
    assert [each.ids.tolist() for each in encoder.encode_batch(given)] == [*owns], texts
    return 1


def check_doors(rng: random.Random, seen: Counter[str]) -> None:
    """All ways to ids on one drawn tokenizer, text after text, so that the cache is warm."""
    tokenizer = odd_tokenizer(rng)
    options = rng.choice(({}, {}, {"chunk_chars": rng.choice((1, 3, 8))}))
    added = contents(tokenizer)
    with small_sizes(rng):
        encoder = tokpar.Encoder(tokenizer, workers=rng.choice((1, 2, 3)), **options)
        seen["tokenizers"] += 1
        adapter = encoder.tokenizer
        seen["tokenizers with a call"] += later_call_of(adapter) is not None
        for _ in range(6):
            texts = [odd_text(rng, added, rng.choice((3, 8, 25))) for _ in range(3)]
            try:
                owns = [own_ids(tokenizer, text) for text in texts]
                found = [each.ids.tolist() for each in encoder.encode_iter(texts)]
                assert found == owns, texts
                assert [each.ids.tolist() for each in encoder.encode_batch(texts)] == owns, texts
                seen["batches of bytes"] += check_bytes(encoder, texts, owns)
                for text, own in zip(texts, owns, strict=True):
                    assert encoder.encode(text).ids.tolist() == own, text
                    for boundary in BOUNDARIES:
                        seen["chunks"] += check_chunks(rng, encoder, tokenizer, text, boundary)
                    check_ends(rng, encoder, own, text)
                    check_stream(rng, encoder, own, text)
                    seen["texts"] += 1
                check_session(rng, encoder, tokenizer, texts)
                seen["sessions"] += 1
            except OwnCallFailedError:
                seen["texts that the own call refuses"] += 1


def main(seed: int, seconds: float) -> int:
    """Draw tokenizers for so long. Prints counts, and the seed of each failure."""
    seen: Counter[str] = Counter()
    begun = printed = time.monotonic()
    while time.monotonic() - begun < seconds:
        name = f"{seed} {seen['drawn']}"
        seen["drawn"] += 1
        try:
            check_doors(random.Random(name), seen)
        except BaseException as error:
            if not isinstance(error, Exception) and not is_panic(error):
                raise
            seen["failures"] += 1
            print(f"seed {name}: {type(error).__name__}: {error}"[:400], flush=True)
        if time.monotonic() - printed > 60:
            printed = time.monotonic()
            print(dict(seen), flush=True)
    print(dict(seen), flush=True)
    return 1 if seen["failures"] else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), float(sys.argv[2])))
