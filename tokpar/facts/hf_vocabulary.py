"""Read the vocabulary of a `tokenizer.json`: its tokens, and how tokens cover a text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.facts.space_stages import MARK
from tokpar.formats.json_parts import Json
from tokpar.types import AddedToken

_BYTE_NAME = "<0x[0-9A-F]{2}>"


@dataclass(frozen=True, slots=True, eq=False)
class VocabularyArrays:
    """A vocabulary as arrays, instead of a model's dictionary. No two tokens share an id.

    `ids`: the id of each token. `characters`: the number of characters of each token.
    `in_byte_alphabet`: True if all characters of the token are letters of the byte alphabet.
    `has_all_bytes`: each of the 256 letters is a token. `tokens`: builds the dictionary token ->
    id."""

    ids: IntArray
    characters: IntArray
    in_byte_alphabet: NDArray[np.bool_]
    has_all_bytes: bool
    tokens: Callable[[], dict[str, int]]

    def spelled_lengths(self, ids: Iterable[int]) -> dict[int, int]:
        """Map id to number of characters, for the `ids` whose tokens use the byte alphabet."""
        found = np.flatnonzero(np.isin(self.ids, list(ids)) & self.in_byte_alphabet)
        return dict(zip(self.ids[found].tolist(), self.characters[found].tolist(), strict=True))


def model_kind(model: Json) -> str:
    """The model type: "BPE", "WordPiece", "WordLevel" or "Unigram". Old files omit the type."""
    if "type" in model:
        return str(model["type"])
    if "merges" in model:
        return "BPE"
    return "Unigram" if isinstance(model.get("vocab"), list) else "WordPiece"


def vocabulary(model: Json) -> dict[str, int]:
    """Map token to id. A Unigram model lists its pieces in the order of their ids."""
    vocab = model["vocab"]
    if isinstance(vocab, VocabularyArrays):
        return vocab.tokens()
    if isinstance(vocab, list):
        return {piece: i for i, (piece, _score) in enumerate(vocab)}
    return dict(vocab)


def shared_id(model: Json) -> str | None:
    """A sentence that names two tokens with the same id, or None.

    Lemma 3 needs one string for each id. The engine merges by ids, so it may merge a pair that no
    merge names, if another pair has the same ids."""
    if isinstance(model["vocab"], VocabularyArrays):
        return None
    tokens = vocabulary(model)
    if len(set(tokens.values())) == len(tokens):
        return None
    first: dict[int, str] = {}
    one, other = next((first[i], t) for t, i in tokens.items() if first.setdefault(i, t) != t)
    return f"tokens {one!r} and {other!r} have one id, and merging goes by ids"


def token_bytes(tokens: Iterable[str]) -> frozenset[bytes]:
    """The bytes of byte-level tokens. Other tokens, which no merge makes, give UTF-8 bytes."""
    from tokpar.formats.vocabulary import byte_alphabet  # only byte-level tokens need it

    code = byte_alphabet()
    spelled = re.compile(f"[{re.escape(''.join(code))}]*").fullmatch
    latin = str.maketrans({char: chr(byte) for char, byte in code.items()})
    return frozenset(
        token.translate(latin).encode("latin-1") if spelled(token) else token.encode()
        for token in tokens
    )


def bytes_of_token(token: str) -> bytes | None:
    """The bytes of one byte-level token: "Ġa" -> b" a". None for other tokens."""
    from tokpar.formats.vocabulary import byte_alphabet  # only byte-level tokens need it

    code = byte_alphabet()
    values = [code.get(char) for char in token]
    return None if None in values else bytes(value for value in values if value is not None)


def neighbours(tokens: Sequence[str]) -> frozenset[str]:
    """All pairs of adjacent characters in the tokens, and the tokens of one character."""
    points = np.frombuffer("".join(tokens).encode("utf-32-le", "surrogatepass"), "<u4")
    inside = np.ones(len(points) + 1, np.bool_)
    inside[np.cumsum([*map(len, tokens)], dtype=np.int64)] = False
    both = np.stack([points[:-1], points[1:]], axis=1)[inside[1:-1]].reshape(-1).view("<u8")
    data = np.unique(both).tobytes()
    pairs = (data[k : k + 8].decode("utf-32-le", "surrogatepass") for k in range(0, len(data), 8))
    return frozenset([*pairs, *(token for token in tokens if len(token) == 1)])


def joined_to_marks(model: Json, mark: str = MARK) -> frozenset[str] | str:
    """The characters that some token has before `mark`, or a sentence why this set is not enough.

    `mark`: what a space is to the model. The set is enough if merges cross a mark only inside the
    model's tokens (theorems 6.4 and 24 with their corrections)."""
    if model_kind(model) != "BPE":
        return f"only a BPE parts a text without pre-tokenizer, not {model_kind(model)}"
    if model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"):
        return "a BPE without pre-tokenizer marks where words start or end"
    if model.get("ignore_merges"):
        return "ignore_merges: tokens that merges do not reach may be used"
    tokens, shared, unknown = vocabulary(model), shared_id(model), model.get("unk_token")
    if shared:
        return shared
    if mark not in tokens and (mark == MARK or model.get("byte_fallback") or model.get("fuse_unk")):
        return f"{mark!r} is not in the vocabulary"
    if model.get("byte_fallback"):
        ascii_chars = {byte for byte in range(128) if chr(byte) in tokens}  # never fall back
        if any(f"<0x{b:02X}>" not in tokens for b in range(256) if b not in ascii_chars):
            return "byte_fallback with fewer than 256 byte tokens: characters may be dropped"
    elif unknown not in tokens:
        return "neither byte_fallback nor an unknown token: characters may be dropped"
    if mark not in tokens:
        parted = next((token for token in tokens if str(unknown) in token[1:]), None)
        why = f"token {parted!r} may be made of an unknown character"
        return frozenset() if parted is None else why
    across = [token for token in tokens if mark in token.lstrip(mark)]
    behind_byte = re.compile(_BYTE_NAME + re.escape(mark))
    for token in across:
        if behind_byte.search(token) or (unknown and f"{unknown}{mark}" in token):
            return f"token {token!r} has {mark!r} behind what stands for other characters"
    pairs = {token[i : i + 2] for token in across for i in range(len(token) - 1)}
    return frozenset(pair[0] for pair in pairs if pair[1] == mark) - {mark}


def tiles(pieces: list[Json], model: Json, added_tokens: tuple[AddedToken, ...]) -> bool:
    """True if every byte of the text is in exactly one token, and each id has one length."""
    keeps = all(p.get("behavior") == "Isolated" for p in pieces[:-1])
    plain = not (model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"))
    if not keeps or not plain or model_kind(model) != "BPE":
        return False
    if any(token.lstrip or token.rstrip for token in added_tokens):
        return False
    from tokpar.formats.vocabulary import byte_alphabet  # only byte-level tokens need it

    wanted, vocab, alphabet = (
        {token.id for token in added_tokens},
        model["vocab"],
        byte_alphabet().keys(),
    )
    if isinstance(vocab, VocabularyArrays):
        return vocab.has_all_bytes and not _ambiguous(added_tokens, vocab.spelled_lengths(wanted))
    tokens = vocabulary(model)
    bytes_by_id = {
        i: len(token) for token, i in tokens.items() if i in wanted and alphabet >= set(token)
    }
    return alphabet <= tokens.keys() and not _ambiguous(added_tokens, bytes_by_id)


def _ambiguous(added_tokens: Iterable[AddedToken], bytes_by_id: dict[int, int]) -> bool:
    """True if an added token shares its id with a token of another length, added or merged.

    `bytes_by_id`: number of bytes of byte-level tokens. A byte-level letter is one byte: the token
    "é" is byte E9."""
    return any(
        bytes_by_id.setdefault(t.id, utf8(t.content)) != utf8(t.content) for t in added_tokens
    )


def longest_token(model: Json, added_tokens: Iterable[AddedToken], byte_level: bool) -> int:
    vocab, prefix = model["vocab"], model.get("continuing_subword_prefix") or ""
    if isinstance(vocab, VocabularyArrays) and byte_level and not prefix:
        longest = int(vocab.characters.max(initial=0))
    else:
        tokens, measure = vocabulary(model), len if byte_level else utf8
        bare: Iterable[str] = (token.removeprefix(prefix) for token in tokens) if prefix else tokens
        longest = max(map(measure, bare), default=0)
    return max(longest, max((utf8(token.content) for token in added_tokens), default=0))


def utf8(token: str) -> int:
    return len(token.encode())
