"""Derive the `Facts` of a tokenizer from its parsed `tokenizer.json`.

Any unknown setting makes the facts `unprovable`, with a reason. Nothing is guessed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product
from typing import TYPE_CHECKING

import numpy as np

from tokpar.facts.hf_vocabulary import (
    VocabularyArrays,
    joined_to_marks,
    longest_token,
    model_kind,
    neighbours,
    shared_id,
    tiles,
    token_bytes,
    utf8,
    vocabulary,
)
from tokpar.facts.space_stages import (
    MARK,
    PRE_TOKENIZERS,
    SpaceCut,
    bare,
    find_space_cut,
    only_joins,
    space_in_model,
)
from tokpar.formats.json_parts import Json, stages
from tokpar.patterns.known_pattern import shipped_pattern
from tokpar.types import AddedToken, Facts, NormalizerStage, Scheme

if TYPE_CHECKING:
    from tokpar.facts.token_lengths import TokenLengths

ENGINE = "oniguruma"
MISPLACED = "byte_fallback beside a mark of words: the engine tells wrong places of such tokens"
"""The engine counts the bytes of the mark as bytes of the text when it falls back to bytes."""

_FLAGS = "lstrip", "rstrip", "single_word", "normalized", "special"
_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_PASSED_ON = {*_FORMS, "Lowercase", "StripAccents", "BertNormalizer", "Strip", "Replace"}
_INERT = {*_FORMS, "Lowercase", "StripAccents", "Replace"}
_MODELS = frozenset({"BPE", "WordPiece", "WordLevel", "Unigram"})
_NORMALIZERS = frozenset({*_PASSED_ON, "Nmt", "Precompiled", "Prepend", "ByteLevel"})
_MOST_OVERLAPS = 1 << 22
"""The product of the code points of two groups of added tokens, up to which each token of one group
is compared with each of the other."""
_DUMMY_STAGES = [("Prepend", {"prepend": MARK}), ("Replace", {"pattern": " ", "content": MARK})]


@dataclass(frozen=True, slots=True)
class _PretokenizerFacts:
    """How the pre-tokenizer splits a text before the model. `why`: why this is unknown, or None."""

    scheme: Scheme = "none"
    patterns: tuple[str, ...] = ()
    why: str | None = None
    chars_before_mark: frozenset[str] | None = None


def facts_from_json(
    config: Json, *, encode_special_tokens: bool = False, lists_classes: bool = False
) -> Facts:
    """The facts of the tokenizer that `config`, a parsed `tokenizer.json`, describes.

    `encode_special_tokens`: the tokenizer's flag, which the file does not contain. With this flag
    the engine does not match special tokens, so the facts omit them. `lists_classes`: the engine
    can list the members of character classes, so an unknown pattern does not make the facts
    `unprovable`. Raises KeyError if there is no model."""
    model: Json = config["model"]
    staged = _normalizers(config)
    pieces = list(stages(config.get("pre_tokenizer"), "pre-tokenizer", "pretokenizers"))
    pieces = list(map(_dropping_nothing, pieces))
    pretokenizer = _pretokenizer_facts(pieces, staged, model)
    normalizers = () if pretokenizer.scheme == "dummy" else staged
    everything = _added_tokens(config)
    skipped_tokens = tuple(t for t in everything if encode_special_tokens and t.special)
    matched_tokens = tuple(t for t in everything if not (encode_special_tokens and t.special))
    byte_level = bool(pieces) and pieces[-1]["type"] == "ByteLevel"
    prefix_space = any(p["type"] == "ByteLevel" and p.get("add_prefix_space") for p in pieces)
    hidden = _skipped_reason(matched_tokens, skipped_tokens, staged)
    loose = prefix_space or pretokenizer.scheme == "dummy"
    single = byte_level and not loose and shared_id(model) is None
    kept = single and tiles(pieces, model, everything)
    by_sizes = kept and bool(normalizers) and all(stage.kind in _INERT for stage in normalizers)
    facts = Facts(
        engine=ENGINE,
        model=model_kind(model),
        scheme=pretokenizer.scheme,
        patterns=pretokenizer.patterns,
        added_tokens=matched_tokens,
        normalizers=normalizers,
        prefix_space=prefix_space,
        byte_level=byte_level,
        tiles=kept and not normalizers,
        longest_token=longest_token(model, everything, byte_level),
        unprovable=(None if lists_classes and pretokenizer.patterns else pretokenizer.why)
        or _normalizer_reason(normalizers)
        or _model_reason(model, pretokenizer.scheme)
        or _prefixed_reason((*matched_tokens, *skipped_tokens), pretokenizer.scheme)
        or hidden,
        chars_before_mark=pretokenizer.chars_before_mark,
        added_token_cuts_refused=_random_reason(model)
        or _unknown_reason(pieces, staged, model)
        or hidden,
        first_prefix=any(piece.get("prepend_scheme") == "first" for piece in pieces),
        sizes=token_lengths(config).lengths_of if by_sizes else None,
    )
    if facts.unprovable is None:
        return facts
    always = _model_reason(model, "spaces") or hidden
    row = tuple(map(_stage, pieces))
    found = _at_spaces(facts, staged, row, model, always)
    why = always or _normalizer_reason(staged)
    if found.unprovable is None or why is not None or not lists_classes:
        return found
    from tokpar.facts.split_rows import row_patterns  # most tokenizers have cuts without it

    patterns = row_patterns(row)
    if not patterns:
        return found
    known = replace(facts, scheme="regex", patterns=patterns, unprovable=None)
    return replace(known, normalizers=staged, pre_tokenizers=row)


def _at_spaces(
    facts: Facts,
    normalizers: tuple[NormalizerStage, ...],
    pre_tokenizers: tuple[NormalizerStage, ...],
    model: Json,
    always: str | None,
) -> Facts:
    """For facts that are `unprovable` so far, try the cuts before spaces of theorem 50.

    `always`: why theorem 50 does not apply to this tokenizer, or None."""
    across = joined_to_marks(model, space_in_model(normalizers, pre_tokenizers))
    chars_before_mark = None if isinstance(across, str) else across
    found = find_space_cut(normalizers, pre_tokenizers, chars_before_mark)
    moved = _moved_reason(facts.added_tokens, normalizers)
    why = always or (found if isinstance(found, str) else moved)
    if why is None:
        joins = isinstance(found, SpaceCut) and found.left == "unjoined"
        any_pair = joins and bare(normalizers, pre_tokenizers)
        return replace(
            facts,
            scheme="spaces",
            patterns=(),
            normalizers=normalizers,
            pre_tokenizers=pre_tokenizers,
            chars_before_mark=chars_before_mark,
            adjacent=partial(neighbours, tuple(vocabulary(model))) if any_pair else None,
            unprovable=None,
        )
    if isinstance(across, str) and not always and only_joins(normalizers, pre_tokenizers):
        why = f"{why}; and {across}"
    return replace(facts, unprovable=why if facts.scheme == "none" else facts.unprovable)


def facts_with_tokens(config: Json, *, lists_classes: bool = False) -> Facts:
    """As `facts_from_json`, with the bytes of all tokens if tokens tile the text."""
    facts = facts_from_json(config, lists_classes=lists_classes)
    return with_tokens(facts, partial(token_bytes, tuple(config["model"]["vocab"])))


def with_tokens(facts: Facts, tokens: Callable[[], Collection[bytes]]) -> Facts:
    """The facts with the bytes of all tokens, if tokens tile the text, or what no normalizer
    changes of it."""
    return replace(facts, tokens=tokens) if facts.tiles or facts.sizes is not None else facts


def token_lengths(config: Json) -> TokenLengths:
    """The number of UTF-8 bytes of text of each token, for facts with `tiles`."""
    from tokpar.facts.token_lengths import TokenLengths  # many tokens do not tile a text

    vocab, added = config["model"]["vocab"], _added_tokens(config)
    if isinstance(vocab, VocabularyArrays):
        ids = np.array([token.id for token in added], dtype=np.int64)
        sizes = np.array([utf8(token.content) for token in added], dtype=np.int64)
        given = np.append(vocab.ids, ids), np.append(vocab.characters, sizes)
        return TokenLengths(*given)
    tokens = vocabulary(config["model"])
    return TokenLengths(
        chain(tokens.values(), (token.id for token in added)),
        chain(map(len, tokens), (utf8(token.content) for token in added)),
    )


def _normalizers(config: Json) -> tuple[NormalizerStage, ...]:
    return tuple(map(_stage, stages(config.get("normalizer"), "normalizer", "normalizers")))


def _stage(stage: Json) -> NormalizerStage:
    settings = ((name, _plain(value)) for name, value in stage.items() if name != "type")
    return NormalizerStage(stage["type"], tuple(settings))


def _plain(value: object) -> object:
    """Unwrap {"String": "x"} to "x". Return any other value unchanged."""
    return value["String"] if isinstance(value, dict) and list(value) == ["String"] else value


def _added_tokens(config: Json) -> tuple[AddedToken, ...]:
    return tuple(
        token for token in map(_added_token, config.get("added_tokens") or ()) if token.content
    )


def _added_token(token: Json | AddedToken) -> AddedToken:
    if isinstance(token, AddedToken):
        return token
    return AddedToken(token["content"], token["id"], *(bool(token.get(flag)) for flag in _FLAGS))


def _pretokenizer_facts(
    pieces: list[Json], stages: tuple[NormalizerStage, ...], model: Json
) -> _PretokenizerFacts:
    kinds = [piece["type"] for piece in pieces]
    if not kinds and [(stage.kind, dict(stage.settings)) for stage in stages] == _DUMMY_STAGES:
        chars_before_mark = joined_to_marks(model)
        if isinstance(chars_before_mark, str):
            return _PretokenizerFacts("dummy", why=chars_before_mark)
        return _PretokenizerFacts("dummy", chars_before_mark=chars_before_mark)
    if kinds == ["BertPreTokenizer"] and _is_bert(stages):
        return _PretokenizerFacts("bert")
    if kinds == ["Metaspace"] and pieces[0].get("split", True) and pieces[0]["replacement"] == MARK:
        return _PretokenizerFacts("metaspace")
    if kinds == ["ByteLevel"]:
        from tokpar.formats.vocabulary import GPT2_PATTERN  # other kinds do without it

        use_regex = pieces[0].get("use_regex", True)
        return _by_patterns((GPT2_PATTERN,)) if use_regex else _PretokenizerFacts("whole")
    mapped = bool(kinds) and kinds[-1] == "ByteLevel" and not pieces[-1].get("use_regex", True)
    if mapped and all(map(_is_plain_split, pieces[:-1])):
        return _by_patterns(tuple(split["pattern"]["Regex"] for split in pieces[:-1]))
    return _PretokenizerFacts(why="nothing is known but its stages")


def _dropping_nothing(piece: Json) -> Json:
    """Turn a Split that drops unmatched text into an isolated Split, if all text is matched.

    `KnownPattern.covers` says so of shipped patterns."""
    dropping = piece["type"] == "Split" and (piece["behavior"], piece.get("invert")) == (
        "Removed",
        True,
    )
    pattern = str(piece["pattern"].get("Regex")) if dropping else ""
    known = shipped_pattern(ENGINE, (pattern,))
    if known is None or not known.covers:
        return piece
    return {**piece, "behavior": "Isolated", "invert": False}


def _is_plain_split(piece: Json) -> bool:
    """True for Split(Regex, Isolated) that is not inverted."""
    plain = piece["type"] == "Split" and piece["behavior"] == "Isolated"
    return plain and not piece.get("invert") and "Regex" in piece["pattern"]


def _is_bert(stages: tuple[NormalizerStage, ...]) -> bool:
    """True if BertNormalizer is the only stage, with the settings that theorem 4.8 needs."""
    wanted = {("handle_chinese_chars", True), ("clean_text", True)}
    return [s.kind for s in stages] == ["BertNormalizer"] and wanted <= {*stages[0].settings}


def _by_patterns(patterns: tuple[str, ...]) -> _PretokenizerFacts:
    shown = " then ".join(map(repr, patterns))
    why = None if shipped_pattern(ENGINE, patterns) else f"the pattern {shown} is not shipped"
    return _PretokenizerFacts("regex", patterns, why)


def _normalizer_reason(stages: tuple[NormalizerStage, ...]) -> str | None:
    for stage in stages:
        if stage.kind not in _PASSED_ON:
            return f"nothing is proved about the normalizer {stage.kind}"
        if stage.kind == "Replace" and not isinstance(stage.setting("pattern"), str):
            return "nothing is proved about the normalizer Replace with a regex"
    return None


def _model_reason(model: Json, scheme: Scheme) -> str | None:
    kind = model_kind(model)
    if kind not in _MODELS:
        return f"nothing is proved about the model {kind}"
    if _misplaces(model):
        return MISPLACED
    if kind == "Unigram" and scheme == "whole":
        return "a Unigram model is provable only behind a pre-tokenizer that cuts"
    return _random_reason(model)


def _misplaces(model: Json) -> bool:
    marks = model.get("continuing_subword_prefix") or model.get("end_of_word_suffix")
    return bool(model_kind(model) == "BPE" and model.get("byte_fallback") and marks)


def _random_reason(model: Json) -> str | None:
    if model.get("dropout"):
        return f"BPE with dropout {model['dropout']} is random: no two encodings need agree"
    if model.get("alpha") or model.get("nbest_size"):
        return "Unigram with sampling (alpha, nbest_size) is random: no two encodings need agree"
    return None


def _unknown_reason(
    pieces: Sequence[Json], stages: tuple[NormalizerStage, ...], model: Json
) -> str | None:
    """Why a stage may look beyond one segment, or None if every stage handles one segment at a
    time."""
    parts = (
        ("pre-tokenizer", PRE_TOKENIZERS, [piece["type"] for piece in pieces]),
        ("normalizer", _NORMALIZERS, [stage.kind for stage in stages]),
        ("model", _MODELS, [model_kind(model)]),
    )
    for part, known, kinds in parts:
        for kind in kinds:
            if kind not in known:
                return f"nothing is known of the {part} {kind}"
    return MISPLACED if _misplaces(model) else None


def _moved_reason(
    added_tokens: Sequence[AddedToken], stages: tuple[NormalizerStage, ...]
) -> str | None:
    """Why an added token is searched in a text that is unknown around every space, or None."""
    moved = next((token.content for token in added_tokens if token.normalized), None)
    reason = _normalizer_reason(stages)
    if any(s.kind == "Replace" and s.setting("pattern") == " " for s in stages):
        reason = "the normalizer changes every space"
    return reason and moved and f"{reason}, where added token {moved!r} is searched"


def _prefixed_reason(added_tokens: Sequence[AddedToken], scheme: Scheme) -> str | None:
    moved = next((token.content for token in added_tokens if token.normalized), None)
    if scheme == "dummy" and moved:
        return f"added token {moved!r} is matched with the dummy prefix in front"
    return None


def _skipped_reason(
    matched_tokens: Sequence[AddedToken],
    skipped_tokens: Sequence[AddedToken],
    stages: tuple[NormalizerStage, ...],
) -> str | None:
    """Why a skipped special token (`encode_special_tokens`) may hide a matched token, or None."""
    if not skipped_tokens:
        return None
    if stages and any(token.normalized for token in skipped_tokens):
        return "encode_special_tokens with a special token that is matched in normalized text"
    # The engine still finds skipped tokens, and then misses a token that begins inside one.
    chars = {char for token in skipped_tokens for char in token.content}
    near = [token for token in matched_tokens if not chars.isdisjoint(token.content)]
    sizes = [sum(len(token.content) for token in each) for each in (skipped_tokens, near)]
    if sizes[0] * sizes[1] > _MOST_OVERLAPS:
        return "encode_special_tokens: the added tokens are too long to be compared"
    for one, other in product(skipped_tokens, near):
        if one.content == other.content or can_overlap(one.content, other.content):
            shown = f"{one.content!r} and {other.content!r}"
            return f"encode_special_tokens: {shown} overlap, so one hides the other"
    return None


def can_overlap(one: str, other: str) -> bool:
    """True if occurrences of the two strings can overlap in a text. The strings may be equal."""
    if one != other and (one in other or other in one):
        return True
    shorter = min(len(one), len(other))
    return any(one.endswith(other[:n]) or other.endswith(one[:n]) for n in range(1, shorter))
