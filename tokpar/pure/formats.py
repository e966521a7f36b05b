"""Reads vocabulary files into a `Vocabulary`, or refuses them with a FileFormatError.

A ``tokenizer.json`` of byte-level BPE lists its merges, best first. A ``.tiktoken`` file lists only
tokens and ranks; a rank is both the id and the priority. The regex and the special tokens of a
tiktoken encoding are not in the file but in code (`tokpar.pure.openai`)."""

import base64
import binascii
import json
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from tokpar.errors import FileFormatError
from tokpar.pure.format_upgrade import as_format_one
from tokpar.pure.parts import kind, stages
from tokpar.pure.vocabulary import GPT2_PATTERN as GPT2_PATTERN
from tokpar.pure.vocabulary import Merges, Ranks
from tokpar.pure.vocabulary import Vocabulary as Vocabulary
from tokpar.pure.vocabulary import byte_alphabet as byte_alphabet
from tokpar.pure.vocabulary import rank_vocabulary as rank_vocabulary
from tokpar.pure.vocabulary import require_free_ids as require_free_ids
from tokpar.types import AddedToken

Source = str | os.PathLike[str]

Spelling = TypeVar("Spelling", str, bytes)

SINGLE_BYTES = [bytes([byte]) for byte in range(256)]
_NEVER = frozenset({0xC0, 0xC1, *range(0xF5, 0x100)})  # bytes that UTF-8 does not have
_MAX_ID = 2**32 - 1


def read_ranks(path: Source) -> Ranks:
    """Returns token -> rank of a ``.tiktoken`` file, in the order of the file.

    Raises FileFormatError, with the number of the line, for a line that is not a base64 token, a
    space and a rank, and for a repeated token or rank. Also raises it if a single byte of UTF-8 has
    no rank."""
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
    require_bytes(SINGLE_BYTES, ranks, str(path))
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


def require_bytes(spellings: Sequence[Spelling], tokens: Container[Spelling], where: str) -> None:
    """Raises FileFormatError if one of the 256 bytes, spelled as in `spellings`, is not among the
    tokens. Bytes that UTF-8 never has may be missing."""
    if missing := missing_bytes(spellings, tokens):
        raise FileFormatError(
            f"{where}: expected a token for each byte of UTF-8, {len(missing)} are missing, "
            f"the first is 0x{missing[0]:02x} ({spellings[missing[0]]!r})"
        )


def missing_bytes(spellings: Iterable[Spelling], tokens: Container[Spelling]) -> list[int]:
    """Returns the bytes of UTF-8 that are not among the tokens. `spellings`: of all 256 bytes."""
    return [k for k, token in enumerate(spellings) if token not in tokens and k not in _NEVER]


def read_tokenizer_json(path: Source) -> Vocabulary:
    """Returns the vocabulary of a byte-level BPE ``tokenizer.json``.

    Raises FileFormatError for another model, and for settings that a `Vocabulary` cannot hold: it
    supports isolated Splits by a regex, then ByteLevel, and added tokens without flags that change
    where they match."""
    return vocabulary_of(read_config(path), path)


def vocabulary_of(config: dict[str, Any], path: Source) -> Vocabulary:
    """Returns the vocabulary of a parsed ``tokenizer.json``, as `read_tokenizer_json` does. The
    name of the vocabulary is the stem of `path`; error messages quote `path`."""
    try:
        return _vocabulary(config, Path(path).stem)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from None


def read_config(path: Source) -> dict[str, Any]:
    """Returns a parsed ``tokenizer.json``, in format 1.0 (see `as_format_one`). Raises
    FileFormatError if it is not UTF-8, or not a JSON object with a "model"."""
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
    """Returns the added tokens of a parsed ``tokenizer.json``, whose model has the tokens `ids`.

    Raises FileFormatError for an empty or repeated token, and for an id that engines would not keep
    (see `number_added_tokens`)."""
    added: dict[str, AddedToken] = {}
    for token, expected in number_added_tokens(
        map(_added_token, config.get("added_tokens") or []), ids
    ):
        if not token.content or token.content in added:
            raise FileFormatError(f"added token {token.content!r}: empty or repeated")
        if token.id != expected:
            what = f"added token {token.content!r}"
            raise FileFormatError(f"{what}: id {token.id}, expected {expected}")
        added[token.content] = token
    return tuple(added.values())


def number_added_tokens(
    added_tokens: Iterable[AddedToken], ids: Mapping[str, int]
) -> Iterator[tuple[AddedToken, int]]:
    """Yields each added token with the id that engines give to it, even if the file says another.

    A token of the model's vocabulary keeps the id that it has there. Engines number all other added
    tokens from the size of the vocabulary on, and above every added token before."""
    next_id = len(ids)
    for token in added_tokens:
        yield token, ids.get(token.content, next_id)
        next_id = max(next_id, token.id + 1)


def _added_token(entry: object) -> AddedToken:
    flags = {"lstrip", "rstrip", "single_word", "normalized", "special"}
    if isinstance(entry, dict) and entry.keys() - flags == {"content", "id"}:
        content, id_ = entry["content"], entry["id"]
        given = {flag: entry[flag] for flag in flags & entry.keys()}
        right = isinstance(content, str) and _is_id(id_)
        if right and all(isinstance(value, bool) for value in given.values()):
            return AddedToken(content, id_, **given)
    raise FileFormatError(f"added tokens: expected content, id and flags, got {entry!r}")


def model_ids(model: Mapping[str, Any]) -> dict[str, int]:
    """Returns token -> id of the "vocab" of a "model". Raises FileFormatError for a value that is
    no id of 32 bits, and for two tokens with one id."""
    ids = model.get("vocab")
    expected = "model vocab: expected an object of tokens and ids"
    if not isinstance(ids, dict):
        raise FileFormatError(expected)
    taken: dict[int, str] = {}
    for token, id_ in ids.items():
        if not _is_id(id_):
            raise FileFormatError(f"{expected}, {token!r} has id {id_!r}")
        if id_ in taken:
            both = f"{taken[id_]!r} and {token!r}"
            raise FileFormatError(f"model vocab: two tokens have one id: {both} have {id_}")
        taken[id_] = token
    return ids


def model_merges(model: Mapping[str, Any], ids: Mapping[str, int], prefix: str = "") -> Merges:
    """Returns the "merges" of a "model". If a pair is listed twice, the last line counts, as in HF.

    `prefix`: the prefix of tokens that continue a word, such as "##". A merge drops the prefix of
    its right part. Raises FileFormatError, with the number of the entry, for an entry that is not
    two tokens whose merge is a token."""
    lines = model.get("merges")
    if not isinstance(lines, list):
        raise FileFormatError("model merges: expected a list")
    merges: Merges = {}
    for number, line in enumerate(lines):
        if isinstance(line, str) and line.startswith("#version"):
            continue
        where = f"model merges, entry {number}"
        pair = line.split(" ") if isinstance(line, str) else line
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(p) is str for p in pair)):
            raise FileFormatError(f"{where}: expected two tokens, got {line!r}")
        left, right = pair
        if not right.startswith(prefix):
            raise FileFormatError(f"{where}: {right!r} does not begin with {prefix!r}")
        try:
            key = ids[left], ids[right]
            merges[key] = (number, ids[left + right[len(prefix) :]])
        except KeyError as error:
            raise FileFormatError(f"{where}: {error} is not in the vocabulary") from None
    return merges


def byte_model(model: Mapping[str, Any], name: str) -> Vocabulary:
    """Returns the vocabulary of a byte-level BPE "model" alone, without patterns or added tokens.
    Raises FileFormatError for another model."""
    plain = {"type": "BPE", "dropout": 0, "continuing_subword_prefix": "", "end_of_word_suffix": ""}
    for key, only in plain.items():
        _require(model, "model", key, only)
    ids = model_ids(model)
    alphabet = byte_alphabet()
    tokens = {
        bytes(alphabet[char] for char in token): id_
        for token, id_ in ids.items()
        if token and all(char in alphabet for char in token)
    }
    require_bytes(SINGLE_BYTES, tokens, "model vocab")
    return Vocabulary(
        name=name,
        tokens=tokens,
        semantics="pairs",
        patterns=(),
        merges=model_merges(model, ids),
        keep_gaps=True,
        whole_piece=bool(model.get("ignore_merges")),
    )


def _vocabulary(config: Mapping[str, Any], name: str) -> Vocabulary:
    _require_nothing_around(config)
    model = byte_model(config["model"], name)
    added = read_added(config, model_ids(config["model"]))
    for token in added:
        if token.lstrip or token.rstrip or token.single_word:
            what = f"added token {token.content!r}"
            raise FileFormatError(f"{what}: its flags are not supported here")
    return replace(model, patterns=_patterns(config.get("pre_tokenizer")), added=added)


def _require(part: Mapping[str, Any], where: str, key: str, only: object) -> None:
    """Raises FileFormatError if the setting `key` is there, is not null and differs from `only`."""
    if part.get(key) is not None and part[key] != only:
        raise FileFormatError(f"{where} {key} = {part[key]!r} is not supported here")


def _require_nothing_around(config: Mapping[str, Any]) -> None:
    for key in ("truncation", "padding"):
        if config.get(key) is not None:
            raise FileFormatError(f"a stored {key} is not supported here")
    for stage in stages(config.get("normalizer"), "normalizer", "normalizers"):
        raise FileFormatError(f"normalizer {kind(stage)} is not supported here")
    for key in ("post_processor", "decoder"):
        part = config.get(key)
        if part is not None and kind(part) != "ByteLevel":
            raise FileFormatError(f"{key} {kind(part)} is not supported here, only ByteLevel")


def _patterns(pre_tokenizer: Any) -> tuple[str, ...]:
    splits = list(stages(pre_tokenizer, "pre_tokenizer", "pretokenizers"))
    last = splits.pop() if splits else {}
    if kind(last) != "ByteLevel":
        raise FileFormatError(f"expected ByteLevel as the last pre-tokenizer, got {kind(last)}")
    _require(last, "pre-tokenizer ByteLevel", "add_prefix_space", False)
    own = (GPT2_PATTERN,) if last.get("use_regex", True) else ()
    return (*map(_split_pattern, splits), *own)


def _split_pattern(split: Mapping[str, Any]) -> str:
    match split:
        case {"behavior": "Isolated", "invert": False, "pattern": {"Regex": str(pattern)}}:
            if kind(split) == "Split":
                return pattern
    raise FileFormatError(
        f"pre-tokenizer {split!r} is not supported here, only isolated Splits by a Regex"
    )


def _is_id(value: object) -> bool:
    return type(value) is int and 0 <= value <= _MAX_ID
