"""The tables of the compiled call for a BPE over characters (lemmas 55 to 59)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokpar.arrays import IntArray
from tokpar.compiled.call_tables import Arrays, last_of_equal, pair_arrays, with_words
from tokpar.compiled.merges import GateError, Parts, are_distinct
from tokpar.formats.json_parts import stage_names
from tokpar.process import kernel_modules

MARK = "\u2581"
NEVER, ALWAYS, UNLESS_SPACE, FIRST = range(4)
"""When the engine puts a space before a section, see call_characters.h."""
NO_MARKS = 2
"""In the last of the settings: a text has its spaces and U+2581 as they are."""
_NONE = 2**32 - 1
BYTE_NAMES = tuple(f"<0x{byte:02X}>" for byte in range(256))
_REPLACE = {"type": "Replace", "pattern": {"String": " "}, "content": MARK}
_SPLIT = {"type": "Split", "pattern": {"String": MARK}, "behavior": "MergedWithNext"}
_SCHEMES = {"always": UNLESS_SPACE, "first": FIRST, "never": NEVER}
_MISTAKES = {
    -1: "an entry of its vocabulary or merges is not read: it is not JSON, a token without bytes, "
    "an id that is too great, or a merge of other than two tokens or that begins with #version",
    -2: "it has a token with a space, which no text reaches",
    -3: "it has a token twice",
    -4: "a merge has a part, or makes something, that is no token",
}


@dataclass(frozen=True, slots=True, eq=False)
class WrittenBpe:
    """The vocabulary and the merges of a BPE, see `read_model`.

    `data`: the UTF-8 bytes of all tokens, and more. `ends`: where each token ends. `ids`: the id of
    each token. `merges`: the ids of the left part, the right part and the result of each merge.
    `tables`: char_ids, ascii_joins and joins of call_characters.h."""

    data: NDArray[np.uint8]
    ends: IntArray
    ids: NDArray[np.uint32]
    merges: NDArray[np.uint32]
    tables: Arrays
    is_marked: bool

    def tokens(self) -> list[tuple[bytes, int]]:
        """Returns the bytes and the id of each token."""
        data, ends = self.data.tobytes(), [0, *self.ends.tolist()]
        return [(data[i:j], k) for (i, j), k in zip(pairwise(ends), self.ids.tolist(), strict=True)]

    def ids_of(self, names: tuple[str, ...]) -> dict[str, int]:
        """Returns the ids of those names that are tokens."""
        lengths = np.diff(self.ends, prepend=0)
        found = {}
        spaced = {name: name.replace(MARK, " ") if self.is_marked else name for name in names}
        spelled = {text.encode(): name for name, text in spaced.items()}
        for length, first in {(len(name), name[0]) for name in spelled if name}:
            alike = np.flatnonzero(lengths == length)
            alike = alike[self.data[self.ends[alike] - length] == first]
            for number, end in zip(alike.tolist(), self.ends[alike].tolist(), strict=True):
                name = spelled.get(self.data[end - length : end].tobytes())
                if name is not None:
                    found[name] = int(self.ids[number])
        return found


def character_arrays(
    state: bytes, parts: Parts, size: int, normalizer: Any, pre_tokenizer: Any
) -> Arrays:
    """Returns the tables of a BPE over characters.

    `state`, `parts`: its model as JSON, see `merges_of`. `size`: the number of its tokens. The
    stages are parts of a `tokenizer.json`. Raises GateError where a condition of lemmas 55 to 59
    does not hold."""
    settings = {
        name: json.loads(state[i:j])
        for name, (i, j) in parts.items()
        if name not in ("vocab", "merges")
    }
    _require_settings(settings)
    is_normalizer, prepends, splits = character_stages(normalizer, pre_tokenizer)
    has_marks = has_stages(normalizer, pre_tokenizer)
    model = read_model(state, parts, has_marks)
    if len(model.ids) > size:
        raise GateError("it has a token twice")
    if len(model.ids) != size or not are_distinct(model.ids):
        raise GateError("two of its tokens have one id")
    unknown = settings.get("unk_token")
    names = model.ids_of((*BYTE_NAMES, *([] if unknown is None else [unknown])))
    fallback = bool(settings.get("byte_fallback"))
    _require_atoms(model, names, unknown, fallback)
    keys = model.merges[0].astype(np.uint64) << np.uint64(32) | model.merges[1]
    left, right, results = model.merges[:, last_of_equal(keys)].astype(np.int64)
    arrays = pair_arrays(left, right, np.arange(len(left)), results) | model.tables
    arrays["byte_ids"] = np.array([names.get(name, 0) for name in BYTE_NAMES], dtype=np.uint32)
    numbers = [1, names.get(unknown or "", _NONE), fallback, bool(settings.get("fuse_unk"))]
    numbers += [is_normalizer, prepends, splits | NO_MARKS * (not has_marks)]
    arrays["settings"] = np.array(numbers, dtype=np.int64)
    is_whole = np.zeros(size, dtype=np.bool_)
    return with_words(arrays, model.data, model.ends, model.ids, is_whole)


def read_model(state: bytes, parts: Parts, is_marked: bool = True, prefix: int = 0) -> WrittenBpe:
    """Returns the vocabulary and the merges of a BPE. Raises GateError.

    `state`, `parts`: its model as JSON, see `merges_of`. `is_marked`: " " is written for U+2581,
    and a token with a space is refused. `prefix`: bytes of its `continuing_subword_prefix`."""
    assert kernel_modules.CALL is not None
    if not {"vocab", "merges"} <= parts.keys():
        raise GateError("its model has no vocabulary or no merges")
    vocab, merges = parts["vocab"], parts["merges"]
    most, many = ((stop - start) // 5 + 1 for start, stop in (vocab, merges))
    data, ends = np.zeros(len(state) + 16, dtype=np.uint8), np.zeros(most, dtype=np.int64)
    ids, columns = np.zeros(most, dtype=np.uint32), np.zeros((3, many), dtype=np.uint32)
    slots = np.zeros(1 << (2 * most).bit_length(), dtype=np.uint64)
    tables: Arrays = {
        "char_ids": np.full(0x110000, _NONE, dtype=np.uint32),
        "ascii_joins": np.zeros(256, dtype=np.uint64),
        "joins": np.zeros(1 << 17, dtype=np.uint64),
    }
    room = data, ends, ids, *columns, slots, *tables.values()
    count, found, used = kernel_modules.CALL.read_characters(
        state, vocab, merges, room, is_marked, prefix
    )
    if found < 0:
        raise GateError(_MISTAKES[found])
    return WrittenBpe(
        data[: used + 16], ends[:count], ids[:count], columns[:, :found], tables, is_marked
    )


def _require_settings(settings: Mapping[str, Any]) -> None:
    """Raises GateError for a model that is no plain BPE."""
    if settings.get("type", "BPE") != "BPE":
        raise GateError(f"its model is {settings['type']}, not BPE")
    for name in ("dropout", "continuing_subword_prefix", "end_of_word_suffix", "ignore_merges"):
        if settings.get(name):
            raise GateError(f"its BPE has {name} {settings[name]!r}"[:200])


def _require_atoms(
    model: WrittenBpe, names: Mapping[str, int], unknown: str | None, fallback: bool
) -> None:
    """Raises GateError if a character may have no atom (lemma 55), or if a merge joins the name of
    a byte or the unknown token (lemma 57). `names`: the ids of such names."""
    nameless = (byte for byte in range(256) if BYTE_NAMES[byte] not in names)
    char_ids = model.tables["char_ids"]
    if fallback and any(byte >= 128 or char_ids[byte] == _NONE for byte in nameless):
        raise GateError("it falls back to bytes, and a byte has no token")
    if not fallback and unknown not in names:
        raise GateError("it has no token for unknown characters")
    require_apart(model, names, unknown, fallback)


def require_apart(
    model: WrittenBpe, names: Mapping[str, int], unknown: str | None, fallback: bool
) -> None:
    """Raises GateError if a merge has the unknown token, or with `fallback` the name of a byte, as
    a part (lemma 57). `names`: the ids of these names."""
    atoms = [*names.values()] if fallback else [names[unknown or ""]] if unknown in names else []
    if np.isin(model.merges[:2], atoms).any():
        named = "the name of a byte, or the unknown token," if fallback else "the unknown token"
        raise GateError(f"a merge has {named} as a part")


def character_stages(normalizer: Any, pre: Any) -> tuple[bool, int, bool]:
    """Returns whether the normalizer writes U+2581 for a space, else the pre-tokenizer does; when
    a space is put before a section; and whether each space begins a pre-token (lemma 59).

    Raises GateError for other stages."""
    rows = (normalizer or {}).get("normalizers", [normalizer] if normalizer else [])
    kinds = [row["type"] for row in rows]
    if not kinds:
        return _metaspace_stage(pre)
    named = stage_names(normalizer, "normalizers")
    if rows[-1] != _REPLACE:
        raise GateError(f"its normalizer is {named}, not one that ends with U+2581 for spaces")
    if kinds[:-1] not in ([], ["Prepend"]):
        raise GateError(f"its normalizer is {named}, not Replace with Prepend before it at most")
    if kinds[0] == "Prepend" and rows[0]["prepend"] != MARK:
        raise GateError(f"its normalizer Prepend puts {rows[0]['prepend']!r} before each text")
    prepends = ALWAYS if kinds[0] == "Prepend" else NEVER
    if pre is None or pre == _SPLIT | {"invert": False}:
        return True, prepends, pre is not None
    if pre["type"] != "Split" or pre["pattern"] != {"String": " "} or pre.get("invert"):
        raise GateError(
            f"its pre-tokenizer, {stage_names(pre, 'pretokenizers')}, may split what its "
            f"normalizer, {named}, made"
        )
    return True, prepends, False


def has_stages(normalizer: Any, pre: Any) -> bool:
    """True if there is a normalizer or a pre-tokenizer. Without both, spaces stay spaces."""
    return normalizer is not None or pre is not None


def is_marked(normalizer: Any, pre: Any) -> bool:
    """True for stages that `character_stages` knows: U+2581 stands for a space, or there are no
    stages."""
    try:
        character_stages(normalizer, pre)
    except GateError:
        return False
    return True


def _metaspace_stage(pre: Any) -> tuple[bool, int, bool]:
    """Returns what `character_stages` returns for a tokenizer without a normalizer: Metaspace, or
    no stage at all."""
    if pre is None:
        return False, NEVER, False
    if pre["type"] != "Metaspace":
        named = stage_names(pre, "pretokenizers")
        raise GateError(f"it has no normalizer, and its pre-tokenizer is {named}, not Metaspace")
    if pre["replacement"] != MARK:
        raise GateError(f"its Metaspace writes {pre['replacement']!r} for a space, not U+2581")
    scheme = pre.get("prepend_scheme", "always" if pre.get("add_prefix_space", True) else "never")
    return False, _SCHEMES[scheme], bool(pre.get("split", True))
