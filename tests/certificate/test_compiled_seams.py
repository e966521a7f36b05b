"""Texts that the compiled call encoded have the seams of others: at each sure space, or far apart.

Gemma's kind (spaces become "▁") and Llama 2's (a prefix, and spaces that it absorbs)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from tokenizers import AddedToken, Tokenizer

import tokpar
from tests.conftest import needs_kernel
from tests.support.paths import VOCAB
from tests.support.profiles import drawn
from tests.support.stage_configs import MARKS, SHAPES, byte_bpe, config, stage
from tests.support.stages_drawn import tokenizer_of
from tokpar.adapters.hf_version import installed_release
from tokpar.pipeline.call_result import BY_CALL

pytestmark = [
    pytest.mark.ids,
    needs_kernel,
    pytest.mark.compiled_at_once,
    pytest.mark.skipif(installed_release() >= (1,), reason="1.x has no compiled call"),
]
FALLING = {"byte_fallback": True}
MERGES = [[">", "▁"], ["▁", "a"], ["▁", "▁"], ["a", "b"], ["▁a", "b"], ["。", "▁"]]
PIECES = ("a", "b", "ab", " a", " ab", " b", "  ", " ", ">", "> ", "。", "。 ", "▁", "\n", "é", "x")
FEW = ("a", "b", "ab", " a", " ab", " b", "\n", "x")
PREFIX = stage("Prepend", prepend="▁")


def llama_2() -> Tokenizer:
    return Tokenizer.from_file(str(VOCAB / "llama_style.json"))


KINDS: dict[str, Callable[[], Tokenizer]] = {
    "gemma": lambda: tokenizer_of(config(byte_bpe(MERGES, **FALLING), [MARKS])),
    "gemma, Split": lambda: tokenizer_of(SHAPES["gemma, Split"]),
    "llama 2, small": lambda: tokenizer_of(
        config(byte_bpe(MERGES[1:], **FALLING), [PREFIX, MARKS])
    ),
    "llama 2, joined": lambda: tokenizer_of(config(byte_bpe(MERGES, **FALLING), [PREFIX, MARKS])),
    "llama 2": llama_2,
    "llama, Metaspace": lambda: tokenizer_of(SHAPES["llama, Metaspace"]),
}
ADDED = ("<s>", "  ", " ab", "b ", "x")


def encoder_of(own: Tokenizer, apart: int, monkeypatch: pytest.MonkeyPatch) -> tokpar.Encoder:
    """An encoder that takes each text for a long one; seams are `apart` code points apart."""
    monkeypatch.setattr("tokpar.pipeline.compiled_texts.SEAM_CHARS", apart)
    encoder = tokpar.Encoder(tokpar.load(own, add_special_tokens=False))
    encoder._smallest_split = 1
    return encoder


def require_seams_of_the_engine(own: Tokenizer, text: str, encoding: tokpar.Encoding) -> int:
    """Fail if the engine has other ids for the two sides of a seam. Returns how many there are."""

    def ids(part: str) -> list[int]:
        return list(own.encode(part, add_special_tokens=False).ids)

    whole = ids(text)
    assert encoding.ids.tolist() == whole
    seams = list(encoding.seams)
    for seam in seams:
        left, right = ids(text[: seam.position]), ids(text[seam.position + seam.absorbed :])
        assert left + right == whole, (text, seam)
        assert len(left) == seam.token
    return len(seams)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("apart", [3, 40])
def test_each_seam_of_a_compiled_text_is_one_of_the_engine(
    name: str, apart: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, plans, count = random.Random(apart), set(), 0
    for round_ in range(drawn(20)):
        own = KINDS[name]()
        if round_ % 2:
            flags = {flag: rng.random() < 0.3 for flag in ("lstrip", "rstrip", "single_word")}
            own.add_tokens([AddedToken(rng.choice(ADDED), normalized=False, **flags)])
        encoder = encoder_of(own, apart, monkeypatch)
        if encoder.tokenizer.why_not_compiled:  # type: ignore[attr-defined]
            continue
        for _ in range(6):
            pieces = rng.choice((PIECES, FEW))
            text = "".join(rng.choices(pieces, k=rng.randrange(1, 60)))
            encoding = encoder.encode(text)
            count += require_seams_of_the_engine(own, text, encoding)
            assert tokpar.check(encoding, text, encoder.tokenizer).ok
            row = encoder.encode_batch([text, "a b"])[0]
            require_seams_of_the_engine(own, text, row)
            plans.add(encoding.report.plan)
            assert "too short" not in encoding.report.why
            if encoding.report.plan == "one compiled call":
                assert encoding.report.why == BY_CALL
    divided = set() if name == "llama 2, joined" else {"divided at every space"}
    assert plans - {"serial"} == {"one compiled call"} | divided
    assert count > 5


def test_the_checker_asks_for_each_distinct_segment_of_such_a_text_once() -> None:
    own = KINDS["gemma"]()
    encoder = tokpar.Encoder(tokpar.load(own))
    text = "ab a b abab " * 3000
    encoding = encoder.encode(text)
    assert len(encoding.seams) > 9000
    asked: list[str] = []
    tokenizer: Any = encoder.tokenizer
    own_encode = tokenizer.encode

    def encode(text: str) -> Any:
        asked.append(text)
        return own_encode(text)

    tokenizer.encode = encode
    report = tokpar.check(encoding, text, tokenizer)
    assert report.ok
    assert report.level == "ids"
    assert sum(map(len, asked)) < len(text) // 10


def test_empty_texts_of_a_batch_have_no_region_and_check() -> None:
    for encoding in tokpar.Encoder("default", strategy="serial").encode_batch(["", "", "a b"]):
        assert tokpar.check(encoding, "" if not len(encoding) else "a b").ok
