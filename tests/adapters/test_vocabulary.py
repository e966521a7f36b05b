"""What an adapter tells of its vocabulary, for programs that read ids."""

from __future__ import annotations

import pytest

import tokpar
from tests.support.hf_sources import fresh
from tests.support.paths import VOCAB
from tests.support.seams import part
from tokpar.contract.adapter import special_ids_of, vocabulary_of
from tokpar.formats.vocabulary import Vocabulary


@pytest.mark.parametrize("engine", [None, "pure"])
def test_a_tokenizer_of_hugging_face_tells_its_file(engine: str | None) -> None:
    adapter = tokpar.load(VOCAB / "bert_part.json", engine=engine)
    config = vocabulary_of(adapter)
    ids = adapter.encode("the cat").tolist()
    words = {id_: token for token, id_ in config["model"]["vocab"].items()}
    assert [words[id_] for id_ in ids] == ["the", "ca", "##t"]
    assert config["normalizer"]["type"] == "BertNormalizer"


def test_tiktoken_and_byte_level_bpe_in_python_tell_their_tokens() -> None:
    encoding = part("cl100k_part")
    for adapter in (tokpar.load(encoding), tokpar.load("default", engine="pure")):
        vocabulary = vocabulary_of(adapter)
        assert isinstance(vocabulary, Vocabulary)
        names = {id_: token for token, id_ in vocabulary.tokens.items()}
        spelled = b"".join(names[id_] for id_ in adapter.encode("one, two").tolist())
        assert spelled == b"one, two"
    specials = {token.content: token.id for token in vocabulary_of(tokpar.load(encoding)).added}
    assert specials == encoding._special_tokens


def test_special_ids_are_those_of_the_callers_object() -> None:
    own = fresh("deepseek_part")
    own.eos_token = own.convert_ids_to_tokens(0)
    found = special_ids_of(tokpar.load(own))
    names = [name for name in own.SPECIAL_TOKENS_ATTRIBUTES if getattr(own, name) is not None]
    assert found == {name: getattr(own, f"{name}_id") for name in names}
    assert found["eos_token"] == 0


def test_the_end_of_text_of_tiktoken_is_its_eos_token() -> None:
    encoding = part("cl100k_part")
    assert special_ids_of(tokpar.load(encoding)) == {"eos_token": encoding.eot_token}
    assert special_ids_of(tokpar.load(VOCAB / "bert_part.json")) == {}
