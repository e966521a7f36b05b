"""The parts of a tokenizer's structure, and what differs between the parts of two."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from tokpar.certificate.canonical_form import FLAGS, JsonForm, RankForm
from tokpar.cli.screen import plural
from tokpar.types import AddedToken, NormalizerStage
from tokpar_diff.sides import Side
from tokpar_diff.witness_texts import pair_of, vocabulary_of

Parts = dict[str, Any]
LONGEST, BEFORE = 150, 30


def parts_of(side: Side) -> Parts:
    """Returns the parts by name; {} for a tokenizer without a known form."""
    form = side.form
    if isinstance(form, RankForm):
        return {
            "pattern": form.patterns,
            "vocabulary": vocabulary_of(form),
            "added tokens": sorted(form.added_tokens, key=_by_content),
        }
    if not isinstance(form, JsonForm):
        return {}
    lists = "vocab", "merges"
    model = {key: value for key, value in form.model.items() if key not in lists and _is_set(value)}
    merges = form.model.get("merges")
    return {
        "normalizer": form.normalizers,
        "pre-tokenizer": form.pre_tokenizers,
        "model": model,
        "vocabulary": form.model.get("vocab"),
        "merges": None if merges is None else [pair_of(merge) for merge in merges],
        "added tokens": sorted(form.added_tokens, key=_by_content),
        "post-processor": form.post_processor,
        "truncation and padding": (form.truncation, form.padding, form.skips_special),
        "decoder": side.decoder,
        "config": {name: side.description[name] for name in ("cleans_up", "own_decoding")},
    }


def _is_set(value: object) -> bool:
    """False for a setting that a file may as well leave out."""
    return value is not None and value is not False


def _by_content(token: AddedToken) -> tuple[str, int]:
    return token.content, token.id


def parts_that_differ(a: Parts, b: Parts) -> list[str]:
    """Returns the names of the parts that are not literally the same."""
    return [name for name in a | b if a.get(name) != b.get(name)]


def sentence_of(name: str, part_a: Any, part_b: Any) -> str:
    """Returns what differs in a part, in one line."""
    said = _SENTENCES.get(name, _say_values)(part_a, part_b)
    return f"{name}: {said}"


def _say_values(part_a: Any, part_b: Any) -> str:
    in_a, in_b = _json_of(part_a), _json_of(part_b)
    pairs = enumerate(zip(in_a, in_b, strict=False))
    same = next((k for k, (x, y) in pairs if x != y), 0)
    first = max(0, same - BEFORE) if max(len(in_a), len(in_b)) > LONGEST else 0
    return f"{_short(in_a, first)} in a, {_short(in_b, first)} in b"


def _json_of(value: Any) -> str:
    if isinstance(value, tuple) and all(isinstance(each, NormalizerStage) for each in value):
        value = [{each.kind: dict(each.settings)} if each.settings else each.kind for each in value]
    return json.dumps(value, ensure_ascii=False, default=str)


def _short(text: str, first: int = 0) -> str:
    """Returns a part of a text that begins at `first`."""
    shown = text[first : first + LONGEST]
    return "... " * (first > 0) + shown + " ..." * (first + LONGEST < len(text))


def _say_settings(part_a: Parts, part_b: Parts) -> str:
    names = [name for name in part_a | part_b if part_a.get(name) != part_b.get(name)]
    return "; ".join(f"{name}: {_say_values(part_a.get(name), part_b.get(name))}" for name in names)


Merges = Sequence[tuple[str, str]]


def merge_changes(merges_a: Merges, merges_b: Merges) -> list[Merges]:
    """Returns the merges only in a, those only in b, and those of both that stand at another place
    among those of both."""
    in_a, in_b = set(merges_a), set(merges_b)
    common_a = [merge for merge in merges_a if merge in in_b]
    common_b = [merge for merge in merges_b if merge in in_a]
    moved = [left for left, right in zip(common_a, common_b, strict=False) if left != right]
    only_a = [merge for merge in merges_a if merge not in in_b]
    return [only_a, [merge for merge in merges_b if merge not in in_a], moved]


def _say_merges(part_a: Merges | None, part_b: Merges | None) -> str:
    places = ("only in a", "only in b", "in another place")
    changes = zip(places, merge_changes(part_a or (), part_b or ()), strict=True)
    return "; ".join(
        f"{plural(len(merges), 'merge')} {place}, such as {' '.join(merges[0])!r}"
        for place, merges in changes
        if merges
    )


def _say_entries(part_a: Any, part_b: Any) -> str:
    """Returns what differs between two vocabularies, or between added tokens."""
    a, b = _values_of(part_a), _values_of(part_b)
    groups = {
        "only in a": [token for token in a if token not in b],
        "only in b": [token for token in b if token not in a],
        "changed": [token for token in a if a[token] != b.get(token, a[token])],
    }
    said = []
    for place, tokens in groups.items():
        for token in tokens[:1]:
            values = _say_values(a[token], b[token]) if place == "changed" else (a | b)[token]
            said.append(f"{plural(len(tokens), 'token')} {place}, such as {token!r}: {values}")
    return "; ".join(said)


def _values_of(part: Any) -> dict[str, Any]:
    """Returns the tokens with their ids, scores, or ids and flags."""
    if part and isinstance(part, Sequence) and isinstance(part[0], AddedToken):
        flags = {token: [flag for flag in FLAGS if getattr(token, flag)] for token in part}
        return {token.content: [token.id, *flags[token]] for token in part}
    return dict(part or ())


_SENTENCES: dict[str, Callable[[Any, Any], str]] = {
    "model": _say_settings,
    "config": _say_settings,
    "vocabulary": _say_entries,
    "merges": _say_merges,
    "added tokens": _say_entries,
}
