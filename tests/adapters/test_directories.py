"""A directory means what `AutoTokenizer.from_pretrained` makes of it, or it is an error."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tokpar
from tests.support.directories_drawn import (
    KINDS,
    drawn_files,
    drawn_texts,
    file_of,
    silent_files,
    write_directory,
)
from tests.support.profiles import divided
from tokpar.adapters import named_tokenizers
from tokpar.contract.adapter import Loader, loader_of
from tokpar.errors import FileFormatError, OptionError, TokparError

CALLS = ("__call__", "encode", "_encode_plus", "_batch_encode_plus")
TEXT = "  two the cat Café</s> 中文 [SEP]"
STRIPPING = {"content": "</s>", "lstrip": True, "special": True}
"""A special token of the file "llama", with another flag."""
_numbers = itertools.count()


@pytest.fixture(scope="module")
def transformers() -> Any:
    return pytest.importorskip("transformers", reason="transformers is missing")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("directories")


def made(folder: Path, files: dict[str, Any]) -> Path:
    """A new directory; its name holds no name of a model."""
    return write_directory(folder / f"x{next(_numbers)}", files)


def auto(transformers: Any, directory: Path) -> Any:
    """What transformers makes of a directory, or its error."""
    try:
        return transformers.AutoTokenizer.from_pretrained(directory, trust_remote_code=False)
    except Exception as error:
        return error


def changes_calls(transformers: Any, tokenizer: Any) -> bool:
    """True if a class below the fast tokenizers of transformers has a call of its own."""
    fast, kinds = transformers.PreTrainedTokenizerFast, type(tokenizer).__mro__
    if fast not in kinds:
        return True
    return any(name in vars(kind) for kind in kinds[: kinds.index(fast)] for name in CALLS)


@contextmanager
def without_transformers() -> Iterator[None]:
    """The block runs as if transformers were not installed."""
    hidden = {name: None for name in sys.modules if name.partition(".")[0] == "transformers"}
    named_tokenizers.why_without_transformers.cache_clear()
    try:
        with patch.dict(sys.modules, hidden | {"transformers": None}):
            yield
    finally:
        named_tokenizers.why_without_transformers.cache_clear()


def ids_of(call: Any, text: str) -> object:
    """The ids of a text, or that the engine refuses the text."""
    try:
        found = call(text)
    except Exception:
        return "refused"
    return [int(id_) for id_ in getattr(found, "ids", getattr(found, "input_ids", found))]


def assert_same_ids(directory: Path, tokenizer: Any, texts: list[str]) -> None:
    """tokpar gives the ids of `tokenizer` for a directory, alone, in a batch and cut."""
    with tokpar.Encoder(directory, chunk_chars=64, strategy="cut") as encoder:
        whole = tokpar.Encoder(directory)
        for text in texts:
            expected = ids_of(tokenizer, text)
            assert ids_of(encoder.encode, text) == ids_of(whole.encode, text) == expected
        if "refused" not in [ids_of(tokenizer, text) for text in texts]:
            rows = whole.encode_batch(texts)
            assert [list(row) for row in rows] == [ids_of(tokenizer, text) for text in texts]


@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@divided(len(KINDS))
@given(data=st.data())
def test_a_directory_gives_the_ids_of_autotokenizer_or_an_error(
    kind: str, transformers: Any, folder: Path, data: st.DataObject
) -> None:
    directory = made(folder, data.draw(drawn_files(kind), label="files"))
    text = data.draw(drawn_texts(), label="text")
    tokenizer = auto(transformers, directory)
    if isinstance(tokenizer, Exception) or changes_calls(transformers, tokenizer):
        with pytest.raises(FileFormatError, match=r"pass .*(name the|no) file") as caught:
            tokpar.load(directory)
        if not isinstance(tokenizer, Exception):
            assert type(tokenizer).__name__ in str(caught.value)
        return
    assert_same_ids(directory, tokenizer, [text, TEXT, 40 * f"{text} {TEXT}"])


@pytest.mark.ids
@pytest.mark.parametrize("kind", KINDS)
@divided(len(KINDS))
@given(data=st.data())
def test_without_transformers_a_directory_gives_the_same_ids_or_an_error(
    kind: str, transformers: Any, folder: Path, data: st.DataObject
) -> None:
    directory = made(folder, data.draw(drawn_files(kind), label="files"))
    text = data.draw(drawn_texts(), label="text")
    try:
        with without_transformers():
            tokpar.load(directory)
    except FileFormatError:
        words = "or name the file|or pass a tokenizer object: it holds"
        with without_transformers(), pytest.raises(FileFormatError, match=words):
            tokpar.load(directory)
        return
    tokenizer = auto(transformers, directory)
    with without_transformers():
        assert_same_ids(directory, tokenizer, [text, TEXT, 40 * f"{text} {TEXT}"])


@pytest.mark.parametrize("kind", KINDS)
@divided(len(KINDS))
@given(data=st.data())
def test_without_transformers_settings_without_effect_are_accepted(
    kind: str, folder: Path, data: st.DataObject
) -> None:
    files = data.draw(silent_files(kind), label="files")
    decodes = files.get("tokenizer_config.json", {}).get("clean_up_tokenization_spaces")
    directory = made(folder, files | {"tokenizer.json": file_of(kind)})
    with without_transformers():
        if decodes and kind in ("bert", "unigram"):
            with pytest.raises(FileFormatError, match="sets clean_up_tokenization_spaces to true"):
                tokpar.load(directory)
        else:
            assert loader_of(tokpar.load(directory)) == Loader("tokenizer.json")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("tokenizer_config.json", {"add_prefix_space": True}, "sets add_prefix_space to true"),
        ("tokenizer_config.json", {"split_special_tokens": True}, "sets split_special_tokens to"),
        ("tokenizer_config.json", {"tokenizer_class": "LlamaTokenizer"}, 'class to "LlamaTok'),
        ("tokenizer_config.json", {"pad_token": "<new>"}, 'sets pad_token to "<new>"'),
        ("tokenizer_config.json", {"eos_token": STRIPPING}, "sets eos_token to"),
        ("tokenizer_config.json", {"extra_special_tokens": [STRIPPING]}, "sets extra_special_to"),
        (
            "tokenizer_config.json",
            {"added_tokens_decoder": {"2": STRIPPING}},
            "sets added_tokens_d",
        ),
        ("tokenizer_config.json", {"fast_tokenizer_files": ["a"]}, "sets fast_tokenizer_files"),
        ("special_tokens_map.json", {"unk_token": "<new>"}, "special_tokens_map.json sets unk"),
        ("added_tokens.json", {"<new>": 300}, "added_tokens.json sets <new> to 300"),
        ("config.json", {"model_type": "llama"}, 'config.json sets model_type to "llama"'),
        ("config.json", {}, "holds config.json"),
        ("vocab.json", {}, "holds vocab.json"),
        ("tekken.json", {}, "holds tekken.json"),
        ("code.py", "", "holds code.py"),
    ],
)
def test_without_transformers_what_may_decide_ids_is_named_with_both_ways_out(
    tmp_path: Path, name: str, content: Any, message: str
) -> None:
    directory = made(tmp_path, {"tokenizer.json": file_of("llama"), name: content})
    with without_transformers(), pytest.raises(FileFormatError, match=message) as caught:
        tokpar.load(directory)
    assert f"or name the file ({directory / 'tokenizer.json'})" in str(caught.value)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"tokenizer_class": "CodeLlamaTokenizer"}, "CodeLlamaTokenizer, which changes .*pass"),
        ({"tokenizer_class": "CTRLTokenizer"}, "CTRLTokenizer, which has no backend tokenizer"),
        ({"auto_map": {"AutoTokenizer": ["a.Slow", "a.Fast"]}}, "names a.Fast, whose code"),
        ({"auto_map": ["a.Slow", None]}, "names a.Slow, whose code"),
    ],
)
def test_a_class_that_encodes_in_python_is_named(
    transformers: Any, tmp_path: Path, config: dict[str, Any], message: str
) -> None:
    vocabulary = {"vocab.json": {"<unk>": 0, "a</w>": 1}, "merges.txt": "#version: 0.2\n"}
    files = {"tokenizer.json": file_of("llama"), "tokenizer_config.json": config} | vocabulary
    with pytest.raises(FileFormatError, match=message):
        tokpar.load(made(tmp_path, files))


def test_a_class_of_the_user_encodes_as_its_backend_does_or_is_named(
    transformers: Any, tmp_path: Path
) -> None:
    from tokenizers import processors

    class Switching(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]
        """A call sets the post-processor first, as those of translation models do."""

        def _switch_to_input_mode(self) -> None:
            own = self.backend_tokenizer
            own.post_processor = processors.TemplateProcessing("$A </s> </s>", None, [("</s>", 2)])

    class Encoding(transformers.PreTrainedTokenizerFast):  # type: ignore[misc]
        def _encode_plus(self, text: Any, *given: Any, **named: Any) -> Any:
            return super()._encode_plus(text, *given, **named)

    for kind in (Switching, Encoding):
        config_class = type(f"{kind.__name__}Config", (transformers.PretrainedConfig,), {})
        transformers.AutoTokenizer.register(config_class, fast_tokenizer_class=kind)
    config = {"tokenizer_class": "Switching"}
    files = {"tokenizer.json": file_of("llama"), "tokenizer_config.json": config}
    directory = made(tmp_path, files)
    assert_same_ids(directory, auto(transformers, directory), [TEXT])
    assert tokpar.encode(TEXT, directory).ids[-2:].tolist() == [2, 2]
    files["tokenizer_config.json"] = {"tokenizer_class": "Encoding"}
    with pytest.raises(FileFormatError, match="as Encoding, which changes _encode_plus in Python"):
        tokpar.load(made(tmp_path, files))


def test_a_class_that_decodes_in_python_encodes_and_does_not_decode(
    transformers: Any, tmp_path: Path
) -> None:
    config = {"tokenizer_class": "CodeGenTokenizer"}
    files = {"tokenizer.json": file_of("gpt2"), "tokenizer_config.json": config}
    directory = made(tmp_path, files)
    assert_same_ids(directory, auto(transformers, directory), [TEXT])
    for call in (tokpar.Encoder(directory).decode, tokpar.Encoder(directory).decode_stream):
        with pytest.raises(
            OptionError, match="cannot be used: CodeGenTokenizer has its own decode"
        ):
            list(call([1]))


@pytest.mark.parametrize("kind", KINDS)
@divided(len(KINDS))
@given(data=st.data())
def test_an_engine_that_reads_files_gets_what_transformers_made_or_an_error(
    kind: str, transformers: Any, folder: Path, data: st.DataObject
) -> None:
    directory = made(folder, data.draw(drawn_files(kind), label="files"))
    try:
        pure = tokpar.load(directory, engine="pure")
    except TokparError:
        return
    tokenizer = auto(transformers, directory)
    for text in ("the two", TEXT):
        assert ids_of(tokpar.Encoder(pure).encode, text) == ids_of(tokenizer, text)
    assert loader_of(pure) == loader_of(tokpar.load(directory))


@pytest.mark.parametrize("is_installed", [True, False])
def test_an_engine_gets_a_file_without_the_truncation_and_padding_of_the_directory(
    transformers: Any, tmp_path: Path, is_installed: bool
) -> None:
    directory = made(tmp_path, {"tokenizer.json": file_of("bert")})
    tokenizer = auto(transformers, directory)
    with without_transformers() if not is_installed else patch.dict({}):
        for engine in (None, "huggingface", "pure"):
            adapter = tokpar.load(directory, engine=engine)
            for text in ("the", 9 * TEXT):
                assert ids_of(tokpar.Encoder(adapter).encode, text) == ids_of(tokenizer, text)
