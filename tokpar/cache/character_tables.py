"""The tables of the compiled call for a BPE over characters (lemmas 55 to 59)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tokpar.cache.call_tables import Arrays, pair_arrays, pair_hashes, with_words
from tokpar.cache.merges import GateError

MARK = "\u2581"
NEVER, ALWAYS, UNLESS_SPACE, FIRST = range(4)
"""When the engine puts a space before a section, see call_characters.h."""
_NONE = 2**32 - 1
_BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_SCHEMES = {"always": UNLESS_SPACE, "first": FIRST, "never": NEVER}


def character_arrays(config: Mapping[str, Any]) -> Arrays:
    """Returns the tables of a BPE over characters.

    `config`: a whole `tokenizer.json`. Raises GateError where a condition of lemmas 55 to 59 does
    not hold."""
    model = config["model"]
    vocab: dict[str, int] = model["vocab"]
    merges = _merges_of(model)
    fallback = _require_atoms(model, vocab, merges)
    is_normalizer, prepends, splits = _stages(config)

    def spaced(text: str) -> str:
        return text.replace(MARK, " ")

    if any(" " in token for token in vocab if len(token) > 1 or MARK in vocab):
        raise GateError("it has a token with a space, which no text reaches")
    ids = np.array([[vocab[x], vocab[y], vocab[x + y]] for x, y in merges], dtype=np.int64)
    left, right, made = ids.reshape(-1, 3).T
    arrays = pair_arrays(left, right, np.arange(len(merges)), made)
    char_ids = np.full(0x110000, _NONE, dtype=np.uint32)
    for token, number in vocab.items():
        if len(spaced(token)) == 1:
            char_ids[ord(spaced(token))] = number
    joined = {(spaced(x)[-1], spaced(y)[0]) for x, y in merges}
    arrays |= _joins(joined) | {"char_ids": char_ids}
    arrays["byte_ids"] = np.array([vocab.get(name, 0) for name in _BYTE_NAMES], dtype=np.uint32)
    unknown = model.get("unk_token")
    settings = [1, _NONE if unknown is None else vocab.get(unknown, _NONE), fallback]
    settings += [bool(model.get("fuse_unk")), is_normalizer, prepends, splits]
    arrays["settings"] = np.array(settings, dtype=np.int64)
    names = {*_BYTE_NAMES, unknown} if fallback else {unknown}
    words = {
        spaced(token).encode(): number for token, number in vocab.items() if token not in names
    }
    data = np.frombuffer(b"".join(words) + bytes(16), dtype=np.uint8)
    ends = np.cumsum([*map(len, words)], dtype=np.int64)
    numbers = np.fromiter(words.values(), dtype=np.uint32, count=len(words))
    return with_words(arrays, data, ends, numbers, np.zeros(len(words), dtype=np.bool_))


def _merges_of(model: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    """Returns the merges in order; of equal merges the last one (lemma 56)."""
    merges = [tuple(m.split(" ")) if isinstance(m, str) else tuple(m) for m in model["merges"]]
    if any(len(merge) != 2 or not all(merge) for merge in merges):
        raise GateError("a merge of it has an empty part")
    last = {merge: number for number, merge in enumerate(merges)}
    return [(x, y) for number, (x, y) in enumerate(merges) if last[x, y] == number]


def _require_atoms(
    model: Mapping[str, Any], vocab: Mapping[str, int], merges: Sequence[tuple[str, str]]
) -> bool:
    """Returns whether the model falls back to bytes. Raises GateError."""
    if model.get("type", "BPE") != "BPE":
        raise GateError("its model is no BPE")
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges"):
        if model.get(name):
            raise GateError(f"its BPE has {name} {model[name]!r}")
    if len(set(vocab.values())) < len(vocab) or "" in vocab:
        raise GateError("two of its tokens have one id, or one is empty")
    fallback = bool(model.get("byte_fallback"))
    unknown = model.get("unk_token")
    nameless = (byte for byte in range(256) if _BYTE_NAMES[byte] not in vocab)
    if fallback and any(byte >= 128 or chr(byte) not in vocab for byte in nameless):
        raise GateError("it falls back to bytes, and a byte has no token")
    if not fallback and (unknown is None or unknown not in vocab):
        raise GateError("it has no token for unknown characters")
    names = {*_BYTE_NAMES} if fallback else set()
    names |= {unknown} if unknown is not None else set()
    if any(x in names or y in names for x, y in merges):
        raise GateError("a merge has the name of a byte, or the unknown token, as a part")
    missing = next((x + y for x, y in merges if not {x, y, x + y} <= vocab.keys()), None)
    if missing is not None:
        raise GateError(f"a merge makes {missing!r}, which is no token")
    return fallback


def _stages(config: Mapping[str, Any]) -> tuple[bool, int, bool]:
    """Returns whether the normalizer writes U+2581 for a space, else the pre-tokenizer does; when
    a space is put before a section; and whether each space begins a pre-token (lemma 59).

    Raises GateError for other stages."""
    normalizer, pre = config.get("normalizer"), config.get("pre_tokenizer")
    rows = (normalizer or {}).get("normalizers", [normalizer] if normalizer else [])
    kinds = [row["type"] for row in rows]
    if pre is not None and pre["type"] == "Metaspace" and not kinds and pre["replacement"] == MARK:
        scheme = pre.get(
            "prepend_scheme", "always" if pre.get("add_prefix_space", True) else "never"
        )
        return False, _SCHEMES[scheme], bool(pre.get("split", True))
    replaced = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
    if not rows or rows[-1] != replaced or kinds[:-1] not in ([], ["Prepend"]):
        raise GateError("its normalizer is another one than Prepend and Replace")
    if kinds[0] == "Prepend" and rows[0]["prepend"] != MARK:
        raise GateError("its normalizer puts something other than a space before each text")
    never_splits = pre is None or (pre["type"] == "Split" and pre["pattern"] == {"String": " "})
    if not never_splits or (pre is not None and pre.get("invert")):
        raise GateError("its pre-tokenizer splits what its normalizer made")
    return True, ALWAYS if kinds[0] == "Prepend" else NEVER, False


def _joins(joined: set[tuple[str, str]]) -> Arrays:
    """Returns the pairs of characters that some merge joins, as bits."""
    pairs = np.array([(ord(x), ord(y)) for x, y in sorted(joined)], dtype=np.uint64).reshape(-1, 2)
    bits = pair_hashes(pairs[:, 0], pairs[:, 1]) >> np.uint64(41)
    few = pairs[(pairs < 128).all(axis=1)]
    ascii_bits = few[:, 0] << np.uint64(7) | few[:, 1]
    return {"joins": _set_bits(bits, 1 << 17), "ascii_joins": _set_bits(ascii_bits, 256)}


def _set_bits(bits: Any, words: int) -> Any:
    found = np.zeros(words, dtype=np.uint64)
    np.bitwise_or.at(found, bits >> np.uint64(6), np.uint64(1) << (bits & np.uint64(63)))
    return found
