"""Incremental BPE for vocabularies of characters, such as those of Llama 2 and Gemma.

A character is put together from its UTF-8 bytes by merges that come before all others; after them
the text is what it is for the vocabulary, so that everything is as for bytes. Characters that are
no tokens (byte fallback, unknown) merge with nothing: what they become, the model itself says."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tokpar.errors import FileFormatError
from tokpar.pure.incremental import Tables
from tokpar.pure.incremental_dictionary import Dictionary, Rule, dictionary
from tokpar.pure.incremental_search import START
from tokpar.pure.merging import Memo, Span
from tokpar.pure.pairs import PairBPE, PairSettings, byte_token
from tokpar.pure.vocabulary import Merges

_LONGEST = 4
"""UTF-8 bytes of a character, so as many priorities for the merges that make characters."""


class CharacterModel:
    """A model of the pipeline, with the ids of `exact`. FileFormatError for a vocabulary that
    leaves characters out, marks words, or merges bytes of fallback.

    >>> vocab, merges = {"a": 0, "é": 1, "aé": 2, "?": 3}, {(0, 1): (0, 2)}
    >>> exact = PairBPE(vocab, merges, PairSettings(unk_token="?"))
    >>> CharacterModel(exact, vocab, merges).encode("aéxa")
    (2, 3, 0)
    """

    def __init__(self, exact: PairBPE, vocab: Mapping[str, int], merges: Merges) -> None:
        _require_characters(vocab, merges, exact.settings)
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        self._exact = exact
        self._whole = vocab if exact.settings.ignore_merges else {}
        self._tables = Tables(character_dictionary(vocab, merges))
        self._size = {id_: len(token) for token, id_ in vocab.items()}
        known = "".join(map(re.escape, sorted(token for token in vocab if len(token) == 1)))
        self._runs = re.compile(f"([{known}]+)|[^{known}]+" if known else "()(?s:.+)")

    def spans(self, piece: str) -> list[Span]:
        if piece in self._whole:
            return [(self._whole[piece], 0, len(piece))]
        found: list[Span] = []
        for match in self._runs.finditer(piece):
            if not match[1]:
                spans = self._exact.spans(match[0])
                found += [(id_, match.start() + a, match.start() + b) for id_, a, b in spans]
                continue
            start = match.start()
            for id_ in self._run(match[0]):
                found.append((id_, start, start + self._size[id_]))
                start += self._size[id_]
        return found

    def _ids(self, piece: str) -> tuple[int, ...]:
        if piece in self._whole:
            return (self._whole[piece],)
        found: list[int] = []
        for match in self._runs.finditer(piece):
            found += self._run(match[0]) if match[1] else self._exact.encode(match[0])
        return tuple(found)

    def _run(self, text: str) -> list[int]:
        """Ids of a text of characters that are tokens."""
        last: list[int] = []
        self._tables.extend(last, START, text.encode())
        return self._tables.ids(last, len(last))


def character_dictionary(vocab: Mapping[str, int], merges: Merges) -> Dictionary:
    """The dictionary over UTF-8 bytes. Beginnings of characters, and bytes, that are no tokens get
    ids behind all others, which no text of characters that are tokens ever has."""
    tokens = {token.encode(): id_ for token, id_ in vocab.items() if token}
    begun = [bytes([byte]) for byte in range(256)]
    for token in vocab:
        if len(token) == 1:
            begun += [token.encode()[:size] for size in range(2, len(token.encode()) + 1)]
    free = max(vocab.values(), default=0) + 1
    missing = (part for part in dict.fromkeys(begun) if part not in tokens)
    tokens |= {part: free + k for k, part in enumerate(missing)}

    def rules() -> Iterator[Rule]:
        for part in dict.fromkeys(begun):
            if len(part) > 1:
                yield tokens[part[:-1]], tokens[part[-1:]], len(part)
        for (left, right), (priority, _) in merges.items():
            yield left, right, priority + _LONGEST + 1

    return dictionary("", tokens, rules())


def _require_characters(vocab: Mapping[str, int], merges: Merges, settings: PairSettings) -> None:
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        if getattr(settings, name):
            raise FileFormatError(f"model {name} is not supported here")
    fallback = {vocab.get(byte_token(byte)) for byte in range(256)}
    complete = settings.byte_fallback and None not in fallback
    if settings.unk_token is None and not complete:
        raise FileFormatError(
            "model: characters that are no tokens would be left out, for there is neither an "
            "unknown token nor byte_fallback with 256 byte tokens"
        )
    alone = {vocab.get(settings.unk_token or "")} | (fallback if settings.byte_fallback else set())
    spelling = {id_: token for token, id_ in vocab.items()}
    for (left, right), (_, merged) in merges.items():
        if left in alone or right in alone:
            odd = spelling[left if left in alone else right]
            raise FileFormatError(f"model merges: a merge of {odd!r} is not supported here")
        if spelling[left] + spelling[right] != spelling[merged]:
            both = f"{spelling[left]!r} and {spelling[right]!r}"
            raise FileFormatError(f"model merges: {both} make {spelling[merged]!r}")
