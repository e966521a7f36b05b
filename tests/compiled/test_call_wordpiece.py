"""WordPiece behind BERT's stages in the compiled call."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

import tokpar
from tests.conftest import needs_kernel
from tests.support.calls_drawn import draw_text, draw_words
from tokpar.adapters import hf_call
from tokpar.adapters.hf_look import EngineTokens
from tokpar.adapters.hf_postprocess import parse_component
from tokpar.compiled import wordpiece_tables
from tokpar.compiled.call_tables import call_of
from tokpar.compiled.compiled_call import CompiledCall
from tokpar.compiled.merges import GateError
from tokpar.compiled.wordpiece_tables import CHANGED, CONTEXT, character_forms, wordpiece_arrays
from tokpar.types import Facts, NormalizerStage, Rows

pytestmark = [pytest.mark.ids, needs_kernel]
ODD = [
    *("A", "É", "X", "İ", "ß", "ẞ", "Σ", "ﬁ", "K", "Å", "\u0301", "\u0316", "\u302e", "\U0001d165"),
    *("\0", "\u200b", "\ufffd", "\x85", "\u2028", "\u3000", "。", "文", "\uf900", "Й", "\ue000"),
]
FLAGS = [
    *[(True, True, None, True), (True, True, None, False), (False, False, True, False)],
    *[(True, False, False, True), (False, True, True, True)],
]


def arrays_of(tokenizer: Tokenizer) -> dict[str, Any]:
    stages = (tokenizer.model, tokenizer.normalizer, tokenizer.pre_tokenizer)
    model, normalizer, pre_tokenizer = map(parse_component, stages)
    size = tokenizer.get_vocab_size(with_added_tokens=False)
    assert model is not None
    return wordpiece_arrays(model, size, normalizer, pre_tokenizer)


def call_for(tokenizer: Tokenizer) -> CompiledCall:
    """The compiled call; what it leaves out comes from the engine, and samples are compared."""

    def encode_many(texts: Sequence[str]) -> Any:
        found = tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return Rows.of(np.array(each.ids, np.uint32) for each in found)

    added = contents_of(tokenizer)
    assert added is not None
    tokenize = partial(hf_call._pieces, tokenizer, False, lambda: True)
    call = call_of(arrays_of(tokenizer), added, ((), ()))
    return CompiledCall(call, encode_many, tokenize, lambda text, start: None)


def contents_of(tokenizer: Tokenizer) -> Any:
    """The added tokens as the compiled call takes them."""
    tokens = tuple(EngineTokens.of(tokenizer).tokens)
    stages = (NormalizerStage("BertNormalizer"),)
    facts = Facts("", "WordPiece", added_tokens=tokens, normalizers=stages)
    return hf_call._contents_of(facts, tokenizer.normalizer, replaces=False)


def words_of(tokens: Sequence[str], **settings: Any) -> Tokenizer:
    vocab = {token: number for number, token in enumerate(["[UNK]", *tokens])}
    tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]", **settings))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@pytest.mark.parametrize("seed", range(30))
def test_drawn_models_have_the_ids_of_the_engine(seed: int) -> None:
    draw = random.Random(seed)
    tokenizer = draw_words(draw)
    tokenizer.add_special_tokens(["[M]", AddedToken("ab]", lstrip=True, rstrip=True)])
    call, answers = call_for(tokenizer), 0
    for k in range(60):
        text = "".join(draw_text(draw, [*ODD, "[M]", "ab]", "a" * 99]) for _ in range(1 + k % 3))
        found = call.encode_plain(text)
        answers += found is not None
        if found is not None:
            assert found.tolist() == tokenizer.encode(text, add_special_tokens=False).ids
    assert answers > 20


@pytest.mark.parametrize("flags", FLAGS, ids=str)
def test_the_forms_of_a_text_are_those_of_its_characters(flags: tuple[Any, ...]) -> None:
    """In drawn neighbourhoods, of all characters that are not left to the engine."""
    known = character_forms(flags)
    kinds = known.forms & 7
    normalize = normalizers.BertNormalizer(*flags).normalize_str
    codes = np.flatnonzero(kinds != CONTEXT)
    marks = [code for code in codes.tolist() if unicodedata.combining(chr(code))]
    changed = codes[kinds[codes] == CHANGED].tolist()
    every = codes.tolist()

    def form(code: int) -> str:
        return normalize(f"a{chr(code)}a")[1:-1]

    draw = random.Random(str(flags))
    for _ in range(2000):
        pool: list[int] = draw.choice([every, changed or [97], marks or [97]])
        chosen = [draw.choice(pool), draw.choice(every), *draw.choices(marks or [97], k=2)]
        draw.shuffle(chosen)
        assert normalize("".join(map(chr, chosen))) == "".join(map(form, chosen))


def test_marks_that_stay_and_change_places_are_left_to_the_engine() -> None:
    """U+1D165 and U+302E are no marks that StripAccents removes, and their order is changed."""
    kinds = character_forms((True, True, True, True)).forms & 7
    assert kinds[0x302E] == kinds[0x1D165] == CONTEXT
    assert kinds[0x0301] == CHANGED
    text = "a\u302e\U0001d165"
    normalize = normalizers.BertNormalizer(strip_accents=True).normalize_str
    assert normalize(text) != "".join(map(normalize, text))


@pytest.mark.parametrize("count", [1, 2, 3, 99, 100, 101, 5000])
def test_the_limit_of_a_word_counts_normalized_code_points(count: int) -> None:
    tokenizer = words_of(["a", "##a", "e", "##e", "\u1112", "##\u1161", "##\u11ab", "##\u1112"])
    call = call_for(tokenizer)
    for char in ("a", "é", "e\u0301", "한", "\u200ba"):
        text = f"{char * count} {char}"
        found = call.encode_plain(text)
        assert found is not None
        assert found.tolist() == tokenizer.encode(text).ids


def test_a_word_of_nothing_has_no_ids() -> None:
    call = call_for(words_of(["a", "##a"]))
    for text in ("", "\u0301", "a \u200b\u0301 a", "\0", " \n"):
        found = call.encode_plain(text)
        assert found is not None
        assert found.tolist() == [1] * text.count("a")


def mixed(a: int, b: int) -> int:
    """The hash of call_words.h for words of up to 15 bytes."""
    product = (a ^ 0xA0761D6478BD642F) * (b ^ 0xE7037ED1A0B428DB)
    return (product ^ product >> 64) & 2**64 - 1


def hash_of(data: bytes) -> int:
    words = [int.from_bytes(data[k : k + 8], "little") for k in (0, 8)]
    return mixed(words[0], words[1] | len(data) << 56)


def test_tokens_that_crowd_one_place_of_the_table_are_all_found() -> None:
    """The table grows until each token has a slot in reach: a lost token would be a wrong id."""
    draw, crowd = random.Random(1), []
    while len(crowd) < 45:
        token = "".join(draw.choices("abcdefgh", k=7))
        if hash_of(b"\xfe" + token.encode()) & 511 == 0:
            crowd.append(token)
    tokenizer = words_of(dict.fromkeys(crowd))
    call = call_for(tokenizer)
    text = " ".join(crowd)
    found = call.encode_plain(text)
    assert found is not None
    assert found.tolist() == tokenizer.encode(text).ids
    assert 0 not in found.tolist()


def refusals() -> dict[str, Tokenizer]:
    shared = words_of([])
    shared.model = models.WordPiece({"[UNK]": 0, "a": 1, "b": 1}, unk_token="[UNK]")
    nameless = words_of([])
    nameless.model = models.WordPiece({"a": 1}, unk_token="[UNK]")
    spaced = words_of(["a"])
    spaced.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    folded = words_of(["a"])
    folded.normalizer = normalizers.NFKC()
    return {
        "one id": shared,
        "unknown words": nameless,
        "pre-tokenizer": spaced,
        "normalizer": folded,
        "bytes": words_of(["a" * 401]),
    }


@pytest.mark.parametrize("says", [*refusals()])
def test_a_file_outside_of_the_gate_is_refused(says: str) -> None:
    with pytest.raises(GateError, match=says):
        arrays_of(refusals()[says])


@pytest.mark.parametrize("is_normalized", [False, True])
def test_added_tokens_of_the_normalized_text_are_the_engine_s(is_normalized: bool) -> None:
    tokenizer = words_of(["a", "##b"])
    tokenizer.add_tokens([AddedToken("Ab", normalized=is_normalized)])
    adapter: Any = tokpar.load(tokenizer)
    parts = hf_call.call_parts_of(tokenizer, adapter.facts, None, ((), ()), lambda: True)
    assert isinstance(parts, str) == is_normalized


def test_a_normalizer_that_changes_neighbours_is_refused() -> None:
    with pytest.raises(GateError, match="neighbours"):
        list(wordpiece_tables._changes("ab", lambda text: text.replace("a\ua000", "")))


@pytest.mark.parametrize("normalizer", [normalizers.BertNormalizer(), normalizers.StripAccents()])
def test_an_added_token_that_the_normalizer_empties_is_the_engine_s(normalizer: Any) -> None:
    """The engine finds it at every place, and then strips what is beside."""
    tokenizer = words_of(["x"])
    tokenizer.normalizer = normalizer
    assert contents_of(tokenizer) == {}
    plain = tokenizer.encode("x x").ids
    tokenizer.add_tokens([AddedToken("\u0301", normalized=True, rstrip=True)])
    assert tokenizer.encode("x x").ids != plain
    assert "leaves nothing" in str(contents_of(tokenizer))
