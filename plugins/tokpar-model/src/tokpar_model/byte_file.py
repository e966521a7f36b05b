"""A byte-level BPE tokenizer from its file, inside the gate of theorem 32."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tokpar.certificate.canonical_form import (
    Json,
    JsonForm,
    RankForm,
    flag_in,
    is_id,
    list_in,
    object_in,
    of_type,
    regex_of,
    setting,
)
from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.own_division import GPT2_PATTERN
from tokpar_model.added_tokens import AddedTokenRounds, added_of_json, added_of_ranks
from tokpar_model.byte_vocabulary import ByteVocabulary, bytes_of_letters
from tokpar_model.greedy_merging import GreedyMerging, pair_rule, rank_rule
from tokpar_model.normal_form import Normalize, normalizer_of
from tokpar_model.pretoken_machine import PretokenMachine, machine_of


@dataclass(frozen=True, eq=False)
class ByteTokenizer:
    """What decides the ids of a byte-level BPE tokenizer.

    `machines`: one for each Split, in order. `keep_gaps`: text that a Split does not match is a
    piece of its own; otherwise the engine drops such text."""

    merging: GreedyMerging
    added_tokens: AddedTokenRounds
    normalizer: tuple[Normalize, ...]
    machines: tuple[PretokenMachine, ...]
    keep_gaps: bool


def byte_tokenizer_of_json(form: JsonForm) -> ByteTokenizer:
    """Returns the tokenizer of a ``tokenizer.json`` with a BPE model. Refused outside the gate."""
    model = form.model
    require(model.get("dropout") in (None, 0, 0.0), "dropout", "merges are dropped by chance")
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        require(not text_in(model, name), "affix", f"{name} changes the atoms of a word")
    tokens = vocabulary_in(model)
    normalizer = normalizer_of(form.normalizers)
    added = added_of_json(form, tokens, not normalizer)
    spelled, numbered = _spellings(tokens, added)
    vocabulary = ByteVocabulary(spelled)
    number_of = {token: vocabulary.number_of[data] for token, data in numbered.items()}
    require("merges" in model, "file", "the merges of the file are not known")
    rule = pair_rule(_merges(list_in(model, "merges"), number_of))
    merging = GreedyMerging(vocabulary, rule, flag_in(model, "ignore_merges", False))
    machines = tuple(machine_of(pattern, "oniguruma") for pattern in _patterns(form))
    return ByteTokenizer(merging, added, normalizer, machines, keep_gaps=True)


def byte_tokenizer_of_ranks(form: RankForm) -> ByteTokenizer:
    """Returns the tokenizer of a `tiktoken.Encoding`, or of a `Vocabulary`. Refused
    outside the gate."""
    vocabulary = ByteVocabulary(form.tokens)
    rule = rank_rule(vocabulary)
    if form.merges is not None:
        number_of = {id_: number for number, id_ in enumerate(vocabulary.ids.tolist())}
        rule = pair_rule(
            {
                (number_of[left], number_of[right]): (priority, number_of[made])
                for (left, right), (priority, made) in form.merges.items()
            }
        )
    merging = GreedyMerging(vocabulary, rule, form.whole_piece)
    added = added_of_ranks(form)
    taken = {*vocabulary.ids.tolist()}
    for content, id_ in ((c, i) for each in added.rounds for c, i in each.items()):
        require(id_ not in taken, "shared id", f"special token {content!r} has the id of a token")
        taken.add(id_)
    engine = "oniguruma" if form.keeps_gaps else "fancy-regex"
    machines = tuple(machine_of(pattern, engine) for pattern in form.patterns)
    return ByteTokenizer(merging, added, (), machines, form.keeps_gaps)


def text_in(data: Json, name: str) -> str | None:
    """Returns the string `name` of an object; None if it is null or missing."""
    return None if data.get(name) is None else of_type(str, "string", data[name], name)


def vocabulary_in(model: Json) -> Mapping[str, int]:
    """Returns the vocabulary of a model: token -> id. Refused unless each token has one id, and
    each id one token."""
    tokens = object_in(model, "vocab")
    whole = all(isinstance(token, str) for token in tokens) and all(map(is_id, tokens.values()))
    require(tokens and whole, "vocabulary", "the vocabulary has an id that is no whole number")
    require(len({*tokens.values()}) == len(tokens), "shared id", "two tokens have one id")
    return tokens


def _spellings(
    tokens: Mapping[str, int], added_tokens: AddedTokenRounds
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


def _patterns(form: JsonForm) -> Iterator[str]:
    """Returns the patterns of a pre-tokenizer: Splits, then ByteLevel. Refused if it is another."""
    stages = form.pre_tokenizers
    known = stages and stages[-1].kind == "ByteLevel"
    require(known, "pre-tokenizer", "the model's input is not in the byte alphabet (ByteLevel)")
    for stage in stages[:-1]:
        require(stage.kind == "Split", "pre-tokenizer", f"pre-tokenizer {stage.kind} is not known")
        pattern = regex_of(stage)
        plain = setting(stage, "behavior") == "Isolated" and not flag_in(stage, "invert", False)
        if not plain or pattern is None:
            raise RefusedError("pre-tokenizer", "a Split is not an isolated regex")
        yield pattern
    prefix = flag_in(stages[-1], "add_prefix_space", True)
    require(not prefix, "pre-tokenizer", "a space is put before the text (add_prefix_space)")
    if flag_in(stages[-1], "use_regex", True):
        yield GPT2_PATTERN
