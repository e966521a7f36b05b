"""The Hugging Face adapter against the engine's own calls."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import (
    AddedToken,
    NormalizedString,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
)

import tokpar
from tests.support.paths import VOCAB
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer, load
from tokpar.errors import EngineError, OptionError
from tokpar.files.vocabulary import byte_alphabet
from tokpar.spans import postprocess_single

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]

PART_NAMES = ["bert_part", "deepseek_part", "llama_style", "metaspace_unigram"]
TEXTS = [
    "",
    "a",
    "The quick brown fox, 12345 times.\n\n  Jumps!",
    "naïve café 中文字 🫠 e\u0301 \u200b 글",
    "a  \t b\r\n" * 20,
    "<｜User｜>hello<｜end▁of▁sentence｜> [MASK] <s>x</s>",
    "1" * 300 + "=" * 300,
]


def byte_level(**options: Any) -> Tokenizer:
    """Byte-level BPE: 256 bytes, "he", "Ġa"."""
    vocab = {char: i for i, char in enumerate(sorted(byte_alphabet()))}
    vocab |= {"he": 256, "Ġa": 257}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("h", "e"), ("Ġ", "a")], **options))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def letters() -> Tokenizer:
    """Single characters and "ab", without byte level."""
    vocab = {char: i for i, char in enumerate("abcdefgh ")} | {"ab": 9}
    return Tokenizer(models.BPE(vocab=vocab, merges=[("a", "b")]))


def adapter_of(source: object, **options: Any) -> HuggingFaceTokenizer:
    adapter = load(source, **options)
    assert adapter is not None
    return adapter


def transformers_tokenizer(tokenizer: Tokenizer, **options: Any) -> Any:
    pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers import PreTrainedTokenizerFast

    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, **options)


@pytest.mark.parametrize("name", PART_NAMES)
def test_a_file_an_object_and_a_rebuilt_adapter_give_the_native_ids(name: str) -> None:
    path = VOCAB / f"{name}.json"
    native = Tokenizer.from_file(str(path))
    plain = Tokenizer.from_file(str(path))
    plain.no_truncation()
    plain.no_padding()
    adapters = [adapter_of(path), adapter_of(str(path)), adapter_of(native)]
    build, arguments = pickle.loads(pickle.dumps(adapters[2].spec()))
    for text in TEXTS:
        expected = plain.encode(text, add_special_tokens=False).ids
        assert build(**arguments).encode(text).tolist() == expected
        for adapter in adapters:
            ids = adapter.encode(text)
            assert ids.dtype == np.uint32
            assert ids.tolist() == expected
            assert adapter.encode_whole(text).tolist() == native.encode(text).ids
            assert postprocess_single(adapter, ids, text).tolist() == native.encode(text).ids


@pytest.mark.parametrize("name", PART_NAMES)
@pytest.mark.parametrize("spans", [False, True])
def test_encode_many_gives_each_text_what_encode_and_locate_give(name: str, spans: bool) -> None:
    adapter = adapter_of(VOCAB / f"{name}.json")
    rows = adapter.encode_many(TEXTS, spans)
    pieces = [rows.piece(k) for k in range(len(rows))]
    assert len(pieces) == len(TEXTS)
    for piece, text in zip(pieces, TEXTS, strict=True):
        assert piece.ids.dtype == np.uint32
        assert piece.ids.tolist() == adapter.encode(text).tolist()
        if not spans:
            assert piece.spans is None
            continue
        assert piece.spans is not None
        assert piece.spans.dtype == np.int64
        assert piece.spans.shape == (len(piece.ids), 2)
        assert piece.spans.tolist() == adapter.locate(piece.ids, text).tolist()
    assert len(adapter.encode_many([], spans)) == 0


def test_an_added_token_that_shares_the_id_of_a_byte_is_located_by_offsets() -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("é", normalized=False)])
    adapter = adapter_of(tokenizer)
    assert not adapter.facts.tiles
    assert adapter.locate(adapter.encode("aéa"), "aéa").tolist() == [[0, 1], [1, 3], [3, 4]]


def change_truncation(tokenizer: Tokenizer) -> None:
    tokenizer.enable_truncation(3)


def change_padding(tokenizer: Tokenizer) -> None:
    tokenizer.enable_padding(length=12, pad_id=7)


def change_added(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens(["zab"])


def change_added_flags(tokenizer: Tokenizer) -> None:
    tokenizer.add_tokens([AddedToken("gh", lstrip=True, normalized=True)])


def change_special(tokenizer: Tokenizer) -> None:
    tokenizer.encode_special_tokens = True


def change_post_processor(tokenizer: Tokenizer) -> None:
    tokenizer.post_processor = processors.BertProcessing(("a", 0), ("b", 1))


def change_normalizer(tokenizer: Tokenizer) -> None:
    tokenizer.normalizer = normalizers.Lowercase()


def change_pre_tokenizer(tokenizer: Tokenizer) -> None:
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()


def change_model_setting(tokenizer: Tokenizer) -> None:
    tokenizer.model.dropout = 1.0


def change_model(tokenizer: Tokenizer) -> None:
    vocab = {char: i for i, char in enumerate(" hgfedcba")}
    tokenizer.model = models.BPE(vocab=vocab, merges=[])


@pytest.mark.parametrize(
    "change",
    [
        change_truncation, change_padding, change_added, change_added_flags, change_special,
        change_post_processor, change_normalizer, change_pre_tokenizer, change_model_setting,
        change_model,
    ],
)  # fmt: skip
def test_a_change_of_the_callers_object_is_noticed_and_followed(change: Any) -> None:
    text = "ab  gh [X] ABC zab"
    tokenizer = letters()
    tokenizer.add_special_tokens(["[X]"])
    tokenizer.add_tokens([AddedToken("gh", normalized=True)])
    adapter = adapter_of(tokenizer)
    assert adapter_of(tokenizer) is adapter
    old = adapter.encode_whole(text).tolist()
    change(tokenizer)
    new = tokenizer.encode(text).ids
    assert new != old
    if change is change_model_setting:
        with pytest.raises(tokpar.ChangedError, match="make a new one"):
            adapter.encode_whole(text)
    else:
        assert adapter.encode_whole(text).tolist() == old
    fresh = adapter_of(tokenizer)
    assert fresh is not adapter
    assert adapter_of(tokenizer).facts is fresh.facts
    assert postprocess_single(fresh, fresh.encode(text), text).tolist() == new


def test_a_token_added_twice_with_other_flags_is_copied_exactly_or_unprovable() -> None:
    tokenizer = letters()
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_special_tokens([AddedToken("AB", normalized=False)])
    tokenizer.add_tokens([AddedToken("AB", normalized=True, special=True)])
    adapter = adapter_of(tokenizer)
    same = all(
        adapter.encode(text).tolist() == tokenizer.encode(text).ids
        for text in ("AB", "ab", "xABx", "xabx")
    )
    assert same or adapter.facts.unprovable is not None


@pytest.mark.parametrize("text", ["\ud800", "he \udc80 a", "\ud83d\ude00"])
def test_lone_surrogates_are_refused_with_the_native_error(text: str) -> None:
    tokenizer = byte_level()
    adapter = adapter_of(tokenizer)
    with pytest.raises(TypeError) as native:
        tokenizer.encode(text)
    calls = [adapter.encode, adapter.encode_whole, adapter.check_text]
    for call in (*calls, lambda t: adapter.encode_many(["he", t], False)):
        with pytest.raises(TypeError) as ours:
            call(text)
        assert str(ours.value) == str(native.value)
    with pytest.raises(TypeError) as long:
        adapter.encode("a" * (1 << 18) + text)
    assert str(long.value) == str(native.value)
    adapter.check_text("naïve")


def test_a_panic_of_the_engine_is_an_engine_error() -> None:
    tokenizer = letters()
    tokenizer.add_tokens([AddedToken("a", rstrip=True, normalized=False)])
    tokenizer.add_tokens([AddedToken(" ", lstrip=True, normalized=False)])
    adapter = adapter_of(tokenizer)
    for call in (adapter.encode, adapter.encode_whole):
        with pytest.raises(EngineError, match="panicked") as caught:
            call("a  ")
        assert (caught.value.start, caught.value.stop) == (0, 3)
    for spans in (False, True):
        with pytest.raises(EngineError, match="panicked"):
            adapter.encode_many(["b", "a  "], spans)
    assert adapter.encode("b").tolist() == [1]


def test_a_special_token_that_became_plain_is_unprovable_when_encoded_as_text() -> None:
    tokenizer = byte_level()
    tokenizer.add_tokens([AddedToken("a", special=True, normalized=False)])
    tokenizer.add_tokens([AddedToken("a", special=False, normalized=False, rstrip=True)])
    tokenizer.encode_special_tokens = True
    adapter = adapter_of(tokenizer)
    assert "altered" in str(adapter.facts.unprovable)
    native = tokenizer.encode("a ").ids
    assert adapter.encode_whole("a ").tolist() == native
    assert postprocess_single(adapter, adapter.encode("a "), "a ").tolist() == native
    with pytest.raises(LookupError):
        postprocess_single(adapter, np.arange(2, dtype=np.uint32), "a ")


added_tokens = st.builds(
    AddedToken,
    st.text("abXÉ", min_size=1, max_size=3),
    lstrip=st.booleans(),
    rstrip=st.booleans(),
    single_word=st.booleans(),
    normalized=st.booleans(),
    special=st.booleans(),
)
stages = st.sampled_from(
    [None, normalizers.Lowercase(), normalizers.NFD(), normalizers.Replace("ab", "c")]
)


@given(
    first=st.lists(added_tokens, max_size=4),
    later=st.lists(added_tokens, max_size=3),
    normalizer=stages,
    special=st.booleans(),
    text=st.text("abcXÉ é", max_size=20),
)
def test_any_added_tokens_give_the_native_ids_or_are_unprovable(
    first: list[AddedToken],
    later: list[AddedToken],
    normalizer: Any,
    special: bool,
    text: str,
) -> None:
    met: dict[str, bool] = {}
    first = [t for t in first if met.setdefault(t.content, t.normalized) == t.normalized]
    later = [t for t in later if met.setdefault(t.content, t.normalized) == t.normalized]
    tokenizer = byte_level()
    tokenizer.add_tokens(first)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.add_tokens(later)
    tokenizer.encode_special_tokens = special
    adapter = adapter_of(tokenizer)
    native = tokenizer.encode(text)
    assert adapter.encode_whole(text).tolist() == native.ids
    if adapter.why_live is not None:
        return
    ids = adapter.encode(text)
    assert ids.tolist() == native.ids
    spans = adapter.locate(ids, text)
    if not adapter.facts.tiles:
        starts = [len(text[:a].encode()) for a, _ in native.offsets]
        assert spans[:, 0].tolist() == starts


def test_decode_is_the_callers_own_with_special_tokens_kept() -> None:
    tokenizer = byte_level()
    tokenizer.add_special_tokens(["<s>"])
    adapter = adapter_of(tokenizer)
    text = "he<s> said é中"
    assert adapter.decode(adapter.encode(text)) == text
    assert adapter.decode(adapter.encode(text).tolist()) == text
    assert adapter.decode([]) == ""


class Upper:
    """A normalizer written in Python."""

    def normalize(self, normalized: NormalizedString) -> None:
        normalized.map(str.upper)


def test_components_written_in_python_work_and_are_unprovable() -> None:
    tokenizer = letters()
    tokenizer.normalizer = normalizers.Normalizer.custom(Upper())
    adapter = adapter_of(tokenizer)
    assert "written in Python" in str(adapter.facts.unprovable)
    assert adapter.encode("AbC").tolist() == tokenizer.encode("AbC").ids
    assert adapter.encode_whole("AbC").tolist() == tokenizer.encode("AbC").ids
    with pytest.raises(OptionError, match="another process"):
        adapter.spec()


@pytest.mark.skipif(not hasattr(models.Unigram(), "alpha"), reason="this release samples nothing")
def test_a_sampling_unigram_is_unprovable_though_its_json_does_not_say_so() -> None:
    tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0)], 0))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    adapter = adapter_of(tokenizer)
    assert adapter.facts.unprovable is None
    tokenizer.model.alpha = 0.5
    tokenizer.model.nbest_size = 4
    assert "sampling" in str(adapter_of(tokenizer).facts.unprovable)


def test_dropout_is_unprovable_and_still_finished() -> None:
    tokenizer = byte_level()
    tokenizer.model.dropout = 0.5
    tokenizer.add_special_tokens(["<he he>"])
    tokenizer.enable_padding(length=9)
    adapter = adapter_of(tokenizer)
    assert "dropout" in str(adapter.facts.unprovable)
    for _ in range(20):
        ids = adapter.encode("he he")
        assert postprocess_single(adapter, ids, "he he").tolist() == ids.tolist() + [0] * (
            9 - len(ids)
        )


# --- transformers


def test_a_transformers_tokenizer_follows_its_own_encode() -> None:
    backend = Tokenizer.from_file(str(VOCAB / "bert_part.json"))
    tokenizer = transformers_tokenizer(backend, pad_token="[PAD]", model_max_length=20)
    adapter = adapter_of(tokenizer)
    assert adapter.facts.unprovable is None
    for text in (*TEXTS, "the man " * 100):
        native = tokenizer.encode(text)
        assert adapter.encode_whole(text).tolist() == native
        assert postprocess_single(adapter, adapter.encode(text), text).tolist() == native
    assert len(adapter.encode_whole("the man " * 100)) == 202
    short = adapter_of(tokenizer, add_special_tokens=False)
    assert short.encode_whole("the man").tolist() == tokenizer.encode(
        "the man", add_special_tokens=False
    )


@pytest.mark.parametrize("flag", [False, True])
def test_split_special_tokens_of_a_transformers_tokenizer_counts(flag: bool) -> None:
    backend = byte_level()
    backend.add_special_tokens(["<s>"])
    tokenizer = transformers_tokenizer(backend, split_special_tokens=flag)
    adapter = adapter_of(tokenizer)
    text = "he <s> a"
    tokenizer.encode(text, split_special_tokens=not flag)
    assert adapter_of(tokenizer) is adapter
    assert adapter.encode(text).tolist() == tokenizer.encode(text)
    assert adapter.encode_whole(text).tolist() == tokenizer.encode(text)
    tokenizer.split_special_tokens = not flag
    fresh = adapter_of(tokenizer)
    assert fresh is not adapter
    assert fresh.encode(text).tolist() == tokenizer.encode(text)


def test_a_transformers_class_with_an_encode_of_its_own_is_unprovable() -> None:
    tokenizer = transformers_tokenizer(byte_level())

    class Doubling(type(tokenizer)):  # type: ignore[misc]
        def encode(self, text: str, **options: Any) -> list[int]:
            return list(super().encode(text + text, **options))

    adapter = adapter_of(Doubling(tokenizer_object=byte_level()))
    assert "Doubling has its own encode" in str(adapter.facts.unprovable)
    assert adapter.encode_whole("he").tolist() == [256, 256]
