"""Why a tokenizer has no compiled call: the sentence is said everywhere, and it is true."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from tokenizers import Tokenizer, models

import tokpar
from tests.conftest import needs_kernel
from tests.support.cli_runs import run
from tests.support.paths import DATA, VOCAB
from tests.support.profiles import drawn
from tests.support.stage_configs import SHAPES, SHAPES_BELOW_ONE, Json, drawn_config
from tests.support.stages_drawn import tokenizer_of
from tokpar.adapters.hf_version import installed_release
from tokpar.compiled import compiled_build
from tokpar.compiled.compiled_build import BEING_MADE
from tokpar.facts import hf_facts

pytestmark = [needs_kernel, pytest.mark.compiled_at_once]
BELOW_ONE = pytest.mark.skipif(installed_release() >= (1,), reason="1.x has no compiled call")
PARTS = {"normalizer": "normalizers", "pre-tokenizer": "pretokenizers", "model": ""}
KINDS = sorted({*hf_facts._NORMALIZERS, *hf_facts.PRE_TOKENIZERS, *hf_facts._MODELS})


def kinds_of(config: Json, part: str) -> set[str]:
    """The types of the stages that a file has as this part."""
    own = config[part.replace("-", "_")]
    if own is None:
        return set()
    stages = own.get(PARTS[part], [own])
    return {own["type"], *(stage["type"] for stage in stages)}


def require_true(said: str, config: Json) -> None:
    """Fail for a sentence that names a stage, or a part, which the file does not have."""
    has = re.sub(r", (?:not|and WordPiece needs) .*|not WordPiece", "", said)
    every = set().union(*(kinds_of(config, part) for part in PARTS))
    named = set(re.findall(rf"\b(?:{'|'.join(KINDS)})\b", has))
    assert named - {"BPE"} <= every, (said, every)
    for part in PARTS:
        if re.search(rf"(?:its|the) {part}\b", has):
            assert kinds_of(config, part), said
        if re.search(rf"\bno {part}\b", has):
            assert not kinds_of(config, part), said
        claim = re.search(rf"(?:its|the) {part},? (?:is )?(?:a Sequence of )?(\w+)", has)
        if claim is not None and claim.group(1) in KINDS:
            assert claim.group(1) in kinds_of(config, part), said


@BELOW_ONE
def test_the_reason_names_stages_that_the_file_has() -> None:
    rng = random.Random(70)
    configs = [drawn_config(rng) for _ in range(drawn(600))]
    reasons = set()
    for config in [*configs, *SHAPES.values(), *SHAPES_BELOW_ONE.values()]:
        tokenizer: Any = tokpar.load(tokenizer_of(config))
        call = tokenizer.later_call and tokenizer.later_call.call
        assert (call is None) == bool(tokenizer.why_not_compiled)
        assert tokenizer.why_not_compiled != BEING_MADE
        require_true(tokenizer.why_not_compiled, config)
        reasons.add(tokenizer.why_not_compiled.split(":")[0])
    assert len(reasons) > 20


def test_a_sentence_about_another_file_is_found() -> None:
    config = SHAPES["starcoder"]
    for said in (
        "its normalizer is NFC",
        "its pre-tokenizer is Metaspace",
        "it has no pre-tokenizer",
    ):
        with pytest.raises(AssertionError):
            require_true(said, config)


@BELOW_ONE
def test_each_place_that_reports_says_why_there_is_no_compiled_call(tmp_path: Path) -> None:
    config = json.loads((VOCAB / "metaspace_unigram.json").read_text(encoding="utf-8"))
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps({**config, "pre_tokenizer": None}), encoding="utf-8")
    tokenizer: Any = tokpar.load(path)
    why = (
        "there is no pre-tokenizer: no place is certain to end a piece; and only a BPE parts a "
        "text without pre-tokenizer, not Unigram"
    )
    assert tokenizer.why_not_compiled == why
    with tokpar.Encoder(tokenizer) as encoder:
        for text in ("short", "long enough to be cut " * 2000):
            assert encoder.encode(text).report.why_not_compiled == why
            assert {each.report.why_not_compiled for each in encoder.encode_batch([text] * 3)} == {
                why
            }
    tried = run("try", path, "--text", "Hello world")
    assert f"compiled call none, because {why}" in " ".join(tried.out.split())
    planned = run("plan", "-", "--tokenizer", path, stdin=b"a b c")
    assert f"compiled call: none, because {why}" in planned.out


@BELOW_ONE
def test_a_tokenizer_with_a_compiled_call_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(SHAPES["gemma"]), encoding="utf-8")
    tokenizer: Any = tokpar.load(path)
    assert tokenizer.why_not_compiled == ""
    with tokpar.Encoder(tokenizer) as encoder:
        assert encoder.encode("Hello world").report.why_not_compiled == ""
        assert encoder.encode_batch(["Hello", "world"]).report.why_not_compiled == ""
    assert "compiled call tables made in" in run("try", path, "--text", "Hello").out


SETTINGS: list[tuple[dict[str, Any], str]] = [
    ({"cache_bytes": 0}, "cache_bytes=0"),
    ({"engine_check": "always"}, 'engine_check="always"'),
]


@pytest.mark.parametrize(("settings", "says"), SETTINGS)
@pytest.mark.parametrize("is_tiktoken", [False, True])
def test_a_setting_that_leaves_texts_to_the_engine_is_named(
    settings: dict[str, Any], says: str, is_tiktoken: bool
) -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    source = tiktoken.Encoding("own", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    tokenizer: Any = tokpar.load(source if is_tiktoken else DATA / "default.json", **settings)
    assert says in tokenizer.why_not_compiled


@pytest.mark.usefixtures("engine_only")
@pytest.mark.parametrize("why", ["TOKPAR_KERNEL=none is set", "it was not built"])
def test_a_missing_kernel_is_named(monkeypatch: pytest.MonkeyPatch, why: str) -> None:
    monkeypatch.setattr("tokpar.process.kernel_modules.WHY_NONE", why)
    tokenizer: Any = tokpar.load(DATA / "default.json", cache_bytes=1 << 20)
    assert tokenizer.why_not_compiled == f"no kernel: {why}"


def test_until_the_tables_are_made_the_reason_is_that(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_build, "IN_BACKGROUND", True)
    monkeypatch.setattr("tokpar.process.thread_pool.submit", lambda job: None)
    tokenizer: Any = tokpar.load(Tokenizer(models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")))
    with tokpar.Encoder(tokenizer) as encoder:
        assert encoder.encode("a").report.why_not_compiled == tokenizer.why_not_compiled
        assert tokenizer.why_not_compiled in (BEING_MADE, tokenizer.facts.unprovable)
        encoder.prepare()
        assert encoder.encode("a").report.why_not_compiled == tokenizer.why_not_compiled
        assert tokenizer.why_not_compiled != BEING_MADE


def test_tables_that_cannot_be_made_are_named_with_the_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def make(*_: object) -> Any:
        raise MemoryError("no room")

    monkeypatch.setattr(compiled_build, "IN_BACKGROUND", True)
    monkeypatch.setattr("tokpar.process.thread_pool.submit", lambda job: None)
    monkeypatch.setattr("tokpar.compiled.call_tables.byte_arrays", make)
    monkeypatch.setattr("tokpar.process.disk_cache.read", lambda *_: None)
    tokenizer: Any = tokpar.load(DATA / "default.json", cache_bytes=1 << 20)
    with pytest.raises(MemoryError):
        tokenizer.later_call.wait()
    assert tokenizer.why_not_compiled == "its tables could not be made: MemoryError: no room"
