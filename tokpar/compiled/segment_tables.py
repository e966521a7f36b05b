"""The tables of a tokenizer whose model only the engine knows: where texts are cut, and the words
of its vocabulary, which all threads share."""

from __future__ import annotations

import numpy as np

from tokpar.compiled.call_tables import Arrays, call_of
from tokpar.compiled.compiled_build import BY_ENGINE
from tokpar.compiled.segment_engine import CHUNK, SegmentEngine
from tokpar.compiled.unigram_tables import NO_UNIGRAM
from tokpar.errors import ChangedError
from tokpar.facts.hf_vocabulary import bytes_of_token
from tokpar.facts.space_stages import MARK
from tokpar.process.interrupts import raise_foreign

MOST_TAUGHT = 20_000
"""The first tokens of a vocabulary, of which the words are taught."""
MOST_FORMS = 4_000
"""The first words, which are taught also as texts begin with them, and before a comma or full stop:
half of the segments of a short prompt that were not taught are such."""
MOST_SOUGHT = 1 << 16
"""Code points of all added tokens up to which words that hold one are looked for."""
FOR_SPACE = 2
"""The engine's prefix stands for the space at a cut; see `runs_of_listed` in call_section.h."""
_AT_ONCE = 16 * CHUNK
"""Words between which other threads go on."""


def segment_arrays(engine: SegmentEngine) -> Arrays:
    """Returns the tables as call.c reads them."""
    cut, words = engine.cut, _first_words(engine)
    sides = bytes([7]) * 256 if cut is None else cut.sides[:128] + cut.sides[128:] * 128
    slots = 1 << max(4, (2 * len(words)).bit_length())
    size = sum(len(word.encode()) for word in words)
    prefix = FOR_SPACE if engine.absorbs else int(engine.facts.first_prefix)
    arrays = arrays_without_words(prefix) | {
        "sides": np.frombuffer(sides, dtype=np.uint8),
        "words": np.zeros(4 * slots, dtype=np.uint64),
        "keys": np.zeros(size + 4 * len(words) + 64, dtype=np.uint8),
        "more": np.zeros(size + 64, dtype=np.uint32),
    }
    call = call_of(arrays, {}, ((), ()), learns=False)
    keys = items = 0
    for k in range(0, len(words), _AT_ONCE):
        some = words[k : k + _AT_ONCE]
        try:
            found = engine.rows(some)
        except (ChangedError, MemoryError):
            raise
        except BaseException as error:  # a panic of the engine is no Exception
            raise_foreign(error)
            continue  # it fails on one of them, and says so when a text has it
        keys, items = call.teach(some, *found)
    arrays["keys"], arrays["more"] = arrays["keys"][: keys + 64], arrays["more"][: items + 64]
    return arrays


def arrays_without_words(prefix: int) -> Arrays:
    """Returns the tables of a text that is one segment, of which nothing is known. `prefix`: see
    `runs_of_listed` of call_section.h."""
    return NO_UNIGRAM | {
        "settings": np.array([BY_ENGINE, prefix, 0, 0, 0, 0, 0], dtype=np.int64),
        "sides": np.zeros(256, dtype=np.uint8),
        "lengths": np.zeros(1, dtype=np.uint16),
        "length_ids": np.zeros(0, dtype=np.uint32),
        "words": np.zeros(4 * 16, dtype=np.uint64),
        "keys": np.zeros(64, dtype=np.uint8),
        "more": np.zeros(64, dtype=np.uint32),
    }


def _first_words(engine: SegmentEngine) -> list[str]:
    """Returns the words among the first tokens, each behind a space, as texts mostly have them; of
    the first words other forms, too.

    Left out: a word that holds an added token, since the tables do not depend on these, and one
    behind which no cut is certified."""
    tokens, suffix, inner = engine.first_tokens(MOST_TAUGHT)
    found = dict[str, None]()
    for name in tokens:
        if (inner and name.startswith(inner)) or not name.endswith(suffix):
            continue
        if engine.facts.byte_level:
            name = (bytes_of_token(name) or b"").decode(errors="ignore")
        word = name.removesuffix(suffix).replace(MARK, " ").removeprefix(" ")
        if word and not any(map(str.isspace, word)):
            found[f" {word}"] = None
    first = [*found][:MOST_FORMS]
    found |= dict.fromkeys(form for word in first for form in (word[1:], f"{word},", f"{word}."))
    words = [word for word in found if engine.cut is None or engine.cut.ends(word)]
    return _without([token.content for token in engine.facts.added_tokens], words)


def _without(contents: list[str], words: list[str]) -> list[str]:
    """Returns the words that hold none of the `contents`; none, if these are long to look for."""
    if sum(map(len, contents)) > MOST_SOUGHT:
        return []
    from tokpar.cuts.added_token_contents import Contents  # few tables are made

    stops = np.cumsum([len(word) + 1 for word in words])
    near = Contents.of(contents).clusters("\n".join(words))
    is_near = np.zeros(len(words) + 1, dtype=np.bool_)
    for first, stop, _ in near.tolist():
        low, high = np.searchsorted(stops, [first, stop - 1], side="right")
        is_near[low : high + 1] = True
    return [word for word, flag in zip(words, is_near.tolist(), strict=False) if not flag]
