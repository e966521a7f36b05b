"""Compare two tokenizers: equal by a proof, different by a text, or undecided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tokpar.errors import MismatchError
from tokpar_diff.differences import Difference
from tokpar_diff.equality import Argument, arguments_for
from tokpar_diff.rows import ASPECTS
from tokpar_diff.search import DifferenceSearch, all_drawn_texts, structural_texts
from tokpar_diff.sides import Side, open_elsewhere, open_side
from tokpar_diff.structure import parts_of, parts_that_differ, sentence_of

EQUAL, DIFFERENT, UNDECIDED = "equal", "different", "undecided"


@dataclass(frozen=True)
class TokenizerDiff:
    """The answer about two tokenizers `a` and `b`.

    `answer`: "different" if a text shows it; "equal" if a proof covers every aspect that both sides
    tell; else "undecided". `aspects`: the answer for each of these. `structure`: a sentence for
    each part that is not literally the same. `reasons`: the arguments of the proof, or why there is
    none. `differences`: a text for each aspect that differs, which needs each of its characters.
    `texts_count`: how many texts were compared."""

    a: str
    b: str
    answer: str
    aspects: Mapping[str, str]
    structure: tuple[str, ...]
    reasons: tuple[str, ...]
    differences: tuple[Difference, ...]
    texts_count: int


def diff(
    a: object,
    b: object,
    *,
    python: str | None = None,
    corpus: Iterable[str] = (),
    **settings: Any,
) -> TokenizerDiff:
    """Compare two tokenizers: ids with and without special tokens, offsets, decoded text.

    `a`, `b`: objects of tokenizers, transformers or tiktoken, paths or names. `python`: another
    Python, in which the path or name `b` is opened. `corpus`: texts to try if no other text
    differs. `settings`: those of `tokpar.load`, for files that need them. An object is what its
    engine's file says: one whose model was trained again in place may still answer from its old
    cache.

    Raises OptionError, FileFormatError, UnknownNameError, OSError for what cannot be opened, and
    MismatchError if a text contradicts a proof, which would be an error of tokpar."""
    side_a = open_side(a, **settings)
    side_b = open_side(b, **settings) if python is None else open_elsewhere(str(b), python)
    return compare_sides(side_a, side_b, corpus)


def compare_sides(a: Side, b: Side, corpus: Iterable[str] = ()) -> TokenizerDiff:
    """Compare two tokenizers that are open; see `diff`."""
    arguments = arguments_for(a, b)
    search = DifferenceSearch(a, b)
    search.try_texts(structural_texts(a, b, arguments))
    open_aspects = {aspect for argument in arguments for aspect in argument.blocks}
    if not search.has_found and open_aspects.intersection(search.aspects):
        search.try_texts(all_drawn_texts(a, b))
        if not search.has_found:
            search.try_texts(("corpus", text) for text in corpus)
    differences = search.differences()
    aspects = _answers(search.aspects, open_aspects, differences)
    parts_a, parts_b = parts_of(a), parts_of(b)
    names = parts_that_differ(parts_a, parts_b) if parts_a.keys() == parts_b.keys() else []
    return TokenizerDiff(
        a=a.label,
        b=b.label,
        answer=_answer_of(aspects),
        aspects=aspects,
        structure=tuple(sentence_of(name, parts_a.get(name), parts_b.get(name)) for name in names),
        reasons=tuple(_reasons(arguments, aspects)),
        differences=differences,
        texts_count=search.texts_count,
    )


def _answers(
    names: Iterable[str], open_aspects: Iterable[str], differences: Iterable[Difference]
) -> dict[str, str]:
    differing = {aspect: each for each in differences for aspect in each.aspects}
    answers = {}
    for aspect in names:
        if aspect in differing and aspect not in open_aspects:
            text = differing[aspect].text
            raise MismatchError(f"{ASPECTS[aspect]} are proved equal, and differ on {text!r}")
        undecided = UNDECIDED if aspect in open_aspects else EQUAL
        answers[aspect] = DIFFERENT if aspect in differing else undecided
    return answers


def _answer_of(aspects: Mapping[str, str]) -> str:
    for answer in (DIFFERENT, UNDECIDED):
        if answer in aspects.values():
            return answer
    return EQUAL


def _reasons(arguments: Iterable[Argument], aspects: Mapping[str, str]) -> Iterable[str]:
    """Yields the arguments for what is proved, and those that leave an aspect undecided."""
    has_proof = EQUAL in aspects.values()
    for argument in arguments:
        is_open = any(aspects.get(x) == UNDECIDED for x in argument.blocks)
        if is_open or (has_proof and len(argument.blocks) < len(ASPECTS)):
            yield argument.sentence
