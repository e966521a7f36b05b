"""Incremental BPE for vocabularies without tokens for all 256 bytes.

Such vocabularies are made of characters (Llama 2, Gemma), or are byte-level but lack some bytes
(StarCoder), or mark the ends of words (CLIP).

The dictionary gets extra merges that come before all others. They build each character from its
UTF-8 bytes, and the last character of a word from the character and `END`. After these merges the
text consists of the vocabulary's own atoms, so the algorithm for bytes works unchanged. Proof:
"Atoms" in proofs/incremental-bpe.md.

The exact model (`PairBPE`) decides what becomes of a character that is no token. Tokens of byte
fallback and unknown tokens never merge. If the exact model drops a character, the characters before
and after it are neighbours and may merge."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tokpar_pure.merging import Memo
from tokpar_pure.pairs import PairBPE, PairSettings, byte_token

from tokpar.errors import FileFormatError
from tokpar.formats.vocabulary import Merges
from tokpar_incremental.bpe import DictionaryTables
from tokpar_incremental.dictionary import Dictionary, Rule, dictionary
from tokpar_incremental.search import START

END = b"\xff"
"""Follows the last character of a word if the vocabulary marks it. UTF-8 never has this byte."""

_LONGEST = 5
"""The most bytes of a character and `END`. The merges that build characters have priorities up to
this number."""


class CharacterModel:
    """A model of the pipeline that returns the ids and spans of `exact`.

    Raises FileFormatError for a vocabulary with a prefix for tokens that continue a word, for a
    merge of an unknown token or of a byte-fallback token, and for a merge whose result is not
    spelled as its two parts.

    >>> vocab, merges = {"a": 0, "é": 1, "aé": 2, "?": 3}, {(0, 1): (0, 2)}
    >>> exact = PairBPE(vocab, merges, PairSettings(unk_token="?"))
    >>> CharacterModel(exact, vocab, merges).encode("aéxa")
    (2, 3, 0)
    """

    def __init__(self, exact: PairBPE, vocab: Mapping[str, int], merges: Merges) -> None:
        suffix = exact.settings.end_of_word_suffix
        _require_characters(vocab, merges, exact.settings)
        memo = Memo(self._ids)
        self.encode, self.encode_all, self.spans = memo.encode, memo.encode_all, exact.spans
        self._exact = exact
        self._whole = vocab if exact.settings.ignore_merges else {}
        spelled = {spelling(token, suffix): id_ for token, id_ in vocab.items()}
        self._tables = DictionaryTables(character_dictionary(spelled, merges))
        self._atoms = {id_: token for token, id_ in spelled.items() if is_atom(token)}
        known = "".join(map(re.escape, sorted(token for token in vocab if len(token) == 1)))
        by_runs = known and not suffix
        self._runs = re.compile(f"([{known}]+)|[^{known}]+" if by_runs else "()(?s:.+)")

    def _ids(self, piece: str) -> tuple[int, ...]:
        spelled_piece = self._exact.spell(piece)
        if spelled_piece in self._whole:
            return (self._whole[spelled_piece],)
        return tuple(self._find_ids(spelled_piece))

    def _find_ids(self, spelled_piece: str) -> Iterator[int]:
        run = bytearray()
        for match in self._runs.finditer(spelled_piece):
            if match[1]:
                run += match[1].encode()
                continue
            for id_, _, _ in self._exact.atoms(match[0]):
                if id_ in self._atoms:
                    run += self._atoms[id_]
                    continue
                yield from self._run(run)
                yield id_
                run.clear()
        yield from self._run(run)

    def _run(self, data: bytearray) -> list[int]:
        """Returns the ids of a run of atoms that are all tokens, given by their spelling."""
        last: list[int] = []
        self._tables.extend(last, START, data)
        return self._tables.ids(last, len(last))


def spelling(token: str, suffix: str) -> bytes:
    """Returns a token as the dictionary spells it: "ab</w>" with suffix "</w>" -> b"ab\\xff"."""
    if suffix and token.endswith(suffix) and token != suffix:
        return token[: -len(suffix)].encode() + END
    return token.encode()


def is_atom(token_bytes: bytes) -> bool:
    """True for one character, with `END` or without."""
    return len(token_bytes.removesuffix(END).decode()) == 1


def character_dictionary(tokens: Mapping[bytes, int], merges: Merges) -> Dictionary:
    """Returns the dictionary of `tokens`, given by their spelling in bytes (see `spelling`).

    Single bytes and beginnings of characters that are no tokens get ids above all others. These ids
    never appear in a text whose characters are all tokens."""
    begun = dict.fromkeys(bytes([byte]) for byte in range(256))
    for token in tokens:
        if is_atom(token):
            begun |= dict.fromkeys(token[:size] for size in range(2, len(token) + 1))
    free = max(tokens.values(), default=0) + 1
    missing = (part for part in begun if part not in tokens)
    everything = {**tokens, **{part: free + k for k, part in enumerate(missing)}}

    def rules() -> Iterator[Rule]:
        for part in begun:
            if len(part) > 1:
                yield everything[part[:-1]], everything[part[-1:]], len(part)
        for (left, right), (priority, _) in merges.items():
            yield left, right, priority + _LONGEST + 1

    return dictionary("", everything, rules())


def _require_characters(vocab: Mapping[str, int], merges: Merges, settings: PairSettings) -> None:
    if settings.continuing_subword_prefix:
        raise FileFormatError("model continuing_subword_prefix is not supported here")
    fallback = {vocab.get(byte_token(byte)) for byte in range(256)}
    alone = {vocab.get(settings.unk_token or "")} | (fallback if settings.byte_fallback else set())
    token_of = {id_: token for token, id_ in vocab.items()}
    spelled = {id_: spelling(token, settings.end_of_word_suffix) for id_, token in token_of.items()}
    for (left, right), (_, merged) in merges.items():
        if left in alone or right in alone:
            odd = token_of[left if left in alone else right]
            raise FileFormatError(f"model merges: a merge of {odd!r} is not supported here")
        if spelled[left] + spelled[right] != spelled[merged]:
            both = f"{token_of[left]!r} and {token_of[right]!r}"
            raise FileFormatError(f"model merges: {both} make {token_of[merged]!r}")
