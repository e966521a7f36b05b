"""Vocabulary files, read into one plain value, a `Vocabulary`, or refused.

Two kinds of file hold the same thing in two ways. A ``tokenizer.json`` of the byte-level BPE kind
lists its merges, best first. A ``.tiktoken`` file lists tokens only, and a token's rank is both its
id and the priority of every merge that makes it; its regex and special tokens live in code.
Whatever this package cannot follow exactly is a FileFormatError that names the part.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from tokpar.errors import FileFormatError
from tokpar.pure.format_two import as_format_one
from tokpar.pure.parts import kind, stages
from tokpar.pure.vocabulary import GPT2_PATTERN as GPT2_PATTERN
from tokpar.pure.vocabulary import Merges as Merges
from tokpar.pure.vocabulary import Ranks as Ranks
from tokpar.pure.vocabulary import Vocabulary as Vocabulary
from tokpar.pure.vocabulary import byte_alphabet as byte_alphabet
from tokpar.pure.vocabulary import rank_vocabulary as rank_vocabulary
from tokpar.pure.vocabulary import require_free_ids as require_free_ids
from tokpar.types import AddedToken

Source = str | os.PathLike[str]

_MAX_ID = 2**32 - 1


def read_ranks(path: Source) -> Ranks:
    """Tokens and ranks of a ``.tiktoken`` file, in the order of its lines.

    Raises FileFormatError with the number of the line that is not a base64 token, one space and a
    rank, that repeats a token or a rank, or when one of the 256 single bytes has no rank.
    """
    ranks: Ranks = {}
    line_of: dict[int, int] = {}
    for number, line in enumerate(Path(path).read_bytes().splitlines(), 1):
        if not line:
            continue
        where = f"{path}, line {number}"
        token, rank = _parse_rank_line(line, where)
        if rank in line_of:
            raise FileFormatError(f"{where}: rank {rank} is already that of line {line_of[rank]}")
        if token in ranks:
            first = line_of[ranks[token]]
            raise FileFormatError(f"{where}: token {token!r} is already that of line {first}")
        ranks[token] = rank
        line_of[rank] = number
    _require_all_bytes(ranks, str(path))
    return ranks


def _parse_rank_line(line: bytes, where: str) -> tuple[bytes, int]:
    fields = line.split(b" ")
    expected = f"{where}: expected a base64 token, one space and a rank, got {line[:60]!r}"
    if len(fields) != 2 or not fields[0] or not fields[1].isdigit() or len(fields[1]) > 10:
        raise FileFormatError(expected)
    try:
        token = base64.b64decode(fields[0], validate=True)
    except binascii.Error as error:
        raise FileFormatError(f"{expected} ({error})") from error
    rank = int(fields[1])
    if rank > _MAX_ID:
        raise FileFormatError(f"{where}: rank {rank} does not fit into 32 bits")
    return token, rank


def _require_all_bytes(tokens: Mapping[bytes, int], where: str) -> None:
    missing = [byte for byte in range(256) if bytes([byte]) not in tokens]
    if missing:
        raise FileFormatError(
            f"{where}: expected a token for each of the 256 bytes, {len(missing)} are missing, "
            f"the first is 0x{missing[0]:02x}"
        )


def read_tokenizer_json(path: Source) -> Vocabulary:
    """The vocabulary of a byte-level BPE ``tokenizer.json``.

    Raises FileFormatError when the file is not one, or asks for something else than isolated
    Splits before ByteLevel, plain added tokens and no normalizer, post-processing, truncation,
    padding or dropout.
    """
    return vocabulary_of(read_config(path), path)


def vocabulary_of(config: dict[str, Any], path: Source) -> Vocabulary:
    """The same of a file that is parsed already; `path` gives the name, and goes into errors."""
    return _JsonFile(config, path).vocabulary()


def read_config(path: Source) -> dict[str, Any]:
    """A parsed ``tokenizer.json``. FileFormatError if it is no JSON object with a "model"."""
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: expected UTF-8 text ({error})") from None
    except json.JSONDecodeError as error:
        raise FileFormatError(f"{path}: line {error.lineno}: expected JSON ({error.msg})") from None
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        raise FileFormatError(f'{path}: expected an object with a "model"')
    if not isinstance(data.get("added_tokens") or [], list):
        raise FileFormatError(f"{path}: added tokens: expected a list")
    return as_format_one(data)


def read_added(config: Mapping[str, Any], ids: Mapping[str, int]) -> tuple[AddedToken, ...]:
    """The added tokens of a parsed ``tokenizer.json``, whose model has the tokens `ids`.

    Refuses ids that engines would not keep: they number a token that the model's vocabulary lacks
    after the vocabulary, whatever the file says.
    """
    added: dict[str, AddedToken] = {}
    next_id = len(ids)
    for entry in config.get("added_tokens") or []:
        token = _added_token(entry)
        if not token.content or token.content in added:
            raise FileFormatError(f"added token {token.content!r}: empty or repeated")
        expected = ids.get(token.content, next_id)
        if token.id != expected:
            raise FileFormatError(
                f"added token {token.content!r}: id {token.id}, expected {expected}"
            )
        added[token.content] = token
        next_id = max(next_id, token.id + 1)
    return tuple(added.values())


def _added_token(entry: object) -> AddedToken:
    flags = {"lstrip", "rstrip", "single_word", "normalized", "special"}
    if isinstance(entry, dict) and entry.keys() - flags == {"content", "id"}:
        content, id_ = entry["content"], entry["id"]
        given = {flag: entry[flag] for flag in flags & entry.keys()}
        right = isinstance(content, str) and _is_id(id_)
        if right and all(isinstance(value, bool) for value in given.values()):
            return AddedToken(content, id_, **given)
    raise FileFormatError(f"added tokens: expected content, id and flags, got {entry!r}")


class _JsonFile:
    """One ``tokenizer.json``; each method reads one part or refuses it."""

    def __init__(self, config: dict[str, Any], path: Source) -> None:
        self.path = path
        self.data = config
        self.model: dict[str, Any] = config["model"]

    def refuse(self, what: str) -> NoReturn:
        raise FileFormatError(f"{self.path}: {what}")

    def require(self, part: Mapping[str, Any], where: str, key: str, *allowed: object) -> None:
        """Refuse a setting that is neither missing nor one of `allowed`."""
        if part.get(key) is not None and part[key] not in allowed:
            self.refuse(f"{where} {key} = {part[key]!r} is not supported here")

    def flat(self, key: str, members: str) -> list[Any]:
        """The stages of a part of the file."""
        try:
            return list(stages(self.data.get(key), key, members))
        except FileFormatError as error:
            self.refuse(str(error))

    def vocabulary(self) -> Vocabulary:
        self.check_surroundings()
        ids = self.read_ids()
        alphabet = byte_alphabet()
        tokens = {
            bytes(alphabet[char] for char in token): id_
            for token, id_ in ids.items()
            if token and all(char in alphabet for char in token)
        }
        _require_all_bytes(tokens, f"{self.path}, model vocab")
        return Vocabulary(
            name=Path(self.path).stem,
            tokens=tokens,
            semantics="pairs",
            patterns=self.read_patterns(),
            merges=self.read_merges(ids),
            keep_gaps=True,
            whole_piece=bool(self.model.get("ignore_merges")),
            added=self.read_added(ids),
        )

    def check_surroundings(self) -> None:
        for key in ("truncation", "padding"):
            if self.data.get(key) is not None:
                self.refuse(f"a stored {key} is not supported here")
        for normalizer in self.flat("normalizer", "normalizers"):
            self.refuse(f"normalizer {kind(normalizer)} is not supported here")
        for key in ("post_processor", "decoder"):
            part = self.data.get(key)
            if part is not None and kind(part) != "ByteLevel":
                self.refuse(f"{key} {kind(part)} is not supported here, only ByteLevel")
        self.require(self.model, "model", "type", "BPE")
        self.require(self.model, "model", "dropout", 0)
        self.require(self.model, "model", "continuing_subword_prefix", "")
        self.require(self.model, "model", "end_of_word_suffix", "")

    def read_ids(self) -> dict[str, int]:
        ids = self.model.get("vocab")
        if not isinstance(ids, dict) or not all(_is_id(id_) for id_ in ids.values()):
            self.refuse("model vocab: expected an object of tokens and ids")
        if len(set(ids.values())) != len(ids):
            self.refuse("model vocab: two tokens have one id")
        return ids

    def read_merges(self, ids: Mapping[str, int]) -> Merges:
        """Of a pair listed twice the last line counts, as in HF."""
        lines = self.model.get("merges")
        if not isinstance(lines, list):
            self.refuse("model merges: expected a list")
        merges: Merges = {}
        for priority, line in enumerate(lines):
            pair = line.split(" ") if isinstance(line, str) else line
            try:
                left, right = pair
                merges[ids[left], ids[right]] = (priority, ids[left + right])
            except (ValueError, TypeError):
                self.refuse(f"model merges, entry {priority}: expected two tokens, got {line!r}")
            except KeyError as error:
                self.refuse(f"model merges, entry {priority}: {error} is not in the vocabulary")
        return merges

    def read_patterns(self) -> tuple[str, ...]:
        *splits, last = self.flat("pre_tokenizer", "pretokenizers") or [None]
        if kind(last) != "ByteLevel":
            self.refuse(f"expected ByteLevel as the last pre-tokenizer, got {kind(last)}")
        self.require(last, "pre-tokenizer ByteLevel", "add_prefix_space", False)
        patterns = [self.read_split(split) for split in splits]
        return (*patterns, GPT2_PATTERN) if last.get("use_regex", True) else tuple(patterns)

    def read_split(self, split: dict[str, Any]) -> str:
        if kind(split) != "Split":
            self.refuse(f"pre-tokenizer {kind(split)} is not supported here, only Split")
        self.require(split, "pre-tokenizer Split", "behavior", "Isolated")
        self.require(split, "pre-tokenizer Split", "invert", False)
        match split.get("pattern"):
            case {"Regex": str(pattern)}:
                return pattern
        return self.refuse(f"pre-tokenizer Split: pattern {split.get('pattern')!r} is no Regex")

    def read_added(self, ids: Mapping[str, int]) -> tuple[AddedToken, ...]:
        try:
            added = read_added(self.data, ids)
        except FileFormatError as error:
            self.refuse(str(error))
        for token in added:
            if token.lstrip or token.rstrip or token.single_word:
                self.refuse(f"added token {token.content!r}: its flags are not supported here")
        return added


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_ID
