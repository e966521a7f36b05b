"""A text with untrusted spans as the checker reads it: with a name for each control token that
counts, for a copy of the engine that knows the names (definition 62).

The adapter makes the copy. The checker believes it after reading the copy's own file, which must be
the tokenizer's file with the names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from tokpar.arrays import IdArray, IntArray, first_difference, has_surrogate
from tokpar.certificate.canonical_form import JsonForm, RankForm
from tokpar.certificate.check_context import RefusedError, require
from tokpar.certificate.content_index import occurring
from tokpar.certificate.control_search import Match, Span, control_matches, names_of, own_spans
from tokpar.certificate.fact_differences import checked_facts
from tokpar.certificate.findings import Finding
from tokpar.certificate.id_proof import Core, id_difference
from tokpar.certificate.own_postprocess import postprocess_of
from tokpar.certificate.own_vocabulary import OwnVocabulary
from tokpar.certificate.tokenizer_probe import Utf8Text
from tokpar.contract.adapter import inserted_ids, origin_of, trust_parts_of
from tokpar.contract.interfaces import Locates, TokenizerAdapter
from tokpar.errors import EngineError, OptionError
from tokpar.process.cached_property import cached_property
from tokpar.results.seams import Columns, Everywhere, Seams
from tokpar.types import AddedToken, Trust

_SAME_JSON = ("normalizers", "pre_tokenizers", "model", "post_processor", "engine", "line_one")
_SAME_RANKS = ("patterns", "tokens", "merges", "engine", "keeps_gaps", "whole_piece")
"""What the copy has as the tokenizer has it."""


@dataclass(frozen=True, slots=True, eq=False)
class OwnNamedEngine:
    """An engine that knows names. `names`: content -> name. `ids`: id of a name -> of its token."""

    tokenizer: TokenizerAdapter
    names: Mapping[str, str]
    ids: Mapping[int, int]


@dataclass(frozen=True, eq=False)
class OwnNamedText:
    """`text`: with a name for each of `matches`, the control tokens that count. `original`: without
    names. `content_of`: the content of the id of each control token. `unknown`: the content of the
    token that the model gives for what it does not know; no control token in its other places.
    `special`: the contents of special tokens."""

    original: str
    text: str
    engine: OwnNamedEngine
    trust: Trust
    matches: Sequence[Match]
    content_of: Mapping[int, str]
    unknown: str | None
    special: frozenset[str]

    @property
    def notes(self) -> tuple[str, ...]:
        """The special tokens that any text may spell, since they are no control tokens."""
        others = sorted(self.special.difference(self.trust.control))
        return (f"special tokens that untrusted text may spell: {others}",) if others else ()

    @property
    def claim(self) -> str:
        """What a check proves of the spans."""
        control = ", ".join(map(repr, self.trust.control)) or "there are none"
        return (
            f"the {len(self.trust.untrusted):,} untrusted spans spell no control token; trusted "
            f"text spells {len(self.matches):,} (control tokens: {control})"
        )

    @cached_property
    def _ends(self) -> IntArray:
        """Where the parts after each name begin, in the original and in the text with names."""
        rows = [(0, 0)]
        for start, stop, content in self.matches:
            size = len(self.engine.names[content])
            rows.append((stop, rows[-1][1] + start - rows[-1][0] + size))
        return np.array(rows, dtype=np.int64).T

    def _move(self, places: IntArray, source: int) -> IntArray:
        starts, targets = self._ends[source], self._ends[1 - source]
        part = np.maximum(np.searchsorted(starts, places, side="right") - 1, 0)
        moved: IntArray = targets[part] + (places - starts[part])
        return moved

    def seams(self, seams: Seams) -> Seams:
        """Returns the seams at their places in the text with names. Refused if one is inside of a
        control token that counts. A witness of rule EDGE names tokens as the text spells them."""
        planned, everywhere, names = seams.planned, seams.everywhere, self.engine.names
        spans = np.array([each[:2] for each in self.matches] or [(-1, -1)], dtype=np.int64)
        near = np.maximum(np.searchsorted(spans[:, 0], planned.positions) - 1, 0)
        inside = (spans[near, 0] < planned.positions) & (planned.positions < spans[near, 1])
        require(not inside.any(), "control", "a seam is inside of a control token")
        licences = tuple(
            (rule, theorem, tuple((k, names.get(v, v) if k == "token" else v) for k, v in witness))
            for rule, theorem, witness in planned.licences
        )
        if everywhere is not None:
            regions = self._move(everywhere.regions, 0)
            everywhere = Everywhere(everywhere.licence, regions)
        positions = self._move(planned.positions, 0)
        columns = Columns(positions, planned.tokens, planned.codes, licences)
        return Seams(columns, everywhere, proofs=seams.proofs)

    def at_original(self, finding: Finding) -> Finding:
        """Returns a finding about the text with names at its place in the original."""
        place = finding.position
        return finding if place is None else replace(finding, position=self._original(place))

    def _original(self, place: int) -> int:
        return int(self._move(np.array([place]), 1)[0])

    def core(self, core: Core) -> Core:
        """Returns the text's own ids as the copy gives them; with a finding unless they have the
        control tokens that count, in this order."""
        if core.ids is None:
            return core
        wrong = (*core.findings, *self._order_findings(core.ids))
        if len(wrong) > len(core.findings):
            return Core(None, wrong)
        if any(content == self.unknown for _, _, content in self.matches):
            return Core(None, wrong, "the text spells the unknown token, a control token")
        ids, new_ids = core.ids.copy(), {old: new for new, old in self.engine.ids.items()}
        for k in self._control_places(ids):
            ids[k] = new_ids[int(ids[k])]
        return Core(ids, wrong)

    def _control_places(self, ids: IdArray) -> list[int]:
        known = [id_ for id_, content in self.content_of.items() if content != self.unknown]
        places: list[int] = np.flatnonzero(np.isin(ids, known)).tolist()
        return places

    def _order_findings(self, ids: IdArray) -> Iterator[Finding]:
        """Yields the first place at which the control tokens among `ids`, the tokenizer's, are not
        those that count."""
        places = self._control_places(ids)
        wanted = [each for each in self.matches if each[2] != self.unknown]
        for k, (start, _, content) in enumerate(wanted):
            given = self.content_of[int(ids[places[k]])] if k < len(places) else None
            if given != content:
                shown = "none" if given is None else repr(given)
                message = f"expected {content!r} of trusted text as control token {k}, got {shown}"
                yield Finding("control", message, start)
                return
        for k in places[len(wanted) :][:1]:
            content, last = self.content_of[int(ids[k])], wanted[-1][1] if wanted else 0
            message = f"id {k}: {content!r}, but trusted text spells none behind code point {last}"
            yield Finding("control", message)

    def tokenizer_ids(self, ids: IdArray) -> IdArray:
        """Returns the tokenizer's ids for those of the copy."""
        table = np.array(sorted(self.engine.ids.items()) or [(-1, 0)], dtype=np.int64)
        near = np.searchsorted(table[:, 0], ids).clip(max=len(table) - 1)
        return np.where(table[near, 0] == ids, table[near, 1], ids).astype(np.uint32)

    def id_findings(
        self, ids: IdArray, expected_ids: IdArray, own: IdArray, seams: Columns
    ) -> Iterator[Finding]:
        """Yields the first difference to the ids of the copy, by its place; and a control token
        that the model itself gives for other text.

        `expected_ids`: the final ids of the copy. `own`: its ids of the text alone."""
        yield from self._order_findings(self.tokenizer_ids(own))
        right = self.tokenizer_ids(expected_ids)
        if np.array_equal(right, ids):
            return
        k = first_difference(right, ids)
        place = self._place_of(k, own)
        if k < len(right) and int(expected_ids[k]) in self.engine.ids:
            missing = self.content_of[int(right[k])]
            message = f"id {k}: the control token {missing!r} of trusted text is missing"
            yield Finding("control", message, place)
        elif k < len(ids) and int(ids[k]) in self.content_of:
            spans = self.trust.untrusted
            untrusted = place is not None and any(a <= place < b for a, b in spans)
            where = "in untrusted text" if untrusted else "where trusted text spells none"
            message = f"id {k}: the control token {self.content_of[int(ids[k])]!r} {where}"
            yield Finding("control", message, place)
        else:
            yield from (replace(f, position=place) for f in id_difference(ids, right, seams))

    def _place_of(self, k: int, own: IdArray) -> int | None:
        """Returns where final id `k` of the copy begins in the original, if that can be told."""
        around, tokenizer = inserted_ids(self.engine.tokenizer), self.engine.tokenizer
        k -= len(own) if around is None else len(around[0])
        if not (0 <= k < len(own) and isinstance(tokenizer, Locates)):
            return None
        try:
            byte = int(tokenizer.locate(own, self.text)[k, 0])
        except (LookupError, ValueError, EngineError):
            return None
        return self._original(Utf8Text(self.text).position(byte))


def agreed_trust(
    trust: Trust | None,
    untrusted: Iterable[Span] | None,
    control: Iterable[str] | None,
    length: int,
) -> Trust | None:
    """Returns `trust`, what an encoding of a text of `length` code points says.

    `untrusted`, `control`: what the caller says. Refused unless both are equal: who forges ids
    could leave out spans and control tokens, too. None for `control`: those of the encoding.
    Raises OptionError for wrong spans."""
    if untrusted is None:
        given = "the encoding is of a text with untrusted spans: pass them to the check"
        require(trust is None, "untrusted", given)
        return None
    spans = own_spans(untrusted, length)
    if trust is None:
        raise RefusedError("untrusted", "the encoding is of a text without untrusted spans")
    for k, (own, told) in enumerate(zip_longest(spans, trust.untrusted)):
        require(own == told, "untrusted", f"span {k}: expected {own}, the encoding says {told}")
    unlike = {*trust.control} ^ {*(trust.control if control is None else control)}
    require(not unlike, "control", f"{sorted(unlike)} are control tokens of one side only")
    return trust


def named_text(text: str, tokenizer: TokenizerAdapter, trust: Trust) -> OwnNamedText:
    """Returns the text with names. Refused if the definition does not cover it, or if no copy of
    the tokenizer knows names."""
    require(not has_surrogate(text), "surrogate", "the text has a lone surrogate")
    form = checked_facts(tokenizer).form
    if form is None:
        raise RefusedError("untrusted", f"the file of {tokenizer.name} is not known")
    tokens = {token.content: token for token in form.added_tokens}
    _require_control(form, trust.control, tokens)
    matches = control_matches(text, trust.untrusted, form.added_tokens, trust.control)
    spelled = [*trust.control, *(form.specials if isinstance(form, RankForm) else ())]
    engine = OwnNamedEngine(tokenizer, {}, {})
    if occurring(spelled, text):
        engine = _named_engine(text, tokenizer, form, trust.control, tokens)
    parts, at = list[str](), 0
    for start, stop, content in matches:
        parts += text[at:start], engine.names[content]
        at = stop
    content_of = {tokens[content].id: content for content in trust.control}
    whole = "".join([*parts, text[at:]])
    unknown, special = _unknown_token(form), {t.content for t in tokens.values() if t.special}
    return OwnNamedText(
        text, whole, engine, trust, matches, content_of, unknown, frozenset(special)
    )


def _require_control(
    form: JsonForm | RankForm, control: Sequence[str], tokens: Mapping[str, AddedToken]
) -> None:
    """Refuse a control token whose places in the text are not defined."""
    strips = any(token.lstrip or token.rstrip for token in tokens.values())
    for content in control:
        require(content in tokens, "control", f"{content!r} is no added token")
        token, bare = tokens[content], content.strip() == content
        late = token.normalized and isinstance(form, JsonForm) and form.normalizers
        require(not late, "control", f"{content!r} is searched in the normalized text")
        kept = bare or not strips
        require(kept, "control", f"other added tokens may strip the white space of {content!r}")
        skipped = isinstance(form, JsonForm) and form.skips_special and token.special
        require(not skipped, "control", f"{content!r} is never matched")


def _unknown_token(form: JsonForm | RankForm) -> str | None:
    if isinstance(form, RankForm):
        return None
    place = form.model.get("unk_id")
    return form.model.get("unk_token") if place is None else str(form.model["vocab"][place][0])


def _named_engine(
    text: str,
    tokenizer: TokenizerAdapter,
    form: JsonForm | RankForm,
    control: Sequence[str],
    tokens: Mapping[str, AddedToken],
) -> OwnNamedEngine:
    """Returns the copy of an engine that knows names, none of whose characters the text has."""
    known: OwnNamedEngine | None = form.cache.get(f"names of {control!r}")
    if known is not None and {*"".join(known.names.values())}.isdisjoint(text):
        return known
    vocabulary: Any = form.tokens if isinstance(form, RankForm) else form.model["vocab"]
    pieces = (each if isinstance(each, (str, bytes)) else each[0] for each in vocabulary)
    spelled = "".join(each for each in pieces if isinstance(each, str))
    used = {*text, *spelled, *"".join(tokens)}
    names = names_of(control, used, any(token.single_word for token in tokens.values()))
    try:
        parts = trust_parts_of(tokenizer)
        if parts is None:
            raise RefusedError("untrusted", f"{tokenizer.name} has no copy that knows names")
        copy = parts.with_names(names)
    except OptionError as error:
        raise RefusedError("untrusted", str(error)) from error
    other = checked_facts(copy).form
    if isinstance(form, RankForm):
        ids = _ids_in_ranks(form, other, names)
    else:
        ids = _ids_in_json(form, other, names, tokens)
        settings = [getattr(origin_of(each), "settings", {}) for each in (tokenizer, copy)]
        assert isinstance(other, JsonForm)
        after = [postprocess_of(*each) for each in zip((form, other), settings, strict=True)]
        _require_copied(after[0] == after[1], "post-processing")
    form.cache[f"names of {control!r}"] = found = OwnNamedEngine(copy, names, ids)
    return found


def _require_copied(holds: object, part: str) -> None:
    require(holds, "untrusted", f"the copy that knows names has another {part}")


def _ids_in_ranks(
    form: RankForm, other: JsonForm | RankForm | None, names: Mapping[str, str]
) -> dict[int, int]:
    """Returns the ids of names in a copy of an encoding of tiktoken. Refused if it is none."""
    for name in _SAME_RANKS:
        _require_copied(getattr(form, name) == getattr(other, name, None), name)
    wanted = {names.get(token.content, ""): token.id for token in form.added_tokens}
    listed = {token.content: token.id for token in getattr(other, "added_tokens", ())}
    _require_copied(wanted == listed == dict(getattr(other, "specials", {})), "special token")
    return {id_: id_ for id_ in wanted.values()}


def _ids_in_json(
    form: JsonForm,
    other: JsonForm | RankForm | None,
    names: Mapping[str, str],
    tokens: Mapping[str, AddedToken],
) -> dict[int, int]:
    """Returns the ids of names in a copy of a tokenizer. Refused if it is none: it has the same
    stages, steps over the contents of control tokens, and finds names by the flags of these."""
    for name in _SAME_JSON:
        _require_copied(getattr(form, name) == getattr(other, name, None), name)
    assert isinstance(other, JsonForm)
    _require_copied(other.skips_special, "encode_special_tokens")
    listed = {token.content: token for token in other.added_tokens}
    wanted = [
        replace(token, special=token.content in names or (token.special and form.skips_special))
        for token in tokens.values()
    ]
    taken = {*OwnVocabulary(form).ids.values(), *(token.id for token in tokens.values())}
    ids = dict[int, int]()
    for content, name in names.items():
        id_ = listed[name].id if name in listed else -1
        wanted.append(replace(tokens[content], content=name, id=id_, special=False))
        _require_copied(id_ not in taken and id_ not in ids, f"id of a name: {id_}")
        ids[id_] = tokens[content].id
    _require_copied(listed == {token.content: token for token in wanted}, "added token")
    _require_copied(len(other.added_tokens) == len(listed), "added token")
    return ids
