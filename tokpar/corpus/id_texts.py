"""Turn the ids of a document back into a text of which the tokenizer must give the same ids.

For a byte-level BPE without normalizer this is the text itself. Other tokenizers lose something
of the text (case, spaces, prefixes), and their own decoders hide more; the texts made here are
those that the tokenizer leaves as they are:

- byte level: the bytes of all tokens. A normalizer in Unicode's forms is idempotent, so the
  normalized text, which the tokens spell, has the ids of the original one.
- words (WordPiece, WordLevel after a pre-tokenizer that drops white space): the words with one
  space between two of them. A word is a pre-token of such a text again.
- metaspace: "▁" is a space. Where the tokenizer puts a "▁" before each segment whatever stands
  there (the normalizer Prepend), the first one of each segment is left out.

For a tokenizer outside of these, `why_not` says why its ids are not compared."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray, offsets_of
from tokpar.corpus.shards import RawIds
from tokpar.interfaces import TokenizerAdapter
from tokpar.pure.format_two import as_format_one
from tokpar.pure.parts import Json, stages
from tokpar.pure.vocabulary import byte_alphabet
from tokpar.types import AddedToken

MARK = "▁"
Kind = Literal["byte level", "words", "metaspace"]
Mask = NDArray[np.bool_]
_BYTE_TOKEN = re.compile(r"<0x([0-9A-F]{2})>")
_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_KEEP_ALL = {"ByteLevel", "Digits", "Punctuation", "Split"}
"""Pre-tokenizers that drop nothing, unless a setting says so."""
_BLOCK = 1 << 16
"""Ids that are spelled at a time: the arrays fit in the processor's cache."""
_DROP_SPACES = {"BertPreTokenizer", "Digits", "Punctuation", "Whitespace", "WhitespaceSplit"}


@dataclass(frozen=True, eq=False)
class Tokens:
    """What the ids of a tokenizer mean.

    `names`: tokens as the file writes them, by id; only added ones where tokens are bytes. `data`:
    the bytes that a token spells, for each id below `size`; b"" for ids that are no token.
    `known`: True for each id that is a token.
    `added`: added tokens by id. `special`: the ids that stand for no text of their own. `unknown`:
    the id of the unknown token, or None. `kind`: how the ids of a document become a text, None if
    `why_not` says why they cannot. `exact`: the tokenizer is known to leave such a text as it is;
    else the audit compares the ids of a document only if the tokenizer does. `cut_at`: the ids at
    which documents are cut, because the engine does not look for these tokens in a text.
    `prefix`: of tokens that continue a word. `prepends`: a "▁" is put before each segment.
    `normalizes`: a normalizer changes the text. `word_starts`: by id, the tokens at which a word
    begins, which the model encodes alone; None if words are not encoded alone."""

    size: int
    names: Mapping[int, str]
    data: list[bytes]
    known: Mask
    added: Mapping[int, AddedToken]
    special: frozenset[int]
    unknown: int | None = None
    kind: Kind | None = None
    exact: bool = True
    why_not: str = ""
    cut_at: frozenset[int] = frozenset()
    prefix: str = "##"
    prepends: bool = False
    normalizes: bool = False
    word_starts: Mask | None = None

    def shown(self, id_: int) -> str:
        """The id and its token, for a report: "1 '<s>'"."""
        if not self.is_token(id_):
            return f"{id_}, no token"
        name = self.names.get(id_)
        if name is None:
            name = self.data[id_].decode(errors="backslashreplace")
        return f"{id_} {name!r}"

    def is_token(self, id_: int) -> bool:
        return 0 <= id_ < self.size and bool(self.known[id_])

    @cached_property
    def _table(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64]]:
        """The bytes of all tokens, where each token begins in them, and how long it is."""
        lengths = np.fromiter(map(len, self.data), np.int64, len(self.data))
        blob = np.frombuffer(b"".join(self.data), np.uint8)
        return blob, offsets_of(lengths)[:-1], lengths

    @property
    def lengths(self) -> IntArray:
        """The number of bytes that each token spells."""
        return self._table[2]

    def spelled(self, ids: RawIds) -> bytes:
        """The bytes that ids spell, all of them below `size`."""
        blob, starts, lengths = self._table
        found = []
        for k in range(0, len(ids), _BLOCK):
            some = ids[k : k + _BLOCK]
            sizes = lengths[some]
            ends = np.cumsum(sizes)
            places = np.repeat(starts[some] - ends + sizes, sizes)
            places += np.arange(len(places))
            found.append(blob[places].tobytes())
        return b"".join(found)

    def text_of(self, ids: RawIds) -> str | None:
        """The text of ids, all of them tokens and none in `cut_at`.

        None if nothing can be said of these ids: they hold the unknown token, where the words
        beside it cannot be told. Raises UnicodeDecodeError if the bytes are not UTF-8."""
        if self.kind == "words":
            return self._words(ids.tolist())
        if self.kind == "metaspace":
            return self._segments(ids.tolist())
        return self.spelled(ids).decode()

    def comparable(self, ids: RawIds) -> RawIds:
        """The ids without the unknown token, and without words that hold it."""
        if self.unknown is None or not (ids == self.unknown).any():
            return ids
        if self.kind == "words":
            return ids[ids != self.unknown]
        if self.word_starts is None:
            return ids
        words = np.cumsum(self.word_starts[ids])
        return ids[~np.isin(words, words[ids == self.unknown])]

    def _words(self, ids: list[int]) -> str:
        parts: list[str] = []
        for id_ in ids:
            token = self.names[id_]
            after_word = parts and id_ not in self.added and token.startswith(self.prefix)
            if after_word and self.prefix:
                parts[-1] += token.removeprefix(self.prefix)
            else:
                parts.append(token)
        return " ".join(parts)

    def _segments(self, ids: list[int]) -> str | None:
        if self.unknown in ids:
            return None
        data: list[bytes] = []
        drops = self.prepends
        for id_ in ids:
            token = self.data[id_]
            added = self.added.get(id_)
            if added is None and drops and token.startswith(b" "):
                token = token[1:]
            data.append(token)
            drops = self.prepends and added is not None and not added.normalized
        return b"".join(data).decode()


def tokens_of(tokenizer: TokenizerAdapter) -> Tokens:
    """What the ids of `tokenizer` mean. A tokenizer of which nothing is known has no tokens, and
    `why_not`."""
    encoding = getattr(tokenizer, "encoding", None)
    if encoding is not None and hasattr(encoding, "_mergeable_ranks"):
        return _of_ranks(encoding._mergeable_ranks, encoding._special_tokens)
    config = _config(tokenizer)
    if config is None:
        why = f"nothing is known of the vocabulary of {tokenizer.name}"
        return Tokens(0, {}, [], np.zeros(0, np.bool_), {}, frozenset(), why_not=why)
    return _of_config(config)


class _Written(Protocol):
    def to_str(self) -> str: ...


def _config(tokenizer: TokenizerAdapter) -> Json | None:
    """The `tokenizer.json` of an adapter, or None."""
    own = getattr(tokenizer, "config", None)
    if isinstance(own, dict):
        return own
    engine: _Written | None = getattr(tokenizer, "engine", None) or getattr(tokenizer, "_own", None)
    try:
        found = None if engine is None else json.loads(engine.to_str())
    except Exception:  # a component in Python cannot be written
        return None
    return None if found is None else dict(as_format_one(found))


def _of_ranks(ranks: Mapping[bytes, int], specials: Mapping[str, int]) -> Tokens:
    tokens = {id_: token for token, id_ in ranks.items()}
    added = {id_: AddedToken(content, id_) for content, id_ in specials.items()}
    data = tokens | {id_: token.content.encode() for id_, token in added.items()}
    names = {id_: token.content for id_, token in added.items()}
    special = frozenset(added)
    return _tokens(names, data, added, special, kind="byte level", cut_at=special)


def _of_config(config: Json) -> Tokens:
    model, added = config["model"], _added(config)
    vocab = model["vocab"]
    pairs = enumerate(t for t, _ in vocab) if isinstance(vocab, list) else _turned(vocab)
    names = dict(pairs) | {id_: token.content for id_, token in added.items()}
    special = frozenset(id_ for id_, token in added.items() if token.special)
    unknown = model.get("unk_id") if isinstance(vocab, list) else vocab.get(model.get("unk_token"))
    written = _written_as(config, model)
    settings: dict[str, Any] = {"unknown": unknown}
    if isinstance(written, str):
        settings["why_not"] = written
        code = token_data = None
    else:
        settings |= written
        settings["normalizes"] = bool(config.get("normalizer"))
        kind = written["kind"]
        code = byte_alphabet() if kind == "byte level" else None
        token_data = _metaspace_data if kind == "metaspace" else str.encode
        if kind == "byte level" and not code.keys() <= vocab.keys():
            settings |= {"kind": None, "why_not": "its vocabulary lacks some bytes"}
        if any(t.single_word and (t.lstrip or t.rstrip) for t in added.values()):
            why = (
                "an added token is both single_word and strips spaces: its place in a text is lost"
            )
            settings |= {"kind": None, "why_not": why}
        if kind == "metaspace" and model.get("byte_fallback"):
            settings["unknown"] = None
    data = {id_: _data(name, code, token_data) for id_, name in names.items()}
    data |= {id_: token.content.encode() for id_, token in added.items()}
    found = _tokens(names, data, added, special, **settings)
    if settings.get("kind") == "metaspace" and _splits_at_marks(config):
        starts = np.zeros(found.size, np.bool_)
        marked = [id_ for id_, name in names.items() if name.startswith(MARK) or id_ in added]
        starts[marked] = True
        if unknown is not None:
            starts[unknown] = False
        object.__setattr__(found, "word_starts", starts)
    return found


def _turned(vocab: Mapping[str, int]) -> Mapping[int, str]:
    return {id_: token for token, id_ in vocab.items()}


def _data(name: str, code: Mapping[str, int] | None, otherwise: Any) -> bytes:
    if code is not None:
        try:
            return bytes(code[char] for char in name)
        except KeyError:
            return name.encode()
    return bytes((otherwise or str.encode)(name))


def _metaspace_data(name: str) -> bytes:
    is_byte = _BYTE_TOKEN.fullmatch(name)
    return bytes([int(is_byte[1], 16)]) if is_byte else name.replace(MARK, " ").encode()


def _added(config: Json) -> dict[int, AddedToken]:
    flags = ("lstrip", "rstrip", "single_word", "normalized", "special")
    return {
        row["id"]: AddedToken(
            row["content"], row["id"], **{flag: bool(row.get(flag)) for flag in flags}
        )
        for row in config.get("added_tokens") or ()
    }


def _tokens(
    names: Mapping[int, str],
    data: Mapping[int, bytes],
    added: Mapping[int, AddedToken],
    special: frozenset[int],
    **settings: Any,
) -> Tokens:
    size = max(data, default=-1) + 1
    known = np.zeros(size, np.bool_)
    known[list(data)] = True
    table = [b""] * size
    for id_, token in data.items():
        table[id_] = token
    return Tokens(size, names, table, known, added, special, **settings)


def _written_as(config: Json, model: Json) -> dict[str, Any] | str:
    """The settings of `Tokens` for a tokenizer.json, or why its ids cannot be compared."""
    before = list(stages(config.get("normalizer"), "normalizer", "normalizers"))
    pieces = list(stages(config.get("pre_tokenizer"), "pre-tokenizer", "pretokenizers"))
    kind = model.get("type")
    if model.get("dropout") or model.get("alpha") or model.get("nbest_size"):
        return "the tokenizer draws ids at random"
    if any(piece["type"] == "ByteLevel" for piece in pieces):
        return _byte_level(before, pieces, model)
    if kind in ("WordPiece", "WordLevel"):
        return _by_words(before, pieces, model)
    if kind in ("BPE", "Unigram"):
        return _by_marks(before, pieces, model)
    return f"nothing is known of a model {kind} behind these stages"


def _byte_level(before: list[Json], pieces: list[Json], model: Json) -> dict[str, Any] | str:
    strange = [piece["type"] for piece in pieces if piece["type"] not in _KEEP_ALL]
    dropping = [p for p in pieces if p.get("behavior") == "Removed"]
    prefixed = [p for p in pieces if p["type"] == "ByteLevel" and p.get("add_prefix_space")]
    affixes = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    if model.get("type") != "BPE" or affixes or strange or dropping:
        return "its pre-tokenizer or model drops or changes a part of the text"
    if prefixed and len(pieces) > 1:
        return "its pre-tokenizer puts a space before each piece of a text"
    idempotent = len(before) <= 1 and all(stage["type"] in _FORMS for stage in before)
    return {"kind": "byte level", "exact": idempotent}


def _by_words(before: list[Json], pieces: list[Json], model: Json) -> dict[str, Any] | str:
    kinds = {piece["type"] for piece in pieces}
    if not kinds & {"BertPreTokenizer", "Whitespace", "WhitespaceSplit"} or kinds - _DROP_SPACES:
        return "its pre-tokenizer does not split at every space, and at nothing that it drops else"
    prefix = model.get("continuing_subword_prefix", "##") if model["type"] == "WordPiece" else ""
    idempotent = [stage["type"] for stage in before] in ([], ["BertNormalizer"])
    return {"kind": "words", "exact": idempotent, "prefix": prefix}


def _by_marks(before: list[Json], pieces: list[Json], model: Json) -> dict[str, Any] | str:
    written = json.dumps([before, pieces], ensure_ascii=False)
    if MARK not in written:
        return "its ids do not say where a text has spaces"
    kinds = {piece["type"] for piece in pieces}
    if kinds - {"Metaspace", "WhitespaceSplit", "Split"} or model.get("end_of_word_suffix"):
        return "its pre-tokenizer is not Metaspace alone"
    if any(piece.get("behavior") == "Removed" for piece in pieces):
        return "its pre-tokenizer drops a part of the text"
    named = [stage["type"] for stage in before]
    plain = all(
        kind == "Prepend" or (kind == "Replace" and stage.get("content") == MARK)
        for kind, stage in zip(named, before, strict=True)
    )
    return {"kind": "metaspace", "exact": plain, "prepends": "Prepend" in named}


def _splits_at_marks(config: Json) -> bool:
    pieces = list(stages(config.get("pre_tokenizer"), "pre-tokenizer", "pretokenizers"))
    return any(p["type"] == "Metaspace" and p.get("split", True) for p in pieces)
