"""What the vocabulary of a tokenizer tells about its tokens, read for the checker alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise

import numpy as np

from tokpar.arrays import IdArray, IntArray
from tokpar.certificate.canonical_form import JsonForm
from tokpar.certificate.frozen_tables import MARK
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken

_KINDS = ("BPE", "WordPiece", "WordLevel", "Unigram")


def _letters() -> dict[str, int]:
    """Returns the byte that each letter of a byte-level vocabulary stands for: {"Ġ": 32, ...}."""
    visible = {*range(33, 127), *range(161, 173), *range(174, 256)}
    moved = (byte for byte in range(256) if byte not in visible)
    return {chr(byte): byte for byte in visible} | {
        chr(256 + k): byte for k, byte in enumerate(moved)
    }


LETTERS = _letters()


class OwnVocabulary:
    """The model part of a `tokenizer.json`, but for its merges. `kind`: the kind of model."""

    def __init__(self, form: JsonForm) -> None:
        self._model, self.kind = form.model, form.kind

    @property
    def is_known(self) -> bool:
        """True for the four models of Hugging Face."""
        return self.kind in _KINDS

    @cached_property
    def ids(self) -> Mapping[str, int]:
        """The id of each token."""
        vocab = self._model["vocab"]
        if isinstance(vocab, Mapping):
            return vocab
        return {entry[0]: place for place, entry in enumerate(vocab)}

    @cached_property
    def has_shared_ids(self) -> bool:
        """True if two tokens have one id. Merging goes by ids, so it may then merge a pair that no
        merge names (lemma 3)."""
        return len(self.ids) != len(set(self.ids.values()))

    @property
    def marks_words(self) -> bool:
        """True if tokens at the start or end of a word are spelled in another way."""
        marks = ("continuing_subword_prefix", "end_of_word_suffix")
        return any(self._model.get(name) for name in marks)

    @property
    def is_random(self) -> bool:
        """True for dropout and for sampling: two encodings of a text may differ."""
        return any(self._model.get(name) for name in ("dropout", "alpha", "nbest_size"))

    @property
    def falls_back_beside_marks(self) -> bool:
        """True for a byte fallback beside marks of words, where the engine misplaces tokens."""
        return self.kind == "BPE" and bool(self._model.get("byte_fallback")) and self.marks_words

    def longest(self, added_tokens: Collection[AddedToken], byte_level: bool) -> int:
        """Returns the most bytes of text that one token covers, added tokens included."""
        prefix = self._model.get("continuing_subword_prefix") or ""
        tokens = [token.removeprefix(prefix) for token in self.ids] if prefix else list(self.ids)
        sizes = map(len, tokens if byte_level else map(str.encode, tokens))
        return max([*sizes, *(len(token.content.encode()) for token in added_tokens)], default=0)

    def covers_bytes(self, added_tokens: Collection[AddedToken]) -> bool:
        """True if byte-level tokens cover each byte of a text once, and each id has one length."""
        strips = any(token.lstrip or token.rstrip for token in added_tokens)
        if self.kind != "BPE" or self.marks_words or strips or not self.ids.keys() >= {*LETTERS}:
            return False
        sizes: dict[int, set[int]] = {}
        for token in added_tokens:
            sizes.setdefault(token.id, set()).add(len(token.content.encode()))
        for spelled, number in self.ids.items():
            if number in sizes and LETTERS.keys() >= {*spelled}:
                sizes[number].add(len(spelled))
        return all(len(some) == 1 for some in sizes.values())

    def sizes(self, added_tokens: Collection[AddedToken]) -> Callable[[IdArray], IntArray]:
        """Returns a function from ids to the bytes of text that they cover, int64; 0 for other
        ids."""
        covered = {number: len(token) for token, number in self.ids.items()}
        covered |= {token.id: len(token.content.encode()) for token in added_tokens}
        ids, lengths = np.array(sorted(covered.items()) or [(0, 0)], dtype=np.int64).T

        def sizes_of(some: IdArray) -> IntArray:
            near = np.minimum(np.searchsorted(ids, some), len(ids) - 1)
            found: IntArray = np.where(ids[near] == some, lengths[near], 0)
            return found

        return sizes_of

    @cached_property
    def before_marks(self) -> frozenset[str] | None:
        """The characters that some token has before "▁", see `before`."""
        return self.before(MARK)

    def before(self, sign: str) -> frozenset[str] | None:
        """The characters that some token has before the sign of a space. None if merges may cross
        the sign in another way, or a character may be dropped (theorems 6.4 and 24)."""
        model, tokens = self._model, self.ids
        if self.kind != "BPE" or self.marks_words or model.get("ignore_merges"):
            return None
        if self.has_shared_ids:
            return None
        unknown = model.get("unk_token")
        if sign not in tokens:
            fuses = model.get("fuse_unk") or model.get("byte_fallback") or unknown not in tokens
            joined = fuses or sign == MARK or any(str(unknown) in token[1:] for token in tokens)
            return None if joined else frozenset()
        if model.get("byte_fallback"):
            spelled = {ord(token) for token in tokens if len(token) == 1 and token.isascii()}
            if any(f"<0x{byte:02X}>" not in tokens for byte in {*range(256)} - spelled):
                return None
        elif unknown not in tokens:
            return None
        found = set()
        for token in (token for token in tokens if sign in token.lstrip(sign)):
            if re.search(f"<0x[0-9A-F][0-9A-F]>{sign}", token):
                return None
            if unknown and unknown + sign in token:
                return None
            found |= {one for one, other in pairwise(token) if other == sign}
        return frozenset(found - {sign})

    def neighbours(self) -> frozenset[str]:
        """Returns the tokens of one character, and all pairs of neighbouring characters in
        tokens."""
        single = {token for token in self.ids if len(token) == 1}
        return frozenset(single.union(*({a + b for a, b in pairwise(t)} for t in self.ids)))
