"""An engine of another package gives what `tokpar.load` of the same file gives, or is refused.

The engines here are tokenizers and tiktoken themselves, so that no other package is needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import tokpar
import tokpar.registry as registry_module
from tests.conftest import cases, is_quick
from tests.support.engines import VOCABULARIES
from tests.support.plugged_engines import ENGINE, of_json
from tests.support.tokenizers_drawn import DATA, VOCAB
from tokpar.adapters.engine import (
    TRUSTED,
    Calls,
    Engine,
    EngineTokenizer,
    load_engine,
    unhonoured,
)
from tokpar.adapters.engine_files import JsonFile
from tokpar.arrays import IdArray
from tokpar.errors import EngineError, FileFormatError, OptionError, UnknownNameError
from tokpar.interfaces import inserted_ids
from tokpar.parity import compared_texts, comparison
from tokpar.parity.compared_texts import hostile_texts, short_texts
from tokpar.registry import registry
from tokpar.testing import check_tokenizer

pytestmark = pytest.mark.tables_kept

DEFAULT = DATA / "default.json"
CL100K = {"name": "cl100k_base"}


def load(path: Path, engine: Engine = ENGINE, **settings: Any) -> EngineTokenizer:
    adapter = load_engine(engine, path, **settings)
    assert adapter is not None
    return adapter


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_classes: None) -> None:
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


def test_a_package_that_is_missing_or_old_is_named_with_the_command() -> None:
    with pytest.raises(EngineError, match=r"needs the package no-such: pip install 'no-such>=1'"):
        load(DEFAULT, replace(ENGINE, name="no-such", least="1"))
    with pytest.raises(EngineError, match=r"needs tokenizers 999 or later, 0\.\S+ is installed: "):
        load(DEFAULT, replace(ENGINE, least="999"))
    load(DEFAULT, replace(ENGINE, least="0.3rc1"), trust=True)


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


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"trust": 1}, "trust must be True or False, got 1"),
        ({"cut": "yes"}, "cut must be True or False, got 'yes'"),
        (
            {"speed": 9},
            "unknown setting 'speed'; known: add_special_tokens, truncation, padding, cut, trust",
        ),
        ({"add_special_tokens": None}, "add_special_tokens must be True or False, got None"),
    ],
)
def test_a_setting_that_there_is_not_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionError, match=said):
        load(DEFAULT, **settings)


def test_files_of_other_kinds_are_refused(tmp_path: Path) -> None:
    assert load_engine(ENGINE, object()) is None
    with pytest.raises(OptionError, match=r"reads tokenizer\.json files and \.tiktoken files, got"):
        load(Path(__file__))
    with pytest.raises(OptionError, match=r"reads tokenizer\.json files, got .*x\.tiktoken"):
        load(tmp_path / "x.tiktoken", replace(ENGINE, of_ranks=None))
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "missing.json")


def test_directories_and_names_are_left_to_load_which_finds_their_files(tmp_path: Path) -> None:
    assert load_engine(ENGINE, tmp_path) is None
    assert load_engine(ENGINE, "Qwen/Qwen2.5-7B") is None


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "expected JSON"),
        ('{"model": {}}', "is no tokenizer.json"),
        (
            '{"model": {"type": "BPE", "vocab": {}, "merges": []}, "padding": 5}',
            "padding: expected",
        ),
        (
            '{"model": {"type": "BPE", "vocab": {}}, "post_processor": {"type": "Other"}}',
            "post-processor Other is not supported",
        ),
    ],
)
def test_a_file_that_is_not_what_it_should_be_is_named(
    tmp_path: Path, content: str, said: str
) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)
    with pytest.raises(FileFormatError, match=said) as error:
        load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("engine", "package"),
    [
        ("fastokens", "tokpar-fastokens"),
        ("gigatoken", "tokpar-gigatoken"),
        ("sentencepiece", "tokpar-sentencepiece"),
        ("tokentree", "tokpar-bench"),
        ("tokie", "tokpar-tokie"),
    ],
)
def test_an_engine_of_a_plugin_that_is_not_there_is_named_with_the_command(
    engine: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry_module, "_registry", [registry_module.Registry.load([])])
    with pytest.raises(
        UnknownNameError, match=f"unknown engine '{engine}'.*pip install ./plugins/{package},"
    ):
        tokpar.load(DEFAULT, engine=engine)


def test_an_engine_that_nobody_knows_comes_without_a_command() -> None:
    with pytest.raises(UnknownNameError) as error:
        tokpar.load("default", engine="nobody")
    assert "pip" not in str(error.value)


# ------------------------------------------------------------------------------- our plugins

CONFORMING = [
    ("fastokens", "`deepseek_part.json`, renumbered"),
    ("fastokens", "`llama_style.json`"),
    ("gigatoken", "`deepseek_part.json`, renumbered"),
    ("gigatoken", "`deepseek_part.json`"),
    ("gigatoken", "`llama_style.json`"),
]


@pytest.mark.parametrize(
    ("engine", "vocabulary"),
    cases(CONFORMING, CONFORMING[1::2]),
)
def test_an_installed_plugin_conforms_on_the_vocabularies_of_the_findings(
    tmp_path: Path, engine: str, vocabulary: str
) -> None:
    if engine not in {source.name for source in registry().tokenizer_sources()}:
        pytest.skip(f"optional: needs tokpar-{engine}")
    content = VOCABULARIES[vocabulary]()
    assert isinstance(content, str)
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    adapter = tokpar.load(path, engine=engine)
    check_tokenizer(adapter, tokpar.load(path), examples=0)


def test_a_unigram_of_the_findings_with_ties_is_refused_for_tokie(tmp_path: Path) -> None:
    """The page has a text of it with other ids, '&___', which the comparison did not find."""
    if "tokie" not in {source.name for source in registry().tokenizer_sources()}:
        pytest.skip("optional: needs tokpar-tokie")
    content = VOCABULARIES["`metaspace_unigram.json`"]()
    assert isinstance(content, str)
    path = tmp_path / "tokenizer.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EngineError, match="have several divisions with the best score"):
        tokpar.load(path, engine="tokie")
    other, own = tokpar.load(path, engine="tokie", trust=True), tokpar.load(path)
    assert other.encode("&___").tolist() != own.encode("&___").tolist()
