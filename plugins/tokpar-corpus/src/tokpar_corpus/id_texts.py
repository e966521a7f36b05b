"""Turn the ids of a document into a text for which the tokenizer must give the same ids again.

For a byte-level BPE without a normalizer, this text is the document's own text. Other tokenizers
lose a part of the text (case, spaces, prefixes). For them, this module makes a normalized text,
which the tokenizer does not change before it encodes the text:

- "bytes": the bytes of all tokens. A Unicode normalization form is idempotent, so the normalized
  text, which the tokens spell, has the same ids as the original text.
- "words" (WordPiece or WordLevel after a pre-tokenizer that drops white space): the words, joined
  by one space. The pre-tokenizer splits this text into the same words.
- "marks": each "▁" becomes a space. If the tokenizer puts a "▁" before every segment (the
  normalizer Prepend), the first "▁" of each segment is dropped.

For all other tokenizers, `IdTexts.why_not` says why their ids are not compared."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of
from tokpar.contract.adapter import vocabulary_of
from tokpar.contract.interfaces import TokenizerAdapter
from tokpar.formats.vocabulary import Vocabulary, byte_alphabet
from tokpar.process.cached_property import cached_property
from tokpar.types import AddedToken
from tokpar_corpus.respelling import MARK, Json, Respelling, respelling_of, splits_at_marks
from tokpar_corpus.shards import RawIds
from tokpar_corpus.tokenizer_source import engine_of

Mask = NDArray[np.bool_]
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
_BLOCK = 1 << 16
"""Ids that are spelled at a time: the arrays fit in the processor's cache."""


@dataclass(frozen=True, eq=False)
class IdTexts:
    """What the ids of a tokenizer mean.

    `names`: tokens as the file writes them, by id; only added tokens if the vocabulary holds bytes.
    `data`: the bytes of each token, for each id up to the highest; b"" for ids that are no token.
    `is_known`: True for each id that is a token. `added_tokens`: added tokens by id. `special`: the
    ids that stand for no text. `unknown`: the id of the unknown token, or None. `spelling`: how the
    ids of a document become a text, or why they cannot. `cut_at`: the ids at which the audit
    divides documents, because the engine does not look for these tokens in a text. `word_starts`:
    by id, True for tokens that begin a word, if the model encodes each word alone; else None."""

    names: Mapping[int, str]
    data: list[bytes]
    is_known: Mask
    added_tokens: Mapping[int, AddedToken]
    spelling: Respelling | str
    unknown: int | None = None
    cut_at: frozenset[int] = frozenset()
    word_starts: Mask | None = None

    @property
    def size(self) -> int:
        """The highest id and one."""
        return len(self.data)

    @cached_property
    def special(self) -> frozenset[int]:
        return frozenset(id_ for id_, token in self.added_tokens.items() if token.special)

    @property
    def why_not(self) -> str | None:
        """Why ids cannot be compared, or None."""
        return self.spelling if isinstance(self.spelling, str) else None

    def show(self, id_: int) -> str:
        """The id and the text of its token, for a report: "1 '<s>'", "17 ' pr'". A token of
        WordPiece is shown as the file writes it: "18 '##s'"."""
        if not self.is_token(id_):
            return f"{id_}, no token"
        is_word = isinstance(self.spelling, Respelling) and self.spelling.kind == "words"
        text = self.names[id_] if is_word else self.data[id_].decode(errors="backslashreplace")
        return f"{id_} {text!r}"

    def is_token(self, id_: int) -> bool:
        return 0 <= id_ < self.size and bool(self.is_known[id_])

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint8], IntArray, IntArray]:
        """The bytes of all tokens, where each token begins in them, and how long it is."""
        lengths = np.fromiter(map(len, self.data), np.int64, len(self.data))
        blob = np.frombuffer(b"".join(self.data), np.uint8)
        return blob, offsets_of(lengths)[:-1], lengths

    @property
    def lengths(self) -> IntArray:
        """The number of bytes that each token spells."""
        return self._table[2]

    def spell(self, ids: RawIds) -> tuple[NDArray[np.uint8], IntArray]:
        """Returns the bytes of the tokens `ids`, one after another, and the offset of each token in
        these bytes: int64, (ids + 1,); the last offset is the end. All ids are below `size`."""
        blob, starts, lengths = self._table
        sizes = lengths[ids]
        edges = offsets_of(sizes)
        data = np.empty(int(edges[-1]), np.uint8)
        for k in range(0, len(ids), _BLOCK):
            some = slice(k, k + _BLOCK)
            first, stop = edges[k], edges[min(k + _BLOCK, len(ids))]
            places = np.repeat(starts[ids[some]] - edges[:-1][some], sizes[some])
            places += np.arange(first, stop)
            blob.take(places, out=data[first:stop])
        return data, edges

    def text_of(self, ids: RawIds) -> str | None:
        """The text of ids, all of them tokens and none in `cut_at`.

        None if nothing can be said of these ids: they hold the unknown token, where the words
        beside it cannot be told. Raises UnicodeDecodeError if the bytes are not UTF-8, LookupError
        if there is no `spelling`."""
        if isinstance(self.spelling, str):
            raise LookupError(self.spelling)
        if self.spelling.kind == "words":
            return self._words(ids.tolist(), self.spelling.prefix)
        if self.spelling.kind == "marks":
            return self._segments(ids.tolist(), self.spelling.prepends)
        return str(self.spell(ids)[0].data, "utf-8")

    def comparable(self, ids: RawIds) -> RawIds:
        """The ids without the unknown token, and without words that hold it."""
        if self.unknown is None or not (ids == self.unknown).any():
            return ids
        if isinstance(self.spelling, Respelling) and self.spelling.kind == "words":
            known: RawIds = ids[ids != self.unknown]
            return known
        if self.word_starts is None:
            return ids
        words = np.cumsum(self.word_starts[ids])
        kept: RawIds = ids[~np.isin(words, words[ids == self.unknown])]
        return kept

    def _words(self, ids: list[int], prefix: str) -> str:
        parts: list[str] = []
        for id_ in ids:
            token = self.names[id_]
            if prefix and parts and id_ not in self.added_tokens and token.startswith(prefix):
                parts[-1] += token.removeprefix(prefix)
            else:
                parts.append(token)
        return " ".join(parts)

    def _segments(self, ids: list[int], prepends: bool) -> str | None:
        if self.unknown in ids:
            return None
        data: list[bytes] = []
        drops = prepends
        for id_ in ids:
            token = self.data[id_]
            added = self.added_tokens.get(id_)
            if added is None and drops and token.startswith(b" "):
                token = token[1:]
            data.append(token)
            drops = prepends and added is not None and not added.normalized
        return b"".join(data).decode()


def tokens_of(tokenizer: TokenizerAdapter) -> IdTexts:
    """Returns what the ids of `tokenizer` mean. If nothing is known about the tokenizer, the result
    has no tokens, and `why_not` says so."""
    vocabulary = vocabulary_of(tokenizer)
    if isinstance(vocabulary, Mapping):
        return _of_config(vocabulary)
    if isinstance(vocabulary, Vocabulary) and engine_of(tokenizer) == "tiktoken":
        return _of_tiktoken(vocabulary)
    why = f"nothing is known of the vocabulary of {tokenizer.name}"
    return IdTexts({}, [], np.zeros(0, np.bool_), {}, why)


def _of_tiktoken(vocabulary: Vocabulary) -> IdTexts:
    added = {token.id: token for token in vocabulary.added}
    names = {id_: token.content for id_, token in added.items()}
    data = {id_: token for token, id_ in vocabulary.tokens.items()}
    data |= {id_: name.encode() for id_, name in names.items()}
    table, known = _tables(data)
    return IdTexts(names, table, known, added, Respelling("bytes"), cut_at=frozenset(added))


def _of_config(config: Json) -> IdTexts:
    model, added = config["model"], _added_tokens_of(config)
    vocab = model["vocab"]
    if isinstance(vocab, list):
        ids = {id_: piece for id_, (piece, _score) in enumerate(vocab)}
        unknown = model.get("unk_id")
    else:
        ids = {id_: token for token, id_ in vocab.items()}
        unknown = vocab.get(model.get("unk_token"))
    spelling = respelling_of(config, ids.values(), added.values())
    spell_token: Callable[[str], bytes] = str.encode
    stages = json.dumps([config.get("pre_tokenizer"), config.get("decoder")])
    if isinstance(spelling, Respelling):
        is_bytes = spelling.kind == "bytes"
    else:
        is_bytes = '"ByteLevel"' in stages
    if is_bytes:
        spell_token = _byte_speller()
    elif isinstance(spelling, Respelling) and spelling.kind == "marks":
        spell_token = _spell_marks
        unknown = None if model.get("byte_fallback") else unknown
    names = ids | {id_: token.content for id_, token in added.items()}
    data = {id_: spell_token(name) for id_, name in ids.items()}
    data |= {id_: token.content.encode() for id_, token in added.items()}
    table, known = _tables(data)
    starts = _word_starts(names, added, unknown, len(table)) if splits_at_marks(config) else None
    return IdTexts(names, table, known, added, spelling, unknown, word_starts=starts)


def _word_starts(
    names: Mapping[int, str], added_tokens: Mapping[int, AddedToken], unknown: int | None, size: int
) -> Mask:
    """By id: the tokens that begin with "▁", and added ones."""
    found = np.zeros(size, np.bool_)
    found[[id_ for id_, name in names.items() if name.startswith(MARK) or id_ in added_tokens]] = (
        True
    )
    if unknown is not None:
        found[unknown] = False
    return found


def _byte_speller() -> Callable[[str], bytes]:
    """The bytes of a token written in the byte alphabet; another token is its own text."""
    code = byte_alphabet()

    def spell(name: str) -> bytes:
        try:
            return bytes(code[char] for char in name)
        except KeyError:
            return name.encode()

    return spell


def _spell_marks(name: str) -> bytes:
    is_byte = _BYTE_TOKEN.fullmatch(name)
    return bytes([int(is_byte[1], 16)]) if is_byte else name.replace(MARK, " ").encode()


def _added_tokens_of(config: Json) -> dict[int, AddedToken]:
    flags = ("lstrip", "rstrip", "single_word", "normalized", "special")
    rows = config.get("added_tokens") or ()
    return {
        row["id"]: AddedToken(row["content"], row["id"], **{f: bool(row.get(f)) for f in flags})
        for row in rows
    }


def _tables(data: Mapping[int, bytes]) -> tuple[list[bytes], Mask]:
    """The bytes of each id up to the highest, and whether it is a token."""
    size = max(data, default=-1) + 1
    known = np.zeros(size, np.bool_)
    known[list(data)] = True
    table = [b""] * size
    for id_, token in data.items():
        table[id_] = token
    return table, known
