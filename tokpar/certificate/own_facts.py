"""Derive the facts that the rules of the checker need, from the canonical form of a tokenizer.

Nothing here is the planner's: `fact_differences.py` compares these facts with the planner's.
proofs/facts.md says which rule needs which fact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokpar.certificate.canonical_form import JsonForm, RankForm, Stages, regex_of, setting
from tokpar.certificate.own_division import (
    as_read,
    covers,
    division_of,
    is_shipped,
    kept_whole,
    patterns_in_front,
)
from tokpar.certificate.own_vocabulary import OwnVocabulary
from tokpar.certificate.stage_rule import cuts_at_spaces, sign_of_space
from tokpar.types import AddedToken, Facts

_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_INVARIANT = {*_FORMS, "Lowercase", "StripAccents", "Replace"}
"""Normalizers under which some text is known to stay as it is (theorem 45)."""
_JUDGED = {*_INVARIANT, "BertNormalizer", "Strip"}
_NORMALIZERS = {*_JUDGED, "Nmt", "Precompiled", "Prepend", "ByteLevel"}
_PRE_TOKENIZERS = {
    *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength"),
    *("Metaspace", "Punctuation", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"),
}


def facts_of_form(form: JsonForm | RankForm) -> Facts:
    """Returns the facts of a tokenizer. Its reasons are short: the planner's are for users."""
    return facts_of_ranks(form) if isinstance(form, RankForm) else _of_json(form)


@dataclass(frozen=True, slots=True)
class _Parts:
    """What a file lists. `added_tokens`: the added tokens that are matched in a text;
    `listed_tokens`: all.

    `hiding_refusal`: why a token that is not matched may hide one that is, or None."""

    model: OwnVocabulary
    normalizers: Stages
    pieces: Stages
    listed_tokens: tuple[AddedToken, ...]
    added_tokens: tuple[AddedToken, ...]
    hiding_refusal: str | None

    @property
    def is_spelled(self) -> bool:
        """True if the model gets bytes, as letters."""
        return bool(self.pieces) and self.pieces[-1].kind == "ByteLevel"

    @property
    def prefix_space(self) -> bool:
        """True if a space is put before a text."""
        stages = (piece for piece in self.pieces if piece.kind == "ByteLevel")
        return any(setting(stage, "add_prefix_space") for stage in stages)

    @property
    def are_covered(self) -> bool:
        """True if tokens are the bytes of what the pre-tokenizer gets, without gaps."""
        whole = all(setting(piece, "behavior") == "Isolated" for piece in self.pieces[:-1])
        bytewise = self.is_spelled and not self.prefix_space and whole
        return (
            bytewise
            and not self.model.has_shared_ids
            and self.model.covers_bytes(self.listed_tokens)
        )


def _parts_of(form: JsonForm) -> _Parts:
    pieces = tuple(map(kept_whole, form.pre_tokenizers))
    listed = tuple(token for token in form.added_tokens if token.content)
    skipped = tuple(token for token in listed if form.skips_special and token.special)
    added = tuple(token for token in listed if not (form.skips_special and token.special))
    hidden = _hiding_refusal(added, skipped, form.normalizers)
    return _Parts(OwnVocabulary(form), form.normalizers, pieces, listed, added, hidden)


def _of_json(form: JsonForm) -> Facts:
    parts = _parts_of(form)
    facts = _by_scheme(parts, form)
    if facts.unprovable is not None:
        facts = _by_stages(facts, parts)
    if facts.unprovable is not None and form.lists_classes:
        facts = _by_row(facts, parts)
    if form.line_one:
        facts = _of_line_one(facts)
    return facts


def _by_scheme(parts: _Parts, form: JsonForm) -> Facts:
    """The facts for the rules that know how the stages divide a text."""
    model, listed = parts.model, parts.listed_tokens
    division = division_of(parts.pieces, parts.normalizers, model)
    scheme, patterns = division.scheme, as_read(form.engine, division.patterns)
    known = is_shipped(form.engine, patterns) or form.lists_classes
    normalizers = () if scheme == "dummy" else parts.normalizers
    covered = parts.are_covered
    may_stay = normalizers and all(stage.kind in _INVARIANT for stage in normalizers)
    moved = scheme == "dummy" and any(token.normalized for token in listed)
    return Facts(
        engine=form.engine,
        model=model.kind,
        scheme=scheme,
        patterns=patterns,
        added_tokens=parts.added_tokens,
        normalizers=normalizers,
        prefix_space=parts.prefix_space,
        tiles=covered and not normalizers,
        longest_token=model.longest(listed, parts.is_spelled),
        unprovable=division.unknown
        or (None if known or not patterns else "a pattern that is not shipped")
        or _normalizer_refusal(normalizers)
        or _unsure_model(model, scheme)
        or ("added tokens are matched behind the dummy prefix" if moved else None)
        or parts.hiding_refusal,
        chars_before_mark=model.before_marks if scheme == "dummy" else None,
        added_token_cuts_refused=_unknown_part(parts) or parts.hiding_refusal,
        first_prefix=any(setting(piece, "prepend_scheme") == "first" for piece in parts.pieces),
        sizes=model.sizes(listed) if covered and may_stay else None,
    )


def _of_line_one(facts: Facts) -> Facts:
    """With the refusals for tokenizers 1.x, which finds added tokens in other places than 0.2x if
    they have flags, or are searched in normalized text, and runs its own code for some regexes."""
    marks = facts.scheme in ("metaspace", "dummy")
    marks |= any(stage.kind == "Metaspace" for stage in facts.pre_tokenizers)
    moved = [token for token in facts.added_tokens if token.normalized]
    flagged = any(t.lstrip or t.rstrip or t.single_word for t in facts.added_tokens)
    unsure = flagged or (moved and (facts.normalizers or marks))
    found = "where tokenizers 1.x finds its added tokens is not proved" if unsure else None
    sources = filter(None, map(regex_of, facts.pre_tokenizers))
    strange = not all(is_shipped("oniguruma", (source,)) for source in sources)
    replaced = {*map(regex_of, (s for s in facts.normalizers if s.kind == "Replace"))}
    strange |= not replaced <= {None, " {2,}"}
    behind = moved and facts.scheme not in ("regex", "whole")
    return replace(
        facts,
        unprovable=facts.unprovable or found or ("an unshipped regex" if strange else None),
        added_token_cuts_refused=facts.added_token_cuts_refused
        or found
        or ("added tokens are searched in normalized text" if behind else None),
    )


def _by_stages(facts: Facts, parts: _Parts) -> Facts:
    """The facts for cuts before spaces (theorem 50), if some stage cuts at a space and nothing
    refuses the cuts at all spaces."""
    model, pieces = parts.model, parts.pieces
    at_spaces = all(piece.kind == "Split" and setting(piece, "pattern") == " " for piece in pieces)
    bare = at_spaces if parts.normalizers else not pieces
    before = model.before(sign_of_space(parts.normalizers, pieces))
    joins = before is not None and bare
    found = replace(
        facts,
        scheme="spaces",
        patterns=(),
        normalizers=parts.normalizers,
        pre_tokenizers=pieces,
        chars_before_mark=before,
        adjacent=model.neighbours if joins else None,
        unprovable=None,
    )
    why = _unsure_model(model, "spaces") or parts.hiding_refusal or _moved_by_normalizers(parts)
    return facts if why is not None or not cuts_at_spaces(found) else found


def _by_row(facts: Facts, parts: _Parts) -> Facts:
    """The facts for the pairs of those Splits that stand in front, and of stages that look at two
    characters (theorem 42)."""
    patterns = patterns_in_front(parts.pieces)
    why = _unsure_model(parts.model, "regex") or parts.hiding_refusal
    if not patterns or why or _normalizer_refusal(parts.normalizers):
        return facts
    known = replace(facts, scheme="regex", patterns=patterns, pre_tokenizers=parts.pieces)
    return replace(known, normalizers=parts.normalizers, unprovable=None)


def _normalizer_refusal(normalizers: Stages) -> str | None:
    for stage in normalizers:
        plain = stage.kind != "Replace" or isinstance(setting(stage, "pattern"), str)
        if stage.kind not in _JUDGED or not plain:
            return f"nothing is proved about the normalizer {stage.kind}"
    return None


def _unsure_model(model: OwnVocabulary, scheme: str) -> str | None:
    if not model.is_known:
        return f"nothing is known of the model {model.kind}"
    if model.falls_back_beside_marks:
        return "byte_fallback beside marks of words"
    if model.kind == "Unigram" and scheme == "whole":
        return "a Unigram model without cuts before it"
    return "the model is random" if model.is_random else None


def _unknown_part(parts: _Parts) -> str | None:
    """Why a stage may look beyond one segment between two added tokens, or None."""
    unknown = {piece.kind for piece in parts.pieces} - _PRE_TOKENIZERS
    unknown |= {stage.kind for stage in parts.normalizers} - _NORMALIZERS
    if unknown:
        return f"nothing is known of {min(unknown)}"
    return _unsure_model(parts.model, "none")


def _moved_by_normalizers(parts: _Parts) -> str | None:
    """Why it is unknown at every space which added tokens are found, or None."""
    replaces = (stage for stage in parts.normalizers if stage.kind == "Replace")
    changes_spaces = any(setting(stage, "pattern") == " " for stage in replaces)
    unsure = changes_spaces or _normalizer_refusal(parts.normalizers) is not None
    moved = unsure and any(token.normalized for token in parts.added_tokens)
    return "added tokens are searched in a text that is not known" if moved else None


def _hiding_refusal(
    added_tokens: Sequence[AddedToken], skipped_tokens: Sequence[AddedToken], normalizers: Stages
) -> str | None:
    """Why a token that is skipped may hide one that is matched, or None: the engine finds both."""
    if normalizers and any(token.normalized for token in skipped_tokens):
        return "a skipped token is searched in normalized text"
    met = _meet(
        [token.content for token in skipped_tokens], [token.content for token in added_tokens]
    )
    return "a skipped token may overlap one that is matched" if met else None


def _meet(some: Sequence[str], others: Sequence[str]) -> bool:
    """True if an occurrence of one string may overlap an occurrence of one of the others."""
    if not some or not others:
        return False
    apart = "\0"
    for these, those in ((some, others), (others, some)):
        ends = {one[k:] for one in these for k in range(1, len(one))}
        begins = (other[:k] for other in those for k in range(1, len(other)))
        if any(one in apart.join(those) for one in these) or not ends.isdisjoint(begins):
            return True
    return False


def facts_of_ranks(form: RankForm) -> Facts:
    """Returns the facts of byte-level BPE that is given by its ranks."""
    patterns = as_read(form.engine, form.patterns)
    tiles = (form.keeps_gaps or covers(form.engine, patterns)) and not _share_ids(form)
    chance = _begins_alike(form) if form.drops_prefixes else None
    return Facts(
        engine=form.engine,
        model="BPE",
        scheme="regex",
        patterns=patterns,
        added_tokens=form.added_tokens,
        tiles=tiles,
        longest_token=max(map(len, form.tokens)),
        unprovable=chance,
        added_token_cuts_refused=chance,
    )


def _share_ids(form: RankForm) -> bool:
    """True if an id belongs to two tokens of different lengths."""
    matched = {(token.id, len(token.content.encode())) for token in form.added_tokens}
    wanted = {number for number, _ in matched}
    matched |= {(k, len(token)) for token, k in form.tokens.items() if k in wanted}
    return len(matched) > len(wanted)


def _begins_alike(form: RankForm) -> str | None:
    """Why it is chance which special token is matched, or None."""
    allowed, every = {token.content for token in form.added_tokens}, form.specials.keys()
    longer = any(one[:k] in every for one in allowed for k in range(len(one)))
    shorter = any(one[:k] in allowed for one in every for k in range(len(one)))
    return "two special tokens begin alike" if longer or shorter else None
