"""Arguments: for each part of the structure, why two tokenizers give the same rows for every text,
or why nothing here proves that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from tokpar.certificate.canonical_form import JsonForm, RankForm, regex_of, setting
from tokpar.certificate.origin_reader import engine_of
from tokpar.patterns.pattern_reader import UnsupportedPatternError
from tokpar.types import NormalizerStage
from tokpar_diff.equal_patterns import different_text
from tokpar_diff.rows import ASPECTS
from tokpar_diff.sides import Side
from tokpar_diff.structure import parts_of, parts_that_differ
from tokpar_diff.witness_texts import pair_of

ALL = tuple(ASPECTS)
DECODE = ("text", "plain_text")
_CHARACTERS = (*range(0xD800), *range(0xE000, 0x110000))
"""All characters that a text may have."""
MOST_TEXTS = 200
_LETTER_BY_LETTER = ("Lowercase", "StripAccents", "Nmt", "ByteLevel")


@dataclass(frozen=True)
class Argument:
    """A sentence on one part: that it changes nothing (`holds`), or why that is not proved.

    `aspects`, keys of `ASPECTS`: in what it changes nothing; or what is not proved. `texts`: texts
    that may show a difference."""

    part: str
    holds: bool
    sentence: str
    aspects: tuple[str, ...] = ALL
    texts: tuple[str, ...] = ()

    @property
    def blocks(self) -> tuple[str, ...]:
        """The aspects that are not proved equal because of this part."""
        return tuple(x for x in ALL if x not in self.aspects) if self.holds else self.aspects


def arguments_for(a: Side, b: Side) -> list[Argument]:
    """Returns the arguments. An aspect is proved equal if every argument about it holds."""
    parts_a, parts_b = parts_of(a), parts_of(b)
    obstacles = [*_obstacles(a, b)]
    if any(argument.part == "form" for argument in obstacles):
        return obstacles
    names = parts_that_differ(parts_a, parts_b)
    same = [name for name in parts_a if name not in names]
    engine = ", ".join(f"{name} {version}" for name, version in a.versions.items())
    found = [Argument("the same", True, f"the same in what {engine} runs: {', '.join(same)}")]
    if "vocabulary" in names and "merges" in names:
        names.remove("merges")  # judged together
    return [*obstacles, *found, *(_judge(name, a, b) for name in names)]


def _obstacles(a: Side, b: Side) -> Iterator[Argument]:
    """Yields why nothing can be proved of these two, whatever their parts are."""
    for side, name in ((a, "a"), (b, "b")):
        if side.form is None:
            yield Argument("form", False, f"no file tells what {name} does: {side.why_no_form}")
    if a.form is None or b.form is None:
        return
    if type(a.form) is not type(b.form):
        yield Argument("form", False, "two engines, tokenizers and tiktoken, run them")
        return
    yield from _engine_obstacles(a, b)
    for side, name in ((a, "a"), (b, "b")):
        why = _chance_in(side.form)
        if why is not None:
            yield Argument("chance", False, f"{why} in {name}")
        for key, aspects in (("own_calls", ALL), ("own_decoding", DECODE)):
            if side.description[key] is not None:
                yield Argument(key, False, f"{side.description[key]} in {name}", aspects)


def _engine_obstacles(a: Side, b: Side) -> Iterator[Argument]:
    for name in sorted(a.versions.keys() | b.versions.keys()):
        versions = a.versions.get(name), b.versions.get(name)
        one_side_only = None in versions and a.is_here and b.is_here
        if versions[0] != versions[1] and not one_side_only:
            said = " and ".join(version or "none" for version in versions)
            yield Argument("engine", False, f"no proof spans two releases of {name}: {said}")
    classes = a.description["class"], b.description["class"]
    if not (a.is_here and b.is_here) and classes[0] != classes[1]:
        yield Argument("engine", False, f"two classes, {' and '.join(classes)}, in two Pythons")


def _chance_in(form: JsonForm | RankForm | None) -> str | None:
    if isinstance(form, JsonForm):
        drawn = [name for name in ("dropout", "alpha", "nbest_size") if form.model.get(name)]
        if drawn:
            return f"ids are drawn at random ({drawn[0]})"
        if form.kind == "Unigram" and isinstance(form.model.get("vocab"), Mapping):
            return "pieces without scores"  # of a model that is too sparse to be written whole
        if form.kind == "BPE" and form.model.get("merges") is None:
            return "merges that are not written"
        return form.no_file
    specials = sorted(form.specials) if form else []
    for first, second in pairwise(specials):
        if second.startswith(first):
            return f"tiktoken finds {first!r} or {second!r} by chance"
    return None


def _judge(name: str, a: Side, b: Side) -> Argument:
    judge = _JUDGES.get(name)
    if judge is not None:
        return judge(a, b)
    aspects = DECODE if name in ("decoder", "config") else ALL
    return Argument(name, False, f"no theorem here says what another {name} changes", aspects)


def _without_identity(part: Any) -> Any:
    """Returns the post-processor, or None for one that returns a single text as it is."""
    sequence = [{"Sequence": {"id": "A", "type_id": 0}}]
    is_template = isinstance(part, Mapping) and part.get("type") == "TemplateProcessing"
    return None if is_template and part.get("single") == sequence else part


def _judge_post_processors(a: Side, b: Side) -> Argument:
    forms = [side.form for side in (a, b) if isinstance(side.form, JsonForm)]
    parts = [_without_identity(form.post_processor) for form in forms]
    if parts[0] == parts[1]:
        return Argument("post-processor", True, "no post-processor changes a single text")
    said = "the post-processors differ"
    if any(form.truncation or form.padding for form in forms):
        return Argument("post-processor", False, said)
    return Argument("post-processor", False, said, tuple(x for x in ALL if x != "plain_ids"))


# --------------------------------------------------------------------------------- pre-tokenizer


def _judge_pretokenizers(a: Side, b: Side) -> Argument:
    assert isinstance(a.form, JsonForm)
    assert isinstance(b.form, JsonForm)
    rows = a.form.pre_tokenizers, b.form.pre_tokenizers
    if a.form.line_one:
        return _refuse("pre-tokenizer", "tokenizers 1.x lists no character classes")
    if len(rows[0]) != len(rows[1]):
        return _refuse("pre-tokenizer", "the rows of stages have different lengths")
    judged: list[Argument] = []
    for stage_a, stage_b in zip(*rows, strict=True):
        if stage_a == stage_b:
            continue
        patterns = regex_of(stage_a), regex_of(stage_b)
        if None in patterns or _but_pattern(stage_a) != _but_pattern(stage_b):
            return _refuse("pre-tokenizer", f"{stage_a.kind} and {stage_b.kind} differ")
        judged.append(_judge_patterns(str(patterns[0]), str(patterns[1]), a.form.engine))
    return min(judged, key=lambda argument: argument.holds)


def _refuse(part: str, why: str, texts: tuple[str, ...] = ()) -> Argument:
    few = texts[:: 1 + len(texts) // MOST_TEXTS]
    return Argument(part, False, f"the {part}s are not decided: {why}", texts=few)


def _but_pattern(stage: NormalizerStage) -> tuple[str, dict[str, Any]]:
    settings = {name: value for name, value in stage.settings if name != "pattern"}
    return stage.kind, settings


def _judge_patterns(pattern_a: str, pattern_b: str, engine: str) -> Argument:
    """Judge two patterns that the installed engine runs."""
    try:
        text = different_text(pattern_a, pattern_b, engine)
    except UnsupportedPatternError as error:
        return _refuse("pattern", str(error))
    if text is None:
        said = "the two patterns have the same matches in every text (product of their automata)"
        return Argument("pattern", True, said)
    said = "the two patterns match differently"
    return Argument("pattern", False, said, texts=(text, f"{text} ", f"{text}a"))


def _judge_ranked_patterns(a: Side, b: Side) -> Argument:
    assert isinstance(a.form, RankForm)
    assert isinstance(b.form, RankForm)
    return _judge_patterns(a.form.patterns[0], b.form.patterns[0], a.form.engine)


# ------------------------------------------------------------------------------------ normalizer


def _judge_normalizers(a: Side, b: Side) -> Argument:
    assert isinstance(a.form, JsonForm)
    assert isinstance(b.form, JsonForm)
    if not (a.is_here and b.is_here) or a.form.line_one:
        return _refuse("normalizer", "the engine's own normalizers are not at hand")
    write_a, write_b = _normalize_call(a), _normalize_call(b)
    texts = tuple(char for char in map(chr, _CHARACTERS) if write_a(char) != write_b(char))
    for stage in (*a.form.normalizers, *b.form.normalizers):
        if not _maps_each_character(stage):
            return _refuse("normalizer", f"{stage.kind} asks for more than one character", texts)
    if texts:
        return _refuse("normalizer", f"they write {len(texts):,} characters differently", texts)
    if any(setting(stage, "prepend_scheme") == "first" for stage in a.form.pre_tokenizers):
        return _refuse("normalizer", "Metaspace asks where the text begins")
    said = (
        "both normalizers act character by character (theorem 4.8), and write each of the "
        f"{len(_CHARACTERS):,} characters alike"
    )
    return Argument("normalizer", True, said, tuple(x for x in ALL if x != "offsets"))


def _normalize_call(side: Side) -> Callable[[str], str]:
    normalizer = engine_of(side.tokenizer).normalizer
    return str if normalizer is None else normalizer.normalize_str


def _maps_each_character(stage: NormalizerStage) -> bool:
    """True if the stage writes each character of a text as if it stood alone."""
    if stage.kind == "Replace":
        pattern = setting(stage, "pattern")
        return isinstance(pattern, str) and len(pattern) == 1
    if stage.kind == "BertNormalizer":
        strips = setting(stage, "strip_accents")  # it orders marks; None: as `lowercase` is
        return not (setting(stage, "lowercase", True) if strips is None else strips)
    return stage.kind in _LETTER_BY_LETTER


# --------------------------------------------------------------------------- vocabulary, merges


def _judge_vocabulary(a: Side, b: Side) -> Argument:
    reached = [_makeable_of(side.form) for side in (a, b)]
    for each in reached:
        if isinstance(each, str):
            return Argument("vocabulary", False, f"the vocabulary differs, and {each}")
    if reached[0] != reached[1]:
        said = "merges make other tokens, or in another order"
        return Argument("vocabulary", False, said)
    said = "no character and no merge makes the entries of one side only"
    return Argument("vocabulary", True, said)


def _judge_merges(a: Side, b: Side) -> Argument:
    argument = _judge_vocabulary(a, b)
    if argument.holds or not isinstance(a.form, JsonForm):
        return argument
    said = "the order of merges differs, and nothing here decides whether they ever compete"
    return Argument("merges", False, said)


_Makeable = tuple[dict[str, int], list[tuple[str, str]]]


def _makeable_of(form: JsonForm | RankForm | None) -> _Makeable | str:
    """Returns the tokens that characters and merges can make, with their ids, and the merges of
    such tokens in their order; or why that is not known.

    BPE looks up single characters and makes all other tokens by merges of two made before. A token
    that is not among the result stands in no row of ids, and a merge of it never applies."""
    if not isinstance(form, JsonForm) or form.kind != "BPE":
        return "every entry may be found in a text"
    model, vocabulary = form.model, form.model.get("vocab")
    if model.get("ignore_merges"):
        return "with ignore_merges every entry may be found in a text"
    if model.get("continuing_subword_prefix") or not isinstance(vocabulary, Mapping):
        return "tokens with a prefix are not decided"
    if len(set(vocabulary.values())) < len(vocabulary):
        return "two entries have one id"
    suffix = model.get("end_of_word_suffix") or ""
    made = {
        token
        for token in vocabulary
        if len(token) == 1
        or len(token.removesuffix(suffix)) == 1
        or token == model.get("unk_token")
    }
    if model.get("byte_fallback"):
        made |= {token for token in vocabulary if len(token) == 6 and token.startswith("<0x")}
    merges = [pair_of(merge) for merge in model.get("merges") or ()]
    size = -1
    while size < len(made):
        size = len(made)
        made.update(left + right for left, right in merges if left in made and right in made)
    kept = {token: id_ for token, id_ in vocabulary.items() if token in made}
    return kept, [merge for merge in merges if made.issuperset(merge)]


def _judge_added_tokens(a: Side, b: Side) -> Argument:
    assert a.form is not None
    assert b.form is not None
    skips = [getattr(side.form, "skips_special", False) for side in (a, b)]
    tokens = a.form.added_tokens, b.form.added_tokens
    plain = [{replace(token, special=True) for token in side_tokens} for side_tokens in tokens]
    if any(skips) or plain[0] != plain[1]:
        return Argument("added tokens", False, "added tokens with other ids or flags change rows")
    said = "only the flag `special` of added tokens differs, which the engine asks when it decodes"
    return Argument("added tokens", False, said, ("plain_text",))


_JUDGES: dict[str, Callable[[Side, Side], Argument]] = {
    "pattern": _judge_ranked_patterns,
    "pre-tokenizer": _judge_pretokenizers,
    "normalizer": _judge_normalizers,
    "vocabulary": _judge_vocabulary,
    "merges": _judge_merges,
    "added tokens": _judge_added_tokens,
    "post-processor": _judge_post_processors,
}
