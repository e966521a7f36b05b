"""The Hugging Face adapter against the engine's own calls."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from tokenizers import (
    AddedToken,
    NormalizedString,
    Tokenizer,
    models,
    normalizers,
    pre_tokenizers,
)

from tests.support.paths import VOCAB
from tests.support.small_models import byte_level
from tokpar.adapters.hf_v0 import HuggingFaceTokenizer
from tokpar.adapters.hf_version import load
from tokpar.errors import EngineError, OptionError
from tokpar.results.spans import postprocess_single

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
    native, plain = (Tokenizer.from_file(str(path)) for _ in range(2))
    plain.no_truncation()
    plain.no_padding()
    build, arguments = pickle.loads(pickle.dumps(adapter_of(native).spec()))
    adapters = [adapter_of(path), adapter_of(str(path)), adapter_of(native), build(**arguments)]
    for adapter in adapters:
        rows = {spans: adapter.encode_many(TEXTS, spans) for spans in (False, True)}
        assert len(adapter.encode_many([], True)) == 0
        for k, text in enumerate(TEXTS):
            ids = adapter.encode(text)
            assert ids.dtype == np.uint32
            assert ids.tolist() == plain.encode(text, add_special_tokens=False).ids
            assert ids.tolist() == rows[False][k].tolist() == rows[True][k].tolist()
            assert rows[True].piece(k).spans.tolist() == adapter.locate(ids, text).tolist()
            final = adapter.encode_whole(text), postprocess_single(adapter, ids, text)
            assert [each.tolist() for each in final] == [native.encode(text).ids] * 2


def test_an_added_token_that_shares_the_id_of_a_byte_is_located_by_offsets() -> None:
    tokenizer = byte_level([])
    tokenizer.add_tokens([AddedToken("é", normalized=False)])
    adapter = adapter_of(tokenizer)
    assert not adapter.facts.tiles
    assert adapter.locate(adapter.encode("aéa"), "aéa").tolist() == [[0, 1], [1, 3], [3, 4]]


@pytest.mark.parametrize("text", ["\ud800", "he \udc80 a", "\ud83d\ude00"])
def test_lone_surrogates_are_refused_with_the_native_error_and_named(text: str) -> None:
    tokenizer = byte_level([])
    adapter = adapter_of(tokenizer)
    with pytest.raises(TypeError) as native:
        tokenizer.encode(text)
    calls = [adapter.encode, adapter.encode_whole, adapter.check_text]
    calls += [lambda t: adapter.encode_many(["he", t], False)]
    for call, given in (
        *((call, text) for call in calls),
        (adapter.encode, "a" * (1 << 18) + text),
    ):
        with pytest.raises(TypeError) as ours:
            call(given)
        assert str(ours.value).startswith(f"{native.value}. The text has a lone surrogate, U+")
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


class Upper:
    """A normalizer written in Python."""

    def normalize(self, normalized: NormalizedString) -> None:
        normalized.map(str.upper)


def test_components_written_in_python_work_and_are_unprovable() -> None:
    tokenizer = letters()
    tokenizer.normalizer = normalizers.Normalizer.custom(Upper())
    adapter = adapter_of(tokenizer)
    assert "written in Python" in str(adapter.facts.unprovable)
    for call in (adapter.encode, adapter.encode_whole):
        assert call("AbC").tolist() == tokenizer.encode("AbC").ids
    with pytest.raises(OptionError, match="another process"):
        adapter.spec()


@pytest.mark.skipif(not hasattr(models.Unigram(), "alpha"), reason="this release samples nothing")
def test_a_sampling_unigram_is_unprovable_though_its_json_does_not_say_so() -> None:
    for name in ("alpha", "nbest_size"):
        tokenizer = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -1.0), ("a", -2.0)], 0))
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
        assert adapter_of(tokenizer).facts.unprovable is None
        setattr(tokenizer.model, name, 4)
        assert "sampling" in str(adapter_of(tokenizer).facts.unprovable)


def test_dropout_is_unprovable_and_still_finished() -> None:
    tokenizer = letters()
    tokenizer.model.dropout = 0.5
    tokenizer.enable_padding(length=9)
    adapter = adapter_of(tokenizer)
    assert "dropout" in str(adapter.facts.unprovable)
    for _ in range(20):
        ids = adapter.encode("abab").tolist()
        final = postprocess_single(adapter, np.array(ids, np.uint32), "abab").tolist()
        assert final == ids + [0] * (9 - len(ids))


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
    short = adapter_of(tokenizer, add_special_tokens=False)
    assert short.encode_whole("the man").tolist() == tokenizer.encode(
        "the man", add_special_tokens=False
    )


@pytest.mark.parametrize("flag", [False, True])
def test_split_special_tokens_of_a_transformers_tokenizer_counts(flag: bool) -> None:
    backend = byte_level([])
    backend.add_special_tokens(["<s>"])
    tokenizer = transformers_tokenizer(backend, split_special_tokens=flag)
    adapter, text = adapter_of(tokenizer), "he <s> a"
    tokenizer.encode(text, split_special_tokens=not flag)
    assert adapter_of(tokenizer) is adapter
    for call in (adapter.encode, adapter.encode_whole):
        assert call(text).tolist() == tokenizer.encode(text)
    tokenizer.split_special_tokens = not flag
    fresh = adapter_of(tokenizer)
    assert fresh is not adapter
    assert fresh.encode(text).tolist() == tokenizer.encode(text)


def test_a_transformers_class_with_an_encode_of_its_own_is_unprovable() -> None:
    class Doubling(type(transformers_tokenizer(letters()))):  # type: ignore[misc]
        def encode(self, text: str, **options: Any) -> list[int]:
            return list(super().encode(text + text, **options))

    adapter = adapter_of(Doubling(tokenizer_object=letters()))
    assert "Doubling has its own encode" in str(adapter.facts.unprovable)
    assert adapter.encode_whole("ab").tolist() == [9, 9]
