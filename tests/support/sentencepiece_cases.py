"""Drawn `.model` files of SentencePiece, and the compiled call beside the library's own `encode`.
Needs sentencepiece, and the plugin and its tests on the path."""

from __future__ import annotations

import io
import random
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

from tests.support.languages_drawn import draw_language_texts
from tests.support.unigram_shapes import BYTES, draw_scored_pieces
from tokpar.compiled.call_tables import call_of
from tokpar.compiled.merges import GateError
from tokpar.compiled.path_tables import path_arrays

TEXTS = 1500
"""Texts for one drawn tokenizer: a tenth of a second is for its tables."""
RULES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")
Drawn = tuple[Any, list[str]]


@cache
def rule_tables() -> tuple[bytes, ...]:
    """The tables of SentencePiece's own rules."""
    from tests.recipes.tokenizer_files.pieces import charsmap

    return tuple(charsmap(tiny_model(rule)) for rule in RULES)


def tiny_model(rule: str) -> bytes:
    from sentencepiece import SentencePieceTrainer

    written = io.BytesIO()
    SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c d e"] * 9),
        model_writer=written,
        vocab_size=9,
        hard_vocab_limit=False,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    return written.getvalue()


def drawn_model(name: str, draw: random.Random) -> Drawn:
    import drawn_models

    maps = [b""] * 4 + [*rule_tables()]
    alphabet, pieces, data = getattr(drawn_models, name)(draw, maps)
    texts = [each for _ in range(4) for each in drawn_models.drawn_texts(draw, alphabet, pieces)]
    return data, texts


def language_model(kind: int, draw: random.Random) -> Drawn:
    """A model of words of three languages. `kind`: 1 is Unigram, 2 BPE, 4 characters."""
    import drawn_models

    words, texts = draw_language_texts(draw, TEXTS)
    pieces = draw_scored_pieces(draw, words)[1:]
    named = {name: score for name, score in pieces if "\0" not in name and name not in BYTES}
    if kind != 1:
        ranked = sorted(named, key=lambda n: (len(n), n))
        step = draw.choice([1, 1, 3])
        named = {n: -float(k // step) for k, n in enumerate(ranked) if kind == 2 or len(n) == 1}
    rows = [(n, drawn_models.single(s), 1) for n, s in named.items()]
    falls_back = drawn_models.add_other_pieces(draw, rows)
    settings = [
        falls_back,
        *draw.choice([[True, True, True], [True, False, True], [False] * 2 + [True]]),
    ]
    table = draw.choice([b"", *rule_tables(), *rule_tables()[:1] * 2])
    return drawn_models.serialized(rows, settings, table, False, kind), texts


def compare_model(drawn: Drawn, seen: Counter[str]) -> Iterator[str]:
    """Yields the texts with other ids than those of the library."""
    from drawn_models import processor_of
    from tokpar_sentencepiece.model_file import read_path_model

    data, texts = drawn
    seen["tokenizers"] += 1
    try:
        own = processor_of(data)
        call: Any = call_of(path_arrays(read_path_model(data)), {}, ((), ()))
    except (RuntimeError, GateError):  # a score that is no number, for instance
        seen["tokenizers left"] += 1
        return
    expected = own.encode(texts, num_threads=1)
    for _ in range(2):
        ids, lengths, _, _ = call.encode_rows(tuple(texts))
        sizes = np.frombuffer(lengths, np.int64)
        ends = np.cumsum(np.maximum(sizes, 0))
        found = np.frombuffer(ids, np.uint32)
        for text, size, end, row in zip(
            texts, sizes.tolist(), ends.tolist(), expected, strict=True
        ):
            if size >= 0 and found[end - size : end].tolist() != row:
                yield text
    seen["cases"] += int((sizes >= 0).sum())
    seen["left"] += int((sizes < 0).sum())
