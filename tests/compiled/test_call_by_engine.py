"""Words by the engine: tokenizers whose model only the engine knows have the compiled call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, Regex, Tokenizer, models, normalizers, pre_tokenizers, trainers

import tokpar
from tests.conftest import at_most, needs_below_one, needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.call_answers import own_ids, wrong_texts
from tests.support.calls_drawn import ATOMS
from tests.support.paths import VOCAB
from tests.support.stage_configs import CLIP
from tokpar.adapters import hf_call
from tokpar.cli.summary import describe_compiled_call
from tokpar.compiled import compiled_build, segment_engine, segment_tables
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.compiled.segment_engine import SegmentEngine, space_cut_of
from tokpar.errors import ChangedError
from tokpar.facts.space_stages import SpaceCut

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
SEEDS = st.integers(0, 1 << 60)


@pytest.fixture(scope="module", autouse=True)
def no_tables_of_files() -> Iterator[None]:
    """The call reads no model: most of these tokenizers have tables of their file, too."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(hf_call, "MODELS", ())
        yield


LINES = [ENGLISH[:4000], "aé e\u0301 İ ﬁ ﷺ ８ ①", " \t x \u3000 y", "中文 한국어"]


def bpe(draw: random.Random) -> Tokenizer:
    marks: dict[str, Any] = draw.choice(
        [{}, {}, {"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}]
    )
    own: dict[str, Any] = {"unk_token": "<unk>", "fuse_unk": draw.random() < 0.5}
    tokenizer = Tokenizer(models.BPE(**marks, **(own if draw.random() < 0.7 else {})))
    special = ["<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=300, special_tokens=special, show_progress=False, **marks
    )
    return trained(draw, tokenizer, trainer)


def word_level(draw: random.Random) -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel(unk_token="<unk>"))
    trainer = trainers.WordLevelTrainer(
        vocab_size=200, special_tokens=["<unk>"], show_progress=False
    )
    return trained(draw, tokenizer, trainer)


def word_piece(draw: random.Random) -> Tokenizer:
    limit = draw.choice([100, 5])
    tokenizer = Tokenizer(models.WordPiece(unk_token="<unk>", max_input_chars_per_word=limit))
    special = ["<unk>"]
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=special, show_progress=False)
    return trained(draw, tokenizer, trainer)


def unigram(draw: random.Random) -> Tokenizer:
    """A Unigram of given pieces: to train one takes long."""
    words = [*"abcdefghijklmnoprstuvwxy.,é", "▁", "▁the", "▁a", "ing", "▁of", "er", "and", "▁to"]
    pieces = [("<unk>", 0.0), *((word, -draw.random() * 9) for word in words)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=0, byte_fallback=False))
    return staged(draw, tokenizer)


def trained(draw: random.Random, tokenizer: Tokenizer, trainer: Any) -> Tokenizer:
    staged(draw, tokenizer)
    tokenizer.train_from_iterator(LINES, trainer)
    return Tokenizer.from_str(tokenizer.to_str())  # a trained object has no compiled call


def staged(draw: random.Random, tokenizer: Tokenizer) -> Tokenizer:
    if draw.random() < 0.1:  # no stage: tokens say what is joined
        return tokenizer
    normalizer, pre_tokenizer = _normalizer(draw), _pre_tokenizer(draw)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    return tokenizer


def _normalizer(draw: random.Random) -> Any:
    kinds: list[Callable[[], Any]] = [
        *(normalizers.NFC, normalizers.NFKC, normalizers.NFD, normalizers.Lowercase),
        *(normalizers.StripAccents, normalizers.BertNormalizer, normalizers.Nmt),
        lambda: normalizers.Strip(draw.random() < 0.3, True),
        lambda: normalizers.Replace(
            Regex(draw.choice([r"\s+", r"\d", " {2,}", r"\s"])), draw.choice([" ", "▁", "", "x"])
        ),
        lambda: normalizers.Replace(
            draw.choice(["``", "a", "e ", " ", "x"]), draw.choice(["", "▁", " ", "bb"])
        ),
    ]
    rows = [draw.choice(kinds)() for _ in range(draw.choice([0, 0, 1, 1, 2]))]
    return normalizers.Sequence(rows) if rows else None


def _pre_tokenizer(draw: random.Random) -> Any:
    scheme, kind = draw.choice(["always", "first", "never"]), draw.choice(["isolated", "removed"])
    kinds: list[Callable[[], Any]] = [
        *(pre_tokenizers.Whitespace, pre_tokenizers.WhitespaceSplit),
        *(pre_tokenizers.BertPreTokenizer, pre_tokenizers.Digits),
        lambda: pre_tokenizers.Metaspace(prepend_scheme=scheme, split=draw.random() < 0.8),
        lambda: pre_tokenizers.ByteLevel(add_prefix_space=draw.random() < 0.5),
        lambda: pre_tokenizers.Punctuation(kind),
        lambda: pre_tokenizers.Split(" ", draw.choice([kind, "merged_with_previous"])),
        lambda: pre_tokenizers.CharDelimiterSplit(" "),
        lambda: pre_tokenizers.Split(Regex(CLIP), "removed", invert=True),
        lambda: pre_tokenizers.Split(Regex("[\r\n]"), kind),
    ]
    rows = [draw.choice(kinds)() for _ in range(draw.choice([1, 1, 1, 2]))]
    return pre_tokenizers.Sequence(rows)


def draw_contents(draw: random.Random, tokenizer: Tokenizer) -> list[str]:
    """Adds up to three tokens with drawn flags. Returns their contents."""
    contents = ["<s>", "the", " x", "a b", "é", "<|im|>", "ing", ">", "AB", "\n\n", "  "]
    chosen = draw.sample(contents, draw.randrange(4))
    for content in chosen:
        flags = {name: draw.random() < 0.2 for name in ("single_word", "lstrip", "rstrip")}
        tokenizer.add_tokens([AddedToken(content, normalized=draw.random() < 0.3, **flags)])
    return chosen


def draw_text(draw: random.Random, contents: list[str]) -> str:
    if draw.random() < 0.4:
        start = draw.randrange(len(ENGLISH) - 400)
        return ENGLISH[start : start + draw.choice([5, 40, 300])]
    atoms = [*ATOMS, *contents, *(" " * 8), " the", " of", "ing", "  ", "▁", "\u0600", "x" * 30]
    return "".join(draw.choices(atoms, k=draw.choice([1, 3, 8, 20, 60])))


MODELS = {"bpe": bpe, "word level": word_level, "word piece": word_piece, "unigram": unigram}


def call_of(tokenizer: Tokenizer) -> CompiledCall | None:
    adapter: Any = tokpar.load(tokenizer)
    call: CompiledCall | None = adapter.later_call and adapter.later_call.wait()
    return call


@pytest.mark.parametrize("model", MODELS)
@at_most(40)
@given(seed=SEEDS)
def test_drawn_pipelines_have_the_engine_s_ids(model: str, seed: int) -> None:
    draw = random.Random(seed)
    tokenizer = MODELS[model](draw)
    contents = draw_contents(draw, tokenizer)
    with pytest.MonkeyPatch.context() as patched:  # the comparison at load would hide a fault
        patched.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
        call = call_of(tokenizer)
    if call is None:
        return
    texts = [draw_text(draw, contents) for _ in range(30)]
    assert wrong_texts(tokenizer, call, texts, special=True) == []


def small(normalizer: Any = None, pre_tokenizer: Any = None) -> Tokenizer:
    """A WordLevel of a few words."""
    vocab = {word: k for k, word in enumerate(["<unk>", *"abcdxy", "the", "cat", "\ufdfa", "bb"])}
    tokenizer = Tokenizer(models.WordLevel(vocab, unk_token="<unk>"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.Whitespace()
    return tokenizer


def characters(normalizer: Any = None, pre_tokenizer: Any = None) -> Tokenizer:
    """A BPE of characters without merges: each character of a word has its id."""
    vocab = {char: k for k, char in enumerate(["<unk>", *"abcdexyz▁", "the"])}
    tokenizer = Tokenizer(models.BPE(vocab, [], unk_token="<unk>", ignore_merges=True))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer or pre_tokenizers.Whitespace()
    return tokenizer


def test_new_segments_are_asked_once_and_then_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda *_: [])
    tokenizer = small()
    call = call_of(tokenizer)
    assert call is not None
    assert call.asks_engine
    asked: list[list[str]] = []
    rows = SegmentEngine.rows

    def noting(self: SegmentEngine, segments: list[str]) -> Any:
        asked.append(segments)
        return rows(self, segments)

    monkeypatch.setattr(SegmentEngine, "rows", noting)
    text = "qq xyz, zzz xyz, the cat, zzz"
    for _ in range(2):
        assert call.encode(text).tolist() == tokenizer.encode(text).ids  # type: ignore[union-attr]
    assert asked == [["qq", " xyz,", " zzz"]]


def test_a_text_that_is_mostly_new_is_encoded_whole_and_what_was_met_is_learned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda *_: [])
    tokenizer = small()
    call = call_of(tokenizer)
    assert call is not None
    asked: list[list[str]] = []
    rows = SegmentEngine.rows

    def noting(self: SegmentEngine, segments: list[str]) -> Any:
        asked.append(segments)
        return rows(self, segments)

    monkeypatch.setattr(SegmentEngine, "rows", noting)
    draw = random.Random(3)
    words = ["".join(draw.choices("qxzwkv", k=9)) for _ in range(30)]
    texts = [" ".join(words[:14]), " ".join([*words[14:], *words[1:4]])]
    for text in texts:
        assert call.encode(text).tolist() == tokenizer.encode(text).ids  # type: ignore[union-attr]
    assert asked == [[f" {word}" for word in words[1:4]]]
    for _ in range(2):  # most of it was met before: its segments are asked once
        assert call.encode(texts[1]).tolist() == tokenizer.encode(texts[1]).ids  # type: ignore[union-attr]
    assert [len(segments) for segments in asked] == [3, 16]


@pytest.mark.parametrize("words", [["the"], ["q" * 40], ["q" * 2000], ["中" * 700], ["x"] * 5000])
def test_texts_of_each_length_have_the_engine_s_ids(words: list[str]) -> None:
    tokenizer = characters()
    call = call_of(tokenizer)
    assert call is not None
    draw = random.Random(5)
    some = [word[: draw.randrange(1, len(word) + 1)] for word in words * 3]
    texts = [" ".join(some), "".join(some), " " * 20_000, "a" + " " * 9_000 + "b", "\n" * 3000]
    assert wrong_texts(tokenizer, call, texts, special=True) == []


def byte_level(normalizer: Any) -> Tokenizer:
    vocab = {letter: k for k, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    tokenizer = Tokenizer(models.BPE(vocab | {"bbcat": 300}, [], ignore_merges=True))
    tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def with_token(tokenizer: Tokenizer, content: str, **flags: bool) -> Tokenizer:
    tokenizer.add_tokens([AddedToken(content, **flags)])
    return tokenizer


REFUSED: dict[str, tuple[Tokenizer, str, str]] = {
    "a normalizer joins over a space": (
        *(byte_level(normalizers.Replace("e ", "bb")), "the cat"),
        "each space needs a check of its own",
    ),
    "a normalizer takes spaces": (
        *(small(normalizers.Replace(" ", "")), "the cat"),
        "may lie across a space",
    ),
    "no stage cuts at spaces": (
        *(characters(None, pre_tokenizers.Digits(individual_digits=False)), "a the"),
        "no stage is certain to cut at spaces",
    ),
    "an added token behind the normalizer": (
        *(with_token(small(normalizers.Lowercase()), "the", normalized=True), "THE cat"),
        "searched in the normalized text",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_cuts_that_nothing_certifies_are_refused(name: str) -> None:
    tokenizer, text, why = REFUSED[name]
    adapter: Any = tokpar.load(tokenizer)
    assert call_of(tokenizer) is None
    assert why in adapter.why_not_compiled
    for each in (text, f"{text} " * 500):
        assert tokpar.encode(each, tokenizer).ids.tolist() == tokenizer.encode(each).ids


def test_a_normalizer_that_joins_over_a_space_has_other_ids(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """That the scheme is "regex" licenses no cut: Replace makes "thbbcat" of "the cat"."""
    tokenizer, text, _ = REFUSED["a normalizer joins over a space"]
    monkeypatch.setattr(segment_engine, "space_cut_of", lambda *_: None)
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda *_: [])
    call = call_of(Tokenizer.from_str(tokenizer.to_str()))
    assert call is not None
    call.encode(text)  # most of it is new: the engine encodes it whole
    found = call.encode(text)
    assert found is not None
    assert found.tolist() != tokenizer.encode(text).ids


def test_a_first_prefix_is_not_put_behind_an_added_token() -> None:
    """Metaspace "first": a section behind "<s>" has no prefix, which it would have alone."""
    tokenizer = characters(None, pre_tokenizers.Metaspace(prepend_scheme="first"))
    with_token(tokenizer, "<s>")
    call = call_of(tokenizer)
    assert call is not None
    assert (
        wrong_texts(tokenizer, call, ["abc", "<s>abc", "<s> abc", "abc <s>abc a<s>"], special=True)
        == []
    )
    assert call.encode("<s>abc") is None
    assert call.encode("<s> abc") is not None


def joining() -> Tokenizer:
    """A BPE without pre-tokenizer, which joins "é" with a space behind it."""
    tokens = ["<unk>", *"aé▁", "é▁", "▁é", "a a"]  # no file with a space in a token is read
    vocab = {token: k for k, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab, [("é", "▁"), ("▁", "é")], unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    return tokenizer


def test_no_segment_ends_in_a_character_that_tokens_join_with_a_space() -> None:
    """Neither one that is listed, nor a word of the vocabulary that was taught."""
    tokenizer = joining()
    call = call_of(tokenizer)
    assert call is not None
    assert (
        wrong_texts(tokenizer, call, [" é a", "aé a", "aé", "a é a a", "a a a aé a"], special=True)
        == []
    )
    assert call.encode("aé a") is None
    assert call.encode("a a a") is not None


def llama(monkeypatch: pytest.MonkeyPatch) -> Tokenizer:
    """A tokenizer whose normalizer puts "▁" before each text, without tables of its file."""
    monkeypatch.setattr(hf_call, "MODELS", ())
    monkeypatch.setattr(hf_call, "_identity_of", lambda *_: None)
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda *_: [])
    return Tokenizer.from_file(str(VOCAB / "llama_style.json"))


ABSORBED = ["the cat", " the cat", "the  cat", "the cat ", "a <s> b", "the▁ cat", "the\n cat", " "]
ABSORBED += ["", "</s>the cat<s>a", "<s> the", "▁ the", "the▁ the", "a the  ▁cat", "the\u00a0 the"]


@at_most(10)
@given(seed=SEEDS)
def test_a_prefix_stands_for_the_space_at_a_cut(seed: int) -> None:
    draw = random.Random(seed)
    with pytest.MonkeyPatch.context() as patched:
        tokenizer = llama(patched)
        call = call_of(tokenizer)
    assert call is not None
    assert call.asks_engine
    drawn = [draw_text(draw, ["<s>", "</s>", "▁"]) for _ in range(40)]
    texts = [*ABSORBED, *drawn, *(text.strip() for text in drawn)]
    plain = Tokenizer.from_str(tokenizer.to_str())
    plain.post_processor = None  # type: ignore[assignment]
    for _ in "12":
        for text in texts:
            found = call.encode_plain(text)
            assert found is None or found.tolist() == own_ids(plain, text, special=True), text
    assert call.encode("the cat") is not None
    assert call.encode(" the cat") is call.encode("the cat ") is None


@pytest.mark.parametrize(
    ("mistake", "text"),
    [
        ("the first space", " the cat"),
        ("the last space", "the cat "),
        ("a mark before", "the▁ the"),
        ("the space kept", "the cat"),
    ],
)
def test_a_condition_of_absorbed_spaces_that_is_forgotten_is_seen(
    mistake: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = llama(monkeypatch)
    if mistake in ("the first space", "the last space"):
        monkeypatch.setattr(segment_tables, "FOR_SPACE", 0)
    elif mistake == "a mark before":
        monkeypatch.setattr(segment_engine, "MARK", "ñ")
    else:
        monkeypatch.setattr(SegmentEngine, "rows", SegmentEngine._few_rows)
    call = call_of(tokenizer)
    assert call is not None
    found = [call.encode(each) for each in ("the the cat", text)][-1]
    assert found is not None
    assert found.tolist() != tokenizer.encode(text).ids


def test_a_segment_of_a_row_that_is_the_engine_s_is_not_learned() -> None:
    """ "ab" is no token before "the", and one alone: what a row asks for alone would be learned."""
    tokenizer = with_token(with_token(characters(), "ab", single_word=True), "the")
    call = call_of(tokenizer)
    assert call is not None
    for batch in (["abthe", "zz yy"], ["xx yz", "abthe", "xx yz", "yx"]):
        rows, flags = call.rows(batch, 1)
        for k, text in enumerate(batch):
            assert flags[k] == (text != "abthe")
            assert not flags[k] or rows[k].tolist() == tokenizer.encode(text).ids
    assert call.encode("abthe") is None


def test_many_ids_of_few_bytes_have_room() -> None:
    """NFKC makes 18 characters of U+FDFA, which has three bytes."""
    tokenizer = characters(normalizers.NFKC())
    call = call_of(tokenizer)
    assert call is not None
    texts = ["\ufdfa", "\ufdfa" * 300, " ".join(["\ufdfa" * 50] * 90), "a \ufdfa" * 2000]
    assert wrong_texts(tokenizer, call, texts, special=True) == []
    assert wrong_texts(tokenizer, call, texts, special=True) == []
    assert call._call.encode(texts[2]).__class__ is bytes


def test_a_segment_is_met_if_it_can_be_learned() -> None:
    """Longer ones are never known: to ask for them again each time would cost twice."""
    call = call_of(characters())
    assert call is not None
    for text, flags in (("q" * 900, [0, 1]), ("q" * 1025, [0, 0])):
        assert [call._call.encode(text)[1][2][0] for _ in flags] == flags


class Panic(BaseException):
    """As the engine's PanicException, which is no Exception."""


def test_a_text_is_the_engine_s_if_it_fails_on_a_segment(monkeypatch: pytest.MonkeyPatch) -> None:
    call = call_of(small())
    assert call is not None
    assert call.encode("the") is not None

    def fail(self: SegmentEngine, segments: list[str]) -> Any:
        raise Panic

    monkeypatch.setattr(SegmentEngine, "_few_rows", fail)
    assert call.encode("the") is not None
    assert call.encode("the xyz") is call.encode_plain("xyz") is None
    rows, flags = call.rows(["the", "xyz", "the"], 1)
    assert flags.tolist() == [True, False, True]
    assert rows[2].tolist() == [7]


def test_words_on_which_the_engine_fails_are_not_taught(monkeypatch: pytest.MonkeyPatch) -> None:
    """The unknown token is none, and "," is no token: " q," fails, and so does a text of it."""
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda *_: [])
    tokenizer = Tokenizer(models.WordLevel({"q": 0, "the": 1}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    call = call_of(tokenizer)
    assert call is not None
    assert call.encode("the q").tolist() == [1, 0]  # type: ignore[union-attr]
    assert call.encode("the q,") is None


def test_a_changed_model_is_an_error_for_new_words_only() -> None:
    tokenizer = small()
    encoder = tokpar.Encoder(tokenizer)
    encoder.prepare()
    assert encoder.encode("the cat").ids.tolist() == [7, 8]
    tokenizer.model.unk_token = "cat"  # type: ignore[attr-defined]
    with pytest.raises(ChangedError):
        encoder.encode("the cat dog")


def test_eight_threads_learn_the_engine_s_ids() -> None:
    tokenizer = characters()
    call = call_of(tokenizer)
    assert call is not None
    texts = [ENGLISH[k : k + 40 * k % 3000] for k in range(300)]
    with ThreadPoolExecutor(8) as pool:
        found = [*pool.map(call.encode, texts * 3)]
    assert [None if ids is None else ids.tolist() for ids in found] == [
        tokenizer.encode(text).ids for text in texts
    ] * 3


def test_long_texts_are_encoded_in_parts_by_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokpar.compiled.compiled_call.LEAST_PART", 50)
    tokenizer = characters()
    call = call_of(tokenizer)
    assert call is not None
    ids, seams = call.encode_long(ENGLISH, 5)  # type: ignore[misc]
    assert ids.tolist() == tokenizer.encode(ENGLISH).ids
    assert len(seams) == 4


def test_answers_that_do_not_fit_are_refused() -> None:
    call: Any = call_of(small())
    ids, holes = b"", np.array([[0, 0, 0]], dtype=np.int64).tobytes()
    good = call._call.finish(ids, holes, ["a"], [5, 6], [0, 0])
    assert np.frombuffer(good, np.uint32).tolist() == [5, 6]
    outside = np.array([[0, 1, 0]], dtype=np.int64).tobytes()
    behind = np.array([[1, 0, 0]], dtype=np.int64).tobytes()
    for answer in (
        *((ids, holes, ["a"], [5, 6], [0]), (ids, holes, ["a"], [5], [1])),
        *((ids, outside, ["a"], [5], [0]), (ids, behind, ["a"], [5], [0])),
        *((ids, holes, ["a", "b"], [5, 6], [1, 0]), (ids, holes, ["a"], [-1], [0])),
        (ids, holes, ["a"], [1 << 32], [0]),
    ):
        with pytest.raises(ValueError, match="do not fit"):
            call._call.finish(*answer)
    with pytest.raises(TypeError):
        call._call.finish(ids, holes, ["a"], [5], [None])


def test_the_cut_of_each_scheme() -> None:
    cuts = {
        "bert": (small(normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()), "any"),
        "spaces": (small(), "any"),
        "metaspace": (small(None, pre_tokenizers.Metaspace()), "any"),
        "unjoined": (joining(), "unjoined"),
    }
    for tokenizer, left in cuts.values():
        adapter: Any = tokpar.load(tokenizer)
        cut = space_cut_of(adapter.facts, tokenizer.normalizer is not None)
        assert cut is None or (isinstance(cut, SpaceCut) and cut.left == left)


def test_words_that_hold_an_added_token_are_not_taught() -> None:
    """The tables of a file do not depend on its added tokens; they may be those of another one."""
    words = [" abc", " b", " xbz", " a", " the", " th"]
    assert segment_tables._without(["b", "the", "q\nr"], words) == [" a", " th"]
    assert segment_tables._without([], words) == words
    assert segment_tables._without(["ab", "c\n b"], words) == words[2:]
    assert segment_tables._without(["é" * segment_tables.MOST_SOUGHT, "é"], words) == []


def test_the_reason_why_the_engine_is_asked_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    adapter: Any = tokpar.load(llama(monkeypatch))
    said = describe_compiled_call(adapter)
    assert adapter.later_call.call.asks_engine
    assert "; new words by the engine, because its model is BPE" in said


def test_tables_with_the_model_have_no_such_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hf_call, "MODELS", ("BPE",))
    adapter = tokpar.load(Tokenizer.from_file(str(VOCAB / "llama_style.json")))
    assert "by the engine" not in describe_compiled_call(adapter)
