"""Decide from a `tokenizer.json` how its ids become a text that has the same ids."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tokpar.formats.vocabulary import byte_alphabet
from tokpar.types import AddedToken

Json = Mapping[str, Any]
MARK = "▁"
_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_KEEP_ALL = {"ByteLevel", "Digits", "Punctuation", "Split"}
"""Pre-tokenizers that drop nothing, unless a setting says so."""
_DROP_SPACES = {"BertPreTokenizer", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit"}


@dataclass(frozen=True, slots=True)
class Respelling:
    """How ids become a text: see `tokpar_corpus.id_texts`.

    `exact`: the tokenizer never changes the text that the ids spell. Otherwise the audit compares
    the ids only of texts that the tokenizer did not change. `normalizes`: a normalizer changes
    texts. `prefix`: begins the tokens that continue a word ("##"). `prepends`: the tokenizer puts a
    "▁" before every segment."""

    kind: Literal["bytes", "words", "marks"]
    exact: bool = True
    normalizes: bool = False
    prefix: str = "##"
    prepends: bool = False


def stages_of(part: Json | None, members: str) -> list[Json]:
    """Returns the stages of a part of a `tokenizer.json`, those of a Sequence one by one.

    `members`: the key of the list of a Sequence."""
    if part is None or part["type"] != "Sequence":
        return [part] if part else []
    return [stage for member in part[members] for stage in stages_of(member, members)]


def respelling_of(
    config: Json, vocabulary: Collection[str], added_tokens: Iterable[AddedToken]
) -> Respelling | str:
    """How the ids of a tokenizer become a text, or why they cannot."""
    model = config["model"]
    normalizers = stages_of(config.get("normalizer"), "normalizers")
    pieces = stages_of(config.get("pre_tokenizer"), "pretokenizers")
    kind = model.get("type")
    if model.get("dropout") or model.get("alpha") or model.get("nbest_size"):
        return "the tokenizer draws ids at random"
    if any(token.single_word and (token.lstrip or token.rstrip) for token in added_tokens):
        return "an added token is single_word and strips spaces, so a text around it is lost"
    if any(piece["type"] == "ByteLevel" for piece in pieces):
        return _by_bytes(normalizers, pieces, model, vocabulary)
    if kind in ("WordPiece", "WordLevel"):
        return _by_words(normalizers, pieces, model)
    if kind in ("BPE", "Unigram"):
        return _by_marks(normalizers, pieces, model)
    return f"nothing is known of a model {kind} behind these stages"


def _by_bytes(
    normalizers: list[Json], pieces: list[Json], model: Json, vocabulary: Collection[str]
) -> Respelling | str:
    strange = [piece["type"] for piece in pieces if piece["type"] not in _KEEP_ALL]
    dropping = [piece for piece in pieces if piece.get("behavior") == "Removed"]
    prefixed = [piece for piece in pieces if piece.get("add_prefix_space")]
    affixes = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    if model.get("type") != "BPE" or affixes or strange or dropping:
        return "its pre-tokenizer or model drops or changes a part of the text"
    if prefixed and len(pieces) > 1:
        return "its pre-tokenizer puts a space before each piece of a text"
    if not byte_alphabet().keys() <= set(vocabulary):
        return "its vocabulary lacks some bytes"
    idempotent = len(normalizers) <= 1 and all(stage["type"] in _FORMS for stage in normalizers)
    return Respelling("bytes", idempotent, bool(normalizers))


def _by_words(normalizers: list[Json], pieces: list[Json], model: Json) -> Respelling | str:
    kinds = {piece["type"] for piece in pieces}
    if not kinds & {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"} or kinds - _DROP_SPACES:
        return "its pre-tokenizer does not drop white space, or drops more"
    prefix = model.get("continuing_subword_prefix", "##") if model["type"] == "WordPiece" else ""
    idempotent = [stage["type"] for stage in normalizers] in ([], ["BertNormalizer"])
    return Respelling("words", idempotent, bool(normalizers), prefix)


def _by_marks(normalizers: list[Json], pieces: list[Json], model: Json) -> Respelling | str:
    if MARK not in json.dumps([normalizers, pieces], ensure_ascii=False):
        return "its ids do not say where a text has spaces"
    kinds = {piece["type"] for piece in pieces}
    if kinds - {"Metaspace", "WhitespaceSplit", "Split"} or model.get("end_of_word_suffix"):
        return "its pre-tokenizer is not Metaspace alone"
    if any(piece.get("behavior") == "Removed" for piece in pieces):
        return "its pre-tokenizer drops a part of the text"
    plain = all(
        stage["type"] == "Prepend" or (stage["type"] == "Replace" and stage["content"] == MARK)
        for stage in normalizers
    )
    prepends = any(stage["type"] == "Prepend" for stage in normalizers)
    return Respelling("marks", plain, bool(normalizers), prepends=prepends)


def splits_at_marks(config: Json) -> bool:
    """True if the model encodes each word, from a "▁" to the next, alone."""
    pieces = stages_of(config.get("pre_tokenizer"), "pretokenizers")
    return any(piece["type"] == "Metaspace" and piece.get("split", True) for piece in pieces)
