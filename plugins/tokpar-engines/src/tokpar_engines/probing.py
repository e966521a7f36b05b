"""Make a probing file: the stages and added tokens of another file, with a vocabulary whose ids
show where the text is split.

Any two characters may merge, so one split more or less changes the ids."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

from tokpar.plugin.tokenizer import byte_alphabet, letters_of
from tokpar_engines.engine_files import JsonFile, RankFile

SEED = 7
FIRST, CONTINUED = range(0xC2, 0xF5), range(0x80, 0xC0)
"""The first bytes, and the later bytes, of characters other than ASCII in UTF-8."""
Meetings = frozenset[tuple[bytes, bytes]]
_BYTE_TOKEN = re.compile("<0x[0-9A-F]{2}>")


def make_probing_file(
    file: JsonFile | RankFile, texts: Sequence[str], folder: Path
) -> JsonFile | RankFile | None:
    """Returns the probing file, written into `folder`, or None for a model that is not BPE.

    The file merges all characters of `texts`, and the last and first bytes of other characters, if
    they stand next to each other in some token of `file`. A split that no token of `file` can lie
    across makes no difference to the ids."""
    characters = sorted(set("".join(texts)))
    path = folder / file.path.name
    if isinstance(file, RankFile):
        tokens = file.facts.tokens
        merges = list(_byte_merges(characters, meetings(tokens() if tokens else ())))
        atoms = (bytes([byte]) for byte in range(256))
        rows = dict.fromkeys((*atoms, *(left + right for left, right in merges)))
        lines = (b"%s %d\n" % (b64encode(token), rank) for rank, token in enumerate(rows))
        path.write_bytes(b"".join(lines))
        special = {content: len(rows) + k for k, content in enumerate(file.special)}
        settings = {"pat_str": file.pattern, "special_tokens": special, "allowed_special": "all"}
        return RankFile(path, settings)
    if file.config["model"].get("type", "BPE") != "BPE":
        return None
    path.write_text(json.dumps(_config(file.config, characters)), encoding="utf-8")
    return JsonFile(path, add_special_tokens=False)


def meetings(tokens: Iterable[bytes]) -> Meetings:
    """Returns the pairs of neighbouring characters in the tokens, each as bytes.

    A token may begin or end inside a character: "a" and the first byte of "é" give (b"a",
    b"\xc3")."""
    found: set[tuple[bytes, bytes]] = set()
    for token in tokens:
        starts = [k for k, byte in enumerate(token) if byte & 0xC0 != 0x80]
        edges = [*([0] * (starts[:1] != [0])), *starts, len(token)]
        parts = [token[i:k] for i, k in pairwise(edges)]
        found.update(pairwise(parts))
    return frozenset(found)


def _config(config: Mapping[str, Any], characters: Sequence[str]) -> dict[str, Any]:
    """Returns the tokenizer.json with another vocabulary. Added tokens get new ids."""
    model = config["model"]
    added = [token["content"] for token in config.get("added_tokens", [])]
    kept = [token for token in model["vocab"] if _BYTE_TOKEN.fullmatch(token)]
    kept += [model["unk_token"]] * (model.get("unk_token") is not None)
    if '"ByteLevel"' in json.dumps([config.get("pre_tokenizer"), config.get("normalizer")]):
        atoms = [letters_of(bytes([byte])) for byte in range(256)]
        known_meetings = meetings(map(_bytes_of_token, model["vocab"]))
        merges = _byte_merges(characters, known_meetings)
        pairs = [(letters_of(left), letters_of(right)) for left, right in merges]
    else:
        met = {pair for token in model["vocab"] for pair in pairwise(token)}
        atoms = [token for token in model["vocab"] if len(token) == 1]
        pairs = [pair for pair in _shuffle_pairs(characters) if pair in met]
    own = {*added, *kept} - {*atoms}
    pairs = [pair for pair in pairs if "".join(pair) not in own]
    tokens = [*kept, *atoms, *map("".join, pairs), *(t for t in added if t in model["vocab"])]
    vocab = {token: id_ for id_, token in enumerate(dict.fromkeys(tokens))}
    ids = vocab | {t: len(vocab) + k for k, t in enumerate(t for t in added if t not in vocab)}
    others = dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix", "dropout"))
    return {
        **config,
        **dict.fromkeys(("truncation", "padding", "post_processor")),
        "added_tokens": [{**t, "id": ids[t["content"]]} for t in config.get("added_tokens", [])],
        "model": {**model, **others, "vocab": vocab, "merges": [*map(list, pairs)]},
    }


def _bytes_of_token(token: str) -> bytes:
    """Returns the bytes of a byte-level token, or UTF-8 of a token that no merge makes."""
    alphabet = byte_alphabet()
    if all(letter in alphabet for letter in token):
        return bytes(alphabet[letter] for letter in token)
    return token.encode()


def _byte_merges(
    characters: Collection[str], known_meetings: Meetings
) -> Iterator[tuple[bytes, bytes]]:
    """Yields merges of the bytes of each character; then of two characters; then of two bytes that
    may meet in other characters. Each pair occurs once."""
    spelt = [one.encode() for one in characters]
    whole = [(data[:k], data[k : k + 1]) for data in spelt for k in range(1, len(data))]
    two = [pair for pair in _shuffle_pairs(spelt) if _may_meet(*pair, known_meetings)]
    ends = {(left[-1:], right[:1]) for left, right in known_meetings}
    ascii_bytes = [bytes([byte]) for byte in b"a1 "]
    first, continued = ([bytes([byte]) for byte in some] for some in (FIRST, CONTINUED))
    edges = [*product(continued, [*first, *ascii_bytes]), *product(ascii_bytes, first)]
    yield from dict.fromkeys((*whole, *two, *(pair for pair in edges if pair in ends)))


def _may_meet(left: bytes, right: bytes, known_meetings: Meetings) -> bool:
    """True if some token may lie across the boundary between the two characters."""
    behind = range(1, len(right) + 1)
    return any((left[k:], right[:n]) in known_meetings for k in range(len(left)) for n in behind)


def _shuffle_pairs(atoms: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Returns all pairs in a random order that is always the same."""
    pairs = list(product(atoms, repeat=2))
    Random(SEED).shuffle(pairs)
    return pairs
