"""Models behind pre-tokenizers that look at pairs of neighbours, by their file, in the compiled
call: WordLevel, WordPiece, and BPE over characters with all its settings."""

from __future__ import annotations

import json
import random
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import at_most, needs_below_one, needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.call_answers import wrong_texts
from tests.support.calls_drawn import draw_added, draw_text
from tests.support.word_models import UnknownTokenError, bpe_ids, level_ids
from tests.support.words_drawn import (
    ODD,
    PAIRS,
    draw_normalizer,
    draw_pairs,
    few_seeds,
)
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.compiled import call_tables, compiled_build, form_tables, pair_tables, word_tables
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.compiled.form_tables import forms_of
from tokpar.compiled.merges import GateError
from tokpar.compiled.pair_tables import GAP, OPEN, PASS, pair_tables_of

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
SEEDS = st.integers(0, 1 << 60)


def call_of(tokenizer: Tokenizer, checks: bool = False) -> CompiledCall | None:
    """The compiled call, without the comparison at load, which would hide a fault."""
    with pytest.MonkeyPatch.context() as patched:
        if not checks:
            patched.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
        adapter: Any = tokpar.load(tokenizer)
        call: CompiledCall | None = adapter.later_call and adapter.later_call.wait()
    return call


def native_call(tokenizer: Tokenizer) -> CompiledCall:
    call = call_of(tokenizer)
    assert call is not None
    assert not call.asks_engine
    return call


@pytest.mark.parametrize("kind", PAIRS)
@at_most(40)
@given(seed=SEEDS)
def test_drawn_pipelines_have_the_engine_s_ids(kind: str, seed: int) -> None:
    draw = random.Random(seed)
    tokenizer = PAIRS[kind](draw)
    contents = draw_added(draw, tokenizer) if draw.random() < 0.4 else []
    call = call_of(tokenizer)
    if call is None:
        return
    texts = [draw_text(draw, [*contents, *ODD]) for _ in range(20)]
    texts += ["".join(draw.choices([*"abc 12.-é\n", "ab", " "], k=300)) for _ in range(4)]
    assert wrong_texts(tokenizer, call, [*texts, texts[-1] + texts[-2]]) == []


@pytest.mark.parametrize("kind", ["levels", "merged"])
@at_most(40)
@given(seed=SEEDS)
def test_the_engine_has_the_ids_of_the_definitions(kind: str, seed: int) -> None:
    """What the tables are made for is what the engine does, and both are what the twin says."""
    draw = random.Random(seed)
    tokenizer = PAIRS[kind](draw)
    model: Any = parse_component(tokenizer.model)
    twin = level_ids if kind == "levels" else bpe_ids
    for _ in range(30):
        word = "".join(draw.choices([*"abcABC12.é中한ßx_", "ab", "\u0301"], k=draw.randrange(1, 9)))
        try:
            expected = twin(model, word)
        except UnknownTokenError:
            with pytest.raises(Exception, match=r"[Uu]n[Kk]|UNK"):
                tokenizer.model.tokenize(word)
            continue
        assert [token.id for token in tokenizer.model.tokenize(word)] == expected, word


@at_most(30)
@given(seed=SEEDS)
def test_pre_tokens_are_where_pairs_of_symbols_say(seed: int) -> None:
    """The twin of `encode_pretokens`, in Python, over the same tables."""
    draw = random.Random(seed)
    stage = draw_pairs(few_seeds(draw, 2))
    arrays = pair_tables_of(None, json.loads(stage.__getstate__())).arrays
    symbol_of, cuts = arrays["symbol_of"], arrays["cuts"].tolist()
    for _ in range(30):
        text = draw_text(draw, ODD)
        symbols = symbol_of[[*map(ord, text)]].tolist()
        if OPEN in symbols:
            continue
        edges = [k for k, (a, b) in enumerate(pairwise(symbols), 1) if cuts[a] >> b & 1]
        bounds = [0, *edges, len(text)]
        pieces = [text[i:j] for i, j in pairwise(bounds) if i < j and symbols[i] != GAP]
        assert pieces == [piece for piece, _ in stage.pre_tokenize_str(text)]


@at_most(30)
@given(seed=SEEDS)
def test_the_normalizer_makes_of_a_text_the_forms_of_its_characters(seed: int) -> None:
    draw = random.Random(seed)
    normalizer = draw_normalizer(few_seeds(draw))
    forms = forms_of(parse_component(normalizer))
    normalize = str if normalizer is None else normalizer.normalize_str
    sure = forms.codes[forms.is_sure]
    places = [k for k, code in enumerate(sure.tolist()) if chr(code) in forms.changed]
    for _ in range(60):
        some = [draw.choice(sure.tolist()) for _ in range(6)]
        some += [int(sure[draw.choice(places)]) for _ in range(6 if places else 0)]
        draw.shuffle(some)
        text = "".join(map(chr, some))
        assert normalize(text) == "".join(forms.changed.get(char, char) for char in text)


def level(*tokens: str, unknown: str = "<unk>") -> Tokenizer:
    vocab = {token: number for number, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token=unknown))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


def test_a_word_is_its_token_or_the_unknown_one() -> None:
    call = native_call(level("<unk>", "the", "cat"))
    assert call.encode("the dog the").tolist() == [1, 0, 1]  # type: ignore[union-attr]


def test_a_text_is_the_engine_s_if_its_unknown_token_is_none() -> None:
    tokenizer = level("the", "cat")
    call = native_call(tokenizer)
    assert call.encode("the cat").tolist() == [0, 1]  # type: ignore[union-attr]
    assert call.encode("the dog") is None
    with pytest.raises(Exception, match="UNK"):
        tokpar.encode("the dog", tokenizer)


def bpe(vocab: str, merges: str = "", **settings: Any) -> Tokenizer:
    """A BPE of a row of tokens and of merges such as "a+b", behind Whitespace."""
    pairs: list[Any] = [tuple(merge.split("+")) for merge in merges.split()]
    tokens = {token: number for number, token in enumerate(vocab.split())}
    tokenizer = Tokenizer(models.BPE(tokens, pairs, **settings))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    return tokenizer


UNKNOWN: dict[str, Any] = {"unk_token": "<unk>"}
SMALL: dict[str, tuple[Tokenizer, str, list[int]]] = {
    "a suffix on a word of one character": (
        bpe("a a</w> b b</w>", end_of_word_suffix="</w>"),
        "a ab",
        [1, 0, 3],
    ),
    "a prefix that the right part of a merge loses": (
        bpe("a ##b ab ##c abc", "a+##b ab+##c", continuing_subword_prefix="##"),
        "ab abc a",
        [2, 4, 0],
    ),
    "a prefix and a suffix": (
        bpe(
            "a ##b</w> ab</w>",
            "a+##b</w>",
            continuing_subword_prefix="##",
            end_of_word_suffix="</w>",
        ),
        "ab",
        [2],
    ),
    "unknown characters are fused": (bpe("<unk> a", fuse_unk=True, **UNKNOWN), "xya zz", [0, 1, 0]),
    "unknown characters are not fused": (bpe("<unk> a", **UNKNOWN), "xya", [0, 0, 1]),
    "unknown characters vanish": (bpe("a b ab", "a+b"), "axb", [2]),
    "an unknown token waits behind bytes": (
        bpe("<unk> a <0xC3> <0xA9>", byte_fallback=True, **UNKNOWN),
        "éxéa",
        [2, 3, 2, 3, 0, 1],
    ),
    "whole words": (bpe("a b c abc", ignore_merges=True), "abc ab", [3, 0, 1]),
}


@pytest.mark.parametrize("name", SMALL)
def test_a_setting_of_a_bpe_is_followed(name: str) -> None:
    tokenizer, text, expected = SMALL[name]
    found = native_call(tokenizer).encode(text)
    assert found is not None
    assert found.tolist() == expected == tokenizer.encode(text).ids


def staged(normalizer: Any, pre_tokenizer: Any = None) -> Tokenizer:
    """A BPE of characters without merges behind these stages."""
    vocab = {char: k for k, char in enumerate(["<unk>", *"abcde.,=≠1é中\u0301\u0316", "ab"])}
    tokenizer = Tokenizer(models.BPE(vocab, [("a", "b")], unk_token="<unk>"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.Whitespace()
    return tokenizer


def test_a_character_that_composes_is_the_engine_s_up_to_the_next_space() -> None:
    """U+0338 makes one character of "=", which is a pre-token by itself, and of it."""
    tokenizer = staged(normalizers.NFC())
    call = native_call(tokenizer)
    text = "ab ab ab cc=\u0338dd e"
    found = call._call.encode_plain(text)
    assert [part.decode() for _, part in found[1]] == [" cc=\u0338dd"]
    assert wrong_texts(tokenizer, call, [text, "=\u0338", "a" * 90 + " =\u0338 a"]) == []
    assert call.encode("=\u0338 a") is None  # most of it would be asked


def test_a_gap_that_composes_is_no_cut() -> None:
    """CharDelimiterSplit removes "a", but not "á"."""
    tokenizer = level("<unk>", "b", "bád", "ád", "cc")
    stages: list[Any] = [pre_tokenizers.CharDelimiterSplit("a"), pre_tokenizers.WhitespaceSplit()]
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(stages)
    tokenizer.normalizer = normalizers.NFC()
    text = f"{'cc ' * 30}ba\u0301d"
    call = native_call(Tokenizer.from_str(tokenizer.to_str()))
    found = call.encode(text)
    assert found is not None
    assert found.tolist() == [4] * 30 + [2] == tokenizer.encode(text).ids


def test_forms_that_depend_on_neighbours_are_not_sure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check, "e" and U+0301 would be two characters behind NFC."""
    tokenizer = staged(normalizers.NFC())
    honest = form_tables._sure
    monkeypatch.setattr(form_tables, "_sure", lambda *given: honest(*given) | True)
    for cache in (form_tables._forms_of, pair_tables._pair_tables):
        cache.cache_clear()
    call = native_call(tokenizer)
    for cache in (form_tables._forms_of, pair_tables._pair_tables):
        cache.cache_clear()
    assert wrong_texts(tokenizer, call, ["ae\u0301"]) != []


def test_marks_that_change_places_are_not_sure() -> None:
    """NFD puts U+0316 before U+0301; with StripAccents behind it nothing is left of both."""
    rows: list[Any] = [{"type": "NFD"}, {"type": "StripAccents"}]
    stages = {"type": "Whitespace"}
    symbol_of = pair_tables_of(rows[0], stages).arrays["symbol_of"]
    assert symbol_of[0x301] == symbol_of[0x316] == symbol_of[0xE9] == OPEN
    both = pair_tables_of({"type": "Sequence", "normalizers": rows}, stages).arrays["symbol_of"]
    assert both[0x301] == both[0x316] == PASS
    assert both[0xE9] == both[ord("e")]
    tokenizer = staged(normalizers.NFD())
    assert wrong_texts(tokenizer, native_call(tokenizer), [f"{'ab ' * 9}a\u0301\u0316"]) == []


def test_a_form_between_gaps_is_a_pre_token() -> None:
    """BertNormalizer puts spaces around Chinese characters, at which WhitespaceSplit splits."""
    tokenizer = staged(normalizers.BertNormalizer(), pre_tokenizers.WhitespaceSplit())
    found = native_call(tokenizer).encode("a中b中中ab")
    assert found is not None
    assert found.tolist() == tokenizer.encode("a中b中中ab").ids
    level_of = level("<unk>", "a", "中", "b", "ab")
    level_of.normalizer = normalizers.BertNormalizer()
    level_of.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    found = native_call(level_of).encode("a中b中中ab")
    assert found is not None
    assert found.tolist() == [1, 2, 3, 2, 2, 4]


def test_a_form_of_several_pre_tokens_is_the_engine_s() -> None:
    """NFKC makes three pre-tokens of U+2105, "c/o"."""
    tokenizer = staged(normalizers.NFKC())
    symbol_of = pair_tables_of({"type": "NFKC"}, {"type": "Whitespace"}).arrays["symbol_of"]
    assert symbol_of[0x2105] == OPEN
    assert wrong_texts(tokenizer, native_call(tokenizer), ["ab ab ab ab a\u2105b ab"]) == []


def test_a_character_of_which_nothing_is_left_is_no_cut() -> None:
    tokenizer = staged(normalizers.StripAccents(), pre_tokenizers.Punctuation("contiguous"))
    tables = pair_tables_of(
        {"type": "StripAccents"}, {"type": "Punctuation", "behavior": "Isolated"}
    )
    assert tables.arrays["symbol_of"][0x301] == PASS
    assert tables.is_local
    call = native_call(staged(normalizers.StripAccents()))
    assert wrong_texts(staged(normalizers.StripAccents()), call, ["a\u0301b .\u0301. \u0301"]) == []
    assert tokenizer.encode(".\u0301.").ids == [6, 6]


def test_long_texts_and_runs_have_the_engine_s_ids() -> None:
    tokenizer = staged(None)
    call = native_call(tokenizer)
    texts = [ENGLISH, "ab" * 3000, " " * 9000, "\n" * 3000, "中a." * 2000, "ab, cd. " * 400]
    assert wrong_texts(tokenizer, call, [text for text in texts for _ in "12"]) == []


REFUSED: dict[str, tuple[Tokenizer, str]] = {
    "dropout": (bpe("a b", "", dropout=0.5), "dropout"),
    "the unknown token in a merge": (bpe("<unk> a <unk>a", "<unk>+a", **UNKNOWN), "unknown token"),
    "a suffix beside bytes": (bpe("a", byte_fallback=True, end_of_word_suffix="</w>"), "beside"),
    "a shared id": (Tokenizer(models.BPE({"a": 0, "b": 0}, [])), "one id"),
    "a long token": (level("<unk>", "q" * 500), "a token of 400 bytes"),
    "a normalizer of several characters": (staged(normalizers.Replace("aa", "b")), "several"),
    "a pattern": (staged(None, pre_tokenizers.Split("ab", "isolated")), "between pairs"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_condition_is_checked(name: str) -> None:
    tokenizer, why = REFUSED[name]
    tokenizer.pre_tokenizer = tokenizer.pre_tokenizer or pre_tokenizers.Whitespace()
    parts = [parse_component(part) for part in (tokenizer.normalizer, tokenizer.pre_tokenizer)]
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    state = tokenizer.model.__getstate__()
    model: Any = json.loads(state)
    make: Any = partial(word_tables.level_arrays, model)
    if model["type"] == "BPE":
        make = partial(word_tables.bpe_arrays, state, parts_of(state), size)
    with pytest.raises(GateError, match=why):
        make(*parts)


def parts_of(state: bytes) -> Any:
    from tokpar.compiled import merges
    from tokpar.process import kernel_modules

    return merges.parts_of(state, kernel_modules.VOCABULARY)


def test_an_added_token_behind_the_normalizer_leaves_no_compiled_call() -> None:
    tokenizer = staged(normalizers.Lowercase())
    tokenizer.add_tokens([AddedToken("AB", normalized=True)])
    assert call_of(tokenizer) is None
    assert tokpar.encode("cabc AB", tokenizer).ids.tolist() == tokenizer.encode("cabc AB").ids


def test_words_are_compared_with_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_tables, "SAMPLED", 1)
    for draw_one in PAIRS.values():
        draw = random.Random(3)
        tokenizer = draw_one(draw)
        call = call_of(tokenizer, checks=True)
        if call is not None:
            assert wrong_texts(tokenizer, call, [draw_text(draw, ODD) for _ in range(9)]) == []
            assert call.why_stopped == ""


def test_arrays_that_do_not_fit_are_refused() -> None:
    from tokpar.process import kernel_modules

    state = bpe("a b ab", "a+b", continuing_subword_prefix="b").model.__getstate__()
    arrays = word_tables.bpe_arrays(state, parts_of(state), 3, None, {"type": "Whitespace"})
    make: Any = kernel_modules.CALL
    call_tables.call_of(arrays, {}, ((), ()))
    symbols, model = arrays["symbol_of"].copy(), arrays["model"].copy()
    symbols[65], model[5] = OPEN, 65
    bad: list[Any] = [{"symbol_of": symbols}, {"model": model}, {"cuts": arrays["cuts"][:9]}]
    bad += [{"affixes": np.zeros(0, np.uint8)}, {"settings": np.array([4, 1, 9, 0, 0, 0, 0])}]
    for each in bad:
        with pytest.raises(ValueError, match=r"fit|items"):
            call_tables.call_of(arrays | each, {}, ((), ()))
    assert make is not None
