"""``tekken.json`` of mistral-common: ids, text and errors, against its Tekkenizer."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tiktoken
from hypothesis import example, given
from hypothesis import strategies as st

import tokpar
from tests.conftest import cases
from tests.support.tekken_files import COUNT, TOKENS, save_tekken, tekken
from tests.support.texts import surrogate_texts, texts
from tokpar.adapters.tekken import VERSIONS
from tokpar.adapters.tiktoken import TiktokenTokenizer
from tokpar.errors import FileFormatError
from tokpar.patterns.shipped_patterns import TEKKEN

pytestmark = [pytest.mark.ids, pytest.mark.compiled_at_once]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tokpar.Encoder:
    return tokpar.Encoder(save_tekken(tmp_path_factory.mktemp("tekken")))


@cache
def ranks_alone() -> tiktoken.Encoding:
    """What a Tekkenizer asks: ranks from 0 on, no special token."""
    ranks = {token: rank for rank, token in enumerate(TOKENS[:-1])}
    return tiktoken.Encoding("x", pat_str=TEKKEN, mergeable_ranks=ranks, special_tokens={})


@given(text=surrogate_texts() | texts(added=["<s>", "[INST]", " the"]))
@example(text="<s>[INST] the end[/INST]</s><SPECIAL_20> cut off")
def test_ids_are_those_of_the_ranks_alone_behind_all_special_tokens(
    small: tokpar.Encoder, text: str
) -> None:
    assert small.encode(text) == [COUNT + id_ for id_ in ranks_alone().encode(text)]


def test_special_tokens_have_the_ids_below_and_are_matched_only_where_they_are_allowed(
    small: tokpar.Encoder, tmp_path: Path
) -> None:
    assert small.tokenizer.vocabulary_size == len(TOKENS) - 1 + COUNT
    assert small.decode([1, 3, COUNT + 256, 23]) == "<s>[INST]th<SPECIAL_23>"
    allowing = tokpar.load(save_tekken(tmp_path), allowed_special={"<s>", "[INST]"})
    assert allowing.encode("<s>[INST]th</s>").tolist() == [
        *(1, 3, COUNT + 256),
        *(COUNT + byte for byte in b"</s>"),
    ]
    with pytest.raises(ValueError, match="disallowed special token '</s>'"):
        tokpar.Encoder(tokpar.load(save_tekken(tmp_path), disallowed_special="all")).encode("</s>")


def test_a_file_may_list_its_own_special_tokens(tmp_path: Path) -> None:
    listed = [
        {"rank": k, "token_str": name, "is_control": True} for k, name in enumerate(["<a>", "</s>"])
    ]
    encoder = tokpar.Encoder(save_tekken(tmp_path, special_tokens=listed, version="v13"))
    assert encoder.decode([0, 1, 2, COUNT]) == "<a></s><SPECIAL_2>\0"
    assert isinstance(encoder.tokenizer, TiktokenTokenizer)
    assert encoder.tokenizer.special_ids == {"eos_token": 1}


def without(entry: int) -> list[dict[str, Any]]:
    vocab: list[dict[str, Any]] = tekken()["vocab"]
    return vocab[:entry] + vocab[entry + 1 :]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": "v99"}, f"version 'v99' is none of {', '.join(VERSIONS)}"),
        ({"version": "v11"}, "special_tokens are missing, which files of v11 list"),
        ({"default_num_special_tokens": 3}, "special_tokens: expected 3 different ones, got 20"),
        ({"special_tokens": [{"rank": 1, "token_str": "a"}]}, "special_tokens: expected the ranks"),
        ({"special_tokens": [{"rank": 0}]}, "'token_str' is missing"),
        ({"default_vocab_size": 999}, "vocab: expected 975 different tokens, got 265"),
        ({"vocab": without(7)}, "vocab: expected the 256 bytes first"),
        ({"vocab": without(256)}, "vocab: expected the ranks 0, 1, 2, "),
        ({"vocab": None}, "not a tekken.json"),
        ({"config": {}}, "'version' is missing"),
        ({"pattern": "[a"}, "not a tekken.json"),
    ],
)
def test_a_file_that_mistral_common_would_not_read_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(FileFormatError) as refused:
        tokpar.load(save_tekken(tmp_path, **changes))
    assert message in str(refused.value)


# --------------------------------------------------------------------------------- mistral-common


@cache
def of_mistral(name: str) -> tuple[Any, tokpar.Encoder]:
    """The Tekkenizer of a file of mistral-common, and an Encoder of the file."""
    why = "mistral-common is missing"
    library = pytest.importorskip("mistral_common.tokens.tokenizers.tekken", reason=why)
    path = Path(library.__file__).parents[2] / "data" / name
    return library.Tekkenizer.from_file(path), tokpar.Encoder(path)


@pytest.mark.parametrize(
    "name", cases(["tekken_240718.json", "tekken_240911.json"], ["tekken_240911.json"])
)
def test_a_published_file_gives_what_its_tekkenizer_gives(name: str) -> None:
    own, encoder = of_mistral(name)

    @given(text=texts(), ids=st.lists(st.sampled_from([*range(30), *range(1000, 1300)])))
    @example(text="Naïve café 中文字! <s>[INST] 12345\n\n " * 900, ids=[1228, 1, 1184, 2, 1228])
    def check(text: str, ids: list[int]) -> None:
        assert encoder.encode(text) == own.encode(text, bos=False, eos=False)
        assert encoder.decode(ids) == own.decode(ids, "keep")

    check()
