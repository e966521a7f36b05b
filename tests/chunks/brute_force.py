"""The chunks of a text by trying every place: the oracle of `Encoder.chunks`, with the library's
own calls and offsets only."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import tiktoken
from hypothesis import assume
from tokenizers import Tokenizer

from tests.support.tokenizers_drawn import is_panic, plain_copy
from tokpar.contract.interfaces import facts_of
from tokpar.cuts.finder import finder_for

SENTENCE_END = "(?:[.!?…]+[\"'”’)\\]»]*(?=\\s|\\Z)|[。！？｡][。！？｡”’」』）】]*|\r\n|\r|\n)"

FALLBACKS = {
    "token": ["token"],
    "cut": ["cut", "token"],
    "line": ["line", "cut", "token"],
    "sentence": ["sentence", "cut", "token"],
}


@dataclass(frozen=True)
class OwnTokenizer:
    """A tokenizer of a library without truncation and padding.

    `ids`: the ids of a text, special tokens included. `places`: [start, stop) of its tokens in code
    points, special tokens left out. `special`: how many special tokens every text gets."""

    ids: Callable[[str], list[int]]
    places: Callable[[str], list[tuple[int, int]]]
    special: int


def own_tokenizer(tokenizer: Any) -> OwnTokenizer:
    if isinstance(tokenizer, tiktoken.Encoding):
        return _of_tiktoken(tokenizer)
    own = plain_copy(tokenizer)
    return OwnTokenizer(
        lambda text: called(own, text, True).ids,
        lambda text: called(own, text, False).offsets,
        own.num_special_tokens_to_add(False),
    )


def called(own: Tokenizer, text: str, special: bool) -> Any:
    """The library's encoding of a text; a panic ends the example."""
    try:
        return own.encode(text, add_special_tokens=special)
    except BaseException as error:
        assume(not is_panic(error))
        raise


def _of_tiktoken(encoding: tiktoken.Encoding) -> OwnTokenizer:
    def ids(text: str) -> list[int]:
        return encoding.encode(text, allowed_special="all")

    def places(text: str) -> list[tuple[int, int]]:
        char_of = [k for k, char in enumerate(text) for _ in char.encode()]
        sizes = (len(encoding.decode_single_token_bytes(i)) for i in ids(text))
        edges = list(accumulate(sizes, initial=0))
        return [(char_of[a], char_of[b - 1] + 1) for a, b in pairwise(edges)]

    return OwnTokenizer(ids, places, 0)


class BruteForce:
    """Finds the end of the chunk that begins at a place, by trying all places of a boundary."""

    def __init__(self, text: str, own: OwnTokenizer, adapter: Any) -> None:
        self.text, self.own = text, own
        self._finder = finder_for(facts_of(adapter))
        places = own.places(text)
        self._starts = list(accumulate((a for a, _ in places), max))
        self._stops = list(accumulate((b for _, b in places), max))
        self._places: dict[str, list[int]] = {}

    def stop(self, start: int, max_tokens: int, boundary: str) -> int | None:
        """Where the chunk ends; None where no place of any boundary fits."""
        first = sum(stop <= start for stop in self._stops)
        limit = first + max_tokens - self.own.special
        last = self._starts[limit] if limit < len(self._starts) else len(self.text)
        for kind in FALLBACKS[boundary]:
            for place in self.places(kind):
                if start < place <= last and self.fits(start, place, max_tokens):
                    return place
        return None

    def fits(self, start: int, stop: int, max_tokens: int) -> bool:
        return len(self.own.ids(self.text[start:stop])) <= max_tokens

    def places(self, kind: str) -> list[int]:
        """All places of one boundary, the last one first."""
        if kind not in self._places:
            found = {*self._found(kind), len(self.text)}
            self._places[kind] = sorted(found, reverse=True)
        return self._places[kind]

    def _found(self, kind: str) -> Iterable[int]:
        if kind == "token":
            pairs = zip([0, *self._stops], self._starts, strict=False)
            return (start for stop, start in pairs if stop <= start)
        if kind == "cut":
            return filter(self.is_cut, range(1, len(self.text)))
        pattern = "\r\n|\r|\n" if kind == "line" else SENTENCE_END
        return (match.end() for match in re.finditer(pattern, self.text))

    def is_cut(self, place: int) -> bool:
        finder, text = self._finder, self.text
        if finder.refusal_for(text) is not None:
            return False
        return bool(finder.certify_context(text, place) or finder.edges.certify(text, place))


def truncates(tokenizer: Any, max_tokens: int) -> bool:
    """True if the tokenizer's own settings cut texts to fewer than `max_tokens` ids."""
    if isinstance(tokenizer, tiktoken.Encoding) or tokenizer.truncation is None:
        return False
    limit: int = json.loads(tokenizer.to_str())["truncation"]["max_length"]
    return tokenizer.num_special_tokens_to_add(False) <= limit < max_tokens
