"""Reads vocabulary files into a `Vocabulary`, or refuses them with a FileFormatError.

A ``tokenizer.json`` of byte-level BPE lists its merges, best first. A ``.tiktoken`` file has ranks
(`tokpar.formats.formats`)."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from tokpar import FileFormatError, OptionError
from tokpar.formats.formats import MAX_ID, SINGLE_BYTES, Source, read_config, require_bytes
from tokpar.formats.json_parts import kind, stages
from tokpar.formats.vocabulary import GPT2_PATTERN, Merges, Ranks, Vocabulary, require_free_ids
from tokpar.plugin.tokenizer import AddedToken, byte_alphabet


def rank_vocabulary(
    name: str, ranks: Ranks, pattern: str, special_tokens: Mapping[str, int]
) -> Vocabulary:
    """Returns the vocabulary of a tiktoken encoding. All of `special_tokens` match in the text.

    Raises OptionError if a special token has the id of another token, or is a prefix of another
    special token: then it is not certain which one tiktoken would match."""
    require_free_ids(ranks, special_tokens)
    require_none_begins_another(special_tokens)
    added = tuple(AddedToken(content, id_) for content, id_ in special_tokens.items())
    return Vocabulary(name, ranks, "ranks", (pattern,), {}, False, True, added)


def require_none_begins_another(special_tokens: Iterable[str]) -> None:
    """Raises OptionError if one special token begins with another. tiktoken would match the one
    that comes first in its hash map."""
    for short, long in pairwise(sorted(special_tokens)):  # sorting puts a prefix right before
        if long.startswith(short):
            raise OptionError(
                f"special token {long!r} begins with {short!r}: which of the two tiktoken takes "
                "is chance; leave one of them out, or rename it"
            )


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
    return type(value) is int and 0 <= value <= MAX_ID
