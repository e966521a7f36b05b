"""Whether a draft model and a target model name the same tokens by the same ids."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any

from tokpar.errors import OptionError
from tokpar_diff.sides import Side, open_side
from tokpar_diff.witness_texts import vocabulary_of

MOST_SHOWN = 10


@dataclass(frozen=True)
class SameVocabulary:
    """Whether the tokens of `draft` and `target` have the same ids.

    `size`: the smaller number of ids (the highest id plus one). `differences_count`: how many ids
    below `size` mean different tokens. `differences`: the first of these, (id, token of the draft,
    token of the target), None where an id is no token."""

    draft: str
    target: str
    size: int
    differences_count: int
    differences: tuple[tuple[int, str | None, str | None], ...]

    @property
    def is_same(self) -> bool:
        """True if every id below `size` means the same token."""
        return not self.differences_count

    def __str__(self) -> str:
        ids = f"the {self.size:,} ids that both {self.draft} and {self.target} have"
        if self.is_same:
            return f"same: {ids} mean the same tokens"
        shown = "; ".join(f"{id_} is {a!r} and {b!r}" for id_, a, b in self.differences)
        return f"different: {self.differences_count:,} of {ids} mean other tokens: {shown}"


def same_vocabulary(draft: object, target: object, **settings: Any) -> SameVocabulary:
    """Compare the tokens of two tokenizers id by id, added tokens too, up to the smaller one: what
    speculative decoding needs of a draft model and its target. Arguments and errors as of
    `diff`."""
    return compare_vocabularies(open_side(draft, **settings), open_side(target, **settings))


def compare_vocabularies(draft: Side, target: Side) -> SameVocabulary:
    """Compare two tokenizers that are open; see `same_vocabulary`."""
    tokens = [_tokens_of(side) for side in (draft, target)]
    size = min(max(side_tokens, default=-1) + 1 for side_tokens in tokens)
    pairs = ((id_, tokens[0].get(id_), tokens[1].get(id_)) for id_ in range(size))
    differing = [pair for pair in pairs if pair[1] != pair[2]]
    first = tuple(islice(differing, MOST_SHOWN))
    return SameVocabulary(draft.name, target.name, size, len(differing), first)


def _tokens_of(side: Side) -> dict[int, str]:
    if side.form is None:
        raise OptionError(f"{side.name}: no file tells its tokens: {side.why_no_form}")
    tokens = {id_: token for token, id_ in vocabulary_of(side.form).items()}
    return tokens | {token.id: token.content for token in side.form.added_tokens}
