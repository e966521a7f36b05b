"""The gate of level `model`: what is outside is refused by name, with the witness of each row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
import tiktoken
from tokenizers import Tokenizer
from tokpar_model import byte_ids, laid_text, model_findings

from tests.conftest import needs_below_one
from tests.support.model_worlds import (
    LETTERS,
    Config,
    added,
    bpe_config,
    byte_level,
    letters_of,
    numbered,
    proved,
    word_config,
)
from tokpar.adapters import hf_v0
from tokpar.adapters.hf_version import load as load_hf
from tokpar.adapters.tiktoken import load as load_tiktoken

pytestmark = needs_below_one
CL100K = r"\p{N}{1,3}+|[^\p{N}]"
BYTES = numbered(*LETTERS)


def with_bytes(*tokens: str) -> dict[str, int]:
    return numbered(*LETTERS, *tokens)


SHARED = {"ab": 256, "xy": 256, "abc": 257}
STALE = {"a": 0, "b": 1, "c": 2, "ca": 3, "cacca": 4, "cca": 6, "cc": 7, "ccac": 7}
STALE_MERGES = [["c", "a"], ["c", "ca"], ["c", "c"], ["cca", "c"], ["cc", "a"], ["ca", "cca"]]


DIGITS = [{"type": "Digits", "individual_digits": True}, byte_level()]
UNIGRAM = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", -1.0]]}


@dataclass(frozen=True)
class Outside:
    """A file outside the gate, a text, and what the engine makes of it (None: by chance)."""

    config: Config
    text: str
    kind: str
    ids: list[int] | None = None


OUTSIDE = {
    "dropout": Outside(bpe_config(BYTES, dropout=0.5), "ab", "dropout"),
    "Oniguruma's counted groups": Outside(
        bpe_config(
            with_bytes("12", "123", "1234"), [["1", "2"], ["12", "3"], ["123", "4"]], [CL100K]
        ),
        "1234",
        "pattern",
        [258],
    ),
    "a class that is not frozen": Outside(
        bpe_config(BYTES, patterns=[r"\p{N}{1,3}"]), "1\U000125c44111", "class"
    ),
    "two strings of one id": Outside(
        bpe_config({**BYTES, **SHARED}, [["a", "b"], ["x", "y"], ["ab", "c"]]),
        "xyc" * 3,
        "shared id",
        [257] * 3,
    ),
    "a stale merge of a shared id": Outside(
        bpe_config(STALE, STALE_MERGES), "ccacc", "shared id", [7, 2]
    ),
    "a token outside the alphabet": Outside(
        bpe_config({**BYTES, "中": 300}), "中", "alphabet", [228, 184, 173]
    ),
    "a byte that is no token": Outside(
        bpe_config({"a": 0, "b": 1, "ab": 2}, [["a", "b"]]), "axb", "missing byte", [2]
    ),
    "a suffix": Outside(
        bpe_config({**BYTES, "b</w>": 256}, end_of_word_suffix="</w>"), "ab", "affix"
    ),
    "a prefix": Outside(
        bpe_config(
            {"a": 0, "b": 1, "##b": 2, "ab": 3}, [["a", "##b"]], continuing_subword_prefix="##"
        ),
        "ab",
        "affix",
        [3],
    ),
    "a folded letter": Outside(
        bpe_config(with_bytes(letters_of("sſ")), patterns=[r"(?i:s)|[\s\S]"]), "sſ", "class"
    ),
    "flags of an added token": Outside(
        bpe_config(BYTES, tokens=[added("<s>", 256, lstrip=True)]), "a <s>", "added token"
    ),
    "an added token in normalized text": Outside(
        bpe_config(
            BYTES, tokens=[added("A", 256, normalized=True)], normalizer={"type": "Lowercase"}
        ),
        "a",
        "added token",
    ),
    "an added token with another id than the engine's": Outside(
        bpe_config(BYTES, tokens=[added("<s>", 700)]), "<s>", "added token", [256]
    ),
    "a normalizer that is not known": Outside(
        bpe_config(BYTES, normalizer={"type": "StripAccents"}), "e\u0301", "normalizer"
    ),
    "a form that is not frozen": Outside(
        bpe_config(BYTES, normalizer={"type": "NFC"}), "e\U0001e08f", "normalizer"
    ),
    "atoms that are characters": Outside(
        {**bpe_config({"a": 0, "b": 1}), "pre_tokenizer": None}, "a", "pre-tokenizer"
    ),
    "a prefix space": Outside(
        {**bpe_config(BYTES), "pre_tokenizer": {**byte_level(), "add_prefix_space": True}},
        "a",
        "pre-tokenizer",
    ),
    "another pre-tokenizer": Outside(
        {**bpe_config(BYTES), "pre_tokenizer": {"type": "Sequence", "pretokenizers": DIGITS}},
        "1",
        "pre-tokenizer",
    ),
    "a merge that drops text": Outside(
        json.loads(json.dumps(bpe_config(BYTES, patterns=["a"])).replace("Isolated", "Removed")),
        "ba",
        "pre-tokenizer",
    ),
    "Unigram": Outside(
        {**bpe_config({}), "model": UNIGRAM},
        "a",
        "model",
    ),
}


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_file_outside_the_gate_is_refused_by_name(name: str) -> None:
    outside = OUTSIDE[name]
    engine = Tokenizer.from_str(json.dumps(outside.config))
    ids = engine.encode(outside.text).ids
    if outside.ids is not None:
        assert ids == outside.ids
    proof = proved(outside.config, outside.text, ids)
    assert not proof.ok
    assert proof.findings == ()
    assert proof.refusal is not None
    assert proof.refusal[0] == outside.kind


def test_the_merges_of_a_shared_id_are_not_greedy_merging() -> None:
    """The engine takes a stale merge: its ids are not what the file's rules make."""
    config = OUTSIDE["a stale merge of a shared id"].config
    engine = Tokenizer.from_str(json.dumps(config)).encode("ccacc").ids
    greedy = {"a": 0, "b": 1, "c": 2, "ca": 3, "cacca": 4, "cca": 6, "cc": 7, "ccac": 8}
    assert engine == [7, 2]
    assert proved(bpe_config(greedy, STALE_MERGES), "ccacc", [6, 7]).ok


def test_the_last_of_equal_merges_counts() -> None:
    config = bpe_config(with_bytes("ab", "bc"), [["a", "b"], ["b", "c"], ["a", "b"]])
    ids = Tokenizer.from_str(json.dumps(config)).encode("abc").ids
    assert ids == [config["model"]["vocab"]["a"], config["model"]["vocab"]["bc"]]
    assert proved(config, "abc", ids).ok
    assert not proved(config, "abc", [config["model"]["vocab"]["ab"], ids[0] + 2]).ok


def test_the_normal_form_is_computed_not_ignored() -> None:
    config = bpe_config(BYTES, normalizer={"type": "NFC"})
    ids = Tokenizer.from_str(json.dumps(config)).encode("cafe\u0301").ids
    assert len(ids) == 5
    assert proved(config, "cafe\u0301", ids).ok
    plain = [BYTES[letter] for letter in letters_of("cafe\u0301")]
    assert not proved(config, "cafe\u0301", plain).ok


def test_a_pattern_that_may_leave_text_out_is_refused_for_tiktoken() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    engine = tiktoken.Encoding("gaps", pat_str="a+", mergeable_ranks=ranks, special_tokens={})
    adapter = load_tiktoken(engine)
    assert adapter is not None
    assert engine.encode("ab") == [97]
    refused = model_findings(adapter, "ab", [97]).refusal
    assert refused is not None
    assert refused[0] == "gap"


def test_special_tokens_that_begin_alike_are_refused_for_tiktoken() -> None:
    ranks = {bytes([byte]): byte for byte in range(256)}
    specials = {"<s": 300, "<s>": 301}
    engine = tiktoken.Encoding(
        "s", pat_str="(?s:.)", mergeable_ranks=ranks, special_tokens=specials
    )
    adapter = load_tiktoken(engine, allowed_special="all")
    assert adapter is not None
    refused = model_findings(adapter, "<s>", [301]).refusal
    assert refused is not None
    assert refused[0] == "added token"


def test_a_lone_surrogate_is_refused() -> None:
    refused = proved(bpe_config(BYTES), "a\ud800", [BYTES["a"]]).refusal
    assert refused == ("surrogate", "the text has a lone surrogate")


@dataclass(frozen=True)
class Fake:
    """An adapter that tells no file."""

    name: str = "fake"

    def encode(self, text: str) -> Any:
        raise AssertionError("level model runs no tokenizer")


def test_a_tokenizer_without_a_file_is_refused() -> None:
    assert model_findings(Fake(), "a", [0]).refusal == ("file", "fake does not tell its file")


def test_a_tokenizer_with_other_ids_than_its_file_s_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for why, refused in ((None, None), ("planted", "file")):
        engine = Tokenizer.from_str(json.dumps(bpe_config(BYTES)))
        monkeypatch.setattr(hf_v0, "why_copy_differs", lambda own, copy, added: why)  # noqa: B023
        adapter = load_hf(engine)
        assert adapter is not None
        proof = model_findings(adapter, "ab", engine.encode("ab").ids)
        assert (proof.refusal and proof.refusal[0]) == refused


def test_no_tokenizer_encodes_for_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = Tokenizer.from_str(json.dumps(bpe_config(BYTES, patterns=[r"\p{L}+"])))
    adapter = load_hf(engine)
    assert adapter is not None
    ids = adapter.encode("hi you")
    monkeypatch.setattr(type(adapter), "encode", Fake.encode)
    monkeypatch.setattr(type(adapter), "encode_many", Fake.encode)
    assert model_findings(adapter, "hi you", ids).ok


# ---------------------------------------------------------------- conditions that are taken away


@dataclass(frozen=True)
class Forgery:
    """Wrong ids that only one condition refuses."""

    config: Config
    text: str
    wrong: Sequence[int]
    condition: tuple[Any, str]
    more: tuple[tuple[Any, str], ...] = field(default=())


AAB = bpe_config(with_bytes("ab", "aa", "aab"), [["a", "b"], ["a", "a"], ["aa", "b"]])
WHOLE = bpe_config(with_bytes("bb"), ignore_merges=True)
PAIRS = bpe_config(with_bytes("ab"), [["a", "b"]])
A, B = BYTES["a"], BYTES["b"]
ROW = byte_ids.TokenRow
FORGERIES = {
    "(i) the bytes of the ids are those of the text": Forgery(
        bpe_config(BYTES), "ab", [A, A], (ROW, "_spelling"), ((ROW, "_pairs"),)
    ),
    "(i) every id is a token of some bytes": Forgery(
        bpe_config({**BYTES, "": 256}), "ab", [A, 256, B], (ROW, "_unknown"), ((ROW, "_pairs"),)
    ),
    "(ii) no token crosses an edge": Forgery(
        bpe_config(with_bytes("ab"), [["a", "b"]], ["a", "b"]), "ab", [256], (ROW, "_crossing")
    ),
    "(iii) a piece that is a token is looked up": Forgery(WHOLE, "bb", [B, B], (ROW, "_looked_up")),
    "(iii) a lone token is what merging makes": Forgery(AAB, "aab", [258], (ROW, "_lone")),
    "(iv) pairs are what merging makes": Forgery(PAIRS, "ab", [A, B], (ROW, "_pairs")),
    "added tokens are themselves": Forgery(
        bpe_config(BYTES, tokens=[added("ab", 256)]), "ab", [A, B], (laid_text.LaidText, "__init__")
    ),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_theorem_32_needs_each_condition(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wrong ids are refused, and accepted once the condition is taken away."""
    forgery = FORGERIES[name]
    engine = Tokenizer.from_str(json.dumps(forgery.config))
    assert engine.encode(forgery.text).ids != list(forgery.wrong)
    assert proved(forgery.config, forgery.text, forgery.wrong).findings
    for place, condition in (forgery.condition, *forgery.more):
        overlooking = overlooks_added if place is not ROW else overlooks
        monkeypatch.setattr(place, condition, overlooking(getattr(place, condition)))
    assert proved(forgery.config, forgery.text, forgery.wrong).ok


def overlooks(condition: Any) -> Any:
    return lambda *arguments: iter(())


def overlooks_added(built: Any) -> Any:
    """The constructor of a `LaidText` that knows no added tokens."""

    def overlooking(self: Any, tokenizer: Any, text: str, work: Any) -> None:
        built(self, replace(tokenizer, added_tokens=type(tokenizer.added_tokens)()), text, work)

    return overlooking


def test_pairs_are_asked_inside_of_a_piece_only() -> None:
    """Across an edge two tokens may be one token's bytes."""
    config = bpe_config(with_bytes("ab"), [["a", "b"]], ["a", "b"])
    assert Tokenizer.from_str(json.dumps(config)).encode("ab").ids == [A, B]
    assert proved(config, "ab", [A, B]).ok


def test_pairs_are_merged_without_the_shortcut() -> None:
    """With the engine's own shortcut in the pairs, right ids would be refused."""
    tokens = with_bytes("bb")
    config = bpe_config(tokens, ignore_merges=True)
    ids = Tokenizer.from_str(json.dumps(config)).encode("bba").ids
    assert ids == [B, B, A]
    assert proved(config, "bba", ids).ok


GREEDY = word_config("a", "##b", "ab", "##c", "abc", "b")


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("ab", [1, 2]),
        ("abc", [3, 4]),
        ("abx", [3]),
        ("ab", [0]),
        ("ab", [1, 6]),
        ("a b", [3]),
        ("ab", [3, 3]),
        ("AB", [0]),
    ],
    ids=["longest", "whole", "failed", "unknown", "prefix", "words", "count", "normalized"],
)
def test_theorem_33_needs_each_condition(text: str, wrong: list[int]) -> None:
    """Each wrong row breaks one condition, and the engine's row none."""
    ids = Tokenizer.from_str(json.dumps(GREEDY)).encode(text).ids
    assert proved(GREEDY, text, ids).ok
    assert ids != wrong
    assert proved(GREEDY, text, wrong).findings
