"""Drawn Unigram tokenizers and texts, and the rule of their ids in plain Python."""

from __future__ import annotations

import base64
import json
import math
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
from tokenizers import Tokenizer, models, pre_tokenizers
from tokpar_conformance.worlds.charsmaps import NMT_LIKE, charsmap

from tokpar.adapters.hf_postprocess import parse_component
from tokpar.compiled.call_tables import call_of
from tokpar.compiled.compiled_build import without_cuts
from tokpar.compiled.segment_tables import arrays_without_words
from tokpar.compiled.unigram_tables import unigram_arrays

LETTERS = [*"abc▁é中😀", "\u0301"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
UNKNOWN_CHARS = [*"xyzñ文👍", "\ufffd", "\u200d", "\x00"]
WHITE = [*" \t\n\u3000\u00a0\x85\u2028"]


def draw_pieces(draw: random.Random) -> list[tuple[str, float]]:
    """Pieces of few letters with scores that tie, or differ in the last bit only."""
    scores = draw.choice([_equal, _close, _real, _any])
    letters = draw.sample(LETTERS, draw.randrange(2, len(LETTERS)))
    names = [letter for letter in letters if draw.random() < 0.8]
    names += ["".join(draw.choices(letters, k=draw.choice([1, 2, 2, 3, 4, 9]))) for _ in range(25)]
    names += [
        "".join(draw.choices([*letters, *UNKNOWN_CHARS], k=3)) for _ in range(draw.choice([0, 4]))
    ]
    names += draw.choice([[], [], BYTES, BYTES[1:], ["a b", " ", "", "<unk>"]])
    names += draw.choices(names, k=draw.choice([0, 0, 3]))  # of equal pieces the last counts
    draw.shuffle(names)
    return [(name, scores(draw)) for name in ["<unk>", *names]]


def _equal(draw: random.Random) -> float:
    return draw.choice([-1.0, -1.0, -2.0, -3.0, 0.0])


def _close(draw: random.Random) -> float:
    return math.nextafter(-draw.choice([1.1, 0.7, 2.2, 0.1]), draw.choice([-9, -0.0, 9]))


def _real(draw: random.Random) -> float:
    return -draw.random() * 15


def _any(draw: random.Random) -> float:
    return draw.choice([1e308, -1e308, 5e-324, 0.1, -0.1, 1e16, -1e16, -draw.random()])


def draw_tokenizer(draw: random.Random) -> Tokenizer:
    """A Unigram behind Metaspace, perhaps with WhitespaceSplit before it."""
    pieces = draw_pieces(draw)
    unknown = draw.choice([0, 0, 0, None, draw.randrange(len(pieces))])
    model = models.Unigram(pieces, unk_id=unknown, byte_fallback=draw.random() < 0.4)
    tokenizer, splits_white = Tokenizer(model), draw.random() < 0.4
    scheme = draw.choice(["always", "never"] if splits_white else ["always", "first", "never"])
    mark: Any = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=draw.random() < 0.75)
    row = [pre_tokenizers.WhitespaceSplit(), mark]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(row) if splits_white else mark
    return tokenizer


def draw_table(draw: random.Random) -> bytes:
    """A table of Precompiled with keys of characters, clusters and their beginnings."""
    atoms = [
        *"ab é\u0301\u0316\u200d\u200c\r\n©®ﬁ中각ᅡ❤İ",
        "\u0903",
        "\u0e33",
        "\U0001f3fb",
        "\x07",
        "\u1eb9",
    ]
    values = [
        "",
        " ",
        "  ",
        "a",
        "ab",
        " \u0308",
        "\u0301",
        "é",
        "▁",
        "中" * 11,
        "\u3000",
        "\u200d",
    ]
    keys = ["".join(draw.choices(atoms, k=draw.choice([1, 1, 1, 2, 2, 3]))) for _ in range(12)]
    return charsmap({key: draw.choice(values) for key in keys})


def draw_normalizer(draw: random.Random) -> list[Any]:
    """Stages as a `tokenizer.json` has them: those of T5, XLM-R, ALBERT and DeBERTa, and others."""
    table = draw.choice([NMT_LIKE, draw_table(draw), draw_table(draw)])
    precompiled = {
        "type": "Precompiled",
        "precompiled_charsmap": base64.b64encode(table).decode(),
    }
    runs = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": draw.choice([" ", "▁"])}
    strip = {"type": "Strip", "strip_left": draw.random() < 0.5, "strip_right": draw.random() < 0.7}
    quotes = [{"type": "Replace", "pattern": {"String": x}, "content": '"'} for x in ("``", "''")]
    kinds = [
        ["NFKD", "StripAccents", "Lowercase"],
        ["NFC"],
        ["NFKC"],
        ["Lowercase"],
        ["Nmt"],
        ["NFD"],
    ]
    before = [*draw.choice([[], quotes]), *({"type": kind} for kind in draw.choice(kinds))]
    return [
        *draw.choice([[], [], [strip]]),
        *draw.choice([[], [], before]),
        *draw.choice([[], [precompiled], [precompiled]]),
        *draw.choice([[], [], [strip]]),
        *draw.choice([[], [], [runs]]),
    ]


def normalized_tokenizer(draw: random.Random) -> Tokenizer:
    """A drawn Unigram behind drawn normalizers."""
    config = json.loads(draw_tokenizer(draw).to_str())
    config["normalizer"] = {"type": "Sequence", "normalizers": draw_normalizer(draw)}
    return Tokenizer.from_str(json.dumps(config))


CLUSTERS = [
    *"ab ABé\u0301\u0316\u200d\u200c\r\n\t©®ﬁ中각각❤İΣ`'\u0600\u0903\u0e33\u3000\x07▁",
    "  ",
    "``",
    "\u1eb9",
]
CLUSTERS += [
    "\U0001f3fb",
    "\U0001f1e6",
    "👩",
    "\ufe0f",
    "\u094d",
    "क",
    "\u1112",
    "\u0378",
    "\u2028",
    "ﷺ",
    "\u00ad",
]


def draw_cluster_text(draw: random.Random) -> str:
    """Characters that join clusters, change, or are white space."""
    return "".join(draw.choices(CLUSTERS, k=draw.choice([1, 2, 3, 6, 12, 40])))


def draw_unigram_text(draw: random.Random) -> str:
    kinds = [LETTERS, [" ", " ", *LETTERS], UNKNOWN_CHARS, WHITE, ["<unk>", "aaaa", "<0x61>"]]
    weights = draw.choice([(6, 3, 0, 0, 0), (4, 4, 2, 1, 1), (1, 1, 6, 1, 0), (2, 1, 1, 4, 1)])
    chosen = draw.choices(kinds, weights, k=draw.choice([1, 3, 8, 20, 60]))
    return "".join(draw.choice(kind) for kind in chosen)


def native_call(tokenizer: Tokenizer) -> Any:
    """The call of the tables alone: a text is one segment, and the engine gives none."""
    state = tokenizer.model.__getstate__()
    stages = map(parse_component, (tokenizer.normalizer, tokenizer.pre_tokenizer))
    prefix = int('"first"' in tokenizer.to_str())
    arrays = without_cuts(arrays_without_words(prefix) | unigram_arrays(state, *stages))
    return call_of(arrays, {}, ((), ()))


def ids_of_call(call: Any, text: str) -> list[int] | None:
    """The ids of a text, or None if only the engine knows them."""
    found = call.encode_plain(text)
    data = found if isinstance(found, bytes) or found is None else found[0]
    return None if data is None else np.frombuffer(data, np.uint32).tolist()


def ids_by_path(
    pieces: Sequence[tuple[str, float]], unknown: int | None, falls_back: bool, text: str
) -> list[int] | None:
    """Returns the ids of one pre-token by the rule (proofs/compiled-call.md); None: the engine
    fails."""
    ids = {name: id_ for id_, (name, _) in enumerate(pieces)}
    least = min((score for _, score in pieces), default=math.inf) - 10.0
    best: list[tuple[float, int, int] | None] = [(0.0, 0, -1), *[None] * len(text)]
    for start, char in enumerate(text):
        here = best[start]
        assert here is not None  # each character is a candidate by itself
        ends = [stop for stop in range(start + 1, len(text) + 1) if text[start:stop] in ids]
        found = [(stop, pieces[ids[text[start:stop]]][1], ids[text[start:stop]]) for stop in ends]
        if char not in ids:
            found.append((start + 1, least, -2))
        for stop, score, id_ in found:
            before = best[stop]
            if before is None or score + here[0] > before[0]:
                if id_ == -2 and unknown is None:
                    return None
                best[stop] = (
                    score + here[0],
                    start,
                    unknown if id_ == -2 and unknown is not None else id_,
                )
    return _ids_on_path(best, ids, unknown, falls_back, text)


def _ids_on_path(
    best: Sequence[Any], ids: dict[str, int], unknown: int | None, falls_back: bool, text: str
) -> list[int]:
    found: list[int] = []
    stop = len(text)
    while stop:
        _, start, id_ = best[stop]
        if id_ == unknown:  # next to each other they are one string, which is looked up again
            while start and best[start][2] == unknown:
                start = best[start][1]
            string = text[start:stop]
            names = [BYTES[byte] for byte in string.encode()]
            if string in ids:
                found.append(ids[string])
            elif falls_back and all(name in ids for name in names):
                found += [ids[name] for name in reversed(names)]
            else:
                found.append(id_)
        else:
            found.append(id_)
        stop = start
    return found[::-1]
