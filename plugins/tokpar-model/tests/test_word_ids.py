"""Level `model` accepts exactly the engine's ids of a WordPiece tokenizer (theorem 33)."""

from __future__ import annotations

import json
import random
from functools import partial
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokpar_model import model_findings, word_ids
from tokpar_model.bert_characters import (
    SINGLE,
    SPACE,
    UNKNOWN,
    BertNormalizer,
    bert_kind,
    normalized_kind,
)

from tests.conftest import needs_below_one
from tests.support.model_worlds import BERT, Config, added, forged, proved, word_config
from tests.support.paths import VOCAB
from tokpar.adapters.hf_version import load
from tokpar.certificate.frozen_tables import load_tables

pytestmark = needs_below_one


def drawn_config(rng: random.Random) -> Config:
    tokens = {
        rng.choice(["", "##"]) + "".join(rng.choices("aab#é中", k=rng.randint(1, 3)))
        for _ in range(rng.randint(2, 12))
    }
    split, normalizer = rng.choice(["BertPreTokenizer", "WhitespaceSplit"]), BERT
    if rng.random() < 0.6:
        switches = ("clean_text", "handle_chinese_chars", "lowercase")
        normalizer = {**BERT, **{name: rng.random() < 0.5 for name in switches}}
        normalizer["strip_accents"] = rng.choice([None, True, False])
    normalizer = rng.choice([normalizer, normalizer, None, {"type": "Lowercase"}])
    limit = rng.choice([100, 3, 5, 0])
    return word_config(
        *sorted(tokens), normalizer=normalizer, split=split, max_input_chars_per_word=limit
    )


@given(st.integers(0, 1 << 32))
def test_drawn_files_have_no_wrong_verdict(seed: int) -> None:
    rng = random.Random(seed)
    config = drawn_config(rng)
    engine = Tokenizer.from_str(json.dumps(config))
    tokens = {id_: token.encode() for token, id_ in config["model"]["vocab"].items()}
    for _ in range(5):
        text = "".join(
            rng.choices(["a", "b", "#", "É", "中", " ", "[UNK]", "e\u0301", "\x00"], k=9)
        )
        ids = engine.encode(text).ids
        assert proved(config, text, ids).ok
        for other in forged(rng, ids, tokens):
            assert other == ids or not proved(config, text, other).ok


def test_of_all_rows_of_short_words_only_the_engine_s_ids_are_accepted() -> None:
    config = word_config("a", "##a", "##b", "ab", "##ab")
    engine = Tokenizer.from_str(json.dumps(config))
    count = len(config["model"]["vocab"])
    rows = [[*row] for size in range(4) for row in product(range(count), repeat=size)]
    for text in ("", "a", "b", "ab", "aab", "abb", "a b", "aba", " a"):
        ids = engine.encode(text).ids
        assert [row for row in rows if proved(config, text, row).ok] == [ids]


@pytest.mark.parametrize("text", ["я" * 100, "я" * 101, "e\u0301" * 100, "e\u0301" * 101])
def test_the_limit_of_a_word_counts_normalized_characters(text: str) -> None:
    config = word_config("я", "##я", "e", "##e")
    ids = Tokenizer.from_str(json.dumps(config)).encode(text).ids
    assert len(ids) in (1, 100)
    assert proved(config, text, ids).ok
    assert not proved(config, text, [0] if len(ids) > 1 else [1] + [2] * 100).ok


@pytest.mark.parametrize("strip", [True, False])
@pytest.mark.parametrize("lowercase", [True, False])
def test_each_frozen_character_is_what_the_engine_makes_of_it(strip: bool, lowercase: bool) -> None:
    ranges = [(low, high) for low, high, _ in load_tables().ranges]
    chars = [chr(code) for low, high in ranges for code in {low, high, (low + high) // 2}]
    engine = normalizers.BertNormalizer(strip_accents=strip, lowercase=lowercase)
    words = pre_tokenizers.BertPreTokenizer()
    kind_of = partial(normalized_kind, BertNormalizer(True, True, strip, lowercase), bert_kind)
    unknown = 0
    for char in chars:
        kind, form = kind_of(char)
        found = [word for word, _ in words.pre_tokenize_str(engine.normalize_str(f"a{char}b"))]
        expected = [f"a{form}b"]
        if kind in (SPACE, SINGLE):
            expected = ["a", form, "b"] if kind == SINGLE else ["a", "b"]
        unknown += kind == UNKNOWN
        assert kind == UNKNOWN or found == expected, hex(ord(char))
    assert unknown < 70


@pytest.mark.parametrize("block", [1 << 20, 7])
def test_ids_of_a_real_vocabulary_are_proved_block_by_block(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(word_ids, "_BLOCK", block)
    path = next(path for path in VOCAB.glob("*.json") if "bert" in path.name)
    adapter = load(path, truncation=False, padding=False)
    assert adapter is not None
    text = "Unbelievable café, 中文 [MASK] naïve 12,345 playing! " * 30 + "x" * 300
    ids = adapter.encode(text).tolist()
    assert model_findings(adapter, text, ids).ok
    tokens = {id_: adapter.token_bytes(id_) or b"" for id_ in range(3000)}
    for other in forged(random.Random(1), ids, tokens):
        assert other == ids or not model_findings(adapter, text, other).ok


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (word_config("a", split="Whitespace"), "pre-tokenizer"),
        (word_config("a", split="Metaspace"), "pre-tokenizer"),
        (word_config("a", unk_token="[NONE]"), "model"),
        (word_config("a", max_input_chars_per_word=-1), "model"),
        (word_config("a", max_input_chars_per_word=1e9), "model"),
        (word_config("a", normalizer={"type": "StripAccents"}), "normalizer"),
        ({**word_config("a"), "added_tokens": [added("b", 2, normalized=True)]}, "added token"),
    ],
)
def test_a_word_file_outside_the_gate_is_refused_by_name(config: Config, kind: str) -> None:
    refused = proved(config, "a", [1]).refusal
    assert refused is not None
    assert refused[0] == kind


def test_the_longest_token_of_a_vocabulary_is_found() -> None:
    config = word_config("a", "##b", "abababa")
    assert proved(config, "abababa", [3]).ok


def test_a_character_that_is_not_frozen_is_refused_by_name() -> None:
    refused = proved(word_config("a"), "a§", [1]).refusal
    assert refused == ("class", "what BERT makes of U+00A7 is not certain")
