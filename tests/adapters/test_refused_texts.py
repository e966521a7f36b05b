"""What is refused, and what an engine gives up on (docs/troubleshooting.md)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import tokpar
from tests.conftest import needs_below_one
from tests.support.paths import VOCAB
from tokpar import arrays
from tokpar.chunks import encoded_text
from tokpar.formats.formats import read_ranks
from tokpar.process import kernel_modules

pytestmark = pytest.mark.compiled_at_once

REFUSED = "<| a b c|>"
FAR = "one two three " * 40
"""Cut at each of its spaces."""


@cache
def refusing() -> tiktoken.Encoding:
    patterns = json.loads((VOCAB / "patterns.json").read_text(encoding="utf-8"))
    return tiktoken.Encoding(
        "refusing",
        pat_str=patterns["cl100k_part"],
        mergeable_ranks=read_ranks(VOCAB / "cl100k_part.tiktoken"),
        special_tokens={REFUSED: 300_000},
    )


LOSSLESS = {
    "auto": {"chunk_chars": 4},
    "cut": {"chunk_chars": 4},
    "lopt": {"chunk_chars": 4},
    "recursive": {"depth": 6},
    "blocks": {"chunk_chars": 4},
    "serial": {},
}
APPROXIMATE = ("delimiter", "overlap")


@pytest.mark.each_value
@pytest.mark.parametrize("executor", ["threads", "serial"])
@pytest.mark.parametrize("strategy", [*LOSSLESS, *APPROXIMATE])
@given(before=st.sampled_from(["", "x", FAR]), behind=st.sampled_from(["", " ", FAR]))
def test_a_refused_special_token_is_refused_by_every_strategy(
    executor: str, strategy: str, before: str, behind: str
) -> None:
    text = before + REFUSED + behind
    with tokpar.Encoder(
        refusing(),
        strategy=strategy,
        executor=executor,
        workers=2,
        allow_approximate=True,
        **LOSSLESS.get(strategy, {}),
    ) as encoder:
        for texts in ([text], [FAR, text], [text, FAR], [FAR, "x", text]):
            with pytest.raises(ValueError, match="disallowed special token"):
                encoder.encode_batch(texts)
        with pytest.raises(ValueError, match="disallowed special token"):
            encoder.encode(text)
        with pytest.raises(ValueError, match="disallowed special token"):
            encoder.count(text)


DOORS: dict[str, Callable[[tokpar.Encoder, str], object]] = {
    "chunks": lambda encoder, text: [*encoder.chunks(text, 4)],
    "chunks, first alone": lambda encoder, text: next(encoder.chunks(text, 4)),
    "chunks at cuts": lambda encoder, text: [*encoder.chunks(text, 9, 2, "cut")],
    "count": lambda encoder, text: encoder.count(text, limit=2),
    "fit": lambda encoder, text: encoder.fit([text], 5),
    "session": lambda encoder, text: encoder.session(text).ids,
    "stream": lambda encoder, text: [*encoder.stream([text])],
    "stream of characters": lambda encoder, text: [*encoder.stream(iter(text))],
    "encode_iter": lambda encoder, text: [*encoder.encode_iter([text])],
}


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("before", "behind"), [("", ""), ("x", " "), (FAR, FAR), ("", 20 * FAR), (9 * FAR, "")]
)
def test_a_refused_special_token_is_refused_by_every_door(
    door: str, before: str, behind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoded_text, "REGION", 40)  # a cut at each space inside the token
    encoder = tokpar.Encoder(refusing())
    with pytest.raises(ValueError, match="disallowed special token"):
        DOORS[door](encoder, before + REFUSED + behind)
    DOORS[door](encoder, before + REFUSED.replace("a", "b") + behind)


# ------------------------------------------------------------------------------- giving up


@cache
def byte_level_with(pattern: str) -> Tokenizer:
    """A byte-level BPE that isolates the matches of `pattern`."""
    config = json.loads((VOCAB / "deepseek_part.json").read_text(encoding="utf-8"))
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
    stages = [split | {"invert": False}, level | {"use_regex": False}]
    config["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": stages}
    return Tokenizer.from_str(json.dumps(config))


@cache
def prepared_encoder(own: Tokenizer) -> tokpar.Encoder:
    encoder = tokpar.Encoder(own)
    encoder.prepare()
    return encoder


@pytest.mark.ids
@pytest.mark.skipif(kernel_modules.CALL is None, reason="the engine encodes without the kernel")
@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)+$"])
@given(before=st.sampled_from(["", "b", "x y "]), behind=st.sampled_from(["!", " b", "! x"]))
def test_a_text_on_which_the_own_pattern_gives_up_has_the_ids_of_its_definition_from_tables(
    pattern: str, before: str, behind: str
) -> None:
    text, own = before + "a" * 40 + behind, byte_level_with(pattern)
    prepared = prepared_encoder(own)
    expected = byte_level_with("a+$").encode(text).ids  # the same matches, found in one way
    assert prepared.encode(text).ids.tolist() == expected
    engine = tokpar.Encoder(tokpar.load(own, engine_check="always"))
    with pytest.raises(tokpar.EngineError, match="too many ways to match"):
        engine.encode(text)


@pytest.mark.each_value
@pytest.mark.parametrize("length", [1, 100, arrays.SHORT_TEXT, 3 * arrays.SHORT_TEXT])
@pytest.mark.parametrize("filling", ["a", "é", "中", "\U0001f600"])
@pytest.mark.parametrize("code", [0xD7FF, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xE000])
def test_a_surrogate_is_seen_in_texts_of_any_length(length: int, filling: str, code: int) -> None:
    lone = 0xD800 <= code <= 0xDFFF
    for place in {0, length // 2, length - 1}:
        text = filling * place + chr(code) + filling * (length - place - 1)
        assert arrays.has_surrogate(text) == arrays.has_surrogate(text) == lone
    assert not arrays.has_surrogate(filling * length)


@cache
def hugging_face_file(name: str) -> tuple[Tokenizer, tokpar.Encoder]:
    path = str(VOCAB / f"{name}.json")
    return Tokenizer.from_file(path), tokpar.Encoder(path)


@needs_below_one
@pytest.mark.parametrize("name", ["deepseek_part", "bert_part"])
@given(
    before=st.text("a é\n", max_size=9) | st.just("a b " * 9000),
    char=st.characters(categories=["Cs"]),
    behind=st.text(" b\ud800\udfff", max_size=9).filter(lambda text: text[:1] < "\udc00"),
)
def test_a_lone_surrogate_is_named_after_the_own_words(
    name: str, before: str, char: str, behind: str
) -> None:
    own, encoder = hugging_face_file(name)
    text = before + char + behind
    with pytest.raises(TypeError) as said:
        own.encode(text)
    doors: dict[str, Callable[[], object]] = {
        "encode": lambda: encoder.encode(text),
        "encode_batch": lambda: encoder.encode_batch(["a", text]),
        "encode_iter": lambda: list(encoder.encode_iter([text, "b"])),
        "count": lambda: encoder.count(text),
    }
    for door in doors.values():
        with pytest.raises(TypeError) as refused:
            door()
        told = str(refused.value)
        place = f"a lone surrogate, U+{ord(char):04X}, at code point {len(before):,}: "
        assert f"{said.value}. The text has {place}replace it: text.encode(" in told
        assert told.count("lone surrogate") == 1
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert encoder.encode(whole).ids.tolist() == own.encode(whole).ids
