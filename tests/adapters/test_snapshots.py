"""Loud or right: whatever a caller changes on a tokenizer, each door gives the ids that it promises
or raises ChangedError. `tokpar.encode` and its sisters and `as_hf` follow the object; an `Encoder`
and all that it makes keep the tokenizer as it was."""

from __future__ import annotations

import gc
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

import tokpar
from tests.conftest import at_most
from tests.support.hf_releases import EXTRA_TOKENS
from tests.support.hf_sources import fresh
from tests.support.lifetimes import reference_to
from tests.support.paths import DEFAULT, VOCAB
from tests.support.tokenizers_drawn import byte_characters, is_panic
from tokpar.adapters import hf_copy, hf_look
from tokpar.adapters.hf_quick_look import QuickModelLook

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

WORDS = [f"{one}{two}{three}" for one in "abcd" for two in "efgh" for three in "ijklmnop"]
TEXT = " ".join(WORDS) + " The Quick <s> brown fox[M] jumps, <x>é! "
LETTERS = {char: byte for byte, char in enumerate(byte_characters())}
QUIET = {"special_tokens": ["[U]"], "show_progress": False}


def trained(model: Any, trainer: Any, order: Sequence[str]) -> Tokenizer:
    own = Tokenizer(model)
    own.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Whitespace()])
    own.normalizer = normalizers.Sequence([normalizers.BertNormalizer(), normalizers.NFC()])
    train(own, trainer, order)
    own.add_special_tokens(["<s>"])
    own.add_tokens([AddedToken("[M]", lstrip=True)])
    return own


def train(own: Tokenizer, trainer: Any, order: Sequence[str]) -> None:
    """Train in place on words, the first one the most frequent."""
    lines = [f"{word} " * (len(order) - k) for k, word in enumerate(order)]
    own.train_from_iterator(lines, trainer)
    if hasattr(own.model, "_clear_cache"):  # the library forgets to, and may panic
        own.model._clear_cache()


TRAINERS: dict[str, Callable[[], Any]] = {
    "BPE": lambda: trainers.BpeTrainer(vocab_size=160, **QUIET),
    "WordPiece": lambda: trainers.WordPieceTrainer(vocab_size=160, **QUIET),
    "WordLevel": lambda: trainers.WordLevelTrainer(vocab_size=400, **QUIET),
    "Unigram": lambda: trainers.UnigramTrainer(vocab_size=90, unk_token="[U]", **QUIET),
}
MODELS: dict[str, Callable[[], Any]] = {
    "BPE": lambda: models.BPE(unk_token="[U]"),
    "WordPiece": lambda: models.WordPiece(unk_token="[U]"),
    "WordLevel": lambda: models.WordLevel(unk_token="[U]"),
    "Unigram": models.Unigram,
}


def file_of(name: str) -> Tokenizer:
    own = Tokenizer.from_file(str(DEFAULT if name == "default" else VOCAB / f"{name}.json"))
    own.no_truncation()
    own.no_padding()
    return own


def many_added() -> Tokenizer:
    own = file_of("default")
    own.add_tokens([AddedToken(f"<|{k}|>", normalized=False) for k in range(hf_look.MOST_LISTED)])
    return own


SOURCES: dict[str, Callable[[], Tokenizer]] = {
    **{
        f"trained {kind}": lambda kind=kind: trained(MODELS[kind](), TRAINERS[kind](), WORDS)
        for kind in MODELS
    },
    **{
        name: lambda name=name: file_of(name)
        for name in ("default", "bert_part", "llama_style", "metaspace_unigram")
    },
    "many added": many_added,
}


def first_stage(own: Tokenizer) -> Any:
    """The first normalizer of a row, as the object that edits it in place."""
    if not isinstance(own.normalizer, normalizers.Sequence):
        own.normalizer = normalizers.Sequence([own.normalizer or normalizers.NFC()])
    return own.normalizer


def edit_normalizer(own: Tokenizer) -> None:
    stages = first_stage(own)
    if hasattr(stages, "__setitem__"):  # not in tokenizers 0.20
        stages[0] = normalizers.Replace("e", "a")


def edit_pre_tokenizer(own: Tokenizer) -> None:
    if hasattr(own.pre_tokenizer, "__setitem__"):
        own.pre_tokenizer[0] = pre_tokenizers.Punctuation()
    elif hasattr(own.pre_tokenizer, "add_prefix_space"):
        own.pre_tokenizer.add_prefix_space = not own.pre_tokenizer.add_prefix_space


def add_template(own: Tokenizer) -> None:
    own.post_processor = processors.TemplateProcessing("<q> $A", special_tokens=[("<q>", 1)])


def set_on_model(own: Tokenizer) -> None:
    for name in ("ignore_merges", "byte_fallback", "fuse_unk"):
        if hasattr(own.model, name):
            setattr(own.model, name, not getattr(own.model, name))
    if hasattr(own.model, "max_input_chars_per_word"):
        own.model.max_input_chars_per_word = 2


def exchange_model(own: Tokenizer) -> None:
    own.model = models.BPE(
        {"[U]": 0, **{char: 1 + k for char, k in LETTERS.items()}}, [], unk_token="[U]"
    )


def train_again(own: Tokenizer) -> None:
    kind = type(own.model).__name__
    if own.get_vocab_size() < 1000:  # a large one takes long
        train(own, TRAINERS[kind](), WORDS[::-1])


CHANGES: dict[str, Callable[[Tokenizer], object]] = {
    "nothing": lambda own: None,
    "add_tokens": lambda own: own.add_tokens(["quick", AddedToken("fox", normalized=False)]),
    "add_special_tokens": lambda own: own.add_special_tokens(["<x>", "é!"]),
    "normalizer set": lambda own: setattr(own, "normalizer", normalizers.Lowercase()),
    "normalizer taken away": lambda own: setattr(own, "normalizer", None),
    "normalizer edited": edit_normalizer,
    "pre-tokenizer set": lambda own: setattr(own, "pre_tokenizer", pre_tokenizers.Digits()),
    "pre-tokenizer edited": edit_pre_tokenizer,
    "post-processor set": add_template,
    "decoder set": lambda own: setattr(own, "decoder", decoders.Fuse()),
    "truncation": lambda own: own.enable_truncation(7),
    "no truncation": lambda own: own.no_truncation(),
    "padding": lambda own: own.enable_padding(length=4000, pad_id=2),
    "encode_special_tokens": lambda own: setattr(own, "encode_special_tokens", True),
    "set on the model": set_on_model,
    "model exchanged": exchange_model,
    "trained again": train_again,
}


def flat(arrays: Any) -> list[int]:
    return [int(id_) for array in arrays for id_ in array]


def pieces_of(text: str) -> list[str]:
    return [text[start : start + 37] for start in range(0, len(text), 37)]


def by_session(encoder: tokpar.Encoder, text: str) -> list[int]:
    session = encoder.session(text[:50])
    session.append(text[50:])
    return flat([session.ids])


def by_chunks(encoder: tokpar.Encoder, text: str) -> str:
    return "".join(chunk.text for chunk in encoder.chunks(text, 30))


KEPT: dict[str, Callable[[tokpar.Encoder, str], Any]] = {
    "encode": lambda encoder, text: flat([encoder.encode(text).ids]),
    "encode_batch": lambda encoder, text: flat([encoder.encode_batch([text, "a"])[0].ids]),
    "encode_iter": lambda encoder, text: flat(e.ids for e in encoder.encode_iter([text])),
    "stream": lambda encoder, text: flat(encoder.stream(pieces_of(text))),
    "session": by_session,
    "count": lambda encoder, text: [0] * encoder.count(text),
}
CALLS: dict[str, Callable[[Tokenizer, str], list[int]]] = {
    "encode": lambda own, text: flat([tokpar.encode(text, own).ids]),
    "encode, cut": lambda own, text: flat(
        [tokpar.encode(text, own, strategy="cut", chunk_chars=8, executor="serial").ids]
    ),
    "encode_batch": lambda own, text: flat([tokpar.encode_batch([text], own)[0].ids]),
    "encode_iter": lambda own, text: flat(e.ids for e in tokpar.encode_iter([text], own)),
    "stream": lambda own, text: flat(tokpar.stream(pieces_of(text), own)),
    "count": lambda own, text: [0] * tokpar.count(text, own),
    "a new Encoder": lambda own, text: flat([tokpar.Encoder(own).encode(text).ids]),
}


def own_ids(own: Tokenizer, text: str) -> list[int] | None:
    """The ids of the object's own call; None if it fails."""
    try:
        return [int(id_) for id_ in own.encode(text).ids]
    except BaseException as error:
        if not isinstance(error, Exception) and not is_panic(error):
            raise
        return None


def is_as(found: list[int], expected: list[int], door: str) -> bool:
    return len(found) == len(expected) if door == "count" else found == expected


@at_most(60)
@given(
    st.sampled_from(sorted(SOURCES)),
    st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, max_size=3),
    st.sampled_from(sorted(CALLS)),
    st.integers(1, 40),
)
def test_calls_follow_every_change(
    source: str, changes: list[str], door: str, repeats: int
) -> None:
    own = SOURCES[source]()
    texts = TEXT * repeats, "The fox", TEXT[::-1]
    for change in ("nothing", *changes):
        CHANGES[change](own)
        for text in texts:
            expected = own_ids(own, text)
            if expected is not None:
                assert is_as(CALLS[door](own, text), expected, door)


@at_most(60)
@given(
    st.sampled_from(sorted(SOURCES)),
    st.sampled_from(sorted(CHANGES)),
    st.sampled_from(sorted(KEPT)),
    st.integers(1, 40),
    st.booleans(),
)
def test_a_kept_encoder_has_the_ids_of_before_or_says_that_the_model_was_changed(
    source: str, change: str, door: str, repeats: int, used_before: bool
) -> None:
    own = SOURCES[source]()
    texts = TEXT * repeats, "The fox", TEXT[::-1]
    expected = [own_ids(own, text) for text in texts]
    with tokpar.Encoder(own) as encoder:
        if used_before:
            KEPT[door](encoder, texts[0])
        CHANGES[change](own)
        for text, before in zip(texts, expected, strict=True):
            assert before is not None
            try:
                assert is_as(KEPT[door](encoder, text), before, door)
            except tokpar.ChangedError:
                assert change in ("set on the model", "trained again")


@pytest.mark.parametrize("change", ["set on the model", "trained again"])
@pytest.mark.parametrize("door", [*KEPT, "chunks", "decode", "decode_stream", "pickle"])
def test_no_door_of_a_kept_encoder_asks_a_model_that_was_changed(change: str, door: str) -> None:
    own = SOURCES["trained BPE"]()
    doors = KEPT | {
        "chunks": by_chunks,
        "decode": lambda encoder, text: encoder.decode([1, 2]),
        "decode_stream": lambda encoder, text: encoder.decode_stream(),
        "pickle": lambda encoder, text: encoder.__reduce__(),
    }
    with tokpar.Encoder(own) as encoder:
        CHANGES[change](own)
        for text in (TEXT, TEXT * 60):
            with pytest.raises(tokpar.ChangedError, match="make a new one"):
                doors[door](encoder, text)
    assert tokpar.Encoder(own).encode(TEXT).ids.tolist() == own.encode(TEXT).ids


AS_HF: dict[str, Callable[[Any], object]] = {
    "nothing": lambda own: None,
    "add_tokens": lambda own: own.add_tokens(["quick", AddedToken("fox", normalized=False)]),
    "add_special_tokens": lambda own: own.add_special_tokens({EXTRA_TOKENS: ["brown"]}),
    "by the engine": lambda own: own.backend_tokenizer.add_tokens(["jumps"]),
    "normalizer": lambda own: CHANGES["normalizer set"](own.backend_tokenizer),
    "normalizer edited": lambda own: edit_normalizer(own.backend_tokenizer),
    "pre-tokenizer": lambda own: CHANGES["pre-tokenizer set"](own.backend_tokenizer),
    "post-processor": lambda own: add_template(own.backend_tokenizer),
    "model set": lambda own: set_on_model(own.backend_tokenizer),
    "split_special_tokens": lambda own: setattr(own, "split_special_tokens", True),
    "truncated call": lambda own: own("a b", truncation=True, max_length=3),
}


@at_most(30)
@given(st.lists(st.sampled_from(sorted(AS_HF)), min_size=1, max_size=3), st.booleans())
def test_as_hf_follows_every_change_whichever_object_is_changed(
    changes: list[str], by_original: bool
) -> None:
    pytest.importorskip("transformers", reason="transformers is missing")
    original = fresh("left")
    view = tokpar.as_hf(original, smallest_text=1)
    for change in changes:
        on_engine = change not in ("split_special_tokens", "add_special_tokens")
        AS_HF[change](original if by_original and on_engine else view)
        for text in (TEXT * 9, "The fox"):
            expected = view._tokpar_original()(text)["input_ids"]
            assert view(text)["input_ids"] == expected
            assert view([text, "a"])["input_ids"][0] == expected


def test_the_object_itself_serves_where_no_copy_has_its_ids() -> None:
    """Added as special, then as plain: the engine keeps the old flag, and no copy does."""
    own = SOURCES["default"]()
    own.add_tokens([AddedToken("fox", special=True, normalized=False)])
    own.add_tokens([AddedToken("fox", special=False, normalized=False, rstrip=True)])
    own.encode_special_tokens = True
    reference = reference_to(own)
    with tokpar.Encoder(own) as encoder:
        for change in ("nothing", "truncation", "no truncation", "normalizer set", "add_tokens"):
            CHANGES[change](own)
            for text in (TEXT * 9, "a fox "):
                assert encoder.encode(text).ids.tolist() == own.encode(text).ids
                assert tokpar.encode(text, own).ids.tolist() == own.encode(text).ids
        assert "altered" in encoder.encode(TEXT * 900).report.why
        assert encoder.encode(TEXT * 900).report.executor == "serial"
    del own, encoder
    gc.collect()
    assert reference() is None


UNSEEN: dict[str, Callable[[Tokenizer], object]] = {
    "a word that the vocabulary has": lambda own: own.add_tokens(["ing"]),
    "again with other flags": lambda own: own.add_tokens([AddedToken("<|7|>", rstrip=True)]),
    "made special": lambda own: own.add_special_tokens(["<|7|>"]),
}


@pytest.mark.parametrize("action", UNSEEN)
def test_what_the_look_cannot_see_among_many_added_tokens_is_what_the_guide_names(
    action: str,
) -> None:
    for source, seen in (("default", True), ("many added", False)):
        own = SOURCES[source]()
        if source == "default":
            own.add_tokens([AddedToken("<|7|>", normalized=False)])
        look = hf_look.Look.of(own, None)
        assert look.is_same(own, None)
        UNSEEN[action](own)
        assert look.is_same(own, None) is not seen


@pytest.mark.parametrize(
    "token", ["<|new|>", AddedToken("<|new|>", normalized=False), AddedToken("<new>", special=True)]
)
def test_a_new_token_is_seen_among_many_added_tokens(token: Any) -> None:
    own = SOURCES["many added"]()
    text = f"a {token} b " * 900
    assert tokpar.encode(text, own).ids.tolist() == own.encode(text).ids
    own.add_tokens([token])
    text = "a <|new|> <new> b " * 900
    assert tokpar.encode(text, own).ids.tolist() == own.encode(text).ids
    look = hf_look.Look.of(own, None)
    own.add_tokens(["another one"])
    assert not look.is_same(own, None)


def test_a_merge_less_is_the_model_change_that_the_look_cannot_see() -> None:
    tokens = {**LETTERS, "ab": 256, "bc": 257}
    own = Tokenizer(models.BPE(tokens, [("a", "b"), ("b", "c")]))
    look = hf_look.Look.of(own, None)
    own.model = models.BPE(tokens, [("a", "b")])
    assert look.is_same(own, None)
    own.model = models.BPE({**tokens, "ca": 258}, [("a", "b")])
    assert not look.is_same(own, None)


def trained_on(words: str) -> Tokenizer:
    own = Tokenizer(models.BPE(unk_token="[U]"))
    own.pre_tokenizer = pre_tokenizers.Whitespace()
    trainer = trainers.BpeTrainer(vocab_size=40, special_tokens=["[U]"], show_progress=False)
    own.train_from_iterator([words], trainer)
    return own


MODEL_CHANGES: dict[str, Callable[[Tokenizer], object]] = {
    "dropout": lambda own: setattr(own.model, "dropout", 0.5),
    "unknown token": lambda own: setattr(own.model, "unk_token", "a"),
    "trained with as many tokens": lambda own: own.train_from_iterator(
        [" ".join(f"{a}{b}{c}" for a in "stuv" for b in "wxyz" for c in "klmn")],
        trainers.BpeTrainer(
            vocab_size=own.get_vocab_size(), special_tokens=["[U]"], show_progress=False
        ),
    ),
    "another model": lambda own: setattr(own, "model", models.WordLevel({"[U]": 0}, "[U]")),
}


@pytest.mark.parametrize("change", MODEL_CHANGES)
def test_the_quick_look_at_the_model_sees_each_change(change: str) -> None:
    own = trained_on(" ".join(f"{a}{b}{c}" for a in "abcd" for b in "efgh" for c in "ijkl"))
    look = QuickModelLook(hf_look.look_at_model(own), own)
    assert look.is_same(own)
    MODEL_CHANGES[change](own)
    assert not look.is_same(own)


CASES = {"[U]": 0, "a": 1, "b": 2, "x": 3, "A": 4, "é": 5, "É": 6, "▁": 7, "e": 8, "_": 9}
CASED_MODELS: tuple[Callable[[], Any], ...] = (
    lambda: models.BPE(CASES, [], unk_token="[U]"),
    lambda: models.BPE(CASES | {"ab": 10, "AB": 11}, [("a", "b")], unk_token="[U]"),
    lambda: models.WordLevel(CASES | {"ab": 10, "Ab": 11}, unk_token="[U]"),
    lambda: models.WordPiece(CASES | {"##b": 10, "##A": 11}, unk_token="[U]"),
    lambda: models.Unigram([(token, -1.0 - i) for token, i in CASES.items()], 0, False),
)
STAGES: tuple[Callable[[], Any], ...] = (
    *(normalizers.BertNormalizer, normalizers.NFC, normalizers.NFD, normalizers.Lowercase),
    *(normalizers.Strip, lambda: normalizers.Replace("a", "b")),
)


def steps() -> st.SearchStrategy[tuple[Any, ...]]:
    """What a caller does to a tokenizer: adds a token, or changes the normalizer in place."""
    flags = ("special", "normalized", "lstrip", "rstrip", "single_word")
    contents = ["A", "A", "É", "a", "Ab", "ab", "b", "x", "A ", " b", "<A>", "b "]
    return st.one_of(
        st.tuples(st.just("token"), st.sampled_from(contents), st.sets(st.sampled_from(flags))),
        st.tuples(st.just("stage"), st.sampled_from([0, 1]), st.sampled_from(STAGES)),
        st.tuples(
            st.just("setting"), st.sampled_from(["lowercase", "strip_accents"]), st.booleans()
        ),
        st.just(("set anew",)),
    )


def take(own: Tokenizer, step: tuple[Any, ...]) -> None:
    match step:
        case "token", content, flags:
            own.add_tokens([AddedToken(content, **dict.fromkeys(flags, True))])
        case (("stage" | "setting"), *_) if not hasattr(own.normalizer, "__setitem__"):
            pass  # tokenizers 0.20 has no way to change it in place
        case "stage", place, make:
            own.normalizer[place] = make()
        case "setting", name, on:
            if hasattr(own.normalizer[0], name):
                setattr(own.normalizer[0], name, on)
        case _:
            own.normalizer = own.normalizer


@given(
    st.sampled_from(CASED_MODELS),
    st.sampled_from(
        [pre_tokenizers.WhitespaceSplit, pre_tokenizers.BertPreTokenizer, pre_tokenizers.Metaspace]
    ),
    st.lists(steps(), min_size=1, max_size=6),
    st.booleans(),
    st.lists(
        st.lists(
            st.sampled_from(
                [*("A ", "a ", "b", "Ab ", "ab", "É ", "é ", "x", " ", "<A>", "e\u0301")]
            ),
            min_size=1,
            max_size=8,
        ).map("".join),
        min_size=1,
        max_size=3,
    ),
)
def test_whatever_is_added_again_and_changed_in_place_the_ids_are_its_own(
    model: Any, words: Any, history: list[tuple[Any, ...]], special: bool, texts: list[str]
) -> None:
    own = Tokenizer(model())
    own.normalizer = normalizers.Sequence([normalizers.BertNormalizer(), normalizers.NFC()])
    own.pre_tokenizer = words()
    own.encode_special_tokens = special
    cutting: dict[str, Any] = {"strategy": "cut", "chunk_chars": 1, "executor": "serial"}
    for step in (*history, ("set anew",)):
        take(own, step)
        for text in (" ".join(texts) * 40, *texts):
            expected = own_ids(own, text)
            if expected is not None:
                assert tokpar.encode(text, own).ids.tolist() == expected
                assert tokpar.encode(text, own, **cutting).ids.tolist() == expected
                bare = own.encode(text, add_special_tokens=False).ids
                assert tokpar.load(own).encode(text).tolist() == bare


def test_a_token_whose_word_has_the_same_id_is_not_taken_for_found() -> None:
    """The copy searches for "A", the engine still for "a"; the model has the same id for "A"."""
    own = Tokenizer(models.BPE(CASES, [], unk_token="[U]"))
    own.normalizer = normalizers.BertNormalizer()
    own.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own.add_tokens([AddedToken("A", normalized=True)])
    own.normalizer.lowercase = False
    text = "a A x " * 3000
    assert own.encode(text).ids[:2] == [4, 4]
    encoding = tokpar.encode(text, own)
    assert encoding.ids.tolist() == own.encode(text).ids
    assert "altered" in encoding.report.why


class WithTokensOf:
    """`private`, which says that it has the added tokens of `own`: as one that keeps old flags."""

    def __init__(self, own: Tokenizer, private: Tokenizer) -> None:
        self._private, self.get_added_tokens_decoder = private, own.get_added_tokens_decoder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._private, name)


def test_added_tokens_are_compared_between_letters_between_spaces_and_side_by_side(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each of the three texts shows a difference that the other two do not show."""
    plain = AddedToken("<a>", normalized=False)
    others = {
        "x": AddedToken("<a>", normalized=False, single_word=True),
        " ": AddedToken("<a>", normalized=False, lstrip=True),
    }
    model = models.WordLevel({"?": 0}, unk_token="?")
    monkeypatch.setattr(hf_copy, "_kept_in_text", lambda *given: "")  # equal for both
    for other in others.values():
        own, private = Tokenizer(model), Tokenizer(model)
        own.add_tokens([plain])
        private.add_tokens([other])
        assert hf_copy.why_copy_differs(own, WithTokensOf(own, private)) is not None
        assert hf_copy.why_copy_differs(own, own) is None


def test_added_tokens_that_the_normalizer_makes_alike_are_found_at_random() -> None:
    own = Tokenizer(models.WordLevel({"?": 0}, unk_token="?"))
    own.normalizer = normalizers.Lowercase()
    own.add_tokens([AddedToken(content, normalized=True) for content in ("<A>", "<a>")])
    assert "at random" in str(hf_copy.why_copy_differs(own, hf_copy.private_copy(own)[0]))
