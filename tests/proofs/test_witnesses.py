"""The counterexamples of the tables "Each hypothesis is needed" (proofs/) that no other test holds.

Each is about what goes wrong without one hypothesis: a property of the theorem is false there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest
import regex
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers, processors
from tokpar_conformance.worlds.charsmaps import charsmap

from tests.support.added_around import a_safe, bytes_only, with_tokens
from tests.support.merge_tables import Table, edges, encode, greedy, run
from tests.support.pattern_pieces import engine_pieces
from tests.support.patterns_drawn import clean, pieces
from tests.support.seams import part, serial, wrong_in_fact
from tests.support.small_models import bert, byte_level
from tests.support.tokenizers_drawn import Added
from tokpar.patterns.splits import SplitStage, decide_pairs


def of_keys(keys: Mapping[str, str]) -> Any:
    """Precompiled with these keys."""
    return normalizers.Precompiled(charsmap(keys))


# --------------------------------------------------------------------- merging: 3, 4, 7


def test_lemma_3_needs_the_leftmost_among_equals() -> None:
    """If the rightmost came first in texts of even length."""

    def merged(text: str) -> list[str]:
        at = text.rfind("aa") if len(text) % 2 == 0 else text.find("aa")
        return [*text[:at], "aa", *text[at + 2 :]]

    assert merged("baaa") == ["b", "a", "aa"]
    assert merged("aaa") == ["aa", "a"]


def test_lemma_3_needs_that_neither_boundary_is_deleted() -> None:
    table = Table((("a", "b"), ("ab", "c")))
    assert run(table, "abc")[1] == [1, 2]
    assert run(table, "bc")[1] == []


def test_lemma_4_needs_merging_longest_match_marks_the_right_part() -> None:
    vocabulary = frozenset({"a", "##b", "b", "##a"})
    whole = greedy(vocabulary, "ab")
    assert whole == [(0, 1, "a"), (1, 2, "##b")]
    assert greedy(vocabulary, "b") == [(0, 1, "b")]


def test_corollary_7_needs_the_pair_at_the_seam() -> None:
    table = Table((("a", "b"),))
    assert (encode(table, "a"), encode(table, "b")) == (("a",), ("b",))
    assert encode(table, "ab") == ("ab",)


def test_the_check_of_a_seam_needs_encodings_on_both_sides() -> None:
    """[a, a | b]: the pair at the seam is right, the row is not."""
    table = Table((("a", "a"),))
    assert encode(table, "ab") == ("a", "b")
    assert encode(table, "aab") != ("a", "a", "b")


def shortcut(text: str) -> tuple[str, ...]:
    """No merge, and a token "abc" for whole pieces only."""
    return (text,) if text == "abc" else tuple(text)


def test_the_check_of_a_seam_needs_a_long_stretch_with_a_shortcut() -> None:
    assert shortcut("abca") == shortcut("abc"[:2]) + shortcut("ca")
    assert shortcut("abc") != ("a", "b", "c")


def by_shared_ids() -> Tokenizer:
    """Merges (a, b), (ab, c); "xy" has the id of "ab", so (xy, c) merges as well."""
    vocabulary = {"a": 0, "b": 1, "c": 2, "x": 3, "y": 4, "ab": 5, "xy": 5, "abc": 6}
    return Tokenizer(models.BPE(vocabulary, [("a", "b"), ("x", "y"), ("ab", "c")]))


def test_lemma_3_needs_one_string_for_each_id() -> None:
    """Merging by strings leaves "xyc" as xy, c; and what stands for "xyc" is the id of "abc"."""
    table = Table((("a", "b"), ("x", "y"), ("ab", "c")))
    assert run(table, "xyc")[0] == ("xy", "c")
    assert serial(by_shared_ids(), "xyc") == [6]


def test_lemma_24_needs_one_string_for_each_id() -> None:
    """No token has "c" behind a "y"."""
    assert wrong_in_fact(by_shared_ids(), "xyc", 2)


def test_lemma_24_needs_that_unknowns_are_not_joined() -> None:
    """No token of the vocabulary is in "xy", and yet it is one token."""
    vocabulary = {"<unk>": 0, "a": 1}
    tokenizer = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", fuse_unk=True))
    assert serial(tokenizer, "xy") == [0]
    assert wrong_in_fact(tokenizer, "xy", 1)


def test_lemma_24_needs_merging_words_are_unknown_as_a_whole() -> None:
    """BERT's "xa": no token occurs across 1, and the whole word is unknown."""
    vocabulary = {"[UNK]": 0, "a": 1, "##a": 2}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    assert serial(tokenizer, "xa") == [0]
    assert wrong_in_fact(tokenizer, "xa", 1)


def unigram(scores: dict[str, float]) -> Tokenizer:
    return Tokenizer(models.Unigram([("<unk>", -99.0), *scores.items()], unk_id=0))


def test_lemma_24_needs_merging_a_running_sum_is_rounded() -> None:
    """No token has b before a. The tie of a + aa with aa + a falls otherwise behind a b."""
    tokenizer = unigram({"a": -1.1, "aa": -1.7, "b": -3.3, "c": -0.7})
    assert tokenizer.encode("baaa").tokens == ["b", "aa", "a"]
    assert tokenizer.encode("aaa").tokens == ["a", "aa"]


def test_agreement_licenses_no_merge_of_unigram() -> None:
    """Parity: 21 common boundaries, all even; those of the whole are odd."""
    tokenizer = unigram({"a": -10, "aa": -1, "b": -1, "ba": -4, "ab": -4.5})
    text = "b" + "a" * 120 + "b"

    def places(start: int, stop: int) -> set[int]:
        return edges(tokenizer.encode(text[start:stop]).tokens, start)

    common = {p for p in places(0, 80) & places(40, len(text)) if 40 <= p <= 80}
    assert len(common) == 21
    assert common.isdisjoint(places(0, len(text)))


# ------------------------------------------------------------------------ patterns: 14 to 23


@pytest.mark.parametrize(
    ("pattern", "text", "p"),
    [
        pytest.param(r"(?<!a)bc|.", "abc", 1, id="look-behind"),
        pytest.param(r"ab(?=c)|a|b|c", "abc", 2, id="boundary of the text"),
        pytest.param(r" ?\p{L}+|\s+", "ab", 1, id="one class after the other"),
        pytest.param(r"\s+(?!\S)|\s+|\S", "a  b", 3, id="assertion"),
        pytest.param(r"\w+", "a.!b", 2, id="gap"),
        pytest.param(r"ab(?=1111)|a|b|\p{N}{1,3}", "ab1111", 5, id="far look-ahead"),
    ],
)
def test_a_cut_that_is_not_clean(pattern: str, text: str, p: int) -> None:
    assert not clean(regex.compile(pattern), text, p)


def test_theorem_14_needs_more_than_a_boundary_of_the_text() -> None:
    search = regex.compile(r"ab(?=c)|a|b|c")
    assert 2 in pieces(search, "abc")
    assert pieces(search, "ab") == {0, 1, 2}


def test_theorem_15_needs_patterns_that_look_to_the_right() -> None:
    search = regex.compile(r"(?<!a)bc|.")
    assert 1 in pieces(search, "abc")
    assert pieces(search, "abc") == {0, 1, 2, 3}
    assert pieces(search, "bc", 1) == {1, 3}


@pytest.mark.parametrize(
    ("family", "text", "p"),
    [
        pytest.param("gpt2", "ab", 1, id="gpt2 letters"),
        pytest.param("gpt2", "a  b", 3, id="gpt2 spaces"),
        pytest.param("llama3", "a  b", 3, id="cl100k spaces"),
        pytest.param("llama3", "end.\n\nNext", 4, id="cl100k newline"),
        pytest.param("llama3", "google.com", 7, id="cl100k letter"),
        pytest.param("llama3", ".\x1cb", 1, id="cl100k U+001C"),
        pytest.param("gpt2", " \nx", 2, id="gpt2 newline"),
        pytest.param("gpt2", "a\n\nb", 3, id="gpt2 paragraph"),
        pytest.param("llama3", "a\n \nb", 2, id="cl100k space behind a newline"),
        pytest.param("o200k", ".\n/", 2, id="o200k slash"),
        pytest.param("tekken", ".\n/", 2, id="tekken slash"),
        pytest.param("deepseek", "\U000161391111", 4, id="deepseek U+16139"),
        pytest.param("llama3", "1234", 2, id="cl100k digits"),
        pytest.param("deepseek", "ab", 1, id="deepseek letters"),
    ],
)
def test_a_cut_that_is_not_clean_to_the_engine(family: str, text: str, p: int) -> None:
    """Pre-tokens by Oniguruma; llama3 is the family cl100k."""
    parts = engine_pieces(family, text[:p]) | {p + q for q in engine_pieces(family, text[p:])}
    assert parts != engine_pieces(family, text)


def pieces_of_sequence(patterns: Sequence[str], text: str) -> list[str]:
    splits = [pre_tokenizers.Split(Regex(pattern), "isolated") for pattern in patterns]
    return [piece for piece, _ in pre_tokenizers.Sequence(splits).pre_tokenize_str(text)]


def test_lemma_23_needs_a_clean_split_of_the_piece() -> None:
    """The later stage parts "123" at 2, but stage 1 begins its threes anew in "34"."""
    stages, text = (r"\p{N}{1,3}", r"12|34|[\s\S]"), "1234"
    first, then = map(regex.compile, stages)
    assert clean(then, "123", 2)
    assert pieces(first, text) | {2} != pieces(first, "12") | pieces(first, "34", 2)
    assert pieces_of_sequence(stages, text) == ["12", "3", "4"]
    assert pieces_of_sequence(stages, "12") + pieces_of_sequence(stages, "34") == ["12", "34"]


def test_lemma_23_needs_a_clean_split_by_every_stage() -> None:
    """Between "A" and "A" the first stage splits a run and the last always parts them, but the
    second stage, which counts from the start of the text, joins "Aa" behind the cut."""
    stages, text = (r"\p{L}+", r"\p{L}{1,2}", r"\p{L}\p{Ll}|[\s\S]"), "AAa"
    assert clean(regex.compile(stages[2]), text, 1)
    assert pieces_of_sequence(stages, text) == ["A", "A", "a"]
    assert pieces_of_sequence(stages, "A") + pieces_of_sequence(stages, "Aa") == ["A", "Aa"]
    decided = decide_pairs([SplitStage(stage, "regex") for stage in stages])
    assert not decided.certifies("A", "A")


def test_lemma_23_needs_the_segment_of_the_added_tokens() -> None:
    """ "a", two spaces and DeepSeek's end token: the segment ends behind the spaces."""
    assert wrong_in_fact(part("deepseek_part"), "a  <｜end▁of▁sentence｜>", 2)


# ------------------------------------------------------------------- text: 4.8, 6.1 to 6.5


@pytest.mark.parametrize("text", ["foo\u2e43bar", "foo\u061dbar", "foo\x0bbar"])
def test_theorem_4_8_needs_a_separator_of_the_engine(text: str) -> None:
    assert wrong_in_fact(bert(), text, 3)
    assert wrong_in_fact(bert(), text, 4)


def metaspace(split: bool = True) -> Any:
    return pre_tokenizers.Metaspace(prepend_scheme="always", split=split)


def texts_of(pre_tokenizer: Any, *parts: str) -> list[str]:
    return [piece for text in parts for piece, _ in pre_tokenizer.pre_tokenize_str(text)]


def test_theorem_4_8_needs_a_space_or_mark_behind_the_cut() -> None:
    assert texts_of(metaspace(), "foo bar") == ["▁foo", "▁bar"]
    assert texts_of(metaspace(), "foo b", "ar") == ["▁foo", "▁b", "▁ar"]


def test_theorem_4_8_needs_metaspace_that_splits() -> None:
    assert texts_of(metaspace(split=False), "foo bar") == ["▁foo▁bar"]


@pytest.mark.parametrize(
    ("token", "text", "p"),
    [
        pytest.param(Added("aa"), "aaa", 1, id="(a)"),
        pytest.param(Added("ab", single_word=True), "abc", 2, id="(b)"),
        pytest.param(Added("<s>", rstrip=True), "<s>  x", 4, id="(c)"),
        pytest.param(Added("<s>", lstrip=True), "x  <s>", 2, id="(d)"),
    ],
)
def test_theorem_6_1_needs_each_condition(token: Added, text: str, p: int) -> None:
    assert not a_safe((token,), text, p)
    assert wrong_in_fact(with_tokens(bytes_only(), (token,)), text, p)


@pytest.mark.parametrize(
    ("stages", "text", "p"),
    [
        pytest.param([normalizers.NFC()], "e\u0301", 1, id="class 0"),
        pytest.param([normalizers.NFC()], "가\u11a8", 1, id="Hangul"),
        pytest.param([normalizers.NFC()], "\u09c7\u09be", 1, id="second of a pair"),
        pytest.param([normalizers.Replace("aa", "b")], "aaa", 1, id="occurrence"),
        pytest.param(
            [normalizers.Lowercase(), normalizers.Replace("ab", "c")], "AB", 1, id="stages before"
        ),
        pytest.param([normalizers.Strip()], "a b", 1, id="Strip"),
        pytest.param([normalizers.Prepend("▁")], "ab", 1, id="Prepend"),
        pytest.param([normalizers.Replace(Regex(" {2,}"), " ")], "a  b", 2, id="regex"),
        pytest.param([of_keys({"e\u0301": "é"})], "e\u0301", 1, id="cluster"),
        pytest.param(
            [of_keys({"\u0937\u0301": "x"})], "\u0915\u094d\u0937\u0301", 2, id="whole cluster"
        ),
    ],
)
def test_theorem_6_2_needs_each_condition(stages: list[Any], text: str, p: int) -> None:
    normalized = normalizers.Sequence(stages).normalize_str
    assert normalized(text) != normalized(text[:p]) + normalized(text[p:])


@pytest.mark.parametrize(
    ("keys", "text", "p"),
    [
        pytest.param({"\u0600": "b"}, "\u0600.b", 2, id="left"),
        pytest.param({" \u0301": "."}, "a \u0301", 1, id="right"),
    ],
)
def test_behind_precompiled_both_characters_must_show(
    keys: Mapping[str, str], text: str, p: int
) -> None:
    """A key takes the character beside the cut, so the pre-tokenizer does not see it."""
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0, "a": 1, ".": 2, "b": 3}, unk_token="[UNK]"))
    tokenizer.normalizer = of_keys(keys)
    splits = {".": pre_tokenizers.BertPreTokenizer, " ": pre_tokenizers.WhitespaceSplit}
    tokenizer.pre_tokenizer = splits["." if "." in text else " "]()
    normalized = tokenizer.normalizer.normalize_str
    assert normalized(text) == normalized(text[:p]) + normalized(text[p:])
    assert wrong_in_fact(tokenizer, text, p)


@pytest.mark.parametrize(
    ("token", "text", "p"),
    [
        pytest.param(Added("ab"), "ab", 1, id="held by a token"),
        pytest.param(Added("ab"), "\uff41b", 1, id="of the alphabet"),
        pytest.param(Added("bb", single_word=True), "xbb", 1, id="no flag: single_word"),
        pytest.param(Added("b", lstrip=True), "a b", 2, id="no flag: lstrip"),
        pytest.param(Added("a", rstrip=True), "a  b", 2, id="no flag: rstrip"),
    ],
)
def test_corollary_of_theorem_6_2_needs_each_condition(token: Added, text: str, p: int) -> None:
    """Of a token that is searched in the normalized text, here NFKC's."""
    plain = Tokenizer.from_str(bytes_only())
    plain.normalizer = normalizers.NFKC()
    assert wrong_in_fact(with_tokens(plain.to_str(), (token._replace(normalized=True),)), text, p)


def test_theorem_6_2_needs_the_character_left_of_a_space_to_stay() -> None:
    """In the text the space at 3 follows a mark; in the normal form it follows a space."""
    tokenizer = byte_level([("Ġ", "Ġ")])
    tokenizer.normalizer = normalizers.StripAccents()
    assert wrong_in_fact(tokenizer, "a \u0301  b", 3)


def test_theorem_6_3_needs_a_space_behind_the_cut() -> None:
    without, prefixed = (pre_tokenizers.ByteLevel(add_prefix_space=f) for f in (False, True))
    assert texts_of(without, "a", "(b) c") == texts_of(without, "a(b) c")
    assert texts_of(prefixed, "a", "(b) c") != texts_of(prefixed, "a(b) c")


def llama_like(merges: list[tuple[str, str]], **model: Any) -> Tokenizer:
    """Llama-style, over the marks and letters of the merges."""
    atoms = sorted({"▁", *"ab", *(atom for pair in merges for atom in "".join(pair))})
    suffix = model.get("end_of_word_suffix", "")
    tokens = ["<unk>", *atoms, *(atom + suffix for atom in atoms if suffix), *map("".join, merges)]
    vocabulary = {token: i for i, token in enumerate(dict.fromkeys(tokens))}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges, unk_token="<unk>", **model))
    tokenizer.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    return tokenizer


def absorbed_wrongly(tokenizer: Tokenizer, text: str, p: int, kept: bool = False) -> bool:
    right = text[p:] if kept else text[p + 1 :]
    return serial(tokenizer, text[:p]) + serial(tokenizer, right) != serial(tokenizer, text)


@pytest.mark.parametrize(
    ("merges", "model", "text", "kept"),
    [
        pytest.param([], {}, "a b", True, id="the space kept"),
        pytest.param([("▁", "▁")], {}, "a  b", False, id="a space before"),
        pytest.param([], {}, "a ", False, id="nothing behind"),
        pytest.param([("a", "▁")], {}, "a b", False, id="a token across"),
        pytest.param([], {"end_of_word_suffix": "</w>"}, "a b", False, id="a mark of words"),
    ],
)
def test_theorem_6_4_needs_each_condition(
    merges: list[tuple[str, str]], model: dict[str, Any], text: str, kept: bool
) -> None:
    p = text.rfind(" ")
    assert absorbed_wrongly(llama_like(merges, **model), text, p, kept)
    assert not absorbed_wrongly(llama_like([("▁", "▁")]), "a b", 1)


@pytest.mark.parametrize(("added", "text", "p"), [("<s>", "a <s>", 1), (" b", "a b", 1)])
def test_theorem_6_4_needs_one_segment(added: str, text: str, p: int) -> None:
    tokenizer = with_tokens(llama_like([]).to_str(), (Added(added),))
    assert absorbed_wrongly(tokenizer, text, p)


def finished(tokenizer: Tokenizer, *texts: str) -> list[int]:
    """Each text with special tokens, truncation and padding, one after the other."""
    return [id_ for text in texts for id_ in tokenizer.encode(text).ids]


def test_theorem_6_5_needs_special_tokens_once() -> None:
    tokenizer = Tokenizer.from_str(bytes_only())
    tokenizer.add_special_tokens(["<s>"])
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A", special_tokens=[("<s>", tokenizer.token_to_id("<s>"))]
    )
    assert finished(tokenizer, "a", "b") != finished(tokenizer, "ab")


def test_theorem_6_5_needs_truncation_once() -> None:
    tokenizer = Tokenizer.from_str(bytes_only())
    tokenizer.enable_truncation(2)
    assert finished(tokenizer, "ab", "cd") != finished(tokenizer, "abcd")


def test_theorem_6_5_needs_padding_once() -> None:
    tokenizer = Tokenizer.from_str(bytes_only())
    tokenizer.enable_padding(length=3)
    assert finished(tokenizer, "a", "b") != finished(tokenizer, "ab")


def test_theorem_6_5_needs_a_template_with_the_text_once() -> None:
    tokenizer = Tokenizer.from_str(bytes_only())
    tokenizer.post_processor = processors.TemplateProcessing(single="$A $A")
    assert finished(tokenizer, "a", "b") != finished(tokenizer, "ab")


# ------------------------------------------------------------------------------- streams


def test_a_match_at_the_end_may_be_shorter_before_a_character() -> None:
    assert engine_pieces("llama3", "  ") == {0, 2}
    assert engine_pieces("llama3", "  a") == {0, 1, 3}


def test_a_match_may_grow_by_what_completes_later() -> None:
    assert 2 in engine_pieces("o200k", "AB")
    assert engine_pieces("o200k", "ABc") == {0, 3}


# ------------------------------------------------------------------------- incremental BPE


@pytest.mark.parametrize(
    ("merges", "text", "tokens"),
    [
        pytest.param("b-c a-b ab-c", "abc", "a bc", id="canonical"),
        pytest.param("b-ab a-b", "abab", "ab ab", id="levels"),
        pytest.param("b-ab ab-a a-b", "baba", "bab a", id="level of the next"),
        pytest.param("a-a", "aaa", "aa a", id="strictly"),
        pytest.param("aa-a a-a", "aaaa", "aaa a", id="rivals"),
        pytest.param("a-a aa-a", "aaaa", "aa aa", id="rivals in proper order"),
    ],
)
def test_tokens_of_the_tables_beside_incremental_bpe(merges: str, text: str, tokens: str) -> None:
    table = Table(
        tuple((left, right) for left, _, right in (m.partition("-") for m in merges.split()))
    )
    assert encode(table, text) == tuple(tokens.split())


def test_what_may_begin_a_token_is_final_where_no_token_before_lets_it_follow() -> None:
    table = Table((("a", "b"), ("b", "b")))
    for more in map("".join, product("ab", repeat=4)):
        assert encode(table, "ab" + more)[0] == "ab"
