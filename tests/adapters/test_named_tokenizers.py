"""Names of tokenizers: directories, tiktoken's, repositories of the Hugging Face Hub."""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import tiktoken.load
from tokenizers import Tokenizer

import tokpar
from tests.support.cli_runs import run
from tests.support.tokenizers_drawn import VOCAB
from tokpar.adapters import named_tokenizers
from tokpar.errors import FileFormatError, UnknownNameError

huggingface_hub = pytest.importorskip("huggingface_hub")
pytest.importorskip("huggingface_hub.constants")
pytest.importorskip("huggingface_hub.errors")

FILE = VOCAB / "llama_style.json"
TEXT = "the cat sat on the mat"
IDS = Tokenizer.from_file(str(FILE)).encode(TEXT).ids
TWO_SPACES = "  two"
"""A text that LlamaTokenizer of transformers encodes otherwise than the file alone."""


def transformers() -> Any:
    return pytest.importorskip("transformers", reason="transformers is missing")


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the Hub with one repository; no net."""
    with suppress(ImportError):
        import_module("transformers.utils.hub")  # keeps the function that is replaced below
    snapshot = tmp_path / "hub" / "models--some--model" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    refs = tmp_path / "hub" / "models--some--model" / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    shutil.copy(FILE, snapshot / "tokenizer.json")
    (snapshot / "tokenizer_config.json").write_text('{"tokenizer_class": "LlamaTokenizer"}')
    absent = tmp_path / "hub" / "models--some--model" / ".no_exist" / "abc"
    absent.mkdir(parents=True)
    (absent / "config.json").touch()
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "hub"))

    def no_net(*given: Any, **named: Any) -> None:
        raise OSError(-2, "no net")

    monkeypatch.setattr(named_tokenizers.socket, "getaddrinfo", no_net)
    monkeypatch.setattr(named_tokenizers, "getproxies", dict)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", no_net)
    return tmp_path / "hub"


@pytest.mark.parametrize("name", ["cl100k_base", "gpt-4"])
def test_names_of_tiktoken_are_its_encodings(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    own = tiktoken.Encoding(
        "cl100k_base", pat_str=".", mergeable_ranks={bytes([k]): k for k in range(256)},
        special_tokens={},
    )  # fmt: skip
    monkeypatch.setattr(tiktoken, "get_encoding", {"cl100k_base": own}.__getitem__)
    assert tokpar.encode("ab", name).ids.tolist() == [97, 98]
    assert tokpar.load(name, allowed_special="all").name == "tiktoken:cl100k_base"


@pytest.fixture
def tiktoken_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The place of o200k_base in a cache of tiktoken; no encoding is loaded, and no net."""
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    monkeypatch.setattr("socket.getaddrinfo", refuse_download)
    monkeypatch.setattr(named_tokenizers, "getproxies", dict)
    return tmp_path / hashlib.sha1(O200K.encode()).hexdigest()


O200K = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"
NAMES_OF_O200K = {
    **dict.fromkeys(["o200k_base", "gpt-5", "gpt-5-mini", "gpt-4o", "o1-mini"], "o200k_base"),
    **dict.fromkeys(["o200k_harmony", "gpt-oss", "gpt-oss-20b"], "o200k_harmony"),
}


@pytest.mark.parametrize("name", NAMES_OF_O200K)
def test_a_name_of_tiktoken_comes_from_its_cache_or_the_place_of_the_file_is_told(
    name: str, tiktoken_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UnknownNameError) as refused:
        tokpar.load(name)
    known = NAMES_OF_O200K[name]
    for part in (
        f"its file {O200K} is not at {tiktoken_cache}: put",
        f"name='{known}'",
        "not found",
    ):
        assert part in str(refused.value)
    shutil.copy(VOCAB / "o200k_part.tiktoken", tiktoken_cache)
    monkeypatch.setattr("tiktoken.load.check_hash", lambda *_: True)  # a part stands for the file
    adapter = tokpar.load(name, allowed_special="all")
    assert adapter.name == f"tiktoken:{known}"
    text = "the end<|endoftext|><|start|>"
    own = tiktoken.get_encoding(known)
    assert adapter.encode(text).tolist() == own.encode(text, allowed_special="all")
    assert (len(adapter.encode("<|start|>")) == 1) == (known == "o200k_harmony")


def test_a_download_for_tiktoken_is_logged_and_ends(
    tiktoken_cache: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    waits: list[float] = []

    def get(url: str, timeout: float) -> None:
        assert url == O200K
        waits.append(timeout)
        raise TimeoutError("a long story\nof two lines")

    monkeypatch.setattr("requests.get", get)
    monkeypatch.setattr("socket.getaddrinfo", lambda *_: [])
    with pytest.raises(UnknownNameError, match=r"TimeoutError: a long story\); its file https"):
        tokpar.load("o200k_base")
    assert 0 < max(waits) <= 60
    assert f"{O200K}: downloading it for tiktoken" in caplog.text
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", "")
    with pytest.raises(UnknownNameError, match="is not looked for, since TIKTOKEN_CACHE_DIR is em"):
        tokpar.load("gpt-5")


def test_a_repository_comes_from_the_cache_of_the_hub_and_means_what_transformers_makes_of_it(
    hub: Path,
) -> None:
    [snapshot] = hub.glob("*/snapshots/*")
    ids = tokpar.encode(TWO_SPACES, "some/model")
    assert ids == transformers().AutoTokenizer.from_pretrained(snapshot)(TWO_SPACES).input_ids
    assert ids != tokpar.encode(TWO_SPACES, snapshot / "tokenizer.json")


def test_without_transformers_a_repository_means_its_file_or_is_an_error(
    hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [config] = hub.glob("*/snapshots/*/tokenizer_config.json")
    [file] = hub.glob("*/snapshots/*/tokenizer.json")

    def cached(name: str, file: str, local_files_only: bool) -> str:
        assert local_files_only
        if not config.with_name(file).exists():
            raise huggingface_hub.errors.EntryNotFoundError("404")
        return str(config.with_name(file))

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", cached)
    monkeypatch.setattr(named_tokenizers, "why_without_transformers", lambda: "not there")
    with pytest.raises(FileFormatError, match="sets tokenizer_class to"):
        tokpar.load("some/model")
    config.write_text("{}")
    for text in (TEXT, TWO_SPACES):
        ids = tokpar.load("some/model").encode(text)
        assert ids.tolist() == tokpar.load(file).encode(text).tolist()


def test_a_repository_that_is_not_there_is_told_at_once(
    hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        UnknownNameError, match="not in the cache of the Hugging Face Hub, and hugg"
    ):
        tokpar.load("other/model")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(UnknownNameError, match="HF_HUB_OFFLINE is set"):
        tokpar.load("other/model")


def test_a_repository_is_downloaded_and_that_is_said(
    hub: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(named_tokenizers.socket, "getaddrinfo", lambda *given: [])
    asked: list[dict[str, object]] = []

    def download(name: str, **options: object) -> object:
        asked.append({"name": name, **options})
        return transformers().PreTrainedTokenizerFast(tokenizer_file=str(FILE))

    monkeypatch.setattr(transformers().AutoTokenizer, "from_pretrained", download)
    assert tokpar.encode(TEXT, "other/model").ids.tolist() == IDS
    online = {"trust_remote_code": False, "local_files_only": False}
    assert asked == [{"name": "other/model", **online}]
    assert "other/model: downloading it" in caplog.text


def refuse_download(*_: object) -> bytes:
    raise OSError(-2, "no network")


@pytest.mark.usefixtures("hub")
def test_a_command_downloads_nothing_if_it_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", dict(os.environ))

    def download(*given: Any, **named: Any) -> None:
        raise AssertionError("a download")

    monkeypatch.setattr(named_tokenizers.socket, "getaddrinfo", download)
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    transformers()
    kept = run("encode", "--text", TEXT, "--tokenizer", "some/model", "--offline", "--quiet")
    assert [int(word) for word in kept.out.split()] == IDS
    error = run("encode", "--text", TEXT, "--tokenizer", "other/model", "--offline").error
    assert "it is not in the cache of the Hugging Face Hub, and HF_HUB_OFFLINE is set" in error
