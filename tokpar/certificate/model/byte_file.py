"""A byte-level BPE tokenizer from its file, inside the gate of theorem 32."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.model.added_tokens import AddedTokens, added_of_json, added_of_ranks
from tokpar.certificate.model.byte_vocabulary import ByteVocabulary, bytes_of_letters
from tokpar.certificate.model.given_file import JsonFile, RankFile, VocabularyFile
from tokpar.certificate.model.greedy_merging import GreedyMerging, pair_rule, rank_rule
from tokpar.certificate.model.normal_form import Normalize, normalizer_of_json
from tokpar.certificate.model.pretoken_machine import PretokenMachine, machine_of
from tokpar.certificate.model.strict_json import (
    Json,
    flag_in,
    is_id,
    list_in,
    object_in,
    text_in,
)
from tokpar.types import AddedToken

GPT2_PATTERN = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of Hugging Face's stage ByteLevel."""


@dataclass(frozen=True, eq=False)
class ByteTokenizer:
    """What decides the ids of a byte-level BPE tokenizer.

    `machines`: one for each Split, in order. `keep_gaps`: text that a Split does not match is a
    piece of its own; otherwise the engine drops such text."""

    merging: GreedyMerging
    added_tokens: AddedTokens
    normalizer: tuple[Normalize, ...]
    machines: tuple[PretokenMachine, ...]
    keep_gaps: bool


def byte_tokenizer_of_json(file: JsonFile) -> ByteTokenizer:
    """Returns the tokenizer of a ``tokenizer.json`` with a BPE model. Refused outside the gate."""
    config, model = file.config, object_in(file.config, "model")
    _require_plain(model)
    tokens = vocabulary_in(model)
    normalizer = normalizer_of_json(config)
    added = added_of_json(config, tokens, file.skip_special, not normalizer)
    spelled, numbered = _spellings(tokens, added)
    vocabulary = ByteVocabulary(spelled)
    number_of = {token: vocabulary.number_of[data] for token, data in numbered.items()}
    rule = pair_rule(_merges(list_in(model, "merges"), number_of))
    merging = GreedyMerging(vocabulary, rule, flag_in(model, "ignore_merges", False))
    patterns = [*_patterns(config)]
    machines = tuple(machine_of(pattern, "oniguruma") for pattern in patterns)
    return ByteTokenizer(merging, added, normalizer, machines, keep_gaps=True)


def byte_tokenizer_of_ranks(file: RankFile) -> ByteTokenizer:
    """Returns the tokenizer of a `tiktoken.Encoding`. Refused outside the gate."""
    vocabulary = ByteVocabulary(file.ranks)
    merging = GreedyMerging(vocabulary, rank_rule(vocabulary), whole_piece=True)
    added = added_of_ranks(file.specials, file.allowed_specials)
    _require_own_ids(vocabulary, added)
    machines = (machine_of(file.pattern, "fancy-regex"),)
    return ByteTokenizer(merging, added, (), machines, keep_gaps=False)


def byte_tokenizer_of_vocabulary(file: VocabularyFile) -> ByteTokenizer:
    """Returns the tokenizer of a vocabulary of `tokpar.pure`. Refused outside the gate."""
    vocabulary, number_of = ByteVocabulary(file.tokens), {}
    number_of = dict(zip(vocabulary.ids.tolist(), range(len(vocabulary.ids)), strict=True))
    rule = rank_rule(vocabulary)
    if file.semantics != "ranks":
        rule = pair_rule(
            {
                (number_of[left], number_of[right]): (priority, number_of[made])
                for (left, right), (priority, made) in file.merges.items()
            }
        )
    require(not any(map(_flags, file.added)), "added token", "an added token has flags")
    contents = {token.content: token.id for token in file.added}
    require(len(contents) == len(file.added), "added token", "an added token is listed twice")
    added = added_of_ranks(contents, frozenset(contents))
    _require_own_ids(vocabulary, added)
    engine = "oniguruma" if file.keep_gaps else "fancy-regex"
    machines = tuple(machine_of(pattern, engine) for pattern in file.patterns)
    merging = GreedyMerging(vocabulary, rule, file.whole_piece)
    return ByteTokenizer(merging, added, (), machines, file.keep_gaps)


def _flags(token: AddedToken) -> bool:
    return token.lstrip or token.rstrip or token.single_word


def vocabulary_in(model: Json) -> Mapping[str, int]:
    """Returns the vocabulary of a model: token -> id. Refused unless each token has one id, and
    each id one token."""
    tokens = object_in(model, "vocab")
    whole = all(isinstance(token, str) for token in tokens) and all(map(is_id, tokens.values()))
    require(tokens and whole, "vocabulary", "the vocabulary has an id that is no whole number")
    require(len({*tokens.values()}) == len(tokens), "shared id", "two tokens have one id")
    return tokens


def _require_plain(model: Json) -> None:
    require(model.get("dropout") in (None, 0, 0.0), "dropout", "merges are dropped by chance")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        require(not text_in(model, name), "affix", f"{name} changes the atoms of a word")


def _spellings(
    tokens: Mapping[str, int], added_tokens: AddedTokens
) -> tuple[dict[bytes, int], dict[str, bytes]]:
    """Returns the id of each spelling, and the spelling of each token that is in the alphabet."""
    spelled: dict[bytes, int] = {}
    numbered: dict[str, bytes] = {}
    contents = {content for each in added_tokens.rounds for content in each}
    for token, id_ in tokens.items():
        data = bytes_of_letters(token)
        if data is None:
            foreign = f"token {token!r} is not written in the byte alphabet"
            require(token in contents, "alphabet", foreign)
        else:
            spelled[data], numbered[token] = id_, data
    return spelled, numbered


def _require_own_ids(vocabulary: ByteVocabulary, added_tokens: AddedTokens) -> None:
    taken = {*vocabulary.ids.tolist()}
    for content, id_ in ((c, i) for each in added_tokens.rounds for c, i in each.items()):
        require(id_ not in taken, "shared id", f"special token {content!r} has the id of a token")
        taken.add(id_)


def _merges(
    entries: list[Any], number_of: Mapping[str, int]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Returns the merges by number: (left, right) -> (priority, token made). The last of equal
    merges counts, as in the engine."""
    pairs: dict[tuple[int, int], tuple[int, int]] = {}
    lines = bool(entries) and isinstance(entries[0], str)
    for priority, entry in enumerate(_lines(entries) if lines else entries):
        match entry:
            case [str(left), str(right)]:
                u, v = number_of.get(left), number_of.get(right)
                made = number_of.get(left + right)
            case _:
                raise RefusedError("merges", f"merge {priority} is not two tokens")
        if u is None or v is None or made is None:
            unlisted = f"merge {priority} is of, or makes, a token that is not in the vocabulary"
            raise RefusedError("merges", unlisted)
        pairs[u, v] = priority, made
    return pairs


def _lines(entries: list[Any]) -> Iterator[list[str]]:
    for line in entries:
        require(isinstance(line, str), "merges", "merges are written in two ways")
        if not line.startswith("#version"):
            yield line.split(" ")


def _patterns(config: Json) -> Iterator[str]:
    """Returns the patterns of a pre-tokenizer: Splits, then ByteLevel. Refused if it is another."""
    stages = [*_pre_tokenizers(config, 0)]
    known = stages and stages[-1].get("type") == "ByteLevel"
    require(known, "pre-tokenizer", "the model's input is not in the byte alphabet (ByteLevel)")
    for stage in stages[:-1]:
        kind = stage.get("type")
        require(kind == "Split", "pre-tokenizer", f"pre-tokenizer {kind} is not known")
        pattern = object_in(stage, "pattern").get("Regex")
        plain = stage.get("behavior") == "Isolated" and not flag_in(stage, "invert", False)
        if not plain or not isinstance(pattern, str):
            raise RefusedError("pre-tokenizer", "a Split is not an isolated regex")
        yield pattern
    prefix = flag_in(stages[-1], "add_prefix_space", True)
    require(not prefix, "pre-tokenizer", "a space is put before the text (add_prefix_space)")
    if flag_in(stages[-1], "use_regex", True):
        yield GPT2_PATTERN


def _pre_tokenizers(config: Json, depth: int) -> Iterator[Json]:
    if config.get("pre_tokenizer") is None:
        return
    stage = object_in(config, "pre_tokenizer")
    if stage.get("type") != "Sequence":
        yield stage
        return
    require(depth < 20, "pre-tokenizer", "pre-tokenizers too deep")
    for each in list_in(stage, "pretokenizers"):
        yield from _pre_tokenizers({"pre_tokenizer": each}, depth + 1)
