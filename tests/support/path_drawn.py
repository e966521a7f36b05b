"""Drawn SentencePiece models, and the rule of their ids in plain Python."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from tokpar_conformance.worlds.charsmaps import charsmap

from tokpar.contract.path_model import (
    BPE,
    BYTE,
    CHAR,
    NORMAL,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    PathModel,
)

MARK = "▁"
REPLACED = {
    "\u3000": " ",
    "ﬁ": "fi",
    "½": "1⁄2",
    "\u200b": "",
    "a\u0301": "á",
    "a": "e",
    "¨": " \u0308",
    "b  ": "",
}
"""Keys of one character and more, some a prefix of others, and what stands for them."""
LIMIT = np.float32(100_000)


def draw_path_model(draw: random.Random) -> tuple[PathModel, str]:
    """A model, and the characters of its pieces."""
    letters = draw.choice(["ab", "abé", "▁ab", "a▁b語😀", " a▁b", "efi1▁", "e\u0301á"])
    scores: list[tuple[float, ...]] = [
        (-1.0, -1.0, -2.0, -3.0),
        (-3.0, -3.0 - 2.0**-22, -3.0 + 2.0**-22),
        (-30000.1, -20000.7, -1.1),
        (-1e30, 3e38, -1e5, 1.0),
        (3e38, -3e38, -1.0, 5.0),
        tuple(-draw.random() * 12 for _ in range(9)),
    ]
    chosen = draw.choice(scores)
    names = {"".join(draw.choices(letters, k=draw.choice([1, 1, 2, 3, 5]))) for _ in range(12)}
    kinds = [NORMAL, NORMAL, NORMAL, NORMAL, NORMAL, NORMAL, USER_DEFINED, UNUSED]
    pieces = [(n.encode(), draw.choice(chosen), draw.choice(kinds)) for n in sorted(names)]
    pieces.insert(draw.randrange(len(pieces) + 1), (b"<unk>", 0.0, UNKNOWN))
    falls_back = draw.random() < 0.4
    if falls_back:
        pieces += [(b"<0x%02X>" % byte, 0.0, BYTE) for byte in range(256)]
    table = charsmap(REPLACED) if draw.random() < 0.5 else b""
    return PathModel(pieces, table, falls_back, *draw.choices([False, True], k=4)), letters


def draw_merged_model(draw: random.Random) -> tuple[PathModel, str]:
    """A BPE or a model of characters, and the characters of its pieces."""
    model, letters = draw_path_model(draw)
    step = draw.choice([1, 2, 30])
    pieces = [
        (name, -float(k // step), NORMAL if kind == UNUSED else kind)
        for k, (name, _, kind) in enumerate(model.pieces)
    ]
    return replace(model, pieces=pieces, kind=draw.choice([BPE, BPE, BPE, CHAR])), letters


def ids_of_merges(model: PathModel, text: str) -> list[int]:
    """The ids of a text by a BPE or a model of characters: all pairs are looked at for each
    merge."""
    normal = normalized(model, text)
    symbols = sorted(n.decode() for n, _, kind in model.pieces if kind == USER_DEFINED)
    pieces = {n.decode(): (-s, id_) for id_, (n, s, kind) in enumerate(model.pieces) if kind == 1}
    row: list[tuple[str, bool]] = []
    while normal:
        symbol = max(filter(normal.startswith, symbols), key=len, default="")
        row.append((symbol or normal[0], bool(symbol)))
        normal = normal[len(symbol or normal[0]) :]
    while model.kind == BPE:
        pairs = [
            (pieces[row[k][0] + row[k + 1][0]][0], k)
            for k in range(len(row) - 1)
            if not row[k][1] and not row[k + 1][1] and row[k][0] + row[k + 1][0] in pieces
        ]
        if not pairs:
            break
        _, k = min(pairs)
        row[k : k + 2] = [(row[k][0] + row[k + 1][0], False)]
    return [*_named(model, [name for name, _ in row])]


def _named(model: PathModel, names: list[str]) -> Iterator[int]:
    by_name = {name: id_ for id_, (name, _, _) in enumerate(model.pieces)}
    found = {n.decode(): i for i, (n, _, kind) in enumerate(model.pieces) if kind in (1, 4)}
    unknown, before = by_name[b"<unk>"], -1
    for name in names:
        id_ = found.get(name, unknown)
        if id_ == unknown and model.byte_fallback:
            yield from (by_name[b"<0x%02X>" % byte] for byte in name.encode())
        elif id_ != unknown or before != unknown:
            yield id_
        before = id_


def draw_path_text(draw: random.Random, letters: str) -> str:
    more = letters + draw.choice(["", "x", " ", "  ▁", "ﬁ½\u3000\u200b¨\u0301b", "\x01語"])
    return "".join(draw.choices(more, k=draw.choice([0, 1, 2, 3, 5, 9, 40, 200])))


def ids_of_path(model: PathModel, text: str) -> list[int]:
    """The ids of a text: the library's rule, without a double array or bytes of marks."""
    normal = normalized(model, text)
    if not normal:
        return []
    ids, scores, unknown = _vocabulary(model)
    best: dict[int, tuple[np.float32, int, int]] = {0: (np.float32(0), 0, -1)}
    longest = max(map(len, ids), default=1)
    for start in range(len(normal)):
        here = best[start][0]
        if here < -LIMIT or here > LIMIT:
            for place in [place for place in best if place >= start]:
                best[place] = (best[place][0] - here, *best[place][1:])
            here = np.float32(0)
        names = (normal[start:stop] for stop in range(start + 1, start + longest + 1))
        for name in dict.fromkeys(names):
            if name in ids:
                _offer(best, start, start + len(name), here + scores[ids[name]], ids[name])
        if normal[start] not in ids:
            _offer(best, start, start + 1, here + scores[-1], unknown)
    return [*_walked(model, normal, best, unknown)]


def _offer(
    best: dict[int, tuple[np.float32, int, int]], start: int, stop: int, score: np.float32, id_: int
) -> None:
    if stop not in best or score > best[stop][0]:
        best[stop] = score, start, id_


def _walked(
    model: PathModel, normal: str, best: dict[int, tuple[np.float32, int, int]], unknown: int
) -> Iterator[int]:
    path, stop = [], len(normal)
    while stop:
        _, start, id_ = best[stop]
        path.append((start, stop, id_))
        stop = start
    by_name = {name: id_ for id_, (name, _, _) in enumerate(model.pieces)}
    before = -1
    for start, stop, id_ in reversed(path):
        if id_ == unknown and model.byte_fallback:
            yield from (by_name[b"<0x%02X>" % byte] for byte in normal[start:stop].encode())
        elif id_ != unknown or before != unknown:
            yield id_
        before = id_


def _vocabulary(model: PathModel) -> tuple[dict[str, int], list[np.float32], int]:
    """The ids of pieces that a text may have, all scores and the unknown one's, its id."""
    ids, scores, least = {}, [], np.finfo(np.float32).max
    for id_, (name, score, kind) in enumerate(model.pieces):
        if kind in (NORMAL, USER_DEFINED):
            ids[name.decode()] = id_
        own = 0.1 * (len(name) - 1) if kind == USER_DEFINED else score
        scores.append(np.float32(own))
        if kind == NORMAL and scores[-1] < least:
            least = scores[-1]
    unknown = next(id_ for id_, (_, _, kind) in enumerate(model.pieces) if kind == UNKNOWN)
    return ids, [*scores, least - np.float32(10)], unknown


def normalized(model: PathModel, text: str) -> str:
    """What the library's normalizer makes of a text."""
    forms = [*_forms(model, text)]
    while model.remove_extra_whitespaces and forms and forms[0] == " ":
        forms.pop(0)
    if not forms:
        return ""
    space = MARK if model.escape_whitespaces else " "
    found, after_space = "", model.remove_extra_whitespaces
    for form in forms:
        form = form.lstrip(" ") if after_space else form
        if form:
            found += form.replace(" ", space)
            after_space = model.remove_extra_whitespaces and form.endswith(" ")
    found = space * (model.add_dummy_prefix and not model.space_is_suffix) + found
    while model.remove_extra_whitespaces and found.endswith(space):
        found = found.removesuffix(space)
    return found + space * (model.add_dummy_prefix and model.space_is_suffix)


def _forms(model: PathModel, text: str) -> Iterator[str]:
    symbols = [name.decode() for name, _, kind in model.pieces if kind == USER_DEFINED]
    keys = REPLACED if model.charsmap else {}
    place = 0
    while place < len(text):
        symbol = max((s for s in symbols if text.startswith(s, place)), key=len, default="")
        key = max((k for k in keys if text.startswith(k, place)), key=len, default="")
        yield symbol or (keys[key] if key else text[place])
        place += len(symbol or key or text[place])
