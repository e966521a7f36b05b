"""A WordPiece tokenizer from its file, inside the gate of theorem 33."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from tokpar.certificate.canonical_form import JsonForm
from tokpar.certificate.check_context import require
from tokpar_model.added_tokens import AddedTokenRounds, added_of_json
from tokpar_model.bert_characters import (
    Kind,
    bert_kind,
    bert_normalizer,
    normalized_kind,
    white_space_kind,
)
from tokpar_model.byte_file import text_in, vocabulary_in
from tokpar_model.greedy_merging import StepLimit
from tokpar_model.normal_form import Normalize, normalizer_of

_KINDS: Mapping[object, Callable[[str], Kind]] = {
    "BertPreTokenizer": bert_kind,
    "WhitespaceSplit": white_space_kind,
}


@dataclass(frozen=True, eq=False)
class WordTokenizer:
    """What decides the ids of a WordPiece tokenizer.

    `unknown`: the id of a word without tokens. `prefix`: begins the tokens inside of a word.
    `limit`: a word of more characters is unknown. `kind_of`: the kind and the form of a character,
    behind `normalizer`."""

    vocabulary: Mapping[str, int]
    unknown: int
    prefix: str
    limit: int
    longest: int
    added_tokens: AddedTokenRounds
    normalizer: tuple[Normalize, ...]
    kind_of: Callable[[str], Kind]

    def row(self, word: str, work: StepLimit) -> list[int]:
        """Returns the ids of a word: the longest token first, or [unknown] if a step fails."""
        if len(word) > self.limit:
            return [self.unknown]
        work.spend(len(word) * min(len(word), self.longest))
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = self.prefix if start else ""
            for stop in range(min(len(word), start + self.longest), start, -1):
                id_ = self.vocabulary.get(prefix + word[start:stop])
                if id_ is not None:
                    found.append(id_)
                    start = stop
                    break
            else:
                return [self.unknown]
        return found


def word_tokenizer_of_json(form: JsonForm) -> WordTokenizer:
    """Returns the tokenizer of a ``tokenizer.json`` with a WordPiece model. Refused outside the
    gate."""
    model, limit = form.model, form.model.get("max_input_chars_per_word", 100)
    vocabulary = vocabulary_in(model)
    whole = type(limit) is int and limit >= 0
    require(whole, "model", f"max_input_chars_per_word is {limit!r}, no number of characters")
    unknown = vocabulary.get(text_in(model, "unk_token") or "[UNK]")
    require(unknown is not None, "model", "the unknown token is not in the vocabulary")
    prefix = text_in(model, "continuing_subword_prefix")
    kinds = [stage.kind for stage in form.pre_tokenizers]
    known = len(kinds) == 1 and kinds[0] in _KINDS
    require(known, "pre-tokenizer", f"pre-tokenizers {kinds} are not known")
    kind_of, normalizer = _KINDS[kinds[0]], form.normalizers
    stages: tuple[Normalize, ...] = ()
    if [stage.kind for stage in normalizer] == ["BertNormalizer"]:
        kind_of, alike = partial(normalized_kind, bert_normalizer(normalizer[0]), kind_of), False
    else:
        stages = normalizer_of(normalizer)
        alike = not stages
    return WordTokenizer(
        vocabulary=vocabulary,
        unknown=unknown or 0,
        prefix="##" if prefix is None else prefix,
        limit=limit,
        longest=max(map(len, vocabulary)),
        added_tokens=added_of_json(form, vocabulary, alike),
        normalizer=stages,
        kind_of=kind_of,
    )
