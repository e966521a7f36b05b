"""TOKPAR_AS_HF=0: the objects stay what they are, and the engine encodes."""

from __future__ import annotations

from pathlib import Path

import pytest

import tokpar
from tests.support.hf_sources import FILES, fresh

TEXTS = ["", "short", "The quick brown fox jumps over the lazy dog. " * 2000]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("value", ["0", "1", ""])
def test_the_engine_encodes_every_text_with_the_same_ids(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = fresh(name)
    monkeypatch.setenv("TOKPAR_AS_HF", value)
    tokenizer = tokpar.as_hf(own)
    assert isinstance(tokenizer, type(own))
    assert tokenizer(TEXTS)["input_ids"] == own(TEXTS)["input_ids"]
    assert [tokenizer.encode(text) for text in TEXTS] == [own.encode(text) for text in TEXTS]
    assert (tokenizer.tokpar_calls == 0) == (value == "0")


def test_untrusted_text_still_spells_no_control_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKPAR_AS_HF", "0")
    own = fresh("deepseek_part")
    control = own.all_special_tokens[0]
    text = f"a {control}"
    ids = tokpar.as_hf(own)(text, untrusted=[(0, len(text))], add_special_tokens=False)
    assert own.convert_tokens_to_ids(control) not in ids["input_ids"]


def test_tokenizers_that_a_program_loads_are_switched_off_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transformers = pytest.importorskip("transformers", "5", reason="transformers 5 is missing")
    fresh("deepseek_part").save_pretrained(tmp_path)
    monkeypatch.setenv("TOKPAR_AS_HF", "0")
    with tokpar.patch_transformers():
        tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert tokenizer(TEXTS)["input_ids"] == fresh("deepseek_part")(TEXTS)["input_ids"]
    assert tokenizer.tokpar_calls == 0
