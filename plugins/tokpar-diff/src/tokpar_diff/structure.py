"""The parts of a tokenizer's structure, and what differs between the parts of two."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tokpar.certificate.canonical_form import FLAGS, JsonForm, RankForm
from tokpar.cli.screen import plural
from tokpar.types import AddedToken, NormalizerStage
from tokpar_diff.sides import Side
from tokpar_diff.witness_texts import pair_of, vocabulary_of

Parts = dict[str, Any]
LONGEST, BEFORE = 150, 30


def parts_of(side: Side) -> Parts:
    """Returns the parts by name; {} for a tokenizer of which no form is known."""
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


def _say_vocabulary(part_a: Any, part_b: Any) -> str:
    if not (isinstance(part_a, Mapping) and isinstance(part_b, Mapping)):
        return f"{len(part_a):,} pieces in a, {len(part_b):,} in b"
    only_a, only_b = part_a.keys() - part_b.keys(), part_b.keys() - part_a.keys()
    moved = [token for token in part_a.keys() & part_b.keys() if part_a[token] != part_b[token]]
    return "; ".join(
        f"{plural(len(tokens), 'token')} {where}, such as {_first(tokens, ids)}"
        for tokens, ids, where in (
            (only_a, part_a, "only in a"),
            (only_b, part_b, "only in b"),
            (moved, part_a, "with another id in b"),
        )
        if tokens
    )


def _first(tokens: Iterable[str], ids: Mapping[str, int]) -> str:
    token = min(tokens, key=ids.__getitem__)
    return f"{token!r} ({ids[token]})"


def _say_merges(part_a: Any, part_b: Any) -> str:
    if part_a is None or part_b is None:
        return "one side has none that is written"
    only_a, only_b, moved = merge_changes(part_a, part_b)
    return "; ".join(
        f"{plural(len(merges), 'merge')} {where}, such as {' '.join(merges[0])!r}"
        for merges, where in (
            (only_a, "only in a"),
            (only_b, "only in b"),
            (moved, "in another place"),
        )
        if merges
    )


Merges = Sequence[tuple[str, str]]


def merge_changes(merges_a: Merges, merges_b: Merges) -> tuple[Merges, Merges, Merges]:
    """Returns the merges only in a, those only in b, and those of both that stand at another place
    among those of both."""
    in_a, in_b = set(merges_a), set(merges_b)
    common_a = [merge for merge in merges_a if merge in in_b]
    common_b = [merge for merge in merges_b if merge in in_a]
    moved = [left for left, right in zip(common_a, common_b, strict=False) if left != right]
    return (
        [merge for merge in merges_a if merge not in in_b],
        [merge for merge in merges_b if merge not in in_a],
        moved,
    )


def _say_added_tokens(part_a: Sequence[AddedToken], part_b: Sequence[AddedToken]) -> str:
    return "; ".join(_added_token_changes(part_a, part_b))


def _added_token_changes(
    part_a: Sequence[AddedToken], part_b: Sequence[AddedToken]
) -> Iterator[str]:
    by_a, by_b = ({token.content: token for token in part} for part in (part_a, part_b))
    for here, there, where in ((by_a, by_b, "only in a"), (by_b, by_a, "only in b")):
        only = here.keys() - there.keys()
        if only:
            yield f"{plural(len(only), 'token')} {where}, such as {min(only)!r}"
    flags: dict[str, list[str]] = {}
    for content in sorted(by_a.keys() & by_b.keys()):
        for flag in ("id", *FLAGS):
            if getattr(by_a[content], flag) != getattr(by_b[content], flag):
                flags.setdefault(flag, []).append(content)
    for flag, contents in flags.items():
        values = (getattr(by[contents[0]], flag) for by in (by_a, by_b))
        in_a, in_b = values
        yield (
            f"{plural(len(contents), 'token')} with another {flag}, such as {contents[0]!r}: "
            f"{in_a} in a, {in_b} in b"
        )


_SENTENCES: dict[str, Callable[[Any, Any], str]] = {
    "model": _say_settings,
    "config": _say_settings,
    "vocabulary": _say_vocabulary,
    "merges": _say_merges,
    "added tokens": _say_added_tokens,
}
