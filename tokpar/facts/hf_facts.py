"""What a `tokenizer.json` says about a tokenizer: dict -> Facts.

Anything that is not recognised makes the facts `unprovable`, with a reason; nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, product

from tokpar.facts.tables import recognise
from tokpar.facts.token_lengths import TokenLengths
from tokpar.pure.parts import Json, stages
from tokpar.pure.vocabulary import GPT2_PATTERN, byte_alphabet
from tokpar.types import AddedToken, Facts, NormalizerStage, Scheme

ENGINE = "oniguruma"
DUMMY = "▁"
MISPLACED = "byte_fallback beside a mark of words: the engine tells wrong places of such tokens"
"""Where it falls back to bytes, it counts those of the mark as bytes of the text."""

_FORMS = {"NFC", "NFD", "NFKC", "NFKD"}
_PASSED_ON = {*_FORMS, "Lowercase", "StripAccents", "BertNormalizer", "Strip", "Replace"}
_INERT = {*_FORMS, "Lowercase", "StripAccents", "Replace"}
_MODELS = frozenset({"BPE", "WordPiece", "WordLevel", "Unigram"})
_NORMALIZERS = frozenset({*_PASSED_ON, "Nmt", "Precompiled", "Prepend", "ByteLevel"})
_PRE_TOKENIZERS = frozenset(
    {"BertPreTokenizer", "ByteLevel", "CharDelimiterSplit", "Digits", "FixedLength", "Metaspace"}
    | {"Punctuation", "Split", "UnicodeScripts", "Whitespace", "WhitespaceSplit"}
)
"""All that Hugging Face has: each is called for one segment at a time. Only Metaspace "first" asks
where in the text that is."""
_DUMMY_STAGES = [("Prepend", {"prepend": DUMMY}), ("Replace", {"pattern": " ", "content": DUMMY})]


@dataclass(frozen=True, slots=True)
class _Falling:
    """How a text falls apart before the model, or (`why`) the reason why that is not known."""

    scheme: Scheme = "none"
    family: str | None = None
    patterns: tuple[str, ...] = ()
    why: str | None = None


def facts_from_json(config: Json, *, encode_special_tokens: bool = False) -> Facts:
    """Facts of the tokenizer that `config`, a parsed `tokenizer.json`, describes.
    `encode_special_tokens`: the tokenizer's flag, which the file does not hold; with it special
    tokens are not matched and therefore left out. KeyError if there is no model."""
    model: Json = config["model"]
    staged = _normalizers(config)
    pieces = list(stages(config.get("pre_tokenizer"), "pre-tokenizer", "pretokenizers"))
    falling = _falling(pieces, staged, model)
    normalizers = () if falling.scheme == "dummy" else staged
    everything = _added_tokens(config)
    skipped = tuple(t for t in everything if encode_special_tokens and t.special)
    added = tuple(t for t in everything if not (encode_special_tokens and t.special))
    byte_level = bool(pieces) and pieces[-1]["type"] == "ByteLevel"
    prefix_space = any(p["type"] == "ByteLevel" and p.get("add_prefix_space") for p in pieces)
    hidden = _skipped_reason(added, skipped, staged)
    loose = prefix_space or falling.scheme == "dummy"
    shared = _shared_id(model)
    kept = byte_level and not loose and shared is None and _tiles(pieces, model, everything)
    return Facts(
        engine=ENGINE,
        model=model_kind(model),
        scheme=falling.scheme,
        family=falling.family,
        patterns=falling.patterns,
        added_tokens=added,
        normalizers=normalizers,
        prefix_space=prefix_space,
        byte_level=byte_level,
        tiles=kept and not normalizers,
        longest_token=_longest_token(model, everything, byte_level),
        unprovable=falling.why
        or _normalizer_reason(normalizers)
        or _model_reason(model, falling.scheme)
        or _prefixed_reason((*added, *skipped), falling.scheme)
        or hidden,
        unparted=_random_reason(model) or _unknown_reason(pieces, staged, model) or hidden,
        first_prefix=any(piece.get("prepend_scheme") == "first" for piece in pieces),
        undivided=_changing_reason(normalizers)
        if kept
        else shared or "its tokens are not known to make up the text",
        longest_word=_longest_word(model),
    )


def facts_with_tokens(config: Json) -> Facts:
    """The same, and the bytes of all tokens where no more is needed to divide pre-tokens."""
    facts = facts_from_json(config)
    if facts.undivided is not None:
        return facts
    return dividing(facts, partial(token_bytes, tuple(config["model"]["vocab"])), config)


def dividing(facts: Facts, tokens: Callable[[], Collection[bytes]], config: Json) -> Facts:
    """The facts, `undivided` is None, with the bytes of tokens and what else dividing needs."""
    return replace(facts, tokens=tokens, sizes=None if facts.tiles else token_lengths(config).of)


def model_kind(model: Json) -> str:
    """ "BPE", "WordPiece", "WordLevel" or "Unigram"; old files leave the type out."""
    if "type" in model:
        return str(model["type"])
    if "merges" in model:
        return "BPE"
    return "Unigram" if isinstance(model.get("vocab"), list) else "WordPiece"


def vocabulary(model: Json) -> dict[str, int]:
    """Token -> id; a Unigram model lists its pieces in the order of their ids."""
    vocab = model["vocab"]
    if isinstance(vocab, list):
        return {piece: i for i, (piece, _score) in enumerate(vocab)}
    return dict(vocab)


def _shared_id(model: Json) -> str | None:
    """Two tokens with one id, in words, or None. The engine merges by ids, so a pair that no merge
    names may merge instead of one with the same ids: Lemma 3 needs one string for each id."""
    tokens = vocabulary(model)
    if len(set(tokens.values())) == len(tokens):
        return None
    first: dict[int, str] = {}
    one, other = next((first[i], t) for t, i in tokens.items() if first.setdefault(i, t) != t)
    return f"tokens {one!r} and {other!r} have one id, and merging goes by ids"


def token_bytes(tokens: Iterable[str]) -> frozenset[bytes]:
    """Bytes of byte-level tokens; others, which merging cannot make, as they are."""
    code = byte_alphabet()
    spelled = re.compile(f"[{re.escape(''.join(code))}]*").fullmatch
    latin = str.maketrans({char: chr(byte) for char, byte in code.items()})
    return frozenset(
        token.translate(latin).encode("latin-1") if spelled(token) else token.encode()
        for token in tokens
    )


def token_lengths(config: Json) -> TokenLengths:
    """UTF-8 bytes of text that each token stands for, where the facts say `tiles`."""
    tokens, added = vocabulary(config["model"]), _added_tokens(config)
    return TokenLengths(
        chain(tokens.values(), (token.id for token in added)),
        chain(map(len, tokens), (_utf8(token.content) for token in added)),
    )


def _normalizers(config: Json) -> tuple[NormalizerStage, ...]:
    return tuple(
        NormalizerStage(
            stage["type"],
            tuple((name, _plain(value)) for name, value in stage.items() if name != "type"),
        )
        for stage in stages(config.get("normalizer"), "normalizer", "normalizers")
    )


def _plain(value: object) -> object:
    """{"String": "x"} -> "x"; everything else as it is."""
    return value["String"] if isinstance(value, dict) and list(value) == ["String"] else value


def _added_tokens(config: Json) -> tuple[AddedToken, ...]:
    flags = ("lstrip", "rstrip", "single_word", "normalized", "special")
    return tuple(
        AddedToken(
            token["content"], token["id"], **{flag: bool(token.get(flag, False)) for flag in flags}
        )
        for token in config.get("added_tokens") or ()
        if token["content"]
    )


def _falling(pieces: list[Json], stages: tuple[NormalizerStage, ...], model: Json) -> _Falling:
    kinds = [piece["type"] for piece in pieces]
    if not kinds and [(stage.kind, dict(stage.settings)) for stage in stages] == _DUMMY_STAGES:
        return _Falling("dummy", why=_dummy_reason(model))
    if not kinds:
        return _Falling(why="there is no pre-tokenizer: no place is certain to end a piece")
    if kinds == ["BertPreTokenizer"]:
        return _bert(stages)
    if kinds == ["Metaspace"]:
        return _metaspace(pieces[0])
    if kinds == ["ByteLevel"]:
        use_regex = pieces[0].get("use_regex", True)
        return _family((GPT2_PATTERN,)) if use_regex else _Falling("whole")
    if kinds[-1] == "ByteLevel" and set(kinds[:-1]) == {"Split"}:
        return _splits(pieces)
    return _Falling(why=f"nothing is proved about the pre-tokenizer {' + '.join(kinds)}")


def _splits(pieces: list[Json]) -> _Falling:
    """Split(Regex, Isolated), ..., ByteLevel(use_regex=false)."""
    if pieces[-1].get("use_regex", True):
        return _Falling(why="nothing is proved about Split followed by ByteLevel's own regex")
    for split in pieces[:-1]:
        if split["behavior"] != "Isolated" or split.get("invert"):
            how = f"{split['behavior']}, invert={bool(split.get('invert'))}"
            return _Falling(why=f"Split must be Isolated and not inverted, this one is {how}")
        if "Regex" not in split["pattern"]:
            return _Falling(why=f"nothing is proved about Split on {split['pattern']!r}")
    return _family(tuple(split["pattern"]["Regex"] for split in pieces[:-1]))


def _family(patterns: tuple[str, ...]) -> _Falling:
    found = recognise(ENGINE, patterns)
    if found is None:
        shown = " then ".join(map(repr, patterns))
        why = f"the pre-tokenizer's pattern is of no known family: {shown}"
        return _Falling("regex", None, patterns, why)
    return _Falling("regex", found.name, patterns)


def _bert(stages: tuple[NormalizerStage, ...]) -> _Falling:
    if [stage.kind for stage in stages] != ["BertNormalizer"]:
        return _Falling(why="BertPreTokenizer is provable only with BertNormalizer as normalizer")
    for setting in ("handle_chinese_chars", "clean_text"):
        if stages[0].setting(setting) is not True:
            return _Falling(why=f"BertNormalizer has {setting}=false, so its cuts are not proved")
    return _Falling("bert", "bert")


def _metaspace(piece: Json) -> _Falling:
    if not piece.get("split", True):
        return _Falling(why="Metaspace has split=false: no place is certain to end a piece")
    if piece["replacement"] != DUMMY:
        return _Falling(why=f"Metaspace replaces a space by {piece['replacement']!r}, not {DUMMY}")
    return _Falling("metaspace", "metaspace")


def _dummy_reason(model: Json) -> str | None:
    """Why the absorb rule does not hold; None if it does (theorem 6.4 with its corrections)."""
    if model_kind(model) != "BPE":
        return f"a dummy prefix without pre-tokenizer is provable for BPE, not {model_kind(model)}"
    if model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"):
        return "a BPE without pre-tokenizer marks where words start or end"
    if model.get("ignore_merges"):
        return "ignore_merges: tokens that merges do not reach may be used"
    tokens, shared = vocabulary(model), _shared_id(model)
    if shared:
        return shared
    if DUMMY not in tokens:
        return f"{DUMMY!r} is not in the vocabulary"
    if model.get("byte_fallback"):
        if any(f"<0x{byte:02X}>" not in tokens for byte in range(256)):
            return "byte_fallback with fewer than 256 byte tokens: characters may be dropped"
    elif model.get("unk_token") not in tokens:
        return "neither byte_fallback nor an unknown token: characters may be dropped"
    across = next((token for token in tokens if DUMMY in token.lstrip(DUMMY)), None)
    return across and f"token {across!r} has {DUMMY!r} after another character"


def _normalizer_reason(stages: tuple[NormalizerStage, ...]) -> str | None:
    for stage in stages:
        if stage.kind not in _PASSED_ON:
            return f"nothing is proved about the normalizer {stage.kind}"
        if stage.kind == "Replace" and not isinstance(stage.setting("pattern"), str):
            return "nothing is proved about the normalizer Replace with a regex"
    return None


def _changing_reason(stages: tuple[NormalizerStage, ...]) -> str | None:
    """Why no text is known that the stages leave alone, or None."""
    other = next((stage.kind for stage in stages if stage.kind not in _INERT), None)
    return other and f"nothing is proved about text that the normalizer {other} leaves alone"


def _model_reason(model: Json, scheme: Scheme) -> str | None:
    kind = model_kind(model)
    if kind not in _MODELS:
        return f"nothing is proved about the model {kind}"
    if _misplaces(model):
        return MISPLACED
    if kind == "Unigram" and scheme != "metaspace":
        return "a Unigram model is provable only behind a splitting Metaspace"
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
    """A part of the engine of which it is not known that it looks at one segment at a time."""
    parts = (
        ("pre-tokenizer", _PRE_TOKENIZERS, [piece["type"] for piece in pieces]),
        ("normalizer", _NORMALIZERS, [stage.kind for stage in stages]),
        ("model", _MODELS, [model_kind(model)]),
    )
    for part, known, kinds in parts:
        for kind in kinds:
            if kind not in known:
                return f"nothing is known of the {part} {kind}"
    return MISPLACED if _misplaces(model) else None


def _prefixed_reason(added: Sequence[AddedToken], scheme: Scheme) -> str | None:
    moved = next((token.content for token in added if token.normalized), None)
    if scheme == "dummy" and moved:
        return f"added token {moved!r} is matched with the dummy prefix in front"
    return None


def _skipped_reason(
    matched: Sequence[AddedToken],
    skipped: Sequence[AddedToken],
    stages: tuple[NormalizerStage, ...],
) -> str | None:
    """Why those that are left out (`encode_special_tokens`) may hide others, or None."""
    if stages and any(token.normalized for token in skipped):
        return "encode_special_tokens with a special token that is matched in normalized text"
    # special tokens are still found where they are encoded as text, and hide what begins inside
    for one, other in product(skipped, matched):
        if one.content == other.content or can_overlap(one.content, other.content):
            shown = f"{one.content!r} and {other.content!r}"
            return f"encode_special_tokens: {shown} overlap, so one hides the other"
    return None


def can_overlap(one: str, other: str) -> bool:
    """Whether two strings, or two occurrences of one, can share characters of a text."""
    if one != other and (one in other or other in one):
        return True
    shorter = min(len(one), len(other))
    return any(one.endswith(other[:n]) or other.endswith(one[:n]) for n in range(1, shorter))


def _tiles(pieces: list[Json], model: Json, added: tuple[AddedToken, ...]) -> bool:
    """Every byte of the text is in exactly one token, and ids tell lengths."""
    keeps = all(p["type"] == "ByteLevel" or p.get("behavior") == "Isolated" for p in pieces)
    plain = not (model.get("continuing_subword_prefix") or model.get("end_of_word_suffix"))
    if not keeps or not plain or model_kind(model) != "BPE":
        return False
    tokens, alphabet = vocabulary(model), byte_alphabet().keys()
    return alphabet <= tokens.keys() and not (
        any(token.lstrip or token.rstrip for token in added) or _ambiguous(added, tokens)
    )


def _ambiguous(added: Iterable[AddedToken], tokens: Mapping[str, int]) -> bool:
    """An added token shares its id with a token of another length, added or merged ("é" is E9)."""
    wanted, alphabet = {token.id for token in added}, byte_alphabet().keys()
    merged = {
        i: len(token) for token, i in tokens.items() if i in wanted and alphabet >= set(token)
    }
    return any(merged.setdefault(t.id, _utf8(t.content)) != _utf8(t.content) for t in added)


def _longest_word(model: Json) -> int:
    if model_kind(model) != "WordPiece" or not model.get("continuing_subword_prefix", "##"):
        return 0
    return int(model.get("max_input_chars_per_word", 100))


def _longest_token(model: Json, added: Iterable[AddedToken], byte_level: bool) -> int:
    tokens = vocabulary(model)
    prefix = model.get("continuing_subword_prefix") or ""
    measure = len if byte_level else _utf8
    longest = max((measure(token.removeprefix(prefix)) for token in tokens), default=0)
    return max(longest, max((_utf8(token.content) for token in added), default=0))


def _utf8(token: str) -> int:
    return len(token.encode())
