"""`adapter.fingerprint`, and which tokenizers share a snapshot."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, processors

import tokpar
from tests.support.hf_sources import fresh
from tests.support.paths import DEFAULT

pytestmark = pytest.mark.compiled_at_once

LONG = "The quick brown fox, 1234567 times.\n\n  Naïve café 中文字! " * 150


def loaded(source: object, **settings: Any) -> Any:
    return tokpar.load(source, **settings)


def default() -> Tokenizer:
    return Tokenizer.from_file(str(DEFAULT))


def test_another_process_gives_the_same_fingerprint() -> None:
    code = f"import tokpar; print(tokpar.load({str(DEFAULT)!r}).fingerprint)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == loaded(default()).fingerprint == loaded(DEFAULT).fingerprint


def changes() -> dict[str, Any]:
    return {
        "added token": lambda t: t.add_tokens(["quick brown"]),
        "flag": lambda t: t.add_tokens([AddedToken("qu", lstrip=True)]),
        "normalizer": lambda t: setattr(t, "normalizer", normalizers.Lowercase()),
        "pre-tokenizer": lambda t: setattr(t, "pre_tokenizer", None),
        "post-processor": lambda t: setattr(
            t, "post_processor", processors.ByteLevel(trim_offsets=False)
        ),
        "model": lambda t: setattr(t, "model", models.WordLevel({"a": 0}, unk_token="a")),
        "truncation": lambda t: t.enable_truncation(9),
        "padding": lambda t: t.enable_padding(),
        "special tokens": lambda t: setattr(t, "encode_special_tokens", True),
    }


@pytest.mark.parametrize("name", changes())
def test_whatever_decides_ids_changes_the_fingerprint(name: str) -> None:
    own = default()
    before = loaded(own).fingerprint
    changes()[name](own)
    assert loaded(own).fingerprint != before


def test_tokenizers_of_one_engine_share_a_snapshot() -> None:
    own = tokpar.as_hf(fresh("left"))
    own(LONG)
    again = copy.copy(own)
    first, second = (tokpar.load(each) for each in (own, again))
    assert first is second
    assert again(LONG)["input_ids"] == own(LONG)["input_ids"]
    again.add_tokens(["quick brown"])
    expected = again._tokpar_original()(LONG)["input_ids"]
    assert own(LONG)["input_ids"] == again(LONG)["input_ids"] == expected
    assert tokpar.load(own) is tokpar.load(again) is not first


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda each: pickle.loads(pickle.dumps(each))])
def test_a_copy_with_an_engine_of_its_own_is_another_tokenizer(copied: Any) -> None:
    own = tokpar.as_hf(fresh("left"))
    again, before = copied(own), own(LONG)["input_ids"]
    again.add_tokens(["quick brown"])
    assert again(LONG)["input_ids"] == again._tokpar_original()(LONG)["input_ids"] != before
    assert own(LONG)["input_ids"] == before
