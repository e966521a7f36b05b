"""Two tokens of a vocabulary with one id: the engine merges by ids, and that is no greedy merging
of strings (proofs/3-restriction.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers

import tokpar
from tests.support.seams import assert_adapter_lossless, assert_lossless
from tests.support.shared_ids import LONG, sharing, tokenizer_of
from tests.support.tokenizers_drawn import random_merges
from tokpar.contract.interfaces import facts_of
from tokpar.errors import FileFormatError
from tokpar.facts.hf_facts import facts_from_json
from tokpar.results.encoding import Encoding
from tokpar.results.seams import Seams
from tokpar.types import AddedToken, Report, Seam

pytestmark = pytest.mark.compiled_at_once


def by_hand(ids: Sequence[int], *seams: Seam) -> Encoding:
    array = np.array(ids, dtype=np.uint32)
    return Encoding.of(array, Seams.of(seams), Report("by hand"))


def test_the_library_itself_loses_one_of_the_two_when_it_writes_them() -> None:
    """Without this, reading what the object writes would be enough."""
    own = tokenizer_of(sharing())
    assert len(own.get_vocab()) == 259
    assert len(json.loads(own.to_str())["model"]["vocab"]) == 258


def test_tokens_that_share_an_id_do_not_tile_a_text() -> None:
    own = tokenizer_of(sharing())
    assert len(own.encode(LONG).ids) == 2000
    encoding = tokpar.encode(LONG, own, chunk_chars=100)
    assert encoding.ids.tolist() == own.encode(LONG).ids
    assert_lossless(own, f"xyc {LONG[:300]} abc", (7, 64))
    facts = facts_of(tokpar.load(own))
    assert not facts.tiles
    assert facts.sizes is None


def test_certified_cuts_between_pre_tokens_stay() -> None:
    own, text = tokenizer_of(sharing()), "xyc abc " * 50
    encoding = tokpar.encode(text, own, strategy="cut", chunk_chars=20)
    assert len(encoding.seams) > 5
    assert encoding.ids.tolist() == own.encode(text).ids


def test_what_is_read_from_the_file_is_refused_too(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(sharing()), encoding="utf-8")
    assert not facts_from_json(sharing()).tiles
    with pytest.raises(FileFormatError, match="two tokens have one id"):
        tokpar.load(path, engine="pure")


def dummy(vocab: dict[str, int], merges: list[tuple[str, str]]) -> Tokenizer:
    own = Tokenizer(models.BPE(vocab, merges, unk_token="<unk>"))
    stages = [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    own.normalizer = normalizers.Sequence(stages)
    return own


SPACED = {"<unk>": 0, "▁": 1, "q": 1, "x": 2, "xq": 3, "a": 4}


def test_a_space_is_not_absorbed_where_its_sign_shares_an_id() -> None:
    own, text = dummy(SPACED, [("x", "q")]), "x a " * 30
    assert own.encode("x a").ids == [1, 3, 4]
    assert own.encode("x").ids + own.encode("a").ids == [1, 2, 1, 4]
    assert_lossless(own, text, (3, 7))
    adapter = tokpar.load(own)
    assert "have one id" in str(facts_of(adapter).unprovable)
    seam = Seam(1, "STAGE", "6.4", (("absorbed", "1"),), 2)
    report = tokpar.check(by_hand([1, 2, 1, 4], seam), "x a", adapter)
    assert "facts" in {finding.kind for finding in report.findings}


def test_an_added_token_may_share_the_id_of_a_merged_one() -> None:
    """The library numbers added tokens from the size of the vocabulary on, taken or not."""
    config = sharing({"ab": 257}, [("a", "b")])
    own = tokenizer_of(config)
    own.add_special_tokens(["<long>"])
    assert own.token_to_id("<long>") == 257
    adapter, text = tokpar.load(own), "ab<long>ab ab" * 20
    assert not facts_of(adapter).tiles
    assert_adapter_lossless(adapter, own.encode(text).ids, text, (7, 64))
    twice = (AddedToken("<a>", 300), AddedToken("<bc>", 300))
    entries = [{"content": token.content, "id": token.id} for token in twice]
    assert facts_from_json(sharing({"ab": 256}, [("a", "b")])).tiles
    assert not facts_from_json({**sharing({}, []), "added_tokens": entries}).tiles


@st.composite
def shared_vocabularies(draw: st.DrawFn) -> tuple[Tokenizer, str]:
    """Merges over a few words whose tokens share ids as they happen to, and a long word of them."""
    pieces = draw(st.lists(st.text("abcxy", min_size=2, max_size=6), min_size=1, max_size=4))
    merges = random_merges(pieces, draw(st.integers(0, 99)), draw(st.integers(1, 8)), wild=False)
    made = dict.fromkeys(left + right for left, right in merges)
    ids = {token: draw(st.integers(256, 256 + max(1, len(made) // 2))) for token in made}
    word = "".join(draw(st.lists(st.sampled_from(pieces), min_size=4, max_size=30)))
    return tokenizer_of(sharing(ids, merges)), word


@given(shared_vocabularies())
def test_whatever_ids_tokens_share_the_ids_are_the_engine_s(drawn: tuple[Tokenizer, str]) -> None:
    assert_lossless(*drawn, sizes=(2, 7))
