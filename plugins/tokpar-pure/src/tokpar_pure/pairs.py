"""Byte-pair encoding with a list of merges, as HF's `models.BPE` does it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tokpar.formats.vocabulary import Merges
from tokpar.plugin.tokenizer import letters_of
from tokpar_pure.merging import (
    ID_BITS,
    Codes,
    Memo,
    Span,
    cover_characters,
    merge_ids,
    merge_ids_in_place,
)
from tokpar_pure.wordpiece import unknown_id

NO_TOKEN = -1
"""Stands for the id of a byte that is no token."""


def byte_token(byte: int) -> str:
    """Returns a byte as vocabularies with byte fallback spell it: 10 -> "<0x0A>"."""
    return f"<0x{byte:02X}>"


def pair_codes(merges: Merges) -> Codes:
    """Returns the merges in the form that `merge_ids` takes."""
    return {pair: priority << ID_BITS | merged for pair, (priority, merged) in merges.items()}


@dataclass(frozen=True, slots=True)
class PairSettings:
    """The settings of HF's BPE, with HF's names. `byte_level`: tokens are spelled in the letters of
    `byte_alphabet`, and the model encodes the UTF-8 bytes of a piece."""

    byte_level: bool = False
    ignore_merges: bool = False
    byte_fallback: bool = False
    fuse_unk: bool = False
    unk_token: str | None = None
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""


class PairBPE:
    """BPE with a list of merges. Supports all settings of HF's `models.BPE` except dropout.

    The ids equal the ids of HF, in two odd cases, too. First, without an unknown token, a character
    that is no token is dropped, and its neighbours may merge. Second, the unknown token of a
    character waits until the next known character, so byte-fallback tokens between the two
    characters come before it.

    Spans give the true positions of the characters. HF adds up lengths, so its spans are wrong
    after one of the two cases.

    >>> merges = {(0, 1): (0, 2)}
    >>> PairBPE({"a": 0, "b": 1, "ab": 2}, merges, PairSettings()).encode("aabb")
    (0, 2, 1)
    """

    def __init__(self, vocab: Mapping[str, int], merges: Merges, settings: PairSettings) -> None:
        memo = Memo(self._ids)
        self.encode, self.encode_all = memo.encode, memo.encode_all
        self._vocab = vocab
        self._codes = pair_codes(merges)
        self.settings = settings
        self._has_affixes = bool(settings.continuing_subword_prefix or settings.end_of_word_suffix)
        self._byte_ids = None
        if settings.byte_level and not self._has_affixes:
            letters = (letters_of(bytes([byte])) for byte in range(256))
            self._byte_ids = [vocab.get(letter, NO_TOKEN) for letter in letters]

    def spans(self, piece: str) -> list[Span]:
        spelled_piece = self.spell(piece)
        if self.settings.ignore_merges and spelled_piece in self._vocab:
            return [(self._vocab[spelled_piece], 0, len(piece))]
        atoms = list(self.atoms(spelled_piece))
        merged = merge_ids_in_place([atom[0] for atom in atoms], self._codes)
        firsts = [*(first for _, first in merged), len(atoms)]
        spans = []
        for (id_, first), stop in zip(merged, firsts[1:], strict=True):
            inside = atoms[first:stop]
            spans.append((id_, min(a[1] for a in inside), max(a[2] for a in inside)))
        return cover_characters(spans, piece) if self.settings.byte_level else spans

    def _ids(self, piece: str) -> tuple[int, ...]:
        if self.settings.ignore_merges and (spelled_piece := self.spell(piece)) in self._vocab:
            return (self._vocab[spelled_piece],)
        if self._byte_ids is not None:
            atoms = [*map(self._byte_ids.__getitem__, piece.encode("utf-8"))]
            odd = NO_TOKEN in atoms
        else:
            odd = self._has_affixes or not self._vocab.keys() >= set(piece)
            atoms = [] if odd else [*map(self._vocab.__getitem__, piece)]
        if odd:
            atoms = [atom[0] for atom in self.atoms(self.spell(piece))]
        return tuple(merge_ids(atoms, self._codes))

    def spell(self, piece: str) -> str:
        """Returns a piece as the vocabulary spells it."""
        return letters_of(piece.encode("utf-8")) if self.settings.byte_level else piece

    def atoms(self, spelled_piece: str) -> Iterator[Span]:
        """Yields the spans of `spelled_piece` that merging begins with, in the order of HF."""
        waiting: Span | None = None
        unknown = self.settings.unk_token
        for i, character in enumerate(spelled_piece):
            token = self._dress(character, i == 0, i == len(spelled_piece) - 1)
            id_ = self._vocab.get(token)
            if id_ is None and (fallback := self._fallback(token)):
                yield from ((byte_id, i, i + 1) for byte_id in fallback)
                continue
            if waiting and (id_ is not None or not self.settings.fuse_unk):
                yield waiting
                waiting = None
            if id_ is not None:
                yield id_, i, i + 1
            elif unknown is not None:
                waiting = (unknown_id(self._vocab, unknown), waiting[1] if waiting else i, i + 1)
        if waiting:
            yield waiting

    def _dress(self, character: str, first: bool, last: bool) -> str:
        prefix = "" if first else self.settings.continuing_subword_prefix
        return prefix + character + (self.settings.end_of_word_suffix if last else "")

    def _fallback(self, token: str) -> list[int]:
        """Returns the ids of the bytes of `token`; an empty list without byte fallback, or if one
        of the bytes is no token."""
        if not self.settings.byte_fallback:
            return []
        ids = [self._vocab.get(byte_token(byte), NO_TOKEN) for byte in token.encode("utf-8")]
        return [] if NO_TOKEN in ids else ids
