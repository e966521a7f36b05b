"""The tables of the compiled call for WordPiece behind BERT's stages (theorem 33)."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import normalizers, pre_tokenizers

from tokpar.compiled.call_tables import Arrays, lengths_by_id, with_keys
from tokpar.compiled.merges import GateError
from tokpar.compiled.quick_check import assigned_characters
from tokpar.formats.json_parts import stage_names

SAME, CHANGED, BLANK, ISOLATED, CONTEXT = range(5)
"""What a character is, see call_wordpiece.h."""
_FLAGS = ("clean_text", "handle_chinese_chars", "strip_accents", "lowercase")
_APART = "\ua000"  # a letter that no stage changes
_BLOCK, _CODE_POINTS = 1 << 11, 0x110000
_LONGEST, _GROWTH = 400, 4  # bytes of a token; of a form for each byte of the character
BEGINS, GOES_ON = b"\xfe", b"\xff"
"""The bytes before tokens that begin a word, and before those that go on; see call_wordpiece.h."""


@dataclass(frozen=True, slots=True, eq=False)
class CharacterForms:
    """What BERT's normalizer makes of each character: `forms` and `form_bytes` of
    call_wordpiece.h."""

    forms: NDArray[np.uint32]
    form_bytes: NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class WordPieces:
    """The tokens of a WordPiece, those that go on without their prefix, the id of the unknown
    token, the most code points of a word, the bytes of the longest token of each kind, and of the
    prefix."""

    tokens: Mapping[bytes, int]
    after: Mapping[bytes, int]
    unknown: int
    most: int
    longest: tuple[int, int]
    prefix: int

    def keys(self) -> dict[bytes, int]:
        """Returns the tokens as they are looked up."""
        begin = {BEGINS + token: number for token, number in self.tokens.items()}
        return begin | {GOES_ON + token: number for token, number in self.after.items()}


def read_pieces(model: Mapping[str, Any], size: int) -> WordPieces:
    """Returns the tokens of a WordPiece, the model of a `tokenizer.json`. Raises GateError."""
    if model.get("type", "WordPiece") != "WordPiece":
        raise GateError("its model is no WordPiece")
    vocab, unknown = model["vocab"], model["unk_token"]
    if "" in vocab:
        raise GateError("it has an empty token")
    if len(vocab) != size or len({*vocab.values()}) < size:
        raise GateError("two of its tokens have one id")
    if unknown not in vocab:
        raise GateError(f"it has no token for unknown words: {unknown[:100]!r} is none")
    prefix = model["continuing_subword_prefix"].encode()
    tokens = {token.encode(): number for token, number in vocab.items()}
    after = {x[len(prefix) :]: k for x, k in tokens.items() if x.startswith(prefix) and x != prefix}
    longest = max(map(len, tokens), default=0), max(map(len, after), default=0)
    if max(longest) > _LONGEST:
        raise GateError(f"it has a token of more than {_LONGEST} bytes")
    most = min(model["max_input_chars_per_word"], 1 << 40)
    return WordPieces(tokens, after, vocab[unknown], most, longest, len(prefix))


def is_bert(normalizer: Any, pre_tokenizer: Any) -> bool:
    """True if `wordpiece_arrays` knows the stages."""
    is_normal = normalizer is None or normalizer["type"] == "BertNormalizer"
    return is_normal and (pre_tokenizer is None or pre_tokenizer["type"] == "BertPreTokenizer")


def wordpiece_arrays(
    model: Mapping[str, Any], size: int, normalizer: Any, pre_tokenizer: Any
) -> Arrays:
    """Returns the tables of a WordPiece tokenizer.

    `model`, `normalizer`, `pre_tokenizer`: parts of a `tokenizer.json`. `size`: the number of its
    tokens. Raises GateError where a condition of theorem 33 does not hold."""
    if pre_tokenizer is None:
        raise GateError("it has no pre-tokenizer, and WordPiece needs BertPreTokenizer")
    if pre_tokenizer["type"] != "BertPreTokenizer":
        named = stage_names(pre_tokenizer, "pretokenizers")
        raise GateError(f"its pre-tokenizer is {named}, not BertPreTokenizer")
    if normalizer is not None and normalizer["type"] != "BertNormalizer":
        named = stage_names(normalizer, "normalizers")
        raise GateError(f"its normalizer is {named}, not BertNormalizer")
    known = character_forms(None if normalizer is None else tuple(map(normalizer.get, _FLAGS)))
    pieces = read_pieces(model, size)
    settings = [2, pieces.unknown, pieces.most, *pieces.longest, pieces.prefix, 0]
    arrays: Arrays = {
        "settings": np.array(settings, dtype=np.int64),
        "forms": known.forms,
        "form_bytes": known.form_bytes,
    }
    token_ids = np.array([*pieces.tokens.values()], dtype=np.uint32)
    arrays |= lengths_by_id(token_ids, np.array([*map(len, pieces.tokens)], dtype=np.int64))
    return with_keys(arrays, [*pieces.keys().items(), *pieces.tokens.items()])


@lru_cache(maxsize=8)
def character_forms(flags: tuple[Any, ...] | None) -> CharacterForms:
    """Returns what the engine's BertNormalizer with these flags makes of each character, as
    BertPreTokenizer sees it; None: without a normalizer."""
    strips = False
    normalize: Callable[[str], str] = str
    if flags is not None:
        strips = bool(flags[3] if flags[2] is None else flags[2])
        normalize = normalizers.BertNormalizer(*flags).normalize_str
    kinds = _kinds().tobytes()
    found = _kinds().astype(np.uint32)
    places: dict[str, int] = {}
    form_bytes = bytearray()

    def put(char: str, form: str, kind: int) -> None:
        data = form.encode()
        if len(data) > min(31, _GROWTH * len(char.encode())) or len(form) > len(char.encode()):
            kind, data = CONTEXT, b""
        if form not in places:
            places[form] = len(form_bytes)
            form_bytes.extend(data)
        found[ord(char)] = places[form] << 8 | len(data) << 3 | kind

    def put_isolated(chars: str) -> None:
        """Put characters that are their own forms at once: there are 98,000 Chinese ones."""
        codes = np.array([*map(ord, chars)], dtype=np.uint32)
        lengths = 1 + np.searchsorted([1 << 7, 1 << 11, 1 << 16], codes, "right").astype(np.uint32)
        starts = len(form_bytes) + np.cumsum(lengths, dtype=np.uint32) - lengths
        form_bytes.extend(chars.encode())
        found[codes] = starts << 8 | lengths << 3 | ISOLATED

    put_isolated("".join(map(chr, np.flatnonzero(found == ISOLATED).tolist())))
    for chars in _blocks():
        changes = [*_changes(chars, normalize)]
        own = dict.fromkeys(
            c for c, form in changes if form == f" {c} " and kinds[ord(c)] in (SAME, ISOLATED)
        )
        put_isolated("".join(own))
        for char, form in changes:
            if not form:
                found[ord(char)] = CHANGED
            elif char not in own:
                put(char, form.strip(" "), _kind(form, kinds))
    if strips:
        _mark_unsure(found)
    return CharacterForms(found, np.frombuffer(bytes(form_bytes) or b"\0", dtype=np.uint8))


def _kind(form: str, kinds: bytes) -> int:
    """Returns what a character is whose form, which is not empty, has these kinds of characters."""
    own = [kinds[ord(each)] for each in form]
    if {*own} == {SAME}:
        return CHANGED
    if {*own} == {BLANK}:
        return BLANK
    is_apart = form[0] == form[-1] == " " and len(form) > 2
    inside = own[1:-1] if is_apart else own
    if inside == [ISOLATED] or (is_apart and {*inside} == {SAME}):
        return ISOLATED
    return CONTEXT


def _mark_unsure(forms: NDArray[np.uint32]) -> None:
    """Marks the characters that stay behind StripAccents, and that decomposition may reorder."""
    for chars in _blocks():
        for char in chars:
            if unicodedata.combining(char) and forms[ord(char)] != CHANGED:
                forms[ord(char)] = CONTEXT


@lru_cache(maxsize=1)
def _blocks() -> list[str]:
    """Returns the characters that are assigned, but for private ones, in blocks."""
    chars = [char for char, kind in zip(*assigned_characters(), strict=True) if kind != "Co"]
    return ["".join(chars[k : k + _BLOCK]) for k in range(0, len(chars), _BLOCK)]


def _changes(chars: str, normalize: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    """Returns the characters that the normalizer changes, and their forms."""
    text = _APART.join(chars.replace(_APART, "x"))
    image = normalize(text)
    if image == text:
        return
    forms = image.split(_APART)
    if len(forms) != len(chars):
        raise GateError("its normalizer BertNormalizer changes neighbours of characters")
    for char, form in zip(chars, forms, strict=True):
        if char != form and char != _APART:
            yield char, form


@lru_cache(maxsize=1)
def _kinds() -> NDArray[np.uint8]:
    """Returns SAME, BLANK or ISOLATED for each character, as BertPreTokenizer treats it; CONTEXT
    for a character that is not assigned, or private."""
    found = np.full(_CODE_POINTS, CONTEXT, dtype=np.uint8)
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    for chars in _blocks():
        codes = np.array([*map(ord, chars)], dtype=np.int64)
        found[codes] = SAME
        is_kept = np.zeros(2 * len(chars) + 1, dtype=np.bool_)
        for _, (start, stop) in split(_APART + _APART.join(chars) + _APART):
            is_kept[start:stop] = True
            if stop == start + 1 and start % 2:
                found[codes[start // 2]] = ISOLATED
        found[codes[~is_kept[1::2]]] = BLANK
    return found
