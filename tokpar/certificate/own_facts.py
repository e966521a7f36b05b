"""Derive the facts that the rules of the checker need, from a file that the checker read itself.

Nothing here is the planner's: `fact_differences.py` compares these facts with the planner's.
proofs/facts.md says which rule needs which fact."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tokpar.certificate.frozen_tables import load_tables
from tokpar.certificate.own_vocabulary import MARK, OwnVocabulary
from tokpar.certificate.space_rule import cuts_at_spaces
from tokpar.certificate.tokenizer_file import RankFile, TokenizerFile, added_tokens
from tokpar.types import AddedToken, Facts, NormalizerStage, Scheme

Stages = tuple[NormalizerStage, ...]

_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_INVARIANT = {*_FORMS, "Lowercase", "StripAccents", "Replace"}
"""Normalizers under which some text is known to stay as it is (theorem 45)."""
_JUDGED = {*_INVARIANT, "BertNormalizer", "Strip"}
_NORMALIZERS = {*_JUDGED, "Nmt", "Precompiled", "Prepend", "ByteLevel"}
_PRE_TOKENIZERS = {
    *("BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength"),
    *("Metaspace", "Punctuation", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"),
}
_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
"""The pattern of a ByteLevel stage with `use_regex`."""
_OWN_REGEX = "regex"
_OF_UTF8 = (*range(0xC0), *range(0xC2, 0xF5))
"""The bytes that occur in UTF-8."""


def facts_of_file(file: TokenizerFile | RankFile) -> Facts:
    """Returns the facts of a file. Its reasons are short: the planner's are for users."""
    return _of_ranks(file) if isinstance(file, RankFile) else _of_json(file)


@dataclass(frozen=True, slots=True)
class _Division:
    """How a text is divided before the model. `unknown`: no rule is known for it."""

    scheme: Scheme = "none"
    patterns: tuple[str, ...] = ()
    unknown: str | None = None


def _of_json(file: TokenizerFile) -> Facts:
    config, model = file.config, OwnVocabulary(file.config["model"])
    normalizers = stages_of(config.get("normalizer"), "normalizers")
    pieces = tuple(map(_kept_whole, stages_of(config.get("pre_tokenizer"), "pretokenizers")))
    listed = added_tokens(config)
    skipped = [token for token in listed if file.skips_special and token.special]
    added = tuple(token for token in listed if not (file.skips_special and token.special))
    division = _division(pieces, normalizers, model)
    hidden = _hidden(added, skipped, normalizers)
    spelled = bool(pieces) and pieces[-1].kind == "ByteLevel"
    prefixed = any(_setting(p, "add_prefix_space") and p.kind == "ByteLevel" for p in pieces)
    patterns = _as_read(file.engine, division.patterns)
    family = family_named(file.engine, patterns)
    strange = division.unknown
    if patterns and family is None and not file.lists_classes:
        strange = "a pattern of no known family"
    seen = () if division.scheme == "dummy" else normalizers
    covered = _covered(pieces, model, listed, spelled and not prefixed)
    facts = Facts(
        engine=file.engine,
        model=model.kind,
        scheme=division.scheme,
        family=family if patterns else _pair_family(division.scheme),
        patterns=patterns,
        added_tokens=added,
        normalizers=seen,
        prefix_space=prefixed,
        tiles=covered and not seen,
        longest_token=model.longest(listed, spelled),
        unprovable=strange
        or _unjudged(seen)
        or _unsure_model(model, division.scheme)
        or _moved_by_prefix(listed, division.scheme)
        or hidden,
        chars_before_mark=model.before_marks if division.scheme == "dummy" else None,
        added_token_cuts_refused=_unknown_part(pieces, normalizers, model) or hidden,
        first_prefix=any(_setting(piece, "prepend_scheme") == "first" for piece in pieces),
        pretoken_cuts_refused=_undividable(covered, seen),
        longest_word=model.longest_word,
    )
    if facts.unprovable is not None:
        refused = _unsure_model(model, "spaces") or hidden
        facts = _by_stages(facts, normalizers, pieces, model, refused)
    if file.line_one:
        facts = _of_line_one(facts)
    return _with_tokens(facts, model, listed)


def _of_line_one(facts: Facts) -> Facts:
    """With the refusals for tokenizers 1.x, which finds added tokens in other places than 0.2x if
    they have flags, or are searched in normalized text, and runs its own code for some regexes."""
    marks = facts.scheme in ("metaspace", "dummy")
    marks |= any(stage.kind == "Metaspace" for stage in facts.pre_tokenizers)
    moved = [token for token in facts.added_tokens if token.normalized]
    flagged = any(t.lstrip or t.rstrip or t.single_word for t in facts.added_tokens)
    unsure = flagged or (moved and (facts.normalizers or marks))
    found = "where tokenizers 1.x finds its added tokens is not proved" if unsure else None
    sources = filter(None, map(_regex, facts.pre_tokenizers))
    strange = any(family_named("oniguruma", (source,)) is None for source in sources)
    behind = moved and facts.scheme not in ("regex", "whole")
    return replace(
        facts,
        unprovable=facts.unprovable or found or ("a regex of no known family" if strange else None),
        added_token_cuts_refused=facts.added_token_cuts_refused
        or found
        or ("added tokens are searched in normalized text" if behind else None),
    )


def _with_tokens(facts: Facts, model: OwnVocabulary, added: Collection[AddedToken]) -> Facts:
    """Adds what cuts inside pre-tokens need."""
    if facts.pretoken_cuts_refused is not None:
        return facts
    sizes = None if facts.tiles else model.sizes(added)
    return replace(facts, tokens=model.token_bytes, token_count=len(model.ids), sizes=sizes)


def _by_stages(
    facts: Facts,
    normalizers: Stages,
    pieces: Stages,
    model: OwnVocabulary,
    refused: str | None,
) -> Facts:
    """The facts for cuts before spaces (theorem 50), if some stage cuts at a space and the cuts are
    not `refused`."""
    bare = all(piece.kind == "Split" and _setting(piece, "pattern") == " " for piece in pieces)
    joins = model.before_marks is not None and bare
    found = replace(
        facts,
        scheme="spaces",
        family=None,
        patterns=(),
        normalizers=normalizers,
        pre_tokenizers=pieces,
        chars_before_mark=model.before_marks,
        adjacent=partial(OwnVocabulary.neighbours, model) if joins else None,
        unprovable=None,
    )
    why = refused or _moved_by_normalizers(facts.added_tokens, normalizers)
    return facts if why is not None or not cuts_at_spaces(found) else found


def stages_of(part: Any, members: str) -> Stages:
    """Returns the stages of a Sequence, of Sequences in it too, or the one stage."""
    if part is None:
        return ()
    if part["type"] == "Sequence":
        return tuple(stage for each in part[members] for stage in stages_of(each, members))
    settings = ((name, _plain(value)) for name, value in part.items() if name != "type")
    return (NormalizerStage(part["type"], tuple(settings)),)


def _plain(value: object) -> object:
    if isinstance(value, Mapping) and set(value) == {"String"}:
        return value["String"]
    return value


def _setting(stage: NormalizerStage, name: str, missing: object = None) -> object:
    return next((value for key, value in stage.settings if key == name), missing)


def _regex(stage: NormalizerStage) -> str | None:
    pattern = _setting(stage, "pattern")
    return str(pattern["Regex"]) if isinstance(pattern, Mapping) and "Regex" in pattern else None


def family_named(engine: str, patterns: tuple[str, ...]) -> str | None:
    """Returns the name of the family of these patterns in the frozen tables, or None."""
    families = load_tables().families.values()
    return next((f.name for f in families if (engine, patterns) in f.sources), None)


def _pair_family(scheme: Scheme) -> str | None:
    return scheme if scheme in ("bert", "metaspace") else None


def _kept_whole(piece: NormalizerStage) -> NormalizerStage:
    """A Split that drops what no match holds as an Isolated one, where matches hold every
    character: those of each known family do."""
    drops = (_setting(piece, "behavior"), _setting(piece, "invert")) == ("Removed", True)
    if piece.kind != "Split" or not drops:
        return piece
    source = _regex(piece)
    if source is None or family_named("oniguruma", (source,)) is None:
        return piece
    kept = dict(piece.settings) | {"behavior": "Isolated", "invert": False}
    return replace(piece, settings=tuple(kept.items()))


def _division(pieces: Stages, normalizers: Stages, model: OwnVocabulary) -> _Division:
    kinds = [piece.kind for piece in pieces]
    if not kinds and _puts_mark_in_front(normalizers):
        joined = model.before_marks is None
        return _Division("dummy", unknown="merges may cross a mark" if joined else None)
    if kinds == ["BertPreTokenizer"] and _cleans_as_bert(normalizers):
        return _Division("bert")
    if kinds == ["Metaspace"]:
        usual = _setting(pieces[0], "replacement") == MARK and _setting(pieces[0], "split", True)
        return _Division("metaspace") if usual else _Division(unknown="an unusual Metaspace")
    if not kinds or kinds[-1] != "ByteLevel":
        return _Division(unknown="a pre-tokenizer without a rule of its own")
    by_regex = _setting(pieces[-1], "use_regex", True)
    if len(pieces) == 1:
        return _Division("regex", (_GPT2,)) if by_regex else _Division("whole")
    patterns = tuple(map(_isolated_regex, pieces[:-1]))
    if by_regex or None in patterns:
        return _Division(unknown="a row of stages without a rule of its own")
    return _Division("regex", tuple(pattern for pattern in patterns if pattern is not None))


def _isolated_regex(piece: NormalizerStage) -> str | None:
    """The regex of a Split whose matches and gaps are pieces, each by itself."""
    if piece.kind != "Split" or _setting(piece, "behavior") != "Isolated":
        return None
    return None if _setting(piece, "invert") else _regex(piece)


def _puts_mark_in_front(normalizers: Stages) -> bool:
    """True for Prepend "▁" and then Replace of each space by "▁"."""
    told = [(stage.kind, dict(stage.settings)) for stage in normalizers]
    return told == [
        ("Prepend", {"prepend": MARK}),
        ("Replace", {"pattern": " ", "content": MARK}),
    ]


def _cleans_as_bert(normalizers: Stages) -> bool:
    if [stage.kind for stage in normalizers] != ["BertNormalizer"]:
        return False
    wanted = ("clean_text", "handle_chinese_chars")
    return all(_setting(normalizers[0], name) is True for name in wanted)


def _covered(
    pieces: Stages, model: OwnVocabulary, added: Collection[AddedToken], spelled: bool
) -> bool:
    """True if tokens are the bytes of what the pre-tokenizer gets, without gaps."""
    whole = all(_setting(piece, "behavior") == "Isolated" for piece in pieces[:-1])
    return spelled and whole and not model.has_shared_ids and model.covers_bytes(added)


def _undividable(covered: bool, normalizers: Stages) -> str | None:
    if not covered:
        return "tokens are not known to cover the text"
    others = {stage.kind for stage in normalizers} - _INVARIANT
    return f"no text is known to stay as it is behind {min(others)}" if others else None


def _unjudged(normalizers: Stages) -> str | None:
    for stage in normalizers:
        plain = stage.kind != "Replace" or isinstance(_setting(stage, "pattern"), str)
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


def _unknown_part(pieces: Stages, normalizers: Stages, model: OwnVocabulary) -> str | None:
    """Why a stage may look beyond one segment between two added tokens, or None."""
    unknown = {piece.kind for piece in pieces} - _PRE_TOKENIZERS
    unknown |= {stage.kind for stage in normalizers} - _NORMALIZERS
    if unknown:
        return f"nothing is known of {min(unknown)}"
    return _unsure_model(model, "none")


def _moved_by_prefix(added: Collection[AddedToken], scheme: Scheme) -> str | None:
    moved = scheme == "dummy" and any(token.normalized for token in added)
    return "added tokens are matched behind the dummy prefix" if moved else None


def _moved_by_normalizers(added: Collection[AddedToken], normalizers: Stages) -> str | None:
    """Why it is unknown at every space which added tokens are found, or None."""
    changes_spaces = any(
        stage.kind == "Replace" and _setting(stage, "pattern") == " " for stage in normalizers
    )
    unsure = changes_spaces or _unjudged(normalizers) is not None
    moved = unsure and any(token.normalized for token in added)
    return "added tokens are searched in a text that is not known" if moved else None


def _hidden(
    added: Sequence[AddedToken], skipped: Sequence[AddedToken], normalizers: Stages
) -> str | None:
    """Why a token that is skipped may hide one that is matched, or None: the engine finds both."""
    if normalizers and any(token.normalized for token in skipped):
        return "a skipped token is searched in normalized text"
    met = _meet([token.content for token in skipped], [token.content for token in added])
    return "a skipped token may overlap one that is matched" if met else None


def _meet(some: Sequence[str], others: Sequence[str]) -> bool:
    """True if an occurrence of one string may overlap an occurrence of one of the others."""
    if not some or not others:
        return False
    apart = "\0"
    inside = any(one in apart.join(others) for one in some)
    around = any(other in apart.join(some) for other in others)
    return inside or around or _chained(some, others) or _chained(others, some)


def _chained(some: Sequence[str], others: Sequence[str]) -> bool:
    """True if a string ends as one of the others begins."""
    ends = {one[k:] for one in some for k in range(1, len(one))}
    return any(other[:k] in ends for other in others for k in range(1, len(other)))


def _of_ranks(file: RankFile) -> Facts:
    patterns = _as_read(file.engine, file.patterns)
    family = family_named(file.engine, patterns)
    tiles = (file.keeps_gaps or family is not None) and not _share_ids(file)
    bytes_known = all(bytes((byte,)) in file.tokens for byte in _OF_UTF8)
    chance = _begins_alike(file) if file.drops_prefixes else None
    return Facts(
        engine=file.engine,
        model="BPE",
        scheme="regex",
        family=family,
        patterns=patterns,
        added_tokens=file.added,
        tiles=tiles,
        longest_token=max(map(len, file.tokens)),
        unprovable=chance,
        added_token_cuts_refused=chance,
        pretoken_cuts_refused=None if tiles and bytes_known else "tokens may not cover the text",
        tokens=partial(frozenset, file.tokens),
        token_count=len(file.tokens),
    )


def _share_ids(file: RankFile) -> bool:
    """True if an id belongs to two tokens of different lengths."""
    matched = {(token.id, len(token.content.encode())) for token in file.added}
    wanted = {number for number, _ in matched}
    matched |= {(k, len(token)) for token, k in file.tokens.items() if k in wanted}
    return len(matched) > len(wanted)


def _begins_alike(file: RankFile) -> str | None:
    """Why it is chance which special token is matched, or None."""
    allowed, every = {token.content for token in file.added}, file.specials.keys()
    longer = any(one[:k] in every for one in allowed for k in range(len(one)))
    shorter = any(one[:k] in allowed for one in every for k in range(len(one)))
    return "two special tokens begin alike" if longer or shorter else None


def _as_read(engine: str, patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(without_inner_sets, patterns)) if engine == _OWN_REGEX else patterns


def without_inner_sets(pattern: str) -> str:
    """Returns a pattern with the members of a set in a set in the outer set: "[^a[bc]]" ->
    "[^abc]", as the `regex` module gets it."""
    kept, depth, place = list[str](), 0, 0
    while place < len(pattern):
        char = pattern[place]
        width = 2 if char == "\\" else 1
        opens, closes = char == "[", char == "]" and depth > 0
        depth += opens - closes
        if not (opens and depth > 1) and not (closes and depth > 0):
            kept.append(pattern[place : place + width])
        place += width
    return "".join(kept)
