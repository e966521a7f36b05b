"""Unigram and SentencePiece by their file against the engines' own ids: drawn vocabularies, drawn
normalizers, the shapes of published files in 18 languages, and `.model` files.

    python -m tests.pipeline.unigram_depth SEED SECONDS [CASES OF A KIND] [KIND ...]

A case is a text whose ids are compared, as a new and as a seen text, because the compiled call
answers it. Each kind stops at so many cases (default: 500,000). Prints each difference, and counts
by kind: cases, tokenizers, texts that are left to the engine, segments that the call asks the
engine for. Needs sentencepiece."""

from __future__ import annotations

import json
import math
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import cache, partial
from typing import Any
from unittest import mock

from tokenizers import AddedToken, Tokenizer
from tokenizers.models import Unigram

import tokpar
from tests.support.call_answers import own_ids
from tests.support.languages_drawn import draw_language_text, draw_language_texts, draw_words
from tests.support.paths import ROOT
from tests.support.sentencepiece_cases import (
    TEXTS,
    Drawn,
    compare_model,
    drawn_model,
    language_model,
    rule_tables,
)
from tests.support.tokenizers_drawn import is_panic
from tests.support.unigram_drawn import (
    draw_cluster_text,
    draw_table,
    draw_tokenizer,
    draw_unigram_text,
    normalized_tokenizer,
)
from tests.support.unigram_shapes import (
    METASPACE,
    NMT_PART,
    SHAPES,
    draw_scored_pieces,
    shape,
)
from tokpar.compiled import charsmap_tables, compiled_build
from tokpar.compiled.segment_engine import SegmentEngine
from tokpar.contract.adapter import later_call_of

CASES = 500_000
PLUGIN = ROOT / "plugins/tokpar-sentencepiece"


def drawn_vocabulary(draw: random.Random) -> Drawn:
    return draw_tokenizer(draw), [draw_unigram_text(draw) for _ in range(TEXTS)]


def drawn_normalizers(draw: random.Random) -> Drawn:
    texts = [draw.choice([draw_cluster_text, draw_unigram_text])(draw) for _ in range(TEXTS)]
    return normalized_tokenizer(draw), texts


def no_numbers(draw: random.Random) -> Drawn:
    """Scores that the engine does not write: the compiled call asks it for segments."""
    words = draw_words(draw, "English", 60)
    bad = math.nan, math.inf, -math.inf
    pieces = [(n, draw.choice(bad) if draw.random() < 0.1 else s)
              for n, s in draw_scored_pieces(draw, words)]  # fmt: skip
    config = json.loads(Tokenizer(Unigram([("<unk>", 0.0)], unk_id=0)).to_str())
    tokenizer = Tokenizer.from_str(json.dumps(config | {"pre_tokenizer": METASPACE}))
    tokenizer.model = Unigram(pieces, unk_id=0)
    return tokenizer, [draw_language_text(draw, words, True) for _ in range(TEXTS)]


def shaped(name: str, draw: random.Random) -> Drawn:
    """A vocabulary of three languages in the shape of a published file, with its added tokens."""
    words, texts = draw_language_texts(draw, TEXTS)
    table = draw.choice(
        [*rule_tables(), *rule_tables()[:1] * 2, NMT_PART, drawn_table(draw.randrange(20))]
    )
    model = Unigram(draw_scored_pieces(draw, words), unk_id=0, byte_fallback=False)
    tokenizer = Tokenizer.from_str(
        json.dumps(json.loads(Tokenizer(model).to_str()) | shape(table, name))
    )
    tokenizer.add_special_tokens(["<s>", "</s>", AddedToken("<mask>", lstrip=True)])
    marked = (f"{text} <mask>{text[:9]}</s>" for text in draw.choices(texts, k=20))
    return tokenizer, [*texts, *marked]


@cache
def drawn_table(number: int) -> bytes:
    return draw_table(random.Random(number))


def compare_tokenizer(drawn: Drawn, seen: Counter[str]) -> Iterator[str]:
    """Yields the texts with other ids or places than those of the engine."""
    tokenizer, texts = drawn
    later = later_call_of(tokpar.load(tokenizer))
    call = None if later is None else later.wait()
    seen["tokenizers"] += 1
    if call is None:
        seen["tokenizers left"] += 1
        return
    expected = own_rows(tokenizer, texts)
    for _ in range(2):
        with counted_segments(seen):
            rows, is_answered = call.rows(texts, 1)
        for k, text in enumerate(texts):
            if is_answered[k] and rows[k].tolist() != expected[k]:
                yield text
    seen["words"] += sum(len(text.split(" ")) for text in texts)
    seen["by the engine"] += bool(call.why_by_engine)
    seen["cases"] += sum(map(bool, is_answered))
    seen["left"] += len(texts) - sum(map(bool, is_answered))
    for text in texts[:20]:
        found = call.places(text)
        if found is None:
            continue
        own = tokenizer.encode(text, add_special_tokens=False)
        seen["places"] += 1
        if (found.ids.tolist(), [*map(tuple, found.spans.tolist())]) != (own.ids, own.offsets):
            yield text


def own_rows(tokenizer: Tokenizer, texts: list[str]) -> list[list[int] | None]:
    """The engine's ids of each text, None where it fails."""
    try:
        return [row.ids for row in tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        return [own_ids(tokenizer, text) for text in texts]


Kind = tuple[Callable[[random.Random], Drawn], Callable[[Drawn, Counter[str]], Iterator[str]]]
KINDS: dict[str, Kind] = {
    "vocabularies": (drawn_vocabulary, compare_tokenizer),
    "normalizers": (drawn_normalizers, compare_tokenizer),
    **{name: (partial(shaped, name), compare_tokenizer) for name in SHAPES},
    "no numbers": (no_numbers, compare_tokenizer),
    ".model Unigram": (partial(drawn_model, "drawn_model"), compare_model),
    ".model BPE, char": (partial(drawn_model, "drawn_merges"), compare_model),
    ".model Unigram, languages": (partial(language_model, 1), compare_model),
    ".model BPE, languages": (partial(language_model, 2), compare_model),
    ".model char, languages": (partial(language_model, 4), compare_model),
}


def main(seed: int, seconds: float, cases: int = CASES, kinds: Sequence[str] = ()) -> int:
    """Draws of each kind in turn. Returns 1 if ids differ, or a comparison fails."""
    sys.path += [str(PLUGIN / "src"), str(PLUGIN / "tests")]
    counts = {name: Counter[str]() for name in kinds or KINDS}
    begun = printed = time.monotonic()
    with quick_tables():
        for number in range(1 << 40):
            left = [name for name in counts if counts[name]["cases"] < cases]
            if not left or time.monotonic() - begun > seconds:
                break
            for name in left:
                check(name, f"{seed} {number}", counts[name])
            if time.monotonic() - printed > 60:
                printed = time.monotonic()
                print_counts(counts)
    print_counts(counts)
    return int(any(seen["differ"] or seen["failures"] for seen in counts.values()))


@contextmanager
def quick_tables() -> Iterator[None]:
    """Tables are made at once, with few comparisons, and those of one table of Precompiled once."""
    with ExitStack() as stack:
        for module, name, value in (
            (compiled_build, "IN_BACKGROUND", False),
            (compiled_build, "DRAWN", 40),
            (charsmap_tables, "_forms", kept_forms(charsmap_tables._forms)),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield


@contextmanager
def counted_segments(seen: Counter[str]) -> Iterator[None]:
    """Counts the segments that a compiled call asks the engine for."""
    own = SegmentEngine.rows

    def rows(self: SegmentEngine, segments: list[str]) -> Any:
        seen["asked"] += len(segments)
        return own(self, segments)

    with mock.patch.object(SegmentEngine, "rows", rows):
        yield


def kept_forms(make: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What `make` returns for a row of normalizers, made once for each of the first ones."""
    found: dict[str, Any] = {}

    def forms(row: Any) -> Any:
        key = json.dumps([row.before, row.table])
        if key not in found:
            made = make(row)
            if len(found) == 80:
                return made
            found[key] = made
        return found[key]

    return forms


class QuickRandom(random.Random):
    """Draws one of a few things as quickly as Python can; not quite evenly."""

    def choice(self, seq: Any) -> Any:
        return seq[int(self.random() * len(seq))]


def check(name: str, seed: str, seen: Counter[str]) -> None:
    make, compare = KINDS[name]
    try:
        for text in compare(make(QuickRandom(f"{name} {seed}")), seen):
            seen["differ"] += 1
            print(f"differs: {name}, seed {seed}: {text[:200]!r}", flush=True)
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        seen["failures"] += 1
        print(f"fails: {name}, seed {seed}: {type(error).__name__}: {error}"[:400], flush=True)


def print_counts(counts: dict[str, Counter[str]]) -> None:
    for name, seen in counts.items():
        print(f"{name:26} differ {seen['differ']} ", dict(sorted(seen.items())), flush=True)
    print(flush=True)


if __name__ == "__main__":
    given = sys.argv[1:]
    cases = int(given[2]) if len(given) > 2 else CASES
    sys.exit(main(int(given[0]), float(given[1]), cases, given[3:]))
