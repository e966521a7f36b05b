"""Theorem 50: a cut before a space, whatever stages a tokenizer of Hugging Face has.

The engine itself is asked whether the ids of both halves are those of the whole.
"""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import replace as replace_fields
from itertools import chain, pairwise, product

import pytest
from tokenizers import AddedToken, Tokenizer
from tokpar_conformance.worlds.charsmaps import charsmap

import tokpar
from tests.conftest import drawn
from tests.support.seams import assert_lossless, finder, refused, wrong_in_fact
from tests.support.stage_configs import (
    BEHAVIORS,
    MARKS,
    RIGHT,
    RUNS,
    TABLE,
    Json,
    byte_bpe,
    byte_level,
    config,
    metaspace,
    precompiled,
    replace,
    split,
    stage,
    unigram,
    word_level,
)
from tests.support.stages_drawn import TEXTS, drawn_tokenizer, tokenizer_of
from tests.support.stages_shaped import SHAPES, ids_or_none
from tokpar.certificate.checker import seam_findings
from tokpar.certificate.stage_rule import _parts
from tokpar.contract.interfaces import facts_of
from tokpar.facts.hf_facts import facts_from_json
from tokpar.facts.space_stages import _edge
from tokpar.patterns.shipped_patterns import GPT2
from tokpar.types import Facts, NormalizerStage, Seam

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

DIGITS = stage("Digits", individual_digits=False)
STRIP = stage("Strip", strip_left=True, strip_right=True)
T5 = SHAPES["t5"]
SIDES = ("any", "non-space", "sure", "unjoined")


def made(own: Json, before: Sequence[Json] = (), row: Sequence[Json] = ()) -> Tokenizer:
    return tokenizer_of(config(own, before, row))


def falling(merges: Sequence[tuple[str, str]] = ()) -> Json:
    """A BPE over characters that falls back to bytes."""
    return byte_bpe(merges, byte_fallback=True)


def own_facts(tokenizer: Tokenizer) -> Facts:
    return facts_of(tokpar.load(tokenizer))


def cuts(tokenizer: Tokenizer, text: str) -> list[int]:
    return [p for p in range(1, len(text)) if not refused(tokenizer, text, p)]


def require_exact(tokenizer: Tokenizer, text: str) -> int:
    """Each certified cut gives the engine's own ids, all of them together too, and the checker
    agrees; how many they are."""
    whole, planner, own = ids_or_none(tokenizer, text), finder(tokenizer), own_facts(tokenizer)
    if whole is None or planner.refusal_for(text) is not None:
        return 0
    found = [seam for p in range(1, len(text)) if (seam := planner.certify_context(text, p))]
    if any("absorbed" in dict(seam.witness) for seam in found):
        return 0
    assert not list(seam_findings(found, text, own)), (text, found)
    rows = [[0, seam.position, len(text)] for seam in found]
    for edges in (*rows, [0, *(seam.position for seam in found), len(text)]):
        parts = [ids_or_none(tokenizer, text[start:stop]) for start, stop in pairwise(edges)]
        known = [part for part in parts if part is not None]
        if len(known) == len(parts):
            assert list(chain(*known)) == whole, (text, edges, tokenizer.to_str())
    return len(found)


def halves_of(text: str, p: int) -> tuple[str, str]:
    return text[:p], text[p:]


@pytest.mark.parametrize("seed", range(8))
def test_drawn_rows_of_stages_are_cut_where_the_engine_agrees(seed: int) -> None:
    rng, tried = random.Random(seed), 0
    for _ in range(drawn(60)):
        tokenizer = drawn_tokenizer(rng)
        if own_facts(tokenizer).unprovable is None:
            tried += sum(require_exact(tokenizer, TEXTS.draw(rng)) for _ in range(12))
    assert tried > 20


# --------------------------------------------------------------------- the shapes that files have

TEXT = "a b ab  a.b, 12 aa ``b` > a <s> éa\u0301 b\u200b a\u3000 ф a\nb  中 ab a "


@pytest.mark.parametrize("name", SHAPES)
def test_real_shapes_are_cut_before_spaces_and_stay_exact(name: str) -> None:
    tokenizer = SHAPES[name]
    assert own_facts(tokenizer).unprovable is None
    assert len(cuts(tokenizer, TEXT)) >= 6
    assert_lossless(tokenizer, TEXT)


def test_gemma_is_cut_where_no_token_joins_two_characters() -> None:
    """ "." and the line end are no tokens: beside them only spaces are cut."""
    tokenizer = SHAPES["gemma"]
    assert own_facts(tokenizer).chars_before_mark == {">"}
    text = "a> b a  b▁ a.\n b"
    assert cuts(tokenizer, text) == [1, 3, 4, 6, 8, 9, 14, 15]
    assert require_exact(tokenizer, text) == 8
    assert wrong_in_fact(tokenizer, "a> b", 2)


def test_characters_that_are_no_tokens_may_fuse() -> None:
    tokenizer = made(byte_bpe([("▁", "a")]), [MARKS])
    assert wrong_in_fact(tokenizer, "xy", 1)
    assert refused(tokenizer, "xy", 1)
    assert refused(tokenizer, "ay", 1)
    assert not refused(tokenizer, "ab", 1)


def test_two_characters_are_parted_by_no_model_behind_a_stage() -> None:
    tokenizer = made(falling([("▁", "a")]), [MARKS], [metaspace(split=False)])
    assert wrong_in_fact(tokenizer, "ab", 1)
    assert refused(tokenizer, "ab", 1)
    assert not refused(tokenizer, "a b", 1)


def test_line_ends_are_cut_where_every_stage_takes_them_for_a_space() -> None:
    text = "中\n文 a\n\nb\r\n"
    assert cuts(T5, text) == [1, 3]
    assert cuts(SHAPES["bert without normalizer"], text) == [1, 3, 5, 6, 9]
    assert cuts(SHAPES["starcoder"], text) == [3]
    for name in ("t5", "bert without normalizer", "starcoder"):
        assert_lossless(SHAPES[name], text)
        require_exact(SHAPES[name], text)


def test_cyrillic_and_chinese_words_are_cut_under_a_table() -> None:
    assert cuts(T5, "да нет 中文 中. ﬁ a") == [2, 6, 9]


def test_a_table_that_cannot_be_read_proves_nothing() -> None:
    for encoded in ("", "AAAA", "!", "BAAAAA=="):
        stage = {"type": "Precompiled", "precompiled_charsmap": encoded}
        config = {
            "normalizer": stage,
            "pre_tokenizer": {"type": "WhitespaceSplit"},
            "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"},
        }
        assert "a table that changes spaces" in str(facts_from_json(config).unprovable)


# ---------------------------------------------------------------- what each hypothesis is there for


@pytest.mark.parametrize(
    ("tokenizer", "text", "p"),
    [
        pytest.param(made(word_level(), [], [DIGITS]), "a b", 1, id="a stage that cuts"),
        pytest.param(SHAPES["gemma"], "a> b", 2, id="a token across"),
        pytest.param(made(falling([("▁", "▁")]), [MARKS]), "a  b", 2, id="two spaces"),
        pytest.param(
            made(byte_bpe([], ["▁", "▁▁", "a▁a"], ignore_merges=True), [MARKS]),
            "a a",
            1,
            id="ignore_merges",
        ),
        pytest.param(
            made(word_level(), [], [split(" ", "MergedWithPrevious")]),
            "a b",
            1,
            id="merged with the next",
        ),
        pytest.param(
            made(word_level(), [], [stage("UnicodeScripts")]),
            "a b",
            1,
            id="UnicodeScripts",
        ),
        pytest.param(
            made(word_level(), [], [stage("FixedLength", length=2)]), "a  b", 1, id="FixedLength"
        ),
        pytest.param(made(falling(), [STRIP], [metaspace("never")]), "a b", 1, id="Strip"),
        pytest.param(
            made(falling(), [RIGHT], [metaspace()]),
            "a  b",
            2,
            id="Strip behind spaces",
        ),
        pytest.param(
            made(word_level(), [stage("Prepend", prepend="_")], [stage("WhitespaceSplit")]),
            "a b",
            1,
            id="Prepend",
        ),
        pytest.param(
            made(word_level(), [replace("a b", "x")], [stage("Whitespace")]),
            "a b",
            1,
            id="Replace across",
        ),
        pytest.param(
            made(falling(), [RUNS], [metaspace()]),
            "a  b",
            2,
            id="runs of spaces",
        ),
        pytest.param(
            made(falling(), [stage("StripAccents"), RUNS], [metaspace()]),
            "a \u0301 b",
            3,
            id="a character that vanishes",
        ),
        pytest.param(
            made(word_level(), [TABLE], [stage("WhitespaceSplit")]),
            "a\u0600 b",
            2,
            id="a table on clusters",
        ),
        pytest.param(
            made(falling(), [MARKS], [metaspace(mark="_")]),
            "a b",
            1,
            id="a sign before Metaspace",
        ),
        pytest.param(
            made(falling([("Ġ", "Ġ")]), [], [byte_level()]),
            "a   b",
            2,
            id="ByteLevel between spaces",
        ),
        pytest.param(
            made(word_level(), [replace("[b ]+", " x", "Regex")], [stage("WhitespaceSplit")]),
            "ab b",
            2,
            id="Replace of a class across",
        ),
        pytest.param(
            made(falling(), [replace(r"\s+", "▁", "Regex")], [metaspace("never")]),
            "a  b",
            2,
            id="Replace of spaces across",
        ),
        pytest.param(
            made(word_level(), [replace("a(?= )", "x", "Regex")], [stage("WhitespaceSplit")]),
            "a b",
            1,
            id="Replace that looks at the space",
        ),
        pytest.param(
            made(
                word_level(),
                [],
                [split("ab(?= )|a|b", kind="Regex"), stage("WhitespaceSplit")],
            ),
            "ab b",
            2,
            id="Split that looks at the space",
        ),
        pytest.param(
            made(word_level(), [], [split("[b ]+", "Removed", True, "Regex")]),
            "ab b",
            2,
            id="Split that holds a space",
        ),
        pytest.param(made(byte_bpe([]), [], []), "x b", 1, id="no stage: unknowns fuse"),
        pytest.param(
            made(byte_bpe([("b", " ")], " "), [], []), "ab b", 2, id="no stage: a token across"
        ),
        pytest.param(
            made(byte_bpe([("a", "b")], " ", unk_token=None), [], []),
            "axb",
            2,
            id="no stage: characters dropped",
        ),
        pytest.param(
            made(byte_bpe([("b", "<unk>")], fuse_unk=False), [], []),
            "ab b",
            2,
            id="no stage: the unknown token is merged",
        ),
        pytest.param(
            made(byte_bpe([], [" ", "ab b"], ignore_merges=True), [], []),
            "ab b",
            2,
            id="no stage: ignore_merges",
        ),
        pytest.param(
            made(byte_bpe([], " ", end_of_word_suffix="</w>"), [], []),
            "ab b",
            2,
            id="no stage: the last character of a word is spelled in another way",
        ),
        pytest.param(made(unigram(), [MARKS]), "  a", 1, id="the model alone"),
        pytest.param(made(falling(), [], [metaspace(mark="_")]), "a\nb", 1, id="a line end"),
    ],
)
def test_theorem_50_needs_each_condition(tokenizer: Tokenizer, text: str, p: int) -> None:
    """The engine's ids differ, the planner does not cut, and no forged seam passes the checker."""
    assert wrong_in_fact(tokenizer, text, p)
    assert refused(tokenizer, text, p)
    own = own_facts(tokenizer)
    for left in SIDES:
        for right in ("space", "line end", "unjoined"):
            forged = Seam(p, "STAGE", "50", (("left", left), ("right", right)))
            assert list(seam_findings([forged], text, own)), (left, right)
    assert_lossless(tokenizer, text)


def forged_facts(tokenizer: Tokenizer) -> Facts:
    """Facts that claim cuts before spaces, whatever the stages are."""
    own = own_facts(tokenizer)
    row = json.loads(tokenizer.to_str())["pre_tokenizer"]
    rows = row["pretokenizers"] if row["type"] == "Sequence" else [row]
    settings = [{k: v for k, v in each.items() if k != "type"} for each in rows]
    made_of = zip(rows, settings, strict=True)
    told = tuple(NormalizerStage(each["type"], tuple(own.items())) for each, own in made_of)
    return replace_fields(own, scheme="spaces", unprovable=None, pre_tokenizers=told)


@pytest.mark.parametrize(
    ("before", "row", "text", "p"),
    [
        ([replace("[b ]+", " x", "Regex")], [stage("WhitespaceSplit")], "ab b", 2),
        ([replace("a(?= )", "x", "Regex")], [stage("WhitespaceSplit")], "a b", 1),
        ([], [split("ab(?= )|a|b", kind="Regex"), stage("WhitespaceSplit")], "ab b", 2),
        ([], [split("ab$|a|b", kind="Regex"), stage("WhitespaceSplit")], "ab b", 2),
        ([], [split("[b ]+|a", "Removed", True, "Regex")], "ab b", 2),
    ],
)
def test_the_checker_reads_a_regex_by_itself_whatever_the_facts_claim(
    before: list[Json], row: list[Json], text: str, p: int
) -> None:
    tokenizer = made(word_level(), before, row)
    assert wrong_in_fact(tokenizer, text, p)
    for left in SIDES:
        forged = Seam(p, "STAGE", "50", (("left", left), ("right", "space")))
        assert list(seam_findings([forged], text, forged_facts(tokenizer))), left


def test_metaspace_first_behind_another_stage_is_refused() -> None:
    row = [stage("WhitespaceSplit"), metaspace("first")]
    assert 'Metaspace "first" behind' in str(own_facts(made(word_level(), [], row)).unprovable)


def test_tokens_searched_where_every_space_is_changed_are_refused() -> None:
    tokenizer = made(falling(), [MARKS])
    tokenizer.add_tokens([AddedToken("<s>", normalized=True)])
    assert "where added token '<s>' is searched" in str(own_facts(tokenizer).unprovable)


# ------------------------------------------------------------------------- the five behaviors


@pytest.mark.parametrize("behavior", BEHAVIORS)
@pytest.mark.parametrize("invert", [False, True])
@pytest.mark.parametrize("pattern", ["a", "a+"])
def test_a_split_on_a_class_cuts_cleanly_or_not_at_all(
    behavior: str, invert: bool, pattern: str
) -> None:
    """Everywhere in every text; and whether it cuts, planner and checker tell apart."""
    own = tokenizer_of(config(word_level(), [], [split(pattern, behavior, invert, "Regex")]))
    name, stage = behavior, own.pre_tokenizer
    for size in range(2, 7):
        for text in map("".join, product("ab", repeat=size)):
            whole = [piece for piece, _ in stage.pre_tokenize_str(text)]
            for p in range(1, size):
                left, right = (
                    [piece for piece, _ in stage.pre_tokenize_str(half)]
                    for half in halves_of(text, p)
                )
                joined = [*left[:-1], "".join((*left[-1:], *right[:1])), *right[1:]]
                before, after = text[p - 1] == "a", text[p] == "a"
                cut = _edge(name, invert, before, after, run=pattern == "a+")
                assert whole == (left + right if cut else joined), (text, p)
                assert _parts(name, invert, [before], after, joins_matches=pattern == "a+") == cut


# --------------------------------------------------------------------------- planted mistakes


def findings(
    tokenizer: Tokenizer, text: str, p: int, left: str = "any", right: str = "space"
) -> list[str]:
    seam = Seam(p, "STAGE", "50", (("left", left), ("right", right)))
    return [each.kind for each in seam_findings([seam], text, own_facts(tokenizer))]


def test_a_right_seam_passes() -> None:
    assert not findings(T5, "ab ab", 2, left="sure")
    assert not findings(SHAPES["gemma"], "ab ab", 2, left="unjoined")
    assert not findings(SHAPES["bert without normalizer"], "ab ab", 2)


@pytest.mark.parametrize(("text", "p"), [("cb cc", 2), ("bc cc", 2), ("cc bc", 2)])
def test_a_letter_that_the_table_changes_is_not_sure(text: str, p: int) -> None:
    table = precompiled(charsmap({"b": " ", "\u3000": " "}))
    tokenizer = made(unigram(), [table], [stage("WhitespaceSplit"), metaspace()])
    assert findings(tokenizer, text, p, left="sure") == ["context"]
    assert findings(tokenizer, text.replace("b", "a"), p, left="sure") == []


@pytest.mark.parametrize(
    ("name", "text", "p", "left", "kind"),
    [
        ("t5", "ab ab", 1, "sure", "context"),
        ("t5", "ab ab", 2, "any", "normalizer"),
        ("t5", "ab ab", 2, "non-space", "normalizer"),
        ("t5", "ab ab", 2, "unjoined", "normalizer"),
        ("t5", "a\u0600 ab", 2, "sure", "context"),
        ("t5", "\u0600a ab", 2, "sure", "context"),
        ("t5", "aa \u0301ab", 2, "sure", "context"),
        ("t5", "ﬁﬁ ab", 2, "sure", "context"),
        ("gemma", "a> b", 2, "unjoined", "context"),
        ("gemma", "a▁ b", 2, "unjoined", "context"),
        ("gemma", "a  b", 2, "unjoined", "context"),
        ("gemma", "a b", 1, "any", "pre-tokenizer"),
        ("falcon", "a  b", 2, "non-space", "context"),
        ("falcon", "a b", 1, "any", "pre-tokenizer"),
        ("falcon", "a b", 1, "every", "witness"),
        ("albert", "é a", 1, "sure", "context"),
        ("albert", "` a", 1, "sure", "context"),
    ],
)
def test_a_planted_seam_is_refused(name: str, text: str, p: int, left: str, kind: str) -> None:
    assert findings(SHAPES[name], text, p, left=left) == [kind]


@pytest.mark.parametrize(
    ("name", "text", "p", "kind"),
    [
        ("gemma", "ab", 1, "context"),
        ("gemma", "b a", 2, "context"),
        ("gemma", "a.", 1, "context"),
        ("gemma", ".a", 1, "context"),
        ("llama, Metaspace", "ba", 1, "pre-tokenizer"),
        ("t5", "ba", 1, "normalizer"),
        ("falcon", "ba", 1, "pre-tokenizer"),
    ],
)
def test_a_planted_seam_between_any_two_characters_is_refused(
    name: str, text: str, p: int, kind: str
) -> None:
    assert not findings(SHAPES["gemma"], "ba", 1, "unjoined", "unjoined")
    assert findings(SHAPES[name], text, p, "unjoined", "unjoined") == [kind]


def test_a_seam_of_this_theorem_is_refused_for_other_schemes() -> None:
    tokenizer = made(falling(), [], [split(GPT2, kind="Regex")])
    assert not findings(tokenizer, "a b", 1, left="non-space")
    assert findings(made(unigram(), [], [metaspace()]), "a b", 1) == ["scheme"]
