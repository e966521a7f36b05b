"""A quick look at every kind of model that the compiled call takes: each answer is the engine's.

The tokenizers and texts are the same in each run. Other tests draw others. An answer that the call
leaves to the engine is a failure here, because the number of its answers is known."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

import tokpar
from tests.conftest import needs_below_one, needs_kernel
from tests.support.cached_texts import ENGLISH
from tests.support.call_answers import own_ids
from tests.support.calls_drawn import DRAWN, draw_added, draw_text
from tests.support.tokenizers_drawn import named_tokenizers, plain_copy
from tests.support.unigram_drawn import draw_tokenizer, draw_unigram_text, normalized_tokenizer
from tests.support.words_drawn import draw_levels, draw_merged, draw_pieces
from tokpar.compiled import call_tables, compiled_build

pytestmark = [pytest.mark.compiled_at_once, needs_below_one, needs_kernel]
KINDS: dict[str, Callable[[random.Random], Any]] = {
    **DRAWN,
    "levels": draw_levels,
    "pieces": draw_pieces,
    "merged": draw_merged,
    "unigram": draw_tokenizer,
    "unigram, normalized": normalized_tokenizer,
}
ANSWERS = {
    "bytes": {0: 100, 13: 100, 14: 96, 3: 96, 7: 84},
    "characters": {11: 68, 12: 100, 16: 84, 17: 68, 2: 100, 3: 100},
    "levels": {1: 100, 10: 100, 11: 100, 12: 100},
    "merged": {1: 100, 12: 100, 13: 100, 15: 100, 6: 100},
    "missing bytes": {14: 64, 15: 48, 4: 44, 6: 44, 5: 36},
    "pieces": {1: 100, 10: 100, 15: 100, 3: 100, 4: 100},
    "unigram": {1: 100, 10: 100, 11: 100, 12: 100, 13: 100},
    "unigram, normalized": {11: 100, 6: 100, 7: 100, 9: 100, 10: 76},
    "words": {10: 100, 11: 100, 14: 100, 15: 100, 4: 100},
}
"""Kind -> seed of a tokenizer -> how many answers the call has, of 100."""
CODE = "def f(x: int) -> str:\n\n\treturn f\"{x:>12}\" + 'don\\'t'  # 1234567\r\n    pass\n" * 3
OTHER = (
    "Naïve café, 中文字符。 Ñandú 🫠👩‍👩‍👧 e\u0301 \u00a0\u3000 ﬁ ½ ١٢٣ İ ẞ <s> </s> [CLS] ▁a ▁▁b "
)


def checked_answers(call: Any, own: Any, texts: list[str]) -> int:
    """How many texts the call answers, with special tokens, without them, and in a batch."""
    answers = 0
    rows, flags = call.rows(texts, 2)
    for k, text in enumerate(texts):
        expected, bare = own_ids(own, text, special=True), own_ids(own, text)
        found, plain = call.encode(text), call.encode_plain(text)
        answers += (found is not None) + bool(flags[k])
        assert found is None or found.tolist() == expected, text
        assert plain is None or plain.tolist() == bare, text
        assert not flags[k] or rows[k].tolist() == bare, text
    return answers


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_has_the_ids_of_the_engine(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text cold and warm, and a text of more than 256 segments."""
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
    for seed, count in ANSWERS[kind].items():
        draw = random.Random(seed)
        tokenizer = KINDS[kind](draw)
        contents = draw_added(draw, tokenizer)
        monkeypatch.setattr(call_tables, "LONGEST_FROM", (1, 6, 25, 6)[seed % 4])
        monkeypatch.setattr(call_tables, "USES_AVX2", seed % 2 == 0)
        adapter: Any = tokpar.load(tokenizer)
        if kind.startswith("unigram"):
            texts = [draw_unigram_text(draw) for _ in range(24)]
        else:
            texts = [draw_text(draw, contents) for _ in range(24)]
        texts.append(" ".join(texts * 3))
        call = adapter.later_call.call
        assert sum(checked_answers(call, tokenizer, texts) for _ in range(2)) >= count


@pytest.mark.parametrize(
    "name", ["deepseek_part", "default", "bert_part", "llama_style", "metaspace_unigram"]
)
def test_a_call_of_a_real_vocabulary_has_the_ids_of_the_engine(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled_build, "drawn_texts", lambda parts, count: [])
    own = plain_copy(named_tokenizers()[name])
    own.no_truncation()
    call = tokpar.load(own).later_call.call  # type: ignore[attr-defined]
    draw = random.Random(name)
    parts = [ENGLISH[:600], CODE, OTHER, "x" * 90, " " * 40, "a" * 9 + "\n\n\n"]
    texts = [part[draw.randrange(9) : draw.randrange(9, 700)] for part in parts * 6]
    texts += ["".join(draw.choices(texts, k=12)) for _ in range(4)]
    for _ in range(2):
        assert checked_answers(call, own, texts) >= 2 * len(texts) - 4
    decoded = [own_ids(own, text) or [] for text in texts]
    encoder = tokpar.Encoder(own)
    assert encoder.decode_batch(decoded) == [own.decode(ids, False) for ids in decoded]
