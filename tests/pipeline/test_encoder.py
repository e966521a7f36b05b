"""The public edge: loading, settings, refusals, and an Encoder kept for many texts."""

from __future__ import annotations

import copy
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.fakes import WordHash
from tests.support.tokenizers_drawn import named_tokenizers
from tokpar.arrays import IdArray
from tokpar.compiled.front import Front
from tokpar.methods import serial
from tokpar.registry import tables as registry_module
from tokpar.registry.hooks import Strategy
from tokpar.registry.tables import Registry

pytestmark = pytest.mark.ids

TEXT = "The quick brown fox jumps over the lazy dog, 1234567 times.\n" * 300


def own_tokenizer(name: str = "deepseek_part") -> Tokenizer:
    """A fresh object that a test may change."""
    return Tokenizer.from_str(named_tokenizers()[name].to_str())


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (lambda: tokpar.encode(b"bytes"), tokpar.OptionError, "text must be a str, got bytes"),
        (lambda: tokpar.encode(None), tokpar.OptionError, "got NoneType"),
        (lambda: tokpar.encode("a", strategy="cuts"), tokpar.UnknownNameError, "known: auto, "),
        (lambda: tokpar.encode("a", executor="gpu"), tokpar.UnknownNameError, "native, processes"),
        (lambda: tokpar.encode("a", executor=3), tokpar.OptionError, "executor must be"),
        (lambda: tokpar.encode("a", chunk=3), tokpar.OptionError, "chunk_chars"),
        (lambda: tokpar.encode("a", chunk_chars=0), tokpar.OptionError, "at least 1, got 0"),
        (lambda: tokpar.encode("a", chunk_chars=-5), tokpar.OptionError, "at least 1, got -5"),
        (lambda: tokpar.encode("a", chunk_chars=2.5), tokpar.OptionError, "got 2.5"),
        (lambda: tokpar.encode("a", chunk_chars=True), tokpar.OptionError, "got True"),
        (lambda: tokpar.encode("a", workers=0), tokpar.OptionError, "at least 1, got 0"),
        (lambda: tokpar.encode("a", workers="2"), tokpar.OptionError, "got '2'"),
        (lambda: tokpar.encode("a", "no-such"), tokpar.UnknownNameError, "no-such"),
        (lambda: tokpar.encode("a", 7), tokpar.UnknownNameError, "int"),
        (lambda: tokpar.load(engine="warp"), tokpar.UnknownNameError, "huggingface"),
        (lambda: tokpar.load(nonsense=1), tokpar.OptionError, "nonsense"),
        (lambda: tokpar.load("gone.json"), FileNotFoundError, "gone.json"),
        (lambda: tokpar.Encoder().encode_batch("one text"), tokpar.OptionError, "several texts"),
        (lambda: tokpar.Encoder().encode_batch(["a", 3]), tokpar.OptionError, "got int"),
        (lambda: tokpar.Encoder(WordHash()).decode([1]), LookupError, "cannot decode"),
        (lambda: tokpar.load(WordHash(), speed=1), tokpar.OptionError, "takes no settings"),
    ],
)
def test_bad_input_is_refused_with_what_was_got_and_what_to_do(
    call: Any, error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        call()


@pytest.mark.parametrize("name", ["broken.json", "broken.tiktoken", "cl100k_base.tiktoken"])
@pytest.mark.parametrize("content", [b"", b"{", b'{"a": 1}', b"\xff\xfe", b"AAAA", b"QQ== x"])
def test_a_corrupt_file_is_named(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    settings: dict[str, Any] = {}
    if name == "broken.tiktoken":
        settings = {"pat_str": r"\w+|\W+", "special_tokens": {}}
    with pytest.raises(tokpar.FileFormatError, match=name):
        tokpar.load(path, **settings)


def test_an_approximate_strategy_needs_consent(monkeypatch: pytest.MonkeyPatch) -> None:
    class Plugin:
        @staticmethod
        def tokpar_strategies() -> list[Strategy]:
            return [Strategy("rough", False, "a test", "none", serial.build)]

    from tokpar.registry.hooks import hookimpl

    hookimpl(Plugin.tokpar_strategies)
    registry = Registry.load([])
    registry.register(Plugin)
    monkeypatch.setattr(registry_module, "_registry", [registry])
    with pytest.raises(tokpar.LossyError, match="strategy='auto'"):
        tokpar.encode(TEXT, strategy="rough")
    assert tokpar.encode(TEXT, strategy="rough", allow_approximate=True).lossless


def test_a_callers_tokenizer_is_never_changed() -> None:
    own = own_tokenizer("bert_part")
    before = own.to_str()
    tokpar.encode(TEXT, own, strategy="cut", chunk_chars=50)
    assert own.to_str() == before
    assert own.truncation is not None


def test_what_a_caller_changes_later_is_followed_by_calls_and_not_by_encoders() -> None:
    own = own_tokenizer()
    before = {text: own.encode(text).ids for text in (TEXT, "a fox jumps")}
    encoder = tokpar.Encoder(own)
    cutting = tokpar.Encoder(own, strategy="cut", chunk_chars=40)
    for change in (
        lambda: own.add_tokens([AddedToken("fox jumps")]),
        lambda: own.add_tokens(["lazy"]),
        lambda: own.enable_truncation(200),
        lambda: own.enable_padding(length=5000),
        lambda: own.no_truncation(),
        lambda: own.no_padding(),
    ):
        change()
        for text in (TEXT, "a fox jumps"):
            assert encoder.encode(text) == before[text]
            assert cutting.encode(text) == before[text]
            assert tokpar.encode(text, own) == own.encode(text).ids


def test_disallowed_special_tokens_keep_tiktokens_error_with_advice_that_tokpar_takes() -> None:
    own = named_tokenizers()["cl100k_part"]
    text = "a b " * 9000 + "<|endoftext|>"
    with pytest.raises(ValueError, match="disallowed special token") as expected:
        own.encode(text)
    with pytest.raises(ValueError, match="disallowed special token") as found:
        tokpar.encode(text, own)
    own_words, advice = str(found.value)[: len(str(expected.value))], str(found.value)
    assert own_words == str(expected.value)
    advised = re.search(r"pass `(tokpar\.load\(.*\))`", advice)
    assert advised is not None
    ordinary = eval(advised[1], {"tokpar": tokpar, "encoding": own})
    for call in (
        tokpar.encode,
        tokpar.count,
        lambda *given: tokpar.encode_batch(given[:1], given[1]),
    ):
        call(text, ordinary)
    assert tokpar.encode(text, ordinary).ids.tolist() == own.encode(text, disallowed_special=())
    with pytest.raises(ValueError, match="disallowed special token") as in_chunks:
        tokpar.encode(text, own, chunk_chars=500)
    assert str(in_chunks.value) == advice
    allowed = tokpar.load(own, allowed_special="all")
    assert tokpar.encode(text, allowed) == own.encode(text, allowed_special="all")


@pytest.mark.parametrize("name", ["default", "bert_part", "cl100k_part", "o200k_part"])
def test_an_encoder_is_pickled_by_how_its_tokenizer_is_built(name: str) -> None:
    encoder = tokpar.Encoder(named_tokenizers()[name], workers=1, chunk_chars=500)
    data = pickle.dumps(encoder)
    assert pickle.dumps(pickle.loads(data)) == data, "the same again, for whoever hashes it"
    twin = pickle.loads(data)
    encoding = twin.encode(TEXT)
    assert encoding == encoder.encode(TEXT)
    assert encoding.report.chunks == encoder.encode(TEXT).report.chunks


def test_a_copied_encoder_shares_the_adapter_and_has_the_same_arguments() -> None:
    encoder = tokpar.Encoder("default", workers=1)
    twin = copy.copy(encoder)
    assert twin is not encoder
    assert twin.tokenizer is encoder.tokenizer
    assert repr(twin) == repr(encoder)
    assert twin.encode("The quick brown fox") == encoder.encode("The quick brown fox")


def test_an_encoder_that_cannot_be_pickled_says_what_to_pass() -> None:
    class Local:
        name = "local"

        def encode(self, text: str) -> list[int]:
            return [len(text)]

    with pytest.raises(
        TypeError, match=r"an Encoder of local cannot be pickled.*give the tokenizer"
    ):
        pickle.dumps(tokpar.Encoder(Local()))


@needs_kernel
@pytest.mark.compiled_at_once
def test_prepare_encodes_a_text_that_no_report_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, encoded = tokpar.Encoder(), list[str]()
    own_one = Front.one

    def one(front: Front, text: str) -> IdArray | None:
        encoded.append(text)
        return own_one(front, text)

    monkeypatch.setattr(Front, "one", one)
    encoder.prepare()
    assert len(encoded) == 1
    assert not sum(encoder.report.texts.values())
    encoder.encode("a second text")
    assert len(encoded) == 2
    assert sum(encoder.report.texts.values()) == 1
