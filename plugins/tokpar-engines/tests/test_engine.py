"""An engine of another package gives what `tokpar.load` of the same file gives, or is refused.

The engines here are tokenizers and tiktoken themselves, so that no other package is needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from plugged_engines import ENGINE, of_json
from tokpar_conformance import check_tokenizer, hostile_texts
from tokpar_engines import compared_texts, comparison
from tokpar_engines.compared_texts import short_texts
from tokpar_engines.engine import (
    TRUSTED,
    Calls,
    Engine,
    EngineTokenizer,
    engine_source,
    load_engine,
    unhonoured,
)
from tokpar_engines.engine_files import JsonFile, RankFile

import tokpar
from tests.conftest import is_quick
from tests.support.special_prefixes import BOTH
from tests.support.tokenizers_drawn import DATA, VOCAB
from tokpar.arrays import IdArray
from tokpar.contract.adapter import inserted_ids
from tokpar.errors import EngineError, FileFormatError, OptionError
from tokpar.formats.openai import KNOWN_ENCODINGS
from tokpar.registry.tables import registry

pytestmark = pytest.mark.compiled_at_once

DEFAULT = DATA / "default.json"
CL100K = {"name": "cl100k_base"}


def load(path: Path, engine: Engine = ENGINE, **settings: Any) -> EngineTokenizer:
    adapter = load_engine(engine, path, **settings)
    assert adapter is not None
    return adapter


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_CACHE", str(tmp_path / "cache"))
    if is_quick():
        monkeypatch.setattr(compared_texts, "LONG", 100_000)
        monkeypatch.setattr(comparison, "DIVIDED", 130_000)


@pytest.fixture
def few_code_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine is compared on a sixteenth of the code points; the test of a file has all."""
    for name in ("unassigned_points", "code_points_in_contexts"):
        every = getattr(comparison, name)
        monkeypatch.setattr(comparison, name, lambda every=every: every()[::16])
    monkeypatch.setattr(comparison, "short_texts", lambda reference: short_texts(reference)[::4])


def changed(tmp_path: Path, **parts: Any) -> Path:
    """The bundled tokenizer with other parts."""
    config = json.loads(DEFAULT.read_text(encoding="utf-8"))
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**config, **parts}), encoding="utf-8")
    return path


# ------------------------------------------------------------------------------- the same ids

TRUNCATION = {"direction": "Left", "max_length": 9, "strategy": "LongestFirst", "stride": 0}
PADDING = {
    "strategy": {"Fixed": 12},
    "direction": "Left",
    "pad_to_multiple_of": 8,
    "pad_id": 5,
    "pad_type_id": 0,
    "pad_token": "%",
}
TEMPLATE = {
    "type": "TemplateProcessing",
    "single": [
        {"SpecialToken": {"id": "%", "type_id": 0}},
        {"Sequence": {"id": "A", "type_id": 0}},
        {"SpecialToken": {"id": "&", "type_id": 0}},
    ],
    "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
    "special_tokens": {
        "%": {"id": "%", "ids": [5], "tokens": ["%"]},
        "&": {"id": "&", "ids": [6, 7], "tokens": ["&", "'"]},
    },
}


@pytest.mark.each_value
@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"truncation": TRUNCATION},
        {"truncation": {**TRUNCATION, "direction": "Right", "max_length": 2}},
        {"padding": PADDING},
        {"padding": {**PADDING, "strategy": "BatchLongest", "direction": "Right"}},
        {"post_processor": TEMPLATE},
        {"truncation": TRUNCATION, "padding": PADDING, "post_processor": TEMPLATE},
        {"normalizer": {"type": "NFC"}, "post_processor": TEMPLATE},
    ],
    ids=lambda parts: "+".join(parts) or "plain",
)
@pytest.mark.parametrize("special", [True, False])
def test_what_a_file_applies_once_is_applied_as_by_its_library(
    tmp_path: Path, parts: dict[str, Any], special: bool
) -> None:
    path = changed(tmp_path, **parts)
    engine = load(path, trust=True, add_special_tokens=special)
    own = tokpar.load(path, add_special_tokens=special)
    texts = list(hostile_texts()[:: 3 if is_quick() else 1])
    with tokpar.Encoder(engine) as one, tokpar.Encoder(own) as other:
        for text in texts:
            assert one.encode(text) == other.encode(text).ids
        assert one.encode_batch(texts) == other.encode_batch(texts)
    assert repr(inserted_ids(engine)) == repr(inserted_ids(own))


def test_a_file_is_compared_and_conforms(twelfths_but_for: Callable[[str], None]) -> None:
    path = VOCAB / "llama_style.json"
    adapter = load(path)
    assert adapter.traits.agreement.startswith("same ids as tokenizers ")
    assert tokpar.encode("Hello", adapter).report.agreement == adapter.traits.agreement
    twelfths_but_for("reference")
    check_tokenizer(adapter, tokpar.load(path), examples=0)


def test_spans_and_text_are_those_of_the_library() -> None:
    for path in (DEFAULT, VOCAB / "bert_part.json"):
        adapter, own = load(path, trust=True), tokpar.load(path)
        one, other = (tokpar.encode("naïve 中文 test", each) for each in (adapter, own))
        assert one.spans.tolist() == other.spans.tolist()
        assert adapter.decode(one.ids) == own.decode(other.ids)  # type: ignore[attr-defined]


# ------------------------------------------------------------------------------- cuts and proofs


@pytest.mark.usefixtures("few_code_points")
def test_a_text_is_one_call_unless_the_caller_wants_cuts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compared_texts, "LONG", 100_000)
    monkeypatch.setattr(comparison, "DIVIDED", 130_000)
    text = "one two three. " * 3000
    whole = tokpar.encode(text, load(DEFAULT), chunk_chars=9000)
    assert (whole.report.chunks, whole.seams) == (1, ())
    assert "not proved" in whole.report.why
    adapter = load(DEFAULT, cut=True)
    parts = tokpar.encode(text, adapter, chunk_chars=9000)
    assert parts.report.chunks == 5
    assert parts == whole
    assert parts.report.agreement == whole.report.agreement
    assert tokpar.check(parts, text, adapter).ok


def test_a_pattern_of_no_known_family_proves_nothing_about_an_engine(tmp_path: Path) -> None:
    """tokpar asks a library about such a pattern, and can ask only the library of the file."""
    byte_level = {"type": "ByteLevel", "use_regex": False}
    byte_level |= {"add_prefix_space": False, "trim_offsets": False}
    split = {"type": "Split", "pattern": {"Regex": r"[a-y]+|\s+|[^a-y\s]+"}}
    split |= {"behavior": "Isolated", "invert": False}
    stages = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    path = changed(tmp_path, pre_tokenizer=stages)
    ranks = RankFile(VOCAB / "cl100k_part.tiktoken", {"pat_str": r"\s+|\S+", **CL100K})
    for file in (JsonFile(path), ranks):
        assert file.own.facts.unprovable is None
        assert "is not shipped" in str(file.facts.unprovable)
    assert JsonFile(DEFAULT).facts.unprovable is None


def test_cuts_need_the_comparison() -> None:
    with pytest.raises(OptionError, match="cut=True needs the comparison that trust=True leaves"):
        load(DEFAULT, cut=True, trust=True)


# ------------------------------------------------------------------------------- tiktoken files


@pytest.mark.usefixtures("few_code_points")
def test_a_tiktoken_file_takes_the_settings_of_tiktoken() -> None:
    path = VOCAB / "cl100k_part.tiktoken"
    text = "a <|endoftext|> b"
    with pytest.raises(ValueError, match="disallowed special token"):
        tokpar.encode(text, load(path, trust=True, **CL100K))
    for settings in (
        {"allowed_special": "all"},
        {"disallowed_special": ()},
        {"allowed_special": {"<|endoftext|>"}, "pat_str": r"\s+|\S+"},
        {"allowed_special": "all", "pat_str": r"\s+|\S+", "special_tokens": {"b": 100300}},
    ):
        adapter = load(path, trust=True, **CL100K, **settings)
        own = tokpar.load(path, **CL100K, **settings)
        assert tokpar.encode(text, adapter) == tokpar.encode(text, own).ids
    assert load(path, **CL100K).traits.agreement.startswith("same ids as tiktoken ")


# ------------------------------------------------------------------------------- refusals


@pytest.mark.usefixtures("few_code_points")
def test_an_engine_with_other_ids_is_refused_and_the_way_out_is_named() -> None:
    def wrong(module: Any, file: JsonFile) -> Calls:
        right = of_json(module, file)
        return replace(right, encode=lambda text: right.encode(text.replace("\x7f", "")))

    engine = replace(ENGINE, of_json=wrong)
    with pytest.raises(EngineError) as error:
        load(DEFAULT, engine)
    said = str(error.value)
    assert r"text      '\x7f' (1 code points)" in said
    assert f"tokpar.load({str(DEFAULT)!r})" in said
    assert "trust=True" in said
    adapter = load(DEFAULT, engine, trust=True)
    assert adapter.traits.agreement == TRUSTED
    assert tokpar.encode("a\x7f", adapter).report.agreement == "trusted, not checked"


class Panic(BaseException):
    """As pyo3's, by its name."""


Panic.__name__ = "PanicException"


def test_a_file_that_the_engine_refuses_is_named_with_the_words_of_the_engine() -> None:
    for refusal in (
        RuntimeError("no such model\n\nLocation: far away"),
        Panic("index out of bounds"),
    ):

        def refuses(module: Any, file: JsonFile, refusal: BaseException = refusal) -> Calls:
            raise refusal

        words = str(refusal).split("\n")[0]
        with pytest.raises(EngineError, match=rf"refuses .*default\.json \(.*: {words}\); load"):
            load(DEFAULT, replace(ENGINE, of_json=refuses))


def test_a_panic_while_encoding_is_an_engine_error() -> None:
    def panics(text: str) -> IdArray:
        raise Panic("at the disco")

    broken = replace(ENGINE, of_json=lambda module, file: Calls(panics, lambda texts: [panics("")]))
    adapter = load(DEFAULT, broken, trust=True)
    for call in (
        partial(adapter.encode, "abc"),
        partial(adapter.encode_whole, "abc"),
        partial(adapter.encode_many, ["a", "bc"], False),
    ):
        with pytest.raises(EngineError, match="tokenizers panicked: at the disco") as error:
            call()
        assert error.value.stop == 3


def test_a_flag_that_is_not_honoured_is_named_with_its_token() -> None:
    def refuses(module: Any, file: JsonFile) -> Calls:
        raise unhonoured(ENGINE, file, "<x>", "single_word", "finds it inside words")

    expected = (
        f"{DEFAULT}: added token '<x>' has single_word, but tokenizers finds it inside words; "
        f"load it with its own library: tokpar.load({str(DEFAULT)!r})"
    )
    with pytest.raises(EngineError) as error:
        load(DEFAULT, replace(ENGINE, of_json=refuses))
    assert str(error.value) == expected


def test_directories_and_names_are_left_to_load_which_finds_their_files(tmp_path: Path) -> None:
    assert load_engine(ENGINE, tmp_path) is None
    assert load_engine(ENGINE, "Qwen/Qwen2.5-7B") is None


@pytest.mark.parametrize(
    "content",
    [
        "{",
        '{"model": {}}',
        '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "padding": 5}',
        '{"model": {"type": "BPE", "vocab": {}}, "post_processor": {"type": "Other"}}',
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_named(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=r"is not a tokenizer\.json of Hugging Face") as error:
        load(path)
    assert str(path) in str(error.value)


def test_special_tokens_that_begin_with_one_another_are_refused() -> None:
    path, pattern = VOCAB / "cl100k_part.tiktoken", KNOWN_ENCODINGS["cl100k_base"].pattern
    settings = {"pat_str": pattern, "special_tokens": BOTH}
    with pytest.raises(OptionError, match="'<a>' is a prefix of '<a>b'"):
        load(path, trust=True, allowed_special={"<a>"}, **settings)
    load(path, trust=True, **settings)  # none is allowed


# ------------------------------------------------------------------------ refused special tokens

REFUSED = "<| a b c|>"
FAR = "one two three " * 40
LOSSLESS = {
    "auto": {"chunk_chars": 4},
    "cut": {"chunk_chars": 4},
    "lopt": {"chunk_chars": 4},
    "recursive": {"depth": 6},
    "blocks": {"chunk_chars": 4},
    "serial": {},
}


@cache
def refusing() -> EngineTokenizer:
    settings = {"special_tokens": {REFUSED: 300_000}, **CL100K}
    return load(VOCAB / "cl100k_part.tiktoken", trust=True, **settings)


@pytest.mark.parametrize("executor", ["threads", "serial"])
@pytest.mark.parametrize("strategy", [*LOSSLESS, "delimiter", "overlap"])
def test_a_refused_special_token_is_refused_by_every_strategy(executor: str, strategy: str) -> None:
    options: dict[str, Any] = LOSSLESS.get(strategy, {})
    settings = {"executor": executor, "workers": 2, "allow_approximate": True, **options}
    with tokpar.Encoder(refusing(), strategy=strategy, **settings) as encoder:
        for before, behind in product(["", "x", FAR], ["", " ", FAR]):
            text = before + REFUSED + behind
            for texts in ([text], [FAR, text], [text, FAR], [FAR, "x", text]):
                with pytest.raises(ValueError, match="disallowed special token"):
                    encoder.encode_batch(texts)
            for call in (encoder.encode, encoder.count):
                with pytest.raises(ValueError, match="disallowed special token"):
                    call(text)


# ------------------------------------------------------------------------------- directories


def test_a_directory_gives_its_file_and_the_fingerprint_has_what_loaded_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers")
    known = [*registry().tokenizer_sources(), engine_source(ENGINE)]
    sources = SimpleNamespace(tokenizer_sources=lambda: known)
    monkeypatch.setattr("tokpar.loading.registry", lambda: sources)
    path = changed(tmp_path, post_processor=TEMPLATE)
    config = {"tokenizer_class": "PreTrainedTokenizerFast"}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    settings = {"engine": ENGINE.name, "trust": True}
    adapter: Any = tokpar.load(tmp_path, **settings)
    own = transformers.AutoTokenizer.from_pretrained(str(tmp_path))
    assert adapter.encode_whole(FAR).tolist() == own(FAR).input_ids
    assert str(adapter.loader).startswith("AutoTokenizer, class ")
    file: Any = tokpar.load(path, **settings)
    assert file.loader is None
    assert file.fingerprint != adapter.fingerprint
    assert file.fingerprint == load(path, trust=True).fingerprint
